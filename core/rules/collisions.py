"""Which schedules start together, over a whole day rather than only next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from core.cron import CronError, CronSchedule
from core.models import Schedule
from core.rules.forecast import expression, invalid

_OFTEN = 24
"""A schedule that runs more often than this a day is asked at the others' times instead of listing its own."""
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Schedules that are due in the same minute, and the first such minute of the day."""

    at: datetime
    schedules: tuple[Schedule, ...]


def crowds(schedules: Iterable[Schedule], now: datetime, slots: int, most: int) -> tuple[Crowd, ...]:
    """The largest sets of running schedules that start together on this UTC day and are more than Velero takes at once.

    A set that is part of a larger one is not told again. Constant delays drift, and so meet nobody twice.
    """
    by_expression: defaultdict[CronSchedule, list[Schedule]] = defaultdict(list)
    for schedule in schedules:
        parsed = expression(schedule.spec.schedule)
        if not (schedule.spec.paused or isinstance(parsed, CronError) or parsed.every is not None or invalid(schedule)):
            by_expression[parsed].append(schedule)
    crowded = _by_minute(by_expression, now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
    sizes = sorted(
        ((sum(len(by_expression[one]) for one in together), at, together) for at, together in crowded.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )
    found: list[tuple[frozenset[CronSchedule], Crowd]] = []
    for size, at, together in sizes:
        if size <= slots or len(found) == most:
            break
        if not any(together <= larger for larger, _ in found):
            members = sorted((item for one in together for item in by_expression[one]), key=lambda item: item.name)
            found.append((together, Crowd(at, tuple(members))))
    return tuple(crowd for _, crowd in found)


def _by_minute(
    by_expression: Mapping[CronSchedule, list[Schedule]], midnight: datetime
) -> dict[datetime, frozenset[CronSchedule]]:
    minutes: defaultdict[datetime, set[CronSchedule]] = defaultdict(set)
    often = []
    for parsed in by_expression:
        runs = list(islice(parsed.between(midnight - _TICK, midnight + _DAY - _TICK), _OFTEN + 1))
        if len(runs) > _OFTEN:
            often.append(parsed)
            runs = runs[:1]
        for run in runs:
            minutes[run].add(parsed)
    for at, together in minutes.items():
        together.update(parsed for parsed in often if parsed.next(at - _TICK) == at)
    return {at: frozenset(together) for at, together in minutes.items()}
