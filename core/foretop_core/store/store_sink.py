"""The sink of one watch: it adds and removes what this watch sees, and nothing else."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from foretop_core.clock import Clock
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope
from foretop_core.models.wire import ObjectRef, Resource, is_earlier, is_older
from foretop_core.store.health import WatchHealthRegistry
from foretop_core.store.unreadable import unreadable_object

REMEMBERED_DELETIONS = 1000


class StoreWriter(Protocol):
    """The part of the store that a sink writes to."""

    health: WatchHealthRegistry

    def get(self, key: ObjectRef) -> Resource | None: ...

    def put(self, key: ObjectRef, after: Resource | None, at: datetime, *, listed: bool = False) -> None: ...

    def hold(self, key: ObjectRef) -> None: ...

    def release(self, key: ObjectRef, at: datetime) -> None: ...


class StoreSink:
    """Remembers the keys that its watch has shown, so that a new list removes exactly what is missing from it."""

    def __init__(self, store: StoreWriter, scope: WatchScope, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self._held: dict[ObjectRef, Resource] = {}
        self._listed: set[ObjectRef] | None = None
        self._early: dict[ObjectRef, Resource] = {}
        """The events of a watch beside the list that comes in."""
        self._deleted: OrderedDict[ObjectRef, Resource] = OrderedDict()
        self._lost = 0
        self._lost_before_list = 0
        self._lost_why = ""

    def replace_begin(self) -> None:
        self._listed, self._early = set(), {}
        self._lost_before_list = self._lost

    def page(self, objects: Iterable[Resource]) -> None:
        at = self._clock.now()
        for resource in objects:
            self._list(self._key(resource), resource, at)

    def replace_end(self, version: str = "") -> None:
        """What came after the version of the list stays: the watch that follows speaks of it."""
        at = self._clock.now()
        for key in self._held.keys() - (self._listed or set()):
            early = self._early.get(key)
            if early is None or not is_earlier(version, early.metadata.resource_version):
                self._lose(key, at)
        self._listed, self._early = None, {}
        self._deleted.clear()
        self._count_lost(-self._lost_before_list, self._lost_why)

    def apply(self, event: EventType, resource: Resource) -> None:
        """Apply an event unless this watch has already delivered a later one for the same object."""
        key, at = self._key(resource), self._clock.now()
        if self._is_overtaken(key, resource):
            return
        if self._listed is not None:
            self._early[key] = resource
        if event == "DELETED":
            self._lose(key, at)
            self._remember_deletion(key, resource)
        else:
            self._see(key, resource, at)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        if not name:
            self._count_lost(1, problem)
            return
        key = ObjectRef(self._scope.context, self._scope.kind.name, namespace, name)
        stand_in, at = unreadable_object(namespace, name, problem, version), self._clock.now()
        if self._listed is not None:
            self._list(key, stand_in, at)
        elif not self._is_overtaken(key, stand_in):
            self._see(key, stand_in, at)

    def health(self, health: WatchHealth) -> None:
        self._store.health.report(self._scope, health)

    def release_all(self) -> None:
        at = self._clock.now()
        for key in tuple(self._held):
            self._lose(key, at)

    def _count_lost(self, more: int, why: str) -> None:
        """A whole list makes good what was lost before it."""
        self._lost += more
        self._lost_why = why if self._lost else ""
        self._store.health.report_lost(self._scope, self._lost, self._lost_why)

    def _key(self, resource: Resource) -> ObjectRef:
        meta = resource.metadata
        return ObjectRef(self._scope.context, self._scope.kind.name, meta.namespace, meta.name)

    def _is_overtaken(self, key: ObjectRef, resource: Resource) -> bool:
        known = self._held.get(key) or self._deleted.get(key)
        return known is not None and is_older(resource, known)

    def _list(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """A list wins even if it is older than what was known before it: a cluster can be restored from a backup."""
        if self._listed is not None:
            self._listed.add(key)
        early = self._early.get(key)
        if early is not None and is_older(resource, early):
            return
        self._hold(key, resource)
        self._store.put(key, resource, at, listed=True)

    def _see(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """Store an object, unless another watch that also covers it has delivered a newer version."""
        self._hold(key, resource)
        shown = self._store.get(key)
        if shown is None or not is_older(resource, shown):
            self._store.put(key, resource, at)

    def _hold(self, key: ObjectRef, resource: Resource) -> None:
        if key not in self._held:
            self._store.hold(key)
        self._held[key] = resource

    def _lose(self, key: ObjectRef, at: datetime) -> None:
        if self._held.pop(key, None) is not None:
            self._store.release(key, at)

    def _remember_deletion(self, key: ObjectRef, resource: Resource) -> None:
        """Remember a deletion, so that a late MODIFIED does not bring the object back; the next list clears it."""
        self._deleted[key] = resource
        self._deleted.move_to_end(key)
        if len(self._deleted) > REMEMBERED_DELETIONS:
            self._deleted.popitem(last=False)
