"""The table: its rows, cursor, marks and sort order."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace
from textual import events
from textual.binding import Binding, BindingType

from foretop.widgets.column_layout import is_wanted
from foretop.widgets.table_base import TableBase
from foretop.widgets.table_strips import LEFT
from foretop_core.dashboard.table_models import GroupHeaderRow, TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.groups import HEAD, SECTION, group_of, head_key


class Table(TableBase, can_focus=True):
    """A table whose cursor belongs to an object, not to a line."""

    DEFAULT_CSS = "Table { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
        Binding("left", "column(-1)", show=False),
        Binding("right", "column(1)", show=False),
    ]

    def show(self, rows: TableModel) -> None:
        self.rows = rows
        self._selected, self._usual_order = rows.sorted_by, (rows.sorted_by, rows.reversed)
        self._widths.forget(rows)
        self.pulse()

    def configure(self, columns: tuple[str, ...], sort: str, *, reverse: bool) -> None:
        """The columns in an order of the person's own, none for the usual ones; and what the rows are sorted by."""
        self._priorities = replace(self._priorities, chosen=columns)
        if self.rows is None:
            return
        if sort and (sort, reverse) != (self.rows.sorted_by, self.rows.reversed):
            self.rows.sort(sort, reverse=reverse)
        self._selected, self._usual_order = self.rows.sorted_by, (self.rows.sorted_by, self.rows.reversed)
        self.rearranged(to_first=True)

    # What changes

    def pulse(self) -> None:
        """Takes in what changed and repaints the lines that look different."""
        if self.rows is None or not self.size.height:
            return
        changed = self.rows.pump()
        self._follow()
        self._paint(may_flash=changed)

    def rearranged(self, *, to_first: bool = False) -> None:
        """Rows were sorted, filtered or grouped by a person: widths start afresh.

        The cursor's object stays in sight, or the cursor goes `to_first`.
        """
        if self.rows is None:
            return
        self._widths.forget(self.rows)
        if to_first:
            self.cursor = next((key for key, _ in self.rows.ordered()), None)
            self._top = 0
        self._follow(keep_line=False)
        self._asked_top = self._top
        self._paint(whole=True)
        self.post_message(self.CursorMoved())

    def _follow(self, *, keep_line: bool = True) -> None:
        """Finds the cursor's object again; where it is gone, its neighbour takes the cursor.

        The first row has it while the rows of a first visit sort themselves.
        """
        assert self.rows is not None
        lines, index = self.rows.lines, None
        if self.cursor is not None and self._is_chosen:
            self.rows.table.bring_one(self.cursor)
            index = lines.index_of(self.cursor)
        before = self._place if self._is_chosen else 0
        if index is None:
            self._place = self._beside_sections(before)
            self._set_cursor(lines.key_at(self._place) if len(lines) else None)
        else:
            self._place = index
            fits_at_top = self._top == 0 and index < self.height
            if keep_line and not fits_at_top:
                self._top += index - before
                self._asked_top += index - before
        self._scroll()

    def _scroll(self) -> None:
        """A table that is hidden has no lines: what it showed is kept until it has some again."""
        if not self.size.height:
            return
        size = len(self.rows.lines) if self.rows else 0
        self._top = max(self._place - self.height + 1, min(self._top, self._place))
        self._top = max(0, min(self._top, size - self.height))
        if self._top == self._place > 0 and self.rows and self.rows.lines.key_at(self._top - 1).kind == SECTION:
            # The line above a section is seen with its first row.
            self._top -= 1

    def _set_cursor(self, key: ObjectRef | None) -> None:
        if key != self.cursor:
            self.cursor = key
            self.post_message(self.CursorMoved())

    # What a person does

    def go_to(self, key: ObjectRef) -> bool:
        """Puts the cursor on an object, if it is among the rows."""
        if self.rows is None or (row := self.rows.find(key)) is None:
            return False
        self._move_to(row)
        return True

    def action_move(self, by: int) -> None:
        self._move_to(self._place + by)

    def action_page(self, by: int) -> None:
        self._move_to(self._place + by * max(1, self.height - 1))

    def action_edge(self, by: int) -> None:
        self._move_to(0 if by < 0 else len(self.rows.lines) - 1 if self.rows else 0)

    def _move_to(self, place: int) -> None:
        if self.rows is None or not len(self.rows.lines):
            return
        self._is_chosen = True
        old, top = self._place, self._top
        self._place = self._beside_sections(place)
        self._set_cursor(self.rows.lines.key_at(self._place))
        self._scroll()
        self._asked_top = self._top
        if self._top != top:
            self._paint(whole=True)
        elif old != self._place:
            self._dirty(old - self._top)
            self._dirty(self._place - self._top)

    def _beside_sections(self, place: int) -> int:
        """The line that is meant, or the next one in the same direction on which the cursor may stand."""
        assert self.rows is not None
        lines = self.rows.lines
        place = max(0, min(place, len(lines) - 1))
        if not len(lines) or lines.key_at(place).kind != SECTION:
            return place
        # A section has a row below its line; above the first line there is none.
        return place - 1 if 0 < place < self._place else place + 1

    def action_column(self, by: int) -> None:
        """Another column is the selected one; it is brought into sight."""
        if self.rows is None:
            return
        priorities = replace(self._priorities, wide=self.wide, without=self._without("", wide=self.wide))
        names = [column.name for column in self.rows.columns if is_wanted(column.name, priorities)]
        names = [name for name in names if name != "context"]
        names.sort(
            key=lambda name: priorities.chosen.index(name) if name in priorities.chosen else len(priorities.chosen)
        )
        index = names.index(self._selected) if self._selected in names else -1 if by > 0 else 0
        self._selected = names[(index + by) % len(names)]
        self._paint(whole=True)

    def sort_beside(self, by: int) -> None:
        """Sorts by the column before or after the selected one."""
        self.action_column(by)
        self.sort_selected()

    def sort_selected(self) -> None:
        self._sort(self._selected)

    def _sort(self, column: str) -> None:
        if self.rows is None or column == "context" or column in self.rows.columns_in_header:
            return
        if column == self.rows.sorted_by and self.rows.reversed:
            # Pressed a third time, it leads back to the order in which the table starts.
            column, reverse = self._usual_order
        else:
            reverse = column == self.rows.sorted_by
        self.rows.sort(column, reverse=reverse)
        self._selected = column
        self.rearranged(to_first=True)

    def toggle_mark(self) -> None:
        if self.cursor is None or self.rows is None:
            return
        if self.rows.groups is not None and self.cursor.kind == HEAD:
            self._marks.toggle_group(self.rows.groups.members(self.cursor))
            following = self.rows.groups.next_head(self.cursor)
            self._move_to(self._place if following is None else following)
            self.refresh()
        else:
            self._marks.toggle(self.cursor)
            self._dirty(self._place - self._top)
            self.action_move(1)

    def mark_range(self) -> None:
        if self.rows is not None and self.cursor is not None:
            self._marks.extend_to(self.cursor, self._place, self.rows)
            self.refresh()

    def mark_all(self) -> None:
        """All rows that are shown, be they on the screen or not."""
        if self.rows is not None:
            self.rows.table.bring_all()
            self._marks.add(key for key, _ in self.rows.table)
            self.refresh()

    def clear_marks(self) -> None:
        self._marks.clear()
        self.refresh()

    @property
    def head(self) -> GroupHeaderRow | None:
        """The head under the cursor, if it is on one."""
        line = self._place - self._top
        row = self._window[line] if 0 <= line < len(self._window) else None
        return row if isinstance(row, GroupHeaderRow) and row.key == self.cursor else None

    def toggle_groups(self, lines: int) -> None:
        """The cursor stays on its row; from a head it goes to the first row below.

        Where more lines come of it than there can be in sight the groups are folded at first: an overview, with the
        numbers of each.
        """
        if self.rows is None:
            return
        if self.rows.groups is not None and self.cursor is not None and self.cursor.kind == HEAD:
            self.cursor = next(iter(self.rows.groups.members(self.cursor)), None)
        self.rows.toggle_groups()
        groups = self.rows.groups
        if groups is not None and len(groups) > lines:
            groups.fold_all()
            self.cursor = None if self.cursor is None else head_key(group_of(self.cursor))
        self.rearranged()

    def fold(self) -> None:
        """Folds the group whose head is under the cursor, or opens it again."""
        if self.rows is not None and self.rows.groups is not None and self.cursor is not None:
            self.rows.groups.fold(self.cursor)
            self._follow()
            self._paint(whole=True)

    def toggle_wide(self) -> None:
        self.wide = not self.wide
        self._paint(whole=True)

    def on_key(self, event: events.Key) -> None:
        self._is_chosen = True

    def on_resize(self, event: events.Resize) -> None:
        if self.rows is not None and self.size.height:
            self.rows.pump()
            # A table that is small for a moment comes back as a person left it.
            self._top = self._asked_top
            self._follow()
            self._paint(whole=True)
            self.post_message(self.Resized())

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def on_click(self, event: events.Click) -> None:
        if event.y > 0:
            self._move_to(self._top + event.y - 1)
        elif self.rows is not None and (column := self._column_at(event.x - LEFT)):
            self._sort(column)

    def _column_at(self, x: int) -> str:
        assert self.rows is not None
        slots = (slot for slot in self._slots if slot.x <= x < slot.x + slot.width)
        return next((self.rows.columns[slot.index].name for slot in slots), "")
