"""Namespaces in every state of protection: covered, late, partial, expiring, out of reach, not covered, deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from foretop_core.models.velero import BACKUP_LABEL
from foretop_demo.controllers.simulated_runs import GIGABYTE, SimulatedRun, VolumeTransfer
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_EXISTING = (
    "shop",
    "orders",
    "ledger",
    "media",
    "metrics",
    "wiki",
    "scratch",
    "team-pay",
    "fresh",
    "crm",
    "crm-archive",
    "vault",
    "bank",
    "files",
    "stateful",
)
_WORK = SimulatedRun(timedelta(seconds=40), 120)


def set_up(builder: ScenarioBuilder) -> None:
    """The namespace `legacy` was deleted; its schedule and its copies are still there."""
    builder.namespace(HOME, "kube-system", "default", *_EXISTING)
    builder.location()
    builder.location("offsite", "offsite-eu-west", there=False)
    server = builder.velero()
    at = builder.start + 5 * _HOUR
    daily = f"{at.minute} {at.hour} * * *"
    builder.schedule("shop-daily", daily, ["shop", "default"], runs=7)
    builder.schedule(
        "ledger-hourly", f"{(at.minute + 20) % 60} * * * *", ["ledger"], ttl=2 * _DAY, outcomes="PPPPPPPPPP"
    )
    builder.schedule("wiki-daily", daily, ["wiki"], runs=4, paused_since=builder.start - 2 * _HOUR)
    builder.schedule("legacy-daily", daily, ["legacy"], runs=5)
    builder.delete("Namespace", "", "legacy")
    builder.schedule("offsite-media", daily, ["media"], runs=3, location="offsite")
    builder.schedule("metrics-daily", daily, ["metrics"], runs=0, paused_since=builder.start - 20 * _DAY)
    builder.schedule("crm-daily", daily, ["crm"], runs=5)
    builder.patch("Schedule", HOME, "crm-daily", {"spec": {"template": {"includedNamespaces": ["crm", "crm-archive"]}}})
    builder.schedule("vault-daily", daily, ["vault"], runs=5)
    policy = {"resourcePolicy": {"kind": "configmap", "name": "volumes-by-class"}}
    builder.patch("Schedule", HOME, "vault-daily", {"spec": {"template": policy}})
    _with_volumes(builder, daily, "bank", ("accounts", "journal"), "Completed", "Completed")
    _with_volumes(builder, daily, "files", ("inbox", "archive", "cache"), "Completed", "", "Completed")
    _with_volumes(builder, daily, "stateful", ("data-0", "data-1"))
    _lone_backup(builder, "metrics-by-hand", "metrics", builder.now - 29 * _DAY - 20 * _HOUR)
    _part_of_orders(builder, daily)
    builder.past_nab("team-pay", "before-release", builder.now - 5 * _HOUR)
    builder.create("Schedule", HOME, "fresh-daily", {"schedule": daily, "template": {"includedNamespaces": ["fresh"]}})
    _repository(builder, "shop", "Ready", builder.now - 3 * _HOUR)
    _repository(builder, "ledger", "NotReady", builder.now - 4 * _DAY)
    for schedule, claims in (("bank-daily", ("accounts", "journal")), ("files-daily", ("inbox", "cache"))):
        moves = tuple(VolumeTransfer("PodVolumeBackup", claim, 40, minutes=1) for claim in claims)
        builder.work[schedule] = msgspec.structs.replace(_WORK, moves=moves)
    # As long as that is so, its volumes are not backed up.
    builder.work["ledger-hourly"] = msgspec.structs.replace(_WORK, errors=3)
    server.start()
    builder.non_admin().start()


def _lone_backup(builder: ScenarioBuilder, name: str, namespace: str, started: datetime) -> None:
    spec: Json = {"includedNamespaces": [namespace]}
    builder.history.backup(HOME, name, started, _WORK, spec)


def _with_volumes(builder: ScenarioBuilder, cron: str, namespace: str, claims: tuple[str, ...], *ended: str) -> None:
    """A namespace with claims, and a schedule whose copy has some of them as files, or none."""
    name, started = f"{namespace}-daily", builder.now - _DAY + 5 * _HOUR
    template: Json = {"includedNamespaces": [namespace], "defaultVolumesToFsBackup": bool(ended)}
    copy = builder.history.scheduled_backup(HOME, name, started, _WORK, template, 30 * _DAY)["metadata"]["name"]
    body: Json = {
        "metadata": {"name": name, "namespace": HOME},
        "spec": {"schedule": cron, "template": template, "skipImmediately": False},
        "status": {"phase": "Enabled", "lastBackup": wire_time(started)},
    }
    builder.history.put("Schedule", body, builder.start - 40 * _DAY)
    for claim in claims:
        meta = {"name": claim, "namespace": namespace}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "volumeName": f"pv-{namespace}-{claim}"}
        bound: Json = {"metadata": meta, "spec": spec, "status": {"phase": "Bound"}}
        builder.history.put("PersistentVolumeClaim", bound, builder.start - 40 * _DAY)
    for claim, phase in zip(claims, ended, strict=False):
        if phase:
            _file_copy(builder, copy, namespace, claim, phase, started)


def _file_copy(
    builder: ScenarioBuilder, backup: str, namespace: str, claim: str, phase: str, started: datetime
) -> None:
    size = 40 * GIGABYTE
    body: Json = {
        "metadata": {
            "name": f"{backup}-{claim}",
            "namespace": HOME,
            "labels": {BACKUP_LABEL: backup},
            "annotations": {"velero.io/pvc-name": claim},
        },
        "spec": {
            "backupStorageLocation": "default",
            "node": "worker-1",
            "pod": {"kind": "Pod", "name": f"{claim}-0", "namespace": namespace},
            "repoIdentifier": f"s3:backups/kopia/{namespace}",
            "uploaderType": "kopia",
            "volume": claim,
        },
        "status": {
            "phase": phase,
            "startTimestamp": wire_time(started),
            "completionTimestamp": wire_time(started + _WORK.duration),
            "progress": {"bytesDone": size, "totalBytes": size},
        },
    }
    builder.history.put("PodVolumeBackup", body, started)


def _part_of_orders(builder: ScenarioBuilder, cron: str) -> None:
    """A schedule that takes only the pods and claims of one application."""
    part: Json = {
        "includedNamespaces": ["orders"],
        "includedResources": ["pods", "persistentvolumeclaims"],
        "labelSelector": {"matchLabels": {"app": "orders"}},
        "defaultVolumesToFsBackup": True,
    }
    for days in (1, 2):
        started = builder.now - days * _DAY + 5 * _HOUR
        builder.history.scheduled_backup(HOME, "orders-data", started, _WORK, part, 30 * _DAY)
    last = wire_time(builder.now - _DAY + 5 * _HOUR)
    body: Json = {
        "metadata": {"name": "orders-data", "namespace": HOME},
        "spec": {"schedule": cron, "template": part, "skipImmediately": False},
        "status": {"phase": "Enabled", "lastBackup": last},
    }
    builder.history.put("Schedule", body, builder.start - 40 * _DAY)


def _repository(builder: ScenarioBuilder, namespace: str, phase: str, maintained: datetime) -> None:
    body: Json = {
        "metadata": {"name": f"{namespace}-default-kopia", "namespace": HOME},
        "spec": {
            "volumeNamespace": namespace,
            "backupStorageLocation": "default",
            "repositoryType": "kopia",
            "maintenanceFrequency": "1h0m0s",
            "resticIdentifier": "",
        },
        "status": {"phase": phase, "lastMaintenanceTime": wire_time(maintained)},
    }
    builder.history.put("BackupRepository", body, builder.start - 40 * _DAY)
