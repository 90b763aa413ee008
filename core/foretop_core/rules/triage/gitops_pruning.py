"""Findings about programs that follow Git and remove what is not in it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.models import Backup, Schedule
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds

_OWN_LABEL = "argocd.argoproj.io/instance"
_COMMON_LABEL = "app.kubernetes.io/instance"
"""Argo CD's label by default, and many charts' as well: it says nothing unless Argo CD has written the schedule."""
_TRACKING_ID = "argocd.argoproj.io/tracking-id"
"""Names the object that it is on, so that newer releases of Argo CD see that a copy on another object is a copy."""
_WRITERS = frozenset({"argocd-controller", "argocd-application-controller"})
_REMEDY = (
    "Set spec.template.metadata.labels in Git, so that Velero copies those instead, exclude Backups in Argo CD "
    "(resource.exclusions), or set spec.useOwnerReferencesInBackup: then deleting the schedule takes them along."
)


def tracked_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Velero copies the marks of a schedule onto its backups; by them Argo CD takes what is not in Git for its own."""
    for schedule in snapshot.schedules:
        annotation = schedule.annotation(_TRACKING_ID)
        label = "" if annotation else _tracking_label(schedule)
        if not annotation and not label:
            continue
        runs = snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ())
        copies = [run for run in runs if _is_copied(schedule, run, label)]
        if copies:
            related = tuple(snapshot.ref(run) for run in copies)
            evidence = _by_label(schedule, label) if label else _by_annotation(annotation)
            severity = Severity.WARNING if label else Severity.NOTE
            what = "Argo CD may prune its backups" if label else "an older Argo CD may prune its backups"
            remedy = _REMEDY if label else f"Check that your Argo CD ignores copied marks. {_REMEDY}"
            yield Finding("backups-tracked", severity, snapshot.ref(schedule), None, what, evidence, remedy, related)


def _by_label(schedule: Schedule, label: str) -> str:
    value = schedule.label(label)
    return (
        f"Its backups have the label {label}={value}, which Velero copied from the schedule. By it Argo CD counts them "
        f"to the application {value}; they are not in Git, so a sync that prunes deletes the Backup objects. Their "
        "data stays in the bucket."
    )


def _by_annotation(value: str) -> str:
    return (
        f"Its backups have the annotation {_TRACKING_ID}={value}, which Velero copied from the schedule. Older "
        "releases of Argo CD take them for their own and prune them; newer ones see that the mark names the schedule."
    )


def _tracking_label(schedule: Schedule) -> str:
    """The label by which Argo CD knows the schedule; "" where it does not."""
    if schedule.label(_OWN_LABEL):
        return _OWN_LABEL
    written = any(entry.manager in _WRITERS for entry in schedule.metadata.managed_fields)
    return _COMMON_LABEL if written and schedule.label(_COMMON_LABEL) else ""


def _is_copied(schedule: Schedule, run: Backup, label: str) -> bool:
    """What has an owner in the cluster is that one's child to Argo CD, and is not pruned."""
    if run.metadata.owner_references:
        return False
    if label:
        return run.label(label) == schedule.label(label)
    return run.annotation(_TRACKING_ID) == schedule.annotation(_TRACKING_ID)
