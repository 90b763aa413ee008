"""The volume info that the box keeps beside a backup: each claim of its namespaces, and what became of its data."""

from __future__ import annotations

import json
from collections.abc import Iterator

from foretop_core.models import Backup
from foretop_core.models.velero import BACKUP_LABEL
from foretop_core.rules.cron_dialects import Release
from foretop_demo.controllers.volume_policies import is_skipped
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json

_CLAIM_NAME = "velero.io/pvc-name"
_UNKNOWN = "volumeSnapshot: no applicable volumesnapshotter found;"
_BY_POLICY = "volumeSnapshot: matched action is 'skip' in chosen resource policies;"


def volume_info_text(storage: InProcessApi, backup: Backup, release: Release) -> str:
    """As many of those that nothing moved have a snapshot as the status counts."""
    moved = dict(_moved(storage, backup))
    snapshots = backup.status.volume_snapshots_completed
    told: list[Json] = []
    for namespace in (name for name in backup.spec.included_namespaces if name != "*"):
        for claim in storage.list(storage.kind("PersistentVolumeClaim"), namespace):
            name = claim["metadata"]["name"]
            entry: Json = {
                "pvcName": name,
                "pvcNamespace": namespace,
                "pvName": claim["spec"].get("volumeName", ""),
                "snapshotDataMoved": False,
                "skipped": False,
            }
            if (namespace, name) in moved:
                told.append({**entry, **moved[namespace, name]})
            elif is_skipped(storage, backup, release, claim):
                told.append({**entry, "skipped": True, "skippedReason": _BY_POLICY})
            elif snapshots:
                snapshots -= 1
                native = {"snapshotHandle": f"snap-{namespace}-{name}", "Phase": "Completed"}
                told.append(
                    {**entry, "backupMethod": "NativeSnapshot", "result": "succeeded", "nativeSnapshotInfo": native}
                )
            else:
                told.append({**entry, "skipped": True, "skippedReason": _UNKNOWN})
    return json.dumps(told)


def _moved(storage: InProcessApi, backup: Backup) -> Iterator[tuple[tuple[str, str], Json]]:
    """By namespace and claim, the entries of its PodVolumeBackups and DataUploads."""
    for kind in ("PodVolumeBackup", "DataUpload"):
        for body in storage.list(storage.kind(kind), backup.namespace):
            meta, spec, status = body["metadata"], body["spec"], body.get("status", {})
            if meta.get("labels", {}).get(BACKUP_LABEL) != backup.name:
                continue
            phase, size = status.get("phase", ""), status.get("progress", {}).get("totalBytes", 0)
            detail = {"phase": phase, "size": size}
            entry: Json = {"result": "succeeded" if phase == "Completed" else "failed"}
            if kind == "PodVolumeBackup":
                key = spec["pod"]["namespace"], meta.get("annotations", {}).get(_CLAIM_NAME, "")
                yield key, {**entry, "backupMethod": "PodVolumeBackup", "pvbInfo": detail}
            else:
                moved = {"backupMethod": "CSISnapshot", "snapshotDataMoved": True, "snapshotDataMovementInfo": detail}
                yield (spec["sourceNamespace"], spec["sourcePVC"]), {**entry, **moved}
