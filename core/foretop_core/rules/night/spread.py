"""Other minutes for schedules that meet: the same rhythm and window, less waiting, and as few changes as possible.

Greedy: the likely course shows where each schedule would wait least, the best few of these places are played, and the
one that gains most is taken, until no further one is worth a change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.errors import BadInput
from foretop_core.models import PreScaledCronJob, Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.readings import alike, expression
from foretop_core.rules.cron_dialects.upgrade_effect import with_times
from foretop_core.rules.forecast import base_time
from foretop_core.rules.night.course import NEVER, Course, PlannedSchedule, PlayedRun, play
from foretop_core.rules.night.night import DAY, FEWEST_DRAWS
from foretop_core.rules.night.outlook import Outlook
from foretop_core.rules.night.server_model import SEED, Drawing, ServerModel, server_model
from foretop_core.rules.night.what_if import Move, compared, refuse_silence, what_if
from foretop_core.rules.night.window import Window
from foretop_core.rules.primer import PrimerError, prime
from foretop_core.rules.sentences import Text
from foretop_core.rules.snapshot import ClusterSnapshot

MOST_SHIFTS = 20
_MINUTE = 60.0
_MINUTES_A_DAY = 1440
_PLAYED_SCHEDULES, _PLAYED_PLACES = 4, 2
"""So many schedules, each at so many places, are played before one is taken."""
_COURSES, _FEWEST_COURSES, _WORK = 12, 3, 1500
"""Courses that judge a change; fewer where a server has very many schedules."""
_WORTH_RUNS = 0.5
_WORTH_SHARE, _WORTH_SECONDS = 0.05, 120.0
"""A change is worth it that saves half a run from being lost or late, or so much of all waiting."""
_ROOM = 1.1
"""A run is given this much of its usual length: it is not always the usual one."""
_ROUND = 5
_TOLD_RUNS, _TOLD_SECONDS = 0.05, 30.0


class Strain(msgspec.Struct, frozen=True):
    """How much goes wrong in an average course: runs lost and late, and the seconds that all wait together."""

    lost: float = 0.0
    late: float = 0.0
    waits: float = 0.0

    @property
    def wait(self) -> timedelta:
        return timedelta(seconds=round(self.waits))

    @property
    def saved(self) -> str:
        """In words, of a strain that is taken away: `1.0 fewer lost, 12 minutes less waiting`."""
        runs = ((self.lost, "lost"), (self.late, "late"))
        told = [f"{number:.1f} fewer {word}" for number, word in runs if number >= _TOLD_RUNS]
        if self.waits >= _TOLD_SECONDS:
            told.append(f"{humanize.duration(self.wait)} less waiting")
        return ", ".join(told)

    def less(self, other: Strain) -> Strain:
        return Strain(self.lost - other.lost, self.late - other.late, self.waits - other.waits)

    def is_worse_than(self, other: Strain) -> bool:
        """By any of the three, where that is more than the luck of a draw."""
        return (
            self.lost > other.lost + 0.05
            or self.lost + self.late > other.lost + other.late + 0.05
            or (self.waits > other.waits and self.lost + self.late >= other.lost + other.late)
        )

    def is_worth_a_change(self, start: Strain) -> bool:
        """True of what is taken away from all that went wrong at the start, where that is enough."""
        runs = self.lost + self.late
        if abs(runs) >= _WORTH_RUNS:
            return runs > 0
        return self.waits >= max(_WORTH_SECONDS, _WORTH_SHARE * start.waits)


class MovedWarmUp(msgspec.Struct, frozen=True):
    """A warm-up that moves along with its schedule, by a merge patch of its spec."""

    ref: ObjectRef
    patch: Mapping[str, Any]


class Shift(msgspec.Struct, frozen=True):
    """A schedule that would run so many minutes later, or earlier where they are negative."""

    ref: ObjectRef
    before: str
    after: str
    minutes: int
    skips: bool
    """By the new expression a run is due at once: the patch tells Velero to skip it."""
    gain: Strain
    """What it takes away from all, given the shifts before it."""
    warm_ups: tuple[MovedWarmUp, ...] = ()
    left_behind: tuple[ObjectRef, ...] = ()
    """Warm-ups that fit it and cannot move along: they serve other schedules too, or cannot be primed there."""

    @property
    def move(self) -> Move:
        return Move(self.ref.name, self.after, self.skips)

    @property
    def patch(self) -> dict[str, Any]:
        """The merge patch of the schedule's spec."""
        return {"schedule": self.after, **({"skipImmediately": True} if self.skips else {})}


