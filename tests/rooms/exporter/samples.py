"""What the exporter adds to the comparisons of all commands."""

from __future__ import annotations

READING = [["exporter", "--once"]]
"""A command that reads, in search of secrets that it prints."""
