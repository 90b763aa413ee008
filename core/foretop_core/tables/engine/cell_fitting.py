"""A cell's text in the width of its column: the fullest wording that fits, or the shortest, cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foretop_core.tables.engine.columns import Cell, Column
from foretop_core.tables.text.terminal_text import ELLIPSIS, cut, cut_end, width


def wording(cells: Iterable[Cell], size: int) -> int:
    """How much all cells of a column must be shortened alike for the longest to fit; 0: not at all."""
    texts = [(cell.text, *cell.briefs) for cell in cells]
    most = max(map(len, texts), default=1)
    return next((at for at in range(most) if all(width(one[min(at, len(one) - 1)]) <= size for one in texts)), most)


def worded_width(cell: Cell, shortened: int) -> int:
    """How wide the wording is that a cell has when it was shortened so many times."""
    wordings = (cell.text, *cell.briefs)
    return width(wordings[min(shortened, len(wordings) - 1)])


def fit(cell: Cell, column: Column[Any], size: int, ellipsis: str = ELLIPSIS, least: int = 0) -> str:
    """The fullest wording that fits, shortened `least` times before; where none does, the shortest is cut."""
    wordings = (cell.text, *cell.briefs)
    text = next((words for words in wordings[least:] if width(words) <= size), wordings[-1])
    return cut(text, size, ellipsis) if column.from_middle else cut_end(text, size, ellipsis)
