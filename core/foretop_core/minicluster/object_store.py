"""Where the objects stand: one shelf for each kind, one counter of versions for all, and who hears of a change."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from foretop_core.minicluster.change_log import Change, ChangeLog, ChangeType, Key, Stored, at_version
from foretop_core.minicluster.kinds import Catalog, Json, Kind

Listener = Callable[[Kind, Change], None]


class KindStore:
    """The objects of one kind and what happened to them."""

    def __init__(self, history: int) -> None:
        self.objects: dict[Key, Stored] = {}
        self.journal = ChangeLog(history)


class ObjectStore:
    """All objects of a box. Writes come here already judged; here they get their version and are told of."""

    def __init__(self, catalog: Catalog, history: int) -> None:
        self.catalog = catalog
        self.version = 0
        self._shelves = {kind: KindStore(history) for kind in catalog}
        self._places: dict[str, tuple[Kind, Key]] = {}
        self._dependents: defaultdict[str, set[tuple[Kind, Key]]] = defaultdict(set)
        self._listeners: list[Listener] = []
        self._untold: deque[tuple[Kind, Change]] = deque()
        self._telling = False

    def shelf(self, kind: Kind) -> KindStore:
        return self._shelves[kind]

    def find(self, kind: Kind, key: Key) -> Stored | None:
        return self._shelves[kind].objects.get(key)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with every change, in order, until the returned function is called."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def put(self, kind: Kind, key: Key, body: Json) -> Stored:
        """Store a new version of an object, new or not."""
        shelf = self._shelves[kind]
        old = shelf.objects.get(key)
        self.version += 1
        stored = at_version(Stored(body, self.version), self.version)
        shelf.objects[key] = stored
        self._index(kind, key, old, stored)
        type_ = ChangeType.ADDED if old is None else ChangeType.MODIFIED
        self._tell(kind, Change(type_, key, stored, old))
        return stored

    def remove(self, kind: Kind, key: Key) -> Stored:
        """Take an object off its shelf."""
        shelf = self._shelves[kind]
        old = shelf.objects.pop(key)
        self.version += 1
        last = at_version(old, self.version)
        self._index(kind, key, old, None)
        self._tell(kind, Change(ChangeType.DELETED, key, last, old))
        return last

    def dependents(self, uid: str) -> list[tuple[Kind, Key]]:
        """The objects that name this one as an owner."""
        return sorted(self._dependents.get(uid, ()), key=lambda place: (place[0].resource, place[1]))

    def lives(self, uid: str) -> bool:
        return uid in self._places

    def keys_in(self, namespace: str) -> list[tuple[Kind, Key]]:
        return [
            (kind, key)
            for kind, shelf in self._shelves.items()
            for key in sorted(shelf.objects)
            if kind.namespaced and key[0] == namespace
        ]

    def compact(self, version: int) -> None:
        """Forget the past up to a version, in every kind."""
        for shelf in self._shelves.values():
            shelf.journal.compact(version)

    def wake(self) -> None:
        """Make everybody who follows a kind look up, news or not."""
        for shelf in self._shelves.values():
            shelf.journal.wake()

    def _tell(self, kind: Kind, change: Change) -> None:
        """Record a change and tell of it; what a listener changes meanwhile is told afterwards, to all in order."""
        self._shelves[kind].journal.append(change)
        self._untold.append((kind, change))
        if self._telling:
            return
        self._telling = True
        try:
            while self._untold:
                news = self._untold.popleft()
                for listener in tuple(self._listeners):
                    listener(*news)
        finally:
            self._telling = False

    def _index(self, kind: Kind, key: Key, old: Stored | None, new: Stored | None) -> None:
        place = (kind, key)
        before, after = owners(old), owners(new)
        for uid in before - after:
            self._dependents[uid].discard(place)
            if not self._dependents[uid]:
                del self._dependents[uid]
        for uid in after - before:
            self._dependents[uid].add(place)
        if new is not None:
            self._places[new.body["metadata"]["uid"]] = place
        elif old is not None:
            self._places.pop(old.body["metadata"]["uid"], None)


def owners(stored: Stored | None) -> frozenset[str]:
    references: Iterable[Json] = stored.body["metadata"].get("ownerReferences", ()) if stored else ()
    return frozenset(each["uid"] for each in references)
