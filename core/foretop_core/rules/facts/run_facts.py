"""Facts of one backup or restore: its place in the queue, its progress, when it starts and ends or why not.

Every surface reads it here, in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias, assert_never

import msgspec

from foretop_core.models import Backup, BackupSpec, DataMovement, Restore, RestoreSpec, Schedule
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.models.wire import Metadata
from foretop_core.rules import humanize, phases
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET, ServerFacts, ServerState, server_facts
from foretop_core.rules.night.lengths import RunHistory, usual_length, usual_sample
from foretop_core.rules.night.open_queue import QueueForecasts
from foretop_core.rules.night.ranges import SURE
from foretop_core.rules.night.server_model import history_of, server_has_queue
from foretop_core.rules.pauses import ANNOTATIONS
from foretop_core.rules.queue.owners import Owner, OwnerKind, owner_of
from foretop_core.rules.queue.positions import Run, has_ended, order
from foretop_core.rules.queue.queue_items import Blocker, BlockerKind, Queue, QueueItem, RunForecast, queue
from foretop_core.rules.queue.volumes import VolumesEnd, rate, stands_still, time_left, volumes_end
from foretop_core.rules.schedule_history import run_length
from foretop_core.rules.sentences import Text, about, estimate, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import waiting_refusals
from foretop_core.rules.volumes.evidence import RunVolumes, ToldVolume, VolumeFate

__all__ = [
    "DataProgress",
    "Forecasts",
    "Lessened",
    "LineSums",
    "Owner",
    "OwnerKind",
    "QueueForecasts",
    "QueueItem",
    "QueueLine",
    "Run",
    "RunFacts",
    "RunHistory",
    "RunState",
    "RunVolumes",
    "backup_of",
    "data_progress",
    "goes_into",
    "has_ended",
    "history_of",
    "last_progress",
    "lessened",
    "line_sums",
    "order",
    "owner_of",
    "planned_backup",
    "planned_runs",
    "queue_line",
    "rate",
    "run_facts",
    "run_length",
    "stamped_name",
    "time_left",
    "unknown_line",
    "usual_length",
    "usual_sample",
    "waited",
    "was_seen_moving",
]


Forecasts: TypeAlias = Mapping[tuple[type[Run], str], RunForecast]
"""By kind and name, when the open runs of a server start and end."""


_WORTH_TELLING = timedelta(minutes=2)


class RunState(Enum):
    """How a run stands; each but ENDED has something to wait for."""

    ENDED = auto()
    NOT_KNOWN = auto()
    """What it is judged by has not come in yet."""
    SERVER_SILENT = auto()
    STORAGE_HANGS = auto()
    REFUSED = auto()
    """Velero refuses it when it is its turn."""
    WAITS = auto()
    WAITS_FOR_VOLUME = auto()
    STALLED = auto()
    RUNS = auto()


class DataProgress(msgspec.Struct, frozen=True, gc=False):
    """The bytes of the volumes of a run; `total` is of those whose size is known."""

    volumes: int = 0
    moved: int = 0
    """Volumes that are done."""
    done: int = 0
    total: int = 0
    unknown: int = 0
    """Unfinished volumes of unknown size."""
    moving: int = 0

    @property
    def is_open(self) -> bool:
        return self.moved < self.volumes

    @property
    def percent(self) -> int | None:
        """The share of the bytes; None where no size is known."""
        return 100 * min(self.done, self.total) // self.total if self.total else None


class RunFacts(msgspec.Struct, frozen=True, gc=False):
    """One backup or restore at one moment; `item` is its place in the line of its server, None for one that ended.

    `told` is the sentence about its start or end, `waits_for` the few words of a row. `held_for` is how long it has
    stood still, or has waited for what holds it.
    """

    run: Run
    state: RunState
    server: ServerFacts
    item: QueueItem | None = None
    waiting_place: int = 0
    """Its place among those that wait, which those at work lead; 0 for one that is not in the queue."""
    ahead: int = 0
    """How many have or want a slot before it."""
    data: DataProgress = DataProgress()
    told: Text = ""
    waits_for: str = ""
    held_for: timedelta | None = None

    @property
    def place(self) -> int:
        """Its place in Velero's line, which those at work lead; 0 where it is in none."""
        return self.item.place if self.item is not None else 0

    @property
    def expected_start(self) -> datetime | None:
        return None if self.item is None or self.item.refusal else self.item.expected_start

    @property
    def expected_end(self) -> datetime | None:
        """None in every state in which nobody can tell."""
        has_end = (RunState.RUNS, RunState.WAITS, RunState.WAITS_FOR_VOLUME)
        return self.item.expected_end if self.item is not None and self.state in has_end else None

    @property
    def not_before(self) -> datetime | None:
        """The moment before which it does not end, where that is all that is known."""
        if self.item is None or self.state is not RunState.WAITS_FOR_VOLUME or self.expected_end is not None:
            return None
        return self.item.volumes.not_before

    @property
    def stands_still(self) -> bool:
        """True if it was at work, and neither Velero nor its storage gets on with it."""
        standing = (RunState.SERVER_SILENT, RunState.STORAGE_HANGS, RunState.STALLED)
        return self.state in standing and self.run.phase not in phases.WAITING

    @property
    def is_left_alone(self) -> bool:
        """True if a silent server has never seen it: it is in no queue then."""
        return self.state in (RunState.SERVER_SILENT, RunState.STORAGE_HANGS) and not _was_picked_up(self.run)


