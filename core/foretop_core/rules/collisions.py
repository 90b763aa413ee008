"""Which schedules start together in a day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property

import msgspec

from foretop_core.cron import CronError, CronSchedule
from foretop_core.models import Schedule
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.forecast import invalid
from foretop_core.rules.run_minutes import minutes_of, run_bits
from foretop_core.rules.snapshot import ClusterSnapshot

_A_DAY = 1440
"""Minutes."""
_LEAPS = 500
_NEVER = datetime.max.replace(tzinfo=UTC)
_MINUTE, _TICK = timedelta(minutes=1), timedelta(microseconds=1)


class Meeting(msgspec.Struct, frozen=True, dict=True):
    """Schedules that start in the same minutes of a day, without any other."""

    minutes: tuple[datetime, ...]
    by_expression: Mapping[CronSchedule, tuple[Schedule, ...]]

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.by_expression.values()))

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return tuple(
            sorted((schedule for group in self.by_expression.values() for schedule in group), key=lambda one: one.name)
        )


def meetings(snapshot: ClusterSnapshot, namespace: str, since: datetime, least: int = 2) -> list[Meeting]:
    """All sets of `least` or more schedules of one Velero that start together in the 24 hours from a moment on.

    In the order of their first minute. Paused and invalid schedules start nothing. A constant delay counts from the
    second at which Velero made the last backup, and so drifts from minute to minute: it is in no set.
    """
    by_expression: defaultdict[CronSchedule, list[Schedule]] = defaultdict(list)
    for schedule, parsed in _starting(snapshot, namespace):
        if parsed.every is None:
            by_expression[parsed].append(schedule)
    entries = [(parsed, tuple(schedules)) for parsed, schedules in by_expression.items()]
    start = since.astimezone(UTC).replace(second=0, microsecond=0)
    start += _MINUTE if start < since else timedelta()
    due: defaultdict[int, list[int]] = defaultdict(list)
    for place, (parsed, _) in enumerate(entries):
        for minute in minutes_of(run_bits(parsed, start, _A_DAY)):
            due[minute].append(place)
    together: defaultdict[tuple[int, ...], list[datetime]] = defaultdict(list)
    for minute in sorted(due):
        together[tuple(due[minute])].append(start + minute * _MINUTE)
    return [
        Meeting(tuple(moments), dict(entries[place] for place in places))
        for places, moments in together.items()
        if sum(len(entries[place][1]) for place in places) >= least
    ]


def drifting(snapshot: ClusterSnapshot, namespace: str) -> list[Schedule]:
    """The schedules of one Velero that are in no meeting because their minute drifts."""
    return [schedule for schedule, parsed in _starting(snapshot, namespace) if parsed.every is not None]


def _starting(snapshot: ClusterSnapshot, namespace: str) -> Iterator[tuple[Schedule, CronSchedule]]:
    """The schedules of one Velero that are neither paused nor invalid."""
    for schedule, dialect in snapshot.read_schedules:
        parsed = expression(schedule.spec.schedule, dialect)
        if schedule.namespace != namespace or schedule.spec.paused or isinstance(parsed, CronError):
            continue
        if not invalid(schedule, dialect):
            yield schedule, parsed


class Collision(msgspec.Struct, frozen=True):
    """A meeting of more schedules than Velero takes at once."""

    meeting: Meeting
    """Of this UTC day."""
    following: datetime | None
    """The next from now on; None where they do not meet again within many runs."""

    @property
    def rhythm(self) -> str:
        """`every 3 minutes` where all have the same expression, `5 times a day` where they meet more often, else ""."""
        if len(self.meeting.by_expression) == 1:
            return next(iter(self.meeting.by_expression)).describe()
        return f"{len(self.meeting.minutes)} times a day" if len(self.meeting.minutes) > 1 else ""

    def covers(self, other: Collision) -> bool:
        """True if it says all that the other one would: it comes no later, and as often."""
        ours, theirs = self.meeting, other.meeting
        if not theirs.by_expression.keys() <= ours.by_expression.keys() or len(theirs.minutes) > len(ours.minutes):
            return False
        return other.following is None or (self.following is not None and self.following <= other.following)


def collisions(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, slots: int, most: int
) -> tuple[Collision, ...]:
    """The meetings of this UTC day that are more than Velero takes at once.

    The next one, and those that make most backups wait, in the order of their next minute. One that a larger set
    tells, because that comes as soon and as often, is not told again.
    """
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    crowds = [
        Collision(meeting, next((moment for moment in meeting.minutes if moment >= now), None))
        for meeting in meetings(snapshot, namespace, midnight, slots + 1)
    ]
    fullest = sorted(
        crowds, key=lambda one: (-len(one.meeting.minutes) * (one.meeting.size - slots), -one.meeting.size)
    )
    chosen: list[Collision] = []
    for crowd in (*sorted(crowds, key=_soonest)[:1], *fullest):
        if len(chosen) < most and not any(collision.covers(crowd) for collision in chosen):
            following = crowd.following or next_together(crowd.meeting.by_expression, now)
            chosen.append(Collision(crowd.meeting, following))
    return tuple(sorted(chosen, key=_soonest))


def _soonest(one: Collision) -> tuple[datetime, int]:
    return one.following or _NEVER, -one.meeting.size


def next_together(expressions: Iterable[CronSchedule], now: datetime) -> datetime | None:
    """The first moment from now on at which all of them are due: whoever is behind leaps to the latest."""
    everyone, moment = list(expressions), now.astimezone(UTC)
    for _ in range(_LEAPS):
        runs = [run for parsed in everyone if (run := parsed.next(moment - _TICK)) is not None]
        if len(runs) < len(everyone):
            return None
        if min(runs) == max(runs):
            return max(runs).astimezone(UTC)
        moment = max(runs).astimezone(UTC)
    return None
