"""The night ahead of one Velero server: each coming run with the time it is likely to start and end, and a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import assert_never

import msgspec

from foretop_core.models import Schedule
from foretop_core.rules import phases
from foretop_core.rules.night.course import NEVER, Course, PlayedRun, play
from foretop_core.rules.night.lengths import RunHistory
from foretop_core.rules.night.open_queue import OPEN_HORIZON, open_forecasts
from foretop_core.rules.night.ranges import range_over
from foretop_core.rules.night.server_model import (
    INVALID,
    PAUSED,
    Drawing,
    OpenBackup,
    ServerModel,
    SkippedRuns,
    history_of,
    runs_a_day,
    server_model,
    server_slots,
)
from foretop_core.rules.queue.owners import Owner, OwnerKind
from foretop_core.rules.queue.queue_items import Range, RunForecast
from foretop_core.rules.sentences import Text, estimate, sentence
from foretop_core.rules.snapshot import ClusterSnapshot

DAY = timedelta(days=1)
FEWEST_DRAWS = 50
_LATE = 61.0
"""Seconds: Velero looks at its schedules once a minute."""
NOT_MADE = -NEVER
"""The end of a run in a course that does not make it: no other run has to wait for that."""


class Fate(StrEnum):
    """The fate of a run."""

    MADE = "made"
    LATE = "late"
    """Its schedule's last backup was still going when it fell due."""
    LOST = "lost"
    """The next run fell due first."""
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """Nobody knows when the last backup of its schedule ends, which it has to wait for."""

    @property
    def words(self) -> str:
        return "not known" if self is Fate.UNKNOWN else self.value

    @property
    def reason(self) -> str:
        """Why a run has this fate; "" for one that is made in time, and where each run has a reason of its own."""
        match self:
            case Fate.LATE:
                return "the last backup of the schedule is still going"
            case Fate.LOST:
                return "the next run falls due first"
            case Fate.UNKNOWN:
                return "the last run has no known end"
            case Fate.MADE | Fate.REFUSED:
                return ""
        assert_never(self)


class ForeseenRun(msgspec.Struct, frozen=True, gc=False):
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
    is_finishing: bool = False
    """It runs still, and takes no slot any more."""
    is_borrowed: bool = False
    """Too few runs of its own tell how long it takes."""
    reason: Text = ""
    """Why it is late, lost or refused."""
    ends: tuple[float, ...] = ()
    """Its end in each drawn course, in seconds from now; NOT_MADE in those that do not make it."""

    @property
    def called(self) -> str:
        """Its schedule or NAB; the backup's own name where it has neither."""
        if self.owner.kind is OwnerKind.SCHEDULE:
            return self.owner.name
        return f"{self.owner.namespace}/{self.owner.name}" if self.owner.kind is OwnerKind.NAB else self.name

    @property
    def has_no_known_end(self) -> bool:
        return self.end is None and self.fate not in (Fate.LOST, Fate.REFUSED)


class RunSpan(msgspec.Struct, frozen=True, gc=False):
    """One run of one course."""

    submitted: datetime
    """Of one that waits already, before now."""
    start: datetime
    released: datetime
    """When it gives its slot back; it may go on, while its volumes are moved."""
    owner: Owner = Owner(OwnerKind.HAND)
    name: str = ""
    """Of the Backup; "" for one that does not exist yet."""
    due: datetime | None = None

    @property
    def is_to_come(self) -> bool:
        """True for a backup that a tenant has not asked for yet."""
        return self.owner.kind is OwnerKind.NAB and not self.name


