"""The queue as Velero processes it: what runs, what waits, for which run, and until when; and its faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import assert_never

import msgspec

from foretop_core.models import Backup, NonAdmin, Restore
from foretop_core.rules import phases
from foretop_core.rules.queue.namespace_claims import NamespaceIndex, claim
from foretop_core.rules.queue.owners import Owner, owner_of
from foretop_core.rules.queue.positions import Run, estimated_positions, has_ended, live_positions, order
from foretop_core.rules.queue.volumes import NOTHING_MOVES, VolumesEnd
from foretop_core.rules.sentences import Text, sentence


class Range(msgspec.Struct, frozen=True, gc=False):
    """A moment that is likely, with the range of half and of nine in ten courses."""

    likely: datetime
    half: tuple[datetime, datetime]
    most: tuple[datetime, datetime]
    by: datetime | None = None
    """In nine of ten courses it is reached by this."""


class RunForecast(msgspec.Struct, frozen=True, gc=False):
    """The start and end of one backup or restore that exists and has not ended; None where that is not known."""

    start: Range | None = None
    end: Range | None = None
    basis: int = 0
    """The number of earlier runs that tell how long it takes."""
    guess: Text = ""
    """Why its length is a guess; "" where its own runs, items or volumes tell it."""
    unknown: Text = ""
    """Why its length is not known."""


NOTHING_FORESEEN = RunForecast()


_AT_ONCE = timedelta(seconds=2)


class QueueItem(msgspec.Struct, frozen=True, gc=False):
    """One unfinished backup or restore in the queue.

    `place` is unique and starts at 1; `position` is what Velero has written. `basis` is the number of earlier runs
    behind the estimate, and `note` says why a start or an end is unknown, or its length a guess. With a `refusal` it
    is refused when it is its turn: `expected_start` is that moment, and it has no end.
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
    is_guess: bool = False
    """Nothing of its own tells how long it takes; `note` says why."""
    starts: Range | None = None
    ends: Range | None = None

    @property
    def phase(self) -> str:
        return self.run.phase

    @property
    def waits(self) -> bool:
        return self.phase in phases.WAITING

    def starts_at_once(self, now: datetime) -> bool:
        """True if it waits for nothing but to be seen."""
        return self.expected_start is not None and self.expected_start - now <= _AT_ONCE

    def holds_schedule_at(self, moment: datetime) -> bool:
        """True if its schedule starts no other at that moment by the forecast, also where no start or end is known."""
        if self.expected_end is not None and self.expected_end <= moment:
            return False
        if self.phase in phases.QUEUE_PHASES:
            # It may be InProgress by then.
            return self.expected_start is None or self.expected_start <= moment
        return self.phase in phases.HOLDS_SCHEDULE

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
    has_queue_phase: bool | None = None,
    foreseen: Mapping[str, RunForecast] | None = None,
    silence: Text = "",
    refusals: Mapping[str, str] | None = None,
    volumes: Callable[[Run], VolumesEnd] = lambda _run: NOTHING_MOVES,
) -> Queue:
    """The queue of one Velero's backups, or of its restores, which run one at a time.

    What is not given is derived from the objects: the concurrency is then at least the number of running ones.
    `foreseen` has by name when a run starts and ends; with `silence` the server shows no activity, and nothing is.
    `refusals` has by name why a waiting backup is refused when it is its turn.
    """
    everyone = list(runs)
    line = sorted((run for run in everyone if not has_ended(run)), key=order)
    queues = has_queue_phase if has_queue_phase is not None else _shows_a_queue(line, concurrency)
    running = sum(run.phase in phases.HOLDS_SLOT for run in line)
    slots = max(1, running if concurrency is None else concurrency) if queues else 1
    by_name = {} if silence or foreseen is None else foreseen
    refused = refusals or {}
    forecasts = [RunForecast(unknown=silence) if silence else by_name.get(run.name, NOTHING_FORESEEN) for run in line]
    holds = find_blockers(line, slots, by_namespace=queues)
    culprits = _culprits(line, forecasts, holds, refused) if by_name else {}
    overtaken = _overtaken(line, holds)
    items = []
    for index, run in enumerate(line):
        foretold, waits = forecasts[index], run.phase in phases.WAITING
        started = run.status.start_timestamp
        note = foretold.guess or foretold.unknown
        if waits and foretold.start is None and index in culprits:
            culprit = culprits[index]
            note = sentence(f"the end of {line[culprit].name} is not known: ", forecasts[culprit].unknown)
        items.append(
            QueueItem(
                run=run,
                place=index + 1,
                position=run.status.queue_position if isinstance(run, Backup) else None,
                owner=owner_of(run),
                hold=holds.of.get(index),
                may_be_overtaken=index in overtaken,
                expected_start=foretold.start.likely if waits and foretold.start is not None else None,
                expected_end=foretold.end.likely if foretold.end is not None else None,
                basis=foretold.basis,
                note=note,
                running_for=now - started if started and not waits else None,
                refusal=refused.get(run.name, ""),
                volumes=NOTHING_MOVES if waits else volumes(run),
                is_guess=bool(foretold.guess),
                starts=foretold.start if waits else None,
                ends=foretold.end,
            )
        )
    return Queue(tuple(items), slots, _last_moved(everyone))


