"""A Velero server as it is now, ready to be played forward: its open backups, its schedules, and how long runs take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from itertools import accumulate, islice
from random import Random
from statistics import median
from zlib import crc32

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import Backup, Schedule
from foretop_core.rules import phases
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.forecast import base_time, invalid, kept_back_runs, never_fires
from foretop_core.rules.heartbeat import LOOK_LASTS
from foretop_core.rules.night.arrivals import MIDDLE, Arrivals, arrivals_before
from foretop_core.rules.night.course import NO_SCHEDULE, PASS, CourseStart, Draw, OpenRun, PlannedSchedule
from foretop_core.rules.night.lengths import (
    AT_ONCE,
    LateHandovers,
    Lengths,
    RunHistory,
    Source,
    by_items,
    was_synced,
)
from foretop_core.rules.night.past_runs import PAST, volumes_made
from foretop_core.rules.pauses import pause_info
from foretop_core.rules.queue.namespace_claims import Claim, PatternClaims, claim, shared_namespaces
from foretop_core.rules.queue.owners import Owner, OwnerKind, owner_of
from foretop_core.rules.queue.positions import Run, has_ended, order
from foretop_core.rules.queue.volumes import NOTHING_MOVES, VolumesEnd, volumes_end
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import brief_refusal, run_refusal

PAUSED, INVALID = "paused", "invalid"
"""Why a schedule is left out."""
MOST_RUNS = 1500
"""Of one schedule: one that is due every minute has so many in a day."""
MOST_RUNS_OF_ALL = 6000
_MOST_CLAIMS = 5000
"""Each costs as many bits as there are claims."""
_FINALIZES = 1.0
_UNKNOWN_LOOK = 30.0
_MOST_STREAMS = 1_000
"""Where more runs are open, those behind share the streams of those before them: each takes 2.5 kB."""
_EVENLY = 0.6180339887
"""Multiples of the golden section, less their whole part, lie evenly between 0 and 1."""
_TELL_HELD = 5
"""So many of the last runs tell for how long one holds its slot."""
_VOLUMES_SPREAD = 0.2
"""How far the end of a run may be from what the rate of its volumes tells, as a share of what is left."""


class OpenBackup(msgspec.Struct, frozen=True, gc=False):
    """A backup or restore that has not ended, and what tells how long it will go on."""

    run: Run
    owner: Owner
    lengths: Lengths
    volumes: VolumesEnd = NOTHING_MOVES

    def elapsed(self, now: datetime) -> float:
        return _elapsed(self.run, now)

    @property
    def is_finalizing(self) -> bool:
        """All of its items and volumes are done."""
        return self.run.phase in phases.FINISHING and self.run.phase not in phases.MOVES_DATA

    @property
    def has_volumes_alone(self) -> bool:
        """All of its items are done, and nothing is left but volumes of which each tells when it is moved."""
        return self.run.phase in phases.MOVES_DATA and self.volumes.end is not None

    @property
    def own_runs(self) -> int:
        """The number of its owner's runs that tell how long it takes."""
        return len(self.lengths.seconds) if self.lengths.source is Source.OWN else 0

    def has_outlived(self, now: datetime) -> bool:
        """True if it is longer than the few runs that are known, and neither items nor volumes tell of it."""
        elapsed = self.elapsed(now)
        is_told = self.volumes.end is not None or by_items(self.run, elapsed) is not None
        return not is_told and self.lengths.is_outlived(elapsed)

    def left(self, now: datetime, random: Random | None) -> float:
        """The seconds until it ends, were it at work; endless where nothing tells."""
        return self.lefts(now, random, 1)[0]

    def lefts(self, now: datetime, random: Random | None, count: int) -> list[float]:
        """The same, drawn so many times."""
        if self.volumes.reason:
            return [self._left_after_turn(now, random) for _ in range(count)]
        if self.is_finalizing:
            return [_FINALIZES if random is None else random.expovariate(1 / _FINALIZES) for _ in range(count)]
        elapsed = self.elapsed(now)
        tells = not self.has_volumes_alone and self.lengths.tells(elapsed)
        items = None if tells else by_items(self.run, elapsed)
        if self.volumes.end is None:
            return [self.lengths.left(elapsed, random, items) for _ in range(count)]
        moved = max(1.0, (self.volumes.end - now).total_seconds())
        lefts: list[float] = []
        for _ in range(count):
            by_length = self.lengths.left(elapsed, random, items)
            by_volumes = moved if random is None else moved * math.exp(random.gauss(0.0, _VOLUMES_SPREAD))
            # It does not end before its volumes are moved; where nothing else tells, they do.
            lefts.append(max(by_length, by_volumes) if tells else by_volumes)
        return lefts

    def _left_after_turn(self, now: datetime, random: Random | None) -> float:
        """As the earlier runs that went on beyond the turn of its waiting volume; endless where none tells."""
        turn = self.volumes.not_before
        if turn is None or not self.volumes.is_turn_sure:
            return math.inf
        until = max(0.0, (turn - now).total_seconds())
        then = self.elapsed(now) + until
        return until + self.lengths.left(then, random, None) if self.lengths.tells(then) else math.inf

    def is_by_items(self, now: datetime) -> bool:
        elapsed = self.elapsed(now)
        return by_items(self.run, elapsed) is not None and not self.lengths.tells(elapsed)

    def why_a_guess(self, now: datetime) -> str:
        """Why its length is a guess, or not known; "" where runs, items or volumes of its own tell."""
        if self.volumes.end is not None or self.is_by_items(now):
            return ""
        return self.lengths.why_a_guess(self.owner, self.elapsed(now))


