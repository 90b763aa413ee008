"""What the pane beside a table says of the row under the cursor: facts in, paragraphs out."""
