"""One watch's way into the store: it adds and removes what this watch sees, and nothing else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from foretop_core.clock import Clock
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope
from foretop_core.models.wire import ObjectRef, Resource, is_older
from foretop_core.store.health import WatchHealthRegistry
from foretop_core.store.objects import garbled

REMEMBERED_DELETIONS = 1000


class StoreWriter(Protocol):
    """The part of the store that a sink writes to."""

    health: WatchHealthRegistry

    def get(self, key: ObjectRef) -> Resource | None: ...

    def put(self, key: ObjectRef, after: Resource | None, at: datetime) -> None: ...

    def hold(self, key: ObjectRef) -> None: ...

    def release(self, key: ObjectRef, at: datetime) -> None: ...


class WatchSink:
    """Knows which keys its watch has shown, so that a new list removes exactly what vanished from it."""

    def __init__(self, shelves: StoreWriter, scope: WatchScope, clock: Clock) -> None:
        self._shelves = shelves
        self._scope = scope
        self._clock = clock
        self._held: dict[ObjectRef, Resource] = {}
        self._listed: set[ObjectRef] | None = None
        self._deleted: OrderedDict[ObjectRef, Resource] = OrderedDict()

    def replace_begin(self) -> None:
        self._listed = set()

    def page(self, objects: Iterable[Resource]) -> None:
        at = self._clock.now()
        for resource in objects:
            self._list(self._key(resource), resource, at)

    def replace_end(self) -> None:
        at = self._clock.now()
        for key in self._held.keys() - (self._listed or set()):
            self._lose(key, at)
        self._listed = None
        self._deleted.clear()

    def apply(self, event: EventType, resource: Resource) -> None:
        """Takes an event unless this watch has already had a later one about the same object."""
        key, at = self._key(resource), self._clock.now()
        if self._is_overtaken(key, resource):
            return
        if event == "DELETED":
            self._lose(key, at)
            self._remember_deletion(key, resource)
        else:
            self._see(key, resource, at)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        if not name:
            self._shelves.health.lost_line(self._scope)
            return
        key = ObjectRef(self._scope.context, self._scope.kind.name, namespace, name)
        stand_in, at = garbled(namespace, name, problem, version), self._clock.now()
        if self._listed is not None:
            self._list(key, stand_in, at)
        elif not self._is_overtaken(key, stand_in):
            self._see(key, stand_in, at)

    def health(self, health: WatchHealth) -> None:
        self._shelves.health.report(self._scope, health)

    def release_all(self) -> None:
        at = self._clock.now()
        for key in tuple(self._held):
            self._lose(key, at)

    def _key(self, resource: Resource) -> ObjectRef:
        meta = resource.metadata
        return ObjectRef(self._scope.context, self._scope.kind.name, meta.namespace, meta.name)

    def _is_overtaken(self, key: ObjectRef, resource: Resource) -> bool:
        known = self._held.get(key) or self._deleted.get(key)
        return known is not None and is_older(resource, known)

    def _list(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """A list is the truth even where it is older than what was known: a cluster can be put back."""
        if self._listed is not None:
            self._listed.add(key)
        self._hold(key, resource)
        self._shelves.put(key, resource, at)

    def _see(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """Another watch that covers the object too may be ahead of this one, and keeps its word then."""
        self._hold(key, resource)
        shown = self._shelves.get(key)
        if shown is None or not is_older(resource, shown):
            self._shelves.put(key, resource, at)

    def _hold(self, key: ObjectRef, resource: Resource) -> None:
        if key not in self._held:
            self._shelves.hold(key)
        self._held[key] = resource

    def _lose(self, key: ObjectRef, at: datetime) -> None:
        if self._held.pop(key, None) is not None:
            self._shelves.release(key, at)

    def _remember_deletion(self, key: ObjectRef, resource: Resource) -> None:
        """A late MODIFIED of something deleted must not bring it back; the next list settles it for good."""
        self._deleted[key] = resource
        self._deleted.move_to_end(key)
        if len(self._deleted) > REMEMBERED_DELETIONS:
            self._deleted.popitem(last=False)