class SkippedRuns(msgspec.Struct, frozen=True):
    """The runs of a schedule that its last pause kept back, and that were skipped when it ended."""

    due: tuple[datetime, ...]
    has_run_since: bool = False


class ServerModel(msgspec.Struct, frozen=True):
    """The basis of a course: the state of a server, how long its runs take, and whose runs they are."""

    namespace: str
    now: datetime
    state: CourseStart
    schedules: tuple[Schedule, ...]
    lengths: tuple[Lengths, ...]
    """Of each schedule."""
    running: tuple[OpenBackup, ...]
    waiting: tuple[OpenBackup, ...]
    finishing: tuple[OpenBackup, ...]
    look: float | None
    late: LateHandovers
    left_out: Mapping[str, str] = msgspec.field(default_factory=dict)
    resumed: datetime | None = None
    """The first planned end of their pauses."""
    skipped: Mapping[str, SkippedRuns] = msgspec.field(default_factory=dict)
    kept_back: Mapping[str, tuple[datetime, ...]] = msgspec.field(default_factory=dict)
    """By schedule, the runs that pauses which are over kept back, whether these were skipped or one was made up for."""
    bounded: tuple[str, ...] = ()
    """The schedules whose runs are not all played."""
    always_due: tuple[str, ...] = ()
    """The schedules whose expression no date fits."""
    refused: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By the name of a schedule or a waiting backup, why Velero refuses it, in a few words."""
    arrivals: Arrivals = Arrivals()
    """The backups of tenants so far: more will come."""

    @property
    def seed(self) -> int:
        """The beginning of all draws: one for all who look at the same server in the same minute."""
        return crc32(f"{self.namespace} {int(self.now.timestamp() // 60)}".encode(errors="replace"))

    @property
    def open(self) -> tuple[OpenBackup, ...]:
        return (*self.running, *self.waiting, *self.finishing)


class Drawing:
    """The draws of many courses of one server.

    Each schedule and each open run has its own stream of numbers: its draws are the same whatever the others do, so
    that two forecasts differ in what they are about, not in their luck.
    """

    def __init__(self, model: ServerModel) -> None:
        self.model, self.seed, self.drawn = model, model.seed, 0
        self._schedules = [self._stream(f"schedule {schedule.name}") for schedule in model.schedules]
        self._arrivals = self._stream("arrivals")

    @cached_property
    def _open(self) -> dict[str, Random]:
        """Made with the first course: the ends of those at work need none."""
        runs = self.model.open
        streams = [self._stream(f"backup {backup.run.name}") for backup in runs[:_MOST_STREAMS]]
        return {backup.run.name: streams[place % _MOST_STREAMS] for place, backup in enumerate(runs)}

    def _stream(self, name: str) -> Random:
        return Random(crc32(name.encode(errors="replace")) ^ self.seed)

    def ends(self, one: OpenBackup, count: int) -> list[float]:
        """The seconds until one that is at work ends, in as many courses."""
        stream, now = self._stream(f"end of {one.run.name}"), self.model.now
        return one.lefts(now, stream, count)

    def likely(self) -> Draw:
        """The likely value of everything."""
        model, now = self.model, self.model.now
        return Draw(
            lengths=[[lengths.likely] for lengths in model.lengths],
            running=[backup.left(now, None) for backup in model.running],
            waiting=[backup.lengths.likely for backup in model.waiting],
            finishing=[backup.left(now, None) for backup in model.finishing],
            look=_UNKNOWN_LOOK if model.look is None else model.look,
            late=model.late.shares(None),
            tenants=model.arrivals.draw(self._stream("likely arrivals"), model.state.until, MIDDLE),
        )

    def next(self) -> Draw:
        """All that is random in one more course."""
        model, now, streams = self.model, self.model.now, self._open
        self.drawn += 1
        random = Random(self.seed * 1_000_003 + self.drawn)
        return Draw(
            lengths=[
                lengths.draw(stream, 32 if schedule.every else max(1, min(schedule.most, len(schedule.due))))
                for lengths, schedule, stream in zip(model.lengths, model.state.schedules, self._schedules, strict=True)
            ],
            running=[backup.left(now, streams[backup.run.name]) for backup in model.running],
            waiting=[backup.lengths.draw(streams[backup.run.name], 1)[0] for backup in model.waiting],
            finishing=[backup.left(now, streams[backup.run.name]) for backup in model.finishing],
            look=random.uniform(0.0, 60.0) if model.look is None else model.look,
            late=model.late.shares(random),
            random=random,
            # Shares of a rush that goes on are spread evenly over the courses, however few there are.
            tenants=model.arrivals.draw(self._arrivals, model.state.until, self.drawn * _EVENLY % 1.0),
        )


def server_model(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    until: datetime,
    zone: tzinfo = UTC,
    history: RunHistory | None = None,
    planned_backups: Sequence[Backup] = (),
) -> ServerModel:
    """Reads the state of a server off its objects; without `history` that is learned from all of its runs.

    `planned_backups` count as if they were made now.
    """
    past = history or history_of(snapshot, namespace)
    unended = (run for run in snapshot.open_backups.get(namespace, ()) if not has_ended(run))
    open_runs = sorted((*unended, *planned_backups), key=order)
    running = [run for run in open_runs if run.phase in phases.HOLDS_SLOT]
    waiting = [run for run in open_runs if run.phase in phases.WAITING]
    finishing = [run for run in open_runs if run.phase not in phases.HOLDS_SLOT and run.phase not in phases.WAITING]
    has_queue = server_has_queue(snapshot, namespace, open_runs)
    slots = server_slots(snapshot, namespace, open_runs)
    claims = _Claims()
    left_out: dict[str, str] = {}
    ends = list[datetime]()
    planned: list[tuple[Schedule, PlannedSchedule]] = []
    room, length = MOST_RUNS_OF_ALL, (until - now).total_seconds()
    played = list[Schedule]()
    for schedule in snapshot.schedules_by_namespace.get(namespace, ()):
        if why := _left_out(snapshot, schedule):
            left_out[schedule.name] = why
            ends += [end] if why == PAUSED and (end := pause_info(schedule).until) is not None else []
        else:
            played.append(schedule)
    # Where there is not room for all runs, those that run often give way to those that do not.
    played.sort(key=lambda schedule: (_runs_a_day(snapshot, schedule), schedule.name))
    for place, schedule in enumerate(played):
        most = min(MOST_RUNS, max(1, room // (len(played) - place)))
        plan = _planned(snapshot, schedule, claims, now, until, zone, most)
        if plan is not None:
            planned.append((schedule, plan))
            room -= _coming(plan, length)
    planned.sort(key=lambda one: one[0].name)
    index = {schedule.name: place for place, (schedule, _) in enumerate(planned)}
    shares = _held_shares(snapshot, namespace, {*index, *(run.schedule_name for run in open_runs)})

    def opened(run: Backup) -> OpenRun:
        refused = run.phase in phases.WAITING and bool(run_refusal(snapshot, run))
        place = index.get(run.schedule_name, NO_SCHEDULE) if run.schedule_name else NO_SCHEDULE
        # One that is ReadyToStart is InProgress before the next look.
        holds = run.phase in phases.HOLDS_SCHEDULE or run.phase in phases.HOLDS_SLOT
        held = shares.get(run.schedule_name, 1.0)
        return OpenRun(claims.of(claim(run)), place, refused, holds, held, _elapsed(run, now))

    arrivals = arrivals_before(past.tenants, now, claims.of)
    state = CourseStart(
        slots=slots,
        has_queue=has_queue,
        schedules=[msgspec.structs.replace(plan, held=shares.get(schedule.name, 1.0)) for schedule, plan in planned],
        running=[opened(run) for run in running],
        waiting=[opened(run) for run in waiting],
        finishing=[opened(run) for run in finishing],
        conflicts=claims.conflicts(),
        until=length,
        has_arrival=any(_has_just_come(run, now) for run in waiting),
        has_end=bool(waiting) and len(running) < slots and _has_just_ended(snapshot, namespace, now),
    )
    beat = snapshot.heartbeat(namespace)
    look = beat.coming_look(now)
    prospects = {run.name: open_backup(snapshot, run, now, past) for run in open_runs}
    return ServerModel(
        namespace=namespace,
        now=now,
        state=state,
        schedules=tuple(schedule for schedule, _ in planned),
        lengths=tuple(schedule_lengths(past, schedule) for schedule, _ in planned),
        running=tuple(prospects[run.name] for run in running),
        waiting=tuple(prospects[run.name] for run in waiting),
        finishing=tuple(prospects[run.name] for run in finishing),
        look=None if look is None else (look - now).total_seconds(),
        late=past.late(slots, beat.second),
        left_out=left_out,
        resumed=min(ends, default=None),
        skipped={schedule.name: runs for schedule in played if (runs := _skipped(snapshot, schedule, now)) is not None},
        kept_back={item.name: kept_back for item in played if (kept_back := _kept_back(snapshot, item, now))},
        bounded=tuple(schedule.name for schedule, plan in planned if _coming(plan, length) >= plan.most),
        always_due=tuple(
            schedule.name
            for schedule, _ in planned
            if (dialect := snapshot.dialect(schedule)) is not None and never_fires(schedule, dialect)
        ),
        refused={run.name: brief_refusal(snapshot, run) for run in waiting if run_refusal(snapshot, run)}
        | {item.name: brief_refusal(snapshot, item) for item, plan in planned if plan.is_refused},
        arrivals=arrivals,
    )


def runs_a_day(snapshot: ClusterSnapshot, namespace: str) -> int:
    """About how many runs the schedules of a server have on a busy day."""
    schedules = snapshot.schedules_by_namespace.get(namespace, ())
    return sum(_runs_a_day(snapshot, schedule) for schedule in schedules)


def _runs_a_day(snapshot: ClusterSnapshot, schedule: Schedule) -> int:
    dialect = None if schedule.spec.paused else snapshot.dialect(schedule)
    parsed = None if dialect is None else expression(schedule.spec.schedule, dialect)
    if not isinstance(parsed, CronSchedule):
        return 0
    if parsed.every is not None:
        return int(timedelta(days=1) / max(timedelta(seconds=60), parsed.every))
    fields = None if parsed.never_fires else parsed.fields
    return 1440 if fields is None else fields.minute.bit_count() * fields.hour.bit_count()


def restores_model(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, history: RunHistory | None = None
) -> ServerModel:
    """The restores of a server: they run one at a time, in the order in which they were made."""
    past = history or history_of(snapshot, namespace)
    open_runs = sorted((run for run in snapshot.open_restores.get(namespace, ()) if not has_ended(run)), key=order)
    return _one_by_one(namespace, now, [open_backup(snapshot, run, now, past) for run in open_runs])


def at_work_model(snapshot: ClusterSnapshot, namespace: str, now: datetime, history: RunHistory | None) -> ServerModel:
    """The backups that a server works on: their ends depend on nothing else, and are asked for at every frame."""
    past = history or history_of(snapshot, namespace)
    begun = (run for run in snapshot.open_backups.get(namespace, ()) if run.phase not in phases.WAITING)
    open_runs = sorted((run for run in begun if not has_ended(run)), key=order)
    return _one_by_one(namespace, now, [open_backup(snapshot, run, now, past) for run in open_runs])


def _one_by_one(namespace: str, now: datetime, prospects: Sequence[OpenBackup]) -> ServerModel:
    running = tuple(prospect for prospect in prospects if prospect.run.phase in phases.HOLDS_SLOT)
    waiting = tuple(prospect for prospect in prospects if prospect.run.phase in phases.WAITING)
    finishing = tuple(prospect for prospect in prospects if prospect not in running and prospect not in waiting)

    def opened(found: Sequence[OpenBackup]) -> list[OpenRun]:
        return [OpenRun(0) for _ in found]

    state = CourseStart(1, False, [], opened(running), opened(waiting), opened(finishing), [1], 0.0)
    return ServerModel(namespace, now, state, (), (), running, waiting, finishing, 0.0, LateHandovers())


def open_backup(snapshot: ClusterSnapshot, run: Run, now: datetime, history: RunHistory) -> OpenBackup:
    owner = owner_of(run)
    claimed = claim(run) if isinstance(run, Backup) else None
    moved = (
        NOTHING_MOVES if run.phase in phases.WAITING else volumes_end(snapshot.movements_of(run), snapshot.on_node, now)
    )
    return OpenBackup(run, owner, history.of(owner, type(run), claimed), moved)


def schedule_lengths(history: RunHistory, schedule: Schedule) -> Lengths:
    owner = Owner(OwnerKind.SCHEDULE, schedule.namespace, schedule.name)
    return history.of(owner, Backup, claim(Backup(spec=schedule.spec.template)))


def history_of(
    snapshot: ClusterSnapshot, namespace: str, runs_of: Callable[[Owner], Iterable[Run]] | None = None
) -> RunHistory:
    """The earlier runs of a server as a snapshot has them; `runs_of` finds those of an owner without a look at all."""

    def runs() -> Iterator[Run]:
        yield from snapshot.backups_by_namespace.get(namespace, ())
        yield from snapshot.restores_by_namespace.get(namespace, ())

    return RunHistory(runs, runs_of)


def server_slots(snapshot: ClusterSnapshot, namespace: str, open_runs: Sequence[Backup]) -> int:
    """How many a server works on at once: one without a queue, as many as it ever did where its flag is not known."""
    if not server_has_queue(snapshot, namespace, open_runs):
        return 1
    concurrency = snapshot.server(namespace).concurrency
    if concurrency is not None:
        return max(1, concurrency)
    return max(1, sum(run.phase in phases.HOLDS_SLOT for run in open_runs), _most_at_once(snapshot, namespace))


def _most_at_once(snapshot: ClusterSnapshot, namespace: str) -> int:
    """The most of its finished backups that were at work at one moment.

    One that hands its slot over ends up to two seconds after the next begins. Where volumes were moved after the items,
    and nothing tells when the slot was free, it does not count.
    """
    moves: list[tuple[datetime, int]] = []
    for run in snapshot.backups_by_namespace.get(namespace, ()):
        start, end = run.started, run.status.completion_timestamp
        if start is None or end is None or was_synced(run):
            continue
        free = volumes_made(snapshot, run)
        if free is not None or not run.status.item_operations[0]:
            moves += (start, 1), (max(start, (free or end) - AT_ONCE), -1)
    return max(accumulate(step for _, step in sorted(moves)), default=0)


def server_has_queue(snapshot: ClusterSnapshot, namespace: str, open_runs: Sequence[Backup]) -> bool:
    """True if the release of a server queues its backups, as 1.18 and later do."""
    if any(run.phase in phases.QUEUE_PHASES for run in open_runs):
        return True
    release = snapshot.verdict(namespace).release
    if release is not None:
        return (release.major, release.minor) >= (1, 18)
    return "queuePosition" in snapshot.backup_status_fields or (snapshot.server(namespace).concurrency or 1) > 1


class _Claims:
    """The claims of namespaces, each once, and which of them share one."""

    def __init__(self) -> None:
        self._index: dict[Claim, int] = {}

    def of(self, wanted: Claim) -> int:
        """Beyond so many different ones, one more waits in the line of an earlier one."""
        return self._index.setdefault(wanted, len(self._index) % _MOST_CLAIMS)

    def conflicts(self) -> list[int]:
        """For each claim the set of those that share a namespace with it, as bits: itself, unless it takes none."""
        masks = [0] * min(len(self._index), _MOST_CLAIMS)
        by_name: dict[str, int] = {}
        for claimed, place in self._index.items():
            masks[place] |= 1 << place if shared_namespaces(claimed, claimed) else 0
            for name in claimed.names:
                by_name[name] = by_name.get(name, 0) | 1 << place
        patterns = PatternClaims()
        for claimed in self._index:
            patterns.add(claimed)
        for claimed, place in self._index.items():
            for name in claimed.names:
                masks[place] |= by_name[name]
            for other, _ in patterns.meeting(claimed):
                if other is not claimed:
                    masks[place] |= 1 << self._index[other]
                    masks[self._index[other]] |= 1 << place
        return masks


def _has_just_come(run: Backup, now: datetime) -> bool:
    """True if Velero is about to see it for the first time, which makes it look at its queue."""
    made = run.created
    return run.phase in ("", "New") and made is not None and now - made <= LOOK_LASTS


def _has_just_ended(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> bool:
    """True if a backup has left its slot within the time of a hand-over that is not late."""
    return any(
        run.phase in phases.FINISHING - phases.MOVES_DATA
        if run.status.completion_timestamp is None
        else abs(now - run.status.completion_timestamp) <= AT_ONCE
        for run in snapshot.backups_by_namespace.get(namespace, ())
    )


def _elapsed(run: Run, now: datetime) -> float:
    started = run.status.start_timestamp
    return max(0.0, (now - started).total_seconds()) if started else 0.0


def _held_shares(snapshot: ClusterSnapshot, namespace: str, names: set[str]) -> dict[str, float]:
    """By schedule, the share of a run's length for which it holds its slot, where it moves volumes after that."""
    if not snapshot.movements:
        return {}
    named = (schedule for schedule in snapshot.schedules_by_namespace.get(namespace, ()) if schedule.name in names)
    return {schedule.name: share for schedule in named if (share := _held_share(snapshot, schedule)) < 1.0}


