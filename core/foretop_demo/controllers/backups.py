"""Velero's backup controller in the box: it runs a backup from ReadyToStart to its end, item by item."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from foretop_core.models import Backup, BackupStorageLocation, Resource
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, POD_VOLUME_BACKUP, STORAGE
from foretop_core.models.velero import STORAGE_LABEL
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.queue.positions import order
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Process, ProcessGroup
from foretop_demo.controllers.movements import Movements
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.simulated_runs import SimulatedRun, Workload
from foretop_demo.controllers.variants import has_queue
from foretop_demo.controllers.volume_policies import refused_by_policy
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

_HOP = timedelta(milliseconds=8)
_BRIEF = timedelta(milliseconds=90)
_TTL = "720h0m0s"
_ANNOTATIONS = {
    "velero.io/resource-timeout": "10m0s",
    "velero.io/source-cluster-k8s-gitversion": "v1.36.3",
    "velero.io/source-cluster-k8s-major-version": "1",
    "velero.io/source-cluster-k8s-minor-version": "36",
}
_FILLED_IN: dict[str, Any] = {
    "csiSnapshotTimeout": "10m0s",
    "itemOperationTimeout": "4h0m0s",
    "volumeGroupSnapshotLabelKey": "velero.io/volume-group",
    "defaultVolumesToFsBackup": False,
    "snapshotMoveData": False,
}
RESTARTED = 'found a {} with status "InProgress" during the server starting, mark it as "Failed"'


class BackupController:
    """Runs the backups that may start. Without a queue phase it takes the oldest waiting one, one at a time."""

    def __init__(
        self,
        group: ProcessGroup,
        client: ControllerClient,
        namespace: str,
        storage: ObjectStorage,
        workload: Workload,
        release: Release,
        movements: Movements,
    ) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._storage = storage
        self._workload = workload
        self._release = release
        self._queued = has_queue(release)
        self._movements = movements
        group.listen(BACKUP, self._on_change)

    def start(self) -> None:
        """Fail what ran when the server stopped, take up what waits; as in Velero, ReadyToStart backups are lost."""
        for backup in self._group.cache.all(BACKUP, Backup):
            if backup.namespace == self._namespace and backup.phase == "InProgress":
                self._patch_status(backup, phase="Failed", failureReason=RESTARTED.format("backup"), ended=True)
        if not self._queued:
            self._take_oldest((self._namespace, ""))

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if key[0] != self._namespace:
            return
        if self._queued:
            if isinstance(new, Backup) and new.phase == "ReadyToStart":
                self._group.enqueue(self._begin, key, _HOP)
        elif old is None or new is None or (isinstance(old, Backup) and old.phase == "InProgress"):
            self._group.enqueue(self._take_oldest, (self._namespace, ""), _HOP)

    def _take_oldest(self, _: Key) -> None:
        line = sorted(self._group.cache.under(BACKUP, "line", self._namespace, Backup), key=order)
        if line and line[0].phase in ("", "New"):
            self._begin((line[0].namespace, line[0].name))

    def _begin(self, key: Key) -> None:
        """Fill in the spec, validate it, and then refuse or start the backup."""
        backup = self._group.cache.get(BACKUP, key, Backup)
        if backup is None or backup.phase not in ("", "New", "ReadyToStart"):
            return
        name = backup.spec.storage_location or self._default_location()
        location = self._group.cache.get(STORAGE, (self._namespace, name), BackupStorageLocation)
        storage = self._group.engine.storage
        refused = _refusal(name, location) or refused_by_policy(storage, backup, self._release)
        now = self._group.now()
        spec, expiration = _filled(backup, name, now)
        status: Json = {"expiration": expiration, "formatVersion": "1.1.0", "version": 1}
        if refused:
            status |= {"phase": "FailedValidation", "validationErrors": [refused]}
        else:
            status |= {"phase": "InProgress", "startTimestamp": wire_time(now)}
        meta = {"labels": {STORAGE_LABEL: name}, "annotations": _ANNOTATIONS}
        self._client.patch(BACKUP, key, {"metadata": meta, "spec": spec, "status": status})
        if not refused:
            self._group.start(self._run(key, self._workload.of(backup)))

    def _default_location(self) -> str:
        mine = [item for item in self._group.cache.all(STORAGE, BackupStorageLocation) if item.spec.default]
        return next((item.name for item in mine if item.namespace == self._namespace), "default")

    def _run(self, key: Key, work: SimulatedRun) -> Process:
        """The items, the volumes and the end of a backup; every step waits until object storage answers."""
        self._movements.begin(key, work.moves)
        yield _BRIEF
        yield self._storage
        if not self._step(key, "InProgress", progress={"totalItems": work.items}):
            return
        for step in range(1, work.steps + 1):
            yield work.duration / work.steps
            yield self._storage
            done = {"totalItems": work.items, "itemsBackedUp": work.items * step // work.steps}
            more: Json = {"hookStatus": {}} if step == work.steps else {}
            if not self._step(key, "InProgress", progress=done, **more):
                return
        if work.failure:
            self._fail(key, work)
            return
        yield from self._finish(key, work)

    def _finish(self, key: Key, work: SimulatedRun) -> Process:
        """The last phases: file-system backups end within InProgress, uploads have a waiting phase of their own."""
        phase = "InProgress"
        yield self._movements.ended(key, POD_VOLUME_BACKUP)
        if self._movements.under_way(key, DATA_UPLOAD):
            if not self._step(key, phase, phase="WaitingForPluginOperations"):
                return
            phase = "WaitingForPluginOperations"
            yield self._movements.ended(key, DATA_UPLOAD)
        errors = work.errors + self._movements.failed(key)
        suffix = "PartiallyFailed" if errors else ""
        yield _BRIEF
        counts: Json = {"errors": errors or None, "warnings": work.warnings or None}
        if not self._step(key, phase, phase=f"Finalizing{suffix}", **counts):
            return
        yield _BRIEF
        yield self._storage
        ended = wire_time(self._group.now())
        if self._step(key, f"Finalizing{suffix}", phase=suffix or "Completed", completionTimestamp=ended):
            self._keep(key)

    def _fail(self, key: Key, work: SimulatedRun) -> None:
        ended = wire_time(self._group.now())
        self._step(key, "InProgress", phase="Failed", failureReason=work.failure, completionTimestamp=ended)

    def _step(self, key: Key, expected: str, **status: Any) -> bool:
        """Write one step of the run; False if the backup is gone or its phase has been changed by someone else."""
        backup = self._group.cache.get(BACKUP, key, Backup)
        return (
            backup is not None and backup.phase == expected and not self._client.patch(BACKUP, key, {"status": status})
        )

    def _patch_status(self, backup: Backup, ended: bool = False, **status: Any) -> None:
        if ended:
            status["completionTimestamp"] = wire_time(self._group.now())
        self._client.patch(BACKUP, (backup.namespace, backup.name), {"status": status})

    def _keep(self, key: Key) -> None:
        """Store the finished backup in its bucket, from where the sync can bring it back."""
        keep_in_bucket(self._group, self._storage, key)


def keep_in_bucket(group: ProcessGroup, storage: ObjectStorage, key: Key) -> None:
    backup = group.cache.get(BACKUP, key, Backup)
    location = backup and group.cache.get(STORAGE, (key[0], backup.spec.storage_location), BackupStorageLocation)
    if not location:
        return
    body = group.engine.storage.get(group.engine.storage.kind(BACKUP.name), *key)
    bucket = storage.bucket(location.spec.object_storage.bucket)
    if bucket is not None:
        bucket[key[1]] = body


def _refusal(name: str, location: BackupStorageLocation | None) -> str:
    if location is None:
        return (
            "an existing backup storage location was not specified at backup creation time and the default "
            f"{name} was not found. Please address this issue (see `velero backup-location -h` for options) and "
            f'create a new backup. Error: BackupStorageLocation.velero.io "{name}" not found'
        )
    if location.phase == "Unavailable":
        return f"backup can't be created because BackupStorageLocation {name} is in Unavailable status."
    if location.spec.access_mode == "ReadOnly":
        return f"backup can't be created because backup storage location {name} is currently in read-only mode"
    return ""


def _filled(backup: Backup, location: str, now: datetime) -> tuple[Json, str]:
    """The spec as Velero completes it, and the expiration of the backup."""
    spec: Json = {**_FILLED_IN, "storageLocation": location}
    ttl = backup.spec.ttl if backup.spec.ttl not in ("", "0s") else _TTL
    spec["ttl"] = ttl
    if not backup.spec.excluded_resources and not backup.spec.included_resources:
        spec["excludedClusterScopedResources"] = ["volumesnapshotcontents.snapshot.storage.k8s.io"]
        spec["excludedNamespaceScopedResources"] = ["volumesnapshots.snapshot.storage.k8s.io"]
    return spec, wire_time(now + (read_duration(ttl) or timedelta(hours=720)))
