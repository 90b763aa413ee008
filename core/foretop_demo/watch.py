"""A watch: the current objects (if requested), then every change that the selection can see, then bookmarks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple

from foretop_demo.change_log import Change, ChangeType, Compacted, Cursor, Stored, watch_frame
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json, Kind
from foretop_demo.reading import ListOptions, not_a_version
from foretop_demo.requests import timeout_seconds
from foretop_demo.selectors import Selection
from foretop_demo.status import ApiError, Cause, expired, internal, invalid_options

BOOKMARK_SECONDS = 60.0
LAST_BOOKMARK_SECONDS = 2.0
DEFAULT_TIMEOUT = 1800.0
INITIAL_END: Json = {"annotations": {"k8s.io/initial-events-end": "true"}}


class WatchOptions(NamedTuple):
    """The query of a watch; `initial` is the client's sendInitialEvents, None where it does not say."""

    version: int
    bookmarks: bool
    timeout: float
    initial: bool | None

    @property
    def starts_with_all(self) -> bool:
        return bool(self.initial) or (self.version == 0 and self.initial is None)


def watch_options(query: Mapping[str, str]) -> WatchOptions:
    initial = {"true": True, "1": True, "false": False, "0": False}.get(query.get("sendInitialEvents", ""))
    match = query.get("resourceVersionMatch", "")
    why = ""
    if initial is None and match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
    elif initial is not None and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    if why:
        raise invalid_options("ListOptions", Cause("FieldValueForbidden", "resourceVersionMatch", f"Forbidden: {why}"))
    version = query.get("resourceVersion", "")
    if version and not version.isdecimal():
        raise internal(not_a_version(version))
    bookmarks = query.get("allowWatchBookmarks", "") in ("1", "true")
    timeout = float(timeout_seconds(query)) or DEFAULT_TIMEOUT
    return WatchOptions(int(version or 0), bookmarks, timeout, initial)


class Watch:
    """One client's watch of one kind, as batches of events (type and object)."""

    def __init__(self, storage: InProcessApi, kind: Kind, selection: Selection, options: WatchOptions) -> None:
        self._storage = storage
        self._kind = kind
        self._selection = selection
        self._options = options

    async def batches(self, closing: asyncio.Event) -> AsyncIterator[list[Event]]:
        """The events until the timeout, the client's disconnect or the server's close."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._options.timeout
        next_bookmark = _next_bookmark(loop.time(), end)
        start = self._options.version or self._storage.version
        if self._options.starts_with_all:
            start = self._storage.version
        known = start
        try:
            cursor = Cursor(self._storage.object_store.kind_store(self._kind).change_log, start)
        except Compacted as gone:
            yield [self._too_old(start, gone)]
            return
        try:
            yield self._initial()
            while not closing.is_set() and (now := loop.time()) < end:
                if events := self._new_events(cursor):
                    known = events[-1].stored.version
                    yield events
                if now >= next_bookmark:
                    next_bookmark = _next_bookmark(now, end)
                    if self._options.bookmarks and self._storage.version > known:
                        known = self._storage.version
                        yield [self._bookmark()]
                await cursor.wait_for_changes(min(next_bookmark, end) - loop.time())
        except Compacted as gone:
            yield [self._too_old(start, gone)]
        finally:
            cursor.close()

    def _initial(self) -> list[Event]:
        if not self._options.starts_with_all:
            return []
        page = self._storage.reader.list(self._kind, self._selection, ListOptions())
        events = [Event(ChangeType.ADDED, stored) for stored in page.items]
        if self._options.initial and self._options.bookmarks:
            events.append(self._bookmark(INITIAL_END))
        return events

    def _new_events(self, cursor: Cursor) -> list[Event]:
        floor = self._options.version
        seen = (self._visible(change) for change in cursor.read_new() if change.version > floor)
        return [event for event in seen if event is not None]

    def _visible(self, change: Change) -> Event | None:
        """A change as this selection sees it: objects enter and leave it."""
        selection = self._selection
        now = change.type is not ChangeType.DELETED and selection.matches(change.body)
        before = change.old is not None and selection.matches(change.old.body)
        if now:
            type_ = ChangeType.MODIFIED if before else ChangeType.ADDED
            return Event(type_, change.new)
        if before:
            stored = change.new if change.type is ChangeType.DELETED else change.last_matching
            return Event(ChangeType.DELETED, stored)
        return None

    def _bookmark(self, meta: Json | None = None) -> Event:
        version = self._storage.version
        body: Json = {"kind": self._kind.kind, "apiVersion": self._kind.api_version}
        body["metadata"] = {"resourceVersion": str(version), **(meta or {})}
        return Event("BOOKMARK", Stored(body, version))

    def _too_old(self, asked: int, gone: Compacted) -> Event:
        return error_event(expired(f"too old resource version: {asked} ({gone.floor})"))


def _next_bookmark(now: float, end: float) -> float:
    """Once a minute, and once more shortly before the end, so that a client can resume from there."""
    last = end - LAST_BOOKMARK_SECONDS
    return min(now + BOOKMARK_SECONDS, last) if now < last else end


class Event(NamedTuple):
    """One line of a watch; its object is encoded once for all watchers."""

    type: str
    stored: Stored

    @property
    def frame(self) -> bytes:
        return watch_frame(self.type, self.stored.raw)


def error_event(error: ApiError) -> Event:
    return Event("ERROR", Stored(error.status(), 0))
