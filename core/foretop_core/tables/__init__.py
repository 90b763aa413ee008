"""What is shown of the objects: the items of the command line's JSON, and the rows of the tables."""
