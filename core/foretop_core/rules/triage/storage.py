"""Findings about storage locations, and about backups that outlive their time in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from foretop_core.models import Backup
from foretop_core.models.velero import GC_FAILURE_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import StorageFacts
from foretop_core.rules.heartbeat import PERIOD
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.repository_readiness import unready_repository
from foretop_core.rules.sentences import sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds

_GC_FAILURES = {
    "BSLNotFound": "its storage location no longer exists",
    "BSLCannotGet": "its storage location could not be read",
    "BSLReadOnly": "its storage location is read-only",
}


def unavailable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        facts = StorageFacts(location, now, snapshot, limits.not_synced_periods)
        if location.phase != "Unavailable" or facts.severity is None:
            continue
        message = (location.status.message or "Velero gives no reason").rstrip(".")
        default = ", the default" if location.spec.default else ""
        yield Finding(
            "storage-unavailable",
            facts.severity,
            snapshot.ref(location),
            snapshot.seen.phase_since.get(snapshot.ref(location))
            or location.status.last_synced_time
            or location.created,
            f"unavailable: {message.rpartition(': ')[2]}",
            f"Velero cannot use this location{default}: {message}. Backups to it are refused and its expired "
            f"backups stay. {_written_by(facts.schedules)}",
            "Fix bucket, credentials or network; Velero checks again automatically within a minute.",
        )


def _written_by(schedules: Sequence[str]) -> str:
    if not schedules:
        return "No schedule writes to it."
    verb = "writes" if len(schedules) == 1 else "write"
    return f"{humanize.count(len(schedules), 'schedule')} {verb} to it: {humanize.join(list(schedules))}."


def unsynced_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        facts = StorageFacts(location, now, snapshot, limits.not_synced_periods)
        if facts.unsynced is None or facts.severity is None:
            continue
        period, synced = read_duration(location.spec.backup_sync_period) or PERIOD, now - facts.unsynced
        yield Finding(
            "storage-not-synced",
            facts.severity,
            snapshot.ref(location),
            synced,
            sentence("not synced for ", facts.unsynced),
            sentence(f"Velero reads the bucket every {humanize.interval(period)}, and last did so at ", synced, "."),
            "Check the Velero log for sync errors; backups of other clusters are missing here.",
        )


def unusable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules that write to a location that is read-only or not there."""
    seen_storage = bool(snapshot.storage) or not any(gap.kind == "BackupStorageLocation" for gap in snapshot.unseen)
    for schedule in snapshot.schedules:
        name = schedule.spec.template.storage_location
        location = snapshot.location(schedule.namespace, name)
        if location is None and name and seen_storage:
            what, why = f"storage location {name} does not exist", "its namespace has no such location"
            code = "schedule-location-missing"
        elif location is not None and location.spec.access_mode == "ReadOnly":
            what, why = f"writes to {location.name}, which is read-only", "its access mode is ReadOnly"
            code = "schedule-location-read-only"
        else:
            continue
        yield Finding(
            code,
            Severity.ERROR,
            snapshot.ref(schedule),
            None,
            what,
            f"Every backup of {schedule.name} is refused: {why}.",
            "Give spec.template.storageLocation a location that can be written to, or make this one writable.",
            (snapshot.ref(location),) if location else (),
        )


def unready_repositories(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Repositories of volumes that Velero cannot use."""
    for repository in snapshot.repositories:
        if not repository.is_unready:
            continue
        spec, where = repository.spec, snapshot.location(repository.namespace, repository.spec.backup_storage_location)
        yield Finding(
            "repository-not-ready",
            Severity.ERROR,
            snapshot.ref(repository),
            snapshot.seen.phase_since.get(snapshot.ref(repository)),
            f"not ready: volumes of {spec.volume_namespace} cannot be moved",
            unready_repository(repository),
            f"Check the storage location {spec.backup_storage_location} and Velero's log (:pods); Velero tries the "
            "repository again every few minutes.",
            (snapshot.ref(where),) if where is not None else (),
            blames=snapshot.ref(where) if where is not None else None,
        )


def unmaintained_repositories(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Repositories whose maintenance fails; one that is not ready has a finding already."""
    for repository in snapshot.repositories:
        failed = repository.failed_maintenances
        if not failed or repository.is_unready:
            continue
        why, kept = repository.failed_maintenance.rstrip("."), repository.status.last_maintenance_time
        often = (
            "Its latest maintenance failed with"
            if len(failed) == 1
            else f"Its last {len(failed)} maintenances failed, the latest with"
        )
        last = sentence(" It was last maintained at ", kept, ".") if kept is not None else " It was never maintained."
        yield Finding(
            "repository-maintenance-failed",
            Severity.WARNING,
            snapshot.ref(repository),
            failed[0].complete_timestamp,
            f"maintenance failed: {why}",
            sentence(
                f"{often}: {why}.",
                last,
                " Until it succeeds, volume data of deleted backups stays in the storage location.",
            ),
            f"Check the maintenance job of {repository.spec.volume_namespace} and Velero's log (:pods); Velero tries "
            "again when the next maintenance is due.",
        )


def expired_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for backup in snapshot.lookups.backups_expiring_until(now):
        expiry = backup.status.expiration
        if expiry is None or now - expiry <= limits.expired or backup.phase == "Deleting":
            continue
        yield Finding(
            "backup-expired",
            Severity.WARNING,
            snapshot.ref(backup),
            expiry,
            sentence("expired ", now - expiry, " ago and still there"),
            sentence("It expired at ", expiry, f" and Velero has not deleted it: {_why_kept(snapshot, backup)}."),
            "Fix the location, and Velero deletes it at its next hourly cleanup; or delete it yourself.",
            blames=_location_of(snapshot, backup),
        )


def _location_of(snapshot: ClusterSnapshot, backup: Backup) -> ObjectRef | None:
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    return snapshot.ref(location) if location is not None else None


def _why_kept(snapshot: ClusterSnapshot, backup: Backup) -> str:
    if label := backup.label(GC_FAILURE_LABEL):
        return _GC_FAILURES.get(label, label)
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None:
        return "its storage location no longer exists"
    if location.phase == "Unavailable":
        return f"its storage location {location.name} is unavailable"
    if location.spec.access_mode == "ReadOnly":
        return f"its storage location {location.name} is read-only"
    failed = [
        request
        for request in snapshot.delete_requests
        if request.spec.backup_name == backup.name and request.status.errors
    ]
    return f"deleting it failed ({failed[0].status.errors[0]})" if failed else "no visible reason"
