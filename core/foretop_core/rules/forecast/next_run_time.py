"""When a schedule is due, by the arithmetic of Velero's schedule controller; an overdue run, and what holds it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import islice

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.foreign_text import quoted, without_signs
from foretop_core.models import Backup, Schedule
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.heartbeat import LOOK_LASTS, Heartbeat
from foretop_core.rules.phases import HOLDS_SCHEDULE
from foretop_core.rules.sentences import Text, sentence

MOST_RUNS = 10_000
"""Missed runs are counted up to here."""
_IN_QUEUE = frozenset({"Queued", "ReadyToStart"})
_TICK = timedelta(microseconds=1)


def base_time(schedule: Schedule) -> datetime | None:
    """The start of the search for the next run: the last backup or else the creation, or a later skip."""
    base = schedule.status.last_backup or schedule.created
    skipped = schedule.status.last_skipped
    return skipped if skipped and (base is None or skipped > base) else base


def kept_back_runs(
    schedule: Schedule, dialect: Dialect, made: Iterable[datetime], since: datetime, end: datetime | None
) -> tuple[datetime, ...]:
    """The runs from a moment on that a pause kept back which ended then; `made` are its backups.

    None of a constant delay: it has no runs but those that it makes.
    """
    parsed = expression(schedule.spec.schedule, dialect)
    if end is None or end <= since or not isinstance(parsed, CronSchedule) or parsed.every is not None:
        return ()
    starts = (schedule.status.last_backup or schedule.created, *made)
    # One that is made when a pause ends has its second.
    before = max((start for start in starts if start is not None and start < end), default=end)
    return tuple(islice(parsed.between(max(before, since), end), MOST_RUNS))


def next_run(schedule: Schedule, dialect: Dialect, zone: tzinfo = UTC) -> datetime | None:
    """The run that Velero works towards; it may lie in the past. None: invalid, or it never fires."""
    base = base_time(schedule)
    return None if base is None else run_after(schedule, base, dialect, zone)


def is_due(schedule: Schedule, now: datetime, dialect: Dialect, zone: tzinfo = UTC) -> bool:
    """True if Velero would make a backup at its next look, were the schedule unpaused and not held up.

    An expression that never fires is always due: Velero takes the library's "no such time" for a time long past.
    """
    parsed = expression(schedule.spec.schedule, dialect)
    if isinstance(parsed, CronError) or (base := base_time(schedule)) is None:
        return False
    run = run_after(schedule, base, dialect, zone)
    return run is None or now > run


def runs_to_come(parsed: CronSchedule, now: datetime, base: datetime | None = None) -> Iterator[datetime]:
    """The runs that are not due yet, in the zone of `now`; the one of this very second is not, see `is_due`.

    A constant delay counts from its last run, `base`, and from now where there is none.
    """
    try:
        after = now - _TICK
    except OverflowError:
        after = now
    if parsed.every is not None:
        after = now if base is None else base + max(0, (after - base) // parsed.every) * parsed.every
    run = parsed.next(after)
    while run is not None:
        yield run
        run = parsed.next(run)


def never_fires(schedule: Schedule, dialect: Dialect) -> bool:
    parsed = expression(schedule.spec.schedule, dialect)
    return isinstance(parsed, CronSchedule) and parsed.never_fires


def invalid(schedule: Schedule, dialect: Dialect) -> str:
    """Why Velero refuses the schedule, "" where it does not; its own word counts first, unless it is out of date."""
    parsed = expression(schedule.spec.schedule, dialect)
    if isinstance(parsed, CronError):
        return without_signs(str(parsed))
    if not schedule.is_refused:
        return ""
    errors = schedule.status.validation_errors
    return quoted("; ".join(errors)) if errors else "its phase is FailedValidation, and Velero does not say why"


def missed_runs(schedule: Schedule, now: datetime, dialect: Dialect) -> int:
    """The runs between the base time and now, up to MOST_RUNS; Velero makes up for one of them at most."""
    parsed = expression(schedule.spec.schedule, dialect)
    base = base_time(schedule)
    if isinstance(parsed, CronError) or base is None or base >= now:
        return 0
    if parsed.every is not None:
        return min(MOST_RUNS, (now - base) // parsed.every)
    return sum(1 for _ in islice(parsed.between(base.astimezone(UTC), now.astimezone(UTC)), MOST_RUNS))


def blocker(schedule: Schedule, backups: Iterable[Backup]) -> Backup | None:
    """The unfinished backup of the schedule that keeps Velero from starting another."""
    holding = [backup for backup in _own(schedule, backups) if backup.phase in HOLDS_SCHEDULE]
    return min(holding, key=lambda backup: backup.created or datetime.min.replace(tzinfo=UTC), default=None)


def _own(schedule: Schedule, backups: Iterable[Backup]) -> Iterator[Backup]:
    for backup in backups:
        if backup.schedule_name == schedule.name and backup.namespace == schedule.namespace:
            yield backup


def expected_start(
    schedule: Schedule,
    now: datetime,
    dialect: Dialect,
    beat: Heartbeat,
    backups: Iterable[Backup] = (),
    zone: tzinfo = UTC,
) -> datetime | None:
    """When Velero will submit the next backup, to the second; None where that cannot be told.

    A backup of the schedule that waits in the queue does not hold it up, but may be InProgress at the next look.
    """
    if schedule.spec.paused or invalid(schedule, dialect) or beat.silence(now):
        return None
    if any(backup.phase in HOLDS_SCHEDULE or backup.phase in _IN_QUEUE for backup in _own(schedule, backups)):
        return None
    base, run = base_time(schedule), next_run(schedule, dialect, zone)
    if base is None or (run is None and not is_due(schedule, now, dialect, zone)):
        return None
    due = min(base, now) + timedelta(seconds=1) if run is None else run
    return beat.first_look(max(due, now - LOOK_LASTS))


def run_after(schedule: Schedule, base: datetime, dialect: Dialect, zone: tzinfo) -> datetime | None:
    parsed = expression(schedule.spec.schedule, dialect)
    if isinstance(parsed, CronError):
        return None
    run = parsed.next(base.astimezone(zone))
    return None if run is None else run.astimezone(UTC)


GRACE = timedelta(minutes=2)
"""A run is due for up to a minute before Velero looks; only after two is it overdue."""


class DelayReason(StrEnum):
    """Why a due run has not been started."""

    INVALID = "invalid"
    PAUSED = "paused"
    NEVER_FIRES = "never fires"
    BLOCKED = "blocked"
    NO_PULSE = "no pulse"
    UNKNOWN = "unknown"


class Overdue(msgspec.Struct, frozen=True):
    """A run that should have been made."""

    since: datetime
    reason: DelayReason
    sentence: Text
    blocker: Backup | None = None

    @property
    def has_time(self) -> bool:
        """True if it is a run of the expression: one that is refused or never fires has none."""
        return self.reason not in (DelayReason.INVALID, DelayReason.NEVER_FIRES)


def overdue(
    schedule: Schedule,
    now: datetime,
    dialect: Dialect,
    beat: Heartbeat,
    backups: Iterable[Backup] = (),
    zone: tzinfo = UTC,
    grace: timedelta = GRACE,
) -> Overdue | None:
    """The run that was due longer ago than Velero needs, and what keeps it; None where all is well."""
    if (problem := invalid(schedule, dialect)) and not schedule.spec.paused:
        since = schedule.created or now
        return Overdue(since, DelayReason.INVALID, f"Velero refuses the schedule: {problem}")
    if not is_due(schedule, now, dialect, zone):
        return None
    run = next_run(schedule, dialect, zone)
    if run is None:
        since = schedule.status.last_backup or schedule.created or now
        why = "the expression never fires, and Velero treats it as always due"
        return Overdue(since, DelayReason.NEVER_FIRES, why)
    if now - run <= grace:
        return None
    if schedule.spec.paused:
        return Overdue(run, DelayReason.PAUSED, "the schedule is paused")
    blocking = blocker(schedule, backups)
    if blocking and blocking.created and run <= blocking.created and now - blocking.created <= grace:
        return None
    if blocking:
        return Overdue(run, DelayReason.BLOCKED, _blocked(blocking, now), blocking)
    if silence := beat.silence(now):
        return Overdue(run, DelayReason.NO_PULSE, silence)
    return Overdue(run, DelayReason.UNKNOWN, "no visible cause: check the log of the Velero server")


def _blocked(held: Backup, now: datetime) -> Text:
    since = held.started or held.created
    length = sentence(" for ", now - since) if since else ""
    phase = held.phase or "New"
    return sentence(
        f"{held.name} has been {phase}", length, ", and Velero does not start a second backup of the same schedule"
    )
