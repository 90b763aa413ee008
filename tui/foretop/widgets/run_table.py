"""The table of the runs of one schedule, below the text of its page."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.column_layout import ColumnPriorities, ColumnSlot, arrange
from foretop.widgets.styles import PLAIN
from foretop.widgets.table_strips import LEFT, HeaderState, RowState, head_strip, row_strip
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.view import Row
from foretop_core.tables.resources.runs import RUNS_OF_SCHEDULE, RUNS_RANK
from foretop_core.tables.text.terminal_text import width

_PRIORITIES = ColumnPriorities(RUNS_RANK)
_UNSORTED = HeaderState("", False, "")


class RunTable(Widget):
    """Rows below their head, with a cursor that belongs to a run; the page has the focus and moves it."""

    DEFAULT_CSS = "RunTable { width: 1fr; height: 1fr; display: none; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()
        self._slots: tuple[ColumnSlot, ...] = ()
        self._place = 0
        self._top = 0

    @property
    def cursor(self) -> ObjectRef | None:
        """The run under the cursor."""
        return self._rows[self._place].key if self._rows and self.display else None

    def show(self, rows: Sequence[Row]) -> None:
        """The cursor stays on its run; where that is gone, on its line."""
        if tuple(rows) == self._rows:
            return
        before = self._rows[self._place].key if self._rows else None
        self._rows = tuple(rows)
        places = (place for place, row in enumerate(self._rows) if row.key == before)
        self._place = next(places, min(self._place, max(0, len(self._rows) - 1)))
        self._arrange()

    def go_to_first(self) -> None:
        self._place = self._top = 0
        self.refresh()

    def move(self, by: int) -> None:
        place = max(0, min(self._place + by, len(self._rows) - 1))
        if place != self._place:
            self._place = place
            self._scroll()
            self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def on_click(self, event: events.Click) -> None:
        self.move(self._top + event.y - 1 - self._place if event.y else 0)

    def _arrange(self) -> None:
        natural = [
            max([width(column.title), column.cells, *(width(row.cells[place].text) for row in self._rows)])
            for place, column in enumerate(RUNS_OF_SCHEDULE)
        ]
        limited = [min(size, column.most or size) for size, column in zip(natural, RUNS_OF_SCHEDULE, strict=True)]
        self._slots = arrange(RUNS_OF_SCHEDULE, limited, self.size.width - LEFT - 1, _PRIORITIES)
        self._scroll()
        self.refresh()

    def _scroll(self) -> None:
        lines = max(1, self.size.height - 1)
        self._top = max(0, min(max(self._place - lines + 1, min(self._top, self._place)), len(self._rows) - lines))

    def render_line(self, y: int) -> Strip:
        if y == 0:
            return head_strip(RUNS_OF_SCHEDULE, self._slots, _UNSORTED, self.size.width)
        place = self._top + y - 1
        if place >= len(self._rows):
            return Strip.blank(self.size.width, PLAIN)
        raised, is_ascii = getattr(self.app, "raises_cursor", False), getattr(self.app, "is_ascii", False)
        how = RowState(place == self._place, False, frozenset(), raised=raised, is_ascii=is_ascii)
        return row_strip(RUNS_OF_SCHEDULE, self._slots, self._rows[place], how, self.size.width)
