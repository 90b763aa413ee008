"""The finding of a server whose schedules the next releases of Velero read differently."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.cron import Dialect
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import releases_of
from foretop_core.rules.cron_dialects.upgrade_effect import UpgradeKind, first_release, next_dialect, upgrade_kind
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import QUEUE, Finding, Severity, Thresholds

_EFFECTS = {
    UpgradeKind.REFUSED: "refused",
    UpgradeKind.ACCEPTED: "accepted where it is refused now",
    UpgradeKind.OTHER_TIMES: "run at other times",
    UpgradeKind.EVERY_MINUTE: "run every minute",
}


def coming_changes(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """One note for each server: the schedules that the next releases read differently, or that nobody can read yet."""
    for namespace, schedules in snapshot.schedules_by_namespace.items():
        unclear = [schedule for schedule in schedules if snapshot.dialect(schedule) is None]
        changed = _changed_next(snapshot, namespace, schedules, now)
        if unclear or changed:
            yield _note(snapshot, namespace, unclear, changed)


def _changed_next(
    snapshot: ClusterSnapshot, namespace: str, schedules: tuple[Schedule, ...], now: datetime
) -> list[tuple[Schedule, UpgradeKind]]:
    coming = next_dialect(snapshot.verdict(namespace).candidates)
    if coming is None:
        return []
    return [
        (schedule, kind)
        for schedule in schedules
        if (dialect := snapshot.dialect(schedule)) is not None
        and (kind := upgrade_kind(schedule.spec.schedule, dialect, coming, now)) is not None
    ]


def _note(
    snapshot: ClusterSnapshot, namespace: str, unclear: list[Schedule], changed: list[tuple[Schedule, UpgradeKind]]
) -> Finding:
    candidates = snapshot.verdict(namespace).candidates
    coming = next_dialect(candidates)
    release = first_release(coming) if coming is not None else ""
    what, evidence = "", []
    if unclear:
        number = humanize.count(len(unclear), "schedule")
        what = "its release is not known"
        names = humanize.join([schedule.name for schedule in unclear])
        evidence.append(
            f"{_either(candidates)} read {number} differently: {names}. Which of them runs here is unknown."
        )
    if changed:
        number = humanize.count(len(changed), "schedule")
        what = what or f"upgrade changes {number}"
        effects = humanize.join([f"{schedule.name} ({_EFFECTS[kind]})" for schedule, kind in changed])
        evidence.append(f"Velero {release} reads {number} differently: {effects}.")
    remedy = "Run foretop upgrade-check to see what changes and what to write instead."
    if unclear:
        remedy = f"Give the release with --velero-version. {remedy}"
    return Finding(
        "velero-cron-dialect",
        Severity.NOTE,
        ObjectRef(snapshot.context, QUEUE, namespace, ""),
        None,
        what,
        " ".join(evidence),
        remedy,
        tuple(snapshot.ref(schedule) for schedule in (*unclear, *(schedule for schedule, _ in changed))),
    )


def _either(candidates: tuple[Dialect, ...]) -> str:
    return " and ".join(releases_of((dialect,)) for dialect in candidates)


RULES = (coming_changes,)
