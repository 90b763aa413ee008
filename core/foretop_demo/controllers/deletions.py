"""Permanent deletion of backups: DeleteBackupRequests, and the collection of expired backups."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from foretop_core.models import Backup, BackupStorageLocation, DeleteBackupRequest, Resource, Restore
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, RESTORE, STORAGE
from foretop_core.models.velero import BACKUP_LABEL, GC_FAILURE_LABEL
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Process, ProcessGroup
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.variants import deletion_error
from foretop_demo.kinds import Json
from foretop_demo.reconcile.nab_delete import BACKUP_UID_LABEL

_HOP = timedelta(milliseconds=8)
_BRIEF = timedelta(milliseconds=40)
_KEPT = timedelta(hours=24)


class DeletionController:
    """Sets the backup Deleting, removes its data, then the objects; a request with errors is kept for a day."""

    def __init__(
        self, group: ProcessGroup, client: ControllerClient, namespace: str, storage: ObjectStorage, release: Release
    ) -> None:
        self._release = release
        self._group = group
        self._client = client
        self._namespace = namespace
        self._storage = storage
        group.listen(DELETE_REQUEST, self._on_change)

    def start(self) -> None:
        for request in self._group.cache.all(DELETE_REQUEST, DeleteBackupRequest):
            key = (request.namespace, request.name)
            if request.phase == "Processed":
                self._group.after(_KEPT, partial(self._drop, key))
            else:
                self._group.enqueue(self._process, key, _HOP)

    def collect_expired(self) -> None:
        """The hourly pass: a delete request for every expired backup, or a label with the reason why not."""
        now = self._group.now()
        for backup in self._group.cache.all(BACKUP, Backup):
            expires = backup.status.expiration
            if backup.namespace != self._namespace or expires is None or expires > now or backup.phase == "Deleting":
                continue
            if backup.phase not in HOLDS_SLOT:
                self._collect(backup)

    def _collect(self, backup: Backup) -> None:
        key = (backup.namespace, backup.name)
        location = self._group.cache.get(STORAGE, (key[0], backup.spec.storage_location), BackupStorageLocation)
        reason = "BSLNotFound" if location is None else "BSLReadOnly" if location.spec.access_mode == "ReadOnly" else ""
        if reason != backup.label(GC_FAILURE_LABEL):
            self._client.patch(BACKUP, key, {"metadata": {"labels": {GC_FAILURE_LABEL: reason or None}}})
        if location is None or reason or location.phase == "Unavailable":
            return
        pending = self._group.cache.under(DELETE_REQUEST, "backup", backup.name, DeleteBackupRequest)
        if any(request.phase != "Processed" for request in pending):
            return
        labels = {BACKUP_LABEL: backup.name, BACKUP_UID_LABEL: backup.metadata.uid}
        meta = {"generateName": f"{backup.name}-", "namespace": backup.namespace, "labels": labels}
        self._client.create(DELETE_REQUEST.name, {"metadata": meta, "spec": {"backupName": backup.name}, "status": {}})

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if old is None and key[0] == self._namespace:
            self._group.enqueue(self._process, key, _HOP)

    def _process(self, key: Key) -> None:
        request = self._group.cache.get(DELETE_REQUEST, key, DeleteBackupRequest)
        if request is None or request.phase == "Processed":
            return
        backup = self._group.cache.get(BACKUP, (key[0], request.spec.backup_name), Backup)
        refused = self._refusal(request, backup)
        if refused or backup is None:
            errors = [deletion_error(self._release, refused)]
            self._client.patch(DELETE_REQUEST, key, {"status": {"phase": "Processed", "errors": errors}})
            self._group.after(_KEPT, partial(self._drop, key))
            return
        self._client.patch(DELETE_REQUEST, key, {"status": {"phase": "InProgress"}})
        self._group.start(self._delete(key, (backup.namespace, backup.name)))

    def _refusal(self, request: DeleteBackupRequest, backup: Backup | None) -> str:
        if not request.spec.backup_name:
            return "spec.backupName is required"
        if backup is None:
            return "backup not found"
        if backup.phase == "InProgress":
            return "backup is still in progress"
        location = self._group.cache.get(
            STORAGE, (backup.namespace, backup.spec.storage_location), BackupStorageLocation
        )
        if location is None:
            return f"backup storage location {backup.spec.storage_location} not found"
        where = f"cannot delete backup because backup storage location {location.name} is currently"
        if location.spec.access_mode == "ReadOnly":
            return f"{where} in read-only mode"
        if location.phase == "Unavailable":
            return f"{where} in Unavailable state"
        return ""

    def _delete(self, request: Key, backup: Key) -> Process:
        yield _HOP
        found = self._group.cache.get(BACKUP, backup, Backup)
        if found is not None:
            self._client.patch(BACKUP, backup, {"status": {"phase": "Deleting"}})
            yield _BRIEF
            yield self._storage
            if self._storage.removal_takes:
                yield self._storage.removal_takes
            self._empty(found)
            for restore in self._group.cache.under(RESTORE, "backup", "/".join(backup), Restore):
                self._client.delete(RESTORE.name, (restore.namespace, restore.name))
            self._client.delete(BACKUP.name, backup)
        yield _HOP
        done: Json = {"status": {"phase": "Processed"}}
        self._client.patch(DELETE_REQUEST, request, done)
        yield _HOP
        self._drop(request)

    def _empty(self, backup: Backup) -> None:
        location = self._group.cache.get(
            STORAGE, (backup.namespace, backup.spec.storage_location), BackupStorageLocation
        )
        bucket = self._storage.bucket(location.spec.object_storage.bucket) if location is not None else None
        if bucket is not None:
            bucket.pop(backup.name, None)

    def _drop(self, key: Key) -> None:
        self._client.delete(DELETE_REQUEST.name, key)