def _was_picked_up(run: Run) -> bool:
    """True if Velero has seen it: one that it has not seen is in nobody's queue."""
    return run.phase not in ("", "New")


class LineSums(msgspec.Struct, frozen=True):
    """The sums that are told of the runs of one kind in a line together."""

    running: int
    finishing: int
    waiting: int
    """All that wait, those among them that Velero will refuse."""
    refused: int
    start: datetime | None
    """When the last of those that wait starts; None where that is not known of each."""
    end: datetime | None
    """When the last of them ends."""

    @property
    def has_coming(self) -> bool:
        return self.refused < self.waiting


def line_sums(items: Iterable[QueueItem]) -> LineSums:
    """Costs a look at each of the runs."""
    everyone = tuple(items)
    waiting = [item for item in everyone if item.waits]
    coming = [item for item in waiting if not item.refusal]
    finishing = sum(item.phase in phases.FINISHING for item in everyone)
    return LineSums(
        running=len(everyone) - len(waiting) - finishing,
        finishing=finishing,
        waiting=len(waiting),
        refused=len(waiting) - len(coming),
        start=_last_of_all([item.expected_start for item in coming]),
        end=_last_of_all([item.expected_end for item in coming]),
    )


def _last_of_all(moments: Sequence[datetime | None]) -> datetime | None:
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None


class QueueLine(msgspec.Struct, frozen=True, dict=True):
    """The unfinished runs of one server, in the one order that all surfaces show."""

    server: ServerFacts
    backups: Queue
    restores: Queue
    by_run: dict[tuple[type[Run], str], QueueItem]
    running: dict[type[Run], int]
    """How many the server works on, those that are finishing among them."""
    is_older: bool = False
    """It is of a moment ago: runs may have come, started and ended since."""

    def item(self, run: Run) -> QueueItem | None:
        return self.by_run.get((type(run), run.name))

    def waiting_place(self, run: Run) -> int:
        """Its place among those that wait; 0 for any other, and where a silent server has never seen it."""
        item = self.item(run)
        if item is None or not item.waits or (self.server.silent_for is not None and not _was_picked_up(run)):
            return 0
        return item.place - self.running[type(run)]

    def ahead(self, run: Run) -> int:
        """How many of its kind have or want a slot before it."""
        item = self.item(run)
        return 0 if item is None else self._ahead[type(run)][item.place - 1]

    @cached_property
    def sums(self) -> Mapping[type[Run], LineSums]:
        """By kind, of all its runs."""
        return {kind: line_sums(line.items) for kind, line in ((Backup, self.backups), (Restore, self.restores))}

    def summed_up(self) -> QueueLine:
        """The same, with all that takes a look at each of its runs worked out: for whoever asks has no time for it."""
        _ = self.sums, self.last_end, self._ahead
        return self

    @cached_property
    def last_end(self) -> datetime | None:
        """The end of the last backup that waits; None where none has a known end."""
        ends = (item.expected_end for item in self.backups.waiting)
        return max((end for end in ends if end is not None), default=None)

    @cached_property
    def _ahead(self) -> dict[type[Run], list[int]]:
        """By kind and place."""
        return {
            kind: list(accumulate((item.waits or item.phase in phases.HOLDS_SLOT for item in line.items), initial=0))
            for kind, line in ((Backup, self.backups), (Restore, self.restores))
        }


