"""One course of a Velero server: its schedule controller and its queue played forward from a state, event by event.

Times are seconds from the moment of the forecast. Everything that is random is drawn before or comes from the `Draw`,
so that a course with the same draw is the same course.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from random import Random

import msgspec

from foretop_core.rules.night.arrivals import Arrival, DrawnArrivals
from foretop_core.rules.night.lengths import LONG_QUEUE, LateShares

PASS = 60.0
"""Schedule controller and queue look at everything once in this many seconds."""
NEVER = math.inf
NO_SCHEDULE = -1
_DEEPEST_LOOK = 100
"""So many lines of namespaces that may not start are passed over in one look; the server itself passes over all."""
_LEAST_WORK = 1.0
"""Seconds; no run is drawn shorter."""


class OpenRun(msgspec.Struct, frozen=True, gc=False):
    """A backup that exists at the moment of the forecast and has not ended."""

    claim: int
    """The index of its claim of namespaces."""
    schedule: int = NO_SCHEDULE
    """The index of the schedule whose label it carries."""
    is_refused: bool = False
    """Refused when it is its turn, because of its storage or its spec."""
    holds_schedule: bool = False
    """New or InProgress: its schedule makes no other one meanwhile."""
    held: float = 1.0
    """The share of its length for which it holds its slot, its namespaces and its schedule: volumes move after that."""
    elapsed: float = 0.0
    """The seconds for which it has been at work."""


class PlannedSchedule(msgspec.Struct, frozen=True):
    """A schedule that is not paused and that Velero accepts."""

    claim: int
    due: Sequence[float] = ()
    """The moments at which it is due, in order; the first may be past. Empty for a constant delay."""
    every: float = 0.0
    """The constant delay, counted from the last submission; `first` is the next due moment."""
    first: float = NEVER
    is_refused: bool = False
    most: int = 0
    """The largest number of its runs that are played."""
    held: float = 1.0
    """As that of an open run."""


class CourseStart(msgspec.Struct, frozen=True):
    """A Velero server and its open backups at the moment of the forecast."""

    slots: int
    has_queue: bool
    """Since 1.18. Without it backups run one at a time, and a waiting one holds its schedule."""
    schedules: Sequence[PlannedSchedule]
    running: Sequence[OpenRun]
    """At work: they hold a slot and their namespaces."""
    waiting: Sequence[OpenRun]
    """In the order of the queue."""
    finishing: Sequence[OpenRun]
    """They hold nothing, and end."""
    conflicts: Sequence[int]
    """For each claim the set of claims, as bits, that share a namespace with it."""
    until: float
    """Nothing is submitted after this; what was submitted before is played to its end."""
    has_arrival: bool = False
    """A waiting backup has just been made: the server looks at its queue at once."""
    has_end: bool = False
    """A backup has just ended: the server is about to hand its slot over, or is late with it."""
    stopped: tuple[float, float] | None = None
    """Velero does not run from the first moment to the second."""


class Draw(msgspec.Struct):
    """The random part of one course; a `Random` of None takes the likely value everywhere."""

    lengths: Sequence[Sequence[float]]
    """For each schedule, the lengths of its coming runs in turn, used again from the first when they are used up."""
    running: Sequence[float]
    """For each run at work, the seconds until it ends."""
    waiting: Sequence[float]
    finishing: Sequence[float]
    look: float
    """When the server looks first; up to some seconds ago where what that look does may not be seen yet."""
    late: LateShares
    random: Random | None = None
    tenants: DrawnArrivals = DrawnArrivals()
    """The backups that tenants ask for meanwhile."""


class PlayedRun(msgspec.Struct):
    """One run as it was played; a moment that it never reached is NEVER."""

    due: float
    submitted: float = NEVER
    start: float = NEVER
    end: float = NEVER
    is_lost: bool = False
    """Never made: the schedule's last backup was still going when the next run fell due."""
    is_refused: bool = False
    is_cut: bool = False
    """Failed, because Velero was stopped while it ran."""
    released: float = NEVER
    """When it holds its slot, its namespaces and its schedule no longer."""
    goes_on: float = 0.0
    """The seconds from then to its end: its volumes are moved."""


