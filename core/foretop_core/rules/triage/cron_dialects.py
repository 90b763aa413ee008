"""Findings about cron dialects: the changes that an upgrade has made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.cron import CronError, Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.rules.cron_dialects import releases_of
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS
from foretop_core.rules.cron_dialects.run_counts import always_due
from foretop_core.rules.cron_dialects.upgrade_effect import (
    UpgradeEffect,
    UpgradeKind,
    upgrade_effect,
    upgrade_kind,
)
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds


def stopped_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules that an upgrade has silenced: valid and enabled, and their runs are no longer made."""
    for schedule in snapshot.schedules:
        dialect = snapshot.dialect(schedule)
        past_upgrade_effect = stopped(schedule, snapshot.runs(schedule), dialect, now) if dialect is not None else None
        if past_upgrade_effect is None or past_upgrade_effect.last_run is None or past_upgrade_effect.missed is None:
            continue
        effect = past_upgrade_effect.effect
        yield Finding(
            "schedule-stopped",
            Severity.ERROR,
            snapshot.ref(schedule),
            past_upgrade_effect.missed,
            "runs less since an upgrade",
            sentence(
                f"{effect.runs_before:,} runs a year before an upgrade, {effect.runs_after:,} now. Its run of ",
                past_upgrade_effect.last_run,
                f" was due to {_before(effect.before)}: {effect.meaning_before}. The one of ",
                past_upgrade_effect.missed,
                f" was missed: {_before(effect.after)} reads {effect.expression!r} as {effect.meaning_after}.",
            ),
            _remedy(past_upgrade_effect),
        )


def refusal_by_upgrade(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> tuple[Text, str]:
    """A sentence of evidence and the remedy for a refused schedule that an older release accepts; "" for others."""
    dialect = snapshot.dialect(schedule)
    past_upgrade_effect = refused_since(schedule, dialect, now) if dialect is not None else None
    if past_upgrade_effect is None:
        return "", ""
    effect = past_upgrade_effect.effect
    accepts = f" {_before(effect.before)} accepts it"
    if past_upgrade_effect.last_run is None:
        return f"{accepts}.", _remedy(past_upgrade_effect)
    return (
        sentence(
            f"{accepts}, and it ran until ",
            past_upgrade_effect.last_run,
            f": {effect.runs_before:,} runs a year before an upgrade, none now.",
        ),
        _remedy(past_upgrade_effect),
    )


def runaway_by_upgrade(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> str:
    """A sentence of evidence for a schedule that is always due only to its release of Velero; "" for others."""
    dialect = snapshot.dialect(schedule)
    effect = every_minute_since(schedule, dialect, now) if dialect is not None else None
    if effect is None:
        return ""
    if effect.effect.runs_before:
        return f" {_before(effect.effect.before)} runs it {effect.effect.meaning_before}."
    return f" {_before(effect.effect.before)} refuses it."


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


_GRACE = timedelta(minutes=2)


class PastUpgradeEffect(msgspec.Struct, frozen=True):
    """A schedule that an older release read differently, and ran or refused accordingly."""

    effect: UpgradeEffect
    """The change from the older dialect to the current server's."""
    last_run: datetime | None
    missed: datetime | None = None
    """The first later run that the older release would have made by now, and this one did not."""


def stopped(schedule: Schedule, runs: tuple[Backup, ...], dialect: Dialect, now: datetime) -> PastUpgradeEffect | None:
    """A schedule whose last run was due only by an older reading, and whose next run by that reading is missing.

    None if it runs as often as before, is paused, or its expression was changed since.
    """
    last = _last_run(schedule)
    if last is None or schedule.spec.paused or schedule.phase != "Enabled":
        return None
    for older in _older(dialect):
        if upgrade_kind(schedule.spec.schedule, older, dialect, now) is not UpgradeKind.OTHER_TIMES:
            continue
        missed = _run_after(schedule, older, last)
        if missed is None or now - missed <= _GRACE or not _was_due_to(schedule, runs, last, older, dialect):
            continue
        effect = upgrade_effect(schedule.spec.schedule, older, dialect, _today(now))
        if effect is not None and effect.runs_after < effect.runs_before:
            return PastUpgradeEffect(effect, last, missed)
    return None


def refused_since(schedule: Schedule, dialect: Dialect, now: datetime) -> PastUpgradeEffect | None:
    """A schedule that its server refuses and an older release accepts; `last_run` if the older one ran it."""
    return _changed(schedule, dialect, UpgradeKind.REFUSED, now)


def every_minute_since(schedule: Schedule, dialect: Dialect, now: datetime) -> PastUpgradeEffect | None:
    """A schedule that is always due on its server and was not on an older release."""
    return _changed(schedule, dialect, UpgradeKind.EVERY_MINUTE, now)


def _changed(schedule: Schedule, dialect: Dialect, kind: UpgradeKind, now: datetime) -> PastUpgradeEffect | None:
    for older in _older(dialect):
        if upgrade_kind(schedule.spec.schedule, older, dialect, now) is kind:
            effect = upgrade_effect(schedule.spec.schedule, older, dialect, _today(now))
            return None if effect is None else PastUpgradeEffect(effect, _last_run(schedule))
    return None


def _today(now: datetime) -> datetime:
    """The beginning of the day: triage asks repeatedly, and results from a fixed time can be cached."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _older(dialect: Dialect) -> tuple[Dialect, ...]:
    """The dialects that an upgrade may have come from, nearest first."""
    return tuple(reversed(ALL_DIALECTS[: ALL_DIALECTS.index(dialect)]))


def _last_run(schedule: Schedule) -> datetime | None:
    """The last run that was made with the current expression."""
    last, changed = schedule.status.last_backup, schedule.expression_set
    return None if last is None or (changed is not None and changed > last) else last


def _was_due_to(schedule: Schedule, runs: tuple[Backup, ...], last: datetime, older: Dialect, dialect: Dialect) -> bool:
    """True if the last run was due by the older reading and not by the server's own."""
    before = next((submitted(run) for run in runs if submitted(run) < last - _GRACE), schedule.created)
    if before is None or before >= last:
        return False
    due = [_run_after(schedule, each, before) for each in (older, dialect)]
    return due[0] is not None and due[0] <= last and (due[1] is None or due[1] > last)


def _run_after(schedule: Schedule, dialect: Dialect, base: datetime) -> datetime | None:
    parsed = expression(schedule.spec.schedule, dialect)
    return None if isinstance(parsed, CronError) or always_due(parsed, base) else parsed.next(base)
