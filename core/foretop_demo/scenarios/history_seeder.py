"""Objects with a history, as a cluster that has run for a while has them when the scenario starts."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from random import Random

from foretop_core.models.nonadmin import (
    NAB_FINALIZER,
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAB_UUID_LABEL,
    NAR_FINALIZER,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
    NAR_UUID_LABEL,
)
from foretop_core.models.velero import SCHEDULE_LABEL, STORAGE_LABEL
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.restores import FINALIZER as RESTORE_FINALIZER
from foretop_demo.controllers.simulated_runs import SimulatedRun
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.reconcile.naming import nacuuid
from foretop_demo.reconcile.writes import wire_time

_DAY = timedelta(days=1)
_MANAGED_LABELS = {"openshift.io/oadp": "True", "app.kubernetes.io/managed-by": "oadp-nac-controller"}


class HistorySeeder:
    """Stores objects as their controllers left them, with their own dates, owners and status."""

    def __init__(self, storage: InProcessApi, buckets: ObjectStorage, seed: int) -> None:
        self._storage = storage
        self._buckets = buckets
        self._random = Random(f"{seed}/past")

    def uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def put(self, kind: str, body: Json, created: datetime) -> Json:
        """Store an object as it is in a cluster: identity and creation time are filled in, the rest is as given."""
        served = self._storage.kind(kind)
        meta = {"uid": self.uuid(), "creationTimestamp": wire_time(created), **body["metadata"]}
        if served.tracks_generation:
            meta["generation"] = meta.get("generation", 1)
        whole = {"apiVersion": served.api_version, "kind": served.kind, **body, "metadata": meta}
        key = (meta.get("namespace", ""), meta["name"])
        return self._storage.object_store.put(served, key, whole).body

    def backup(
        self,
        namespace: str,
        name: str,
        started: datetime,
        work: SimulatedRun,
        spec: Json,
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        ttl: timedelta = 30 * _DAY,
        bucket: str = "backups",
        asked: datetime | None = None,
    ) -> Json:
        """A backup that has ended, in the cluster and in its bucket; it waited from `asked` on, where that is given."""
        location = spec.get("storageLocation", "default")
        phase = "Failed" if work.failure else "PartiallyFailed" if work.errors else "Completed"
        done = work.items // 3 if work.failure else work.items
        status: Json = {
            "completionTimestamp": wire_time(started + work.duration),
            "expiration": wire_time(started + ttl),
            "formatVersion": "1.1.0",
            "hookStatus": {},
            "phase": phase,
            "progress": {"itemsBackedUp": done, "totalItems": work.items},
            "startTimestamp": wire_time(started),
            "version": 1,
        }
        reported = {"errors": work.errors, "warnings": work.warnings, "failureReason": work.failure}
        status |= {key: value for key, value in reported.items() if value}
        meta: Json = {"name": name, "namespace": namespace, "labels": {STORAGE_LABEL: location, **(labels or {})}}
        if annotations:
            meta["annotations"] = annotations
        full = {"ttl": f"{int(ttl.total_seconds() // 3600)}h0m0s", **spec, "storageLocation": location}
        body = self.put("Backup", {"metadata": meta, "spec": full, "status": status}, asked or started)
        self._buckets.make(bucket)[name] = body
        return body

    def scheduled_backup(
        self, namespace: str, schedule: str, started: datetime, work: SimulatedRun, spec: Json, ttl: timedelta
    ) -> Json:
        name = f"{schedule}-{started:%Y%m%d%H%M%S}"
        return self.backup(namespace, name, started, work, spec, {SCHEDULE_LABEL: schedule}, ttl=ttl)

    def nab(
        self,
        home: str,
        namespace: str,
        name: str,
        started: datetime,
        work: SimulatedRun,
        asked: datetime | None = None,
    ) -> Json:
        """A NAB whose Velero Backup has ended, in the state in which the controllers leave both."""
        uid = nacuuid(namespace, name, self.uuid())
        spec = {"includedNamespaces": [namespace]}
        labels = {NAB_UUID_LABEL: uid, **_MANAGED_LABELS}
        notes = {NAB_NAME_ANNOTATION: name, NAB_NAMESPACE_ANNOTATION: namespace}
        backup = self.backup(home, uid, started, work, spec, labels, notes, asked=asked)
        made = asked or started
        at = wire_time(made)
        status: Json = {
            "phase": "Created",
            "conditions": [
                condition("Accepted", "BackupAccepted", "backup accepted", at),
                condition("Queued", "BackupScheduled", "Created Velero Backup object", at),
            ],
            "queueInfo": {"estimatedQueuePosition": 0},
            "veleroBackup": {"nacuuid": uid, "name": uid, "namespace": home, "status": backup["status"]},
            "dataMoverDataUploads": {},
            "fileSystemPodVolumeBackups": {},
        }
        meta: Json = {"name": name, "namespace": namespace, "finalizers": [NAB_FINALIZER], "generation": 2}
        return self.put("NonAdminBackup", {"metadata": meta, "spec": {"backupSpec": {}}, "status": status}, made)

    def nar(self, home: str, nab: Json, name: str, started: datetime, work: SimulatedRun) -> Json:
        """A NAR of a NAB whose Velero Restore has ended."""
        namespace = nab["metadata"]["namespace"]
        uid = nacuuid(namespace, name, self.uuid())
        ended: Json = {
            "phase": "PartiallyFailed" if work.errors else "Completed",
            "startTimestamp": wire_time(started),
            "completionTimestamp": wire_time(started + work.duration),
            "progress": {"itemsRestored": work.items, "totalItems": work.items},
            **({"errors": work.errors} if work.errors else {}),
        }
        meta: Json = {
            "name": uid,
            "namespace": home,
            "labels": {NAR_UUID_LABEL: uid, **_MANAGED_LABELS},
            "annotations": {NAR_NAME_ANNOTATION: name, NAR_NAMESPACE_ANNOTATION: namespace},
            "finalizers": [RESTORE_FINALIZER],
        }
        spec = {"backupName": nab["status"]["veleroBackup"]["name"], "includedNamespaces": [namespace]}
        self.put("Restore", {"metadata": meta, "spec": spec, "status": ended}, started)
        at = wire_time(started)
        status: Json = {
            "phase": "Created",
            "conditions": [
                condition("Accepted", "RestoreAccepted", "restore accepted", at),
                condition("Queued", "RestoreScheduled", "Created Velero Restore object", at),
            ],
            "queueInfo": {"estimatedQueuePosition": 0},
            "veleroRestore": {"nacuuid": uid, "name": uid, "namespace": home, "status": ended},
            "dataMoverDataDownloads": {},
            "fileSystemPodVolumeRestores": {},
        }
        own: Json = {"name": name, "namespace": namespace, "finalizers": [NAR_FINALIZER], "generation": 2}
        asked = {"restoreSpec": {"backupName": nab["metadata"]["name"]}}
        return self.put("NonAdminRestore", {"metadata": own, "spec": asked, "status": status}, started)


def condition(kind: str, reason: str, message: str, at: str, status: str = "True") -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}
