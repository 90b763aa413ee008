"""What what-if adds to the comparisons of commands, keys and pictures."""

from __future__ import annotations

JUDGING = [("whatif",)]
"""Commands whose exit code judges."""
FORESEEING = [("whatif", "--concurrent-backups", "2")]
"""Commands that foresee a night."""
# From a finding and from the page of a schedule it opens above the calendar.
WINDOWS = {"what_if": ("WhatIfScreen", "What if: ", ("escape", "left_square_bracket"))}
"""By action, its window, what that begins with, and the keys that lead back."""
PICTURES = [("what-if", ("5", *["down"] * 12, "W", "ctrl+u", *"30 5 * * *"), " So  ")]
"""Pictures of the default scene: name, keys, and what is awaited."""
OF_AN_ARCHIVE = [(("whatif", "--pause", "shop-4", "--hours", "1"), 1, ("shop-4: 1 run fewer.",))]
"""Commands that read an archive, with exit code and what they print of it."""
