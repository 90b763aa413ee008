"""What the room of contents adds to the comparisons of all commands."""

from __future__ import annotations

READING = [["taken", "failed", "-o", "json"]]
"""A command that reads, in search of secrets that it prints."""