def _held_share(snapshot: ClusterSnapshot, schedule: Schedule) -> float:
    """Until the last of its volumes was made, in the middle of its last runs with any; 1 where the newest has none.

    Of older runs the volumes may be gone.
    """
    shares: list[float] = []
    for run in islice((run for run in snapshot.runs(schedule) if run.status.completion_timestamp), _TELL_HELD):
        start, end, made = run.started, run.status.completion_timestamp, volumes_made(snapshot, run)
        if start is not None and end is not None and made is not None and start < end:
            shares.append(min(1.0, max(0.0, (made - start) / (end - start))))
        elif not shares:
            return 1.0
    return median(shares) if shares else 1.0


def _left_out(snapshot: ClusterSnapshot, schedule: Schedule) -> str:
    if schedule.spec.paused:
        return PAUSED
    dialect = snapshot.dialect(schedule)
    if dialect is None:
        return "its expression has several readings"
    return INVALID if invalid(schedule, dialect) else ""


def _skipped(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> SkippedRuns | None:
    dialect, skipped = snapshot.dialect(schedule), schedule.status.last_skipped
    if dialect is None or skipped is None or skipped <= now - PAST:
        return None
    made = [submitted(run) for run in snapshot.runs(schedule)]
    runs = kept_back_runs(schedule, dialect, made, now - PAST, skipped)
    return SkippedRuns(runs, any(moment > skipped for moment in made)) if runs else None


def _kept_back(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> tuple[datetime, ...]:
    dialect, written = snapshot.dialect(schedule), schedule.paused_field_set
    unpaused = None if schedule.spec.paused or written is None else written.time
    ends = {end for end in (unpaused, schedule.status.last_skipped) if end is not None and end > now - PAST}
    if dialect is None or not ends:
        return ()
    made = [submitted(run) for run in snapshot.runs(schedule)]
    runs = (kept_back_runs(schedule, dialect, made, now - PAST, end) for end in ends)
    return tuple(sorted({run for kept_back in runs for run in kept_back}))


def _planned(
    snapshot: ClusterSnapshot,
    schedule: Schedule,
    claims: _Claims,
    now: datetime,
    until: datetime,
    zone: tzinfo,
    most: int,
) -> PlannedSchedule | None:
    dialect, base = snapshot.dialect(schedule), base_time(schedule)
    if dialect is None or base is None:
        return None
    parsed = expression(schedule.spec.schedule, dialect)
    assert isinstance(parsed, CronSchedule)
    if schedule.spec.skip_immediately:
        base = max(base, now)
    claimed = claims.of(claim(Backup(spec=schedule.spec.template)))
    refused = bool(run_refusal(snapshot, schedule))
    if parsed.every is not None:
        # In this order, for an object may say that it ran last in the last year of all.
        first = (base - now + parsed.every).total_seconds()
        return PlannedSchedule(
            claimed, every=max(1.0, parsed.every.total_seconds()), first=first, is_refused=refused, most=most
        )
    if parsed.never_fires:
        first = min(0.0, (base - now).total_seconds()) + 1.0
        return PlannedSchedule(claimed, every=1.0, first=first, is_refused=refused, most=most)
    due = tuple((run - now).total_seconds() for run in _due(parsed, base, now, until, zone, most))
    return PlannedSchedule(claimed, due, is_refused=refused, most=most) if due else None


def _coming(plan: PlannedSchedule, length: float) -> int:
    """How many of its runs are played at most; one that is always due has one at each pass of the server."""
    if not plan.every:
        return len(plan.due)
    return min(plan.most, max(0, math.ceil((length - max(0.0, plan.first)) / max(PASS, plan.every))))


def _due(
    parsed: CronSchedule, base: datetime, now: datetime, until: datetime, zone: tzinfo, most: int
) -> Iterator[datetime]:
    """The first run after the base, and those that fall due from now on: of several past ones Velero makes one."""
    run = parsed.next(base.astimezone(zone))
    if run is not None and run < now:
        yield run
        run = parsed.next(now.astimezone(zone))
    while run is not None and run < until and most > 0:
        yield run
        most -= 1
        run = parsed.next(run)
