"""The table: only the lines on the screen are ever painted, and of those only the ones that changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.store import Key
from core.view.columns import Row
from core.view.groups import HEAD
from tui.prose import Line
from tui.rows import HeadRow, Rows
from tui.tones import PLAIN
from tui.widgets.columns import Slot, Wishes, arrange, letters
from tui.widgets.lines import explanation_strip
from tui.widgets.marking import Marks
from tui.widgets.tablelines import LEFT, Heading, Showing, group_strip, head_strip, row_strip
from tui.widgets.widths import Widths

_FLASHED = 0.6
_TELLS_TIME = frozenset({"age", "since", "last", "next", "took", "expires", "checked", "synced", "when"})
"""Their text moves with the clock, and a clock is no news."""


class Table(Widget, can_focus=True):
    """Rows under a head. The cursor belongs to an object, not to a line."""

    DEFAULT_CSS = "Table { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
        Binding("left,h", "column(-1)", show=False),
        Binding("right", "column(1)", show=False),
    ]

    class CursorMoved(Message):
        """Another object is under the cursor, or the same one looks different."""

    def __init__(self, wishes: Wishes, *, ascii: bool, flash: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self._wishes = wishes
        self._ascii = ascii
        self._flash = flash
        self.rows: Rows | None = None
        self.cursor: Key | None = None
        self._marks = Marks()
        self.wide = False
        self.strips_made = 0
        self._selected = ""
        self._place = 0
        self._top = 0
        self._window: list[Row] = []
        self._widths = Widths()
        self._slots: tuple[Slot, ...] = ()
        self._lit: dict[Key, frozenset[int]] = {}
        self._empty: tuple[Line, ...] = ()
        self._counted = ""

    def show(self, rows: Rows) -> None:
        self.rows = rows
        self._selected = rows.sorted_by
        self._widths.forget(rows)
        self.pulse()

    def explain(self, lines: Sequence[Line]) -> None:
        """What stands in the place of rows where there are none."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            if not self._window:
                self.refresh()

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

    # What changes

    def pulse(self) -> None:
        """Takes in what changed and repaints the lines that look different."""
        if self.rows is None or not self.size.height:
            return
        changed = self.rows.pump()
        self._follow()
        self._paint(may_flash=changed)

    def rearranged(self) -> None:
        """Rows were sorted or filtered by a person: the cursor's object stays in sight, widths start afresh."""
        if self.rows is None:
            return
        self._widths.forget(self.rows)
        self._follow(keep_line=False)
        self._paint(whole=True)
        self.post_message(self.CursorMoved())

    def _follow(self, *, keep_line: bool = True) -> None:
        """Finds the cursor's object again; where it is gone, its neighbour takes the cursor."""
        assert self.rows is not None
        lines = self.rows.lines
        found = lines.index_of(self.cursor) if self.cursor is not None else None
        before = self._place
        if found is None:
            self._place = max(0, min(before, len(lines) - 1))
            self._set_cursor(lines.key_at(self._place) if len(lines) else None)
        else:
            self._place = found
            fits_at_top = self._top == 0 and found < self.height
            if keep_line and not fits_at_top:
                self._top += found - before
        self._scroll()

    def _scroll(self) -> None:
        """A table that is hidden has no lines: what it showed is kept until it has some again."""
        if not self.size.height:
            return
        size = len(self.rows.lines) if self.rows else 0
        self._top = max(self._place - self.height + 1, min(self._top, self._place))
        self._top = max(0, min(self._top, size - self.height))

    def _set_cursor(self, key: Key | None) -> None:
        if key != self.cursor:
            self.cursor = key
            self.post_message(self.CursorMoved())

    # What a person does

    def go_to(self, key: Key) -> bool:
        """Puts the cursor on an object, if it is among the rows."""
        if self.rows is None or (found := self.rows.find(key)) is None:
            return False
        self._move_to(found)
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
        old, top = self._place, self._top
        self._place = max(0, min(place, len(self.rows.lines) - 1))
        self._set_cursor(self.rows.lines.key_at(self._place))
        self._scroll()
        if self._top != top:
            self._paint(whole=True)
        elif old != self._place:
            self._dirty(old - self._top)
            self._dirty(self._place - self._top)

    def action_column(self, by: int) -> None:
        """Another column is the selected one; it is brought into sight."""
        if self.rows is None:
            return
        names = [column.name for column in self.rows.columns if column.name not in self.rows.told_above]
        at = names.index(self._selected) if self._selected in names else 0
        self._selected = names[(at + by) % len(names)]
        self._paint(whole=True)

    def sort_selected(self) -> None:
        self._sort(self._selected)

    def _sort(self, column: str) -> None:
        if self.rows is None or column == "context" or column in self.rows.told_above:
            return
        self.rows.sort(column, reverse=column == self.rows.sorted_by and not self.rows.reversed)
        self._selected = column
        self.rearranged()

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
            self._marks.add(key for key, _ in self.rows.table)
            self.refresh()

    def clear_marks(self) -> None:
        self._marks.clear()
        self.refresh()

    @property
    def marked(self) -> dict[Key, None]:
        return self._marks.keys

    @property
    def head(self) -> HeadRow | None:
        """The head under the cursor, if it is on one."""
        line = self._place - self._top
        row = self._window[line] if 0 <= line < len(self._window) else None
        return row if isinstance(row, HeadRow) and row.key == self.cursor else None

    def toggle_groups(self) -> None:
        """The cursor stays on its row; from a head it goes to the first row below."""
        if self.rows is None:
            return
        if self.rows.groups is not None and self.cursor is not None and self.cursor.kind == HEAD:
            self.cursor = next(iter(self.rows.groups.members(self.cursor)), None)
        self.rows.toggle_groups()
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
        letter = event.character or ""
        if self.rows is None or not letter.isupper():
            return
        place = letters(self.rows.columns).get(letter)
        if place is not None:
            event.stop()
            event.prevent_default()
            self._sort(self.rows.columns[place].name)

    def on_resize(self, event: events.Resize) -> None:
        if self.rows is not None and self.size.height:
            self.rows.pump()
            self._follow()
            self._paint(whole=True)

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def on_click(self, event: events.Click) -> None:
        if event.y > 0:
            self._move_to(self._top + event.y - 1)

    # What is painted

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
        known = {row.key: row for row in before} if may_flash and self._flash else {}
        for y in range(max(len(before), len(self._window))):
            old = before[y] if y < len(before) else None
            new = self._window[y] if y < len(self._window) else None
            if old == new:
                continue
            if new is not None and (was := known.get(new.key)) is not None and was != new:
                self._light(was, new)
            self._dirty(y, old, new)
            if new is not None and new.key == self.cursor:
                self.post_message(self.CursorMoved())
        if self._count() != self._counted:
            self.refresh(Region(0, 0, self.size.width, 1))

    def _arrange(self) -> bool:
        """Places the columns; True where they moved."""
        slots = self._placed(wide=self.wide)
        moved, self._slots = slots != self._slots, slots
        return moved

    def _placed(self, *, wide: bool) -> tuple[Slot, ...]:
        assert self.rows is not None
        wishes = replace(self._wishes, wide=wide, selected=self._selected, without=self.rows.told_above)
        natural = self._widths.of(self.rows, self._window, self._top)
        return arrange(self.rows.columns, natural, self.size.width - LEFT - 1, wishes)

    @property
    def given_up(self) -> tuple[str, ...]:
        """The titles of the columns that had to go for the further ones of a wide table."""
        if self.rows is None or not self.wide:
            return ()
        shown = {slot.index for slot in self._slots}
        return tuple(
            self.rows.columns[slot.index].title for slot in self._placed(wide=False) if slot.index not in shown
        )

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
            if old.text != cell.text and self.rows.columns[place].name not in _TELLS_TIME
        )
        if changed:
            self._lit[new.key] = changed
            self.set_timer(_FLASHED, lambda: self._unlight(new.key))

    def _unlight(self, key: Key) -> None:
        self._lit.pop(key, None)
        for y, row in enumerate(self._window):
            if row.key == key:
                self._dirty(y)

    def render_line(self, y: int) -> Strip:
        self.strips_made += 1
        if self.rows is None or not self._window:
            return self._explanation(y)
        if y == 0:
            return self._head()
        return self._row(self._window[y - 1]) if y - 1 < len(self._window) else Strip.blank(self.size.width, PLAIN)

    def _explanation(self, y: int) -> Strip:
        return explanation_strip(self._empty, y, self.size, self._ascii)

    def _head(self) -> Strip:
        assert self.rows is not None
        self._counted = self._count()
        chosen = "" if self._selected == self.rows.sorted_by else self._selected
        title = Heading(self.rows.sorted_by, self.rows.reversed, chosen, self._counted)
        return head_strip(self.rows.columns, self._slots, title, self.size.width, self._ascii)

    def _count(self) -> str:
        assert self.rows is not None
        table = self.rows.table
        marked = f"{len(self.marked)} marked, " if self.marked else ""
        if self.rows.is_narrowed:
            return f"{marked}{len(table)} of {table.total}"
        if self.rows.groups is not None:
            return f"{marked}{len(table):,} in {self.rows.groups.groups:,}"
        if len(table) <= self.height:
            return marked.rstrip(", ")
        last = min(self._top + self.height, len(table))
        signs = f"{'↑' if self._top else ''}{'↓' if last < len(table) else ''}"
        return f"{marked}{self._top + 1:,}–{last:,} of {len(table):,} {signs}"

    def _row(self, row: Row) -> Strip:
        assert self.rows is not None
        how = Showing(row.key == self.cursor, row.key in self.marked, self._lit.get(row.key, frozenset()))
        if isinstance(row, HeadRow):
            return group_strip(row, how, self.size.width, self._ascii)
        return row_strip(self.rows.columns, self._slots, row, how, self.size.width, self._ascii)
