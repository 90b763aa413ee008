"""The queue of a box's future events."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from heapq import heappop, heappush
from itertools import count

Action = Callable[[], object]


class EventQueue:
    """Events in order of time; events at the same time keep the order in which they were added."""

    def __init__(self) -> None:
        self._entries: list[tuple[datetime, int, Action]] = []
        self._numbers = count()

    def add(self, when: datetime, action: Action) -> None:
        heappush(self._entries, (when, next(self._numbers), action))

    @property
    def next_time(self) -> datetime | None:
        return self._entries[0][0] if self._entries else None

    def pop_due(self, until: datetime) -> tuple[datetime, Action] | None:
        """The next event, if it is due by then."""
        if not self._entries or self._entries[0][0] > until:
            return None
        when, _, action = heappop(self._entries)
        return when, action

    def __len__(self) -> int:
        return len(self._entries)
