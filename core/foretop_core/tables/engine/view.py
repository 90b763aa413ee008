"""The parts of a view: columns of cells, a mark for each row, and the sides by which rows are found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.pages import PageConflict, PageRecord
from foretop_core.store import Change, Store
from foretop_core.tables.engine.drawings import Drawing, Piece
from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone, badness, phase_briefs, run_standing
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import ELLIPSIS, cut, cut_end, pad, width

LONGEST_CELL = 1024
"""So many characters of a text stand in a row at most: a cell is measured and cut with every paint."""


class Cell(msgspec.Struct, frozen=True, gc=False):
    """Text that a terminal may have as it is, and the tone in which it is said."""

    text: str
    tone: Tone = Tone.PLAIN
    briefs: tuple[str, ...] = ()
    """The same in fewer words, for a column with less room."""
    drawing: Drawing | None = None
    """A bar or strip that is drawn for the room of the column, in the place of the text or before it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One painted line: the same for the screen and for the command line."""

    key: ObjectRef
    mark: StatusGlyph
    cells: tuple[Cell, ...]
    faded: bool = field(default=False, kw_only=True)
    """Nothing new comes in of it."""
    fault: Exception | None = field(default=None, kw_only=True, compare=False)
    """What kept it from being painted."""

    @property
    def outline(self) -> tuple[object, ...]:
        """Two rows with the same differ in the text of cells alone."""
        return self.key, self.mark, self.faded


E = TypeVar("E")
Shown = TypeVar("Shown", contravariant=True)


RenderContextOf = Callable[[str], RenderContext]
"""The moment in a cluster."""


class Column(msgspec.Struct, Generic[Shown], frozen=True):
    """A column of a table, by the entries of its rows."""

    name: str
    """In the configuration and in filters."""
    title: str
    cell: Callable[[Shown, RenderContext], Cell | str]
    """Its words at every width with their tone, or a text of one wording alone.

    May use the time: it is asked for what is on the screen only.
    """
    sort: Callable[[Shown], Any]
    """May not use the time."""
    right: bool = False
    """At the right edge: numbers, ages and times."""
    wide: bool = False
    """Only on a large terminal, and in `-o wide`."""
    from_middle: bool = False
    """Keeps its end where there is no room, as names do."""
    falls: bool = False
    """Downwards in its usual order: the newest start, the greatest age comes first."""
    cells: int = 0
    """What its texts come to sooner or later, kept free from the start: no column goes when one of them grows."""
    alike: bool = False
    """All of its cells are shortened where one has to be."""
    ticks: bool = False
    """A cell does not flash when its text changes, as that comes of the clock and not of the object."""
    most: int = 0
    """As wide as it ever gets; a cell with shorter words has those, however much room there is."""
    lasts: bool = False
    """A cell stays the same as long as its entry does."""
    bar: int = 0
    """Up to so many cells more are for a bar before its text, where there is room."""
    signed: bool = False
    """Its texts have signs of foretop's own, and come without those of others; in all columns else none is let
    through."""

    def text(self, entry: Shown, render: RenderContext) -> str:
        """The longest words."""
        return _text(self.cell(entry, render))


def _text(cell: Cell | str) -> str:
    return cell if isinstance(cell, str) else cell.text


def plain(
    name: str,
    title: str,
    get: Callable[[Shown], Cell | str],
    *,
    wide: bool = False,
    from_middle: bool = False,
    cells: int = 0,
    most: int = 0,
    signed: bool = False,
) -> Column[Shown]:
    """A column whose cells do not depend on the time, and sorts as it reads."""
    return Column(
        name,
        title,
        lambda entry, _: get(entry),
        lambda entry: _text(get(entry)) or None,
        wide=wide,
        from_middle=from_middle,
        cells=cells,
        most=most,
        lasts=True,
        signed=signed,
    )


def aged(name: str, title: str, since: Callable[[Shown], datetime | None]) -> Column[Shown]:
    """A column of how long ago something was."""
    return Column(
        name,
        title,
        lambda entry, render: times.age(since(entry), render.now),
        since,
        right=True,
        falls=True,
        cells=6,
        ticks=True,
    )


def wording(cells: Iterable[Cell], size: int) -> int:
    """How much all cells of a column must be shortened alike for the longest to fit; 0: not at all."""
    texts = [(cell.text, *cell.briefs) for cell in cells]
    most = max(map(len, texts), default=1)
    return next(
        (index for index in range(most) if all(width(text[min(index, len(text) - 1)]) <= size for text in texts)), most
    )


def worded_width(cell: Cell, shortened: int) -> int:
    """How wide the wording is that a cell has when it was shortened so many times."""
    wordings = (cell.text, *cell.briefs)
    return width(wordings[min(shortened, len(wordings) - 1)])


def fit(cell: Cell, column: Column[Any], size: int, ellipsis: str = ELLIPSIS, least: int = 0) -> str:
    """The fullest wording that fits, shortened `least` times before; where none does, the shortest is cut."""
    wordings = (cell.text, *cell.briefs)
    text = next((words for words in wordings[least:] if width(words) <= size), wordings[-1])
    return cut(text, size, ellipsis) if column.from_middle else cut_end(text, size, ellipsis)


def pieces(
    cell: Cell, column: Column[Any], size: int, ellipsis: str = ELLIPSIS, least: int = 0, *, ascii: bool = False
) -> tuple[Piece, ...]:
    """A cell in exactly its room: its text, or what is drawn in its place."""
    if cell.drawing is not None:
        return cell.drawing.pieces(cell.text, cell.tone, size, ascii=ascii)
    shortened = max(least, 1) if column.most and cell.briefs else least
    return (Piece(pad(fit(cell, column, size, ellipsis, shortened), size, right=column.right), cell.tone),)


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """The entry of an object that could not be read, or for which no row could be made."""

    key: ObjectRef
    problem: str
    fault: Exception | None = field(default=None, compare=False)
    """The failure of foretop's own, where it was one."""


