"""Measures of the code itself: how far it is from one end of a path to the other."""
