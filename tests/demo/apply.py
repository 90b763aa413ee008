"""Applies a reconciler's writes to plain objects, as an API server would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime
from typing import Any

from foretop_core.models import Resource, from_builtins, to_builtins
from foretop_core.models.kinds import Kind
from foretop_demo.reconcile import Create, Delete, Patch, PatchStatus, Write
from foretop_demo.reconcile.writes import wire_time

Raw = dict[str, Any]
Key = tuple[str, str, str]


def merged(value: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    kept = dict(value) if isinstance(value, Mapping) else {}
    for key, item in patch.items():
        if item is None:
            kept.pop(key, None)
        else:
            kept[key] = merged(kept.get(key), item)
    return kept


def patched(raw: Raw, write: Patch | PatchStatus) -> Raw:
    """An object after a patch; each kind of patch changes only its own part."""
    if isinstance(write, PatchStatus):
        assert write.kind.status_subresource
        return {**raw, "status": merged(raw.get("status"), write.patch)}
    if write.kind.status_subresource:
        assert "status" not in write.patch, "the status of this kind is a subresource"
    return dict(merged(raw, write.patch))


def made(write: Create, now: datetime, uid: str, suffix: str = "x7k2p") -> Raw:
    meta: Raw = {
        "name": write.name + suffix if write.generate_name else write.name,
        "namespace": write.namespace,
        "uid": uid,
        "creationTimestamp": wire_time(now),
        "labels": dict(write.labels),
        "annotations": dict(write.annotations),
    }
    if write.owner_references:
        meta["ownerReferences"] = [to_builtins(entry) for entry in write.owner_references]
    return {"metadata": meta, "spec": deepcopy(dict(write.spec))}


class Objects:
    """A handful of objects by (plural, namespace, name)."""

    def __init__(self) -> None:
        self.raw: dict[Key, tuple[Kind, Raw]] = {}
        self._made = 0

    def put(self, kind: Kind, raw: Raw) -> None:
        meta = raw["metadata"]
        self.raw[kind.plural, meta.get("namespace", ""), meta["name"]] = (kind, raw)

    def drop(self, kind: Kind, namespace: str, name: str) -> None:
        del self.raw[kind.plural, namespace, name]

    def has(self, kind: Kind, namespace: str, name: str) -> bool:
        return (kind.plural, namespace, name) in self.raw

    def get(self, kind: Kind, namespace: str, name: str) -> Any:
        return from_builtins(kind.model, self.raw[kind.plural, namespace, name][1])

    def all(self, kind: Kind) -> list[Any]:
        return [from_builtins(kind.model, raw) for held, raw in self.raw.values() if held is kind]

    def apply(self, writes: Iterable[Write], now: datetime) -> None:
        for write in writes:
            match write:
                case Create():
                    self._made += 1
                    raw = made(write, now, f"uid-{self._made}")
                    assert not self.has(write.kind, write.namespace, raw["metadata"]["name"])
                    self.put(write.kind, raw)
                case Delete():
                    self.delete(write.kind, write.namespace, write.name, now)
                case Patch() | PatchStatus():
                    held = self.raw[write.kind.plural, write.namespace, write.name][1]
                    self._store(write.kind, patched(held, write))

    def delete(self, kind: Kind, namespace: str, name: str, now: datetime) -> None:
        """Delete an object, or mark it if a finalizer holds it."""
        raw = self.raw[kind.plural, namespace, name][1]
        stamped = {**raw, "metadata": {**raw["metadata"], "deletionTimestamp": wire_time(now)}}
        self._store(kind, stamped)

    def _store(self, kind: Kind, raw: Raw) -> None:
        meta = raw["metadata"]
        if meta.get("deletionTimestamp") and not meta.get("finalizers"):
            self.drop(kind, meta["namespace"], meta["name"])
        else:
            self.put(kind, raw)


def typed(kind: Kind, raw: Raw) -> Resource:
    return from_builtins(kind.model, raw)