class TableView(ABC, Generic[E]):
    """One table: its columns, and how a row of it looks, whatever the row is made from."""

    name: ClassVar[str]
    kinds: ClassVar[frozenset[str]] = frozenset()
    """The names of the kinds whose objects are rows here; none where the rows are of all sorts."""
    of_clusters: ClassVar[bool] = False
    """Whether its rows are clusters, so that no column beside them names theirs."""
    columns: tuple[Column[E], ...]
    order: ClassVar[str]
    rank: ClassVar[tuple[str, ...]] = ()
    """The columns that are given up last where there is no room for all; one that is not named here goes first."""
    least: ClassVar[Mapping[str, int]] = {}
    """By column, how much of it is kept when it is cut, where that is not the usual."""
    first: ClassVar[Mapping[str, int]] = {}
    """By column, up to how many cells it gets before names are given more."""
    narrow: ClassVar[Mapping[str, int]] = {}
    """On a narrow line: the columns that stay, by rank, and how much of them is kept."""
    fields: ClassVar[tuple[str, ...]] = ("context", "namespace", "name", "phase")
    with_velero: ClassVar[bool] = False
    """Whether it tells of a team's namespace what Velero's objects alone know, wherever Velero is."""

    @abstractmethod
    def mark(self, entry: E, render: RenderContext) -> StatusGlyph: ...

    @abstractmethod
    def item(self, entry: E, render: RenderContext) -> Item:
        """The item that `-o json` prints of it."""

    def column(self, name: str) -> Column[E]:
        column = next((column for column in self.columns if column.name == name.lower()), None)
        if column is None:
            names = ", ".join(column.name for column in self.columns)
            raise BadInput(f"{name!r} is not a column of {self.name}", f"the columns are {names}")
        return column


WORST_FIRST = "worst"
"""The order in which a table starts: the worst state first, then what comes next."""


