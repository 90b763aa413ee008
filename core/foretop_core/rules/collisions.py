"""Which schedules start together, over a whole day rather than only next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import Schedule
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.forecast import invalid

_OFTEN = 96
"""A schedule that runs more often than this a day is asked at the others' times instead of listing its own."""
_DAY = timedelta(days=1)
_LEAPS = 500
_NEVER = datetime.max.replace(tzinfo=UTC)
_TICK = timedelta(microseconds=1)


class Collision(msgspec.Struct, frozen=True):
    """Schedules that are due in the same minute: the first such minute of this UTC day, and the next from now on."""

    at: datetime
    schedules: tuple[Schedule, ...]
    following: datetime | None
    """None where they do not meet again within many runs."""
    rhythm: str
    """`every 3 minutes` where all have the same expression, `5 times a day` where they meet more than once, else ""."""


class _Crowd(msgspec.Struct, frozen=True):
    """Expressions that are due in the same minutes of a day, without any other."""

    expressions: frozenset[CronSchedule]
    size: int
    minutes: tuple[datetime, ...]
    following: datetime | None

    def covers(self, other: _Crowd) -> bool:
        """True if it says all that the other one would: it comes no later, and as often."""
        if not other.expressions <= self.expressions or len(other.minutes) > len(self.minutes):
            return False
        return other.following is None or (self.following is not None and self.following <= other.following)


def collisions(
    schedules: Iterable[tuple[Schedule, Dialect]], now: datetime, slots: int, most: int
) -> tuple[Collision, ...]:
    """The sets of running schedules that start together on this UTC day and are more than Velero takes at once.

    The next one, and those that make most backups wait, in the order of their next minute. One that a larger set
    tells, because that comes as soon and as often, is not told again. Constant delays drift, and so meet nobody
    twice.
    """
    by_expression: defaultdict[CronSchedule, list[Schedule]] = defaultdict(list)
    for schedule, dialect in schedules:
        parsed = expression(schedule.spec.schedule, dialect)
        if schedule.spec.paused or isinstance(parsed, CronError) or invalid(schedule, dialect):
            continue
        if parsed.every is None and not parsed.never_fires:
            by_expression[parsed].append(schedule)
    crowds = _crowds(by_expression, now, slots)
    soonest = sorted(crowds, key=lambda one: (one.following or _NEVER, -one.size))[:1]
    fullest = sorted(crowds, key=lambda one: (-len(one.minutes) * (one.size - slots), -one.size, one.minutes))
    found: list[_Crowd] = []
    for crowd in (*soonest, *fullest):
        if len(found) < most and not any(known.covers(crowd) for known in found):
            found.append(_with_next(crowd, now))
    found.sort(key=lambda one: (one.following or _NEVER, -one.size))
    return tuple(_told(crowd, by_expression) for crowd in found)


def _crowds(by_expression: Mapping[CronSchedule, list[Schedule]], now: datetime, slots: int) -> list[_Crowd]:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    minutes: defaultdict[frozenset[CronSchedule], list[datetime]] = defaultdict(list)
    for at, together in sorted(_by_minute(by_expression, midnight).items()):
        minutes[together].append(at)
    found = []
    for together, times in minutes.items():
        size = sum(len(by_expression[one]) for one in together)
        if size > slots:
            following = next((at for at in times if at >= now), None)
            found.append(_Crowd(together, size, tuple(times), following))
    return found


def _with_next(crowd: _Crowd, now: datetime) -> _Crowd:
    """Add the next time on another day where it does not come again today; asked only of those that are told."""
    return crowd if crowd.following else replace(crowd, following=next_together(crowd.expressions, now))


def _told(crowd: _Crowd, by_expression: Mapping[CronSchedule, list[Schedule]]) -> Collision:
    members = sorted((item for one in crowd.expressions for item in by_expression[one]), key=lambda item: item.name)
    often = f"{len(crowd.minutes)} times a day" if len(crowd.minutes) > 1 else ""
    rhythm = next(iter(crowd.expressions)).describe() if len(crowd.expressions) == 1 else often
    return Collision(crowd.minutes[0], tuple(members), crowd.following, rhythm)


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