class Night(msgspec.Struct, frozen=True):
    """The foreseen runs of one server in the order of their likely starts."""

    namespace: str
    now: datetime
    until: datetime
    runs: tuple[ForeseenRun, ...] = ()
    slots: int = 1
    draws: int = 0
    unknown: Text = ""
    """Why nothing can be foreseen; "" where it can."""
    late_share: float = 0.0
    typical: tuple[RunSpan, ...] = ()
    """Every run of one course, the middle one by its load: counts of several runs at one time are true in it."""
    left_out: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By name, why a schedule has no runs here."""
    resumed: datetime | None = None
    """The first planned end of the pauses among them: until somebody resumes them they stay paused."""
    skipped: Mapping[str, SkippedRuns] = msgspec.field(default_factory=dict)
    """By schedule, as far back as runs are shown."""
    kept_back: Mapping[str, tuple[datetime, ...]] = msgspec.field(default_factory=dict)
    """By schedule, the past runs that pauses kept back."""
    done: Range | None = None
    """The end of the last run that falls due in the time that is foreseen, of those that have a known end."""
    bounded: tuple[str, ...] = ()
    """The schedules whose runs are not all played, because they are too many."""
    always_due: tuple[str, ...] = ()
    """The schedules whose expression no date fits: Velero runs them every minute."""
    if_back: tuple[Text, ...] = ()
    """Where nothing can be foreseen, what becomes of its backlog if the server works again at one moment or another."""
    if_resumed: Text = ""
    """When the runs before six are done of the schedules whose pause has a planned end, if it is kept."""

    @property
    def paused(self) -> tuple[str, ...]:
        """The schedules that have no runs here because they are paused."""
        return tuple(sorted(name for name, why in self.left_out.items() if why == PAUSED))

    @property
    def invalid(self) -> tuple[str, ...]:
        """The schedules that have no runs here because Velero refuses their expression."""
        return tuple(sorted(name for name, why in self.left_out.items() if why == INVALID))

    @property
    def without_end(self) -> tuple[str, ...]:
        """Whose runs have no known end."""
        return tuple(dict.fromkeys(run.called for run in self.runs if run.has_no_known_end))


def why_unforeseen(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> str:
    """`Velero is down`, or that its storage hangs; "" where the coming hours can be foreseen."""
    beat = snapshot.heartbeat(namespace)
    if beat.judged_at(now) is not None:
        return "it is not known yet whether Velero works"
    return beat.silence_phrase(now) if beat.silence(now) else ""


class Foresight:
    """The coming hours of one server, course by course: the likely one first, then draws."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        namespace: str,
        now: datetime,
        length: timedelta = DAY,
        zone: tzinfo = UTC,
        history: RunHistory | None = None,
    ) -> None:
        self._silence = why_unforeseen(snapshot, namespace, now)
        self._namespace, self._now, self._length = namespace, now, length
        self._courses: list[Course] = []
        if self._silence:
            self._slots = server_slots(snapshot, namespace, snapshot.open_backups.get(namespace, ()))
            return
        past = history or history_of(snapshot, namespace)
        model = server_model(snapshot, namespace, now, now + length, zone, past)
        self._begin(
            model,
            lambda: server_model(snapshot, namespace, now, now + OPEN_HORIZON, zone, past) if model.waiting else model,
        )

    @classmethod
    def of(cls, model: ServerModel) -> Foresight:
        """The night of a server as somebody imagines it."""
        made = cls.__new__(cls)
        made._silence, made._namespace, made._now = "", model.namespace, model.now
        made._length = timedelta(seconds=model.state.until)
        made._begin(model, lambda: model)
        return made

    def _begin(self, model: ServerModel, open_model: Callable[[], ServerModel]) -> None:
        self.model, self._open_model = model, open_model
        self._drawing = Drawing(model)
        self._courses = []

    def undrawn(self) -> Foresight:
        """The same before any draw; what is known of the likely course is shared."""
        made = copy(self)
        made._courses = []
        if not self._silence:
            made._drawing = Drawing(self.model)
        return made

    @property
    def draws(self) -> int:
        """The courses that were played so far."""
        return len(self._courses)

    def play(self, courses: int) -> None:
        """Plays so many more courses."""
        if not self._silence:
            self._courses += [play(self.model.state, self._drawing.next()) for _ in range(courses)]

    def likely(self) -> Night:
        """The night from the likely course alone."""
        return self._likely_night

    def night(self) -> Night:
        """The night from all courses that were played; its open runs as every surface tells them."""
        if self._silence:
            return self._likely_night
        return _foresee(self.model, self._courses, self._likely, open_forecasts(self._open_model()))

    @cached_property
    def _likely(self) -> Course:
        return play(self.model.state, self._drawing.likely())

    @cached_property
    def _likely_night(self) -> Night:
        if self._silence:
            until = self._now + self._length
            return Night(self._namespace, self._now, until, slots=self._slots, unknown=self._silence)
        return _foresee(self.model, (), self._likely, open_forecasts(self.model, 0))


