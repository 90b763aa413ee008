"""The objects of the box as typed values, always up to date with the storage and indexed by what they refer to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.models import Resource, from_builtins
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, KINDS, MOVEMENTS, NAB, NABSL, NAR, RESTORE, Kind
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.velero import BACKUP_LABEL, RESTORE_LABEL, SCHEDULE_LABEL
from foretop_core.rules.phases import HOLDS_SLOT, WAITING
from foretop_demo.change_log import Change, ChangeType, Key
from foretop_demo.in_process_api import InProcessApi

R = TypeVar("R", bound=Resource)
Pointer = Callable[[Any], str]
"""The reference under which an object is indexed; "" if it has none."""


def _label(key: str) -> Pointer:
    return lambda item: item.label(key)


def _scheduled(backup: Any) -> str:
    return f"{backup.namespace}/{backup.label(SCHEDULE_LABEL)}" if backup.label(SCHEDULE_LABEL) else ""


def _open(run: Any) -> str:
    return run.namespace if run.status.completion_timestamp is None else ""


def _in_line(backup: Any) -> str:
    return backup.namespace if backup.phase in WAITING or backup.phase in HOLDS_SLOT else ""


def _restored(nar: Any) -> str:
    return f"{nar.namespace}/{nar.spec.restore_spec.backup_name}"


_POINTERS: Mapping[str, Mapping[str, Pointer]] = {
    BACKUP.name: {
        "schedule": _scheduled,
        "nacuuid": _label(NAB_UUID_LABEL),
        "open": _open,
        "line": _in_line,
    },
    RESTORE.name: {
        "nacuuid": _label(NAR_UUID_LABEL),
        "open": _open,
        "backup": lambda restore: f"{restore.namespace}/{restore.spec.backup_name}",
    },
    DELETE_REQUEST.name: {"backup": _label(BACKUP_LABEL)},
    **{kind.name: {"backup": _label(BACKUP_LABEL), "restore": _label(RESTORE_LABEL)} for kind in MOVEMENTS},
    NAR.name: {"backup": _restored},
    NAB.name: {"namespace": lambda nab: nab.namespace},
    NABSL.name: {"namespace": lambda location: location.namespace},
}


class KindIndex(Generic[R]):
    """The objects of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.objects: dict[Key, R] = {}
        self._pointers = _POINTERS.get(kind.name, {})
        self._by_pointer: dict[str, defaultdict[str, dict[Key, R]]] = {
            name: defaultdict(dict) for name in self._pointers
        }

    def put(self, key: Key, new: R | None) -> R | None:
        """Index a new version (None: deleted); returns the previous one."""
        old = self.objects.pop(key, None)
        for name, pointer in self._pointers.items():
            by_value = self._by_pointer[name]
            if old is not None and (former := pointer(old)):
                by_value[former].pop(key, None)
                if not by_value[former]:
                    del by_value[former]
            if new is not None and (present := pointer(new)):
                by_value[present][key] = new
        if new is not None:
            self.objects[key] = new
        return old

    def under(self, pointer: str, value: str) -> list[R]:
        return list(self._by_pointer[pointer].get(value, {}).values())


class TypedCache:
    """Every object of a kind that foretop has a model for. The engine updates it before it calls any listener."""

    def __init__(self, storage: InProcessApi) -> None:
        self._indexes: dict[str, KindIndex[Any]] = {kind.name: KindIndex(kind) for kind in KINDS}
        for kind in KINDS:
            index = self._indexes[kind.name]
            for key, stored in storage.object_store.kind_store(storage.kind(kind.name)).objects.items():
                index.put(key, _read(kind, stored.body))

    def update(self, kind: Kind, change: Change) -> tuple[Resource | None, Resource | None]:
        """Record a change; returns the object before and after it."""
        new = None if change.type is ChangeType.DELETED else _read(kind, change.body)
        return self._indexes[kind.name].put(change.key, new), new

    def get(self, kind: Kind, key: Key, model: type[R]) -> R | None:
        found = self._indexes[kind.name].objects.get(key)
        assert found is None or isinstance(found, model)
        return found

    def all(self, kind: Kind, model: type[R]) -> list[R]:
        assert kind.model is model
        return list(self._indexes[kind.name].objects.values())

    def under(self, kind: Kind, pointer: str, value: str, model: type[R]) -> list[R]:
        """The objects of a kind that refer to something, such as the Backups of one schedule."""
        assert issubclass(kind.model, model)
        return self._indexes[kind.name].under(pointer, value)


def _read(kind: Kind, body: object) -> Resource | None:
    """The typed object, or None if it is unreadable: controllers could not act on it.

    Few objects hold a null where the models allow none, so the quick conversion is tried first.
    """
    try:
        return msgspec.convert(body, kind.model)
    except msgspec.ValidationError:
        pass
    try:
        return from_builtins(kind.model, body)
    except Unreadable:
        return None
