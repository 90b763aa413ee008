"""Foretop broken on purpose, with a seed: what was tried, what survived, what was lost."""
