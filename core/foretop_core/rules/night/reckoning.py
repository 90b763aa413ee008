"""Forecasts beside what came of them: how many starts and ends fell inside the range that was told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import Backup
from foretop_core.models.wire import Time
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.night.night import Range
from foretop_core.rules.night.outlook import Outlook
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.snapshot import ClusterSnapshot

_STAMP = timedelta(seconds=1)
"""Objects have whole seconds."""
_MADE_WITHIN = timedelta(hours=24)
FEWEST_TO_JUDGE = 10
HARD_BELOW = 0.75
"""A server is hard to foresee where a smaller share falls inside ranges that should hold nine in ten."""


class ToldRun(msgspec.Struct, frozen=True, rename="camel"):
    """The next run of a schedule as it was foretold: the ranges that hold nine in ten."""

    context: str
    namespace: str
    schedule: str
    due: Time
    told: Time
    start: tuple[Time, Time]
    end: tuple[Time, Time]

    @property
    def key(self) -> tuple[str, str, str, datetime]:
        return self.context, self.namespace, self.schedule, self.due


def told_runs(context: str, one: Outlook) -> list[ToldRun]:
    """The next run of each schedule of a night, where both of its ranges are known."""
    found = []
    for schedule in one.schedules:
        run = schedule.next
        if run is not None and run.due is not None and run.start is not None and run.end is not None:
            due = run.due.replace(microsecond=0)
            ranges = _whole(run.start), _whole(run.end)
            now = one.night.now.replace(microsecond=0)
            found.append(ToldRun(context, one.night.namespace, schedule.name, due, now, *ranges))
    return found


def _whole(found: Range) -> tuple[datetime, datetime]:
    first, last = found.most
    return first.replace(microsecond=0), last.replace(microsecond=0) + _STAMP


class Reckoning(msgspec.Struct, frozen=True):
    """What came of the forecasts of one server."""

    context: str
    namespace: str
    starts: int = 0
    starts_inside: int = 0
    ends: int = 0
    ends_inside: int = 0
    not_made: int = 0
    """Runs that were foretold and of which there is no backup."""

    @property
    def share(self) -> float | None:
        """Of all starts and ends, those inside; None while there are too few to say."""
        count = self.starts + self.ends
        return (self.starts_inside + self.ends_inside) / count if count >= FEWEST_TO_JUDGE else None

    @property
    def is_hard(self) -> bool:
        """The ranges of this server fail."""
        return self.share is not None and self.share < HARD_BELOW


def reckon(snapshot: ClusterSnapshot, namespace: str, now: datetime, told: Iterable[ToldRun]) -> Reckoning:
    """Compares what was told of one server with its backups; a run whose backup was deleted counts as not made."""
    counts = dict.fromkeys(("starts", "starts_inside", "ends", "ends_inside", "not_made"), 0)
    for one in told:
        if (one.context, one.namespace) != (snapshot.context, namespace):
            continue
        backup = _made(snapshot, one)
        if backup is None:
            counts["not_made"] += now > one.end[1] + _MADE_WITHIN
            continue
        for what, at, (first, last) in (
            ("starts", backup.status.start_timestamp, one.start),
            ("ends", backup.status.completion_timestamp, one.end),
        ):
            if at is not None:
                counts[what] += 1
                counts[f"{what}_inside"] += first - _STAMP <= at <= last + _STAMP
    return Reckoning(snapshot.context, namespace, **counts)


def _made(snapshot: ClusterSnapshot, one: ToldRun) -> Backup | None:
    """The first backup of the schedule that was submitted after the run fell due, and before the next one did.

    Any later one is another run's: that of this run was deleted meanwhile, or never made.
    """
    runs = snapshot.backups_by_schedule.get((one.namespace, one.schedule), ())
    until = min(one.due + _MADE_WITHIN, _next_due(snapshot, one) or datetime.max.replace(tzinfo=UTC))
    after = [run for run in runs if one.due <= submitted(run) < until]
    return min(after, key=submitted, default=None)


def _next_due(snapshot: ClusterSnapshot, one: ToldRun) -> datetime | None:
    for schedule in snapshot.schedules_by_namespace.get(one.namespace, ()):
        if schedule.name == one.schedule and (dialect := snapshot.dialect(schedule)) is not None:
            parsed = expression(schedule.spec.schedule, dialect)
            return parsed.next(one.due) if isinstance(parsed, CronSchedule) and not parsed.never_fires else None
    return None
