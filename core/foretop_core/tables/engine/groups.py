"""Rows under heads: one for each namespace, which counts its rows as they change, or for each section of an order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from operator import add
from typing import Generic, TypeVar, overload

import msgspec

from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.rows import SortedRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel

E = TypeVar("E")
Group = tuple[str, str]
"""A context and a namespace."""
HEAD = "(head)"
"""In the place of a kind, in the key of a head."""
_AT_ONCE = 200
"""So many rows are counted before their heads are drawn: it takes some milliseconds."""
_COUNTED = object()
_NOTHING: Counter[StatusLabel | None] = Counter()
_GRAVEST = (StatusGlyph.BROKEN, StatusGlyph.LOOK, StatusGlyph.RUNNING, StatusGlyph.WAITING, StatusGlyph.PAUSED)


class GroupHeader(msgspec.Struct, frozen=True):
    """The content of the line above a group."""

    group: Group
    size: int
    standings: tuple[tuple[StatusLabel, int], ...]
    folded: bool


def head_key(group: Group) -> ObjectRef:
    return ObjectRef(group[0], HEAD, group[1], "")


def group_of(key: ObjectRef) -> Group:
    return key.context, key.namespace


class GroupCounts(Generic[E]):
    """How many rows of which standing each group has; told of every row that comes into sight or goes.

    Of very many rows at once the groups are counted at once, and what each stands for some at a time.
    """

    def __init__(self, standing: Callable[[ObjectRef, E], StatusLabel | None]) -> None:
        self._standing = standing
        self._sizes: Counter[Group] = Counter()
        self._counts: defaultdict[Group, Counter[StatusLabel | None]] = defaultdict(Counter)
        self._due: dict[ObjectRef, None] = {}
        """The rows whose standing is still to be counted."""
        self.moves = 0
        """Moves when a group has got or lost a row."""

    @property
    def due(self) -> int:
        return len(self._due)

    def rearranged(self, entries: Mapping[ObjectRef, E], keys: Collection[ObjectRef]) -> None:
        self._sizes = Counter(map(group_of, keys))
        self._counts.clear()
        self._due = dict.fromkeys(keys)
        self.moves += 1
        self.count_some(entries, _AT_ONCE)

    def count_some(self, entries: Mapping[ObjectRef, E], most: int) -> bool:
        """Counts some of those that are due; whether there were any."""
        some = tuple(islice(self._due, most))
        for key in some:
            del self._due[key]
            self._counts[group_of(key)][self._standing(key, entries[key])] += 1
        return bool(some)

    def came(self, key: ObjectRef, entry: E) -> None:
        group = group_of(key)
        self._sizes[group] += 1
        self._counts[group][self._standing(key, entry)] += 1
        self.moves += 1

    def went(self, key: ObjectRef, entry: E) -> None:
        group = group_of(key)
        self._sizes[group] -= 1
        if not self._sizes[group]:
            del self._sizes[group]
        if self._due.pop(key, _COUNTED) is _COUNTED:
            self._less(group, self._standing(key, entry))
        self.moves += 1

    def changed(self, key: ObjectRef, before: E, after: E) -> None:
        """A row that stays where it is may count for something else."""
        if key in self._due:
            return
        was, now = self._standing(key, before), self._standing(key, after)
        if was != now:
            self._less(group_of(key), was)
            self._counts[group_of(key)][now] += 1

    def _less(self, group: Group, standing: StatusLabel | None) -> None:
        counts = self._counts[group]
        counts[standing] -= 1
        if not counts[standing]:
            del counts[standing]
        if not counts:
            del self._counts[group]

    def sizes(self) -> list[tuple[Group, int]]:
        return sorted(self._sizes.items())

    def standings(self, group: Group) -> tuple[tuple[StatusLabel, int], ...]:
        counts = self._counts.get(group, _NOTHING)
        marked = [(standing, count) for standing, count in counts.items() if standing is not None]
        return tuple(sorted(marked, key=lambda one: (_GRAVEST.index(one[0][0]), one[0][1])))


class GroupedRows(Generic[E]):
    """The lines of a table in groups: a head, and below it the rows of the group, unless it is folded.

    Finding a line costs O(log n), as in the table; a row that comes or goes costs one pass over the groups.
    """

    def __init__(self, table: SortedRows[E], standing: Callable[[ObjectRef, E], StatusLabel | None]) -> None:
        self._table = table
        self._group_counts = GroupCounts(standing)
        self._folded: set[Group] = set()
        self._counted = -1
        self._groups: list[Group] = []
        self._sizes: list[int] = []
        self._rows_before: list[int] = []
        self._lines_before: list[int] = []
        self._place: dict[Group, int] = {}
        self._length = 0
        table.group(group_of, self._group_counts)

    def close(self) -> None:
        self._table.group(None, None)

    def __len__(self) -> int:
        self._count()
        return self._length

    @property
    def due(self) -> int:
        """How many rows their heads do not count yet."""
        return self._group_counts.due

    def count_some(self, most: int) -> bool:
        return self._group_counts.count_some(self._table.entries, most)

    @property
    def groups(self) -> int:
        self._count()
        return len(self._groups)

    def key_at(self, index: int) -> ObjectRef:
        place, row = self._at(index)
        return head_key(self._groups[place]) if row is None else self._table.key_at(row)

    def index_of(self, key: ObjectRef) -> int | None:
        self._count()
        place = self._place.get(group_of(key))
        if place is None:
            return None
        if key.kind == HEAD:
            return self._lines_before[place]
        row = self._table.index_of(key)
        if row is None or self._groups[place] in self._folded:
            return None
        return self._lines_before[place] + 1 + row - self._first_row(place)

    def window(self, start: int, stop: int) -> Iterator[tuple[ObjectRef, E | GroupHeader]]:
        for index in range(max(0, start), min(stop, len(self))):
            place, row = self._at(index)
            if row is None:
                yield head_key(self._groups[place]), self._head(place)
            else:
                yield from self._table.window(row, row + 1)

    def rows(self) -> Iterator[tuple[ObjectRef, E]]:
        """All rows in the order of their lines, those that are folded away too."""
        self._count()
        for place in range(len(self._groups)):
            yield from self._rows_of(place)

    def members(self, head: ObjectRef) -> list[ObjectRef]:
        """The rows below a head."""
        self._count()
        place = self._place.get(group_of(head))
        return [] if place is None else [key for key, _ in self._rows_of(place)]

    def next_head(self, head: ObjectRef) -> int | None:
        """The line of the head after this one."""
        self._count()
        place = self._place.get(group_of(head), len(self._groups)) + 1
        return self._lines_before[place] if place < len(self._groups) else None

    def fold(self, head: ObjectRef) -> None:
        """Folds a group, or opens it again."""
        self._folded ^= {group_of(head)}
        self._counted = -1

    def fold_all(self) -> None:
        self._count()
        self._folded = set(self._groups)
        self._counted = -1

    def unfold(self, key: ObjectRef) -> None:
        self._folded.discard(group_of(key))
        self._counted = -1

    def _rows_of(self, place: int) -> Iterator[tuple[ObjectRef, E]]:
        first = self._first_row(place)
        return self._table.window(first, first + self._sizes[place])

    def _head(self, place: int) -> GroupHeader:
        group = self._groups[place]
        return GroupHeader(group, self._sizes[place], self._group_counts.standings(group), group in self._folded)

    def _at(self, index: int) -> tuple[int, int | None]:
        """The place of a line's group, and of its row; None for a head."""
        self._count()
        place = bisect_right(self._lines_before, index) - 1
        below = index - self._lines_before[place]
        return place, None if not below else self._first_row(place) + below - 1

    def _first_row(self, place: int) -> int:
        """A reversed table has its groups the other way round as well; here their order stays."""
        before = self._rows_before[place]
        return len(self._table) - before - self._sizes[place] if self._table.is_reversed else before

    def _count(self) -> None:
        if self._counted == self._group_counts.moves:
            return
        self._counted = self._group_counts.moves
        sizes = self._group_counts.sizes()
        self._groups = [group for group, _ in sizes]
        self._sizes = [size for _, size in sizes]
        self._place = dict(zip(self._groups, range(len(sizes)), strict=True))
        folded = self._folded
        seen = [0 if group in folded else size for group, size in sizes] if folded else self._sizes
        heads = range(len(sizes) + 1)
        self._rows_before = list(accumulate(self._sizes, initial=0))
        self._lines_before = list(map(add, accumulate(seen, initial=0), heads))
        self._length = self._lines_before.pop()
        self._rows_before.pop()


