"""Facts of several schedules that are paused or about to be: counted once, for Triage, header and dialogs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import Backup, Schedule
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import DataProgress, data_progress, planned_backup, stamped_name
from foretop_core.rules.facts.schedule_facts import Choice, ScheduleFacts, UnpauseForecast, schedule_facts
from foretop_core.rules.forecast import GRACE, base_time
from foretop_core.rules.pauses import (
    PauseWindow,
    ended_windows,
    open_windows,
    pause_note,
    pause_windows,
    window_line,
    window_lines,
)
from foretop_core.rules.protection.namespace_protection import promised_since
from foretop_core.rules.queue.owners import OwnerKind, going_on, owner_of
from foretop_core.rules.snapshot import ClusterSnapshot

__all__ = [
    "MOST_MISSED",
    "PauseEffect",
    "PauseSummary",
    "PauseWindow",
    "UnpauseCounts",
    "UnpauseEffect",
    "count_unpause",
    "others_going_on",
    "pause_effect",
    "pause_note",
    "pause_summary",
    "pause_windows",
    "skipped_ages",
    "unpause_effect",
    "window_line",
    "window_lines",
]

_NEVER = datetime.max.replace(tzinfo=UTC)


class UnpauseCounts(msgspec.Struct, frozen=True):
    """Counts of schedules that create a backup at once, that skip the run that is due, and that do neither.

    A run that is due becomes a backup, is skipped, is refused because its storage cannot be used, or waits for a
    backup of the same schedule that has not ended.
    """

    at_once: int = 0
    skipped: int = 0
    held: int = 0
    not_due: int = 0
    refused: int = 0

    @property
    def due(self) -> int:
        return self.at_once + self.skipped + self.held + self.refused

    def fates(self, pace: str = " at once") -> str:
        """`11 backups at once, 1 refused by Velero`: what becomes of the runs that are due."""
        parts = (
            f"{humanize.count(self.at_once, 'backup')}{pace}" if self.at_once else "",
            f"{self.skipped} {'skips' if self.skipped == 1 else 'skip'} what is due" if self.skipped else "",
            f"{self.held} after a running backup" if self.held else "",
            f"{self.refused} refused by Velero" if self.refused else "",
        )
        return ", ".join(filter(None, parts))

    @property
    def unskipped(self) -> str:
        """`12 of 38 are due: without skip, 11 backups at once, 1 refused by Velero.`, of counts without skip."""
        is_one = self.due + self.not_due == 1
        if not self.due:
            return f"{'It is not' if is_one else 'None is'} due: no backup starts at once."
        lead = "It is" if is_one else f"{self.due} of {self.due + self.not_due} {'is' if self.due == 1 else 'are'}"
        return f"{lead} due: without skip, {self.fates()}."


class PauseSummary(msgspec.Struct, frozen=True):
    """How many schedules of a cluster are paused, how many of those are overdue, and which window should have ended."""

    total: int = 0
    paused: int = 0
    overdue: int = 0
    overrun: timedelta | None = None
    """How long ago the first of its windows should have ended; None where none should have."""
    in_overrun: int = 0
    """How many schedules are in such windows."""
    windows: tuple[PauseWindow, ...] = ()
    """Those that have time left, the one that ends first in front; one without an end comes last."""
    outside: int = 0
    """How many of the overdue ones are in no window that should have ended."""
    due_in_windows: int = 0
    """How many of those in windows with time left have a run that is due: without a skip they make it at once."""

    @property
    def without_window(self) -> int:
        """How many are paused and in no window."""
        return self.paused - self.in_overrun - sum(len(window.schedules) for window in self.windows)

    @property
    def needs_attention(self) -> bool:
        return self.overdue > 0 or self.overrun is not None


def pause_summary(snapshot: ClusterSnapshot, now: datetime, grace: timedelta = GRACE) -> PauseSummary:
    """Costs a look at each paused schedule."""
    paused = [item for item in snapshot.schedules if item.spec.paused]
    ended = ended_windows(paused, now)
    in_ended = {(item.namespace, item.name) for window in ended for item in window.schedules}
    facts = [schedule_facts(snapshot, item, now, grace) for item in paused]
    overdue = [entry.schedule for entry in facts if entry.is_overdue_pause]
    windows = open_windows(paused, now)
    in_open = {(item.namespace, item.name) for window in windows for item in window.schedules}
    return PauseSummary(
        len(snapshot.schedules),
        len(paused),
        len(overdue),
        max((by for window in ended if (by := window.overrun(now)) is not None), default=None),
        len(in_ended),
        tuple(sorted(windows, key=lambda one: one.pause.until or _NEVER)),
        sum((item.namespace, item.name) not in in_ended for item in overdue),
        sum(entry.may_be_due for entry in facts if (entry.schedule.namespace, entry.schedule.name) in in_open),
    )


def count_unpause(schedules: Iterable[ScheduleFacts], choice: Choice) -> UnpauseCounts:
    at_once = skipped = held = not_due = refused = 0
    for facts in schedules:
        forecast = facts.unpausing(choice)
        if not facts.may_be_due:
            not_due += 1
        elif forecast.at_once and forecast.refusal:
            refused += 1
        elif forecast.at_once:
            at_once += 1
        elif forecast.skips:
            skipped += 1
        else:
            held += 1
    return UnpauseCounts(at_once, skipped, held, not_due, refused)


def skipped_ages(schedules: Iterable[ScheduleFacts], choice: Choice) -> list[tuple[Schedule, timedelta]]:
    """Ages of the newest good backups at the next run, for schedules whose due run the choice skips."""
    ages = []
    for facts in schedules:
        forecast, good = facts.unpausing(choice), facts.newest_good
        if not forecast.skips or forecast.next_run is None or good is None or good.started is None:
            continue
        if facts.may_be_due:
            ages.append((facts.schedule, forecast.next_run - good.started))
    return ages


A_DAY = timedelta(days=1)
"""The stretch that the runs of a pause without an end are counted for."""
MOST_MISSED = 1000
"""Runs that are counted for one schedule."""
_KEPT_COUNTS = 2048


class PauseEffect(msgspec.Struct, frozen=True):
    """The effect of pausing one schedule until a moment, or for a day where no end is given."""

    until: datetime
    is_open: bool
    """No end is given."""
    misses: int
    first_missed: datetime | None
    unfinished: Backup | None
    """Its backup that runs or waits, and goes on."""
    copy_age: timedelta | None
    """The age of its newest good backup at the end."""
    interval: timedelta | None
    """The time between two of its runs then."""
    is_late: bool = False
    """At the end it has no good backup since the run that its rhythm promises one for, were it not paused."""
    data: DataProgress = DataProgress()
    """Of the volumes of the unfinished one."""
    is_change: bool = False
    """It is paused already: the end or the reason of that changes."""
    was: datetime | None = None
    """The end that its pause had before."""
    others: str = ""
    """Whose backups go on even if no schedule of its server runs any more; "" where nobody's do."""
    unpaused: int = 0
    """How many schedules of its server are not paused before it."""

    @property
    def keeps_end(self) -> bool:
        return self.is_change and (None if self.is_open else self.until) == self.was


