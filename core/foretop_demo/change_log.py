"""The bounded log of changes to the objects of one kind, read by watches, snapshots and feeds."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from contextlib import suppress
from enum import StrEnum
from functools import cached_property

import msgspec

from foretop_demo.kinds import Json

Key = tuple[str, str]


class ChangeType(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Stored:
    """One version of one object. Its body is never changed, so all readers share it and its encoded bytes."""

    def __init__(self, body: Json, version: int) -> None:
        self.body = body
        self.version = version

    @cached_property
    def raw(self) -> bytes:
        return msgspec.json.encode(self.body)


class Change:
    """One write. A DELETED change carries the last body with the resourceVersion of the deletion."""

    def __init__(self, type_: ChangeType, key: Key, new: Stored, old: Stored | None) -> None:
        self.type = type_
        self.key = key
        self.new = new
        self.old = old

    @property
    def version(self) -> int:
        return self.new.version

    @property
    def body(self) -> Json:
        return self.new.body

    @cached_property
    def last_matching(self) -> Stored:
        """The previous body with this change's version, sent to a watcher whose selection the object has left."""
        assert self.old is not None
        return at_version(self.old, self.version)


def watch_frame(type_: str, raw: bytes) -> bytes:
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), raw)


def at_version(stored: Stored, version: int) -> Stored:
    body = stored.body
    return Stored({**body, "metadata": {**body["metadata"], "resourceVersion": str(version)}}, version)


class Compacted(Exception):
    """Raised for a version that is no longer in the log; `floor` is the oldest version that still is."""

    def __init__(self, floor: int) -> None:
        super().__init__(floor)
        self.floor = floor


class ChangeLog:
    """The changes of one kind in order. It is bounded: dropping the oldest changes raises the floor."""

    def __init__(self, limit: int, floor: int = 0) -> None:
        self._limit = limit
        self._changes: list[Change] = []
        self._dropped = 0
        self.floor = floor
        self.waiting: set[asyncio.Event] = set()

    def append(self, change: Change) -> None:
        self._changes.append(change)
        if len(self._changes) >= 2 * self._limit:
            self._forget(self._limit)
        self.wake()

    def wake(self) -> None:
        """Make every reader check for changes."""
        for event in self.waiting:
            event.set()

    def compact(self, version: int) -> None:
        """Drop everything up to and including a version."""
        self._forget(bisect_right(self._changes, version, key=lambda change: change.version))
        self.floor = max(self.floor, version)
        self.wake()

    def _forget(self, count: int) -> None:
        if count:
            self.floor = max(self.floor, self._changes[count - 1].version)
            del self._changes[:count]
            self._dropped += count

    def position(self, version: int) -> int:
        """The read position after a version."""
        if version < self.floor:
            raise Compacted(self.floor)
        return self._dropped + bisect_right(self._changes, version, key=lambda change: change.version)

    def read(self, position: int) -> list[Change]:
        if position < self._dropped:
            raise Compacted(self.floor)
        return self._changes[position - self._dropped :]

    def undo(self, objects: dict[Key, Stored], version: int) -> dict[Key, Stored]:
        """The objects as they were at a version, computed from their current state."""
        earlier = dict(objects)
        for change in reversed(self.read(self.position(version))):
            if change.old is None:
                earlier.pop(change.key, None)
            else:
                earlier[change.key] = change.old
        return earlier


class Cursor:
    """A reader's position in a change log. It costs nothing while nothing changes, and keeps no old changes alive."""

    def __init__(self, change_log: ChangeLog, version: int) -> None:
        self._change_log = change_log
        self._position = change_log.position(version)
        self._has_changes = asyncio.Event()
        change_log.waiting.add(self._has_changes)

    def read_new(self) -> list[Change]:
        """All changes since the last call; raises Compacted for a reader that fell too far behind."""
        self._has_changes.clear()
        changes = self._change_log.read(self._position)
        self._position += len(changes)
        return changes

    async def wait_for_changes(self, seconds: float | None = None) -> None:
        """Return when there are changes to read, or after a timeout."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_changes.wait()

    def close(self) -> None:
        self._change_log.waiting.discard(self._has_changes)