class Spreading(msgspec.Struct, frozen=True):
    """The night as it will be and as it would be with the shifts, those that gain most first."""

    before: Outlook
    after: Outlook
    strain_before: Strain
    strain_after: Strain
    shifts: tuple[Shift, ...] = ()
    differences: tuple[Text, ...] = ()


def spread(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    window: Window | None = None,
    keep: Collection[str] = (),
    length: timedelta = DAY,
    draws: int = FEWEST_DRAWS,
) -> Spreading:
    """Proposes other minutes so that fewer runs wait and none is lost.

    With a window the runs that are due in it stay in it and may take any minute of it; without one each
    schedule keeps its hours. Those in `keep` stay as they are. Raises BadInput for a name that nobody has,
    and Unforeseen where nothing can be foreseen.
    """
    there = {schedule.name for schedule in snapshot.schedules_by_namespace.get(namespace, ())}
    for name in keep:
        if name not in there:
            raise BadInput(f"There is no schedule {name} in {namespace}", "", "`foretop get schedules` lists them")
    refuse_silence(snapshot, namespace, now)
    search = _Search(snapshot, namespace, now, length, window, frozenset(keep))
    found = search.chosen()
    before = after = search.strain((), draws)
    while found:
        after = search.strain(found, draws)
        if not after.is_worse_than(before):
            break
        found, after = found[:-1], before
    if not found:
        model = server_model(snapshot, namespace, now, now + length)
        same = compared(model, model, draws)
        return Spreading(same.before, same.after, before, before)
    nights = what_if(snapshot, namespace, now, [shift.move for shift in found], length, draws)
    shifts = tuple(_with_warm_ups(snapshot, shift, found) for shift in found)
    return Spreading(nights.before, nights.after, before, after, shifts, nights.differences)


def _shifted(model: ServerModel, by: Mapping[int, int]) -> ServerModel:
    """The server with some of its schedules so many minutes later."""
    planned = list(model.state.schedules)
    for place, minutes in by.items():
        planned[place] = replace(planned[place], due=tuple(at + minutes * _MINUTE for at in planned[place].due))
    return replace(model, state=replace(model.state, schedules=planned))


def _without(model: ServerModel, place: int) -> ServerModel:
    """The server if one of its schedules made no runs."""
    planned = list(model.state.schedules)
    planned[place] = replace(planned[place], most=0)
    return replace(model, state=replace(model.state, schedules=planned))


class _Movable(msgspec.Struct, frozen=True):
    """A schedule that may run at other minutes."""

    place: int
    schedule: Schedule
    parsed: CronSchedule
    planned: PlannedSchedule
    minutes: float
    """The usual length of its runs."""
    shifts: tuple[int, ...]
    """By how many minutes it may be moved, the smallest change first."""


