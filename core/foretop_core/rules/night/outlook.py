"""The night in a few numbers: how full it gets, who waits longest, what is late or lost, what falls into a window."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import groupby

import msgspec

from foretop_core.rules.night.night import Fate, ForeseenRun, Night

_MINUTE = timedelta(minutes=1)


class Peak(msgspec.Struct, frozen=True):
    """The largest number at one time, from its first moment to the end of that stretch."""

    count: int
    begins: datetime
    ends: datetime


class ScheduleOutlook(msgspec.Struct, frozen=True):
    """The coming runs of one schedule, in the order of their due moments."""

    name: str
    runs: tuple[ForeseenRun, ...]

    @property
    def next(self) -> ForeseenRun | None:
        """The next one that is made."""
        return next((run for run in self.runs if run.fate is not Fate.LOST), None)

    def count(self, fate: Fate) -> int:
        """How many are likely to end so; of the lost ones those that are lost in the average course."""
        if fate is Fate.LOST:
            return round(sum(run.share_lost for run in self.runs))
        return sum(run.fate is fate for run in self.runs)


class Outlook(msgspec.Struct, frozen=True):
    """What an operator asks of the coming hours of one server."""

    night: Night
    schedules: tuple[ScheduleOutlook, ...]
    at_work: Peak | None
    waiting: Peak | None
    longest_wait: ForeseenRun | None
    last: ForeseenRun | None
    """The run that ends last of those that are due in the time that is foreseen."""


def outlook(night: Night) -> Outlook:
    coming = sorted((run for run in night.runs if run.due is not None), key=lambda run: (run.owner.name, run.due))
    by_schedule = tuple(
        ScheduleOutlook(name, tuple(runs)) for name, runs in groupby(coming, key=lambda run: run.owner.name)
    )
    waits = [run for run in night.runs if _wait(run) > _MINUTE]
    ending = [run for run in coming if run.end is not None]
    return Outlook(
        night,
        by_schedule,
        _peak((span.start, span.end) for span in night.typical),
        _peak((span.submitted, span.start) for span in night.typical if span.start - span.submitted > _MINUTE),
        max(waits, key=_wait, default=None),
        max(ending, key=lambda run: run.end.likely if run.end else night.now, default=None),
    )


def in_window(night: Night, begins: datetime, ends: datetime) -> tuple[ForeseenRun, ...]:
    """The runs that are at work in a window in one of ten courses or more, the surest first."""
    found = [
        run
        for run in night.runs
        if run.start is not None and run.end is not None and run.start.most[0] < ends and run.end.most[1] > begins
    ]
    return tuple(sorted(found, key=lambda run: (not is_likely_in(run, begins, ends), run.start and run.start.likely)))


def is_likely_in(run: ForeseenRun, begins: datetime, ends: datetime) -> bool:
    """Whether a run is at work in a window by its likely start and end."""
    return run.start is not None and run.end is not None and run.start.likely < ends and run.end.likely > begins


def wait_of(run: ForeseenRun) -> timedelta | None:
    """How long it waits in the queue, by its likely start; None where it does not start."""
    return None if run.start is None or run.submitted is None else max(timedelta(), run.start.likely - run.submitted)


def _wait(run: ForeseenRun) -> timedelta:
    return wait_of(run) or timedelta()


def _peak(spans: Iterable[tuple[datetime, datetime]]) -> Peak | None:
    moves = sorted(move for begins, ends in spans if ends > begins for move in ((ends, -1), (begins, 1)))
    count = most = 0
    begins = ends = None
    for at, step in moves:
        if step < 0 and count == most and begins is not None and ends is None:
            ends = at
        count += step
        if count > most:
            most, begins, ends = count, at, None
    return None if begins is None or ends is None else Peak(most, begins, ends)