def unknown_line(server: ServerFacts) -> QueueLine:
    """The line of a server before its runs were looked at."""
    nothing = Queue((), server.slots or 1, None)
    return QueueLine(server, nothing, nothing, {}, {Backup: 0, Restore: 0}, is_older=True)


def queue_line(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    server: ServerFacts | None = None,
    forecasts: Forecasts | None = None,
    planned: Sequence[Backup] = (),
) -> QueueLine:
    """The line of the server of a namespace; without `forecasts` it is played forward, by a look at all of its runs.

    `planned` backups stand in it as if they were made now.
    """
    facts = server or server_facts(snapshot, namespace, now)
    backups = (*snapshot.open_backups.get(namespace, ()), *planned)
    restores = snapshot.open_restores.get(namespace, ())
    if facts.silence:
        foreseen: Forecasts = {}
    else:
        foreseen = QueueForecasts().of(snapshot, namespace, now, planned=planned) if forecasts is None else forecasts

    def told(kind: type[Run]) -> dict[str, RunForecast]:
        return {name: forecast for (of, name), forecast in foreseen.items() if of is kind}

    def volumes(run: Run) -> VolumesEnd:
        return volumes_end(snapshot.movements_of(run), snapshot.on_node, now)

    lines = (
        queue(
            backups,
            now=now,
            concurrency=facts.slots,
            has_queue_phase=server_has_queue(snapshot, namespace, backups),
            foreseen=told(Backup),
            silence=facts.silence,
            refusals=waiting_refusals(snapshot, backups),
            volumes=volumes,
        ),
        queue(restores, now=now, foreseen=told(Restore), silence=facts.silence, volumes=volumes),
    )
    items = [item for line in lines for item in line.items]
    return QueueLine(
        facts,
        *lines,
        {(type(item.run), item.run.name): item for item in items},
        {Backup: _at_work(lines[0]), Restore: _at_work(lines[1])},
    )


def _at_work(line: Queue) -> int:
    return sum(not item.waits for item in line.items)


def run_facts(
    snapshot: ClusterSnapshot, run: Run, now: datetime, line: QueueLine, nothing_moved: timedelta
) -> RunFacts:
    """The facts of a run in the line of its server; it is stalled after `nothing_moved` without progress."""
    item, data = line.item(run), data_progress(snapshot.movements_of(run))
    if line.is_older and not has_ended(run) and (item is None or item.phase != run.phase):
        # One that has just begun has no place in the queue any more.
        unknown = "its end" if run.phase not in (*phases.WAITING, *phases.QUEUE_PHASES) else "its place in the queue"
        words = f"{humanize.capitalized(unknown)} is not known yet."
        return RunFacts(run, RunState.NOT_KNOWN, line.server, data=data, told=words)
    if item is None:
        return RunFacts(run, RunState.ENDED, line.server, data=data)
    item = msgspec.structs.replace(item, run=run)
    judged = _judge(snapshot, item, now, line.server, nothing_moved)
    places = {"waiting_place": line.waiting_place(run), "ahead": line.ahead(run)}
    return msgspec.structs.replace(judged, item=item, data=data, **places)


def ended_facts(snapshot: ClusterSnapshot, run: Run, server: ServerFacts) -> RunFacts:
    """The facts of a run that has ended, for which no queue is looked at."""
    return RunFacts(run, RunState.ENDED, server, data=data_progress(snapshot.movements_of(run)))


def stamped_name(schedule: Schedule, at: datetime) -> str:
    """The name that Velero gives to a backup which it makes from the schedule at a moment."""
    return f"{schedule.name}-{at.astimezone(UTC):%Y%m%d%H%M%S}"


def planned_backup(schedule: Schedule, now: datetime, name: str, labels: Mapping[str, str] | None = None) -> Backup:
    """A backup as Velero would make it from the schedule now."""
    own = schedule.spec.template.metadata.get("labels") or schedule.metadata.labels
    notes = schedule.metadata.own_annotations
    made = Metadata(
        name=name or stamped_name(schedule, now),
        namespace=schedule.namespace,
        creation_timestamp=now.replace(microsecond=0),
        labels={**own, SCHEDULE_LABEL: schedule.name, **(labels or {})},
        annotations={key: text for key, text in notes.items() if not key.startswith(ANNOTATIONS)},
    )
    return Backup(metadata=made, spec=schedule.spec.template)


