"""A recording of what a session sees: an event a line, in files of bounded size, without what nobody should send."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from foretop_core.clock import Clock
from foretop_core.errors import BadInput
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import Kind, by_name
from foretop_core.models.wire import ObjectRef, Resource, UnreadableObject
from foretop_core.rooms.archives.beside import SEEN, Beside, without_repeats
from foretop_core.rooms.archives.gather import without_private
from foretop_core.rooms.archives.recording import ListedScope, Scope, older_part
from foretop_core.store import Store
from foretop_core.store.store import Change, Subscription

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Recorder:
    """Writes each change as it comes; a full file becomes the older one, and the next begins with all objects."""

    def __init__(self, path: Path, most: int, store: Store, context: str, clock: Clock) -> None:
        self.path = path
        self.older = older_part(path)
        self.events = 0
        self._most = most // 2
        self._watched: frozenset[Scope] = frozenset()
        self._beside = Beside()
        self._servers: frozenset[str] = frozenset()
        self._store = store
        self._context = context
        self._clock = clock
        self._feed: Subscription | None = None
        self.failed: OSError | None = None
        """The disk takes no more: nothing is written from then on."""
        try:
            self._file = os.fdopen(os.open(path, _NEW, 0o600), "wb")
        except OSError as problem:
            raise BadInput(f"{path} is not written", problem.strerror or "", "give a new name") from None

    def close(self) -> None:
        if self._feed is not None:
            self._store.feed.unsubscribe(self._feed)
        with suppress(OSError):
            self._file.close()

    def begin(self) -> None:
        """All objects that are there, and from then on every change."""
        # By its wake, for of several changes of one object a later look would find the last alone.
        self._feed = self._store.feed.subscribe(wake=self._take_changes)
        self._everything()
        self._turn()

    def _everything(self) -> None:
        self._note_servers()
        self.note_watched()
        for key, item in self._store.objects(self._context):
            self._line(key, Change(None, item))
        for (kind, _, _), raw in self._beside.objects.items():
            self._object(kind, "ADDED", raw)

    def _take_changes(self) -> None:
        assert self._feed is not None
        for key, change in self._feed.drain().items():
            # What is told of an object may be another, and the object still the same.
            if change.before != change.after:
                self._line(key, change)
        self._turn()

    def take_beside(self, found: Beside) -> None:
        """Takes in what was read beside the watches; objects that are as they were the last time cost nothing."""
        gone = {key: item for key, item in self._beside.objects.items() if key not in found.objects}
        found.objects |= {key: item for key, item in gone.items() if not _was_read(key, found)}
        before, self._beside = self._beside.objects, found
        self._note_servers()
        self.note_watched()
        for key, item in found.objects.items():
            if before.get(key) != item:
                self._object(key[0], "MODIFIED" if key in before else "ADDED", item)
        for key, item in before.items():
            if key not in found.objects:
                self._object(key[0], "DELETED", item)
        self._turn()

    def note_watched(self) -> None:
        """A line with what is watched, where that is not what it was."""
        watches = dict(self._store.health.watches(self._context))
        live = {
            (scope.kind, scope.namespace)
            for scope in without_repeats(watches)
            # One that lists anew goes on.
            if watches[scope].state in SEEN
            or (watches[scope].state is WatchState.SYNCING and (scope.kind, scope.namespace) in self._watched)
        }
        if (watched := frozenset(live | self._beside.listed)) != self._watched:
            self._watched = watched
            scopes = sorted((kind.group, kind.name, namespace) for kind, namespace in watched)
            self._write({"t": self._stamp, "watched": [ListedScope(*scope) for scope in scopes]})

    def _note_servers(self) -> None:
        self._servers = frozenset(self._store.snapshot(self._context).velero_namespaces)

    def _turn(self) -> None:
        """Begins a new file where this one is full."""
        try:
            self._file.flush()
            if self._file.tell() > self._most:
                self._file.close()
                self.path.replace(self.older)
                self._file = os.fdopen(os.open(self.path, _NEW, 0o600), "wb")
                self._watched = frozenset()
                self._everything()
        except OSError as problem:
            self.failed = problem

    def _line(self, key: ObjectRef, change: Change) -> None:
        kind, item = by_name(key.kind), change.after or change.before
        if kind is None or item is None or isinstance(item, UnreadableObject):
            return
        word = "DELETED" if change.after is None else "ADDED" if change.before is None else "MODIFIED"
        whole = {"apiVersion": kind.api_version, "kind": kind.name, **_as_sent(item)}
        self._object(kind, word, whole)

    def _object(self, kind: Kind, word: str, whole: dict[str, Any]) -> None:
        home = kind.namespaced and whole["metadata"].get("namespace", "") not in self._servers
        told = without_private(whole, is_tenants=home)
        self._write({"t": self._stamp, "kind": kind.plural, "type": word, "object": told})
        self.events += 1

    @property
    def _stamp(self) -> str:
        return self._clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _write(self, line: dict[str, object]) -> None:
        if self.failed is None:
            try:
                self._file.write(msgspec.json.encode(line) + b"\n")
            except OSError as problem:
                self.failed = problem


def _was_read(key: tuple[Kind, str, str], found: Beside) -> bool:
    """True if an object that is not found is gone; what could not be read this time is taken to be as it was."""
    return not found.problems or bool({(key[0], ""), (key[0], key[1])} & found.listed)


def _as_sent(item: Resource) -> dict[str, object]:
    """The fields that foretop reads, in the shape of the API."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(item))
    return sent