def _culprits(
    line: Sequence[Run], forecasts: Sequence[RunForecast], holds: Blockers, refused: Mapping[str, str]
) -> dict[int, int]:
    """For each run whose start is not known, the run whose unknown end it waits for, directly or indirectly."""
    endless = [
        index
        for index, run in enumerate(line)
        if forecasts[index].end is None
        and run.name not in refused
        and (run.phase in phases.HOLDS_SLOT or forecasts[index].start is not None)
    ]
    culprits, without_end = dict[int, int](), frozenset(endless)
    for index, meets in holds.meets.items():
        if forecasts[index].start is not None or not endless:
            continue
        direct = (who for who in meets if who in without_end)
        through = (culprits[who] for who in meets if who in culprits)
        culprits[index] = next(direct, next(through, endless[0]))
    return culprits


def _overtaken(line: Sequence[Run], holds: Blockers) -> set[int]:
    """The runs blocked by a namespace with an unblocked run behind them, which goes first when a slot is free."""
    overtaken: set[int] = set()
    free_behind = False
    for index in reversed(range(len(line))):
        hold = holds.of.get(index)
        if hold is not None and hold.kind is BlockerKind.NAMESPACE:
            if free_behind:
                overtaken.add(index)
        elif index in holds.meets:
            free_behind = True
    return overtaken


def _shows_a_queue(line: Sequence[Run], concurrency: int | None) -> bool:
    """True if the release has a queue: before 1.18 there are no phases and no flag, and restores never have them."""
    if not all(isinstance(run, Backup) for run in line):
        return False
    return (concurrency or 1) > 1 or any(run.phase in ("Queued", "ReadyToStart") for run in line)


def _last_moved(runs: Iterable[Run]) -> datetime | None:
    moves = (moment for run in runs for moment in (run.status.start_timestamp, run.status.completion_timestamp))
    return max((moment for moment in moves if moment is not None), default=None)


STALLED_AFTER = timedelta(minutes=2)
"""Velero fills a slot at the latest in its once-a-minute pass; at twice that time something is wrong."""


class Stall(msgspec.Struct, frozen=True):
    """A slot that has been free for too long, and the runs that could have had it."""

    since: datetime
    free_slots: int
    startable: tuple[QueueItem, ...]


def queue_stalled(
    line: Queue,
    now: datetime,
    *,
    slot_free_since: datetime | None = None,
    after: timedelta = STALLED_AFTER,
) -> Stall | None:
    """The stall of the queue, if it is stalled with a free slot.

    The objects do not record when a finishing backup released its slot. A caller that has watched it can pass that
    time; otherwise a queue with such a backup is not judged, to avoid a false alarm at every handover.
    """
    startable = tuple(item for item in line.waiting if item.hold is None and item.run.created is not None)
    free_since = slot_free_since or line.last_moved
    if not startable or (slot_free_since is None and _slot_given_up_at_unknown_time(line)):
        return None
    made = min(item.run.created for item in startable if item.run.created is not None)
    since = max(made, free_since) if free_since else made
    return Stall(since, line.free_slots, startable) if now - since > after else None


def _slot_given_up_at_unknown_time(line: Queue) -> bool:
    finishing = [item.run for item in line.items if item.phase in phases.FINISHING]
    if line.concurrency > 1:
        return bool(finishing)
    return any(run.status.start_timestamp == line.last_moved for run in finishing)


class Positions(msgspec.Struct, frozen=True):
    """The positions of all backups, or of all restores, by namespace and name: by the formula, and live."""

    estimated: Mapping[tuple[str, str], int]
    live: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Positions:
        by_namespace: defaultdict[str, list[Run]] = defaultdict(list)
        for run in runs:
            by_namespace[run.namespace].append(run)
        return cls(
            estimated=estimated_positions(run for group in by_namespace.values() for run in group),
            live={
                (namespace, name): place
                for namespace, group in by_namespace.items()
                for name, place in live_positions(group).items()
            },
        )


