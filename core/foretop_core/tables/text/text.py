"""Text from a cluster made fit for a terminal: nothing in it can move the cursor, colour, hide or reorder."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SHOWN = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me", "Mc"})
_MOST_MARKS = 4
ELLIPSIS = "…"
_UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_TOLD_APART = 4
"""So much of a UUID tells two of them apart: the rest of the room is the name's."""


def clean(text: str) -> str:
    """The text in one line with every invisible or controlling character spelt out, as `\\x1b` or `\\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    marks = 0
    for letter in text:
        category = unicodedata.category(letter)
        if category not in _MARKS:
            marks = 0
            shown.append(_visible(letter, category))
            continue
        marks += 1
        if not shown:
            shown.append("◌")
        if marks <= _MOST_MARKS:
            shown.append(letter)
    return "".join(shown)


def _visible(letter: str, category: str) -> str:
    if category == "Zs":
        return " "
    if category not in _UNSAFE:
        return letter
    if letter in _SHOWN:
        return _SHOWN[letter]
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def _cells(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf") or "\u1160" <= letter <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def width(text: str) -> int:
    """How many terminal cells clean text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def cut(text: str, cells: int, ellipsis: str = ELLIPSIS) -> str:
    """At most so many cells: the middle goes, for the end of a backup's name tells it apart."""
    if width(text) <= cells:
        return text
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


def _head(text: str, cells: int) -> str:
    taken = 0
    for at, letter in enumerate(text):
        taken += _cells(letter)
        if taken > cells:
            return text[:at]
    return text


def _tail(text: str, cells: int) -> str:
    """As much of the end as fits; it never begins with a mark that belongs to the letter before."""
    taken, start = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        taken += _cells(text[at])
        if taken > cells:
            break
        if _cells(text[at]):
            start = at
    return text[start:]
