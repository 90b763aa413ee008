"""Rows in sections: heads stand between the rows of a table that has an order of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import msgspec

from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.rows import SortedRows

E = TypeVar("E")
SECTION = "(section)"
"""In the place of a kind, in the key of the head of a section; the cursor never stands on one."""


class SectionHeader(msgspec.Struct, frozen=True):
    """The line above a section: which it is, and its rows."""

    section: tuple[str, str, str]
    """Context, namespace and title."""
    keys: tuple[ObjectRef, ...]


def section_key(section: tuple[str, str, str]) -> ObjectRef:
    context, namespace, title = section
    return ObjectRef(context, SECTION, namespace, title)


class SectionedRows(Generic[E]):
    """The lines of a table in sections: a head above all rows that follow each other in one section.

    Finding the sections costs one pass over the rows, when they have changed.
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
        found: list[tuple[tuple[str, str, str], int, list[ObjectRef]]] = []
        for row, (key, entry) in enumerate(self._table):
            section = self._section_of(key, entry)
            if not found or found[-1][0] != section:
                found.append((section, row, []))
            found[-1][2].append(key)
        self._heads = [SectionHeader(section, tuple(keys)) for section, _, keys in found]
        self._rows_before = [row for _, row, _ in found]
        self._lines_before = [row + place for place, row in enumerate(self._rows_before)]