def planned_runs(snapshot: ClusterSnapshot, planned: Sequence[Backup], now: datetime) -> list[RunFacts]:
    """Backups that are still to be made: what the queue will say of each, were all of them made now."""
    lines = {
        namespace: queue_line(snapshot, namespace, now, planned=[run for run in planned if run.namespace == namespace])
        for namespace in {run.namespace for run in planned}
    }
    return [run_facts(snapshot, run, now, lines[run.namespace], timedelta.max) for run in planned]


def data_progress(movements: Iterable[DataMovement]) -> DataProgress:
    volumes = tuple(movements)
    if not volumes:
        return DataProgress()
    under_way = [volume for volume in volumes if volume.status.completion_timestamp is None]
    return DataProgress(
        volumes=len(volumes),
        moved=len(volumes) - len(under_way),
        done=sum(volume.status.progress.bytes_done for volume in volumes),
        total=sum(volume.status.progress.total_bytes for volume in volumes),
        unknown=sum(not volume.status.progress.total_bytes for volume in under_way),
        moving=sum(volume.phase == "InProgress" for volume in under_way),
    )


def _judge(
    snapshot: ClusterSnapshot, item: QueueItem, now: datetime, server: ServerFacts, nothing_moved: timedelta
) -> RunFacts:
    """A start or an end is told only where nothing speaks against it."""
    run = item.run
    if server.silent_for is not None:
        words = _unknown(item)
        if run.phase == "InProgress":
            words = sentence(words, " " if words else "", f"{humanize.capitalized(server.fate_of_running())}.")
        if server.state is not ServerState.STORAGE_HANGS:
            held_up = RunFacts(run, RunState.SERVER_SILENT, server, told=words, held_for=server.silent_for)
        else:
            # A run that was created meanwhile has not been held up for longer than it exists.
            silent_for = min(server.silent_for, now - run.created) if run.created is not None else server.silent_for
            held_up = RunFacts(run, RunState.STORAGE_HANGS, server, told=words, held_for=silent_for)
        return msgspec.structs.replace(held_up, waits_for=server.awaited)
    if snapshot.is_loading:
        return RunFacts(
            run, RunState.NOT_KNOWN, server, told=f"Its start and end are {NOT_KNOWN_YET}: lists are loading."
        )
    if item.waits:
        return _waiting(item, now, server)
    if item.volumes.waiting is not None:
        return _waits_for_volume(item, now, server)
    if (standing := _stands_for(snapshot, run, now, nothing_moved)) is not None:
        least = "" if was_seen_moving(snapshot, run) else "at least "
        words = sentence(f"Stalled: neither items nor bytes have changed for {least}", standing, ", no estimated end.")
        return RunFacts(run, RunState.STALLED, server, told=words, held_for=standing)
    return _running(item, server)


def _waiting(item: QueueItem, now: datetime, server: ServerFacts) -> RunFacts:
    start = item.expected_start
    waits_for = _hold(item.hold) if item.hold is not None else ""
    if item.refusal:
        when = sentence(" ", about(start, now)) if start else ""
        refusal = sentence("Velero refuses it when it is its turn", when, f", while {item.refusal}.")
        return RunFacts(item.run, RunState.REFUSED, server, told=refusal, waits_for=waits_for)
    expectation = _unknown(item) if start is None else sentence("Expected to start ", about(start, now), _by(item), ".")
    return RunFacts(item.run, RunState.WAITS, server, told=expectation, waits_for=waits_for)


def _waits_for_volume(item: QueueItem, now: datetime, server: ServerFacts) -> RunFacts:
    volumes = item.volumes
    waiting = volumes.waiting
    if waiting is None:
        return _running(item, server)
    length = now - waiting.since
    where = f" on {waiting.node}" if waiting.node else ""
    if volumes.turn_after:
        until = sentence(", until about ", estimate(volumes.not_before)) if volumes.not_before is not None else ""
        still = sentence(" Volume ", stands_still(volumes.still, now), ".") if volumes.still is not None else ""
        busy = f" for its turn: {volumes.turn_after}"
        turn = sentence(f"Volume {waiting.name} has waited ", length, busy, until, ".")
        expected = item.expected_end
        end = sentence(" Expected to end about ", estimate(expected), _basis(item), ".") if expected is not None else ""
        wait = sentence(turn, still, end)
    else:
        taken = where or ", not picked up by a node,"
        wait = sentence(
            f"It waits for volume {waiting.name}: {waiting.phase}{taken} for ",
            length,
            ", with no data of it moved yet; no estimated end.",
        )
    waits_for = f"volume {waiting.name}{where}"
    return RunFacts(item.run, RunState.WAITS_FOR_VOLUME, server, told=wait, waits_for=waits_for, held_for=length)


