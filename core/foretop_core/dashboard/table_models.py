"""The model of a table widget: rows in order, kept up to date, filtered and sorted, and rendered on demand."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, let_through
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.own_failures import problem_text
from foretop_core.tables.engine.filter import FilterableRow, parse_filter
from foretop_core.tables.engine.groups import (
    HEAD,
    GroupedRows,
    GroupHeader,
    RowsInSight,
    SectionedRows,
    SectionHeader,
    section_key,
)
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.rows import Judged, ObjectRows, SortedRows, everything
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.engine.view import LONGEST_CELL, Cell, Column, Row, TableView, UnreadableRow, View
from foretop_core.tables.engine.view_scope import short_names
from foretop_core.tables.text.terminal_text import clean, unsigned

FAULTS = frozenset({StatusGlyph.BROKEN, StatusGlyph.LOOK})
_JUDGED_EVERY, _JUDGED_LONG_AGO = timedelta(seconds=1), timedelta(seconds=30)
_JUDGED_IN_TURN, _JUDGED_AT_ONCE = 20, 200
"""So many rows are judged again each second, and when a page is shown that was not looked at for long."""
MADE_AT_ONCE = 200
"""So many rows are made within some milliseconds."""
_UNREADABLE = Judged(StatusGlyph.BROKEN, (-1,))
CONTEXT: Column[Any] = Column("context", "CONTEXT", lambda _entry, _render: "", lambda _entry: None, from_middle=True)
_TITLE_WORD = re.compile(r"[a-z]+")
_MOST_LASTING = 500
"""Rows; more than a screen has lines."""
_MOST_VALUES = 4
_OUR_FAULT = ("no row can be made", "cannot be shown")


@dataclass(frozen=True, slots=True)
class GroupHeaderRow(Row):
    """The line above a group; it stands across all columns."""

    name: str
    size: int
    words: tuple[Cell, ...]
    folded: bool


@dataclass(frozen=True, slots=True)
class SectionRow(Row):
    """The line above a section; it stands across all columns, and the cursor never on it."""

    title: str
    words: str


def cells_of(columns: Iterable[Column[Any]], entry: Any, render: RenderContext) -> list[Cell]:
    """The cells of a row; no text is longer than a line can ever show."""
    return [_cell(column, entry, render) for column in columns]


def _cell(column: Column[Any], entry: Any, render: RenderContext) -> Cell:
    cell = column.cell(entry, render)
    cell = Cell(cell) if isinstance(cell, str) else cell
    fit_for_terminal = clean if column.signed else unsigned
    text, *briefs = [fit_for_terminal(words[:LONGEST_CELL]) for words in (cell.text, *cell.briefs)]
    return Cell(text, cell.tone, tuple(briefs), cell.drawing)


class TableModel(ABC):
    """The rows of one page; what a person narrowed them to is kept here and holds through every change."""

    def __init__(self, state: DashboardState, view: TableView[Any], table: SortedRows[Any]) -> None:
        self.state = state
        self.view = view
        self.table = table
        self.many = len(state.contexts) > 1 and not view.of_clusters
        self.columns: tuple[Column[Any], ...] = (CONTEXT, *view.columns) if self.many else tuple(view.columns)
        self._askable = filter_fields(view.fields, self.columns)
        self.filter_text = ""
        self.faults_only = False
        self._focus = state.focus
        self.groups: GroupedRows[Any] | None = None
        self._wanted = parse_filter("")
        self._renewed = 0
        self._short = short_names(state.contexts)
        self._lasting: dict[int, tuple[Any, tuple[Cell | None, ...]]] = {}
        """By the identity of an entry that is kept with them, its cells that last."""

    @property
    @abstractmethod
    def sorted_by(self) -> str:
        """The column that the rows are sorted by, or `WORST_FIRST`."""

    @property
    @abstractmethod
    def marks(self) -> Mapping[StatusGlyph, int]:
        """How many of the rows are in which state."""

    @property
    def reversed(self) -> bool:
        return self.table.is_reversed

    @abstractmethod
    def pump(self) -> bool:
        """Brings the rows up to date; whether one that is shown is other than before."""

    @abstractmethod
    def sort(self, column: str, *, reverse: bool) -> None: ...

    @abstractmethod
    def render_context(self, key: ObjectRef, entry: Any) -> RenderContext:
        """The cluster and the moment that a row is painted against."""

    @abstractmethod
    def facets(self, key: ObjectRef, entry: Any) -> FilterableRow: ...

    @abstractmethod
    def home(self, key: ObjectRef, entry: Any) -> tuple[str, str, str]:
        """Context, kind and namespace of what a row is about."""

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

    def entry(self, key: ObjectRef) -> Any:
        """The entry that a row is made from; None where it is gone."""
        return self.table.get(key)

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        """The object that a row is about; a head is about none."""
        return None if key.kind == HEAD else key

    @property
    def lines(self) -> SortedRows[Any] | GroupedRows[Any] | SectionedRows[Any]:
        """The lines from top to bottom on the screen: the rows, and in groups their heads."""
        return self.groups or self.table

    def below(self) -> Sequence[Row]:
        """The lines below all rows where there is room; the cursor never goes there."""
        return ()

    def find(self, key: ObjectRef) -> int | None:
        """The line of a row; a folded group is opened for it."""
        self.table.bring_one(key)
        if self.groups is not None and key.kind != HEAD and key in self.table:
            self.groups.unfold(key)
        return self.lines.index_of(key)

    def ordered(self) -> Iterator[tuple[ObjectRef, Any]]:
        """Every row that fits, in the order of the screen, folded or not."""
        return self.groups.rows() if self.groups is not None else iter(self.table)

    # The painting

    def paint(self, start: int, stop: int) -> list[Row]:
        """The lines on the screen as they are now."""
        painted: list[Row] = []
        for key, entry in self.lines.window(start, stop):
            if isinstance(entry, GroupHeader):
                painted.append(self._head(key, entry))
            elif isinstance(entry, SectionHeader):
                painted.append(self._section_row(key, entry))
            else:
                painted.append(self.row(key, entry))
        return painted

    def _section_row(self, key: ObjectRef, head: SectionHeader) -> SectionRow:
        return SectionRow(key, StatusGlyph.UNSET, (), head.section[-1], "")

    def row(self, key: ObjectRef, entry: Any) -> Row:
        """One line as it is now; one that cannot be painted says so and costs itself only."""
        if not isinstance(entry, UnreadableRow):
            try:
                render = self.render_context(key, entry)
                mark = self.view.mark(entry, render)
                if mark is StatusGlyph.HEALTHY and render.snapshot.is_loading:
                    # Nothing is known to be well before all that speaks against it has come in.
                    mark = StatusGlyph.UNSET
                return Row(key, mark, (*self._told(key), *self.cells(entry, render)), faded=self.is_stale(key))
            except Exception as problem:
                let_through(problem)
                entry = UnreadableRow(key, f"cannot be shown: {problem_text(problem)}", problem)
        if entry.fault is not None:
            self.state.note_failure(f"a row of {self.view.name}", self.subject(key), entry.fault)
        cells = (*self._told(key), *self._spoiled(entry))
        return Row(key, StatusGlyph.BROKEN, cells, faded=self.is_stale(key), fault=entry.fault)

    def cells(self, entry: Any, render: RenderContext) -> list[Cell]:
        """The cells of a row; one that lasts is made once for an entry: all rows in sight are painted every second."""
        columns = self.view.columns
        entry_cells = self._lasting.get(id(entry))
        if entry_cells is None or entry_cells[0] is not entry:
            if len(self._lasting) >= _MOST_LASTING:
                self._lasting.clear()
            lasting = tuple([_cell(column, entry, render) if column.lasts else None for column in columns])
            entry_cells = self._lasting[id(entry)] = (entry, lasting)
        return [cell or _cell(column, entry, render) for cell, column in zip(entry_cells[1], columns, strict=True)]

    def _told(self, key: ObjectRef) -> tuple[Cell, ...]:
        """The context, where there are several."""
        return (Cell(self._short.get(key.context, key.context)),) if self.many else ()

    def _spoiled(self, entry: UnreadableRow) -> list[Cell]:
        """Its name where names stand, and what is wrong in the first place after it."""
        ours = entry.problem.startswith(_OUR_FAULT)
        problem = unsigned(entry.problem if ours else f"unreadable: {entry.problem}")
        texts = {"namespace": entry.key.namespace, "name": entry.key.name}
        cells = [Cell(unsigned(texts.get(column.name, "")), Tone.BAD) for column in self.view.columns]
        named = [index for index, cell in enumerate(cells) if cell.text]
        place = next((index for index in range(named[0], len(cells)) if not cells[index].text), None) if named else None
        if place is None:
            cells[0] = Cell(f"{unsigned(entry.key.name)}: {problem}", Tone.BAD)
        else:
            cells[place] = Cell(problem, Tone.BAD)
        return cells

    def _head(self, key: ObjectRef, head: GroupHeader) -> GroupHeaderRow:
        context, namespace = head.group
        place = f"{self._short.get(context, context)}  {namespace}" if self.many else namespace
        words = [Cell(f"{count:,} {unsigned(word)}", mark.tone) for (mark, word), count in head.standings]
        return GroupHeaderRow(key, StatusGlyph.UNSET, (), unsigned(place), head.size, tuple(words), head.folded)

    def item(self, key: ObjectRef) -> Item:
        """The item that `-o json` prints of a row; an object that cannot be read or shown says so in its own."""
        entry = self.table.get(key)
        if entry is None:
            raise BadInput(f"{key.name} no longer exists")
        if not isinstance(entry, UnreadableRow):
            try:
                return self.view.item(entry, self.render_context(key, entry))
            except Exception as fault:
                let_through(fault)
                entry = UnreadableRow(key, f"cannot be shown: {problem_text(fault)}", fault)
        names = {"context": key.context, "kind": key.kind}
        return {**names, "namespace": key.namespace, "name": key.name, "unreadable": entry.problem}

    def is_stale(self, key: ObjectRef) -> bool:
        return self.state.is_stale(key)

    # Groups

    @property
    def can_group(self) -> bool:
        return False

    @property
    def columns_in_header(self) -> frozenset[str]:
        """The columns whose text the heads of the groups have."""
        return frozenset({"context", "namespace"}) if self.groups is not None else frozenset()

    @property
    def needless_columns(self) -> frozenset[str]:
        """The columns that say the same of every row, and are shown only where a person asks for them."""
        return frozenset()

    @property
    def needed_columns(self) -> frozenset[str]:
        """The columns that tell rows apart, and so are not for wide tables alone."""
        return frozenset()

    def standing(self, key: ObjectRef, entry: Any) -> StatusLabel | None:
        """The standing of a row as the head of its group tells it."""
        return None

    def toggle_groups(self) -> None:
        """Puts the rows under their namespaces, or in one list again."""
        if self.groups is not None:
            self.groups.close()
            self.groups = None
        else:
            self.groups = GroupedRows(self.table, self.standing)

    @property
    def due(self) -> int:
        """How many rows are still to be made, or to be counted in the head of their group."""
        return self.table.due + (self.groups.due if self.groups is not None else 0)

    def bring(self) -> bool:
        """Makes and counts some of them; whether a line that is shown may be other than before."""
        counted = self.groups is not None and self.groups.count_some(MADE_AT_ONCE)
        return self.table.bring() or counted

    # What a person narrows the rows to

    def narrow(self, text: str, *, typing: bool = False) -> None:
        """Shows what fits the filter; one that cannot be read is refused, and the old one stays."""
        before, self._wanted = self._wanted, parse_filter(text, self._askable, typing=typing)
        self.filter_text = text
        self.renew(narrows=not self.is_out_of_focus and self._wanted.narrows(before))

    def values_there(self) -> tuple[str, ...]:
        """A few values that rows have in the one field that the filter asks for; none where it asks for several."""
        if len(self._wanted.fields) != 1:
            return ()
        (name,) = self._wanted.fields
        rows = islice(self.table.entries.items(), _MOST_LASTING)
        values = (value for key, entry in rows for value in self.facets(key, entry).field(name).split("\n"))
        cleaned = dict.fromkeys(map(clean, values))
        return tuple(islice(filter(None, cleaned), _MOST_VALUES))

    def keep_up(self) -> None:
        """Once a second where it depends on what the cells say which rows are shown, for those may tell of the time."""
        if self.faults_only:
            self.renew()
        elif not self._wanted.fields <= frozenset(self.view.fields):
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

    @property
    def held_back(self) -> str:
        """Names what there is besides its rows and is not shown; "" for nothing."""
        return ""

    @property
    def notice(self) -> str:
        """The sentence that holds for all rows of a cluster at this moment, with its name where there are several."""
        view = self.view
        if not isinstance(view, View):
            return ""
        notices = ((context, view.notice(self.state.render_context(context))) for context in self.state.contexts)
        return ", ".join(f"{context}: {text}" if self.many else text for context, text in notices if text)

    def _keeps(self, key: ObjectRef, entry: Any) -> bool:
        """True if the narrowing keeps it, or cannot be asked: nothing is hidden by a failure."""
        if self._focus and not self._focus.keeps(*self.home(key, entry)):
            return False
        try:
            if self.filter_text and not self._wanted(self.facets(key, entry)):
                return False
            return not self.faults_only or self._is_fault(key, entry)
        except Exception as problem:
            let_through(problem)
            self.state.note_failure(f"filtering {self.view.name}", self.subject(key), problem)
            return True

    def _is_fault(self, key: ObjectRef, entry: Any) -> bool:
        if isinstance(entry, UnreadableRow):
            return True
        return self.view.mark(entry, self.render_context(key, entry)) in FAULTS


class StoreTableModel(TableModel):
    """Rows made from the objects of the store."""

    view: View[Any]
    table: ObjectRows[Any]

    def __init__(self, state: DashboardState, view: View[Any], *, worst_first: bool = False) -> None:
        """With `worst_first` the rows start in that order, their states are counted, and many are made in turn."""
        # The rows are judged while they are made, so what judges them comes first.
        self.state, self.view = state, view
        self._judged_at = state.now()
        judge, most = (self._judged, MADE_AT_ONCE) if worst_first else (None, None)
        rows = ObjectRows(view, state.store, state.contexts, judge, most)
        super().__init__(state, view, rows)
        self._below: tuple[int, tuple[Row, ...]] = (-1, ())
        """The second at which it was looked for what stands below, and what that was."""
        self._sections = SectionedRows(rows, self._section) if worst_first and view.has_sections else None

    def _judged(self, key: ObjectRef, entry: Any) -> Judged:
        """The judgement of a row; one that cannot be judged counts as broken, and its row says so."""
        if not isinstance(entry, UnreadableRow):
            try:
                render = self.state.render_context(key.context)
                mark = self.view.mark(entry, render)
                return Judged(mark, self.view.grade(entry, mark, render))
            except Exception as problem:
                let_through(problem)
        return _UNREADABLE

    @property
    def marks(self) -> Mapping[StatusGlyph, int]:
        return self.table.marks

    @property
    def lines(self) -> SortedRows[Any] | GroupedRows[Any] | SectionedRows[Any]:
        """In sections where the rows are in the order that the sections are of."""
        if self._sections is not None and self.sorted_by == self.view.order and not self.reversed:
            return self._sections
        return super().lines

    def _section(self, key: ObjectRef, entry: Any) -> tuple[str, str, str]:
        title = "" if isinstance(entry, UnreadableRow) else self.view.section(entry)
        return key.context, key.namespace, title

    def _section_row(self, key: ObjectRef, head: SectionHeader) -> SectionRow:
        """With the cluster and the namespace where there are several servers."""
        context, namespace, title = head.section
        entries = RowsInSight(self.table, head.rows)
        try:
            # Rows that cannot be read stand in a section without a title.
            words = self.view.section_words(title, entries, self.state.render_context(context)) if title else ""
        except Exception as problem:
            let_through(problem)
            self.state.note_failure(f"a section of {self.view.name}", None, problem)
            words = ""
        parts = (self._short.get(context, context) if self.many else "", "" if self._is_one_server else namespace)
        where = " ".join(unsigned(part) for part in parts if part)
        return SectionRow(key, StatusGlyph.UNSET, (), f"{title} {where}" if where else title, words)

    @property
    def _is_one_server(self) -> bool:
        places = (self.state.store.snapshot(context).velero_namespaces for context in self.state.contexts)
        return all(len(place) <= 1 for place in places)

    def below(self) -> Sequence[Row]:
        """Looked for once a second, and nowhere where a person has narrowed the rows."""
        if self.is_narrowed:
            return ()
        second = int(self.state.now().timestamp())
        if second != self._below[0]:
            self._below = (second, tuple(row for context in self.state.contexts for row in self._below_in(context)))
        return self._below[1]

    def _below_in(self, context: str) -> Iterator[Row]:
        try:
            render = self.state.render_context(context)
            words, entries = self.view.below(render)
        except Exception as problem:
            let_through(problem)
            self.state.note_failure(f"what is below {self.view.name}", None, problem)
            return
        if not entries:
            return
        title, _, rest = words.partition(": ")
        where = f" {self._short.get(context, context)}" if self.many else ""
        yield SectionRow(section_key((context, "", title)), StatusGlyph.UNSET, (), f"{title}{where}", rest)
        for entry in entries:
            yield self.row(render.snapshot.ref(self.view.resource(entry)), entry)

    @property
    def sorted_by(self) -> str:
        return self.table.sorted_by

    def close(self) -> None:
        self.table.close()

    def pump(self) -> bool:
        """Besides what changed, some rows are judged again each second: states change with time too."""
        counted = self.groups is not None and self.groups.count_some(MADE_AT_ONCE)
        changed = self.table.pump() or counted
        now = self.state.now()
        passed = abs(now - self._judged_at)
        if passed < _JUDGED_EVERY:
            return changed
        self._judged_at = now
        return self.table.judge_again(_JUDGED_IN_TURN if passed < _JUDGED_LONG_AGO else _JUDGED_AT_ONCE) or changed

    def sort(self, column: str, *, reverse: bool) -> None:
        self.table.sort_by(column, reverse=reverse)

    def render_context(self, key: ObjectRef, entry: Any) -> RenderContext:
        return self.state.render_context(key.context)

    def facets(self, key: ObjectRef, entry: Any) -> FilterableRow:
        return self.view.facets(key, entry, self.state.render_context)

    def home(self, key: ObjectRef, entry: Any) -> tuple[str, str, str]:
        return key.context, key.kind, key.home

    @property
    def needless_columns(self) -> frozenset[str]:
        """Besides others the namespace of Velero's own objects, where there is one Velero in each cluster."""
        is_same = self.view.is_of_velero and self._is_one_server
        return self.view.on_request | ({"namespace"} if is_same else set())

    @property
    def needed_columns(self) -> frozenset[str]:
        return frozenset({"namespace"} if self.view.is_of_velero and not self._is_one_server else ())

    @property
    def can_group(self) -> bool:
        return self.view.in_groups

    def standing(self, key: ObjectRef, entry: Any) -> StatusLabel | None:
        if isinstance(entry, UnreadableRow):
            return StatusGlyph.BROKEN, "unreadable"
        try:
            return self.view.standing(entry)
        except Exception as problem:
            let_through(problem)
            self.state.note_failure(f"a group of {self.view.name}", key, problem)
            return StatusGlyph.BROKEN, "not judged"


def filter_fields(fields: Iterable[str], columns: Sequence[Column[Any]]) -> dict[str, str]:
    """The fields that a filter on the screen may ask for, and the columns by their names and titles.

    Each with the field or column that it stands for; a title of several words is known by its column's name.
    """
    names = {name: name for name in (*fields, *(column.name for column in columns))}
    names |= {
        title: column.name for column in columns if (title := column.title.lower()).isalpha() and title not in names
    }
    for column in columns:
        words = [] if " " in column.title else _TITLE_WORD.findall(column.title.lower())
        names |= {word: column.name for word in words if word not in names}
    return names
