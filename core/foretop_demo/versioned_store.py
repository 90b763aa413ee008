"""The objects of a box: one store for each kind, one version counter for all, and the listeners to changes."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from foretop_demo.change_log import Change, ChangeLog, ChangeType, Key, Stored, at_version
from foretop_demo.kinds import Catalog, Json, Kind

Listener = Callable[[Kind, Change], None]


class KindStore:
    """The objects of one kind and the log of their changes."""

    def __init__(self, history: int) -> None:
        self.objects: dict[Key, Stored] = {}
        self.change_log = ChangeLog(history)


class VersionedStore:
    """All objects of a box. Writes arrive validated; here they get their version and are published."""

    def __init__(self, catalog: Catalog, history: int) -> None:
        self.catalog = catalog
        self.version = 0
        self._kind_stores = {kind: KindStore(history) for kind in catalog}
        self._by_uid: dict[str, tuple[Kind, Key]] = {}
        self._dependents: defaultdict[str, set[tuple[Kind, Key]]] = defaultdict(set)
        self._listeners: list[Listener] = []
        self._unpublished: deque[tuple[Kind, Change]] = deque()
        self._publishing = False

    def kind_store(self, kind: Kind) -> KindStore:
        return self._kind_stores[kind]

    def find(self, kind: Kind, key: Key) -> Stored | None:
        return self._kind_stores[kind].objects.get(key)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with every change, in order, until the returned function is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def put(self, kind: Kind, key: Key, body: Json) -> Stored:
        """Store an object, new or changed, under a new version."""
        kind_store = self._kind_stores[kind]
        old = kind_store.objects.get(key)
        self.version += 1
        stored = at_version(Stored(body, self.version), self.version)
        kind_store.objects[key] = stored
        self._index(kind, key, old, stored)
        type_ = ChangeType.ADDED if old is None else ChangeType.MODIFIED
        self._publish(kind, Change(type_, key, stored, old))
        return stored

    def remove(self, kind: Kind, key: Key) -> Stored:
        """Delete an object from its store."""
        kind_store = self._kind_stores[kind]
        old = kind_store.objects.pop(key)
        self.version += 1
        last = at_version(old, self.version)
        self._index(kind, key, old, None)
        self._publish(kind, Change(ChangeType.DELETED, key, last, old))
        return last

    def dependents(self, uid: str) -> list[tuple[Kind, Key]]:
        """The objects that have this one as an owner."""
        return sorted(self._dependents.get(uid, ()), key=lambda located: (located[0].resource, located[1]))

    def lives(self, uid: str) -> bool:
        return uid in self._by_uid

    def keys_in(self, namespace: str) -> list[tuple[Kind, Key]]:
        return [
            (kind, key)
            for kind, kind_store in self._kind_stores.items()
            for key in sorted(kind_store.objects)
            if kind.namespaced and key[0] == namespace
        ]

    def compact(self, version: int) -> None:
        """Drop the history up to a version, in every kind."""
        for kind_store in self._kind_stores.values():
            kind_store.change_log.compact(version)

    def wake(self) -> None:
        """Make every watcher of every kind check for changes."""
        for kind_store in self._kind_stores.values():
            kind_store.change_log.wake()

    def _publish(self, kind: Kind, change: Change) -> None:
        """Log a change and call the listeners. Changes made by a listener are published afterwards, in order."""
        self._kind_stores[kind].change_log.append(change)
        self._unpublished.append((kind, change))
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._unpublished:
                published = self._unpublished.popleft()
                for listener in tuple(self._listeners):
                    listener(*published)
        finally:
            self._publishing = False

    def _index(self, kind: Kind, key: Key, old: Stored | None, new: Stored | None) -> None:
        located = (kind, key)
        before, after = owners(old), owners(new)
        for uid in before - after:
            self._dependents[uid].discard(located)
            if not self._dependents[uid]:
                del self._dependents[uid]
        for uid in after - before:
            self._dependents[uid].add(located)
        if new is not None:
            self._by_uid[new.body["metadata"]["uid"]] = located
        elif old is not None:
            self._by_uid.pop(old.body["metadata"]["uid"], None)


def owners(stored: Stored | None) -> frozenset[str]:
    references: Iterable[Json] = stored.body["metadata"].get("ownerReferences", ()) if stored else ()
    return frozenset(each["uid"] for each in references)
