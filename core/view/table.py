"""Rows in order, kept so change by change: finding a place costs O(log n), a new order or filter O(n)."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.store.keys import Key

E = TypeVar("E")
Place = tuple[Any, Key]
"""A row's sort value and its key, which settles ties, so that every row has one place only."""
_MANY = 200
"""Up to so many changes are always told one by one."""


@dataclass(frozen=True, slots=True)
class Inserted:
    at: int


@dataclass(frozen=True, slots=True)
class Removed:
    at: int


@dataclass(frozen=True, slots=True)
class Changed:
    at: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Everything may be somewhere else."""


Edit = Inserted | Removed | Changed | Reset


def everything(_: object) -> bool:
    return True


def by_key(_: object) -> None:
    return None


class Table(Generic[E]):
    """All rows by key, and the visible ones in order; reversed order is read from the other end."""

    def __init__(self, sort: Callable[[E], Any] = by_key, keep: Callable[[E], bool] = everything) -> None:
        self._sort = sort
        self._keep = keep
        self._reverse = False
        self._entries: dict[Key, E] = {}
        self._values: dict[Key, Any] = {}
        self._places: list[Place] = []

    def __len__(self) -> int:
        """How many rows are visible."""
        return len(self._places)

    @property
    def total(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Key) -> bool:
        """Whether the row is visible."""
        return key in self._values

    def get(self, key: Key) -> E | None:
        return self._entries.get(key)

    def key_at(self, index: int) -> Key:
        return self._places[self._flip(index)][1]

    def index_of(self, key: Key) -> int | None:
        if key not in self._values:
            return None
        return self._flip(bisect_left(self._places, (self._values[key], key)))

    def window(self, start: int, stop: int) -> Iterator[tuple[Key, E]]:
        """The visible rows from `start` to before `stop`: what is to be painted."""
        for index in range(max(0, start), min(stop, len(self._places))):
            key = self.key_at(index)
            yield key, self._entries[key]

    def __iter__(self) -> Iterator[tuple[Key, E]]:
        return self.window(0, len(self._places))

    def put(self, key: Key, entry: E) -> list[Edit]:
        """Adds or changes a row; an entry equal to the one held is no change."""
        if key in self._entries and self._entries[key] == entry:
            return []
        self._entries[key] = entry
        if not self._keep(entry):
            return self._hide(key)
        value = self._value(entry)
        if key in self._values and self._values[key] == value:
            index = self.index_of(key)
            return [] if index is None else [Changed(index)]
        return [*self._hide(key), self._show(key, value)]

    def remove(self, key: Key) -> list[Edit]:
        if self._entries.pop(key, None) is None:
            return []
        return self._hide(key)

    def update(self, changes: Mapping[Key, E | None]) -> list[Edit]:
        """Several changes at once, None for a row that goes; where they are many, everything is put in order anew."""
        if len(changes) > max(_MANY, len(self._entries) // 4):
            return self._update_all(changes)
        return [
            edit
            for key, entry in changes.items()
            for edit in (self.remove(key) if entry is None else self.put(key, entry))
        ]

    def replace(self, entries: Iterable[tuple[Key, E]]) -> list[Edit]:
        """Makes these the rows, touching only what differs."""
        wanted = dict(entries)
        gone: dict[Key, E | None] = {key: None for key in self._entries if key not in wanted}
        return self.update({**gone, **wanted})

    def filter(self, keep: Callable[[E], bool]) -> list[Edit]:
        self._keep = keep
        return self._arrange()

    def sort(self, value: Callable[[E], Any], *, reverse: bool = False) -> list[Edit]:
        self._sort = value
        self._reverse = reverse
        return self._arrange()

    def _update_all(self, changes: Mapping[Key, E | None]) -> list[Edit]:
        for key, entry in changes.items():
            if entry is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = entry
        return self._arrange()

    def _arrange(self) -> list[Edit]:
        self._values = {key: self._value(entry) for key, entry in self._entries.items() if self._keep(entry)}
        self._places = sorted((value, key) for key, value in self._values.items())
        return [Reset()]

    def _show(self, key: Key, value: Any) -> Edit:
        self._values[key] = value
        place = (value, key)
        insort(self._places, place)
        return Inserted(self._flip(bisect_left(self._places, place)))

    def _hide(self, key: Key) -> list[Edit]:
        if key not in self._values:
            return []
        at = bisect_left(self._places, (self._values.pop(key), key))
        index = self._flip(at)
        del self._places[at]
        return [Removed(index)]

    def _flip(self, at: int) -> int:
        return len(self._places) - 1 - at if self._reverse else at

    def _value(self, entry: E) -> tuple[bool, Any]:
        """What has no value comes last, whichever way the rows run."""
        value = self._sort(entry)
        return ((value is None) != self._reverse, value)
