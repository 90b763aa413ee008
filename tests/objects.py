"""Small objects for tests, given as the API would write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from foretop_core.models import (
    Backup,
    BackupStorageLocation,
    DataUpload,
    NonAdminBackup,
    NonAdminRestore,
    Restore,
    Schedule,
    from_builtins,
)

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)


def at(text: str) -> datetime:
    """`02:30` or `02:30:15` on the day of NOW, or a whole RFC 3339 time."""
    return datetime.fromisoformat(text if "T" in text else f"2026-11-15T{text}Z").astimezone(UTC)


def _meta(name: str, namespace: str, created: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": at(created).isoformat() if created else None,
        **more,
    }


def schedule(
    name: str = "nightly",
    cron: str = "0 2 * * *",
    *,
    created: str = "2026-11-01T00:00:00Z",
    last: str = "",
    skipped: str = "",
    paused: bool = False,
    skip: bool | None = None,
    phase: str = "Enabled",
    template: dict[str, Any] | None = None,
    **meta: Any,
) -> Schedule:
    return from_builtins(
        Schedule,
        {
            "metadata": _meta(name, "velero", created, **meta),
            "spec": {"schedule": cron, "paused": paused, "skipImmediately": skip, "template": template or {}},
            "status": {
                "phase": phase,
                "lastBackup": at(last).isoformat() if last else None,
                "lastSkipped": at(skipped).isoformat() if skipped else None,
            },
        },
    )


def backup(
    name: str = "one",
    phase: str = "Completed",
    *,
    created: str = "02:00:03",
    started: str = "",
    ended: str = "",
    of: str = "",
    spec: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **status: Any,
) -> Backup:
    marks = {**({"velero.io/schedule-name": of} if of else {}), **(labels or {})}
    return from_builtins(
        Backup,
        {
            "metadata": _meta(name, "velero", created, labels=marks, annotations=annotations or {}),
            "spec": spec or {},
            "status": {
                "phase": phase or None,
                "startTimestamp": at(started).isoformat() if started else None,
                "completionTimestamp": at(ended).isoformat() if ended else None,
                **status,
            },
        },
    )


def restore(
    name: str = "back",
    phase: str = "Completed",
    *,
    created: str = "02:00:03",
    meta: dict[str, Any] | None = None,
    **status: Any,
) -> Restore:
    return from_builtins(
        Restore,
        {
            "metadata": {**_meta(name, "velero", created), **(meta or {})},
            "status": {"phase": phase or None, **status},
        },
    )


def location(
    name: str = "default",
    phase: str = "Available",
    *,
    checked: str = "02:41:03",
    synced: str = "02:41:03",
    spec: dict[str, Any] | None = None,
    **status: Any,
) -> BackupStorageLocation:
    return from_builtins(
        BackupStorageLocation,
        {
            "metadata": _meta(name, "velero", "2026-11-01T00:00:00Z"),
            "spec": {"default": name == "default", **(spec or {})},
            "status": {
                "phase": phase,
                "lastValidationTime": at(checked).isoformat() if checked else None,
                "lastSyncedTime": at(synced).isoformat() if synced else None,
                **status,
            },
        },
    )


def upload(
    name: str = "up", phase: str = "Accepted", *, of: str = "one", created: str = "02:00:03", **status: Any
) -> DataUpload:
    return from_builtins(
        DataUpload,
        {
            "metadata": _meta(name, "velero", created, labels={"velero.io/backup-name": of}),
            "spec": {"sourcePVC": "data-0", "sourceNamespace": "team-a"},
            "status": {"phase": phase, **status},
        },
    )


def nab(
    name: str = "orders",
    phase: str = "Created",
    *,
    created: str = "02:00:00",
    spec: dict[str, Any] | None = None,
    deleted: str = "",
    **status: Any,
) -> NonAdminBackup:
    meta = _meta(name, "team-a", created, deletionTimestamp=at(deleted).isoformat() if deleted else None)
    return from_builtins(
        NonAdminBackup, {"metadata": meta, "spec": spec or {}, "status": {"phase": phase or None, **status}}
    )


def nar(
    name: str = "orders-back", phase: str = "Created", *, created: str = "02:00:00", **status: Any
) -> NonAdminRestore:
    return from_builtins(
        NonAdminRestore, {"metadata": _meta(name, "team-a", created), "status": {"phase": phase or None, **status}}
    )


def condition(kind: str, status: str, reason: str, message: str = "", since: str = "02:00:01") -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": at(since).isoformat(),
    }
