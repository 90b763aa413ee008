"""The lines of a table: only those on the screen are ever painted, and of them only the ones that changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.column_layout import ColumnPriorities, ColumnSlot, arrange
from foretop.widgets.line_widgets import explanation_strip
from foretop.widgets.paragraphs import Line
from foretop.widgets.styles import PLAIN
from foretop.widgets.table_strips import (
    LEFT,
    HeaderState,
    RowState,
    group_strip,
    head_strip,
    row_strip,
    section_strip,
)
from foretop_core.dashboard.table_models import GroupHeaderRow, SectionRow, TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.drawings import LengthBar
from foretop_core.tables.engine.groups import HEAD, SECTION
from foretop_core.tables.engine.view import Column, Row, View, worded_width, wording
from foretop_core.tables.text.terminal_text import width

_SAMPLE = 200
"""So many rows, from all over the table, tell how wide the columns are."""
_LOOKED_AT = 40
"""So many of them are looked at with each paint."""
_GROWN = 1.5
_STEP = 1.25


class ColumnWidths:
    """Widths measured in a sample of all rows and in the visible ones."""

    def __init__(self) -> None:
        self._common: list[int] = []
        self._shown: list[int] = []
        self._sampled = 0
        self._unseen = range(0)
        """The places of the sample that have still to be looked at."""
        self._top = 0

    def forget(self, rows: TableModel) -> None:
        """Starts from the titles and what the texts will come to; the sorted column has room for its arrow."""
        self._common = [max(column.cells, _titled(column, rows)) for column in rows.columns]
        self._shown = list(self._common)
        self._sampled, self._unseen = 0, range(0)

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
        if size != self._sampled and not _SAMPLE < size <= _GROWN * self._sampled:
            self._sampled, self._unseen = size, range(0, size, max(1, -(-size // _SAMPLE)))
        most = len(self._unseen) if size <= _SAMPLE else _LOOKED_AT
        for place in self._unseen[:most]:
            for row in rows.paint(place, place + 1):
                _grow(self._common, (width(cell.text) for cell in row.cells))
        self._unseen = self._unseen[most:]


def _titled(column: Column[Any], rows: TableModel) -> int:
    """The cells of its title, with the arrow where the table is sorted by it."""
    return width(column.title) + (column.name == rows.sorted_by)


def _longest(rows: Iterable[Row], place: int) -> float:
    """The scale of the bars of a column: the longest in sight or up to a quarter more, so that it seldom changes."""
    drawn = (row.cells[place].drawing for row in rows)
    longest = max((bar.length for bar in drawn if isinstance(bar, LengthBar)), default=0.0)
    return float(_STEP ** math.ceil(math.log(longest, _STEP))) if longest > 0 else 0.0


def _grow(sizes: list[int], wanted: Iterable[int]) -> None:
    for place, size in enumerate(wanted):
        if size > sizes[place]:
            sizes[place] = size


class RowSelection:
    """The marked rows in the order of marking; they outlive a filter that hides them."""

    def __init__(self) -> None:
        self.keys: dict[ObjectRef, None] = {}
        self._anchor: ObjectRef | None = None
        """The row that was marked last."""

    def toggle(self, key: ObjectRef) -> None:
        if self.keys.pop(key, key) is not None:
            self.keys[key] = None
        self._anchor = key

    def toggle_group(self, below: list[ObjectRef]) -> None:
        """All of them, or none where all were marked."""
        if all(key in self.keys for key in below):
            for key in below:
                del self.keys[key]
        else:
            self.keys.update(dict.fromkeys(below))

    def extend_to(self, cursor: ObjectRef, place: int, rows: TableModel) -> None:
        """All rows from the last mark to the cursor; heads between them are no rows."""
        lines = rows.lines
        start = lines.index_of(self._anchor) if self._anchor else None
        first, last = sorted((place if start is None else start, place))
        self.keys.update(
            dict.fromkeys(key for key, _ in lines.window(first, last + 1) if key.kind not in (HEAD, SECTION))
        )
        self._anchor = cursor

    def add(self, keys: Iterable[ObjectRef]) -> None:
        self.keys.update(dict.fromkeys(keys))

    def remove(self, keys: Iterable[ObjectRef]) -> None:
        for key in keys:
            self.keys.pop(key, None)

    def clear(self) -> None:
        self.keys.clear()
        self._anchor = None


_FLASHED = 0.6


class TableBase(Widget):
    """The drawing of a table; the cursor is moved by its subclass."""

    class CursorMoved(Message):
        """Another object is under the cursor, or its row changed."""

    class Resized(Message):
        """Another number of rows fits, and so their count reads otherwise."""

    def __init__(
        self,
        priorities: ColumnPriorities,
        *,
        flash: bool,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._priorities = priorities
        self._flash = flash
        self.rows: TableModel | None = None
        self.cursor: ObjectRef | None = None
        self._is_chosen = False
        """A person has pressed a key here, or came for an object: until then the cursor is on the first row."""
        self._marks = RowSelection()
        self.wide = False
        self.strips_made = 0
        self._selected = ""
        self._usual_order = ("", False)
        """A column that it is sorted by from the start needs no room of its own."""
        self._place = 0
        self._top = self._asked_top = 0
        """The first line in sight, and the one that was when a person last moved."""
        self._window: list[Row] = []
        self._widths = ColumnWidths()
        self._slots: tuple[ColumnSlot, ...] = ()
        self._shortened: dict[int, int] = {}
        self._longest: dict[int, float] = {}
        self._lit: dict[ObjectRef, frozenset[int]] = {}
        self._empty: tuple[Line, ...] = ()
        self._below: tuple[Row, ...] = ()

    def explain(self, lines: Sequence[Line]) -> None:
        """Set the text in place of rows where there are none."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            if not self._window:
                self.refresh()

    def show_below(self, rows: Sequence[Row]) -> None:
        """Set the lines below the last row, after an empty one, as far as there is room."""
        if tuple(rows) != self._below:
            self._below = tuple(rows)
            self.refresh()

    @property
    def is_configured(self) -> bool:
        """True if a person chose the columns."""
        return bool(self._priorities.chosen)

    @property
    def height(self) -> int:
        """Lines for rows, the head not counted."""
        return max(0, self.size.height - 1)

    @property
    def place(self) -> int:
        return self._place

    @property
    def window(self) -> Sequence[Row]:
        return self._window

    @property
    def marked(self) -> dict[ObjectRef, None]:
        return self._marks.keys

    def _paint(self, *, whole: bool = False, may_flash: bool = False) -> None:
        assert self.rows is not None
        before = self._window
        self._window = self.rows.paint(self._top, self._top + self.height)
        whole = self._arrange() or whole
        if whole:
            self.refresh()
            return
        if len(before) != len(self._window) and not (before and self._window):
            self.refresh()
            return
        rows = {row.key: row for row in before} if may_flash and self._flash else {}
        for y in range(max(len(before), len(self._window))):
            old = before[y] if y < len(before) else None
            new = self._window[y] if y < len(self._window) else None
            if old == new:
                continue
            if new is not None and (was := rows.get(new.key)) is not None and was != new:
                self._light(was, new)
            self._dirty(y, old, new)
            if new is not None and new.key == self.cursor:
                self.post_message(self.CursorMoved())

    def _arrange(self) -> bool:
        """Places the columns; True where they moved."""
        assert self.rows is not None
        columns = self.rows.columns
        widths = self._widths.of(self.rows, self._window, self._top)
        slots = self._placed(widths, wide=self.wide)
        rows = [row for row in self._window if row.cells]
        shortened = {
            slot.index: wording((row.cells[slot.index] for row in rows), slot.width)
            for slot in slots
            if columns[slot.index].alike
        }
        briefer = {
            place: max(
                [_titled(self.rows.columns[place], self.rows), *(worded_width(row.cells[place], by) for row in rows)]
            )
            for place, by in shortened.items()
            if by
        }
        if briefer:
            # Names get what a shorter wording leaves.
            slots = self._placed(widths, wide=self.wide, at_most=briefer)
        longest = {slot.index: _longest(rows, slot.index) for slot in slots if columns[slot.index].bar}
        moved = (slots, shortened, longest) != (self._slots, self._shortened, self._longest)
        self._slots, self._shortened, self._longest = slots, shortened, longest
        return moved

    def _placed(
        self, widths: Sequence[int], *, wide: bool, at_most: Mapping[int, int] | None = None
    ) -> tuple[ColumnSlot, ...]:
        assert self.rows is not None
        # A column that a person sorted by stays, so that its arrow is seen.
        is_usual = (self.rows.sorted_by, self.rows.reversed) == self._usual_order
        selected = "" if is_usual and self._selected == self.rows.sorted_by else self._selected
        priorities = replace(
            self._priorities,
            wide=wide,
            selected=selected,
            without=self._without(selected, wide=wide),
            needed=self.rows.needed_columns,
        )
        most = at_most or {}
        limits = [
            max(column.most, _titled(column, self.rows)) if column.most else size
            for column, size in zip(self.rows.columns, widths, strict=True)
        ]
        natural = [min(size, limits[place], most.get(place, size)) for place, size in enumerate(widths)]
        return arrange(self.rows.columns, natural, self.size.width - LEFT - 1, priorities)

    def _without(self, selected: str, *, wide: bool) -> frozenset[str]:
        """The columns that need no room: told elsewhere, or the same in every row and not asked for."""
        assert self.rows is not None
        asked_for = {*self._priorities.chosen, selected}
        needless = frozenset() if wide else self.rows.needless_columns - asked_for
        return self.rows.columns_in_header | needless

    @property
    def given_up(self) -> tuple[str, ...]:
        """The titles of the columns that had to go for the further ones of a wide table."""
        if self.rows is None or not self.wide:
            return ()
        shown = {slot.index for slot in self._slots}
        usual = self._placed(self._widths.of(self.rows, self._window, self._top), wide=False)
        return tuple(self.rows.columns[slot.index].title for slot in usual if slot.index not in shown)

    def _dirty(self, y: int, old: Row | None = None, new: Row | None = None) -> None:
        """Marks a line for painting, or the part of it in which two versions of one row differ."""
        if not 0 <= y < self.height:
            return
        start, stop = 0, self.size.width
        if old is not None and new is not None and old.outline == new.outline and new.cells:
            changed = [slot for slot in self._slots if old.cells[slot.index] != new.cells[slot.index]]
            if not changed:
                return
            start = LEFT + changed[0].x
            stop = LEFT + changed[-1].x + changed[-1].width
        self.refresh(Region(start, y + 1, stop - start, 1))

    def _light(self, was: Row, new: Row) -> None:
        assert self.rows is not None
        changed = frozenset(
            place
            for place, (old, cell) in enumerate(zip(was.cells, new.cells, strict=True))
            if old.text != cell.text and not self.rows.columns[place].ticks
        )
        if changed:
            self._lit[new.key] = changed
            self.set_timer(_FLASHED, lambda: self._unlight(new.key))

    def _unlight(self, key: ObjectRef) -> None:
        self._lit.pop(key, None)
        for y, row in enumerate(self._window):
            if row.key == key:
                self._dirty(y)

    def render_line(self, y: int) -> Strip:
        self.strips_made += 1
        if self.rows is None or not self._window:
            return explanation_strip(self._empty, y, self.size)
        if y == 0:
            return self._head()
        place = y - 1 - len(self._window)
        if place < 0:
            return self._row(self._window[y - 1])
        # An empty line parts it from the rows.
        return (
            self._row(self._below[place - 1]) if 0 < place <= len(self._below) else Strip.blank(self.size.width, PLAIN)
        )

    def _head(self) -> Strip:
        assert self.rows is not None
        chosen = "" if self._selected == self.rows.sorted_by else self._selected
        # An order of the objects' own is no column's.
        is_own = isinstance(self.rows.view, View) and not self.rows.view.starts_worst_first
        is_usual = (self.rows.sorted_by, self.rows.reversed) == self._usual_order
        title = HeaderState("" if is_own and is_usual else self.rows.sorted_by, self.rows.reversed, chosen)
        return head_strip(self.rows.columns, self._slots, title, self.size.width)

    @property
    def count(self) -> str:
        """Which rows are in sight, of how many; `3 of 39` where a filter leaves out the rest."""
        if self.rows is None or not self._window or not self.height:
            return ""
        table = self.rows.table
        hidden = sum(key not in table for key in self.marked)
        unseen = f"{hidden:,} hidden, " if hidden else ""
        marked = f"{len(self.marked):,} marked, {unseen}" if self.marked else ""
        if self.rows.is_narrowed:
            return f"{marked}{len(table):,} of {table.total:,}"
        if self.rows.groups is not None:
            rows = humanize.count(len(table), "row")
            return f"{marked}{rows} in {humanize.count(self.rows.groups.groups, 'group')}"
        if len(self.rows.lines) <= self.height:
            return f"{marked}{len(table):,} of {len(table):,}"
        return f"{marked}{self._top + 1:,}–{min(self._top + self.height, len(table)):,} of {len(table):,}"

    @property
    def cursor_row(self) -> Row | None:
        line = self._place - self._top
        return self._window[line] if 0 <= line < len(self._window) else None

    def _row(self, row: Row) -> Strip:
        assert self.rows is not None
        lit = self._lit.get(row.key, frozenset())
        raised, is_ascii = getattr(self.app, "raises_cursor", False), getattr(self.app, "is_ascii", False)
        is_here, is_marked = row.key == self.cursor, row.key in self.marked
        how = RowState(is_here, is_marked, lit, self._shortened, self._longest, raised, is_ascii)
        if isinstance(row, SectionRow):
            return section_strip(row, self.size.width)
        if isinstance(row, GroupHeaderRow):
            return group_strip(row, how, self.size.width)
        return row_strip(self.rows.columns, self._slots, row, how, self.size.width)