def _running(item: QueueItem, server: ServerFacts) -> RunFacts:
    expected, still = item.expected_end, item.volumes.still
    if expected is None:
        waits_for = f"volume {still.volume or still.name}{f' on {still.node}' if still.node else ''}" if still else ""
        return RunFacts(item.run, RunState.RUNS, server, told=_unknown(item), waits_for=waits_for)
    if expected == item.volumes.end:
        expectation = sentence(
            "Its volumes are moved by about ", estimate(expected), ", at their rate so far; it ends after that."
        )
        return RunFacts(item.run, RunState.RUNS, server, told=expectation)
    expectation = sentence("Expected to end about ", estimate(expected), _basis(item), ".")
    return RunFacts(item.run, RunState.RUNS, server, told=expectation)


def _by(item: QueueItem) -> Text:
    """Until when it has started in nine of ten courses, where that is later by some minutes."""
    starts = item.starts
    if starts is None or starts.by is None or starts.by - starts.likely < _WORTH_TELLING:
        return ""
    return sentence(f"; {SURE} by ", estimate(starts.by))


def _unknown(item: QueueItem) -> Text:
    return sentence("No estimate: ", item.note, ".") if item.note else ""


def _basis(item: QueueItem) -> Text:
    """A NAB or NAR runs once: the runs are those of its namespace. Hooks are part of earlier runs, not of the items."""
    if item.is_guess:
        return sentence(", a guess: ", item.note)
    if not item.basis:
        hooks = _hooks(item.run)
        return f", from its items so far; {hooks}" if hooks else ""
    match item.owner.kind:
        case OwnerKind.NAB | OwnerKind.NAR:
            runs = humanize.count(item.basis, item.owner.kind.upper())
            return f", from the last {runs} of {item.owner.namespace}"
        case OwnerKind.SCHEDULE | OwnerKind.HAND:
            return f", from its last {humanize.count(item.basis, 'run')}"
    assert_never(item.owner.kind)


def _hooks(run: Run) -> str:
    """Velero writes how many hooks it ran when all of them have ended; "" where the run has none.

    Read in 1.14.1, 1.17.2 and 1.18.3: a backup gets `status.hookStatus` with its last progress, after all items and
    volumes of pods (pkg/backup/backup.go), a restore when it is finalized (restore_finalizer_controller.go).
    """
    ran = run.status.hook_status
    if ran is not None and ran.hooks_attempted:
        failed = f", {ran.hooks_failed:,} of them failed" if ran.hooks_failed else ""
        return f"its {humanize.count(ran.hooks_attempted, 'hook')} {_have(ran.hooks_attempted)} run{failed}"
    return "its hooks may take longer" if run.spec.hooks.get("resources") else ""


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _hold(hold: Blocker) -> str:
    """By the owners' names, which are shorter and better known than those of their runs."""
    names = humanize.join([_called(run) for run in hold.by], 2)
    match hold.kind:
        case BlockerKind.SLOT if not hold.is_of_restores:
            return "a free slot"
        case BlockerKind.SLOT | BlockerKind.TURN:
            return f"its turn, after {names}"
        case BlockerKind.NAMESPACE:
            return f"{names}: {hold.shared}"
    assert_never(hold.kind)


def _called(run: Run) -> str:
    owner = owner_of(run)
    match owner.kind:
        case OwnerKind.HAND:
            return run.name
        case OwnerKind.SCHEDULE:
            return owner.name
        case OwnerKind.NAB | OwnerKind.NAR:
            return f"{owner.namespace}/{owner.name}"
    assert_never(owner.kind)


def _stands_for(snapshot: ClusterSnapshot, run: Run, now: datetime, nothing_moved: timedelta) -> timedelta | None:
    """How long neither its items nor its bytes have moved, where that is too long; None where they move."""
    moved = last_progress(snapshot, run)
    return None if moved is None or now - moved < nothing_moved else now - moved


