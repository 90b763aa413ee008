"""Findings about backups and restores that ended badly, and deletions that did not happen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from foretop_core.models import Backup, Restore
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.schedule_history import ended
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds

OUTCOMES = {"Failed": "failed", "PartiallyFailed": "partially failed", "FailedValidation": "was refused"}


def failing_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in snapshot.schedules:
        facts = schedule_facts(snapshot, schedule, now)
        faults = facts.faults_in_a_row
        if not faults:
            continue
        which = "newest visible" if facts.last_backup is None else "last"
        last, first = faults[0], faults[-1]
        row = f", {len(faults)} in a row" if len(faults) > 1 else ""
        yield Finding(
            "schedule-failing",
            _severity(last),
            snapshot.ref(schedule),
            ended(first),
            f"{which} backup {OUTCOMES[last.phase]}{row}",
            sentence(f"{last.name} {OUTCOMES[last.phase]}", _at(ended(last)), f"{row}: {reason(last)}."),
            _remedy(last),
            (snapshot.ref(last),),
            blames=blamed_location(snapshot, last),
        )


def failed_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Those that no schedule and no non-admin backup answers for."""
    known = {(schedule.namespace, schedule.name) for schedule in snapshot.schedules}
    for backup in snapshot.lookups.faulty_backups():
        uuid = backup.label(NAB_UUID_LABEL)
        owned = (backup.namespace, backup.schedule_name) in known
        if not owned and not (uuid and snapshot.lookups.nabs_of_uuid(uuid)):
            yield from _failed("backup-failed", snapshot, backup, now, limits, blamed_location(snapshot, backup))


def failed_restores(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for restore in snapshot.lookups.faulty_restores():
        uuid = restore.label(NAR_UUID_LABEL)
        if not (uuid and snapshot.lookups.nars_of_uuid(uuid)):
            yield from _failed("restore-failed", snapshot, restore, now, limits)


def delete_errors(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for request in snapshot.delete_requests:
        if request.phase != "Processed" or not request.status.errors:
            continue
        yield Finding(
            "delete-failed",
            Severity.ERROR,
            snapshot.ref(request),
            request.created,
            f"deletion of {request.spec.backup_name} had errors",
            f"Processed is not success: {'; '.join(request.status.errors)}.",
            "Fix the cause and delete the backup again; at least part of the data is still in the bucket.",
            (ObjectRef(snapshot.context, "Backup", request.namespace, request.spec.backup_name),),
        )


def _failed(
    code: str,
    snapshot: ClusterSnapshot,
    run: Backup | Restore,
    now: datetime,
    limits: Thresholds,
    blames: ObjectRef | None = None,
) -> Iterator[Finding]:
    at = ended(run)
    if at is None or now - at > limits.recent_failure:
        return
    yield Finding(
        code,
        _severity(run),
        snapshot.ref(run),
        at,
        OUTCOMES[run.phase],
        sentence(f"{run.name} {OUTCOMES[run.phase]}", _at(at), f": {reason(run)}."),
        _remedy(run),
        blames=blames,
    )


def _at(moment: datetime | None) -> Text:
    return sentence(" at ", moment) if moment is not None else ""


def blamed_location(snapshot: ClusterSnapshot, run: Backup) -> ObjectRef | None:
    """The storage location that Velero's own words name; an older fault of another kind is not its doing."""
    location = snapshot.location(run.namespace, run.spec.storage_location)
    named = location is not None and re.search(rf"(?<![\w.-]){re.escape(location.name)}(?![\w-])", reason(run))
    return snapshot.ref(location) if location is not None and named else None


def _severity(run: Backup | Restore) -> Severity:
    return Severity.WARNING if run.phase == "PartiallyFailed" else Severity.ERROR


def reason(run: Backup | Restore) -> str:
    """Why a run ended as it did, in Velero's words or by its counts."""
    status = run.status
    said = "; ".join(status.validation_errors) or status.failure_reason
    counts = humanize.count(status.errors, "error") if status.errors else ""
    if status.warnings:
        counts = f"{counts} and {humanize.count(status.warnings, 'warning')}" if counts else ""
    return (said or counts or "Velero gives no reason").rstrip(".")


def _remedy(run: Backup | Restore) -> str:
    if run.phase == "FailedValidation":
        return "Fix the cause named in the message; Velero does not retry this one."
    again = "run it again" if isinstance(run, Backup) else "restore again"
    return f"Read its results or logs for the errors, fix them and {again}."
