"""One server's night by lanes: what has run and what will, slot by slot, and how each lane stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from enum import IntEnum
from functools import cached_property
from typing import TypeVar

import msgspec

from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.run_facts import Owner, OwnerKind
from foretop_core.rules.night.night import Fate, ForeseenRun, Night
from foretop_core.rules.night.outlook import Outlook, WindowOutlook, by_six, outlook, window_outlook
from foretop_core.rules.night.past_runs import PastRun
from foretop_core.rules.night.ranges import latest
from foretop_core.rules.night.window import Window
from foretop_core.rules.phases import WAITING
from foretop_core.rules.remembered import remembered
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, run_mark
from foretop_core.tables.timeline.lanes import LaneObstacles, TimelineItem, next_runs, planned_runs
from foretop_core.tables.timeline.night_chart import CellLoad, LaneRun, LaneSign, SlotSpan, cell_loads
from foretop_core.tables.timeline.time_axis import MINUTE, TimeAxis

TONIGHT = timedelta(hours=8)
"""What has run so lately, and runs again only after so long, is done for the night."""
_SHARED = frozenset({NAB.name, BACKUP.name})
_KEPT_LOADS = 10
_LETTERS = {"PartiallyFailed": LaneSign.PARTLY, "Failed": LaneSign.FAILED}

_R = TypeVar("_R", ForeseenRun, PastRun)
Server = tuple[str, str]
"""The context of a Velero and its namespace."""


def is_shared(key: ObjectRef) -> bool:
    """True if a lane is that of all NABs of a server, or of all its backups by hand."""
    return key.kind in _SHARED


def lane_key(context: str, namespace: str, owner: Owner) -> ObjectRef:
    """The lane of a run: its schedule's, or the one that all NABs or all backups by hand of a server share."""
    if owner.kind is OwnerKind.SCHEDULE:
        return ObjectRef(context, SCHEDULE.name, namespace, owner.name)
    return ObjectRef(context, NAB.name if owner.kind is OwnerKind.NAB else BACKUP.name, namespace, "")


