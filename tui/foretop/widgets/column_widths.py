"""The preferred widths of a table's columns, whatever part of it is visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foretop_core.dashboard.table_models import TableModel
from foretop_core.tables.engine.columns import Row
from foretop_core.tables.text.terminal_text import width

_SAMPLE = 200
"""So many rows, from all over the table, tell how wide the columns are."""
_GROWN = 1.5


class ColumnWidths:
    """Widths measured in a sample of all rows and in the visible ones."""

    def __init__(self) -> None:
        self._common: list[int] = []
        self._shown: list[int] = []
        self._sampled = 0
        self._top = 0

    def forget(self, rows: TableModel) -> None:
        """Starts from the titles and what the texts will come to; the sorted column has room for its arrow."""
        self._common = [
            max(column.cells, width(column.title) + (column.name == rows.sorted_by)) for column in rows.columns
        ]
        self._shown = list(self._common)
        self._sampled = 0

    def of(self, rows: TableModel, window: Iterable[Row], top: int) -> Sequence[int]:
        """While nobody scrolls they only grow, for nothing shrinks under the eye."""
        self._sample(rows)
        if top != self._top:
            self._top, self._shown = top, list(self._common)
        _grow(self._shown, self._common)
        for row in window:
            _grow(self._shown, (width(cell.text) for cell in row.cells))
        return self._shown

    def _sample(self, rows: TableModel) -> None:
        """Again where the table is another one than at the last look: all of a small one, or when a large one grew."""
        size = len(rows.lines)
        if size == self._sampled or _SAMPLE < size <= _GROWN * self._sampled:
            return
        self._sampled = size
        for place in range(0, size, max(1, -(-size // _SAMPLE))):
            for row in rows.paint(place, place + 1):
                _grow(self._common, (width(cell.text) for cell in row.cells))


def _grow(sizes: list[int], wanted: Iterable[int]) -> None:
    for place, size in enumerate(wanted):
        if size > sizes[place]:
            sizes[place] = size