def likely_night(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> Night:
    """The coming day of one server by its likely course alone.

    Fewer hours where its schedules run very often: rules ask for it while somebody waits.
    """
    often = max(1, runs_a_day(snapshot, namespace))
    length = max(_SHORTEST_LIKELY, min(DAY, DAY * _LIKELY_RUNS / often))
    return _shared(snapshot, namespace, now, length).likely()


def foresight(snapshot: ClusterSnapshot, namespace: str, now: datetime, length: timedelta = DAY) -> Foresight:
    """The coming hours of one server before any draw, with the likely course that the rules have asked for."""
    return _shared(snapshot, namespace, now, length).undrawn()


def _shared(snapshot: ClusterSnapshot, namespace: str, now: datetime, length: timedelta) -> Foresight:
    """Worked out once a minute and for each change of the server."""
    schedules = snapshot.schedules_by_namespace.get(namespace, ())
    stamp = (
        int(now.timestamp() // 60),
        why_unforeseen(snapshot, namespace, now),
        schedules,
        # What the bytes and items of an open one say moves its end a little; the next minute takes that in.
        hash(
            tuple(
                (run.name, run.phase, run.status.start_timestamp, run.status.completion_timestamp)
                for run in snapshot.backups_by_namespace.get(namespace, ())
            )
        ),
        tuple(
            (volume.name, volume.stage)
            for run in snapshot.open_backups.get(namespace, ())
            for volume in snapshot.movements_of(run)
        ),
        tuple((item.name, item.status.phase) for item in snapshot.storage if item.namespace == namespace),
        snapshot.server(namespace),
    )
    # Rules and the calendar ask again and again.
    kept, server = snapshot.kept_nights, (namespace, length)
    basis, foreseen = kept.get(server, (None, None))
    if basis == stamp and isinstance(foreseen, Foresight):
        return foreseen
    foreseen = Foresight(snapshot, namespace, now, length)
    while len(kept) >= _MOST_LIKELY:
        del kept[next(iter(kept))]
    kept[server] = stamp, foreseen
    return foreseen


_MOST_LIKELY = 16
_LIKELY_RUNS, _SHORTEST_LIKELY = 1000, timedelta(hours=2)


def night(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    length: timedelta = DAY,
    draws: int = FEWEST_DRAWS,
    zone: tzinfo = UTC,
) -> Night:
    """The coming hours of one server, from as many courses; 0 draws give the likely course alone."""
    ahead = Foresight(snapshot, namespace, now, length, zone)
    ahead.play(draws)
    return ahead.night()


def _foresee(model: ServerModel, draws: Sequence[Course], likely: Course, known: Mapping[str, RunForecast]) -> Night:
    """Puts many courses together: for each run the middle of its starts and ends, and their ranges."""
    now = model.now
    runs: list[ForeseenRun] = []
    refused = {
        waiting.run.name: model.refused.get(waiting.run.name, "")
        for waiting, run in zip(model.waiting, likely.waiting, strict=True)
        if run.is_refused
    }
    played = [(*course.running, *course.waiting, *course.finishing) for course in draws]
    for place, backup in enumerate(model.open):
        ends = tuple(course[place].end for course in played)
        runs.append(_open_run(backup, known[backup.run.name], now, ends, refused.get(backup.run.name)))
    for place, schedule in enumerate(model.schedules):
        by_due: dict[int, dict[int, PlayedRun]] = {}
        for number, course in enumerate(draws or (likely,)):
            for index, run in enumerate(course.made[place]):
                key = index if model.state.schedules[place].every else round(run.due)
                by_due.setdefault(key, {})[number] = run
        every = model.state.schedules[place].every
        likely_runs = {index if every else round(run.due): run for index, run in enumerate(likely.made[place])}
        for key, scheduled in by_due.items():
            runs.append(_scheduled_run(model, schedule, place, scheduled, len(draws), likely_runs.get(key)))
        if all(course.holding[place] for course in draws or (likely,)):
            planned = model.state.schedules[place].due
            runs += (_held_run(model, schedule, due) for due in planned if round(due) not in by_due)
    runs.sort(key=lambda run: (run.start.likely if run.start else run.due or now, run.name))
    return Night(
        model.namespace,
        now,
        now + timedelta(seconds=model.state.until),
        tuple(runs),
        model.state.slots,
        len(draws),
        late_share=model.late.share,
        typical=_spans(model, _middle(draws, likely)),
        left_out={**model.left_out, **_held_back(model, draws or (likely,))},
        resumed=model.resumed,
        skipped=model.skipped,
        kept_back=model.kept_back,
        done=range_over(now, [_last_end(course) for course in draws or (likely,)], _last_end(likely)),
        bounded=model.bounded,
        always_due=model.always_due,
    )


def _held_run(model: ServerModel, schedule: Schedule, due: float) -> ForeseenRun:
    """A run that no course makes, because nobody knows when the one before it ends."""
    owner = Owner(OwnerKind.SCHEDULE, schedule.namespace, schedule.name)
    due_at = model.now + timedelta(seconds=due)
    return ForeseenRun(owner, "", due_at, None, None, None, Fate.UNKNOWN, reason=Fate.UNKNOWN.reason)


def _held_back(model: ServerModel, courses: Sequence[Course]) -> dict[str, str]:
    """By name, the schedules that are always due and make no run in any course: nobody knows when they may."""
    return {
        schedule.name: Fate.UNKNOWN.reason
        for place, (schedule, plan) in enumerate(zip(model.schedules, model.state.schedules, strict=True))
        if plan.every and plan.first <= model.state.until and not any(course.made[place] for course in courses)
    }


def _open_run(
    one: OpenBackup, told: RunForecast, now: datetime, ends: tuple[float, ...], refused: str | None
) -> ForeseenRun:
    run, start = one.run, one.run.status.start_timestamp
    is_running = run.phase not in phases.WAITING
    return ForeseenRun(
        one.owner,
        run.name,
        None,
        run.created,
        Range(start, (start, start), (start, start), start) if is_running and start else told.start,
        range_over(now, (), one.left(now, None)) if one.is_finalizing else told.end,
        Fate.MADE if refused is None else Fate.REFUSED,
        is_running=is_running,
        is_finishing=run.phase in phases.FINISHING,
        is_borrowed=bool(told.guess),
        reason=refused or told.guess or told.unknown,
        ends=ends,
    )


def _scheduled_run(
    model: ServerModel,
    schedule: Schedule,
    place: int,
    played: Mapping[int, PlayedRun],
    draws: int,
    likely: PlayedRun | None,
) -> ForeseenRun:
    """Puts one run together from the courses that have it, by their numbers; without draws that is the likely one.

    Its fate is that in the likely course, which all surfaces know; only where that has no such run, that in most.
    """
    by_course = {number: run for number, run in played.items() if not run.is_lost}
    made = list(by_course.values())
    share = 1 - len(made) / (draws or 1)
    now, refused = model.now, any(run.is_refused for run in made)
    fates = [_fate(run) for run in played.values()] + [Fate.LOST] * (draws - len(played))
    fate = _fate(likely) if likely is not None and made else max(Fate, key=fates.count)
    submitted = range_over(now, [run.submitted for run in made])
    if fate is Fate.LATE:
        seconds = likely.submitted if likely is not None else min(run.submitted for run in made)
        reason: Text = sentence(fate.reason, " until about ", estimate(now + timedelta(seconds=seconds)))
    else:
        reason = model.refused.get(schedule.name, "") if fate is Fate.REFUSED else fate.reason
    ends = range_over(now, [run.end for run in made])
    return ForeseenRun(
        Owner(OwnerKind.SCHEDULE, schedule.namespace, schedule.name),
        "",
        now + timedelta(seconds=next(iter(played.values())).due),
        submitted.likely if submitted else None,
        range_over(now, [run.start for run in made]),
        None if refused else ends,
        fate,
        share,
        is_borrowed=not model.lengths[place].tells(),
        reason=reason,
        ends=tuple(by_course[number].end if number in by_course else NOT_MADE for number in range(draws)),
    )


def _fate(run: PlayedRun) -> Fate:
    """The fate of a run in one course."""
    if run.is_lost:
        return Fate.LOST
    if run.is_refused:
        return Fate.REFUSED
    return Fate.LATE if run.submitted - max(run.due, 0.0) > _LATE else Fate.MADE


def _played(course: Course) -> Iterator[PlayedRun]:
    yield from course.running
    yield from course.waiting
    for runs in course.made:
        yield from runs


def _last_end(course: Course) -> float:
    return max((run.end for run in _played(course) if run.end < NEVER and not run.is_refused), default=NEVER)


def _middle(draws: Sequence[Course], likely: Course) -> Course:
    """The course in the middle of all by how long its runs wait and work in all, those of tenants too."""
    return sorted(draws, key=_load)[len(draws) // 2] if draws else likely


def _load(course: Course) -> float:
    runs = chain(_played(course), course.arrived)
    return sum(run.end - run.submitted for run in runs if not run.is_lost and run.end < NEVER)


def _spans(model: ServerModel, course: Course) -> tuple[RunSpan, ...]:
    """All runs of a course; one without a known start or end waits, or runs, as long as anything is foreseen."""
    now, longest = model.now, max(model.state.until, *(end for run in _played(course) if (end := run.end) < NEVER), 0.0)

    def at(seconds: float) -> datetime:
        return now + timedelta(seconds=min(seconds, longest))

    def span(run: PlayedRun, owner: Owner, name: str, due: datetime | None, made: datetime | None = None) -> RunSpan:
        return RunSpan(made or at(run.submitted), at(run.start), at(run.released), owner, name, due)

    running = zip(course.running, model.running, strict=True)
    spans = [span(run, backup.owner, backup.run.name, None) for run, backup in running]
    waiting = zip(course.waiting, model.waiting, strict=True)
    spans += [span(run, backup.owner, backup.run.name, None, backup.run.created) for run, backup in waiting]
    for schedule, runs in zip(model.schedules, course.made, strict=True):
        owner = Owner(OwnerKind.SCHEDULE, schedule.namespace, schedule.name)
        spans += [span(run, owner, "", at(run.due)) for run in runs if not run.is_lost]
    spans += [span(run, Owner(OwnerKind.NAB), "", None) for run in course.arrived]
    return tuple(spans)
