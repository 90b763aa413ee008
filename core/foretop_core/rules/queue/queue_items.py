"""The queue as Velero processes it: what runs, what waits, for which run, and until when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import Backup
from foretop_core.rules import phases
from foretop_core.rules.queue.blockers import Blocker, BlockerKind, Blockers, find_blockers
from foretop_core.rules.queue.positions import Run, has_ended, order
from foretop_core.rules.queue.start_simulation import QueueState, SimulatedStarts, end_of, simulate_starts
from foretop_core.rules.queue.usual_lengths import Expectation, Owner, RunHistory, owner_of, run_history
from foretop_core.rules.queue.volumes import NOTHING_MOVES, VolumesEnd
from foretop_core.rules.sentences import Text, sentence

_LOOKS_AGAIN = timedelta(minutes=1)
"""How long Velero's queue may take to go on behind a backup that was refused: until its once-a-minute pass."""


class QueueItem(msgspec.Struct, frozen=True):
    """One unfinished backup or restore in the queue.

    `place` is unique and starts at 1; `position` is what Velero has written. `basis` is the number of earlier runs
    behind the estimate, and `note` says why a start or an end is unknown. With a `refusal` it is refused when it is
    its turn: `expected_start` is that moment, and it has no end.
    """

    run: Run
    place: int
    position: int | None
    owner: Owner
    hold: Blocker | None
    may_be_overtaken: bool
    expected_start: datetime | None
    expected_end: datetime | None
    basis: int
    note: Text
    running_for: timedelta | None
    refusal: str = ""
    volumes: VolumesEnd = NOTHING_MOVES

    @property
    def phase(self) -> str:
        return self.run.phase

    @property
    def waits(self) -> bool:
        return self.phase in phases.WAITING

    @property
    def is_held_by_namespace(self) -> bool:
        return self.hold is not None and self.hold.kind is BlockerKind.NAMESPACE

    @property
    def blocked_by(self) -> tuple[Run, ...]:
        return self.hold.by if self.hold else ()


class Queue(msgspec.Struct, frozen=True):
    """The unfinished runs of one Velero in order; `last_moved` is the latest recorded start or end."""

    items: tuple[QueueItem, ...]
    concurrency: int
    has_queue_phase: bool
    last_moved: datetime | None

    @property
    def free_slots(self) -> int:
        return max(0, self.concurrency - sum(item.phase in phases.HOLDS_SLOT for item in self.items))

    @property
    def waiting(self) -> tuple[QueueItem, ...]:
        return tuple(item for item in self.items if item.waits)


def queue(
    runs: Iterable[Run],
    *,
    now: datetime,
    concurrency: int | None = None,
    history: RunHistory | None = None,
    has_queue_phase: bool | None = None,
    silence: Text = "",
    refusals: Mapping[str, str] | None = None,
    volumes: Callable[[Run], VolumesEnd] = lambda _run: NOTHING_MOVES,
) -> Queue:
    """The queue of one Velero's backups, or of its restores, which run one at a time.

    What is not given is derived from the objects: the concurrency is then at least the number of running ones. With
    `silence` the server shows no activity, and no start or end can be estimated. `refusals` has by name why a waiting
    backup is refused when it is its turn: in a queue the next one may then wait for a minute, else it takes no time.
    `volumes` tells when those of a run are moved: it ends no earlier.
    """
    everyone = list(runs)
    line = sorted((run for run in everyone if not has_ended(run)), key=order)
    queues = has_queue_phase if has_queue_phase is not None else _shows_a_queue(line, concurrency)
    running = sum(run.phase in phases.HOLDS_SLOT for run in line)
    slots = max(1, running if concurrency is None else concurrency) if queues else 1
    past = history or run_history(everyone, wanted=line)
    refused = refusals or {}
    moved = [NOTHING_MOVES if run.phase in phases.WAITING else volumes(run) for run in line]
    expected = [
        Expectation(None, 0, silence)
        if silence
        else Expectation(_LOOKS_AGAIN if queues else timedelta())
        if run.name in refused
        else _slower(past.expect(run, now), run, moved[at], now)
        for at, run in enumerate(line)
    ]
    holds = find_blockers(line, slots, by_namespace=queues)
    starts = _Starts(line, expected, holds, slots, now, silence)
    overtaken = _overtaken(line, holds)
    items = [
        _item(
            run, at, expected[at], holds.of.get(at), at in overtaken, starts, now, refused.get(run.name, ""), moved[at]
        )
        for at, run in enumerate(line)
    ]
    return Queue(tuple(items), slots, queues, _last_moved(everyone))


