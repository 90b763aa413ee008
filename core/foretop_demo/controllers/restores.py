"""Velero's restore controller in the box: one restore at a time, oldest first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from foretop_core.models import Backup, Resource, Restore
from foretop_core.models.kinds import BACKUP, RESTORE
from foretop_core.models.nonadmin import NAR_UUID_LABEL
from foretop_core.rules.phases import USABLE
from foretop_core.rules.queue.positions import order
from foretop_demo.change_log import Key
from foretop_demo.controllers.backups import RESTARTED
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Process, ProcessGroup
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.restored_objects import restore_objects
from foretop_demo.controllers.simulated_runs import SimulatedRun, Workload
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

_HOP = timedelta(milliseconds=7)
_BRIEF = timedelta(milliseconds=80)
FINALIZER = "restores.velero.io/external-resources-finalizer"
_NEVER_RESTORED = (
    "nodes",
    "events",
    "events.events.k8s.io",
    "backups.velero.io",
    "restores.velero.io",
    "resticrepositories.velero.io",
    "csinodes.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "backuprepositories.velero.io",
)


class RestoreController:
    """Adds a finalizer to a Restore, runs it, and removes the finalizer once its data is deleted."""

    def __init__(
        self, group: ProcessGroup, client: ControllerClient, namespace: str, storage: ObjectStorage, workload: Workload
    ) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._storage = storage
        self._workload = workload
        self._leaving: set[Key] = set()
        group.listen(RESTORE, self._on_change)

    def start(self) -> None:
        for restore in self._group.cache.all(RESTORE, Restore):
            key = (restore.namespace, restore.name)
            self._on_change(key, restore, restore)
            if restore.namespace == self._namespace and restore.phase == "InProgress":
                ended = wire_time(self._group.now())
                self._write(key, phase="Failed", failureReason=RESTARTED.format("restore"), completionTimestamp=ended)
        self._next((self._namespace, ""))

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if key[0] != self._namespace:
            return
        if _is_held(new) and key not in self._leaving:
            self._leaving.add(key)
            self._group.start(self._remove_data(key))
        elif old is None or new is None or (isinstance(old, Restore) and old.phase == "InProgress"):
            self._group.enqueue(self._next, (self._namespace, ""), _HOP)

    def _next(self, _: Key) -> None:
        line = sorted(self._group.cache.under(RESTORE, "open", self._namespace, Restore), key=order)
        waiting = [item for item in line if item.phase in ("", "New") and item.metadata.deletion_timestamp is None]
        if waiting and not any(item.phase == "InProgress" for item in line):
            restore = waiting[0]
            key = (restore.namespace, restore.name)
            self._client.patch(RESTORE, key, {"metadata": {"finalizers": [*restore.metadata.finalizers, FINALIZER]}})
            self._begin(key, restore)

    def _begin(self, key: Key, restore: Restore) -> None:
        spec: Json = {"itemOperationTimeout": "4h0m0s"}
        spec["excludedResources"] = [*restore.spec.excluded_resources, *_NEVER_RESTORED]
        refused = self._refusal(restore)
        if refused:
            status: Json = {"phase": "FailedValidation", "validationErrors": [refused]}
        else:
            status = {"phase": "InProgress", "startTimestamp": wire_time(self._group.now())}
        self._client.patch(RESTORE, key, {"spec": spec, "status": status})
        if refused:
            self._group.enqueue(self._next, (self._namespace, ""), _HOP)
        else:
            self._group.start(self._run(key, self._work(restore)))

    def _work(self, restore: Restore) -> SimulatedRun:
        """As many items as its backup has taken."""
        work = self._workload.of(restore)
        backup = self._group.cache.get(BACKUP, (self._namespace, restore.spec.backup_name), Backup)
        taken = backup.status.progress if backup is not None else None
        return replace(work, items=taken.done) if taken is not None and taken.done else work

    def _refusal(self, restore: Restore) -> str:
        name = restore.spec.backup_name
        backup = self._group.cache.get(BACKUP, (self._namespace, name), Backup)
        if backup is None:
            return (
                f"Error retrieving backup: can't find backup {self._namespace}/{name}: "
                f'Backup.velero.io "{name}" not found'
            )
        if backup.phase not in USABLE:
            return f"the status of backup is {backup.phase or 'New'}. only completed or partially failed backups"
        return ""

    def _run(self, key: Key, work: SimulatedRun) -> Process:
        yield _BRIEF
        yield self._storage
        if work.steps > 1:
            yield from self._items(key, work)
        else:
            yield work.duration
        if work.failure:
            ended = wire_time(self._group.now())
            self._step(key, "InProgress", phase="Failed", failureReason=work.failure, completionTimestamp=ended)
            return
        suffix = "PartiallyFailed" if work.errors else ""
        counts = {"errors": work.errors or None, "warnings": work.warnings or None}
        if not self._step(key, "InProgress", phase=f"Finalizing{suffix}", **counts):
            return
        yield _BRIEF
        yield self._storage
        self._step(key, f"Finalizing{suffix}", hookStatus={})
        self._make_objects(key)
        ended = wire_time(self._group.now())
        self._step(key, f"Finalizing{suffix}", phase=suffix or "Completed", completionTimestamp=ended)

    def _make_objects(self, key: Key) -> None:
        """For an administrator's restores; a tenant's change nothing that anybody looks at."""
        restore = self._group.cache.get(RESTORE, key, Restore)
        if restore is None or restore.label(NAR_UUID_LABEL):
            return
        backup = self._group.cache.get(BACKUP, (self._namespace, restore.spec.backup_name), Backup)
        if backup is not None:
            restore_objects(self._group.engine.storage, restore, backup)

    def _items(self, key: Key, work: SimulatedRun) -> Process:
        for step in range(1, work.steps + 1):
            yield work.duration / work.steps
            yield self._storage
            done = {"totalItems": work.items, "itemsRestored": work.items * step // work.steps}
            if not self._step(key, "InProgress", progress=done):
                return

    def _remove_data(self, key: Key) -> Process:
        """Delete what the restore left in the bucket before the object itself."""
        yield _BRIEF
        yield self._storage
        self._leaving.discard(key)
        restore = self._group.cache.get(RESTORE, key, Restore)
        if restore is not None:
            kept = [entry for entry in restore.metadata.finalizers if entry != FINALIZER]
            self._client.patch(RESTORE, key, {"metadata": {"finalizers": kept}})

    def _step(self, key: Key, expected: str, **status: Any) -> bool:
        restore = self._group.cache.get(RESTORE, key, Restore)
        return restore is not None and restore.phase == expected and self._write(key, **status)

    def _write(self, key: Key, **status: Any) -> bool:
        return not self._client.patch(RESTORE, key, {"status": status})


def _is_held(item: Resource | None) -> bool:
    """True if it is being deleted and waits for this controller's finalizer."""
    return item is not None and item.metadata.deletion_timestamp is not None and FINALIZER in item.metadata.finalizers