class Course(msgspec.Struct):
    """The runs of one course: the open ones as they were given, and for each schedule those of its due moments."""

    running: list[PlayedRun]
    waiting: list[PlayedRun]
    finishing: list[PlayedRun]
    made: list[list[PlayedRun]]
    arrived: list[PlayedRun]
    """Those that tenants asked for."""
    holding: list[int]
    """For each schedule, how many of its backups keep it from making another one; at the end those that never end."""


_END, _SUBMIT, _LOOK, _RESTART, _ARRIVAL = range(5)


class _Waiting(msgspec.Struct):
    number: int
    """The order of arrival."""
    run: PlayedRun
    claim: int
    schedule: int
    length: float
    is_refused: bool
    held: float


_Event = tuple[float, float, int, int, int, PlayedRun | None, int]
"""Moment, order within it, number, kind, schedule, and of an end the run with its claim."""


class _Server:
    """The state of one course while it is played."""

    def __init__(self, state: CourseStart, draw: Draw, *, only_open: bool) -> None:
        self.state, self.draw, self.only_open = state, draw, only_open
        self.bits = [1 << index for index in range(len(state.conflicts))]
        self.events: list[_Event] = []
        self.counter = 0
        self.free = state.slots - len(state.running)
        self.at_work: dict[int, int] = {}
        """By claim, how many at work have it."""
        self.holding = [0] * len(state.schedules)
        self.blocked = [False] * len(state.schedules)
        self.pointer = [0] * len(state.schedules)
        self.used = [0] * len(state.schedules)
        self.next_due = [schedule.due[0] if schedule.due else schedule.first for schedule in state.schedules]
        self.queues: dict[int, deque[_Waiting]] = {}
        """By claim, those that wait, in order: of each claim only the first may start, for they share namespaces."""
        self.firsts: list[tuple[int, int]] = []
        """Of each of these lines the number of its first, with the claim, as a heap."""
        self.queued = self.arrived = 0
        self.pass_pending = False
        self.course = Course(
            [PlayedRun(-1.0, 0.0, 0.0) for _ in state.running],
            [PlayedRun(-1.0, 0.0) for _ in state.waiting],
            [PlayedRun(-1.0, 0.0, 0.0) for _ in state.finishing],
            [[] for _ in state.schedules],
            [],
            self.holding,
        )
        self.arrivals = iter(draw.tenants.arrivals)
        self.levels = deque(draw.tenants.levels)
        self.coming: Arrival | None = None
        self.tenants_waiting = 0

    def push(
        self, at: float, kind: int, schedule: int = NO_SCHEDULE, run: PlayedRun | None = None, claim: int = 0
    ) -> None:
        """Puts an event on the list, unless it never comes.

        Events of the same moment come in the order of a draw: Velero takes the schedules of one look in any order.
        """
        if at == NEVER:
            return
        self.counter += 1
        tie = self.draw.random.random() if self.draw.random and kind != _END else float(self.counter)
        heappush(self.events, (at, tie, self.counter, kind, schedule, run, claim))

    def look_after(self, at: float) -> float:
        """The first look of the server at or after a moment; what one of a moment ago does is still to come.

        Moments are whole microseconds: a run due in the very second of a look is not late by an error of floats.
        """
        first = self.draw.look
        look = max(0.0, first + math.ceil(round(max(0.0, at - first), 6) / PASS) * PASS)
        stopped = self.state.stopped
        if stopped is not None and stopped[0] <= look < stopped[1]:
            return stopped[1]
        return look

    def play(self) -> Course:
        state, draw, course = self.state, self.draw, self.course
        for index, open_run in enumerate(state.running):
            self.take(open_run.claim)
            if open_run.holds_schedule and open_run.schedule >= 0:
                self.holding[open_run.schedule] += 1
            at_work, rest = course.running[index], draw.running[index]
            work = rest
            if open_run.held < 1.0 and rest < NEVER:
                work = min(rest, max(_LEAST_WORK, open_run.held * (open_run.elapsed + rest) - open_run.elapsed))
                at_work.goes_on = rest - work
            self.push(work, _END, open_run.schedule, at_work, open_run.claim)
        for finishing, end in zip(course.finishing, draw.finishing, strict=True):
            finishing.end = end
        for index, open_run in enumerate(state.waiting):
            if not state.has_queue and open_run.schedule >= 0:
                self.holding[open_run.schedule] += 1
            length, refused = draw.waiting[index], open_run.is_refused
            self.arrive(course.waiting[index], open_run.claim, open_run.schedule, length, refused, open_run.held)
        for index in range(len(state.schedules)):
            self.plan(index)
        self.await_arrival()
        if state.stopped is not None:
            self.push(state.stopped[0], _RESTART)
        if self.queued and self.free > 0:
            is_at_once = state.has_arrival or (state.has_end and not self.is_handover_late())
            self.push(0.0 if is_at_once else max(0.0, draw.look), _LOOK)
        going = {id(run) for run in (*course.running, *course.waiting)}
        while self.events and (going or not self.only_open):
            moment, _, _, kind, schedule, run, claim = heappop(self.events)
            if run is not None:
                going.discard(id(run))
                self.end(moment, schedule, run, claim)
            elif kind == _SUBMIT:
                self.submit(moment, schedule)
            elif kind == _LOOK:
                self.pass_pending = False
                self.look(moment)
            elif kind == _ARRIVAL:
                self.admit(moment)
            else:
                self.stop(moment)
        return course

    def await_arrival(self) -> None:
        self.coming = next(self.arrivals, None)
        if self.coming is not None:
            self.push(self.coming.at, _ARRIVAL)

    def admit(self, at: float) -> None:
        """The backup of a tenant has come."""
        assert self.coming is not None
        kept = self.kept(at)
        if not kept or self.tenants_waiting < kept:
            self.ask(at, self.coming)
        self.await_arrival()

    def ask(self, at: float, arrival: Arrival) -> None:
        run = PlayedRun(-1.0, at)
        self.course.arrived.append(run)
        self.arrive(run, arrival.claim, NO_SCHEDULE, arrival.length, False)
        if self.free > 0:
            self.look(at)

    def ask_again(self, at: float) -> None:
        """Keeps as many backups of tenants waiting as at such a time: whose backup has started asks for the next."""
        some, random = self.draw.tenants.arrivals, self.draw.random
        while self.tenants_waiting < self.kept(at):
            self.ask(at, random.choice(some) if random is not None else some[self.arrived % len(some)])

    def kept(self, at: float) -> int:
        """How many backups tenants keep waiting; 0 where they come by chance."""
        while self.levels and self.levels[0].until <= at:
            self.levels.popleft()
        return self.levels[0].waiting if self.levels else 0

    def plan(self, index: int) -> None:
        """Puts the next look that finds a schedule due on the list."""
        due = self.next_due[index]
        if due < self.state.until and self.used[index] < self.state.schedules[index].most:
            self.push(self.look_after(due), _SUBMIT, index)

    def submit(self, at: float, index: int) -> None:
        if at >= self.state.until:
            return
        if self.holding[index]:
            self.blocked[index] = True
            return
        schedule, runs = self.state.schedules[index], self.course.made[index]
        due = self.next_due[index]
        if schedule.every:
            self.next_due[index] = at + schedule.every
        else:
            pointer, moments = self.pointer[index] + 1, schedule.due
            while pointer < len(moments) and moments[pointer] <= at:
                runs.append(PlayedRun(due, is_lost=True))
                due, pointer = moments[pointer], pointer + 1
            self.pointer[index] = pointer
            self.next_due[index] = moments[pointer] if pointer < len(moments) else NEVER
        run = PlayedRun(due, at)
        runs.append(run)
        lengths = self.draw.lengths[index]
        length = lengths[self.used[index] % len(lengths)]
        self.used[index] += 1
        if not self.state.has_queue:
            self.holding[index] += 1
        self.arrive(run, schedule.claim, index, length, schedule.is_refused, schedule.held)
        if self.free > 0:
            self.look(at)
        self.plan(index)

    def look(self, at: float) -> None:
        """Starts whatever may start: the first in the queue without a conflict at work or ahead of it."""
        state, conflicts, bits = self.state, self.state.conflicts, self.bits
        stopped = state.stopped
        if stopped is not None and stopped[0] <= at < stopped[1]:
            return
        taken, free = 0, self.free
        for claim in self.at_work:
            taken |= bits[claim]
        passed_over: list[tuple[int, int]] = []
        while self.firsts and free > 0 and len(passed_over) < _DEEPEST_LOOK:
            first = heappop(self.firsts)
            key = first[1]
            waiting = self.queues[key][0]
            if state.has_queue and conflicts[waiting.claim] & taken:
                taken |= bits[waiting.claim]
                passed_over.append(first)
                continue
            self.queues[key].popleft()
            self.queued -= 1
            self.tenants_waiting -= waiting.schedule == NO_SCHEDULE
            run = waiting.run
            run.start = at
            if waiting.is_refused:
                run.released, run.end = at, at
                self.release(at, waiting.schedule, refused=True)
                free -= state.has_queue
            else:
                free -= 1
                self.free -= 1
                taken |= bits[waiting.claim]
                self.take(waiting.claim)
                if state.has_queue and waiting.schedule >= 0:
                    self.holding[waiting.schedule] += 1
                work = waiting.length
                if waiting.held < 1.0 and work < NEVER:
                    work = max(_LEAST_WORK, waiting.held * work)
                    run.goes_on = waiting.length - work
                self.push(at + work, _END, waiting.schedule, run, waiting.claim)
            if self.queues[key]:
                heappush(self.firsts, (self.queues[key][0].number, key))
            else:
                del self.queues[key]
        for first in passed_over:
            heappush(self.firsts, first)
        if self.queued and self.free > 0 >= free:
            # A refused one has taken its slot for this look only: its end makes nobody look again.
            self.await_pass(at)
        self.ask_again(at)

    def end(self, at: float, schedule: int, run: PlayedRun, claim: int) -> None:
        """The end of its work: it holds nothing any more, though its volumes may still be moved."""
        run.released, run.end = at, at + run.goes_on
        self.free += 1
        self.at_work[claim] -= 1
        if not self.at_work[claim]:
            del self.at_work[claim]
        self.release(at, schedule, refused=False)
        # Of several that end at one moment, the last makes it look: all of their slots and namespaces are free.
        is_last = not self.events or self.events[0][0] != at or self.events[0][5] is None
        if not self.queued or not is_last:
            return
        if self.is_handover_late():
            self.await_pass(at)
        else:
            self.look(at)

    def is_handover_late(self) -> bool:
        random, late = self.draw.random, self.draw.late
        if random is None or not self.state.has_queue:
            return False
        return random.random() < (late.long_queue if self.queued >= LONG_QUEUE else late.short_queue)

    def release(self, at: float, schedule: int, *, refused: bool) -> None:
        """A schedule whose backup no longer holds it is looked at again at the next pass."""
        if schedule < 0 or (refused and self.state.has_queue):
            return
        if self.holding[schedule]:
            self.holding[schedule] -= 1
        if self.blocked[schedule] and not self.holding[schedule]:
            self.blocked[schedule] = False
            self.push(self.look_after(at), _SUBMIT, schedule)

    def await_pass(self, at: float) -> None:
        if not self.pass_pending:
            self.pass_pending = True
            self.push(self.look_after(at + 0.001), _LOOK)

    def arrive(
        self, run: PlayedRun, claim: int, schedule: int, length: float, is_refused: bool, held: float = 1.0
    ) -> None:
        # One whose turn does not come is refused all the same.
        run.is_refused = is_refused
        self.queued += 1
        self.arrived += 1
        self.tenants_waiting += schedule == NO_SCHEDULE
        # Without a queue namespaces do not count: all wait in one line.
        key = claim if self.state.has_queue else 0
        line = self.queues.setdefault(key, deque())
        if not line:
            heappush(self.firsts, (self.arrived, key))
        line.append(_Waiting(self.arrived, run, claim, schedule, length, is_refused, held))

    def take(self, claim: int) -> None:
        self.at_work[claim] = self.at_work.get(claim, 0) + 1

    def stop(self, at: float) -> None:
        """Stops Velero: its runs are failed when it starts again, and only then give up their slots."""
        assert self.state.stopped is not None
        back = self.state.stopped[1]
        if at < back:
            cut = [event for event in self.events if event[5] is not None]
            self.events = [event for event in self.events if event[5] is None]
            heapify(self.events)
            self.at_work.clear()
            self.free = self.state.slots
            for _, _, _, _, schedule, run, _ in cut:
                assert run is not None
                run.is_cut, run.released, run.end = True, back, back
                self.release(back, schedule, refused=False)
            self.push(back, _RESTART)
        else:
            self.look(at)


def play(state: CourseStart, draw: Draw, *, only_open: bool = False) -> Course:
    """The course of a server from a state on, given what a draw says of all that is random.

    With `only_open` it ends with the last of the backups that were there at the beginning.
    """
    return _Server(state, draw, only_open=only_open).play()
