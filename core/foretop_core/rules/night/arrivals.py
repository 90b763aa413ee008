"""Backups of tenants that nobody has asked for yet: hour by hour as in that hour of earlier days, by chance.

None of them is foretold. They take slots and places in the queue, so the runs of schedules start later and less surely.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain, pairwise, repeat
from operator import attrgetter
from random import Random
from statistics import median

import msgspec

from foretop_core.models import Backup
from foretop_core.rules.queue.namespace_claims import Claim, claim
from foretop_core.rules.queue.owners import OwnerKind, owner_of
from foretop_core.rules.queue.positions import Run
from foretop_core.rules.schedule_history import run_length

_LONGEST_SEEN = timedelta(days=7)
_HOUR, _DAY = 3600.0, 86400.0
_FEWEST = 5
"""Fewer do not tell that more will come."""
_SHORTEST_CHANGE = 180.0
_TOGETHER = 10.0
"""Those that came within so many seconds are one batch: that tells of no rate."""
_PLAIN = 6.0
"""The logarithm of how many times likelier a changed rate must be than an unchanged one."""
_GOES_ON = 0.5
"""What has lasted so long goes on for three times as long, or longer, in half of the courses."""
MIDDLE = 0.5
"""The share of courses in which what goes on in the likely one has ended sooner."""
_PLAIN_HOURS = 3.0
"""The same, for hours of the day beside each other."""
_FEWEST_MOVES, _KEPT = 12, 0.8
"""A queue that tenants keep filled moves so often in an hour, and for this share of it is full or one short of it."""
_AT_ONCE = timedelta(seconds=2)


class TenantRun(msgspec.Struct, frozen=True, gc=False):
    """A backup that a tenant asked for: when, its namespaces, how long it was at work, and when that began."""

    created: datetime
    claim: Claim
    seconds: float
    started: datetime | None = None


class TenantRuns(msgspec.Struct, frozen=True):
    """The backups of tenants that a server has made, the newest first."""

    runs: tuple[TenantRun, ...] = ()
    waits_since: datetime | None = None
    """Each run of a schedule has waited since then: something has kept the slots taken."""


class Arrival(msgspec.Struct, frozen=True):
    """A backup that comes in one course, at this second of it."""

    at: float
    claim: int
    length: float


class QueueLevel(msgspec.Struct, frozen=True):
    """Up to this second of a course tenants keep so many waiting, and ask for no more."""

    until: float
    waiting: int


class DrawnArrivals(msgspec.Struct, frozen=True):
    """The backups of tenants in one course, and the times in which they keep the queue filled; both in order."""

    arrivals: tuple[Arrival, ...] = ()
    levels: tuple[QueueLevel, ...] = ()


class _Stretch(msgspec.Struct, frozen=True):
    """A time in which backups of tenants came: which ones, in how many seconds, and how many they kept waiting."""

    came: tuple[int, ...]
    """Their places in the list of all."""
    seconds: float
    kept: int = 0


class Arrivals(msgspec.Struct, frozen=True, dict=True):
    """The backups of tenants that came before a moment."""

    ago: tuple[float, ...] = ()
    """The seconds since each of them came, the newest first."""
    claims: tuple[int, ...] = ()
    lengths: tuple[float, ...] = ()
    started: tuple[float, ...] = ()
    """The seconds since each began to work, below 0 where it waits."""
    waits_since: float = 0.0
    """For so many seconds each run of a schedule has waited."""

    @cached_property
    def _changed(self) -> float:
        return changed(self.ago)

    @cached_property
    def _lasted(self) -> float:
        """For how long they have come as of late: 0 where that is how they come on earlier days.

        What came earlier may be deleted: runs of schedules that have waited tell that they came.
        """
        if not self._changed and self.ago[-1] >= _DAY:
            return 0.0
        return max(self._changed or self.ago[-1], self.waits_since)

    @cached_property
    def _of_late(self) -> _Stretch:
        seconds = max(self._changed or self.ago[-1], _SHORTEST_CHANGE)
        return _Stretch(self._came(0.0, seconds), seconds, self._kept(0.0, min(seconds, _HOUR)))

    @cached_property
    def _before(self) -> _Stretch:
        """The time before the last change."""
        return _Stretch(self._came(self._changed, self.ago[-1]) if self._changed else (), self.ago[-1] - self._changed)

    def _came(self, since: float, until: float) -> tuple[int, ...]:
        return tuple(range(bisect_left(self.ago, since), bisect_right(self.ago, until)))

    @cached_property
    def _by_hour(self) -> list[_Stretch]:
        """By how many hours ago one was on the last day, all that is known of that hour of the days.

        Neighbours that do not differ plainly are one stretch: of one hour a few days tell little.
        """
        hours = [(hour * _HOUR, (hour + 1) * _HOUR) for hour in range(int(self.ago[-1] // _HOUR))]
        parts = list[tuple[int, _Stretch]]()
        for first in range(min(24, len(hours))):
            same = hours[first::24]
            came = tuple(chain.from_iterable(self._came(*hour) for hour in same))
            parts.append((1, _Stretch(came, len(same) * _HOUR)))
        while len(parts) > 1:
            gains = [_gain(*((len(part.came), part.seconds) for _, part in pair)) for pair in pairwise(parts)]
            if (least := min(gains)) > _PLAIN_HOURS:
                break
            place = gains.index(least)
            (count, left), (more, right) = parts[place : place + 2]
            parts[place : place + 2] = [(count + more, _Stretch(left.came + right.came, left.seconds + right.seconds))]
        stretches = chain.from_iterable(repeat(part, count) for count, part in parts)
        return [
            _Stretch(stretch.came, stretch.seconds, self._kept(*hour))
            for stretch, hour in zip(stretches, hours, strict=False)
        ]

    @cached_property
    def _moves(self) -> list[tuple[float, int]]:
        """The moves of the queue of tenants, the oldest first: minus the seconds since then, and how many waited."""
        steps = [(-ago, 1) for ago in self.ago] + [(-ago, -1) for ago in self.started if ago >= 0]
        waiting, by_second = 0, dict[float, int]()
        for moment, step in sorted(steps):
            waiting += step
            by_second[moment] = waiting
        return list(by_second.items())

    def _kept(self, since: float, until: float) -> int:
        """How many wait where tenants wait for each other; 0 elsewhere.

        Where they come by chance the number that waits goes up and down.
        """
        first, last = (bisect_left(self._moves, (-ago, 0)) for ago in (until, since))
        moves = self._moves[first:last]
        if len(moves) < _FEWEST_MOVES:
            return 0
        lasted = defaultdict[int, float](float)
        for (begin, waiting), (then, _) in pairwise((*moves, (-since, 0))):
            lasted[waiting] += then - begin
        usual = max(lasted, key=lasted.__getitem__)
        # The queue had to fill first.
        filled, _ = next(move for move in moves if move[1] == usual)
        is_kept = min(waiting for moment, waiting in moves if moment >= filled) > 0
        near = lasted[usual] + lasted[usual - 1]
        return usual if is_kept and near > _KEPT * max(-since - filled, (until - since) / 2) else 0

    def draw(self, random: Random, until: float, share: float) -> DrawnArrivals:
        """Draws those of one course: hour by hour as in that hour of earlier days, by chance.

        Where they come otherwise than on earlier days, or none is known, they go on as of late, each course up to an
        end of its own. In this `share` of all courses that has ended sooner.
        """
        if len(self.ago) < _FEWEST:
            return DrawnArrivals()
        arrivals, levels, reached = list[Arrival](), list[QueueLevel](), 0.0
        lasts = _goes_on(self._lasted, share)
        while reached < until:
            hour = int(reached // _HOUR)
            place, end = 23 - hour % 24, (hour + 1) * _HOUR
            if reached < lasts:
                stretch, end = self._of_late, min(lasts, end)
            else:
                stretch = self._by_hour[place] if place < len(self._by_hour) else self._before
            if stretch.came:
                # How often they come is known only roughly, the less the fewer have come.
                rate, moment = random.gammavariate(len(stretch.came), 1 / stretch.seconds), reached
                while (moment := moment + random.expovariate(rate)) < min(end, until):
                    example = random.choice(stretch.came)
                    arrivals.append(Arrival(moment, self.claims[example], self.lengths[example]))
            levels.append(QueueLevel(end, stretch.kept))
            reached = end
        return DrawnArrivals(tuple(arrivals), tuple(levels) if arrivals else ())


def _goes_on(lasted: float, share: float) -> float:
    """How much longer something lasts, judged only by how long it has lasted; in this share of cases it ends sooner."""
    return lasted * float((1 - share) ** (-1 / _GOES_ON) - 1)


def changed(ago: Sequence[float]) -> float:
    """For how long they have come otherwise than before, and than in the same time of earlier days; 0 if not.

    It began where a change of the rate explains best when they came; those that came together count as one.
    """
    apart = list[float]()
    for seconds in ago:
        if not apart or seconds - apart[-1] > _TOGETHER:
            apart.append(seconds)
    reach, best, since = apart[-1] if apart else 0.0, _PLAIN, 0.0
    hours = (hour * _HOUR for hour in range(1, 24))
    for stretch in sorted({*hours, *apart[: bisect_right(apart, _DAY)]}):
        count = bisect_right(apart, stretch)
        if _SHORTEST_CHANGE <= stretch < reach and max(count, len(apart) - count) >= _FEWEST:
            gain = _gain((count, stretch), (len(apart) - count, reach - stretch))
            if gain > best:
                best, since = gain, stretch
    days = range(1, 1 + int((reach - since) // _DAY))
    usual = sum(_count(apart, day * _DAY, since) for day in days)
    if since and days and _gain((_count(apart, 0.0, since), since), (usual, len(days) * since)) <= _PLAIN:
        return 0.0
    return since


def _gain(first: tuple[int, float], second: tuple[int, float]) -> float:
    """The logarithm of how many times likelier two rates are than one; of each how many came, in how many seconds."""
    both = (first[0] + second[0], first[1] + second[1])
    weights = [count * math.log(count / seconds) if count else 0.0 for count, seconds in (first, second, both)]
    return weights[0] + weights[1] - weights[2]


def _count(ago: Sequence[float], since: float, stretch: float) -> int:
    return bisect_right(ago, since + stretch) - bisect_left(ago, since)


def tenant_runs(runs: Iterable[Run]) -> TenantRuns:
    """Learned from the runs that a server has made itself, of the last days."""
    made = sorted(
        (run for run in runs if isinstance(run, Backup) and run.created), key=attrgetter("created"), reverse=True
    )
    asked_for = [run for run in made if run.phase != "FailedValidation" and owner_of(run).kind is OwnerKind.NAB]
    lengths = [length for run in asked_for if (length := _seconds(run)) is not None]
    if not lengths:
        return TenantRuns()
    usual = median(lengths)
    return TenantRuns(
        tuple(
            TenantRun(run.created, claim(run), usual if (length := _seconds(run)) is None else length, run.started)
            for run in asked_for
            if run.created is not None
        ),
        _waits_since(made),
    )


def _waits_since(made: Sequence[Backup]) -> datetime | None:
    since = None
    for run in made:
        if run.created is None or not run.schedule_name or run.phase == "FailedValidation":
            continue
        if run.started is not None and run.started - run.created <= _AT_ONCE:
            break
        since = run.created
    return since


def _seconds(run: Backup) -> float | None:
    length = run_length(run)
    return None if length is None else max(1.0, length.total_seconds())


def arrivals_before(known: TenantRuns, now: datetime, claim_of: Callable[[Claim], int]) -> Arrivals:
    """The arrivals of the last days; `claim_of` gives the index of a claim in the model."""
    came = [run for run in known.runs if timedelta() <= now - run.created <= _LONGEST_SEEN]
    since = known.waits_since
    return Arrivals(
        tuple((now - run.created).total_seconds() for run in came),
        tuple(claim_of(run.claim) for run in came),
        tuple(run.seconds for run in came),
        tuple(-1.0 if run.started is None else (now - run.started).total_seconds() for run in came),
        0.0 if since is None else (now - since).total_seconds(),
    )
