"""Objects as they are shown: the items of the command line's JSON, and the rows of the tables."""
