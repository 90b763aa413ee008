"""The night ahead of one Velero server: each coming run with the time it is likely to start and end, and a range."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from random import Random

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import Backup, Schedule
from foretop_core.rules import phases
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.facts.run_facts import queue_line
from foretop_core.rules.forecast import base_time, invalid
from foretop_core.rules.night.course import (
    NEVER,
    NO_SCHEDULE,
    Course,
    CourseStart,
    Draw,
    OpenRun,
    PlannedSchedule,
    PlayedRun,
    play,
)
from foretop_core.rules.night.lengths import (
    FEWEST_TO_BORROW,
    LateHandovers,
    Lengths,
    Source,
    known_lengths,
    late_handovers,
)
from foretop_core.rules.queue.namespace_claims import Claim, claim, shared_namespaces
from foretop_core.rules.queue.positions import has_ended, order
from foretop_core.rules.queue.usual_lengths import Owner, OwnerKind, owner_of
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_refusal import schedule_refusal, storage_refusal

DAY = timedelta(days=1)
MOST_RUNS = 1500
"""Of one schedule: one that is due every minute has so many in a day."""
MOST_RUNS_OF_ALL = 6000
FEWEST_DRAWS = 50
_FINALIZES = 1.0
_LOOK_LASTS = 3.0
"""For so long after its second of the minute, what a look did may not be seen yet."""
_UNKNOWN_LOOK = 30.0


class Fate(StrEnum):
    """What becomes of a run."""

    MADE = "made"
    LATE = "late"
    """Its schedule's last backup was still going when it fell due."""
    LOST = "lost"
    """The next run fell due first."""
    REFUSED = "refused"


class Range(msgspec.Struct, frozen=True):
    """A moment that is likely, with the range of half and of nine in ten courses."""

    likely: datetime
    half: tuple[datetime, datetime]
    most: tuple[datetime, datetime]


class ForeseenRun(msgspec.Struct, frozen=True):
    """One run of the night: an open backup, or one that a schedule will make."""

    owner: Owner
    name: str
    """Of the Backup; "" for one that does not exist yet."""
    due: datetime | None
    submitted: datetime | None
    start: Range | None
    end: Range | None
    fate: Fate
    share_lost: float = 0.0
    """The share of courses in which it is not made."""
    is_running: bool = False
    is_borrowed: bool = False
    """No run of its own tells how long it takes."""


class RunSpan(msgspec.Struct, frozen=True):
    """One run of one course."""

    submitted: datetime
    start: datetime
    end: datetime