class ServerNight(msgspec.Struct, frozen=True, dict=True):
    """A server's night and what it has done before, both of one moment."""

    context: str
    night: Night
    past: tuple[PastRun, ...] = ()
    plan: int = 0
    """The plan of the server that it was played from, as `TimelineModel` numbers them."""

    @property
    def server(self) -> Server:
        return self.context, self.night.namespace

    @property
    def is_long(self) -> bool:
        """True if a look at each of its runs would hold the event loop up."""
        return len(self.night.runs) + len(self.night.typical) + len(self.past) > MOST_AT_ONCE

    @property
    def stamp(self) -> tuple[int, datetime]:
        """Another one for each night, without a look at its runs."""
        return id(self), self.night.now

    def laid_out(self) -> ServerNight:
        """The same, with all that takes a look at each of its runs worked out: for whoever asks has no time for it."""
        _ = self.foreseen, self.ended, self._at_work, self._tonight, self._spans, self.outlook
        return self

    @cached_property
    def outlook(self) -> Outlook:
        return outlook(self.night)

    def in_window(self, window: Window) -> WindowOutlook:
        """The runs at work in a stretch of the day, worked out once for each."""
        foreseen = self._windows.get(window)
        if foreseen is None:
            foreseen = self._windows[window] = window_outlook(self.night, window)
        return foreseen

    @remembered
    def by_six(self, zone: tzinfo) -> WindowOutlook:
        """The night's own runs at six, worked out once for each zone."""
        return by_six(self.night, self.outlook.schedules, zone)

    @cached_property
    def _windows(self) -> dict[Window, WindowOutlook]:
        return {}

    @cached_property
    def foreseen(self) -> Mapping[ObjectRef, tuple[ForeseenRun, ...]]:
        """By lane, the runs that are open or to come."""
        return _grouped((self._lane(run.owner), run) for run in self.night.runs)

    @cached_property
    def ended(self) -> Mapping[ObjectRef, tuple[PastRun, ...]]:
        """By lane, the runs that have ended, the latest last; where nothing is foreseen, the open ones too."""
        open_ones = {run.name for run in self.night.runs}
        return _grouped((self._lane(run.owner), run) for run in self.past if run.name not in open_ones)

    def _lane(self, owner: Owner) -> ObjectRef:
        return lane_key(self.context, self.night.namespace, owner)

    @property
    def shared_lanes(self) -> tuple[ObjectRef, ...]:
        return tuple(key for key in {**self.foreseen, **self.ended} if is_shared(key))

    def runs_in(self, key: ObjectRef) -> int:
        """How many runs a lane has."""
        return len(self.foreseen.get(key, ())) + len(self.ended.get(key, ()))

    def runs_tonight(self, key: ObjectRef) -> int:
        """How many runs of a lane are open, or have ended in the last hours."""
        return self._tonight.get(key, 0)

    @cached_property
    def _tonight(self) -> Mapping[ObjectRef, int]:
        counts = Counter({key: len(runs) for key, runs in self.foreseen.items()})
        for key, runs in self.ended.items():
            counts[key] += sum(run.end is None or self.night.now - run.end < TONIGHT for run in runs)
        return counts

    def next_run(self, key: ObjectRef) -> ForeseenRun | PastRun | None:
        """The run of a lane at work, the next, or the last."""
        coming, ended = self.foreseen.get(key, ()), self.ended.get(key, ())
        if coming:
            return coming[next(iter(self._at_work.get(key, ())), 0)]
        return ended[-1] if ended else None

    @cached_property
    def _at_work(self) -> Mapping[ObjectRef, tuple[int, ...]]:
        """By lane, which of its foreseen runs are at work."""
        return {
            key: tuple(place for place, run in enumerate(runs) if run.is_running) for key, runs in self.foreseen.items()
        }

    def told_runs(self, key: ObjectRef, render: RenderContext) -> tuple[ForeseenRun, ...]:
        """The same for one lane; those at work end as the queue tells it now: the night was played some time ago."""
        runs, at_work = self.foreseen.get(key, ()), self._at_work.get(key, ())
        if not at_work:
            return runs
        told = list(runs)
        for place in at_work:
            told[place] = self._as_told(runs[place], render)
        return tuple(told)

    def _as_told(self, run: ForeseenRun, render: RenderContext) -> ForeseenRun:
        item = render.line(self.night.namespace).by_run.get((Backup, run.name))
        if item is None:
            return run
        is_told = render.facts(item.run).expected_end is not None
        return msgspec.structs.replace(run, end=item.ends if is_told else run.end if run.is_finishing else None)

    def lane_runs(self, key: ObjectRef, coming: Iterable[ForeseenRun]) -> tuple[LaneRun, ...]:
        """The runs that are drawn in a lane, with those to come as `told_runs` tells them."""
        now = self.night.now
        past = (_past_run(run, now) for run in self.ended.get(key, ()))
        moments = self.night.kept_back.get(key.name, ()) if key.kind == SCHEDULE.name else ()
        return (*past, *map(_kept_back, moments), *(_foreseen_run(run, now) for run in coming))

    @cached_property
    def _spans(self) -> tuple[SlotSpan, ...]:
        """The spans of past runs by their backups, and of coming ones by one course in which the counts are true."""
        now, played = self.night.now, {run.name for run in self.night.typical}
        past = (
            SlotSpan(run.submitted, run.start, run.released or run.end or now)
            for run in self.past
            if run.start is not None or (run.end is None and run.name not in played)
        )
        # A course has the open runs too: those at work are the backups' up to now.
        coming = (SlotSpan(run.submitted, max(run.start, now), run.released) for run in self.night.typical)
        return (*past, *coming)

    def loads(self, axis: TimeAxis) -> tuple[CellLoad, ...]:
        """Slots and queue in the cells of an axis, worked out once for each of the axes on a screen."""
        loads = self._loads.get(axis)
        if loads is None:
            while len(self._loads) >= _KEPT_LOADS:
                del self._loads[next(iter(self._loads))]
            loads = self._loads[axis] = cell_loads(self._spans, axis)
        return loads

    @cached_property
    def _loads(self) -> dict[TimeAxis, tuple[CellLoad, ...]]:
        return {}


def _grouped(pairs: Iterable[tuple[ObjectRef, _R]]) -> dict[ObjectRef, tuple[_R, ...]]:
    past_runs: dict[ObjectRef, list[_R]] = {}
    for key, run in pairs:
        past_runs.setdefault(key, []).append(run)
    return {key: tuple(runs) for key, runs in past_runs.items()}


