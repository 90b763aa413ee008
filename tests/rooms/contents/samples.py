"""What the room of contents adds to the comparisons of all commands and keys."""

from __future__ import annotations

READING = [["taken", "failed", "-o", "json"]]
"""A command that reads, in search of secrets that it prints."""
WINDOWS = {"inside": ("ContentsViewer", "esource list of ", ("escape",))}
"""By action, its window, what that begins with, and the keys that lead back."""
