"""Backups of tenants that nobody has asked for yet: each course replays how they came before.

None of them is foretold. They take slots and places in the queue, so the runs of schedules start later and less surely.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice, pairwise
from operator import itemgetter
from random import Random
from statistics import fmean, median, pvariance

import msgspec

from foretop_core.models import Backup
from foretop_core.rules.queue.namespace_claims import Claim, claim
from foretop_core.rules.queue.owners import OwnerKind, owner_of
from foretop_core.rules.queue.positions import Run
from foretop_core.rules.schedule_history import run_length

_LOOKED_AT = 300
_RECENT = 30
"""The coming hour is like the time in which so many came."""
_FEWEST = 5
"""Fewer do not tell that more will come."""
_LONGEST_SEEN = timedelta(days=7)
_HOUR, _DAY = 3600.0, 86400.0
_SHORTEST_STRETCH = 1200.0
_SHORTEST_OF_FEW = _HOUR
"""A few that came together a moment ago do not tell that as many come every moment."""
_LONGEST_RECENT = 3 * _HOUR
_TOGETHER = 10.0
"""Those that came within so many seconds are one batch: that tells of no rate."""
_SHORTEST_RUSH = 180.0
_PLAIN = 6.0
"""The logarithm of how many times likelier a changed rate must be than an unchanged one."""
_RUSH = 3.0
"""So many times as many as in the same time of earlier days are not one more day of the same."""
_LONG_RUSH = 15
"""A rush of so many tells whether tenants wait for each other, one of fewer only about."""
_GOES_ON = 0.5
"""What has lasted so long goes on for three times as long, or longer, in half of the courses."""
MIDDLE = 0.5
"""The share of courses in which what goes on in the likely one has ended sooner."""
NO_BOUND = 10**6
_OFTEN = 0.2
"""The share of the moves of a queue that leave it at its longest, where those who fill it wait for each other."""


class TenantRun(msgspec.Struct, frozen=True):
    """A backup that a tenant asked for: when, its namespaces, and how long it was at work."""

    created: datetime
    claim: Claim
    seconds: float


class TenantRuns(msgspec.Struct, frozen=True):
    """The newest of a server, the newest first."""

    runs: tuple[TenantRun, ...] = ()
    server_since: datetime | None = None
    """The oldest run of the server, whosever it is."""
    fewest_waiting: int = 0
    """Of late at least so many waited at any time."""
    most_waiting: int = 0
    """More never waited of late: tenants wait for one before they ask for the next."""


class Arrival(msgspec.Struct, frozen=True):
    """A backup that comes in one course, at this second of it."""

    at: float
    claim: int
    length: float


class DrawnArrivals(msgspec.Struct, frozen=True):
    """The backups of tenants in one course."""

    arrivals: tuple[Arrival, ...] = ()
    """In order."""
    fewest_waiting: int = 0
    keep_until: float = 0.0
    """Up to this second at least so many wait."""
    most_waiting: int = 0
    """One that finds so many waiting does not come."""


class Arrivals(msgspec.Struct, frozen=True, dict=True):
    """The backups of tenants that came before a moment, ready to be replayed."""

    ago: tuple[float, ...] = ()
    """The seconds since each of them came, the newest first."""
    claims: tuple[int, ...] = ()
    lengths: tuple[float, ...] = ()
    server_seen: float = 0.0
    """The seconds since the oldest run of the server."""
    fewest_waiting: int = 0
    most_waiting: int = 0

    @cached_property
    def _recent(self) -> float:
        """The length of the stretch that tells of the coming hour."""
        if len(self.ago) >= _RECENT:
            return max(self.ago[_RECENT - 1], _SHORTEST_STRETCH)
        return max(self.ago[-1], min(max(self.server_seen, _SHORTEST_STRETCH), _SHORTEST_OF_FEW))

    @cached_property
    def _rush(self) -> float:
        """How long they have been coming in a rush; 0 where they come as before, or as on earlier days."""
        return rush(self.ago)

    @cached_property
    def without_rush(self) -> Arrivals:
        """As they come on other days and after a rush: what came in it does not come again."""
        if not self._rush:
            return self
        came = bisect_right(self.ago, self._rush)
        return Arrivals(self.ago[came:], self.claims[came:], self.lengths[came:], self.server_seen, 0, NO_BOUND)

    @cached_property
    def _irregularity(self) -> float:
        """0 where they come as a clock ticks, 1 or more where each comes by chance: how much the gaps differ.

        From one busy hour to that of the next day is not a gap.
        """
        gaps = [gap for one, later in pairwise(self.ago) if (gap := later - one) <= _HOUR]
        usual = fmean(gaps or (0.0,))
        return pvariance(gaps, usual) / usual**2 if usual else 1.0

    def _times(self, random: Random, not_one: float) -> int:
        """How often one of them comes in a course: those that come by chance do not come as often again.

        `not_one` is the chance that one of these does not come at all.
        """
        if random.random() >= self._irregularity:
            return 1
        # Poisson.
        count, left = 0, random.random()
        while left > not_one:
            left *= random.random()
            count += 1
        return count

    def draw(self, random: Random, until: float, share: float) -> DrawnArrivals:
        """Draws those of one course: first as they came of late, later as in the same hour of some earlier day.

        Where no earlier day tells of an hour, they go on as of late, each course up to an end of its own: an hour of
        them does not tell of a whole day. In this `share` of all courses that, or a rush, has ended sooner.

        A stretch is replayed from a moment of its own on, so that no two courses are alike; of those that come by
        chance some do not come, and others come more than once.
        """
        if len(self.ago) < _FEWEST:
            return DrawnArrivals()
        found = self._drawn_rush(random, until, share) if self._rush else []
        at = keep_until = found[-1].at if found else 0.0
        usual = self.without_rush
        while at < until and usual.ago:
            stretch = back = usual._recent
            first, last = -int(-(at + _HOUR) // _DAY), int((usual.ago[-1] + at) // _DAY)
            if first <= last and (at or stretch > _LONGEST_RECENT):
                stretch, back = _HOUR, random.randint(first, last) * _DAY - at
            elif not at or at < _goes_on(usual.ago[-1], share):
                keep_until = keep_until if self._rush else min(at + stretch, until)
            else:
                at += _HOUR
                continue
            came = range(bisect_right(usual.ago, back - stretch), bisect_right(usual.ago, back))
            found += usual._replayed(random, at, came, back, stretch, _rate(random, came))
            at += stretch
        coming = tuple(found[: bisect_left(found, until, key=_moment)])
        if self._rush and random.random() * _LONG_RUSH > bisect_right(self.ago, self._rush):
            return DrawnArrivals(coming, most_waiting=NO_BOUND)
        return DrawnArrivals(coming, self.fewest_waiting if coming else 0, keep_until, self.most_waiting)

    def _drawn_rush(self, random: Random, until: float, share: float) -> list[Arrival]:
        """Tenants of a rush: it has no known end, so each course has one of its own."""
        ends = min(until, _LONGEST_RECENT, _goes_on(self._rush, share))
        came = range(bisect_left(self.ago, self._rush - _TOGETHER))
        rate, at, found = _rate(random, came), 0.0, list[Arrival]()
        while at < ends:
            found += self._replayed(random, at, came, self._rush, self._rush, rate)
            at += self._rush
        return found[: bisect_left(found, ends, key=_moment)]

    def _replayed(
        self, random: Random, at: float, came: range, back: float, stretch: float, rate: float
    ) -> list[Arrival]:
        """The tenants of a stretch that began so long ago, as they come in a course from this second on."""
        turn, not_one = random.uniform(0.0, stretch), math.exp(-rate)
        return sorted(
            (
                Arrival(
                    at + (random.uniform(0.0, stretch) if again else (back - self.ago[one] + turn) % stretch),
                    self.claims[one],
                    self.lengths[one],
                )
                for one in came
                for again in range(self._times(random, not_one))
            ),
            key=_moment,
        )


def _moment(arrival: Arrival) -> float:
    return arrival.at


def _goes_on(lasted: float, share: float) -> float:
    """How much longer something lasts, judged only by how long it has lasted; in this share of cases it ends sooner."""
    return lasted * float((1 - share) ** (-1 / _GOES_ON) - 1)


def _rate(random: Random, came: range) -> float:
    """A rate drawn for one course: how often they come is known only roughly, the less the fewer have come."""
    return random.gammavariate(len(came), 1 / len(came)) if came else 0.0


def rush(ago: Sequence[float]) -> float:
    """For how long they have come much faster than before, and than at the same time of earlier days; 0 if not.

    It began where a change of the rate explains best when they came; those that came together count as one.
    """
    apart = list[float]()
    for one in ago:
        if not apart or one - apart[-1] > _TOGETHER:
            apart.append(one)
    every, whole = len(apart), apart[-1] if apart else 0.0
    best, found = _PLAIN, 0.0
    for came, stretch in enumerate(apart[:-1]):
        before, rest = every - came, whole - stretch
        if came >= _FEWEST and stretch >= _SHORTEST_RUSH and came * rest > before * stretch:
            gain = came * math.log(came / stretch) + before * math.log(before / rest) - every * math.log(every / whole)
            if gain > best:
                best, found = gain, stretch
    days = range(1, 1 + int((whole - found) // _DAY))
    usual = fmean([_count(apart, day * _DAY, found) for day in days]) if days else 0.0
    return found if _count(apart, 0.0, found) > _RUSH * usual else 0.0


def _count(ago: Sequence[float], since: float, stretch: float) -> int:
    return bisect_right(ago, since + stretch) - bisect_left(ago, since)


def tenant_runs(runs: Iterable[Run]) -> TenantRuns:
    """Learned from the runs that a server has made itself; of many only the newest are looked at."""
    made = sorted(((run.created, run) for run in runs if run.created is not None), key=itemgetter(0), reverse=True)
    newest = list(islice(((at, run) for at, run in made if isinstance(run, Backup) and _is_asked_for(run)), _LOOKED_AT))
    known = [length for _, run in newest if (length := _seconds(run)) is not None]
    if not known:
        return TenantRuns()
    usual = median(known)
    found = tuple(
        TenantRun(at, claim(run), usual if (length := _seconds(run)) is None else length) for at, run in newest
    )
    return TenantRuns(found, made[-1][0], *_waiting(newest))


def _is_asked_for(run: Backup) -> bool:
    return run.phase != "FailedValidation" and owner_of(run).kind is OwnerKind.NAB


def _seconds(run: Backup) -> float | None:
    length = run_length(run)
    return None if length is None else max(1.0, length.total_seconds())


def _waiting(newest: Sequence[tuple[datetime, Backup]]) -> tuple[int, int]:
    """As many as wait at least and at most, where tenants wait for each other; none and no bound elsewhere."""
    made = [at for at, _ in newest]
    if lasts := rush([(made[0] - at).total_seconds() for at in made]):
        recently = made[0] - timedelta(seconds=lasts)
    elif len(made) >= _RECENT:
        recently = made[_RECENT - 1]
    else:
        return 0, NO_BOUND
    moves = [(at, 1) for at in made]
    moves += [(start, -1) for _, run in newest if (start := run.status.start_timestamp) is not None]
    waiting = 0
    by_second: dict[datetime, int] = {}
    for at, step in sorted(moves):
        waiting += step
        if at >= recently:
            by_second[at] = waiting
    levels = list(by_second.values())
    most = max(levels)
    # The queue had to fill first.
    filled = sorted(levels[levels.index(most) :])
    fewest = filled[len(filled) // 4]
    # Tenants who wait for one before they ask for the next have all asked most of the time. Where they come by chance
    # the number that waits goes up and down, and is at its highest for a moment.
    if filled[0] > 0 and levels.count(most) >= _OFTEN * len(levels):
        return fewest, most
    return 0, NO_BOUND


def arrivals_before(known: TenantRuns, now: datetime, claim_of: Callable[[Claim], int]) -> Arrivals:
    """The arrivals of the last days; `claim_of` gives the index of a claim in the model."""
    if known.server_since is None:
        return Arrivals()
    came = [run for run in known.runs if timedelta() <= now - run.created <= _LONGEST_SEEN]
    return Arrivals(
        tuple((now - run.created).total_seconds() for run in came),
        tuple(claim_of(run.claim) for run in came),
        tuple(run.seconds for run in came),
        (now - known.server_since).total_seconds(),
        known.fewest_waiting,
        known.most_waiting,
    )
