"""Velero's storage locations in the box: the validation and the sync, whose times are Velero's sign of activity."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_core.models import BackupStorageLocation, Resource
from foretop_core.models.kinds import BACKUP, STORAGE
from foretop_core.rules.humanize import read_duration
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Process, ProcessGroup
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

_HOP = timedelta(milliseconds=30)
_MINUTE = timedelta(minutes=1)
_NOTHING = timedelta()
_MISSING = (
    'BackupStorageLocation "{}" is unavailable: rpc error: code = Unknown desc = operation error S3: ListObjectsV2, '
    "https response error StatusCode: 404, api error NoSuchBucket: The specified bucket does not exist"
)


class LocationController:
    """Validates on change and when it is due, syncs once a minute; while storage hangs, neither ends."""

    def __init__(self, group: ProcessGroup, client: ControllerClient, namespace: str, storage: ObjectStorage) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._storage = storage
        self._checking: set[Key] = set()
        self._syncing: set[Key] = set()
        self._next_check: dict[Key, datetime] = {}
        self._next_sync: dict[Key, datetime] = {}
        group.listen(STORAGE, self._on_change)

    def check_all(self) -> None:
        for location in self._mine():
            self._check((location.namespace, location.name))

    def check_due(self) -> None:
        """The pass of every ten seconds, for each location as often as its spec asks."""
        now = self._group.now()
        for location in self._mine():
            key = (location.namespace, location.name)
            if _due(location.spec.validation_frequency, self._next_check.get(key), now):
                self._check(key)

    def sync_due(self) -> None:
        """The once-a-minute pass, for each location as often as it asks to be synced."""
        now = self._group.now()
        for location in self._mine():
            key = (location.namespace, location.name)
            if _due(location.spec.backup_sync_period, self._next_sync.get(key), now):
                self._next_sync[key] = now + _period(location.spec.backup_sync_period)
                self._sync(key)

    def _mine(self) -> list[BackupStorageLocation]:
        found = self._group.cache.all(STORAGE, BackupStorageLocation)
        return [location for location in found if location.namespace == self._namespace]

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        changed = isinstance(new, BackupStorageLocation) and not (
            isinstance(old, BackupStorageLocation) and old.spec == new.spec
        )
        if changed and key[0] == self._namespace:
            self._group.enqueue(self._check, key, _HOP)

    def _check(self, key: Key) -> None:
        if key not in self._checking:
            location = self._group.cache.get(STORAGE, key, BackupStorageLocation)
            frequency = location.spec.validation_frequency if location is not None else ""
            self._next_check[key] = self._group.now() + _period(frequency)
            self._checking.add(key)
            self._group.start(self._validate(key))

    def _sync(self, key: Key) -> None:
        if key not in self._syncing:
            self._syncing.add(key)
            self._group.start(self._restore_objects(key))

    def _validate(self, key: Key) -> Process:
        yield self._storage
        self._checking.discard(key)
        location = self._group.cache.get(STORAGE, key, BackupStorageLocation)
        if location is None:
            return
        there = self._storage.bucket(location.spec.object_storage.bucket) is not None
        status: Json = {"lastValidationTime": wire_time(self._group.now())}
        status["phase"] = "Available" if there else "Unavailable"
        status["message"] = None if there else _MISSING.format(location.name)
        self._client.patch(STORAGE, key, {"status": status})

    def _restore_objects(self, key: Key) -> Process:
        """Create Backup objects for the backups in the bucket that have none."""
        yield self._storage
        self._syncing.discard(key)
        location = self._group.cache.get(STORAGE, key, BackupStorageLocation)
        bucket = self._storage.bucket(location.spec.object_storage.bucket) if location is not None else None
        if location is None or bucket is None or location.phase != "Available":
            return
        served = self._group.engine.storage.kind(BACKUP.name)
        present = self._group.engine.storage.object_store.kind_store(served).objects
        for name in sorted(bucket):
            if (self._namespace, name) not in present:
                self._client.create(BACKUP.name, _synced(bucket[name]))
        self._client.patch(STORAGE, key, {"status": {"lastSyncedTime": wire_time(self._group.now())}})


def _synced(body: Json) -> Json:
    kept = ("name", "namespace", "labels", "annotations")
    meta = {key: value for key, value in body["metadata"].items() if key in kept}
    return {"metadata": meta, "spec": body["spec"], "status": body["status"]}


def _period(text: str) -> timedelta:
    given = read_duration(text)
    return _MINUTE if given is None else given


def _due(text: str, at: datetime | None, now: datetime) -> bool:
    """True if a check is due. A period of zero switches it off; a second of tolerance covers a slightly early pass."""
    return _period(text) > _NOTHING and (at is None or now + timedelta(seconds=1) >= at)