class _Starts:
    """The expected start of each waiting run, or why it is unknown."""

    def __init__(
        self,
        line: Sequence[Run],
        expected: Sequence[Expectation],
        holds: Blockers,
        slots: int,
        now: datetime,
        silence: Text,
    ) -> None:
        self._line, self._expected, self._silence = line, expected, silence
        ends = {
            at: _end(run.status.start_timestamp or now, expected[at])
            for at, run in enumerate(line)
            if run.phase in phases.HOLDS_SLOT
        }
        lengths = {at: expected[at].length for at in holds.meets}
        self._played = simulate_starts(QueueState(slots, ends, lengths, holds.meets), now)
        self._culprits = _culprits(holds, self._played)

    def of(self, at: int) -> datetime | None:
        return None if self._silence else self._played.starts.get(at)

    def why_unknown(self, at: int) -> Text:
        if self._silence:
            return self._silence
        culprit = self._culprits[at]
        return sentence(f"the end of {self._line[culprit].name} is not known: ", self._expected[culprit].reason)


def _culprits(holds: Blockers, played: SimulatedStarts) -> dict[int, int]:
    """For each run that never starts, the run whose unknown end it waits for, directly or indirectly."""
    endless, found = set(played.endless), dict[int, int]()
    for at, meets in holds.meets.items():
        if at in played.starts:
            continue
        direct = (who for who in meets if who in endless)
        through = (found[who] for who in meets if who in found)
        found[at] = next(direct, next(through, played.endless[0]))
    return found


def _item(
    run: Run,
    at: int,
    expected: Expectation,
    hold: Blocker | None,
    overtaken: bool,
    starts: _Starts,
    now: datetime,
    refusal: str,
    volumes: VolumesEnd,
) -> QueueItem:
    started = run.status.start_timestamp
    waits = run.phase in phases.WAITING
    start = starts.of(at) if waits else None
    begins = start if waits else started or now
    end = _end(begins, expected) if begins and not refusal else None
    note = starts.why_unknown(at) if waits and start is None else expected.reason
    return QueueItem(
        run=run,
        place=at + 1,
        position=run.status.queue_position if isinstance(run, Backup) else None,
        owner=owner_of(run),
        hold=hold,
        may_be_overtaken=overtaken,
        expected_start=start,
        expected_end=end,
        basis=expected.runs,
        note=note,
        running_for=now - started if started and not waits else None,
        refusal=refusal,
        volumes=volumes,
    )


def _slower(expected: Expectation, run: Run, volumes: VolumesEnd, now: datetime) -> Expectation:
    """The slowest counts: a run does not end before its volumes are moved, whatever its items and past runs tell."""
    if volumes.reason:
        return Expectation(None, expected.runs, volumes.reason)
    if volumes.end is None:
        return expected
    length = volumes.end - (run.status.start_timestamp or now)
    return Expectation(length) if expected.length is None or expected.length < length else expected


def _end(start: datetime, expected: Expectation) -> datetime | None:
    return end_of(start, expected.length)


def _overtaken(line: Sequence[Run], holds: Blockers) -> set[int]:
    """The runs blocked by a namespace with an unblocked run behind them, which goes first when a slot is free."""
    found: set[int] = set()
    free_behind = False
    for at in reversed(range(len(line))):
        hold = holds.of.get(at)
        if hold is not None and hold.kind is BlockerKind.NAMESPACE:
            if free_behind:
                found.add(at)
        elif at in holds.meets:
            free_behind = True
    return found


def _shows_a_queue(line: Sequence[Run], concurrency: int | None) -> bool:
    """Whether the release has a queue: before 1.18 there are no phases and no flag, and restores never have them."""
    if not all(isinstance(run, Backup) for run in line):
        return False
    return (concurrency or 1) > 1 or any(run.phase in ("Queued", "ReadyToStart") for run in line)


def _last_moved(runs: Iterable[Run]) -> datetime | None:
    moves = (moment for run in runs for moment in (run.status.start_timestamp, run.status.completion_timestamp))
    return max((moment for moment in moves if moment is not None), default=None)