class View(TableView[E]):
    """A table of objects: which it shows, and how a change finds its rows."""

    order_words: ClassVar[str] = "worst first"
    """The order in which the table starts, in words."""
    starts_worst_first: ClassVar[bool] = True
    """False where the objects have an order of their own."""
    on_request: ClassVar[frozenset[str]] = frozenset()
    """The columns that the screen shows only where a person asks for them: the pane tells it, or another column."""
    is_of_velero: ClassVar[bool] = False
    """Whether its objects are in Velero's own namespace."""
    has_sections: ClassVar[bool] = False
    """Whether its rows, in their own order, stand in sections with a line above each."""
    mark_ticks: ClassVar[bool] = True
    """Whether the mark of a row changes with time alone."""

    watched: ClassVar[frozenset[str]]
    """Its kinds and the ones whose changes show in the rows."""
    context_kinds: ClassVar[frozenset[str]] = frozenset()
    """What the rows are painted against: without these kinds they say less."""
    missing: ClassVar[Resource | None] = None
    """What a row is made from where the object is gone; None where no row is left of it."""
    in_groups: ClassVar[bool] = True
    """Whether its rows may be put under their namespaces."""

    @abstractmethod
    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> E | None:
        """The entry that the row of an object is made from; None where the view does not show the object."""

    @abstractmethod
    def resource(self, entry: E) -> Resource: ...

    def grade(self, entry: E, mark: StatusGlyph, render: RenderContext) -> tuple[int, ...]:
        """The place of a row's state among all, the worst first."""
        return (badness(mark),)

    def then_by(self, entry: E) -> Any:
        """The order of rows of one state: by what comes next. None comes last."""
        return self.column(self.order).sort(entry)

    def section(self, entry: E) -> str:
        """The title of the section in which a row stands."""
        return ""

    def section_words(self, title: str, entries: Sequence[E], render: RenderContext) -> str:
        """The sentence after the title of a section of one server."""
        return ""

    def notice(self, render: RenderContext) -> str:
        """A sentence that holds for all rows of a cluster at this moment; "" for none."""
        return ""

    def below(self, render: RenderContext) -> tuple[str, Sequence[E]]:
        """The lines that a wide screen shows below the rows, and the line above them; none is a row of the table."""
        return "", ()

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """The rows that may look different after a change of any watched object."""
        return (key,)

    def basis(self, store: Store, context: str) -> object:
        """The facts that all rows of a cluster share beside their own objects; a change makes all rows again."""
        return None

    def details(self, entry: E) -> Mapping[str, str]:
        """The fields of this view beyond those that every view has."""
        return {}

    def searched(self, entry: E) -> Iterable[str]:
        """The texts that a search looks at, beyond those of every view."""
        return self.details(entry).values()

    def labels(self, entry: E) -> Mapping[str, str]:
        return self.resource(entry).metadata.labels

    def phase(self, entry: E) -> str:
        return str(getattr(self.resource(entry), "phase", ""))

    def standing(self, entry: E) -> StatusLabel | None:
        """The standing of a row as the head of a group tells it; None for what is well."""
        return run_standing(self.phase(entry))

    def facets(
        self, key: ObjectRef, entry: E | UnreadableRow, render_context_of: RenderContextOf | None = None
    ) -> FilterableRow:
        """With the render contexts, also what its cells say can be asked for."""
        if isinstance(entry, UnreadableRow):
            return _SpoiledFacets(key, entry.problem)
        return _RowFacets(self, key, entry, render_context_of)

    def said(self, name: str, entry: E, render: RenderContext) -> str:
        """The text in the cell of a column."""
        return next((column.text(entry, render) for column in self.columns if column.name == name), "")

    def keys(self, store: Store, context: str) -> Iterable[ObjectRef]:
        """The keys of all rows of a cluster."""
        return tuple(chain.from_iterable(store.keys(context, kind) for kind in sorted(self.kinds)))


_KEY_FIELDS = {"context": 0, "namespace": 2, "name": 3}


class _RowFacets(msgspec.Struct, Generic[E], frozen=True):
    """Made once for every row that a filter looks at, so it is kept light."""

    view: View[E]
    key: ObjectRef
    entry: E
    render_context_of: RenderContextOf | None

    def text(self) -> str:
        context, _, namespace, name = self.key
        phase = self.view.phase(self.entry)
        own = (context, namespace, name, phase, *phase_briefs(phase))
        return " ".join((*own, *self.view.searched(self.entry))).lower()

    def contains(self, word: str) -> bool:
        """Mostly a name is typed: what has it there needs no other texts."""
        _, _, namespace, name = self.key
        return word in name or word in namespace or word in self.text()

    def field(self, name: str) -> str:
        if name == "namespace":
            return self.key.home
        if name in _KEY_FIELDS:
            return self.key[_KEY_FIELDS[name]]
        if name == "phase":
            return self.view.phase(self.entry)
        if name in self.view.fields or self.render_context_of is None:
            return self.view.details(self.entry).get(name, "")
        return self.view.said(name, self.entry, self.render_context_of(self.key.context))

    def labels(self) -> Mapping[str, str]:
        return self.view.labels(self.entry)


class _SpoiledFacets(msgspec.Struct, frozen=True):
    key: ObjectRef
    problem: str

    def text(self) -> str:
        return f"{self.key.context} {self.key.namespace} {self.key.name} {self.problem}".lower()

    def contains(self, word: str) -> bool:
        return word in self.text()

    def field(self, name: str) -> str:
        return self.key[_KEY_FIELDS[name]] if name in _KEY_FIELDS else ""

    def labels(self) -> Mapping[str, str]:
        return {}


def table_view(page: PageRecord) -> TableView[Any]:
    """The table of a page."""
    view = page.load_view()
    if not (isinstance(view, type) and issubclass(view, TableView)):
        raise PageConflict(f"page {page.id} has no view: {page.view} is none")
    return view()
