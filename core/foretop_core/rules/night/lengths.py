"""How long coming runs take: drawn from the successful runs before them, the recent ones more often."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import accumulate, chain, islice
from operator import itemgetter
from random import Random
from statistics import median

import msgspec

from foretop_core.models import Backup
from foretop_core.rules import phases
from foretop_core.rules.night.arrivals import TenantRuns, tenant_runs
from foretop_core.rules.queue.namespace_claims import Claim, claim
from foretop_core.rules.queue.owners import Owner, OwnerKind, owner_of
from foretop_core.rules.queue.positions import Run
from foretop_core.rules.remembered import remembered
from foretop_core.rules.schedule_history import run_length

REMEMBERED = 20
FEWEST_RUNS = 3
"""So many own runs tell a length; fewer make it a guess."""
_FADES = 0.9
"""Each run weighs so much of the one after it."""
FEWEST_TO_BORROW = 5
"""The runs of a server tell of one that has none of its own only where there are so many."""
_SPREAD, _SPREAD_OF_FEW, _SPREAD_OF_BORROWED = 0.06, 0.3, 0.5
"""How far a run may be from all that were seen, as a share: a short history has not seen everything."""
_UNSEEN = 5.0
"""Nine in ten of all runs spread wider than nine tenths of those seen: their variance by this over their number."""
_OF_NORMAL = 1.4826
"""The spread of a normal distribution beside the middle distance of its values from their middle."""
_LONGER_THAN_ALL = 0.3
_FEWEST_LONGER = 2
"""One longer run alone may have been held up by something that will not happen again."""
_TRIES = 12
_LONGEST = 30 * 24 * 3600.0
_LONGEST_BY_ITEMS = 365 * 24 * 3600.0
_ENDED, _CREATED, _STARTED = range(3)


class Source(StrEnum):
    """Whose runs tell how long one takes."""

    OWN = "own"
    ALIKE = "runs of the same namespaces"
    SERVER = "other runs of the server"


@lru_cache(4096)
def _unseen(seconds: tuple[float, ...]) -> float:
    """How far a run may be from all that were seen by their own spread; a single one far off does not count."""
    logs = [math.log(length) for length in seconds]
    middle = median(logs)
    return _OF_NORMAL * median(abs(log - middle) for log in logs) * math.sqrt(_UNSEEN / len(logs))


@lru_cache(4096)
def _weights(count: int) -> list[float]:
    """Sums the weights of so many lengths, the newest first; never written to."""
    return list(accumulate(_FADES**age for age in range(count)))


class Lengths(msgspec.Struct, frozen=True, gc=False):
    """The lengths in seconds of one schedule's or team's runs, the newest first."""

    seconds: tuple[float, ...] = ()
    source: Source = Source.OWN
    factor: float = 1.0
    """The coming runs take so many times as long: somebody asks what would be then."""

    @property
    def likely(self) -> float:
        """The middle of the recent runs; endless where no run of the server tells."""
        return self.factor * median(self.seconds[: REMEMBERED // 2]) if self.seconds else math.inf

    @property
    def spread(self) -> float:
        if self.source is Source.SERVER:
            return _SPREAD_OF_BORROWED
        if len(self.seconds) < FEWEST_RUNS or self.source is Source.ALIKE:
            return _SPREAD_OF_FEW
        return max(_SPREAD, _unseen(self.seconds))

    def draw(self, random: Random, count: int) -> list[float]:
        """As many lengths of coming runs."""
        seconds = self.seconds
        if not seconds:
            return [math.inf] * count
        chosen = random.choices(seconds, cum_weights=_weights(len(seconds)), k=count)
        spread, gauss, factor = self.spread, random.gauss, self.factor
        return [
            max(1.0, factor * length * math.exp(gauss(0.0, spread)) + random.uniform(-1.0, 1.0)) for length in chosen
        ]

    def left(self, elapsed: float, random: Random | None, by_items: float | None) -> float:
        """The seconds until a run ends that has gone on for so long: as the earlier runs that took longer.

        Where too few took longer (`tells` says it), its own items tell, and else a share of what it took so far.
        """
        if by_items is not None:
            return _about(max(1.0, by_items - elapsed), random)
        if random is None:
            longer = [length for length in self.seconds[: REMEMBERED // 2] if length > elapsed]
            if len(longer) >= max(1, min(_FEWEST_LONGER, len(self.seconds))):
                return max(1.0, median(longer) - elapsed)
        elif self.seconds:
            longer = [length for length in self.draw(random, _TRIES) if length > elapsed]
            if longer:
                return longer[0] - elapsed
        return _about(max(1.0, elapsed * _LONGER_THAN_ALL), random) if self.seconds else math.inf

    def tells(self, elapsed: float = 0.0) -> bool:
        """True if own runs tell when one ends that has gone on for so long: otherwise it is a guess."""
        longer = sum(length > elapsed for length in self.seconds[: REMEMBERED // 2])
        return self.source is Source.OWN and len(self.seconds) >= FEWEST_RUNS and longer >= _FEWEST_LONGER

    def is_outlived(self, elapsed: float) -> bool:
        """True if a run has gone on for longer than all of the few that are known: they do not tell when it ends."""
        return 0 < len(self.seconds) < FEWEST_RUNS and elapsed >= max(self.seconds)

    def why_a_guess(self, owner: Owner, elapsed: float = 0.0) -> str:
        """Why the length of a run that has gone on for so long is a guess, or not known; "" where it is told."""
        if self.tells(elapsed):
            return ""
        count = len(self.seconds) if self.source is Source.OWN else 0
        if owner.kind is OwnerKind.HAND and not count:
            return "created by hand, no earlier runs to compare"
        if count >= FEWEST_RUNS:
            longer = sum(length > elapsed for length in self.seconds)
            passed = f"{count - longer} of the last" if longer else "the last"
            return f"already longer than {passed} {count} runs"
        of_schedule = owner.kind is OwnerKind.SCHEDULE
        whose = f"schedule {owner.name}" if of_schedule else f"{owner.kind}s of {owner.namespace}"
        return f"too few earlier runs of {whose}: {count}, needs {FEWEST_RUNS}"


def _about(rest: float, random: Random | None) -> float:
    return rest if random is None else max(0.5, rest * math.exp(random.gauss(0.0, _SPREAD_OF_BORROWED)))


def by_items(run: Run, elapsed: float) -> float | None:
    """The whole length of a run, in seconds, by its share of items so far; None where they do not tell."""
    progress = run.status.progress
    if progress is None or not 0 < progress.done < progress.total_items:
        return None
    length = elapsed * progress.total_items / progress.done
    return length if length < _LONGEST_BY_ITEMS else None


def known_lengths(runs: Iterable[Run]) -> tuple[float, ...]:
    """The lengths of the last successful runs, the newest first; a synced one is another cluster's."""
    dated: list[tuple[datetime, float]] = []
    for run in runs:
        started, length = run.status.start_timestamp, run_length(run)
        if started is None or length is None or run.phase not in phases.USABLE or was_synced(run):
            continue
        seconds = length.total_seconds()
        if seconds <= _LONGEST:
            dated.append((started, max(1.0, seconds)))
    return tuple(seconds for _, seconds in nlargest(REMEMBERED, dated))


