"""The items of `-o json`: a contract. Fields are added, never renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from foretop_core.errors import Unreadable
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Resource, Restore, Schedule
from foretop_core.models.velero import RunStatus
from foretop_core.rules.facts.run_facts import Positions, QueueItem, RunFacts, queue_line, run_facts
from foretop_core.rules.facts.server_facts import server_facts
from foretop_core.rules.forecast import expected_start, is_due, next_run
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.results import Problem, ResultGroup, Results
from foretop_core.rules.schedule_history import last_outcome
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.storage_refusal import schedule_refusal
from foretop_core.rules.triage import Acknowledgement, Finding, Thresholds

Item = dict[str, Any]
_USUAL_LIMITS = Thresholds()


def identity(context: str, item: Resource) -> Item:
    return {"context": context, "kind": type(item).__name__, "namespace": item.namespace, "name": item.name}


def schedule_item(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> Item:
    return {
        **identity(snapshot.context, schedule),
        "phase": schedule.phase or None,
        "schedule": schedule.spec.schedule,
        "paused": schedule.spec.paused,
        "skipImmediately": schedule.spec.skip_immediately,
        "lastBackup": rfc3339(schedule.status.last_backup),
        "lastSkipped": rfc3339(schedule.status.last_skipped),
        **_coming(snapshot, schedule, now),
        "lastOutcome": last_outcome(snapshot.runs(schedule)),
    }


def _coming(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> Item:
    """The next run; where it is open how the server reads the expression, that is null and the readings have it."""
    readings = snapshot.readings(schedule)
    dialect = readings[0].dialect if len(readings) == 1 else None
    labelled = snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ())
    beat = snapshot.heartbeat(schedule.namespace)
    refusal = schedule_refusal(snapshot, schedule)
    start = None if dialect is None or refusal else expected_start(schedule, now, dialect, beat, labelled)
    found: Item = {
        "nextRun": None if dialect is None else rfc3339(next_run(schedule, dialect)),
        "due": None if dialect is None else is_due(schedule, now, dialect),
        "expectedStart": rfc3339(start),
        "refusal": refusal or None,
    }
    if dialect is None:
        found["readings"] = [
            {
                "releases": reading.releases,
                "meaning": reading.meaning,
                "nextRun": rfc3339(next_run(schedule, reading.dialect)),
                "due": is_due(schedule, now, reading.dialect),
            }
            for reading in readings
        ]
    return found


def server_items(snapshot: ClusterSnapshot, now: datetime) -> list[Item]:
    """The Velero servers of a cluster, and whether each is alive."""
    found = [server_facts(snapshot, namespace, now) for namespace in snapshot.velero_namespaces]
    return [
        {
            "context": snapshot.context,
            "namespace": server.namespace,
            "state": server.word,
            "silentSince": rfc3339(server.since),
            "lastSign": rfc3339(server.sign.at) if server.sign is not None else None,
            "lastSignOf": str(server.sign) if server.sign is not None else None,
            "reason": render(server.reason, now) or None,
            "version": server.version or None,
            "slots": server.slots,
        }
        for server in found
    ]


def queue_items(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds = _USUAL_LIMITS) -> list[Item]:
    """What Velero works on and what waits, server by server: backups first, then restores."""
    items: list[Item] = []
    for namespace in snapshot.velero_namespaces:
        line = queue_line(snapshot, namespace, now)
        for entry in line.by_run.values():
            facts = run_facts(snapshot, entry.run, now, line, limits.nothing_moved)
            items.append(queue_item(snapshot.context, facts, entry, now))
    return items


def queue_item(context: str, facts: RunFacts, entry: QueueItem, now: datetime) -> Item:
    """`waitingPosition` is its place among those that wait, as the table shows it; null for one at work."""
    return {
        **identity(context, entry.run),
        "phase": entry.phase or None,
        "position": entry.place,
        "waitingPosition": facts.waiting_place or None,
        "queuePosition": entry.position,
        "owner": str(entry.owner),
        "blockedBy": [run.name for run in entry.blocked_by],
        "blockedWhy": str(entry.hold) if entry.hold else None,
        "startedAt": rfc3339(entry.run.status.start_timestamp),
        "expectedStart": rfc3339(facts.expected_start),
        "expectedEnd": rfc3339(facts.expected_end),
        "notBefore": rfc3339(facts.not_before),
        "note": render(entry.note, now) or None,
        "state": facts.state.name.lower(),
        "waitsFor": facts.waits_for or None,
        "refusal": entry.refusal or None,
    }


def nonadmin_item(snapshot: ClusterSnapshot, item: NonAdmin, positions: Positions) -> Item:
    live: Backup | Restore | None = None
    if isinstance(item, NonAdminBackup):
        live = snapshot.velero_backup(item)
    elif isinstance(item, NonAdminRestore):
        live = snapshot.velero_restore(item)
    copied = item.velero.status.phase if item.velero.status else ""
    reported = item.state.queue_info.estimated_queue_position if item.state.queue_info else None
    return {
        **identity(snapshot.context, item),
        "phase": item.phase or None,
        "conditions": {
            condition.type: {
                "status": condition.status,
                "reason": condition.reason,
                "message": condition.message,
                "since": rfc3339(condition.last_transition_time),
            }
            for condition in item.state.conditions
        },
        "veleroName": item.velero.name or None,
        "veleroPhase": (live.phase if live else "") or copied or None,
        "queuePosition": reported,
        "liveQueuePosition": positions.live.get((item.velero.namespace, item.velero.name)),
    }


def finding_item(finding: Finding, now: datetime) -> Item:
    """In UTC, whatever a screen shows."""
    return {
        "context": finding.context,
        "kind": finding.subject.kind,
        "namespace": finding.subject.namespace,
        "name": finding.subject.name,
        "id": finding.id,
        "code": finding.code,
        "severity": finding.severity.value,
        "since": rfc3339(finding.since),
        "what": render(finding.what, now),
        "evidence": render(finding.evidence, now),
        "remedy": render(finding.remedy, now),
        "related": [
            {"kind": subject.kind, "namespace": subject.namespace, "name": subject.name} for subject in finding.related
        ],
        "because": finding.because.id if finding.because else None,
        "acknowledged": _acknowledgement_item(finding.acknowledged),
    }


def _acknowledgement_item(found: Acknowledgement | None) -> Item | None:
    """`until` is null where it holds until the finding changes."""
    if found is None:
        return None
    return {
        "by": found.by,
        "at": rfc3339(found.at),
        "until": rfc3339(found.until),
        "reason": found.reason,
        "shared": found.shared,
    }


def unseen_item(gap: VisibilityGap) -> Item:
    return {"context": gap.context, "kind": gap.kind, "reason": gap.why()}


def unreadable_item(problem: Unreadable) -> Item:
    return {"what": problem.what, "why": problem.why}


def as_list(items: Iterable[Mapping[str, Any]]) -> Item:
    return {"kind": "List", "items": list(items)}


def results_item(context: str, item: Resource, status: RunStatus, results: Results | None) -> Item:
    """What went wrong in a run; `problems` is null where nothing was fetched, for there was nothing to fetch."""
    problems = None
    if results is not None:
        parts = (("error", results.errors), ("warning", results.warnings))
        problems = [_problem(word, group, one) for word, part in parts for group in part for one in group.problems]
    return {
        **identity(context, item),
        "phase": status.phase or None,
        "errors": status.errors,
        "warnings": status.warnings,
        "failureReason": status.failure_reason or None,
        "problems": problems,
    }


def _problem(severity: str, group: ResultGroup, problem: Problem) -> Item:
    return {
        "severity": severity,
        "scope": group.scope.value,
        "namespace": group.namespace,
        "resource": problem.resource,
        "name": problem.name,
        "message": problem.message,
        "times": problem.times,
    }
