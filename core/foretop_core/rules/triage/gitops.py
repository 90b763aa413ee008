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
"""Names the object that it is on: where Argo CD goes by it, a copy on another object means nothing to it."""
_WRITERS = frozenset({"argocd-controller", "argocd-application-controller"})


def tracked_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Velero copies a schedule's labels onto its backups; by the label Argo CD takes them for its own, and they are
    not in Git."""
    for schedule in snapshot.schedules:
        label = _tracking_label(schedule)
        copies = [
            backup
            for backup in snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ())
            if label and _is_copied(schedule, backup, label)
        ]
        if not copies:
            continue
        yield Finding(
            "backups-tracked",
            Severity.WARNING,
            snapshot.ref(schedule),
            None,
            "Argo CD may prune its backups",
            f"Its backups have the label {label}={schedule.label(label)}, which Velero copied from the schedule. By it "
            f"Argo CD counts them to the application {schedule.label(label)}; they are not in Git, so a sync that "
            "prunes deletes the Backup objects. Their data stays in the bucket.",
            "Set spec.template.metadata.labels in Git, so that Velero copies those instead, or let Argo CD track by "
            "annotation (application.resourceTrackingMethod).",
            tuple(snapshot.ref(backup) for backup in copies),
        )


def _tracking_label(schedule: Schedule) -> str:
    """The label by which Argo CD knows the schedule; "" where it does not, or not by a label."""
    if schedule.annotation(_TRACKING_ID):
        return ""
    if schedule.label(_OWN_LABEL):
        return _OWN_LABEL
    written = any(entry.manager in _WRITERS for entry in schedule.metadata.managed_fields)
    return _COMMON_LABEL if written and schedule.label(_COMMON_LABEL) else ""


def _is_copied(schedule: Schedule, backup: Backup, label: str) -> bool:
    return backup.label(label) == schedule.label(label)
