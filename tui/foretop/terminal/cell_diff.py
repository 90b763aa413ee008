"""A diff of the screen by cells: only cells that differ are written, because over SSH every byte counts.

It is also the last filter before the terminal: nothing that is drawn can move the cursor or set the title.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import COLOR_SYSTEMS, Console, RenderableType
from rich.control import Control
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from foretop.terminal.textual_internals import painted_by

Cell = tuple[str, Style | None]
_WORTH_A_JUMP = 6
"""So many equal cells in between are cheaper passed over than written again."""
_RESET = "\x1b[m"

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""C0, DEL, C1, and what reorders or hides letters. Text that is made with `clean` has none of them left."""
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""What each font draws as it likes, in one cell: a value that is edited is in its field as it is."""


_SWITCHED = re.compile("(?:\x1b\\[(?P<codes>[0-9;]+)m)?x(?:\x1b\\[0m)?")


class CellDiff:
    """The cells that were written last; one that is not known is None and is written again."""

    def __init__(self) -> None:
        self._lines: dict[int, list[Cell | None]] = {}

    def sparing(self, update: RenderableType | None) -> RenderableType | None:
        """The same update, written with as little as it takes."""
        return painted_by(self, update)

    def forget(self) -> None:
        """Somebody else may have written to the terminal, or it has lost what it showed: all is written again."""
        self._lines.clear()

    def paint(self, y: int, x: int, strip: Strip, console: Console) -> Iterator[str]:
        """The text to write so that these cells look like this."""
        strip = drawable(strip)
        cells = _cells(strip)
        if cells is None:
            self._keep(y, x, [None] * strip.cell_length)
            yield _at(x, y) + strip.render(console)
            return
        shown = self._line(y, x + len(cells))[x : x + len(cells)]
        is_there = False
        for start, stop in _runs(shown, cells):
            yield _along(x + start) if is_there else _at(x + start, y)
            yield _written(cells[start:stop], console)
            is_there = True
        self._keep(y, x, cells)

    def _line(self, y: int, length: int) -> list[Cell | None]:
        line = self._lines.setdefault(y, [])
        line.extend([None] * (length - len(line)))
        return line

    def _keep(self, y: int, x: int, cells: Iterable[Cell | None]) -> None:
        kept = list(cells)
        self._line(y, x + len(kept))[x : x + len(kept)] = kept


def _cells(strip: Strip) -> list[Cell] | None:
    """Letter by letter; None where one of them does not take exactly one cell."""
    segments = [segment for segment in strip if not segment.control]
    if not all(segment.text.isascii() or all(cell_len(letter) == 1 for letter in segment.text) for segment in segments):
        return None
    return [(letter, segment.style) for segment in segments for letter in segment.text]


def _runs(shown: list[Cell | None], wanted: list[Cell]) -> Iterator[tuple[int, int]]:
    """From where to before where they differ; what lies close together is one run."""
    start = stop = -1
    for place, (old, new) in enumerate(zip(shown, wanted, strict=True)):
        if old == new:
            continue
        if start < 0:
            start = place
        elif place - stop >= _WORTH_A_JUMP:
            yield start, stop
            start = place
        stop = place + 1
    if start >= 0:
        yield start, stop


def _written(cells: list[Cell], console: Console) -> str:
    """The cells with neighbours of one style together, and no more sequences than it takes."""
    pieces: list[str] = []
    before = ""
    for style, run in groupby(cells, key=_style):
        text = "".join([letter for letter, _ in run])
        codes = _codes(style, console.color_system)
        if codes is None:
            pieces += [_RESET if before else "", Strip([Segment(text, style)]).render(console)]
            before = ""
        else:
            if codes != before:
                pieces.append(f"\x1b[{'0;' if before and codes else ''}{codes}m")
            pieces.append(text)
            before = codes
    return "".join([*pieces, _RESET if before else ""])


def _style(cell: Cell) -> Style | None:
    return cell[1]


@lru_cache(1000)
def _codes(style: Style | None, colors: str | None) -> str | None:
    """The numbers that switch a style on; "" where it is none, None where it takes more than numbers."""
    if style is None:
        return ""
    codes = _SWITCHED.fullmatch(Strip.render_style(style, "x", COLOR_SYSTEMS.get(colors or "", ColorSystem.TRUECOLOR)))
    return (codes["codes"] or "") if codes else None


def _along(x: int) -> str:
    """To another column of the same line."""
    return f"\x1b[{x + 1}G"


def _at(x: int, y: int) -> str:
    return Control.move_to(x, y).segment.text


def drawable(strip: Strip) -> Strip:
    """The strip without such characters, which take no cell; the toolkit's own sequences are control segments."""
    if all(_is_harmless(segment) for segment in strip):
        return strip
    segments = [
        segment if _is_harmless(segment) else Segment(_PRIVATE.sub("?", _UNSAFE.sub("", segment.text)), segment.style)
        for segment in strip
    ]
    return Strip(segments).adjust_cell_length(strip.cell_length)


def _is_harmless(segment: Segment) -> bool:
    text = segment.text
    if segment.control:
        return True
    return text.isprintable() if text.isascii() else not (_UNSAFE.search(text) or _PRIVATE.search(text))
