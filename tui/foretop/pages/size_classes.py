"""The classes of sizes: the layout of a page is one of three by width, and its pane one of three by height."""

from __future__ import annotations

WIDE, HUGE = 120, 160
"""Columns from which on the pane stands beside the table, and has more room."""
LOW, HIGH = 20, 36
"""Lines below which the pane is hidden, and from which on it has more lines below the table."""
SIZE_CLASSES = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]
HEIGHT_CLASSES = [(0, "-low"), (LOW, "-middle"), (HIGH, "-high")]
"""What the style sheet calls them; the screen has the class of its size."""
