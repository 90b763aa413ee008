"""Forecasts beside what came of them: which starts and ends fell inside the range that was told."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.night.outlook import Outlook
from foretop_core.rules.night.ranges import Range
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.snapshot import ClusterSnapshot

_STAMP = timedelta(seconds=1)
"""Objects have whole seconds."""
_MADE_WITHIN = timedelta(hours=24)


class ToldRun(msgspec.Struct, frozen=True):
    """The next run of a schedule as it was foretold: the ranges that hold nine in ten."""

    context: str
    namespace: str
    schedule: str
    due: datetime
    told: datetime
    start: tuple[datetime, datetime]
    end: tuple[datetime, datetime]

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