SECTION = "(section)"
"""In the place of a kind, in the key of the head of a section; the cursor never stands on one."""


class SectionHeader(msgspec.Struct, frozen=True):
    """The line above a section: which it is, and which rows of the table are below it."""

    section: tuple[str, str, str]
    """Context, namespace and title."""
    rows: range


def section_key(section: tuple[str, str, str]) -> ObjectRef:
    context, namespace, title = section
    return ObjectRef(context, SECTION, namespace, title)


class RowsInSight(Sequence[E]):
    """The entries of some rows of a table that follow each other, each looked up when it is asked for."""

    def __init__(self, table: SortedRows[E], rows: range) -> None:
        self._table = table
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> E: ...

    @overload
    def __getitem__(self, place: slice) -> RowsInSight[E]: ...

    def __getitem__(self, place: int | slice) -> E | RowsInSight[E]:
        if isinstance(place, slice):
            return RowsInSight(self._table, self._rows[place])
        return self._table.entry_at(self._rows[place])


class SectionedRows(Generic[E]):
    """The lines of a table in sections: a head above all rows of one section, which follow each other.

    Finding the sections costs O(log n) for each of them, when the rows have changed.
    """

    def __init__(self, table: SortedRows[E], section_of: Callable[[ObjectRef, E], tuple[str, str, str]]) -> None:
        self._table = table
        self._section_of = section_of
        self._heads: list[SectionHeader] = []
        self._lines_before: list[int] = []
        self._rows_before: list[int] = []
        self._found_at = -1

    def __len__(self) -> int:
        self._find()
        return len(self._table) + len(self._heads)

    def key_at(self, index: int) -> ObjectRef:
        place, row = self._at(index)
        return section_key(self._heads[place].section) if row is None else self._table.key_at(row)

    def index_of(self, key: ObjectRef) -> int | None:
        self._find()
        if key.kind == SECTION:
            return next(
                (
                    line
                    for line, head in zip(self._lines_before, self._heads, strict=True)
                    if section_key(head.section) == key
                ),
                None,
            )
        row = self._table.index_of(key)
        return None if row is None else row + bisect_right(self._rows_before, row)

    def window(self, start: int, stop: int) -> Iterator[tuple[ObjectRef, E | SectionHeader]]:
        for index in range(max(0, start), min(stop, len(self))):
            place, row = self._at(index)
            if row is None:
                yield section_key(self._heads[place].section), self._heads[place]
            else:
                yield from self._table.window(row, row + 1)

    def _at(self, index: int) -> tuple[int, int | None]:
        """The section of a line, and its row in the table; None for a head."""
        self._find()
        place = bisect_right(self._lines_before, index) - 1
        below = index - self._lines_before[place]
        return place, None if not below else self._rows_before[place] + below - 1

    def _find(self) -> None:
        if self._found_at == self._table.moves:
            return
        self._found_at = self._table.moves
        self._heads = []
        first, count = 0, len(self._table)
        while first < count:
            section = self._section_at(first)
            end = self._end_of(section, first, count)
            self._heads.append(SectionHeader(section, range(first, end)))
            first = end
        self._rows_before = [head.rows.start for head in self._heads]
        self._lines_before = [row + place for place, row in enumerate(self._rows_before)]

    def _end_of(self, section: tuple[str, str, str], first: int, count: int) -> int:
        """The row after the last one of a section that begins at a row."""
        return bisect_left(range(count), True, first + 1, key=lambda row: self._section_at(row) != section)

    def _section_at(self, row: int) -> tuple[str, str, str]:
        return self._section_of(self._table.key_at(row), self._table.entry_at(row))
