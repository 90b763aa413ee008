"""Text from a cluster made fit for a terminal: nothing in it can move the cursor, colour, hide or reorder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from foretop_core.foreign_text import redacted, without_signs

# Deferred imports: wcwidth is needed only for text that is not ASCII.

_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
UNSEEN = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""For a class of a regular expression: what Unicode lets a terminal ignore, and letters that are drawn as blanks.

They hide messages, and make two names look the same. A selector that only chooses the colour of a sign is one of them.
"""
_IS_UNSEEN = re.compile(f"[{UNSEEN}]")
_MARKS = frozenset({"Mn", "Me", "Mc"})
_MOST_MARKS = 4
LONGEST = 16 * 1024
"""So many characters of one text are shown: nobody reads more, and folding them takes time."""
_LONGEST_KEPT = 256
"""Longer texts are measured each time: thousands of them would take much memory."""
ELLIPSIS = "…"
_UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_TOLD_APART = 4
"""So much of a UUID tells two of them apart: the rest of the room is the name's."""
_STAMP = re.compile(r"-[0-9]{14}$")
"""The moment at the end of a scheduled backup's name."""
_LEAST_BEFORE_STAMP = 4
_SURELY_ONE_CELL = frozenset(
    chr(code)
    for first, last in ((0x20, 0x7E), (0xA0, 0xAC), (0xAE, 0x2FF), (0x2010, 0x2027), (0x2190, 0x2199), (0x2500, 0x25FC))
    for code in range(first, last + 1)
).union("✓✗↺≠‹›")
"""What nearly all text is made of (ASCII, Latin, dashes, arrows, lines, our own signs): measured by counting.

The library takes longer to load than a screen of rows to draw.
"""
_ZERO_FOR_CONTROLS = dict.fromkeys((*range(1, 0x20), *range(0x7F, 0xA0)), "\u200b")
"""The library refuses text with control characters; Rich draws them in no cell."""


def clean(text: str) -> str:
    """The text in one line without secrets, every invisible or controlling character spelt out: `\\x1b`, `\\u202e`.

    Of a text of more than `LONGEST` characters the beginning, and how many more there are.
    """
    if len(text) > LONGEST:
        return f"{clean(text[:LONGEST])}… ({len(text) - LONGEST:,} more characters)"
    text = redacted(text)
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        if category not in _MARKS or _IS_UNSEEN.match(letter):
            marks = 0
            shown.append(_visible(letter, category))
            continue
        marks += 1
        if not shown:
            shown.append("◌")
        if marks <= _MOST_MARKS:
            shown.append(letter)
    return "".join(shown)


def unsigned(text: str) -> str:
    """The same without signs of foretop's own: for a text that anybody may have put one into."""
    return clean(without_signs(text[: LONGEST + 1]) if len(text) > LONGEST else without_signs(text))


def _visible(letter: str, category: str) -> str:
    if category == "Zs":
        return " "
    if category not in _UNSAFE and not _IS_UNSEEN.match(letter):
        return letter
    if letter in _SHOWN:
        return _SHOWN[letter]
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def width(text: str) -> int:
    """How many terminal cells clean text takes, as Rich and Textual draw it."""
    if text.isascii():
        return len(text)
    if _SURELY_ONE_CELL.issuperset(text):
        return len(text)
    return _kept(text) if len(text) <= _LONGEST_KEPT else _measured(text)


@lru_cache(maxsize=4096)
def _kept(text: str) -> int:
    return _measured(text)


def _measured(text: str) -> int:
    # Loaded by the first text that needs it: its tables cost more than the first paint may.
    from wcwidth import wcswidth, wcwidth

    if len(text) == 1:
        return max(0, wcwidth(text))
    cells = wcswidth(text)
    return cells if cells >= 0 else wcswidth(text.translate(_ZERO_FOR_CONTROLS))


def _graphemes(text: str) -> Sequence[str]:
    """Letters as a person sees them: with accents, a variation selector, and all that is joined to them."""
    if _SURELY_ONE_CELL.issuperset(text):
        return text
    # Loaded by the first text that needs it, as in _measured.
    from wcwidth import iter_graphemes

    return tuple(iter_graphemes(text))


def cut(text: str, cells: int, ellipsis: str = ELLIPSIS) -> str:
    """At most so many cells: the middle goes, for the end of a backup's name tells it apart."""
    if width(text) <= cells:
        return text
    stamp = _STAMP.search(text)
    if stamp is not None and (room := cells - len(stamp[0])) >= _LEAST_BEFORE_STAMP:
        return f"{cut(text[: stamp.start()], room, ellipsis)}{stamp[0]}"
    room = cells - width(ellipsis)
    if room < 2:
        return _head(text, cells)
    tail = _tail(text, min(_TOLD_APART, room // 3) if _UUID.search(text) else room * 2 // 5)
    return f"{_head(text, room - width(tail))}{ellipsis}{tail}"


def cut_end(text: str, cells: int, ellipsis: str = ELLIPSIS) -> str:
    """At most so many cells: the end goes, for words whose beginning tells."""
    if width(text) <= cells:
        return text
    return f"{_head(text, cells - width(ellipsis))}{ellipsis}" if cells > width(ellipsis) else _head(text, cells)


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Exactly so many cells where the text is not wider; `right` puts it at the right edge."""
    space = " " * max(0, cells - width(text))
    return f"{space}{text}" if right else f"{text}{space}"


def fold(text: str, cells: int) -> list[str]:
    """Clean text in pieces of at most so many cells, cut after a blank where there is one; at least one piece.

    A word that is longer is cut anywhere between graphemes. Together the pieces are the text.
    """
    is_plain = _SURELY_ONE_CELL.issuperset(text)
    pieces: list[str] = []
    start = 0
    while start < len(text):
        stop = start + cells if is_plain else start + (len(_head(text[start:], cells)) or 1)
        if stop < len(text):
            stop = text.rfind(" ", start, stop) + 1 or stop
        pieces.append(text[start:stop])
        start = stop
    return pieces or [""]


def plain_rows(text: str, cells: int) -> int:
    """The number of pieces of a text that is plain for sure: half a million of them are counted in a moment."""
    start, rows, length = 0, 1, len(text)
    while length - start > cells:
        start = text.rfind(" ", start, start + cells) + 1 or start + cells
        rows += 1
    return rows


def _head(text: str, cells: int) -> str:
    """As much of the beginning as fits, in whole graphemes."""
    taken, end = 0, 0
    for grapheme in _graphemes(text):
        taken += width(grapheme)
        if taken > cells:
            break
        end += len(grapheme)
    return text[:end]


def _tail(text: str, cells: int) -> str:
    """As much of the end as fits, in whole graphemes: no mark is parted from its letter."""
    taken, start = 0, len(text)
    for grapheme in reversed(_graphemes(text)):
        taken += width(grapheme)
        if taken > cells:
            break
        start -= len(grapheme)
    return text[start:]
