"""Findings about storage locations, and about backups that outlive their time in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from foretop_core.foreign_text import named
from foretop_core.models import Backup
from foretop_core.models.velero import GC_FAILURE_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.facts.storage_facts import StorageFacts
from foretop_core.rules.sentences import ScheduleName, Text, listed, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import saw_storage, unready_effect
from foretop_core.rules.triage.finding import SHOW_PODS, Finding, Severity, Thresholds

_GC_FAILURES = {
    "BSLNotFound": "its storage location no longer exists",
    "BSLCannotGet": "its storage location could not be read",
    "BSLReadOnly": "its storage location is read-only",
}


def unavailable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        facts = StorageFacts(location, now, snapshot, limits.not_synced_periods)
        if (fault := facts.fault) is None or facts.severity is None:
            continue
        default = ", the default one" if location.spec.default else ""
        yield Finding(
            "storage-unavailable",
            facts.severity,
            snapshot.ref(location),
            snapshot.seen.phase_since.get(snapshot.ref(location))
            or location.status.last_synced_time
            or location.created,
            fault.what,
            f"{fault.sentence} Velero refuses every backup that goes to this location{default}.",
            f"{fault.remedy} Velero checks every minute by itself.",
            hits=sentence(_next_refused(snapshot, facts.schedules, location.namespace, now), _kept_there(facts.copies)),
            raw=location.status.message.rstrip("."),
        )


def _next_refused(snapshot: ClusterSnapshot, names: Sequence[str], namespace: str, now: datetime) -> Text:
    """The schedules that write there, and the first of their runs that is refused."""
    written = _written_by(names)
    mine = (item for item in snapshot.schedules_by_namespace.get(namespace, ()) if item.name in names)
    runs = [
        (run, item.name)
        for item in mine
        if not item.spec.paused and (run := schedule_facts(snapshot, item, now).next_run) is not None and run > now
    ]
    if not runs:
        return written
    run, name = min(runs)
    return sentence(written, " The run of ", ScheduleName(name), " at ", run, " is refused.")


def _written_by(schedules: Sequence[str]) -> Text:
    if not schedules:
        return "No schedule writes to it."
    verb = "writes" if len(schedules) == 1 else "write"
    names = listed([sentence(ScheduleName(name)) for name in schedules])
    return sentence(f"{humanize.count(len(schedules), 'schedule')} {verb} to it: ", names, ".")


def _kept_there(copies: int) -> str:
    if not copies:
        return ""
    return " 1 copy there is out of reach." if copies == 1 else f" {copies:,} copies there are out of reach."


def unsynced_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for location in snapshot.storage:
        facts = StorageFacts(location, now, snapshot, limits.not_synced_periods)
        if facts.unsynced is None or facts.severity is None:
            continue
        yield Finding(
            "storage-not-synced",
            facts.severity,
            snapshot.ref(location),
            now - facts.unsynced,
            "its backups are not synced",
            sentence(
                "Velero has not read the bucket for ",
                facts.unsynced,
                f"; it should every {humanize.interval(facts.sync_period)}. ",
                "Backups of other clusters are missing here.",
            ),
            "Check the Velero log for sync errors.",
        )


def unusable_locations(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules that write to a location that is read-only or not there."""
    for schedule in snapshot.schedules:
        name = schedule.spec.template.storage_location
        location = snapshot.location(schedule.namespace, name)
        if location is None and name and saw_storage(snapshot):
            what, why = "its storage does not exist", f"its namespace has no storage location {named(name)}"
            code = "schedule-location-missing"
        elif location is not None and location.spec.access_mode == "ReadOnly":
            what, why = "its storage is read-only", f"the access mode of {location.name} is ReadOnly"
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
            "not ready, moves no volumes",
            unready_effect(repository),
            sentence(
                f"Check the storage location {spec.backup_storage_location} and Velero's log",
                SHOW_PODS,
                "; Velero tries the repository again every few minutes.",
            ),
            (snapshot.ref(where),) if where is not None else (),
            blames=snapshot.ref(where) if where is not None else None,
            raw=repository.status.message,
        )


def unmaintained_repositories(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Repositories whose maintenance fails; one that is not ready has a finding already."""
    for repository in snapshot.repositories:
        failed = repository.failed_maintenances
        if not failed or repository.is_unready:
            continue
        kept = repository.status.last_maintenance_time
        often = "Its latest maintenance failed." if len(failed) == 1 else f"Its last {len(failed)} maintenances failed."
        last = sentence(" It was last maintained at ", kept, ".") if kept is not None else " It was never maintained."
        yield Finding(
            "repository-maintenance-failed",
            Severity.WARNING,
            snapshot.ref(repository),
            failed[0].complete_timestamp,
            "its maintenance fails",
            sentence(often, last),
            sentence(
                f"Check the maintenance job of {repository.spec.volume_namespace} and Velero's log",
                SHOW_PODS,
                "; Velero tries again when the next maintenance is due.",
            ),
            hits="Volume data of deleted backups stays in the storage location until it succeeds.",
            raw=repository.failed_maintenance,
        )


def expired_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    deletion_errors = {
        (request.namespace, request.spec.backup_name): request.status.errors[0]
        for request in snapshot.delete_requests
        if request.status.errors
    }
    for backup in snapshot.lookups.backups_expiring_until(now):
        expiry = backup.status.expiration
        if expiry is None or now - expiry <= limits.expired or backup.phase == "Deleting":
            continue
        deletion_error = deletion_errors.get((backup.namespace, backup.name), "")
        yield Finding(
            "backup-expired",
            Severity.WARNING,
            snapshot.ref(backup),
            expiry,
            "expired, and still there",
            sentence(
                "It expired at ",
                expiry,
                f" and Velero has not deleted it: {_why_kept(snapshot, backup, bool(deletion_error))}.",
            ),
            "Fix the location, and Velero deletes it at its next hourly cleanup; or delete it yourself.",
            blames=_location_of(snapshot, backup),
            raw=deletion_error,
        )


def _location_of(snapshot: ClusterSnapshot, backup: Backup) -> ObjectRef | None:
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    return snapshot.ref(location) if location is not None else None


def _why_kept(snapshot: ClusterSnapshot, backup: Backup, deletion_failed: bool) -> str:
    if label := backup.label(GC_FAILURE_LABEL):
        return _GC_FAILURES.get(label) or named(label)
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None:
        return "its storage location no longer exists"
    if location.phase == "Unavailable":
        return f"its storage location {location.name} is unavailable"
    if location.spec.access_mode == "ReadOnly":
        return f"its storage location {location.name} is read-only"
    return "deleting it failed" if deletion_failed else "no visible reason"
