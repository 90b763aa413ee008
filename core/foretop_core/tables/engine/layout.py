"""How wide each column is: what the rows need, and less where the line is too short for all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from foretop_core.tables.engine.columns import Cell, Column
from foretop_core.tables.text.cell_text import ELLIPSIS, cut, cut_end, pad, width

GAP = 2
_LEAST = 6
"""A column is not squeezed below this, or below its title."""


def chosen(columns: Sequence[Column[Any]], *, wide: bool) -> list[int]:
    """Which columns a line has."""
    return [place for place, column in enumerate(columns) if wide or not column.wide]


def widths(columns: Sequence[Column[Any]], rows: Sequence[Sequence[Cell]], room: int | None = None) -> list[int]:
    """Cells for each column; `room` is what the whole line may take, None where that does not matter."""
    wanted = [
        max([width(column.title), *(width(row[place].text) for row in rows)]) for place, column in enumerate(columns)
    ]
    if room is None:
        return wanted
    least = [min(size, max(_LEAST, width(column.title))) for size, column in zip(wanted, columns, strict=True)]
    excess = sum(wanted) + GAP * (len(wanted) - 1) - room
    while excess > 0:
        widest = max(range(len(wanted)), key=lambda place: wanted[place] - least[place], default=None)
        if widest is None or wanted[widest] <= least[widest]:
            break
        wanted[widest] -= 1
        excess -= 1
    return wanted


def header(columns: Sequence[Column[Any]], sizes: Sequence[int]) -> str:
    titles = [
        pad(cut_end(column.title, size), size, right=column.right) for column, size in zip(columns, sizes, strict=True)
    ]
    return (" " * GAP).join(titles).rstrip()


def line(
    columns: Sequence[Column[Any]], cells: Sequence[Cell], sizes: Sequence[int], ellipsis: str = ELLIPSIS
) -> list[str]:
    """The texts of one row, each in its width."""
    return [
        pad(fit(cell, column, size, ellipsis), size, right=column.right)
        for column, cell, size in zip(columns, cells, sizes, strict=True)
    ]


def wording(cells: Iterable[Cell], size: int) -> int:
    """How much all cells of a column must be shortened alike for the longest to fit; 0: not at all."""
    texts = [(cell.text, *cell.briefs) for cell in cells]
    most = max(map(len, texts), default=1)
    return next((at for at in range(most) if all(width(one[min(at, len(one) - 1)]) <= size for one in texts)), most - 1)


def fit(cell: Cell, column: Column[Any], size: int, ellipsis: str = ELLIPSIS, least: int = 0) -> str:
    """The fullest wording that fits, shortened `least` times before; where none does, the shortest is cut."""
    wordings = (cell.text, *cell.briefs)
    text = next((words for words in wordings[least:] if width(words) <= size), wordings[-1])
    return cut(text, size, ellipsis) if column.from_middle else cut_end(text, size, ellipsis)
