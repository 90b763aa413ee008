"""The panes: facts about the selected row in, paragraphs out."""