class Disagreement(msgspec.Struct, frozen=True):
    """The position that a NAB or NAR reports, what its controller would write now, and Velero's own order."""

    reported: int
    recomputed: int
    live: int

    @property
    def is_stale(self) -> bool:
        """True if the controller has not updated it since; otherwise it counts differently."""
        return self.reported != self.recomputed


def disagreement(nonadmin: NonAdmin, positions: Positions) -> Disagreement | None:
    """None if all agree, nothing is reported yet, or the Velero object is not visible."""
    info, key = nonadmin.state.queue_info, (nonadmin.velero.namespace, nonadmin.velero.name)
    if info is None or key not in positions.live:
        return None
    compared = Disagreement(info.estimated_queue_position, positions.estimated[key], positions.live[key])
    return None if compared.reported == compared.recomputed == compared.live else compared


class BlockerKind(Enum):
    SLOT = auto()
    NAMESPACE = auto()
    TURN = auto()


class Blocker(msgspec.Struct, frozen=True, gc=False):
    """The nearest runs ahead that must go first, and why."""

    kind: BlockerKind
    by: tuple[Run, ...]
    namespaces: tuple[str, ...] = ()

    @property
    def is_of_restores(self) -> bool:
        """True of restores, which Velero works off one after the other, beside the slots of backups."""
        return any(isinstance(run, Restore) for run in self.by)

    def __str__(self) -> str:
        names = ", ".join(run.name for run in self.by)
        if self.is_of_restores:
            return f"waits for its turn, after {names}"
        match self.kind:
            case BlockerKind.SLOT:
                return f"waits for a slot, taken by {names}"
            case BlockerKind.TURN:
                return f"waits for a slot, behind {names}"
            case BlockerKind.NAMESPACE:
                return f"waits for {names}: {self.shared}"
        assert_never(self.kind)

    @property
    def shared(self) -> str:
        """The namespaces that they share."""
        if "*" in self.namespaces:
            return "both take every namespace"
        return f"same namespace{'s' if len(self.namespaces) > 1 else ''} {', '.join(self.namespaces)}"


class Blockers(msgspec.Struct):
    """By position in the queue: the blocker of each run that cannot start, and the runs that share its namespaces."""

    of: dict[int, Blocker] = msgspec.field(default_factory=dict)
    meets: dict[int, tuple[int, ...]] = msgspec.field(default_factory=dict)


def find_blockers(line: Sequence[Run], slots: int, *, by_namespace: bool) -> Blockers:
    """Free slots go to the first runs without a conflict ahead; finishing backups block nobody."""
    holders = [index for index, run in enumerate(line) if run.phase in phases.HOLDS_SLOT]
    waiting = [index for index, run in enumerate(line) if run.phase in phases.WAITING]
    conflicts = _conflicts(line, holders, waiting) if by_namespace else {}
    blockers = Blockers(meets={index: tuple(conflicts.get(index, ())) for index in waiting})
    free, before = slots - len(holders), None
    for index in waiting:
        meets = conflicts.get(index)
        if meets:
            shared = tuple(sorted({name for names in meets.values() for name in names}))
            blockers.of[index] = Blocker(BlockerKind.NAMESPACE, tuple(line[who] for who in meets), shared)
            continue
        if free <= 0:
            blockers.of[index] = (
                Blocker(BlockerKind.SLOT, tuple(line[who] for who in holders))
                if before is None
                else Blocker(BlockerKind.TURN, (line[before],))
            )
        free, before = free - 1, index
    return blockers


def _conflicts(
    line: Sequence[Run], holders: Sequence[int], waiting: Sequence[int]
) -> dict[int, dict[int, tuple[str, ...]]]:
    """For each waiting run, the runs ahead that share a namespace, and which; restores claim none."""
    ahead, meetings = NamespaceIndex(), dict[int, dict[int, tuple[str, ...]]]()
    for index in holders:
        run = line[index]
        if isinstance(run, Backup):
            ahead.add_running(claim(run), index)
    for index in waiting:
        run = line[index]
        if isinstance(run, Backup):
            claimed = claim(run)
            meetings[index] = ahead.meets(claimed)
            ahead.add_waiting(claimed, index)
    return meetings