class _Search:
    """The search for a few shifts that help."""

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        namespace: str,
        now: datetime,
        length: timedelta,
        window: Window | None,
        keep: frozenset[str],
    ) -> None:
        self.snapshot, self.window, self.length = snapshot, window, length.total_seconds()
        # A run that moves out of the time that is judged is no gain: what lies beyond it is played too.
        beyond = timedelta(hours=1) if window is None else window.length
        model = server_model(snapshot, namespace, now, now + length + beyond)
        self.model = replace(model, arrivals=model.arrivals.without_rush)
        self.judged = [
            sum(due < self.length for due in planned.due) if planned.due else None
            for planned in self.model.state.schedules
        ]
        """How many runs of each schedule are judged, however it is moved; None for a constant delay."""
        self.dialects = snapshot.verdict(namespace).candidates
        self.movable = [
            one for place in range(len(self.model.schedules)) if (one := self._movable(place, keep)) is not None
        ]
        self.courses = max(_FEWEST_COURSES, min(_COURSES, _WORK // max(1, len(self.model.schedules))))
        self.horizon = int(self.model.state.until // _MINUTE) + _MINUTES_A_DAY

    def strain(self, shifts: Collection[Shift], draws: int) -> Strain:
        """How much goes wrong with some shifts, in so many courses."""
        places = {schedule.name: place for place, schedule in enumerate(self.model.schedules)}
        return self._strain({places[shift.ref.name]: shift.minutes for shift in shifts}, draws)

    def _strain(self, by: Mapping[int, int], draws: int) -> Strain:
        model = _shifted(self.model, by)
        drawing = Drawing(model, SEED)
        courses = [play(model.state, drawing.likely()), *(play(model.state, drawing.next()) for _ in range(draws))]
        each = [self._strain_of(course) for course in courses]
        return Strain(*(sum(values) / len(each) for values in zip(*each, strict=True)))

    def _strain_of(self, course: Course) -> tuple[float, float, float]:
        lost = late = 0
        waits = 0.0
        made = (
            run
            for runs, judged in zip(course.made, self.judged, strict=True)
            for run in (runs[:judged] if judged is not None else (one for one in runs if one.due < self.length))
        )
        for run in (*course.waiting, *made):
            if run.is_lost:
                lost += 1
                continue
            late += run.submitted - max(run.due, 0.0) > _MINUTE + 1
            if run.start < NEVER:
                waits += run.start - run.submitted
        return float(lost), float(late), waits

    def chosen(self) -> tuple[Shift, ...]:
        """The shifts, those that gain most first."""
        start = now = self._strain({}, self.courses)
        found: dict[int, Shift] = {}
        while len(found) < MOST_SHIFTS and (now.waits >= _WORTH_SECONDS or now.lost or now.late):
            played = [
                (self._strain({**_by(found), one.place: minutes}, self.courses), one, minutes)
                for one, minutes in self._promising(found)
            ]
            best = min(played, key=lambda each: _order(each[0]), default=None)
            if best is None or not now.less(best[0]).is_worth_a_change(start):
                break
            reached, one, minutes = best
            shift = self._shift(one, minutes, now.less(reached))
            if shift is None:
                self.movable = [other for other in self.movable if other is not one]
                continue
            found[one.place], now = shift, reached
        return self._needed(found, now, start)

    def _needed(self, found: dict[int, Shift], now: Strain, start: Strain) -> tuple[Shift, ...]:
        """Leaves out what later shifts have made superfluous."""
        for place in list(found):
            rest = {other: shift for other, shift in found.items() if other != place}
            without = self._strain(_by(rest), self.courses)
            if rest and not without.less(now).is_worth_a_change(start):
                found, now = rest, without
        return tuple(found.values())

    def _promising(self, found: Mapping[int, Shift]) -> list[tuple[_Movable, int]]:
        """The places that look best in the likely course, of the schedules that would gain most."""
        model = _shifted(self.model, _by(found))
        course = play(model.state, Drawing(model, SEED).likely())
        gains = []
        for one in self.movable:
            if one.place in found or not course.made[one.place]:
                continue
            costs = self._costs(model, course, one)
            gain = min(costs.values()) - costs[0]
            gains += [(gain, one)] if gain < 0 else []
        gains.sort(key=lambda gain: gain[0])
        return [(one, by) for _, one in gains[:_PLAYED_SCHEDULES] for by in self._best_places(model, one)]

    def _best_places(self, model: ServerModel, one: _Movable) -> list[int]:
        """The shifts that look best beside the likely course without it: who waits for it now starts sooner then."""
        rest = _without(model, one.place)
        costs = self._costs(rest, play(rest.state, Drawing(rest, SEED).likely()), one)
        ranked = sorted(one.shifts, key=lambda by: (costs[by], self._is_odd(one, by)))
        return [by for by in ranked[:_PLAYED_PLACES] if costs[by] < costs[0]]

    def _is_odd(self, one: _Movable, by: int) -> bool:
        """Among equals a round minute is easier to remember."""
        lowest = (one.parsed.fields.minute & -one.parsed.fields.minute).bit_length() - 1
        return bool((lowest + by) % _ROUND)

    def _costs(self, model: ServerModel, course: Course, one: _Movable) -> dict[int, int]:
        """By shift, the minutes that its runs would wait and would hold others back; 0 is as it is."""
        crowded = self._crowded(model, course, one.place)
        taken = [0, *accumulate(crowded)]
        free = [self.horizon] * len(crowded)
        for minute in reversed(range(self.horizon)):
            free[minute] = free[minute + 1] if crowded[minute] else minute
        lasts = int(one.minutes * one.planned.held * _ROOM) + 1

        def cost(by: int) -> int:
            total = 0
            for due in one.planned.due:
                at = int(due // _MINUTE) + by
                starts = free[at]
                total += starts - at + taken[min(starts + lasts, self.horizon)] - taken[starts]
            return total

        return {by: cost(by) for by in (0, *one.shifts)}

    def _crowded(self, model: ServerModel, course: Course, place: int) -> bytearray:
        """Minute by minute, whether the others leave no slot or hold one of its namespaces."""
        state, wanted = model.state, model.state.schedules[place].claim
        load, held = [0] * (self.horizon + 1), [0] * (self.horizon + 1)
        others = [
            *((run, one.claim) for run, one in zip(course.running, state.running, strict=True)),
            *((run, one.claim) for run, one in zip(course.waiting, state.waiting, strict=True)),
            *(
                (run, state.schedules[other].claim)
                for other, runs in enumerate(course.made)
                if other != place
                for run in runs
            ),
        ]
        for run, claim in others:
            for minutes in (load, held) if state.conflicts[wanted] >> claim & 1 else (load,):
                _mark(minutes, run, self.horizon)
        return bytearray(
            at_work >= state.slots or holding > 0
            for at_work, holding in zip(accumulate(load), accumulate(held), strict=True)
        )

    def _movable(self, place: int, keep: frozenset[str]) -> _Movable | None:
        schedule, planned = self.model.schedules[place], self.model.state.schedules[place]
        dialect = self.snapshot.dialect(schedule)
        parsed = None if dialect is None else expression(schedule.spec.schedule, dialect)
        length = self.model.lengths[place].likely
        if (
            schedule.name in keep
            or not isinstance(parsed, CronSchedule)
            or not planned.due
            or planned.due[0] <= 0
            or planned.is_refused
            or len(planned.due) >= planned.most
            or length == NEVER
        ):
            return None
        minutes = length / _MINUTE
        shifts = sorted(self._shifts(schedule, parsed, planned, minutes), key=abs)
        return _Movable(place, schedule, parsed, planned, minutes, tuple(shifts))

    def _shifts(
        self, schedule: Schedule, parsed: CronSchedule, planned: PlannedSchedule, minutes: float
    ) -> Iterator[int]:
        """Every number of minutes by which all runs can move: no day, no hour without a window, no run at once."""
        now, fields = self.model.now, parsed.fields
        first, last = _values(fields.minute)[0], _values(fields.minute)[-1]
        hours = _values(fields.hour)
        low, high = (-first, 59 - last) if self.window is None else (-_MINUTES_A_DAY, _MINUTES_A_DAY)
        coming = now + timedelta(seconds=planned.due[0])
        earlier = parsed.previous(now.astimezone(UTC) + timedelta(microseconds=1))
        for by in range(low, high + 1):
            carried = (first + by) // 60
            if by == 0 or (last + by) // 60 != carried:
                continue
            if hours[0] + carried < 0 or hours[-1] + carried > 23:
                continue
            moved = timedelta(minutes=by)
            if coming + moved <= now + timedelta(minutes=1) or (earlier is not None and earlier + moved > now):
                continue
            if self._stays(planned, by, minutes):
                yield by

    def _stays(self, planned: PlannedSchedule, by: int, minutes: float) -> bool:
        """True if the runs in the window stay in it, to their usual end where they do now, and no other comes in."""
        if self.window is None:
            return True
        ends = self.window.length / timedelta(minutes=1)
        is_any_inside = False
        for begins in self._places(planned):
            after = begins + by
            if begins < ends:
                is_any_inside = True
                if not 0 <= after < ends or (begins + minutes <= ends < after + minutes):
                    return False
            elif not ends <= after < _MINUTES_A_DAY:
                return False
        return is_any_inside

    def _places(self, planned: PlannedSchedule) -> set[float]:
        """How many minutes after the beginning of the window its runs are due."""
        assert self.window is not None
        now, window, minute = self.model.now, self.window, timedelta(minutes=1)
        return {window.since(now + timedelta(seconds=due)) / minute for due in planned.due}

    def _shift(self, one: _Movable, minutes: int, gain: Strain) -> Shift | None:
        """None where the server may read the new expression in another way."""
        text = shifted_text(one.schedule.spec.schedule, one.parsed, minutes, self.dialects)
        parsed = None if text is None else expression(text, self.dialects[-1])
        if text is None or not isinstance(parsed, CronSchedule):
            return None
        now = self.model.now
        by = timedelta(minutes=minutes)
        until = now + timedelta(seconds=self.length)
        wanted = {at for due in one.planned.due if (at := now + timedelta(seconds=due) + by) < until}
        made = {at for at in parsed.between(now.astimezone(UTC), until) if at < until}
        if made != wanted:
            return None
        base = base_time(one.schedule)
        due = None if base is None else parsed.next(base.astimezone(UTC))
        skips = due is not None and due <= now
        ref = self.snapshot.ref(one.schedule)
        return Shift(ref, one.schedule.spec.schedule, text, minutes, skips, gain)


def shifted_text(text: str, parsed: CronSchedule, minutes: int, dialects: tuple[Dialect, ...]) -> str | None:
    """The expression whose runs all come so many minutes later; None where there is none that all dialects read so."""
    fields = parsed.fields
    carried = (_values(fields.minute)[0] + minutes) // 60
    moved = with_times(
        text,
        parsed,
        _moved_bits(fields.minute, minutes - 60 * carried),
        _moved_bits(fields.hour, carried),
    )
    read = [expression(moved, dialect) for dialect in dialects]
    first = read[0]
    if isinstance(first, CronError) or not all(alike(first, other) for other in read[1:]):
        return None
    return moved


def _moved_bits(bits: int, by: int) -> int:
    return bits << by if by >= 0 else bits >> -by


def _values(bits: int) -> list[int]:
    return [value for value in range(bits.bit_length()) if bits >> value & 1]


def _by(found: Mapping[int, Shift]) -> dict[int, int]:
    return {place: shift.minutes for place, shift in found.items()}


def _order(reached: Strain) -> tuple[float, float, float]:
    return round(reached.lost, 1), round(reached.late, 1), reached.waits


def _mark(minutes: list[int], run: PlayedRun, horizon: int) -> None:
    if not run.is_refused:
        minutes[int(min(run.start / _MINUTE, horizon))] += 1
        minutes[int(min(run.released / _MINUTE + 1, horizon))] -= 1


def _with_warm_ups(snapshot: ClusterSnapshot, shift: Shift, shifts: tuple[Shift, ...]) -> Shift:
    """A job that runs at the very times of a schedule warms up for it: it moves along, unless others have them too."""
    schedule = next(one for one in snapshot.schedules if snapshot.ref(one) == shift.ref)
    moved, left = list[MovedWarmUp](), list[ObjectRef]()
    for job in snapshot.prescaled:
        if not _warms(snapshot, job, schedule):
            continue
        served = [one for one in snapshot.schedules if not one.spec.paused and _warms(snapshot, job, one)]
        along = {other.ref for other in shifts if other.minutes == shift.minutes}
        patch = _warm_up_patch(job, shift) if all(snapshot.ref(one) in along for one in served) else None
        if patch is None:
            left.append(snapshot.ref(job))
        else:
            moved.append(MovedWarmUp(snapshot.ref(job), patch))
    return replace(shift, warm_ups=tuple(moved), left_behind=tuple(left))


def _warms(snapshot: ClusterSnapshot, job: PreScaledCronJob, schedule: Schedule) -> bool:
    dialect = snapshot.dialect(schedule)
    if dialect is None:
        return False
    run, backup = (
        expression(job.spec.cron_job.spec.expression, Dialect.ROBFIG),
        expression(schedule.spec.schedule, dialect),
    )
    return isinstance(run, CronSchedule) and isinstance(backup, CronSchedule) and alike(run, backup)


def _warm_up_patch(job: PreScaledCronJob, shift: Shift) -> dict[str, Any] | None:
    text = job.spec.cron_job.spec.schedule
    parsed = expression(text, Dialect.ROBFIG)
    moved = None
    if isinstance(parsed, CronSchedule):
        moved = shifted_text(text, parsed, shift.minutes, (Dialect.ROBFIG,))
    if moved is None:
        return None
    patch: dict[str, Any] = {"cronJob": {"spec": {"schedule": moved}}}
    if job.spec.primer_schedule:
        try:
            primed = prime(moved, job.spec.warm_up_time_mins, Dialect.ROBFIG).expressions
        except PrimerError:
            return None
        if len(primed) != 1:
            return None
        patch["primerSchedule"] = primed[0]
    return patch
