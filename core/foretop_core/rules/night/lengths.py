"""How long coming runs take: drawn from the successful runs before them, the recent ones more often."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import accumulate
from random import Random
from statistics import median

import msgspec

from foretop_core.models import Backup
from foretop_core.rules import phases

REMEMBERED = 20
_FADES = 0.9
"""Each run weighs so much of the one after it."""
_FEW = 3
FEWEST_TO_BORROW = 5
"""The runs of a server tell of one that has none of its own only where there are so many."""
_SPREAD, _SPREAD_OF_FEW, _SPREAD_OF_BORROWED = 0.06, 0.3, 0.5
"""How far a run may be from all that were seen, as a share: a short history has not seen everything."""
_LONGER_THAN_ALL = 0.3
_TRIES = 12
_LONGEST = 30 * 24 * 3600.0
_ENDED, _CREATED, _STARTED = range(3)


class Source(StrEnum):
    """Whose runs tell how long one takes."""

    OWN = "own"
    ALIKE = "runs of the same namespaces"
    SERVER = "other runs of the server"


class Lengths(msgspec.Struct, frozen=True):
    """The lengths in seconds of one schedule's or team's runs, the newest first."""

    seconds: tuple[float, ...] = ()
    source: Source = Source.OWN

    @property
    def likely(self) -> float:
        """The middle of the recent runs; endless where no run of the server tells."""
        return median(self.seconds[: REMEMBERED // 2]) if self.seconds else math.inf

    @property
    def spread(self) -> float:
        if self.source is Source.SERVER:
            return _SPREAD_OF_BORROWED
        return _SPREAD_OF_FEW if len(self.seconds) < _FEW or self.source is Source.ALIKE else _SPREAD

    def draw(self, random: Random, count: int) -> list[float]:
        """As many lengths of coming runs."""
        known = self.seconds
        if not known:
            return [math.inf] * count
        weights = list(accumulate(_FADES**age for age in range(len(known))))
        chosen = random.choices(known, cum_weights=weights, k=count)
        spread, gauss = self.spread, random.gauss
        return [max(1.0, length * math.exp(gauss(0.0, spread)) + random.uniform(-1.0, 1.0)) for length in chosen]

    def left(self, elapsed: float, random: Random | None, by_items: float | None) -> float:
        """The seconds until a run ends that has gone on for so long: as the earlier runs that took longer.

        Where none took longer, its own items tell, and else a share of what it took so far.
        """
        if random is None:
            longer = [length for length in self.seconds if length > elapsed]
            if longer:
                return max(1.0, median(longer) - elapsed)
        elif self.seconds:
            longer = [length for length in self.draw(random, _TRIES) if length > elapsed]
            if longer:
                return longer[0] - elapsed
        if by_items is not None:
            rest = max(1.0, by_items - elapsed)
        elif self.seconds:
            rest = max(1.0, elapsed * _LONGER_THAN_ALL)
        else:
            return math.inf
        return rest if random is None else max(0.5, rest * math.exp(random.gauss(0.0, _SPREAD_OF_BORROWED)))


def known_lengths(runs: Iterable[Backup]) -> tuple[float, ...]:
    """The lengths of the last successful runs, the newest first; a synced one is another cluster's."""
    found: list[tuple[datetime, float]] = []
    for run in runs:
        started, ended = run.status.start_timestamp, run.status.completion_timestamp
        if started is None or ended is None or run.phase not in phases.USABLE or was_synced(run):
            continue
        seconds = (ended - started).total_seconds()
        if 0 <= seconds <= _LONGEST:
            found.append((started, max(1.0, seconds)))
    found.sort(reverse=True)
    return tuple(seconds for _, seconds in found[:REMEMBERED])


def was_synced(run: Backup) -> bool:
    """Whether the sync made it from what lies in the bucket: created after it was completed."""
    done = run.status.completion_timestamp
    return done is not None and run.created is not None and run.created > done


_AT_ONCE = timedelta(seconds=2)
_PRIOR_LATE, _PRIOR = 1.0, 6.0
"""Before any was seen: one hand-over in six is late, as on the servers that were watched."""
_SHRINKS = 4.0
_LOOKED_AT = 200
LONG_QUEUE = 6
"""Behind so many the queue is looked at more often, and fewer hand-overs are late."""


class LateShares(msgspec.Struct, frozen=True):
    """The share of ends after which a free slot is not taken until the next submission or pass of the server."""

    short_queue: float
    long_queue: float


class LateHandovers(msgspec.Struct, frozen=True):
    """How many hand-overs were seen, and how many of them late, behind a short and behind a long queue."""

    seen: tuple[int, int] = (0, 0)
    late: tuple[int, int] = (0, 0)

    @property
    def share(self) -> float:
        return (sum(self.late) + _PRIOR_LATE) / (sum(self.seen) + _PRIOR)

    def shares(self, random: Random | None) -> LateShares:
        """The shares of one course: few hand-overs leave it open how many are late, so each course draws its own."""
        short, long = (
            (late + _SHRINKS * self.share, seen + _SHRINKS) for late, seen in zip(self.late, self.seen, strict=True)
        )
        if random is None:
            return LateShares(short[0] / short[1], long[0] / long[1])
        return LateShares(*(random.betavariate(late, seen - late) for late, seen in (short, long)))


def late_handovers(runs: Sequence[Backup], slots: int) -> LateHandovers:
    """Learned from the server's own runs: when a slot was free, who waited, and when the next one started."""
    moves: list[tuple[datetime, int, datetime]] = []
    for run in runs:
        created, started, ended = run.created, run.status.start_timestamp, run.status.completion_timestamp
        if started is None or created is None or was_synced(run) or (ended is None and run.phase in phases.ENDED):
            continue
        moves.append((created, _CREATED, created))
        moves.append((started, _STARTED, created))
        if ended is not None:
            moves.append((ended, _ENDED, created))
    moves.sort(key=lambda move: move[:2])
    at_work = waiting = behind = 0
    free_since: datetime | None = None
    seen, late = [0, 0], [0, 0]
    for at, what, created in moves[-3 * _LOOKED_AT :]:
        if what == _CREATED:
            waiting += 1
        elif what == _ENDED:
            at_work -= 1
            if at_work == slots - 1:
                free_since, behind = at, waiting
        else:
            if at - created > _AT_ONCE:
                was_free = at_work < slots and free_since is not None and at - max(free_since, created) > _AT_ONCE
                is_long = (behind if was_free else waiting) >= LONG_QUEUE
                seen[is_long] += 1
                late[is_long] += was_free
            at_work += 1
            waiting -= 1
    return LateHandovers((seen[0], seen[1]), (late[0], late[1]))