def last_progress(snapshot: ClusterSnapshot, run: Run) -> datetime | None:
    """When its items or bytes were last seen to change; None where nobody watched."""
    moved = snapshot.seen.moved
    if not moved:
        return None
    movements = snapshot.movements_of(run)
    seen = [moved.get(snapshot.ref(run))]
    seen += [moved.get(snapshot.ref(item)) or item.status.completion_timestamp for item in movements]
    return max(filter(None, seen), default=None)


def was_seen_moving(snapshot: ClusterSnapshot, run: Run) -> bool:
    """Otherwise it has stood for as long as foretop has seen it, and perhaps for longer."""
    progress = snapshot.seen
    keys = (snapshot.ref(item) for item in (run, *snapshot.movements_of(run)))
    return any(key in progress.moved and key not in progress.unmoved for key in keys)


def waited(run: Run) -> timedelta | None:
    """How long it stood in the queue before it started; None where it has not, or where that is not known.

    One that was synced from storage was created here long after it started.
    """
    created, started = run.created, run.status.start_timestamp
    return started - created if created is not None and started is not None and started >= created else None


class Lessened(msgspec.Struct, frozen=True):
    """A copy with fewer volumes than the one before it, or with less than half of its bytes."""

    before: Backup
    has: RunVolumes
    had: RunVolumes
    chosen: int = 0
    """Volumes of the one before that somebody chose to leave out since: they are no loss."""

    @property
    def fewer(self) -> int:
        """How many volumes fewer; 0 where it has as many, and fewer bytes."""
        return max(0, self.had.taken - self.chosen - self.has.taken)


def lessened(snapshot: ClusterSnapshot, backup: Backup) -> Lessened | None:
    """The newest copy of a schedule against the one before, where both were to take the same; None for any other.

    Fewer is said where it is certain: without volume info the number of a copy is the least that it can have.
    """
    copies = snapshot.last_copies(backup.namespace, backup.schedule_name)
    if len(copies) < 2 or copies[0].name != backup.name or _taken_by(copies[0].spec) != _taken_by(copies[1].spec):
        return None
    found = Lessened(copies[1], snapshot.run_volumes(copies[0]), snapshot.run_volumes(copies[1]))
    if not _is_less(found, 0):
        return None
    chosen = _chosen_since(snapshot, backup, copies[1])
    found = msgspec.structs.replace(found, chosen=len(chosen))
    return found if _is_less(found, sum(one.size or 0 for one in chosen)) else None


def _is_less(found: Lessened, chosen_bytes: int) -> bool:
    has, had = found.has, found.had
    if (has.total is not None or had.total is None) and found.fewer:
        return True
    if has.size is None or had.size is None or had.size < _LEAST_BYTES:
        return False
    return 2 * has.size < had.size - chosen_bytes


def _chosen_since(snapshot: ClusterSnapshot, newest: Backup, before: Backup) -> list[ToldVolume]:
    """The volumes of a copy that a newer one is without, as somebody chose."""
    held = {(one.namespace, one.claim) for one in snapshot.told_volumes(newest).volumes if one.fate is VolumeFate.TAKEN}
    lost = {
        (one.namespace, one.claim): one
        for one in snapshot.told_volumes(before).volumes
        if one.fate is VolumeFate.TAKEN and (one.namespace, one.claim) not in held
    }
    spaces = {namespace for namespace, _ in lost}
    chosen = {(space, one.name) for space in spaces for one in snapshot.volumes_in(newest, space).chosen}
    return [one for key, one in lost.items() if key in chosen]


_LEAST_BYTES = 100_000_000
"""Copies smaller than this halve for nothing."""


def _taken_by(spec: BackupSpec) -> BackupSpec:
    """A template without what does not decide what is taken: somebody may choose to take less."""
    return msgspec.structs.replace(spec, ttl="", storage_location="")


def backup_of(movement: DataMovement) -> str:
    """The name of the backup that a movement belongs to: its label may be cut, the name of its owner is whole."""
    owners = (owner.name for owner in movement.metadata.owner_references if owner.kind == Backup.__name__)
    return next(owners, movement.backup_name)


def goes_into(spec: RestoreSpec) -> tuple[str, ...]:
    """`shop → shop-old`, and the namespaces that keep their names; nothing where all that it finds keep theirs."""
    named = spec.included_namespaces if not any("*" in name for name in spec.included_namespaces) else ()
    moved = spec.namespace_mapping
    names = [name for name in named or sorted(moved) if name not in spec.excluded_namespaces]
    return tuple(f"{name} → {moved[name]}" if name in moved else name for name in names)
