"""Findings about the storage locations and the life of the Velero server itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.models import Backup
from foretop_core.models.velero import GC_FAILURE_LABEL
from foretop_core.rules import humanize
from foretop_core.rules.durations import read_duration
from foretop_core.rules.heartbeat import PERIOD, last_start
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import QUEUE, Finding, Severity, Subject, Thresholds

_GC_FAILURES = {
    "BSLNotFound": "its storage location is gone",
    "BSLCannotGet": "its storage location could not be read",
    "BSLReadOnly": "its storage location is read-only",
}


def unavailable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        if location.phase != "Unavailable":
            continue
        message = (location.status.message or "Velero gives no reason").rstrip(".")
        default = ", the default" if location.spec.default else ""
        yield Finding(
            "storage-unavailable",
            Severity.ERROR,
            Subject.of(location),
            snapshot.seen.phase_since.get(("BackupStorageLocation", location.namespace, location.name))
            or location.status.last_synced_time
            or location.created,
            f"unavailable: {message.rpartition(': ')[2]}",
            f"Velero cannot use this location{default}: {message}. Backups to it are refused and its expired "
            "backups stay.",
            "Mend bucket, credentials or network; Velero checks again by itself within a minute.",
        )


def silent_servers(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for namespace, beat in snapshot.heartbeats.items():
        silence = beat.silent_for(now)
        if silence is None or beat.pulse is None:
            continue
        newest = max(
            (
                schedule.status.last_backup
                for schedule in snapshot.schedules
                if schedule.namespace == namespace and schedule.status.last_backup
            ),
            default=None,
        )
        alive = newest is not None and newest > beat.pulse
        what = "storage hangs" if alive else "server down or storage hanging"
        also = (
            f" It still made a backup at {humanize.time(newest, now)}, so the server runs: backups and restores stand "
            "still until the storage answers."
            if alive and newest
            else " Until it is back, nothing is backed up or restored."
        )
        yield Finding(
            "velero-no-pulse",
            Severity.ERROR,
            Subject(QUEUE, namespace, ""),
            beat.pulse,
            f"no pulse of Velero: {what}",
            f"Velero checks its storage every {humanize.interval(beat.period or PERIOD)} and last did so at "
            f"{humanize.time(beat.pulse, now)}.{also}",
            f"Look at the Velero pod in {namespace} and its log, and at the object storage.",
        )


def restarted_servers(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for namespace in snapshot.velero_namespaces:
        backups = snapshot.backups_by_namespace.get(namespace, ())
        traces = (last_start(backups), snapshot.seen.restarted.get(namespace))
        at = max((trace for trace in traces if trace is not None), default=None)
        if at is None or now - at > limits.recent_restart:
            continue
        recent = [backup for backup in backups if last_start((backup,)) == at]
        lost = f" {humanize.join([backup.name for backup in recent])} was running and is Failed." if recent else ""
        yield Finding(
            "velero-restarted",
            Severity.NOTE,
            Subject(QUEUE, namespace, ""),
            at,
            "Velero has restarted",
            f"It came up again at {humanize.time(at, now)}.{lost} Queued backups go on, due schedules start at once.",
            "Run again what was lost; if it happens again, look at why the pod restarts (memory, eviction).",
            tuple(Subject.of(backup) for backup in recent),
        )


def unsynced_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        given = read_duration(location.spec.backup_sync_period)
        period = PERIOD if given is None else given
        synced = location.status.last_synced_time or location.created
        if not period or location.phase != "Available" or synced is None:
            continue
        if now - synced <= limits.not_synced_periods * max(period, PERIOD):
            continue
        yield Finding(
            "storage-not-synced",
            Severity.WARNING,
            Subject.of(location),
            synced,
            f"not synced for {humanize.duration(now - synced)}",
            f"Velero reads the bucket every {humanize.interval(period)}, and last did so at "
            f"{humanize.time(synced, now)}.",
            "Look at the Velero log for what the sync stumbles over; backups of other clusters are missing here.",
        )


def unusable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules that write to a location that is read-only or not there."""
    seen_storage = bool(snapshot.storage) or not any(gap.kind == "BackupStorageLocation" for gap in snapshot.unseen)
    for schedule in snapshot.schedules:
        name = schedule.spec.template.storage_location
        location = snapshot.location(schedule.namespace, name)
        if location is None and name and seen_storage:
            what, why = f"storage location {name} does not exist", "no such location is in its namespace"
            code = "schedule-location-missing"
        elif location is not None and location.spec.access_mode == "ReadOnly":
            what, why = f"writes to {location.name}, which is read-only", "its access mode is ReadOnly"
            code = "schedule-location-read-only"
        else:
            continue
        yield Finding(
            code,
            Severity.ERROR,
            Subject.of(schedule),
            None,
            what,
            f"Every backup of {schedule.name} is refused: {why}.",
            "Give spec.template.storageLocation a location that can be written to, or make this one writable.",
            (Subject.of(location),) if location else (),
        )


def expired_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for backup in snapshot.backups:
        expiry = backup.status.expiration
        if expiry is None or now - expiry <= limits.expired or backup.phase == "Deleting":
            continue
        yield Finding(
            "backup-expired",
            Severity.WARNING,
            Subject.of(backup),
            expiry,
            f"expired {humanize.duration(now - expiry)} ago and still there",
            f"It expired at {humanize.time(expiry, now)} and Velero has not collected it: "
            f"{_why_kept(snapshot, backup)}.",
            "Mend the location, and Velero collects it at its next hourly round; or delete it yourself.",
            blames=_location_of(snapshot, backup),
        )


def _location_of(snapshot: ClusterSnapshot, backup: Backup) -> Subject | None:
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    return Subject.of(location) if location is not None else None


def _why_kept(snapshot: ClusterSnapshot, backup: Backup) -> str:
    if label := backup.label(GC_FAILURE_LABEL):
        return _GC_FAILURES.get(label, label)
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None:
        return "its storage location is gone"
    if location.phase == "Unavailable":
        return f"its storage location {location.name} is unavailable"
    if location.spec.access_mode == "ReadOnly":
        return f"its storage location {location.name} is read-only"
    failed = [
        request
        for request in snapshot.delete_requests
        if request.spec.backup_name == backup.name and request.status.errors
    ]
    return f"deleting it failed ({failed[0].status.errors[0]})" if failed else "no reason can be seen"
