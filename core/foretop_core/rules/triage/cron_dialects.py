"""Findings about cron dialects: what an upgrade would change, and what one has already changed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.cron import Dialect
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import releases_of
from foretop_core.rules.cron_dialects.past_upgrade import PastUpgradeEffect, every_minute_since, refused_since, stopped
from foretop_core.rules.cron_dialects.upgrade_effect import UpgradeKind, first_release, next_dialect, upgrade_kind
from foretop_core.rules.sentences import Text, sentence
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
        if (known := snapshot.dialect(schedule)) is not None
        and (kind := upgrade_kind(schedule.spec.schedule, known, coming, now)) is not None
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
        what = f"its release is unknown, and {number} {'depends' if len(unclear) == 1 else 'depend'} on it"
        names = humanize.join([schedule.name for schedule in unclear])
        evidence.append(
            f"{_either(candidates)} read {number} differently: {names}. Which of them runs here is unknown."
        )
    if changed:
        number = humanize.count(len(changed), "schedule")
        what = what or f"an upgrade to {release} changes {number}"
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


def stopped_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules that an upgrade has silenced: valid and enabled, and their runs are no longer made."""
    for schedule in snapshot.schedules:
        dialect = snapshot.dialect(schedule)
        found = stopped(schedule, snapshot.runs(schedule), dialect, now) if dialect is not None else None
        if found is None or found.last_run is None or found.missed is None:
            continue
        effect = found.effect
        yield Finding(
            "schedule-stopped",
            Severity.ERROR,
            snapshot.ref(schedule),
            found.missed,
            f"{effect.runs_before:,} runs a year before an upgrade, {effect.runs_after:,} now",
            sentence(
                "Its run of ",
                found.last_run,
                f" was due to {_before(effect.before)}: {effect.meaning_before}. The one of ",
                found.missed,
                f" was missed: {_before(effect.after)} reads {effect.expression!r} as {effect.meaning_after}.",
            ),
            _remedy(found),
        )


def refusal_by_upgrade(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> tuple[Text, str]:
    """A sentence of evidence and the remedy for a refused schedule that an older release accepts; "" for others."""
    dialect = snapshot.dialect(schedule)
    found = refused_since(schedule, dialect, now) if dialect is not None else None
    if found is None:
        return "", ""
    effect = found.effect
    accepts = f" {_before(effect.before)} accepts it"
    if found.last_run is None:
        return f"{accepts}.", _remedy(found)
    return (
        sentence(
            f"{accepts}, and it ran until ",
            found.last_run,
            f": {effect.runs_before:,} runs a year before an upgrade, none now.",
        ),
        _remedy(found),
    )


def runaway_by_upgrade(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> str:
    """A sentence of evidence for a schedule that is always due only to its release of Velero; "" for others."""
    dialect = snapshot.dialect(schedule)
    found = every_minute_since(schedule, dialect, now) if dialect is not None else None
    if found is None:
        return ""
    if found.effect.runs_before:
        return f" {_before(found.effect.before)} runs it {found.effect.meaning_before}."
    return f" {_before(found.effect.before)} refuses it."


def _before(dialect: Dialect) -> str:
    return releases_of((dialect,))


def _remedy(found: PastUpgradeEffect) -> str:
    instead = found.effect.instead
    if not instead:
        return found.effect.instead_note
    if len(instead) == 1:
        return f"Set spec.schedule to {instead[0]!r}. {found.effect.instead_note}".rstrip()
    return (
        f"Set spec.schedule to {instead[0]!r}, and create a schedule with {instead[1]!r}. {found.effect.instead_note}"
    )
