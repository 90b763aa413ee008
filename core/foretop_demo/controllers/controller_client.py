"""A controller's writes, made under its own manager name and checked by the API server's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foretop_core.models import to_builtins
from foretop_core.models.kinds import Kind
from foretop_demo.change_log import Key
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.reconcile import Create, Delete, Patch, PatchStatus, Write
from foretop_demo.status import ApiError


class ControllerClient:
    """Writes to the storage. A refusal ends the sequence of writes, as an error ends a controller's reconcile."""

    def __init__(self, storage: InProcessApi, manager: str) -> None:
        self._storage = storage
        self._manager = manager

    def apply(self, writes: Iterable[Write]) -> str:
        """Make the writes in order; returns the message of a refusal, or ""."""
        try:
            for write in writes:
                self._write(write)
        except ApiError as refusal:
            return refusal.message
        return ""

    def create(self, kind: str, body: Json) -> str:
        try:
            self._storage.create(self._storage.kind(kind), body, manager=self._manager)
        except ApiError as refusal:
            return refusal.message
        return ""

    def patch(self, kind: Kind, key: Key, change: Mapping[str, Any]) -> str:
        return self.apply((Patch(kind, *key, change),))

    def patch_raw(self, kind: str, key: Key, change: Json) -> str:
        try:
            self._storage.patch(self._storage.kind(kind), *key, change, manager=self._manager)
        except ApiError as refusal:
            return refusal.message
        return ""

    def delete(self, kind: str, key: Key) -> str:
        try:
            self._storage.delete(self._storage.kind(kind), *key)
        except ApiError as refusal:
            return refusal.message
        return ""

    def _write(self, write: Write) -> None:
        kind = self._storage.kind(write.kind.name)
        match write:
            case Create():
                self._storage.create(kind, _body(write), write.namespace, self._manager)
            case Patch():
                self._storage.patch(kind, write.namespace, write.name, dict(write.patch), self._manager)
            case PatchStatus():
                self._storage.patch_status(kind, write.namespace, write.name, dict(write.patch), self._manager)
            case Delete():
                self._storage.delete(kind, write.namespace, write.name)


def _body(write: Create) -> Json:
    meta: Json = {
        "generateName" if write.generate_name else "name": write.name,
        "namespace": write.namespace,
        "labels": dict(write.labels),
        "annotations": dict(write.annotations),
    }
    if write.owner_references:
        meta["ownerReferences"] = [to_builtins(owner) for owner in write.owner_references]
    body: Json = {"metadata": meta, "spec": dict(write.spec)}
    if write.kind.name in ("Backup", "Restore", "DeleteBackupRequest"):
        body["status"] = {}
    return body