class Night(msgspec.Struct, frozen=True):
    """The foreseen runs of one server in the order of their likely starts."""

    namespace: str
    now: datetime
    until: datetime
    runs: tuple[ForeseenRun, ...] = ()
    slots: int = 1
    draws: int = 0
    unknown: str = ""
    """Why nothing can be foreseen; "" where it can."""
    late_share: float = 0.0
    typical: tuple[RunSpan, ...] = ()
    """Every run of one course, the middle one by its end: counts of several runs at one time are true in it."""
    left_out: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By name, why a schedule has no runs here."""


class ServerModel(msgspec.Struct, frozen=True):
    """What a course is played from: the state of a server, how long its runs take, and whose runs they are."""

    namespace: str
    now: datetime
    state: CourseStart
    schedules: tuple[Schedule, ...]
    running: tuple[Backup, ...]
    waiting: tuple[Backup, ...]
    finishing: tuple[Backup, ...]
    lengths: tuple[Lengths, ...]
    """Of each schedule."""
    open_lengths: Mapping[str, Lengths]
    """Of each open backup, by name."""
    expected_ends: Mapping[str, datetime]
    """Of the backups at work, by name, the ends that their own facts tell."""
    look: float | None
    late: LateHandovers
    left_out: Mapping[str, str]

    def draw(self, random: Random | None) -> Draw:
        """All that is random in one course; the likely values without a `Random`."""
        state = self.state
        if random is None:
            lengths = [[known.likely] for known in self.lengths]
        else:
            lengths = [
                known.draw(random, min(schedule.most, max(1, len(schedule.due)) if not schedule.every else 32))
                for known, schedule in zip(self.lengths, state.schedules, strict=True)
            ]
        look = self.look
        if look is None:
            look = _UNKNOWN_LOOK if random is None else random.uniform(0.0, 60.0)
        return Draw(
            lengths=lengths,
            running=[self._left(run, random) for run in self.running],
            waiting=[
                self.open_lengths[run.name].likely if random is None else self.open_lengths[run.name].draw(random, 1)[0]
                for run in self.waiting
            ],
            finishing=[self._finishes_in(run, random) for run in self.finishing],
            look=look,
            late=self.late.shares(random),
            random=random,
        )

    def _finishes_in(self, run: Backup, random: Random | None) -> float:
        """Volumes that are still on their way tell by the history of the whole run; the rest is a moment."""
        if run.phase in phases.MOVES_DATA:
            return self._left(run, random)
        return _FINALIZES if random is None else random.expovariate(1 / _FINALIZES)

    def _left(self, run: Backup, random: Random | None) -> float:
        """Around the end that every surface tells; where that is not known, by the lengths of the runs before it."""
        known = self.expected_ends.get(run.name)
        if known is not None:
            left = max(1.0, (known - self.now).total_seconds())
            if random is None:
                return left
            return max(
                0.5, left * math.exp(random.gauss(0.0, self.open_lengths[run.name].spread)) + random.uniform(-1, 1)
            )
        started = run.status.start_timestamp
        elapsed = max(0.0, (self.now - started).total_seconds()) if started else 0.0
        return self.open_lengths[run.name].left(elapsed, random, _by_items(run, elapsed))


def server_model(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, until: datetime, zone: tzinfo = UTC
) -> ServerModel:
    """Reads the state of a server off its objects."""
    backups = snapshot.backups_by_namespace.get(namespace, ())
    open_runs = sorted((run for run in backups if not has_ended(run)), key=order)
    server = snapshot.server(namespace)
    has_queue = _has_queue(snapshot, namespace, open_runs)
    running = tuple(run for run in open_runs if run.phase in phases.HOLDS_SLOT)
    waiting = tuple(run for run in open_runs if run.phase in phases.WAITING)
    finishing = tuple(run for run in open_runs if run not in running and run not in waiting)
    slots = max(1, server.concurrency or 1, len(running) if server.concurrency is None else 1) if has_queue else 1
    claims = _Claims()
    left_out: dict[str, str] = {}
    planned: list[tuple[Schedule, PlannedSchedule]] = []
    room = MOST_RUNS_OF_ALL
    for schedule in sorted(snapshot.schedules_by_namespace.get(namespace, ()), key=lambda item: item.name):
        if why := _left_out(snapshot, schedule):
            left_out[schedule.name] = why
            continue
        found = _planned(snapshot, schedule, claims, now, until, zone, min(MOST_RUNS, room))
        if found is not None:
            planned.append((schedule, found))
            room -= len(found.due)
    index = {schedule.name: place for place, (schedule, _) in enumerate(planned)}
    every = known_lengths(backups)
    by_owner: dict[Owner, list[Backup]] = {}
    for run in backups:
        by_owner.setdefault(owner_of(run), []).append(run)

    by_claim: dict[Claim, list[Backup]] = {}
    for run in backups:
        by_claim.setdefault(claim(run), []).append(run)

    def of(owner: Owner, wanted: Claim) -> Lengths:
        """Its own runs tell best, then those of the same namespaces, then all of the server."""
        own = known_lengths(by_owner.get(owner, ())) if owner.kind is not OwnerKind.HAND else ()
        if own:
            return Lengths(own)
        alike = known_lengths(by_claim.get(wanted, ()))
        if alike:
            return Lengths(alike, Source.ALIKE)
        return Lengths(every if len(every) >= FEWEST_TO_BORROW else (), Source.SERVER)

    def opened(run: Backup) -> OpenRun:
        refused = bool(run.phase in phases.WAITING and storage_refusal(snapshot, namespace, run.spec.storage_location))
        place = index.get(run.schedule_name, NO_SCHEDULE) if run.schedule_name else NO_SCHEDULE
        # One that is ReadyToStart is InProgress before the next look.
        holds = run.phase in phases.HOLDS_SCHEDULE or run.phase in phases.HOLDS_SLOT
        return OpenRun(claims.of(claim(run)), place, refused, holds)

    state = CourseStart(
        slots=slots,
        has_queue=has_queue,
        schedules=[plan for _, plan in planned],
        running=[opened(run) for run in running],
        waiting=[opened(run) for run in waiting],
        finishing=[opened(run) for run in finishing],
        conflicts=claims.conflicts(),
        until=(until - now).total_seconds(),
    )
    second = snapshot.heartbeat(namespace).second
    return ServerModel(
        namespace=namespace,
        now=now,
        state=state,
        schedules=tuple(schedule for schedule, _ in planned),
        running=running,
        waiting=waiting,
        finishing=finishing,
        lengths=tuple(
            of(Owner(OwnerKind.SCHEDULE, namespace, schedule.name), claim(Backup(spec=schedule.spec.template)))
            for schedule, _ in planned
        ),
        open_lengths={run.name: of(owner_of(run), claim(run)) for run in open_runs},
        expected_ends=_expected_ends(snapshot, namespace, now),
        look=None if second is None else _first_look(second, now),
        late=late_handovers(backups, slots),
        left_out=left_out,
    )


def foresee(model: ServerModel, draws: Sequence[Course], likely: Course) -> Night:
    """Puts many courses together: for each run the middle of its starts and ends, and their ranges."""
    now = model.now
    runs: list[ForeseenRun] = []
    for name in ("running", "waiting", "finishing"):
        for place, backup in enumerate(getattr(model, name)):
            played = [getattr(course, name)[place] for course in draws] or [getattr(likely, name)[place]]
            runs.append(_open_run(model, backup, played, now, is_running=name != "waiting"))
    for place, schedule in enumerate(model.schedules):
        by_due: dict[int, list[PlayedRun]] = {}
        for course in draws or (likely,):
            for at, run in enumerate(course.made[place]):
                key = at if model.state.schedules[place].every else round(run.due)
                by_due.setdefault(key, []).append(run)
        total = len(draws) or 1
        for played in by_due.values():
            runs.append(_scheduled_run(model, schedule, place, played, total))
    runs.sort(key=lambda run: (run.start.likely if run.start else run.due or now, run.name))
    return Night(
        model.namespace,
        now,
        now + timedelta(seconds=model.state.until),
        tuple(runs),
        model.state.slots,
        len(draws),
        late_share=model.late.share,
        typical=_spans(_middle(draws, likely), now),
        left_out=model.left_out,
    )


def night(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    length: timedelta = DAY,
    draws: int = FEWEST_DRAWS,
    seed: int = 1,
    zone: tzinfo = UTC,
) -> Night:
    """The coming hours of one server, from as many courses; 0 draws give the likely course alone."""
    silence = snapshot.heartbeat(namespace).silence_word(now) if snapshot.heartbeat(namespace).silence(now) else ""
    if silence:
        return Night(namespace, now, now + length, unknown=f"Velero is {silence}")
    model = server_model(snapshot, namespace, now, now + length, zone)
    random = Random(seed)
    return foresee(
        model, [play(model.state, model.draw(random)) for _ in range(draws)], play(model.state, model.draw(None))
    )


def _open_run(
    model: ServerModel, backup: Backup, played: Sequence[PlayedRun], now: datetime, *, is_running: bool
) -> ForeseenRun:
    start = backup.status.start_timestamp
    refused = any(run.is_refused for run in played)
    return ForeseenRun(
        owner_of(backup),
        backup.name,
        None,
        backup.created,
        Range(start, (start, start), (start, start))
        if is_running and start
        else _range(now, [run.start for run in played]),
        None if refused else _range(now, [run.end for run in played]),
        Fate.REFUSED if refused else Fate.MADE,
        is_running=is_running,
        is_borrowed=model.open_lengths[backup.name].source is not Source.OWN,
    )


def _scheduled_run(
    model: ServerModel, schedule: Schedule, place: int, played: Sequence[PlayedRun], total: int
) -> ForeseenRun:
    made = [run for run in played if not run.is_lost]
    share = 1 - len(made) / total
    now, refused = model.now, any(run.is_refused for run in made)
    late = sum(run.submitted - max(run.due, 0.0) > 61.0 for run in made)
    fate = Fate.LOST if share > 0.5 else Fate.REFUSED if refused else Fate.LATE if 2 * late > len(made) else Fate.MADE
    submitted = _range(now, [run.submitted for run in made])
    return ForeseenRun(
        Owner(OwnerKind.SCHEDULE, schedule.namespace, schedule.name),
        "",
        now + timedelta(seconds=played[0].due),
        submitted.likely if submitted else None,
        _range(now, [run.start for run in made]),
        None if refused else _range(now, [run.end for run in made]),
        fate,
        share,
        is_borrowed=model.lengths[place].source is not Source.OWN,
    )


def _played(course: Course) -> Iterator[PlayedRun]:
    yield from course.running
    yield from course.waiting
    for runs in course.made:
        yield from runs


def _middle(draws: Sequence[Course], likely: Course) -> Course:
    """The course that ends in the middle of all."""
    if not draws:
        return likely
    last = [max((run.end for run in _played(course) if run.end < NEVER), default=0.0) for course in draws]
    return draws[sorted(range(len(draws)), key=last.__getitem__)[len(draws) // 2]]


def _spans(course: Course, now: datetime) -> tuple[RunSpan, ...]:
    def at(seconds: float) -> datetime:
        return now + timedelta(seconds=seconds)

    return tuple(RunSpan(at(run.submitted), at(run.start), at(run.end)) for run in _played(course) if run.end < NEVER)


def _range(now: datetime, seconds: Iterable[float]) -> Range | None:
    """None where half of the courses or more never reach it."""
    known = sorted(seconds)
    if not known or known[len(known) // 2] == NEVER:
        return None

    def at(share: float) -> datetime:
        found = known[min(len(known) - 1, int(share * len(known)))]
        return now + timedelta(seconds=min(found, 400 * 86400.0))

    return Range(at(0.5), (at(0.25), at(0.75)), (at(0.05), at(0.95)))


class _Claims:
    """The claims of namespaces, each once, and which of them share one."""

    def __init__(self) -> None:
        self._index: dict[Claim, int] = {}

    def of(self, wanted: Claim) -> int:
        return self._index.setdefault(wanted, len(self._index))

    def conflicts(self) -> list[int]:
        """For each claim the set of those that share a namespace with it, itself included, as bits."""
        known = list(self._index)
        found = [1 << place for place in range(len(known))]
        by_name: dict[str, int] = {}
        for place, one in enumerate(known):
            for name in one.names:
                by_name[name] = by_name.get(name, 0) | 1 << place
        wild = [place for place, one in enumerate(known) if one.patterns]
        for place, one in enumerate(known):
            for name in one.names:
                found[place] |= by_name[name]
            for other in wild:
                if other != place and shared_namespaces(one, known[other]):
                    found[place] |= 1 << other
                    found[other] |= 1 << place
        return found


def _left_out(snapshot: ClusterSnapshot, schedule: Schedule) -> str:
    if schedule.spec.paused:
        return "paused"
    dialect = snapshot.dialect(schedule)
    if dialect is None:
        return "its expression has several readings"
    return "invalid" if invalid(schedule, dialect) else ""


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
    wanted = claims.of(claim(Backup(spec=schedule.spec.template)))
    refused = bool(schedule_refusal(snapshot, schedule))
    if parsed.every is not None:
        first = (base + parsed.every - now).total_seconds()
        return PlannedSchedule(
            wanted, every=max(1.0, parsed.every.total_seconds()), first=first, is_refused=refused, most=most
        )
    if parsed.never_fires:
        return PlannedSchedule(wanted, every=1.0, first=0.0, is_refused=refused, most=most)
    due = tuple((run - now).total_seconds() for run in _due(parsed, base, now, until, zone, most))
    return PlannedSchedule(wanted, due, is_refused=refused, most=most) if due else None


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


def _expected_ends(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> dict[str, datetime]:
    line = queue_line(snapshot, namespace, now)
    return {
        item.run.name: item.expected_end
        for item in line.backups.items
        if not item.waits and item.expected_end is not None and item.expected_end > now
    }


def _first_look(second: int, now: datetime) -> float:
    ahead = (second - now.second - now.microsecond / 1e6) % 60.0
    return ahead - 60.0 if ahead > 60.0 - _LOOK_LASTS else ahead


def _has_queue(snapshot: ClusterSnapshot, namespace: str, open_runs: Sequence[Backup]) -> bool:
    if any(run.phase in phases.QUEUE_PHASES for run in open_runs):
        return True
    release = snapshot.verdict(namespace).release
    if release is not None:
        return (release.major, release.minor) >= (1, 18)
    return "queuePosition" in snapshot.backup_status_fields or (snapshot.server(namespace).concurrency or 1) > 1


def _by_items(run: Backup, elapsed: float) -> float | None:
    progress = run.status.progress
    if progress is None or not 0 < progress.done < progress.total_items:
        return None
    return elapsed * progress.total_items / progress.done
