"""The objects of all clusters by key; only the sink of a watch, or a file read instead of one, writes here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

from foretop_core.clock import Clock
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.logs import logger
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.cron_dialects import NONE_GIVEN, GivenVersions
from foretop_core.rules.failure_record import failure_line
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.store.change_feed import Feed
from foretop_core.store.change_history import ChangeHistory
from foretop_core.store.free_slot_tracker import SlotTracker
from foretop_core.store.health import WatchHealthRegistry
from foretop_core.store.protection_cache import ProtectionCache
from foretop_core.store.restart_detector import ActivityTracker, RestartDetector
from foretop_core.store.snapshot_cache import SnapshotCache
from foretop_core.store.store_sink import StoreSink
from foretop_core.store.unreadable import UnreadableObject, kind_of, unreadable_object

R = TypeVar("R", bound=Resource)
_log = logger(__name__)


class Store:
    """Typed, frozen objects, their indexes, their changes, and the health of every watch."""

    def __init__(self, given_versions: GivenVersions = NONE_GIVEN) -> None:
        self.indexes = Indexes()
        self.feed = Feed()
        self.protection = ProtectionCache(self.feed)
        self.history = ChangeHistory()
        self.slots = SlotTracker()
        self.restarts = RestartDetector()
        self.activity = ActivityTracker()
        self.health = WatchHealthRegistry(notify=self._notify)
        self._listeners: list[Callable[[], None]] = []
        self._snapshots = SnapshotCache(self, given_versions)
        self._tables: dict[tuple[str, str], dict[ObjectRef, Resource]] = {}
        self._listed: dict[tuple[str, str], tuple[Resource, ...]] = {}
        self._revisions: dict[str, int] = {}
        self._garbled: dict[ObjectRef, UnreadableObject] = {}
        self._sinks: dict[WatchScope, StoreSink] = {}
        self._holders: dict[ObjectRef, int] = {}

    def get(self, key: ObjectRef) -> Resource | None:
        """The object, or the placeholder of an unreadable one."""
        table = self._tables.get(key[:2])
        found = None if table is None else table.get(key)
        return self._garbled.get(key) if found is None else found

    def find(self, model: type[R], context: str, namespace: str, name: str) -> R | None:
        found = self.get(ObjectRef(context, kind_of(model).name, namespace, name))
        return found if isinstance(found, model) else None

    def all(self, context: str, model: type[R]) -> tuple[R, ...]:
        """Every readable object of one kind in one cluster; rebuilt once for each change of that kind."""
        table_key = (context, kind_of(model).name)
        listed = self._listed.get(table_key)
        if listed is None:
            listed = self._listed[table_key] = tuple(self._tables.get(table_key, {}).values())
        return listed  # type: ignore[return-value]  # a table holds its kind's model and nothing else

    def items(self, context: str, kind: str) -> Iterator[tuple[ObjectRef, Resource]]:
        """Every row of one kind: the readable objects, then the unreadable ones."""
        yield from self._tables.get((context, kind), {}).items()
        for key, stand_in in self._garbled.items():
            if key[:2] == (context, kind):
                yield key, stand_in

    @property
    def unreadable(self) -> Mapping[ObjectRef, UnreadableObject]:
        return self._garbled

    def revision(self, context: str) -> int:
        """A number that changes with every change of an object of that cluster."""
        return self._revisions.get(context, 0)

    def snapshot(self, context: str) -> ClusterSnapshot:
        """The input of the rules; the same value as long as nothing has changed."""
        return self._snapshots.of(context)

    def contexts(self) -> tuple[str, ...]:
        """The clusters that a watch or a file has reported."""
        return tuple(dict.fromkeys(scope.context for scope in self._sinks))

    def sink(self, scope: WatchScope, clock: Clock) -> StoreSink:
        """The sink of one watch; the clock is that of its cluster."""
        if scope not in self._sinks:
            self._sinks[scope] = StoreSink(self, scope, clock)
        return self._sinks[scope]

    def drop(self, scope: WatchScope) -> None:
        """End a watch for good: what only it held is removed."""
        if sink := self._sinks.pop(scope, None):
            sink.release_all()
        self.health.forget(scope)

    def fill(self, context: str, resources: Iterable[Resource], clock: Clock) -> None:
        """Add objects from a file, in place of a watch of each of their kinds."""
        by_kind: dict[Kind, list[Resource]] = {}
        for resource in resources:
            by_kind.setdefault(kind_of(type(resource)), []).append(resource)
        for kind, members in by_kind.items():
            sink = self.sink(WatchScope(context, kind), clock)
            sink.replace_begin()
            sink.page(members)
            sink.replace_end()
            sink.health(WatchHealth(WatchState.LIVE, clock.now()))

    def hold(self, key: ObjectRef) -> None:
        """Count one more watch that sees this object."""
        self._holders[key] = self._holders.get(key, 0) + 1

    def release(self, key: ObjectRef, at: datetime) -> None:
        """Count one watch fewer; the object is removed with the last one."""
        left = self._holders.pop(key) - 1
        if left:
            self._holders[key] = left
        else:
            self.put(key, None, at)

    def put(self, key: ObjectRef, after: Resource | None, at: datetime, *, listed: bool = False) -> None:
        """The only method that changes an object; one that comes with a list may have changed long ago."""
        before = self.get(key)
        if after is before or (after is not None and before is not None and _same(before, after)):
            return
        table_key = key[:2]
        self._listed.pop(table_key, None)
        self._revisions[key.context] = self._revisions.get(key.context, 0) + 1
        table = self._tables.setdefault(table_key, {})
        if isinstance(after, UnreadableObject):
            table.pop(key, None)
            self._garbled[key] = after
        else:
            self._garbled.pop(key, None)
            if after is None:
                table.pop(key, None)
            else:
                table[key] = after
        try:
            self.indexes.move(key, before, after)
        except Exception as problem:
            self.indexes.discard(key, before, after)
            after = self._set_aside(key, after, problem)
        try:
            self.history.note(key, before, after, at)
            self.slots.note(key, before, after, at)
            self.restarts.note(key, before, after)
            self.activity.note(key, before, after, at, listed=listed)
        except Exception as problem:
            self.indexes.discard(key, after, None)
            after = self._set_aside(key, after, problem)
        self.feed.publish(key, before, after)
        self._notify()

    def _set_aside(self, key: ObjectRef, after: Resource | None, problem: Exception) -> Resource | None:
        """The stand-in of an object that cannot be taken in, which is in no index by now.

        Table, indexes and feed stay equal; the next list, or the next change of the object, tries again.
        """
        _log.error("%s cannot be taken in", key, exc_info=problem)
        if after is None:
            return None
        self._tables[key[:2]].pop(key, None)
        version = after.metadata.resource_version
        stand_in = unreadable_object(key.namespace, key.name, failure_line(problem), version)
        self._garbled[key] = stand_in
        return stand_in

    def listen(self, wake: Callable[[], None]) -> None:
        """Call this at every change of an object or of a watch's health, for as long as the store lives."""
        self._listeners.append(wake)

    def _notify(self) -> None:
        for wake in self._listeners:
            wake()


def _same(before: Resource, after: Resource) -> bool:
    """Whether nothing changed: the same version and, since a file or a restored etcd may keep it, the same content."""
    return before.metadata.resource_version == after.metadata.resource_version and before == after
