"""The model of a table widget: rows in order, kept up to date, filtered and sorted, and rendered on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.failure_record import problem_text
from foretop_core.tables.engine.context_names import short_names
from foretop_core.tables.engine.derived_rows import DerivedRows
from foretop_core.tables.engine.filter import FilterableRow, parse_filter
from foretop_core.tables.engine.filter_fields import filter_fields
from foretop_core.tables.engine.groups import HEAD, GroupedRows, GroupHeader
from foretop_core.tables.engine.sorted_rows import SortedRows, everything
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel
from foretop_core.tables.engine.view import Cell, Column, Row, UnreadableRow, View
from foretop_core.tables.resources.json_items import Item
from foretop_core.tables.text.terminal_text import clean

FAULTS = frozenset({StatusGlyph.BROKEN, StatusGlyph.LOOK})
CONTEXT: Column[Any] = Column("context", "CONTEXT", lambda _entry, _scene: "", lambda _entry: None)


@dataclass(frozen=True, slots=True)
class GroupHeaderRow(Row):
    """The line above a group; it stands across all columns."""

    name: str
    size: int
    words: tuple[Cell, ...]
    folded: bool


class TableModel(ABC):
    """The rows of one page; what a person narrowed them to is kept here and holds through every change."""

    def __init__(self, state: DashboardState, columns: Sequence[Column[Any]], fields: Sequence[str]) -> None:
        self.state = state
        self.many = len(state.contexts) > 1
        self.columns: tuple[Column[Any], ...] = (CONTEXT, *columns) if self.many else tuple(columns)
        self.fields = frozenset(fields)
        self._askable = filter_fields(fields, self.columns)
        self.filter_text = ""
        self.faults_only = False
        self._focus = state.focus
        self.groups: GroupedRows[Any] | None = None
        self._wanted = parse_filter("")
        self._renewed = 0
        self._short = short_names(state.contexts)

    @property
    @abstractmethod
    def name(self) -> str:
        """The view that it is the model of."""

    @abstractmethod
    def key_of(self, entry: Any) -> ObjectRef: ...

    @property
    @abstractmethod
    def table(self) -> SortedRows[Any]: ...

    @property
    @abstractmethod
    def sorted_by(self) -> str: ...

    @property
    @abstractmethod
    def reversed(self) -> bool: ...

    @abstractmethod
    def pump(self) -> bool:
        """Brings the rows up to date; whether one that is shown is other than before."""

    @abstractmethod
    def sort(self, column: str, *, reverse: bool) -> None: ...

    @abstractmethod
    def facets(self, entry: Any) -> FilterableRow: ...

    @abstractmethod
    def paint_one(self, key: ObjectRef, entry: Any) -> Row: ...

    @abstractmethod
    def item(self, key: ObjectRef) -> Item: ...

    def take_over(self, before: TableModel) -> None:
        """Sorted, grouped and narrowed as another model of the same view, which is not used any more."""
        self.faults_only = before.faults_only
        if self.faults_only:
            self.renew()
        self.sort(before.sorted_by, reverse=before.reversed)
        if (self.groups is None) != (before.groups is None):
            self.toggle_groups()
        before.close()

    @abstractmethod
    def close(self) -> None:
        """Takes in no more changes."""

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        """The object that a row is about; a head is about none."""
        return None if key.kind == HEAD else key

    @property
    def lines(self) -> SortedRows[Any] | GroupedRows[Any]:
        """What stands below each other on the screen: the rows, and in groups their heads."""
        return self.groups or self.table

    def find(self, key: ObjectRef) -> int | None:
        """The line of a row; a folded group is opened for it."""
        if self.groups is not None and key.kind != HEAD and key in self.table:
            self.groups.unfold(key)
        return self.lines.index_of(key)

    def paint(self, start: int, stop: int) -> list[Row]:
        """The lines on the screen as they are now; one that cannot be painted says so and costs itself only."""
        return [
            self._head(key, entry) if isinstance(entry, GroupHeader) else self.row(key, entry)
            for key, entry in self.lines.window(start, stop)
        ]

    def ordered(self) -> Iterator[tuple[ObjectRef, Any]]:
        """Every row that fits, in the order of the screen, folded or not."""
        return self.groups.rows() if self.groups is not None else iter(self.table)

    def row(self, key: ObjectRef, entry: Any) -> Row:
        return self._told(self._safely(key, entry))

    def _head(self, key: ObjectRef, head: GroupHeader) -> GroupHeaderRow:
        context, namespace = head.group
        place = f"{self._short.get(context, context)}  {namespace}" if self.many else namespace
        words = [Cell(f"{count:,} {clean(word)}", mark.tone) for (mark, word), count in head.standings]
        return GroupHeaderRow(key, StatusGlyph.UNSET, (), clean(place), head.size, tuple(words), head.folded)

    @property
    def can_group(self) -> bool:
        return False

    @property
    def columns_in_header(self) -> frozenset[str]:
        """The columns whose text the heads of the groups have."""
        return frozenset({"context", "namespace"}) if self.groups is not None else frozenset()

    def standing(self, entry: Any) -> StatusLabel | None:
        """What the head of its group tells of a row."""
        return None

    def toggle_groups(self) -> None:
        """Puts the rows under their namespaces, or in one list again."""
        if self.groups is not None:
            self.groups.close()
            self.groups = None
        else:
            self.groups = GroupedRows(self.table, self.standing)

    def narrow(self, text: str, *, typing: bool = False) -> None:
        """Shows what fits the filter; one that cannot be read is refused, and the old one stays."""
        before, self._wanted = self._wanted, parse_filter(text, self._askable, typing=typing)
        self.filter_text = text
        self.renew(narrows=not self.is_out_of_focus and self._wanted.narrows(before))

    def keep_up(self) -> None:
        """Once a second where it depends on what the cells say which rows are shown, for those may tell of the time."""
        if self.faults_only:
            self.renew()
        elif not self._wanted.fields <= self.fields:
            second = int(self.state.now().timestamp())
            if second != self._renewed:
                self._renewed = second
                self.renew()

    def renew(self, *, narrows: bool = False) -> None:
        """Puts every row to the narrowing again, or those that are shown where it only `narrows` the last one."""
        self._focus = self.state.focus
        self.table.filter(self._keeps if self.is_narrowed else everything, narrows=narrows)

    @property
    def is_out_of_focus(self) -> bool:
        """A person looks elsewhere since the rows were last narrowed."""
        return self._focus != self.state.focus

    @property
    def is_narrowed(self) -> bool:
        return bool(self.filter_text or self.faults_only or self._focus)

    def _keeps(self, entry: Any) -> bool:
        """What cannot be put to the narrowing is shown: nothing is hidden by a failure."""
        if self._focus and not self._focus.keeps(*self.home(entry)):
            return False
        try:
            if self._wanted.tests and not self._wanted(self.facets(entry)):
                return False
            return not self.faults_only or self.is_fault(entry)
        except Exception as problem:
            self.state.note_failure(f"filtering {self.name}", self.subject(self.key_of(entry)), problem)
            return True

    @abstractmethod
    def home(self, entry: Any) -> tuple[str, str, str]:
        """Context, kind and namespace of what a row is about."""

    @property
    def held_back(self) -> str:
        """What there is besides its rows and is not shown; "" for nothing."""
        return ""

    @abstractmethod
    def is_fault(self, entry: Any) -> bool: ...

    def _safely(self, key: ObjectRef, entry: Any) -> Row:
        try:
            row = self.paint_one(key, entry)
        except Exception as problem:
            cells = [Cell("") for _ in self.columns[self.many :]]
            cells[0] = Cell(clean(f"{key.name}: cannot be shown: {problem_text(problem)}"))
            row = Row(key, StatusGlyph.BROKEN, tuple(cells), fault=problem)
        if row.fault is not None:
            self.state.note_failure(f"a row of {self.name}", self.subject(key), row.fault)
        return row

    def _told(self, row: Row) -> Row:
        """With its context where there are several, and faded where it may be other by now."""
        if self.many:
            row = replace(row, cells=(Cell(self._short.get(row.key.context, row.key.context)), *row.cells))
        return replace(row, faded=True) if self.is_stale(row.key) else row

    def is_stale(self, key: ObjectRef) -> bool:
        return self.state.is_stale(key)


class StoreTableModel(TableModel):
    """Rows made from the objects of the store."""

    def __init__(self, state: DashboardState, view: View[Any]) -> None:
        super().__init__(state, view.columns, view.fields)
        self.view = view
        self.entries: DerivedRows[Any] = DerivedRows(view, state.store, state.contexts)

    @property
    def name(self) -> str:
        return self.view.name

    def key_of(self, entry: tuple[ObjectRef, Any]) -> ObjectRef:
        return entry[0]

    @property
    def table(self) -> SortedRows[Any]:
        return self.entries.table

    @property
    def sorted_by(self) -> str:
        return self.entries.sorted_by

    @property
    def reversed(self) -> bool:
        return self.entries.reversed

    def close(self) -> None:
        self.entries.close()

    @property
    def can_group(self) -> bool:
        return self.view.in_groups

    def standing(self, entry: tuple[ObjectRef, Any]) -> StatusLabel | None:
        held = entry[1]
        if isinstance(held, UnreadableRow):
            return StatusGlyph.BROKEN, "unreadable"
        try:
            return self.view.standing(held)
        except Exception as problem:
            self.state.note_failure(f"a group of {self.name}", entry[0], problem)
            return StatusGlyph.BROKEN, "not judged"

    def pump(self) -> bool:
        return self.entries.pump()

    def sort(self, column: str, *, reverse: bool) -> None:
        self.entries.sort(column, reverse=reverse)

    def facets(self, entry: tuple[ObjectRef, Any]) -> FilterableRow:
        return self.view.facets(*entry, self.state.render_context)

    def home(self, entry: tuple[ObjectRef, Any]) -> tuple[str, str, str]:
        key = entry[0]
        return key.context, key.kind, key.home

    def paint_one(self, key: ObjectRef, entry: tuple[ObjectRef, Any]) -> Row:
        return self.view.paint(key, entry[1], self.state.render_context(key.context))

    def item(self, key: ObjectRef) -> Item:
        held = self.table.get(key)
        if held is None:
            raise BadInput(f"{key.name} no longer exists")
        return self.view.describe(key, held[1], self.state.render_context(key.context))

    def entry(self, key: ObjectRef) -> Any | UnreadableRow | None:
        held = self.table.get(key)
        return None if held is None else held[1]

    def is_fault(self, entry: tuple[ObjectRef, Any]) -> bool:
        key, held = entry
        return isinstance(held, UnreadableRow) or self.view.mark(held, self.state.render_context(key.context)) in FAULTS
