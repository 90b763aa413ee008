"""Measurements and searches beside the tests: how fast, broken on purpose, and whether the tests notice a change."""
