"""A recording of what a session sees: an event a line, in files of bounded size, without what nobody should send."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from foretop_core.errors import BadInput
from foretop_core.models.kinds import by_name
from foretop_core.models.wire import ObjectRef, Resource, UnreadableObject
from foretop_core.rooms.archives.gather import without_private
from foretop_core.store import Store
from foretop_core.store.store import Change

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Recorder:
    """Writes changes; a file that is full becomes the older one, and the next begins with all objects."""

    def __init__(self, path: Path, most: int, store: Store, context: str) -> None:
        self.path = path
        self.older = path.with_suffix(f".older{path.suffix}")
        self.events = 0
        self._most = most // 2
        self._store = store
        self._context = context
        try:
            self._file = os.fdopen(os.open(path, _NEW, 0o600), "wb")
        except OSError as problem:
            raise BadInput(f"{path} is not written", problem.strerror or "", "give a new name") from None

    def close(self) -> None:
        self._file.close()

    def write(self, changes: Iterable[tuple[ObjectRef, Change]], at: datetime) -> None:
        """All of them, as of this time."""
        for key, change in changes:
            self._line(key, change, at)
        self._file.flush()
        if self._file.tell() > self._most:
            self._file.close()
            self.path.replace(self.older)
            self._file = os.fdopen(os.open(self.path, _NEW, 0o600), "wb")
            for key, change in self._everything():
                self._line(key, change, at)

    def _everything(self) -> Iterator[tuple[ObjectRef, Change]]:
        for key, item in self._store.objects(self._context):
            yield key, Change(None, item)

    def _line(self, key: ObjectRef, change: Change, at: datetime) -> None:
        kind, item = by_name(key.kind), change.after or change.before
        if kind is None or item is None or isinstance(item, UnreadableObject):
            return
        word = "DELETED" if change.after is None else "ADDED" if change.before is None else "MODIFIED"
        servers = self._store.snapshot(self._context).velero_namespaces
        whole = {"apiVersion": kind.api_version, "kind": kind.name, **_as_sent(item)}
        told = without_private(whole, is_tenants=kind.namespaced and key.namespace not in servers)
        line = {
            "t": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "kind": kind.plural,
            "type": word,
            "object": told,
        }
        self._file.write(msgspec.json.encode(line) + b"\n")
        self.events += 1


def _as_sent(item: Resource) -> dict[str, object]:
    """The fields that foretop reads, in the shape of the API."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(item))
    return sent
