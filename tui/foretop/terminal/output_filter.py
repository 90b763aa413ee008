"""The last filter before the terminal: nothing drawn can move the cursor, set the title or fill the clipboard."""

from __future__ import annotations

import re

from rich.segment import Segment
from textual.strip import Strip

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""C0, DEL, C1, and what reorders or hides letters. Text that is made with `clean` has none of them left."""


def drawable(strip: Strip) -> Strip:
    """The strip without such characters, which take no cell; the toolkit's own sequences are control segments."""
    if all(_is_harmless(segment) for segment in strip):
        return strip
    segments = [
        segment if _is_harmless(segment) else Segment(_UNSAFE.sub("", segment.text), segment.style) for segment in strip
    ]
    return Strip(segments).adjust_cell_length(strip.cell_length)


def _is_harmless(segment: Segment) -> bool:
    text = segment.text
    if segment.control:
        return True
    return text.isprintable() if text.isascii() else _UNSAFE.search(text) is None