def others_going_on(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> str:
    """Whose backups a pause of all schedules of a server does not stop: what is open, and tenants of the last day."""
    kinds = {owner_of(run).kind for run in snapshot.open_backups.get(namespace, ())}
    last = snapshot.tenants_last.get(namespace)
    return going_on(kinds | {OwnerKind.NAB} if last is not None and now - last < A_DAY else kinds)


def pause_effect(facts: ScheduleFacts, until: datetime | None, gap: timedelta) -> PauseEffect:
    """Count the runs that a pause loses, the one that is due among them: from now on, or from the pause that it is in.

    A good backup younger than `gap` is recent enough, however often the schedule runs.
    """
    end = until or facts.now + A_DAY
    running = facts.unfinished
    data = data_progress(facts.snapshot.movements_of(running) if running is not None else ())
    good, reading = facts.newest_good, facts.by_reading[-1]
    age = end - good.started if good is not None and good.started is not None else None
    parsed = reading.reading.parsed
    if facts.invalid or not isinstance(parsed, CronSchedule) or parsed.never_fires:
        return PauseEffect(end, until is None, 0, None, running, age, None, data=data)
    first, now = reading.next_run, facts.now
    begins = base_time(facts.schedule) if facts.pause is not None else None
    if parsed.every is not None:
        counted = first if first is None or begins else max(first, now)
        count = 0 if counted is None or counted > end else 1 + (end - counted) // parsed.every
        interval: timedelta | None = parsed.every
    else:
        # A cron expression fires on whole minutes: all plans of one minute count the same runs.
        span = (begins or now, end)
        start, stop = (moment.astimezone(facts.zone).replace(second=0, microsecond=0) for moment in span)
        count, interval = _runs_within(parsed, start, stop)
        count += reading.due and begins is None
    missed = first if count and first is not None else None
    promised = promised_since(facts.schedule, parsed, end, gap, facts.ran_before) if facts.parsed is not None else None
    late = promised is not None and (age is None or end - age < promised)
    return PauseEffect(end, until is None, min(count, MOST_MISSED), missed, running, age, interval, late, data)


@lru_cache(_KEPT_COUNTS)
def _runs_within(parsed: CronSchedule, start: datetime, end: datetime) -> tuple[int, timedelta | None]:
    """How many runs there are, and how far the run after them is from the last one before it."""
    runs = list(islice(parsed.between(start, end), MOST_MISSED))
    before = runs[-1] if runs else parsed.next(end)
    after = parsed.next(before) if before is not None else None
    return len(runs), after - before if before is not None and after is not None else None


class UnpauseEffect(msgspec.Struct, frozen=True):
    """The effect of unpausing one schedule now with one choice."""

    forecast: UnpauseForecast
    due_since: datetime | None
    """The run that has been due for longest; None where none is."""
    newest_good: datetime | None
    """When its newest good backup was started."""
    made: Backup | None = None
    """The backup that Velero makes at once; the queue says when it starts."""

    @property
    def copy_age(self) -> timedelta | None:
        """The age of the newest good backup at the next run, where none is made before; None where not known."""
        next_run = self.forecast.next_run
        if self.forecast.at_once or next_run is None or self.newest_good is None:
            return None
        return next_run - self.newest_good


def unpause_effect(facts: ScheduleFacts, choice: Choice) -> UnpauseEffect:
    good, due = facts.newest_good, facts.by_reading[-1].next_run if facts.may_be_due else None
    forecast = facts.unpausing(choice)
    # One name for a minute: a queue that was played forward with it is not played again at every second.
    minute = facts.now.replace(second=0, microsecond=0)
    name = stamped_name(facts.schedule, minute)
    made = planned_backup(facts.schedule, facts.now, name) if forecast.at_once else None
    return UnpauseEffect(forecast, due, good.started if good is not None else None, made)
