"""Copies that hold all volumes of a namespace, some, or none, by all that may tell of it; and what grew and shrank."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from foretop_core.models.velero import BACKUP_LABEL, EXCLUDE_LABEL, SCHEDULE_LABEL
from foretop_demo.controllers.simulated_runs import GIGABYTE, SimulatedRun, VolumeTransfer
from foretop_demo.kinds import Json
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_DAY = timedelta(days=1)
_SINCE_LAST_NIGHT = timedelta(hours=9)
_WORK = SimulatedRun(timedelta(seconds=50), 240)
_EBS: Json = {"awsElasticBlockStore": {"volumeID": "vol-0a1b2c"}}
_NFS: Json = {"nfs": {"server": "10.0.0.9", "path": "/exports"}}


class _Claim(msgspec.Struct, frozen=True):
    """One claim: what its volume is, and its gigabytes in the copies of the last nights, the newest last."""

    name: str
    nights: tuple[float, ...] = ()
    """Of as many nights as it was copied in."""
    is_nfs: bool = False
    is_excluded: bool = False


_COPIED = {
    "team-pay": (_Claim("postgres-data", (80, 84, 96)), _Claim("postgres-wal", (12, 12, 12))),
    "shop": (_Claim("orders", (40, 41, 42)), _Claim("pictures", is_nfs=True)),
    "metrics": (_Claim("series-0", (210, 214, 80)), _Claim("series-1", (60, 60))),
    "wiki": (_Claim("pages", (3, 3, 3)), _Claim("cache", is_excluded=True)),
    "blog": (_Claim("posts", is_nfs=True),),
}
"""By namespace, what its nightly backup copies as files."""
_SNAPSHOTS = {"reports": (2, 2), "archive": (3, 2)}
"""By namespace, how many claims it has, and how many snapshots its backup counts."""


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, "kube-system", "default", "scratch")
    builder.location()
    server = builder.velero(concurrent=2)
    at = builder.start - _SINCE_LAST_NIGHT
    cron = f"{at.minute} {at.hour} * * *"
    for namespace, claims in _COPIED.items():
        _nightly(builder, namespace, cron, {"defaultVolumesToFsBackup": True})
        for claim in claims:
            _claim(builder, namespace, claim)
        _pod(builder, namespace, [claim.name for claim in claims if claim.nights])
        for number, backup in enumerate(_copies(builder, namespace)):
            for claim in claims:
                if number < len(claim.nights):
                    _file_copy(builder, backup, namespace, claim.name, claim.nights[number])
        moves = tuple(
            VolumeTransfer("PodVolumeBackup", claim.name, claim.nights[-1], minutes=2)
            for claim in claims
            if claim.nights
        )
        builder.work[f"{namespace}-nightly"] = msgspec.structs.replace(_WORK, moves=moves)
    for namespace, (claimed, taken) in _SNAPSHOTS.items():
        _nightly(builder, namespace, cron, {})
        for number in range(claimed):
            _claim(builder, namespace, _Claim(f"data-{number}"))
        counts = {"volumeSnapshotsAttempted": taken, "volumeSnapshotsCompleted": taken}
        for backup in _copies(builder, namespace):
            builder.set_status("Backup", HOME, backup["metadata"]["name"], {**backup["status"], **counts})
    _claim(builder, "scratch", _Claim("drafts", is_nfs=True))
    server.start()


def _nightly(builder: ScenarioBuilder, namespace: str, cron: str, template: Json) -> None:
    name = f"{namespace}-nightly"
    builder.work[name] = _WORK
    builder.schedule(name, cron, [namespace], runs=3)
    if template:
        builder.patch("Schedule", HOME, name, {"spec": {"template": template}})


def _copies(builder: ScenarioBuilder, namespace: str) -> list[Json]:
    """Its past backups, the oldest first."""
    held = builder.engine.storage.list(builder.engine.storage.kind("Backup"), HOME)
    mine = [one for one in held if one["metadata"]["labels"].get(SCHEDULE_LABEL) == f"{namespace}-nightly"]
    return sorted(mine, key=lambda one: str(one["metadata"]["name"]))


def _claim(builder: ScenarioBuilder, namespace: str, claim: _Claim) -> None:
    made, volume = builder.start - 40 * _DAY, f"pv-{namespace}-{claim.name}"
    meta: Json = {"name": claim.name, "namespace": namespace}
    if claim.is_excluded:
        meta["labels"] = {EXCLUDE_LABEL: "true"}
    spec: Json = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeName": volume}
    builder.history.put("PersistentVolumeClaim", {"metadata": meta, "spec": spec, "status": {"phase": "Bound"}}, made)
    source: Json = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "500Gi"},
        "claimRef": {"namespace": namespace, "name": claim.name},
        "storageClassName": "fast",
        **(_NFS if claim.is_nfs else _EBS),
    }
    builder.history.put(
        "PersistentVolume", {"metadata": {"name": volume}, "spec": source, "status": {"phase": "Bound"}}, made
    )


def _pod(builder: ScenarioBuilder, namespace: str, claims: list[str]) -> None:
    """A pod that runs with these claims: Velero copies the files of no other volume."""
    body: Json = {
        "metadata": {"name": f"{namespace}-0", "namespace": namespace},
        "spec": {
            "nodeName": "worker-1",
            "containers": [
                {
                    "name": "app",
                    "image": "app:1",
                    "volumeMounts": [{"name": name, "mountPath": f"/{name}"} for name in claims],
                }
            ],
            "volumes": [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims],
        },
        "status": {"phase": "Running"},
    }
    builder.history.put("Pod", body, builder.start - 40 * _DAY)


def _file_copy(builder: ScenarioBuilder, backup: Json, namespace: str, claim: str, gigabytes: float) -> None:
    name, status = backup["metadata"]["name"], backup["status"]
    size = round(gigabytes * GIGABYTE)
    body: Json = {
        "metadata": {
            "name": f"{name}-{claim}",
            "namespace": HOME,
            "creationTimestamp": status["startTimestamp"],
            "labels": {BACKUP_LABEL: name},
            "annotations": {"velero.io/pvc-name": claim},
        },
        "spec": {
            "backupStorageLocation": "default",
            "node": "worker-1",
            "pod": {"kind": "Pod", "name": f"{namespace}-0", "namespace": namespace},
            "repoIdentifier": f"s3:backups/kopia/{namespace}",
            "uploaderType": "kopia",
            "volume": claim,
        },
        "status": {
            "phase": "Completed",
            "startTimestamp": status["startTimestamp"],
            "completionTimestamp": status["completionTimestamp"],
            "progress": {"bytesDone": size, "totalBytes": size},
        },
    }
    builder.history.put("PodVolumeBackup", body, builder.now - _SINCE_LAST_NIGHT)