def usual_length(runs: Iterable[Run]) -> timedelta | None:
    """How long the runs of one owner take, from the last of them; None where they are too few to say."""
    lengths = Lengths(known_lengths(runs))
    return timedelta(seconds=lengths.likely) if len(lengths.seconds) >= FEWEST_RUNS else None


def usual_sample(runs: Iterable[Run]) -> int:
    """The number of runs that `usual_length` is the median of."""
    return min(len(known_lengths(runs)), REMEMBERED // 2)


def was_synced(run: Run) -> bool:
    """True if the sync made it from what lies in the bucket: created after it was completed."""
    done = run.status.completion_timestamp
    return done is not None and run.created is not None and run.created > done


class _Team:
    """The runs of the NABs or NARs of one namespace, or of the schedules of one server."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.by_name: defaultdict[str, list[Run]] = defaultdict(list)
        for run in runs:
            self.by_name[owner_of(run).name].append(run)

    @cached_property
    def lengths(self) -> tuple[float, ...]:
        return known_lengths(chain.from_iterable(self.by_name.values()))


class RunHistory:
    """The earlier runs of one server; whose lengths are asked for is looked at then, and remembered."""

    def __init__(self, runs: Callable[[], Iterable[Run]], runs_of: Callable[[Owner], Iterable[Run]] | None = None):
        self._runs, self._runs_of = runs, runs_of
        self._lengths: dict[tuple[Owner, Claim | None], Lengths] = {}
        self._teams: dict[tuple[OwnerKind, str], _Team] = {}

    @cached_property
    def _every(self) -> tuple[Run, ...]:
        return tuple(self._runs())

    @cached_property
    def _by_team(self) -> Mapping[tuple[OwnerKind, str], Sequence[Run]]:
        by_team: defaultdict[tuple[OwnerKind, str], list[Run]] = defaultdict(list)
        for run in self._every:
            owner = owner_of(run)
            by_team[owner.kind, owner.namespace].append(run)
        return by_team

    @cached_property
    def _by_claim(self) -> dict[Claim, list[Run]]:
        by_claim: defaultdict[Claim, list[Run]] = defaultdict(list)
        for run in self._every:
            if isinstance(run, Backup):
                by_claim[claim(run)].append(run)
        return by_claim

    @cached_property
    def _of_all(self) -> dict[type[Run], tuple[float, ...]]:
        by_kind: defaultdict[type[Run], list[Run]] = defaultdict(list)
        for run in self._every:
            by_kind[type(run)].append(run)
        return {kind: known_lengths(runs) for kind, runs in by_kind.items()}

    def of(self, owner: Owner, kind: type[Run], wanted: Claim | None = None) -> Lengths:
        """Its own runs tell best, for a NAB or NAR its team's, then those of the same namespaces, then all."""
        key = (owner, wanted)
        lengths = self._lengths.get(key)
        if lengths is None:
            lengths = self._lengths[key] = self._of(owner, kind, wanted)
        return lengths

    def _of(self, owner: Owner, kind: type[Run], wanted: Claim | None) -> Lengths:
        own = self._own(owner)
        if own:
            return Lengths(own)
        alike = known_lengths(self._by_claim.get(wanted, ())) if wanted is not None else ()
        if alike:
            return Lengths(alike, Source.ALIKE)
        every = self._of_all.get(kind, ())
        return Lengths(every if len(every) >= FEWEST_TO_BORROW else (), Source.SERVER)

    def _own(self, owner: Owner) -> tuple[float, ...]:
        if owner.kind is OwnerKind.HAND:
            return ()
        if owner.kind is OwnerKind.SCHEDULE and self._runs_of is not None:
            return known_lengths(self._runs_of(owner))
        team = self._team(owner)
        own = known_lengths(team.by_name.get(owner.name, ()))
        if len(own) >= FEWEST_RUNS or owner.kind is OwnerKind.SCHEDULE:
            return own
        return max(own, team.lengths, key=len)

    def _team(self, owner: Owner) -> _Team:
        """Each is looked at once: it may have ten thousand NABs, and each of them asks."""
        key = (owner.kind, owner.namespace)
        team = self._teams.get(key)
        if team is None:
            runs = self._by_team.get(key, ()) if self._runs_of is None else self._runs_of(owner)
            team = self._teams[key] = _Team(runs)
        return team

    @cached_property
    def tenants(self) -> TenantRuns:
        return tenant_runs(run for run in self._every if not was_synced(run))

    @remembered
    def late(self, slots: int, second: int | None) -> LateHandovers:
        return late_handovers([run for run in self._every if isinstance(run, Backup)], slots, second)


AT_ONCE = timedelta(seconds=2)
"""A hand-over that is not late takes less, and objects have whole seconds."""
_LATE_OF_ONE_SLOT, _LATE_OF_SEVERAL, _PRIOR = 19 / 68, 1 / 24, 6.0
"""The shares of late hand-overs on the servers that were watched, and how many hand-overs these count for."""
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
    slots: int = 1

    @property
    def share(self) -> float:
        usual = _LATE_OF_ONE_SLOT if self.slots == 1 else _LATE_OF_SEVERAL
        return (sum(self.late) + usual * _PRIOR) / (sum(self.seen) + _PRIOR)

    def shares(self, random: Random | None) -> LateShares:
        """The shares of one course: few hand-overs leave it open how many are late, so each course draws its own."""
        short, long = (
            (late + _SHRINKS * self.share, total + _SHRINKS) for late, total in zip(self.late, self.seen, strict=True)
        )
        if random is None:
            return LateShares(short[0] / short[1], long[0] / long[1])
        return LateShares(*(random.betavariate(late, total - late) for late, total in (short, long)))


def late_handovers(runs: Sequence[Backup], slots: int, second: int | None = None) -> LateHandovers:
    """Learned from the server's own runs: when a slot was free, who waited, and when the next one started.

    A late start falls on a submission or on a pass of the server, which comes at this second of the minute. One that
    falls on neither, nor on an end, followed a backup that is deleted by now: what was before is not known.
    """
    started = sorted(
        ((run.status.start_timestamp, run) for run in runs if run.status.start_timestamp is not None),
        key=itemgetter(0),
        reverse=True,
    )
    recent = (
        (start, run.created, run.status.completion_timestamp)
        for start, run in started
        if run.created is not None
        and not was_synced(run)
        and (run.status.completion_timestamp is not None or run.phase not in phases.ENDED)
    )
    moves: list[tuple[datetime, int, datetime]] = []
    for begun, created, ended in islice(recent, _LOOKED_AT):
        moves.append((created, _CREATED, created))
        moves.append((begun, _STARTED, created))
        if ended is not None:
            moves.append((ended, _ENDED, created))
    moves.sort(key=lambda move: move[:2])
    at_work = waiting = behind = 0
    free_since = last_end = last_made = datetime.min.replace(tzinfo=UTC)
    totals, late = [0, 0], [0, 0]
    for moment, what, created in moves:
        if what == _CREATED:
            waiting += 1
            last_made = moment
        elif what == _ENDED:
            at_work -= 1
            last_end = moment
            if at_work == slots - 1:
                free_since, behind = moment, waiting
        else:
            if moment - created > AT_ONCE:
                # Where its namespaces were taken, the end of that backup is what it waited for.
                is_late = at_work < slots and moment - max(free_since, last_end, created) > AT_ONCE
                is_on_pass = second is None or (moment.second - second + 2) % 60 <= 4
                if is_late and moment - last_made > AT_ONCE and not is_on_pass:
                    totals, late = [0, 0], [0, 0]
                else:
                    is_long = (behind if is_late else waiting) >= LONG_QUEUE
                    totals[is_long] += 1
                    late[is_long] += is_late
            at_work += 1
            waiting -= 1
    return LateHandovers((totals[0], totals[1]), (late[0], late[1]), slots)
