"""The items of `-o json`: a contract. Fields are added, never renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from foretop_core.errors import Unreadable
from foretop_core.models import Resource
from foretop_core.models.velero import RunStatus
from foretop_core.rules.facts.run_facts import QueueItem, RunFacts, queue_line, run_facts
from foretop_core.rules.facts.schedule_facts import ScheduleFacts
from foretop_core.rules.facts.server_facts import ServerPod, server_facts
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.results import Problem, ResultGroup, Results
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import Thresholds

Item = dict[str, Any]
_USUAL_LIMITS = Thresholds()


def identity(context: str, item: Resource) -> Item:
    return {"context": context, "kind": type(item).__name__, "namespace": item.namespace, "name": item.name}


def schedule_item(facts: ScheduleFacts) -> Item:
    """The item of a schedule; what is not known is null, and the field beside it that ends in Unknown says why."""
    schedule = facts.schedule
    last, last_ended = facts.last_backup, facts.last_ended
    return {
        **identity(facts.snapshot.context, schedule),
        "phase": schedule.phase or None,
        "state": facts.state.value,
        "schedule": schedule.spec.schedule,
        "paused": schedule.spec.paused,
        "skipImmediately": schedule.spec.skip_immediately,
        "lastBackup": rfc3339(facts.last_backup_at),
        "lastBackupName": last.name if last is not None else None,
        "lastBackupPhase": (last.phase or "New") if last is not None else None,
        "lastBackupUnknown": facts.why_no_last or None,
        "lastSkipped": rfc3339(schedule.status.last_skipped),
        **_coming(facts),
        "lastOutcome": facts.last_outcome,
        "lastEndedName": last_ended.name if last_ended is not None else None,
        "lastEndedPhase": last_ended.phase if last_ended is not None else None,
        "lastEndedAt": rfc3339(facts.last_ended_at),
    }


def _coming(facts: ScheduleFacts) -> Item:
    """The next run; where it is open how the server reads the expression, that is null and the readings have it."""
    found: Item = {
        "nextRun": rfc3339(facts.next_run),
        "nextRunUnknown": facts.why_no_next or None,
        "due": facts.due,
        "expectedStart": rfc3339(facts.expected_start),
        "expectedStartUnknown": render(facts.why_no_start, facts.now) or None,
        "refusal": facts.refusal or None,
        "waitsFor": facts.waits_for or None,
    }
    if facts.dialect is None:
        found["readings"] = [
            {
                "releases": one.reading.releases,
                "meaning": one.reading.meaning,
                "nextRun": rfc3339(one.next_run),
                "due": one.due,
            }
            for one in facts.by_reading
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
            "pod": _pod_item(server.pod),
        }
        for server in found
    ]


def _pod_item(pod: ServerPod | None) -> Item | None:
    """Null where pods are not watched."""
    if pod is None:
        return None
    return {"name": pod.name, "ready": pod.is_ready, "restarts": pod.restarts, "started": rfc3339(pod.started)}


def queue_items(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds = _USUAL_LIMITS) -> list[Item]:
    """The runs at work and those that wait, server by server: backups first, then restores."""
    items: list[Item] = []
    for namespace in snapshot.velero_namespaces:
        line = queue_line(snapshot, namespace, now)
        for entry in line.by_run.values():
            facts = run_facts(snapshot, entry.run, now, line, limits.nothing_moved)
            items.append(queue_item(snapshot.context, facts, entry, now))
    return items


def queue_item(context: str, facts: RunFacts, entry: QueueItem, now: datetime) -> Item:
    """`waitingPosition` is its place among those that wait, as the table shows it.

    It is null for one at work, and for one that a silent server has never seen.
    """
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


def unseen_item(gap: VisibilityGap) -> Item:
    return {"context": gap.context, "kind": gap.kind, "reason": gap.why()}


def unreadable_item(problem: Unreadable) -> Item:
    return {"what": problem.what, "why": problem.why}


def as_list(items: Iterable[Mapping[str, Any]]) -> Item:
    return {"kind": "List", "items": list(items)}


def results_item(context: str, item: Resource, status: RunStatus, results: Results | None) -> Item:
    """The problems of a run; `problems` is null where nothing was fetched, for there was nothing to fetch."""
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
