"""Which schedules start together, over a whole day rather than only next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import Schedule
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.forecast import invalid

_OFTEN = 24
"""A schedule that runs more often than this a day is asked at the others' times instead of listing its own."""
_DAY = timedelta(days=1)
_LEAPS = 500
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Collision:
    """Schedules that are due in the same minute: the first such minute of this UTC day, and the next from now on."""

    at: datetime
    schedules: tuple[Schedule, ...]
    following: datetime | None
    """None where they do not meet again within many runs."""
    rhythm: str
    """`every 3 minutes` where all have the same expression, else ""."""


def collisions(
    schedules: Iterable[tuple[Schedule, Dialect]], now: datetime, slots: int, most: int
) -> tuple[Collision, ...]:
    """The largest sets of running schedules that start together on this UTC day and are more than Velero takes at once.

    A set that is part of a larger one is not told again. Constant delays drift, and so meet nobody twice.
    """
    by_expression: defaultdict[CronSchedule, list[Schedule]] = defaultdict(list)
    for schedule, dialect in schedules:
        parsed = expression(schedule.spec.schedule, dialect)
        if schedule.spec.paused or isinstance(parsed, CronError) or invalid(schedule, dialect):
            continue
        if parsed.every is None and not parsed.never_fires:
            by_expression[parsed].append(schedule)
    crowded = _by_minute(by_expression, now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
    sizes = sorted(
        ((sum(len(by_expression[one]) for one in together), at, together) for at, together in crowded.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )
    found: list[tuple[frozenset[CronSchedule], Collision]] = []
    for size, at, together in sizes:
        if size <= slots or len(found) == most:
            break
        if not any(together <= larger for larger, _ in found):
            members = sorted((item for one in together for item in by_expression[one]), key=lambda item: item.name)
            rhythm = next(iter(together)).describe() if len(together) == 1 else ""
            found.append((together, Collision(at, tuple(members), next_together(together, now), rhythm)))
    return tuple(crowd for _, crowd in found)


def next_together(expressions: Iterable[CronSchedule], now: datetime) -> datetime | None:
    """The first moment from now on at which all of them are due: whoever is behind leaps to the latest."""
    everyone, at = list(expressions), now.astimezone(UTC)
    for _ in range(_LEAPS):
        runs = [run for parsed in everyone if (run := parsed.next(at - _TICK)) is not None]
        if len(runs) < len(everyone):
            return None
        if min(runs) == max(runs):
            return max(runs).astimezone(UTC)
        at = max(runs).astimezone(UTC)
    return None


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
