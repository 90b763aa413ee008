"""Rows in order, kept so change by change: finding a place costs O(log n), a new order or filter O(n).

Those of a view follow the store: only the ones that a change touches are derived again, some at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from sortedcontainers import SortedList

from foretop_core.errors import let_through
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.own_failures import problem_text
from foretop_core.store import Change, Store, UnreadableObject
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import WORST_FIRST, UnreadableRow, View

E = TypeVar("E")
Counted = TypeVar("Counted", contravariant=True)
Place = tuple[Any, ...]
"""A row's group, where there are any; whether it comes last for want of a value; the value or values; and the key,
which settles ties, so that every row has one place only."""
_MANY = 200
"""Up to so many changes are always made one by one."""


class Counting(Protocol[Counted]):
    """Is told of every row that comes into sight, goes, or changes where it is; of very many at once all keys."""

    def rearranged(self, entries: Mapping[ObjectRef, Counted], keys: Collection[ObjectRef]) -> None: ...

    def came(self, key: ObjectRef, entry: Counted) -> None: ...

    def went(self, key: ObjectRef, entry: Counted) -> None: ...

    def changed(self, key: ObjectRef, before: Counted, after: Counted) -> None: ...


def everything(_key: ObjectRef, _entry: object) -> bool:
    return True


def by_key(_: object) -> None:
    return None


class SortedRows(Generic[E]):
    """All rows by key, and the visible ones in order; reversed order is read from the other end."""

    def __init__(self, sort: Callable[[E], Any] = by_key, keep: Callable[[ObjectRef, E], bool] = everything) -> None:
        self._sort = sort
        self._keep = keep
        self._reverse = False
        self._entries: dict[ObjectRef, E] = {}
        self._places: dict[ObjectRef, Place] = {}
        self._order: SortedList[Place] = SortedList()
        self._group: Callable[[ObjectRef], Any] | None = None
        self._counting: Counting[E] | None = None
        self.moves = 0
        """Moves when a row has come, gone or changed."""

    def __len__(self) -> int:
        """How many rows are visible."""
        return len(self._order)

    @property
    def total(self) -> int:
        return len(self._entries)

    @property
    def due(self) -> int:
        """How many rows are still to be made, or to be made again."""
        return 0

    def bring(self) -> bool:
        """Makes some of the rows that are due; whether a visible row is other than before."""
        return False

    def bring_all(self) -> bool:
        """The same with all of them."""
        return False

    def bring_one(self, key: ObjectRef) -> None:
        """Makes the row of an object that is due, before its turn."""
        return

    def __contains__(self, key: ObjectRef) -> bool:
        """True if the row is visible."""
        return key in self._places

    def get(self, key: ObjectRef) -> E | None:
        return self._entries.get(key)

    @property
    def entries(self) -> Mapping[ObjectRef, E]:
        """All rows by key, visible or not."""
        return self._entries

    def key_at(self, index: int) -> ObjectRef:
        key: ObjectRef = self._order[self._flip(index)][-1]
        return key

    def entry_at(self, index: int) -> E:
        return self._entries[self.key_at(index)]

    def index_of(self, key: ObjectRef) -> int | None:
        place = self._places.get(key)
        return None if place is None else self._flip(self._order.bisect_left(place))

    def window(self, start: int, stop: int) -> Iterator[tuple[ObjectRef, E]]:
        """The visible rows from `start` to before `stop`: what is to be painted."""
        for index in range(max(0, start), min(stop, len(self._order))):
            key = self.key_at(index)
            yield key, self._entries[key]

    def __iter__(self) -> Iterator[tuple[ObjectRef, E]]:
        return self.window(0, len(self._order))

    def remove(self, key: ObjectRef) -> bool:
        gone = self._hide(key)
        self._entries.pop(key, None)
        return gone

    def update(self, changes: Mapping[ObjectRef, E | None]) -> bool:
        """Adds and changes rows, and takes those away that are None; whether a visible one is other than before.

        An equal entry changes nothing; many at once cost one new sort of everything.
        """
        if len(changes) > max(_MANY, len(self._entries) // 4):
            self._update_all(changes)
            return True
        seen = False
        kept: list[tuple[ObjectRef, E]] = []
        for key, entry in changes.items():
            if entry is None:
                seen |= self.remove(key)
            elif self._entries.get(key) == entry:
                continue
            elif self._keep is everything or self._keep(key, entry):
                kept.append((key, entry))
            else:
                seen |= self._hide(key)
                self._entries[key] = entry
        for (key, entry), place in zip(kept, self._placed(kept), strict=True):
            if self._places.get(key) == place:
                before, self._entries[key] = self._entries[key], entry
                self._stay(key, before, entry)
            else:
                self._hide(key)
                self._entries[key] = entry
                self._show(key, place)
        return seen or bool(kept)

    def replace(self, entries: Iterable[tuple[ObjectRef, E]]) -> bool:
        """Makes these the rows, touching only what differs."""
        wanted = dict(entries)
        gone: dict[ObjectRef, E | None] = {key: None for key in self._entries if key not in wanted}
        return self.update({**gone, **wanted})

    def filter(self, keep: Callable[[ObjectRef, E], bool], *, narrows: bool = False) -> None:
        """Shows what fits; one that `narrows` the last one is put to the visible rows only, which keep their order."""
        self._keep = keep
        if not narrows:
            self._arrange()
            return
        entries = self._entries
        self._put_in_order([place for place in self._order if keep(place[-1], entries[place[-1]])])
        self._count()

    def sort(self, value: Callable[[E], Any], *, reverse: bool = False) -> None:
        self._sort = value
        self._sort_again(reverse=reverse)

    def _sort_again(self, *, reverse: bool) -> None:
        self._reverse = reverse
        entries, shown = self._entries, self._places
        rows = entries.items() if len(shown) == len(entries) else [(key, entries[key]) for key in shown]
        self._put_in_order(self._placed(rows))

    def group(self, by: Callable[[ObjectRef], Any] | None, counting: Counting[E] | None) -> None:
        """Keeps rows of one group together, in their order within it; None puts them in one order again."""
        self._group, self._counting = by, counting
        self._arrange()

    @property
    def is_reversed(self) -> bool:
        return self._reverse

    def _update_all(self, changes: Mapping[ObjectRef, E | None]) -> None:
        for key, entry in changes.items():
            if entry is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = entry
        self._arrange()

    def _arrange(self) -> None:
        keep, rows = self._keep, self._entries.items()
        self._put_in_order(self._placed(rows if keep is everything else [row for row in rows if keep(*row)]))
        self._count()

    def _put_in_order(self, places: Iterable[Place]) -> None:
        self._places = {place[-1]: place for place in places}
        self._order = SortedList(self._places.values())
        self.moves += 1

    def _count(self) -> None:
        if self._counting is not None:
            self._counting.rearranged(self._entries, self._places.keys())

    def _show(self, key: ObjectRef, place: Place) -> None:
        self.moves += 1
        self._places[key] = place
        self._order.add(place)
        if self._counting is not None:
            self._counting.came(key, self._entries[key])

    def _hide(self, key: ObjectRef) -> bool:
        place = self._places.pop(key, None)
        if place is None:
            return False
        self.moves += 1
        self._order.remove(place)
        if self._counting is not None:
            self._counting.went(key, self._entries[key])
        return True

    def _stay(self, key: ObjectRef, before: E, after: E) -> None:
        """A visible row has changed, and its place has not."""
        self.moves += 1
        if self._counting is not None:
            self._counting.changed(key, before, after)

    def _flip(self, at: int) -> int:
        return len(self._order) - 1 - at if self._reverse else at

    def _placed(self, rows: Collection[tuple[ObjectRef, E]]) -> list[Place]:
        """The places of rows in the order; one without a value comes last, whichever way the rows run.

        Of all rows at once, for a call more for each is felt where there are 50,000.
        """
        reverse = self._reverse
        places = [
            ((value is None) != reverse, value, key) for (key, _), value in zip(rows, self._values(rows), strict=True)
        ]
        return self._grouped(places)

    def _grouped(self, places: list[Place]) -> list[Place]:
        group = self._group
        return places if group is None else [(group(place[-1]), *place) for place in places]

    def _values(self, rows: Collection[tuple[ObjectRef, E]]) -> list[Any]:
        """The values that rows are put in order by."""
        sort = self._sort
        return [sort(entry) for _, entry in rows]


class Judged(msgspec.Struct, frozen=True, gc=False):
    """The state of a row, and its place among the states of all rows."""

    mark: StatusGlyph
    grade: tuple[int, ...]


_Known = tuple[E | UnreadableRow, Judged, tuple[Any, ...]]
"""An entry, its state, and its place among all with the worst first; flat, as tuples in tuples take four times as long
to compare."""


class ObjectRows(SortedRows[E | UnreadableRow]):
    """The rows of one view over some clusters; `pump` brings them up to date.

    With `judge` they start with the worst, and their states are counted change by change.
    """

    def __init__(
        self,
        view: View[E],
        store: Store,
        contexts: Iterable[str],
        judge: Callable[[ObjectRef, E | UnreadableRow], Judged] | None = None,
        most: int | None = None,
    ) -> None:
        """`most` is how many rows are made at once; the others are made when `bring` is called again and again."""
        super().__init__()
        self._most = most
        self._due: dict[ObjectRef, None] = {}
        """The rows that are to be made, or made again."""
        self._judge = judge
        self._judged: dict[ObjectRef, _Known[E]] = {}
        self._marked: dict[ObjectRef, StatusGlyph] = {}
        self.marks: Counter[StatusGlyph] = Counter()
        """How many of the visible rows are in which state; empty without `judge`."""
        self._turn: Iterator[ObjectRef] = iter(())
        self._is_worst_first = judge is not None and view.starts_worst_first
        self.view = view
        self._store = store
        self._contexts = frozenset(contexts)
        self._changes = store.feed.subscribe(view.watched)
        self._column = view.column(view.order)
        self._bases = self._known_bases()
        self._seen = store.health.revision
        for context in sorted(self._contexts):
            self._due.update(dict.fromkeys(view.keys(store, context)))
        self.derived = 0
        self.bring()
        self.derived = 0
        """How often a row was derived since the first ones were."""

    @property
    def sorted_by(self) -> str:
        return WORST_FIRST if self._is_worst_first else self._column.name

    def sort_by(self, column: str, *, reverse: bool = False) -> None:
        """By a column, or with the worst first again."""
        self._is_worst_first = column == WORST_FIRST and self._judge is not None
        self._column = self.view.column(self.view.order if column == WORST_FIRST else column)
        self._sort_again(reverse=reverse)

    def judge_again(self, most: int) -> bool:
        """Looks at some rows whose state may have changed with time, in turn; whether one of them has."""
        if self._judge is None or not self.view.mark_ticks:
            return False
        changed = False
        for _ in range(min(most, len(self))):
            key = next(self._turn, None)
            if key is None:
                self._turn = iter(tuple(self._places))
                key = next(self._turn)
            if key in self._places:
                changed |= self._judge_one(key, self._entries[key])
        return changed

    def _judge_one(self, key: ObjectRef, entry: E | UnreadableRow) -> bool:
        found = self._judge_now(key, entry)
        if found[1] == self._judged[key][1]:
            return False
        self._hide(key)
        self._judged[key] = found
        (place,) = self._placed(((key, entry),))
        self._show(key, place)
        return True

    def close(self) -> None:
        """Takes in no more changes."""
        self._store.feed.unsubscribe(self._changes)

    def pump(self) -> bool:
        """Takes what changed since the last time; whether a visible row is other than before.

        Each row touched is derived once, however often it changed, and of very many some at a time.
        """
        changes, seen = self._changes.drain(), self._store.health.revision
        if changes or seen != self._seen:
            # A list that has come whole proves something, though no object changes with it.
            self._seen = seen
            self._due.update(self._based_anew())
            for key, change in changes.items():
                self._due.update(dict.fromkeys(self._touched(key, change)))
        return self.bring()

    @property
    def due(self) -> int:
        return len(self._due)

    def bring(self) -> bool:
        return bool(self._due) and self._make(tuple(islice(self._due, self._most)))

    def bring_all(self) -> bool:
        return bool(self._due) and self._make(tuple(self._due))

    def bring_one(self, key: ObjectRef) -> None:
        if key in self._due:
            self._make((key,))

    def _make(self, keys: Iterable[ObjectRef]) -> bool:
        rows: dict[ObjectRef, E | UnreadableRow | None] = {}
        for key in keys:
            del self._due[key]
            if key.context in self._contexts:
                self.derived += 1
                rows[key] = self._derive(key)
        return self.update(rows)

    def _derive(self, key: ObjectRef) -> E | UnreadableRow | None:
        """The entry that the row of an object is made from; one that fails to be made is a row that says so."""
        resource = self._store.get(key) or self.view.missing
        if resource is None or key.kind not in self.view.kinds:
            return None
        if isinstance(resource, UnreadableObject):
            return UnreadableRow(key, resource.problem)
        try:
            return self.view.entry(self._store, key, resource)
        except Exception as fault:
            let_through(fault)
            return UnreadableRow(key, f"no row can be made: {problem_text(fault)}", fault)

    def _touched(self, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """The rows that a change concerns: all of them, where the view fails to say which."""
        try:
            return tuple(self.view.touched(self._store, key, change))
        except Exception:
            return tuple(self.view.keys(self._store, key.context))

    def _based_anew(self) -> dict[ObjectRef, None]:
        """Every row of the clusters in which what all rows are made from has changed."""
        before, self._bases = self._bases, self._known_bases()
        if before == self._bases:
            return {}
        return {
            key: None
            for context in sorted(self._contexts)
            if before[context] != self._bases[context]
            for key in self.view.keys(self._store, context)
        }

    def _known_bases(self) -> dict[str, object]:
        """A basis that cannot be had is another one each time, so that no row stays as it was."""
        found: dict[str, object] = {}
        for context in self._contexts:
            try:
                found[context] = self.view.basis(self._store, context)
            except Exception:
                found[context] = object()
        return found

    def _placed(self, rows: Collection[tuple[ObjectRef, E | UnreadableRow]]) -> list[Place]:
        if not self._is_worst_first:
            return super()._placed(rows)
        reverse, known = self._reverse, self._known
        return self._grouped([(reverse, *known(key, entry)[2], key) for key, entry in rows])

    def _values(self, rows: Collection[tuple[ObjectRef, E | UnreadableRow]]) -> list[Any]:
        """None, which comes last, where there is no value or it fails to be had."""
        sort = self._column.sort
        values: list[Any]
        try:
            values = [None if isinstance(entry, UnreadableRow) else sort(entry) for _, entry in rows]
        except Exception:
            values = [self._value_or_none(entry) for _, entry in rows]
        if self._judge is None or self.view.starts_worst_first:
            return values
        # The order of servers is one for each cluster.
        return [None if value is None else (key.context, value) for (key, _), value in zip(rows, values, strict=True)]

    def _known(self, key: ObjectRef, entry: E | UnreadableRow) -> _Known[E]:
        known = self._judged.get(key)
        if known is None or known[0] is not entry:
            known = self._judged[key] = self._judge_now(key, entry)
        return known

    def _judge_now(self, key: ObjectRef, entry: E | UnreadableRow) -> _Known[E]:
        assert self._judge is not None
        judged, then = self._judge(key, entry), self._then(entry)
        return entry, judged, (*judged.grade, then is None, *(then if isinstance(then, tuple) else (then,)))

    def _show(self, key: ObjectRef, place: Place) -> None:
        super()._show(key, place)
        self._mark(key)

    def _hide(self, key: ObjectRef) -> bool:
        self._unmark(key)
        return super()._hide(key)

    def _stay(self, key: ObjectRef, before: E | UnreadableRow, after: E | UnreadableRow) -> None:
        super()._stay(key, before, after)
        self._unmark(key)
        self._mark(key)

    def _count(self) -> None:
        super()._count()
        self._marked.clear()
        self.marks.clear()
        if self._judge is not None:
            entries, known = self._entries, self._known
            self._marked.update((key, known(key, entries[key])[1].mark) for key in self._places)
            self.marks.update(self._marked.values())

    def _mark(self, key: ObjectRef) -> None:
        if self._judge is not None:
            mark = self._marked[key] = self._known(key, self._entries[key])[1].mark
            self.marks[mark] += 1

    def _unmark(self, key: ObjectRef) -> None:
        mark = self._marked.pop(key, None)
        if mark is not None:
            self.marks[mark] -= 1

    def remove(self, key: ObjectRef) -> bool:
        self._judged.pop(key, None)
        return super().remove(key)

    def _then(self, entry: E | UnreadableRow) -> Any:
        if isinstance(entry, UnreadableRow):
            return None
        try:
            return self.view.then_by(entry)
        except Exception:
            return None

    def _value_or_none(self, entry: E | UnreadableRow) -> Any:
        if isinstance(entry, UnreadableRow):
            return None
        try:
            return self._column.sort(entry)
        except Exception:
            return None
