"""Forecasts beside what came of them: how many starts and ends fell inside the range that was told."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models.wire import Time
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.night.outlook import Outlook
from foretop_core.rules.night.ranges import Range
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.snapshot import ClusterSnapshot

_STAMP = timedelta(seconds=1)
"""Objects have whole seconds."""
_MADE_WITHIN = timedelta(hours=24)
FEWEST_TO_JUDGE = 10
_LAST_ENDS = 8
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
    """The next run of each schedule of a night, where both of its ranges are known: the likely course has none."""
    found = list[ToldRun]()
    if not one.night.draws:
        return found
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


class ForecastAccuracy(msgspec.Struct, frozen=True):
    """The outcome of the forecasts of one server."""

    context: str
    namespace: str
    starts: int = 0
    starts_inside: int = 0
    ends: int = 0
    ends_inside: int = 0
    not_made: int = 0
    """Runs that were forecast and have no backup."""

    @property
    def share(self) -> float | None:
        """The share of all starts and ends that fell inside; None while there are too few to say."""
        count = self.starts + self.ends
        return (self.starts_inside + self.ends_inside) / count if count >= FEWEST_TO_JUDGE else None

    @property
    def is_hard(self) -> bool:
        """The ranges of this server fail."""
        return self.share is not None and self.share < HARD_BELOW

    @property
    def warning(self) -> str:
        """`Only 9 of 20 forecasts for this Velero held: its times are guesses.`; "" where enough of them did."""
        if not self.is_hard:
            return ""
        held, count = self.starts_inside + self.ends_inside, self.starts + self.ends
        return f"{f'Only {held}' if held else 'None'} of {count} forecasts for this Velero held: its times are guesses."


class Side(StrEnum):
    """The side of a start or an end: before, in or after the range that was told of it."""

    EARLIER = "earlier"
    INSIDE = "inside"
    LATER = "later"


class JudgedRun(msgspec.Struct, frozen=True):
    """A run that was foretold, and what came of it; None where that has not come, or is not known."""

    told: ToldRun
    is_made: bool = False
    start: Side | None = None
    end: Side | None = None


def judged_runs(snapshot: ClusterSnapshot, told: Iterable[ToldRun]) -> Iterator[JudgedRun]:
    """Each beside its backup, schedule by schedule, the run that fell due last first."""
    by_schedule: defaultdict[tuple[str, str], list[ToldRun]] = defaultdict(list)
    for one in told:
        if one.context == snapshot.context:
            by_schedule[one.namespace, one.schedule].append(one)
    for (namespace, name), runs in by_schedule.items():
        made = sorted(snapshot.lookups.backups_of_schedule(namespace, name), key=submitted)
        times, rhythm = [submitted(run) for run in made], _rhythm(snapshot, namespace, name)
        for one in sorted(runs, key=lambda run: run.due, reverse=True):
            # The first that was submitted after the run fell due, and before the next one did. Any later one is another
            # run's: that of this run was deleted meanwhile, or never made.
            until = one.due + _MADE_WITHIN
            if rhythm is not None and (then := rhythm.next(one.due)) is not None:
                until = min(until, then)
            place = bisect_left(times, one.due)
            if place == len(made) or times[place] >= until:
                yield JudgedRun(one)
                continue
            status = made[place].status
            yield JudgedRun(
                one, True, _side(status.start_timestamp, one.start), _side(status.completion_timestamp, one.end)
            )


def _side(at: datetime | None, told: tuple[datetime, datetime]) -> Side | None:
    if at is None:
        return None
    return Side.EARLIER if at < told[0] - _STAMP else Side.LATER if at > told[1] + _STAMP else Side.INSIDE


def _rhythm(snapshot: ClusterSnapshot, namespace: str, name: str) -> CronSchedule | None:
    for schedule in snapshot.schedules_by_namespace.get(namespace, ()):
        if schedule.name == name and (dialect := snapshot.dialect(schedule)) is not None:
            parsed = expression(schedule.spec.schedule, dialect)
            return parsed if isinstance(parsed, CronSchedule) and not parsed.never_fires else None
    return None


def measure_accuracy(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, told: Iterable[ToldRun]
) -> ForecastAccuracy:
    """Compares what was told of one server with its backups; a run whose backup was deleted counts as not made."""
    judged = list(judged_runs(snapshot, (one for one in told if one.namespace == namespace)))
    starts = [one.start for one in judged if one.start is not None]
    ends = [one.end for one in judged if one.end is not None]
    return ForecastAccuracy(
        snapshot.context,
        namespace,
        len(starts),
        starts.count(Side.INSIDE),
        len(ends),
        ends.count(Side.INSIDE),
        sum(not one.is_made and now > one.told.end[1] + _MADE_WITHIN for one in judged),
    )


def forecast_record(snapshot: ClusterSnapshot, told: Iterable[ToldRun]) -> str:
    """How the last forecasts of one schedule came out: `7 of the last 8 runs ended within their range, 1 later`.

    "" where none has come yet.
    """
    ends = list(islice((one.end for one in judged_runs(snapshot, told) if one.end is not None), _LAST_ENDS))
    if not ends:
        return ""
    if len(ends) == 1:
        return f"the last run ended {'within' if ends[0] is Side.INSIDE else f'{ends[0]} than'} its range"
    missed = "".join(f", {ends.count(side)} {side}" for side in (Side.LATER, Side.EARLIER) if side in ends)
    return f"{ends.count(Side.INSIDE)} of the last {len(ends)} runs ended within their range{missed}"
