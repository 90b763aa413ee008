"""Mutants: the program with one operator, comparison, number or condition changed, to see whether a test notices."""