def _past_run(run: PastRun, now: datetime) -> LaneRun:
    if run.is_refused:
        return LaneRun(run.submitted, tone=Tone.BAD, sign=LaneSign.LOST)
    if run.start is None:
        return LaneRun(run.submitted) if run.phase in WAITING else LaneRun(run.submitted, run.submitted, run.end)
    if run.end is None:
        return LaneRun(run.submitted, run.start, tone=Tone.RUNNING, is_running=True)
    tone = run_mark(run.phase).tone
    return LaneRun(run.submitted, run.start, min(run.end, now), tone=tone, sign=_LETTERS.get(run.phase))


def _foreseen_run(run: ForeseenRun, now: datetime) -> LaneRun:
    """One that waits and does not say since when is drawn as of now."""
    due = run.due or run.submitted or (run.start.likely if run.start else now)
    if run.fate in (Fate.LOST, Fate.REFUSED):
        return LaneRun(due, tone=Tone.BAD, sign=LaneSign.LOST)
    if run.fate is Fate.UNKNOWN:
        return LaneRun(due, tone=Tone.WARN, sign=LaneSign.UNKNOWN)
    if run.start is None:
        return LaneRun(due)
    end, late = (run.end.likely, latest(run.end)) if run.end else (None, None)
    tone = Tone.RUNNING if run.is_running else Tone.DIM
    return LaneRun(due, run.start.likely, end, late, tone, is_running=run.is_running)


def paused_runs(item: TimelineItem, obstacles: LaneObstacles, axis: TimeAxis, now: datetime) -> tuple[LaneRun, ...]:
    """The runs that a pause keeps back, also after its planned end: nothing resumes by itself."""
    since = obstacles.paused_since or now
    due = (moment for moment in planned_runs(item, axis) if moment >= since)
    return tuple(map(_kept_back, due))


def _kept_back(due: datetime) -> LaneRun:
    return LaneRun(due, tone=Tone.PAUSED, sign=LaneSign.PAUSED)


def job_runs(item: TimelineItem, obstacles: LaneObstacles, axis: TimeAxis, now: datetime) -> tuple[LaneRun, ...]:
    """The coming runs of a job with the warm-ups before them: how long one takes is not known."""
    if item.paused:
        return paused_runs(item, obstacles, axis, now)
    wait = LaneSign.UNWARMED if obstacles.unwarmed else LaneSign.WARM
    return tuple(
        LaneRun(max(now, due - item.warm_up * MINUTE), due, wait=wait)
        for due in planned_runs(item, axis, item.warm_up)
        if due >= now
    )


class LaneGroup(IntEnum):
    """The order of the lanes."""

    RUNNING = 0
    COMING = 1
    DONE = 2
    NEVER = 3


class LaneStanding(msgspec.Struct, frozen=True):
    """How a lane stands: its group, and the moment that it is put in order by and counted down to."""

    group: LaneGroup
    at: datetime | None = None
    waits: bool = False
    """Its backup is there and waits for a slot: the moment is that of its likely start, where that can be told."""


def lane_standing(
    item: TimelineItem | None, foreseen: Sequence[ForeseenRun], ended: Sequence[PastRun], now: datetime
) -> LaneStanding:
    """Running first, then by what comes next, then what is done for the night, then what never runs."""
    running_since = [run.start.likely for run in foreseen if run.is_running and run.start is not None] or [
        run.start for run in ended if run.end is None and run.start is not None
    ]
    if running_since:
        return LaneStanding(LaneGroup.RUNNING, min(running_since))
    waiting = [run for run in foreseen if run.name and not run.is_running]
    if waiting:
        starts = [run.start.likely for run in waiting if run.start]
        return LaneStanding(LaneGroup.COMING, min(starts, default=now), waits=True)
    coming = [run.due for run in foreseen if run.due is not None]
    if not coming and item is not None:
        coming = list(next_runs(item, now, 1))
    # Where nothing is foreseen, nobody can tell when those that wait will start.
    waits = any(run.start is None and run.phase in WAITING for run in ended)
    if not coming:
        group = LaneGroup.COMING if waits else LaneGroup.DONE if ended else LaneGroup.NEVER
        return LaneStanding(group, waits=waits)
    moment = min(coming)
    last = max((run.end for run in ended if run.end is not None), default=None)
    done = not waits and last is not None and now - last < TONIGHT < moment - now
    return LaneStanding(LaneGroup.DONE if done else LaneGroup.COMING, moment, waits)
