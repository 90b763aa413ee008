"""Small windows over the frame; each answers one question and has two ways out."""
