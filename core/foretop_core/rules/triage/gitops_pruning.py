"""Findings about programs that follow Git and remove what is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from foretop_core.models import Backup, Schedule
from foretop_core.rules.facts.schedule_facts import ARGO_TRACKING_ID, schedule_facts
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds

_REMEDY = (
    "Set spec.template.metadata.labels in Git, so that Velero copies those instead, exclude Backups in Argo CD "
    "(resource.exclusions), or set spec.useOwnerReferencesInBackup: then deleting the schedule takes them along."
)


def tracked_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Velero copies the marks of a schedule onto its backups; by them Argo CD takes what is not in Git for its own."""
    for schedule in snapshot.schedules:
        annotation = schedule.annotation(ARGO_TRACKING_ID)
        facts = schedule_facts(snapshot, schedule, now)
        copies = _with_tracking_id(facts.runs, annotation) if annotation else facts.prunable
        if copies:
            related = tuple(snapshot.ref(run) for run in copies)
            evidence = _by_annotation(annotation) if annotation else _by_label(schedule, facts.argo_label)
            severity = Severity.NOTE if annotation else Severity.WARNING
            what = "an older Argo CD may prune its backups" if annotation else "Argo CD may prune its backups"
            remedy = f"Check that your Argo CD ignores copied marks. {_REMEDY}" if annotation else _REMEDY
            yield Finding("backups-tracked", severity, snapshot.ref(schedule), None, what, evidence, remedy, related)


def _with_tracking_id(runs: Iterable[Backup], value: str) -> tuple[Backup, ...]:
    """What has an owner in the cluster is that one's child to Argo CD, and is not pruned."""
    return tuple(run for run in runs if not run.metadata.owner_references and run.annotation(ARGO_TRACKING_ID) == value)


def _by_label(schedule: Schedule, label: str) -> str:
    value = schedule.label(label)
    return (
        f"Its backups have the label {label}={value}, which Velero copied from the schedule. By it Argo CD counts them "
        f"to the application {value}; they are not in Git, so a sync that prunes deletes the Backup objects. Their "
        "data stays in the bucket."
    )


def _by_annotation(value: str) -> str:
    return (
        f"Its backups have the annotation {ARGO_TRACKING_ID}={value}, which Velero copied from the schedule. Older "
        "releases of Argo CD take them for their own and prune them; newer ones see that the mark names the schedule."
    )
