"""The backlog of a server that does nothing, and when it is done, if the server works again from a moment on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronSchedule
from foretop_core.models import Schedule
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.night.course import NEVER, Course, Draw, OpenRun, PlayedRun, play
from foretop_core.rules.night.night import Night
from foretop_core.rules.night.ranges import SURE, range_over
from foretop_core.rules.night.server_model import Drawing, ServerModel, server_model
from foretop_core.rules.night.window import Window
from foretop_core.rules.pauses import pause_info
from foretop_core.rules.protection.namespace_protection import RECENT_ENOUGH, late_from
from foretop_core.rules.queue.owners import OwnerKind
from foretop_core.rules.queue.queue_items import Range
from foretop_core.rules.schedule_history import newest_good, ran_before
from foretop_core.rules.sentences import Text, estimate, sentence
from foretop_core.rules.snapshot import ClusterSnapshot

_DRAWS = 20
_HALF_HOUR, _SIX = timedelta(minutes=30), timedelta(hours=6)
_STARTS = 1.0
"""Seconds."""
_CATCHES_UP = timedelta(hours=6)
"""So long after its return it is followed."""
_MOST_NAMED = 4


def _as_it_is(model: ServerModel) -> ServerModel:
    return model


class ComingBack(msgspec.Struct, frozen=True):
    """The course of a server that works again from a moment on."""

    at: datetime
    is_now: bool
    runs: int
    """Those that are open by then, or fall due before."""
    done: Range | None
    """When all of these are done; None where nobody knows."""
    late: tuple[str, ...]
    """The schedules whose newest copy is older than promised before the next is complete."""

    @property
    def words(self) -> Text:
        """`now: 7 runs to make up for, done about 02:36; no copy late`."""
        when: Text = "now" if self.is_now else sentence("at ", estimate(self.at))
        if not self.runs:
            backlog: Text = "nothing to make up for"
        elif self.done is None:
            backlog = f"{humanize.count(self.runs, 'run')} to make up for, their end is not known"
        else:
            by = sentence(f", {SURE} by ", estimate(self.done.by)) if self.done.by is not None else ""
            what = f"{humanize.count(self.runs, 'run')} to make up for, done about "
            backlog = sentence(what, estimate(self.done.likely), by)
        late = f"late: {humanize.join(self.late, _MOST_NAMED)}" if self.late else "no copy late"
        return sentence(when, ": ", backlog, f"; {late}")


def with_backlog(night: Night, snapshot: ClusterSnapshot, zone: tzinfo = UTC) -> Night:
    """A night of which nothing can be foreseen, with what becomes of the backlog; any other with the end of a pause."""
    if not night.unknown:
        return replace(night, if_resumed=if_resumed(snapshot, night.namespace, night.now, zone))
    if snapshot.heartbeat(night.namespace).judged_at(night.now) is not None:
        return night
    return replace(night, if_back=if_back(snapshot, night.namespace, night.now, zone))


def if_back(snapshot: ClusterSnapshot, namespace: str, now: datetime, zone: tzinfo) -> tuple[Text, ...]:
    """The backlog of a silent server in a sentence for each moment; each follows the words `If back`."""
    return tuple(back.words for back in coming_back(snapshot, namespace, now, zone))


def if_resumed(snapshot: ClusterSnapshot, namespace: str, now: datetime, zone: tzinfo) -> Text:
    """`at 04:39 with skip: 3 runs due before 06:00, done about 05:12`; "" where no pause has a planned end to come."""
    schedules = snapshot.schedules_by_namespace.get(namespace, ())
    ends = {item.name: end for item in schedules if item.spec.paused and (end := pause_info(item).until) and end > now}
    if not ends:
        return ""
    resumed = [_resumed(schedule, ends[schedule.name]) if schedule.name in ends else schedule for schedule in schedules]
    others = (schedule for schedule in snapshot.schedules if schedule.namespace != namespace)
    six = Window(_SIX, _HALF_HOUR, zone).after(now)[0]
    model = server_model(replace(snapshot, schedules=(*others, *resumed)), namespace, now, six, zone)
    drawing, until = Drawing(model), (six - now).total_seconds()
    places = [place for place, schedule in enumerate(model.schedules) if schedule.name in ends]
    courses = [play(model.state, draw) for draw in (drawing.likely(), *(drawing.next() for _ in range(_DRAWS)))]
    runs = [[run for place in places for run in course.made[place] if not run.is_lost] for course in courses]
    what = sentence("at ", estimate(min(ends.values())), " with skip: ")
    due = sum(run.due < until for run in runs[0])
    if not due:
        return sentence(what, "no run due before ", estimate(six))
    done = range_over(now, [max((run.end for run in course), default=0.0) for course in runs])
    when: Text = "their end is not known" if done is None else sentence("done about ", estimate(done.likely))
    by = sentence(f", {SURE} by ", estimate(done.by)) if done is not None and done.by is not None else ""
    return sentence(what, f"{humanize.count(due, 'run')} due before ", estimate(six), ", ", when, by)


def _resumed(schedule: Schedule, at: datetime) -> Schedule:
    """As it is after its pause, with what fell due in it skipped."""
    return replace(
        schedule,
        spec=replace(schedule.spec, paused=False),
        status=replace(schedule.status, last_skipped=at),
    )


def coming_back(
    snapshot: ClusterSnapshot,
    namespace: str,
    now: datetime,
    zone: tzinfo,
    change: Callable[[ServerModel], ServerModel] = _as_it_is,
) -> tuple[ComingBack, ...]:
    """If it is back now, in half an hour, or at six; `change` is what no object of the snapshot says."""
    six = Window(_SIX, _HALF_HOUR, zone).after(now)[0]
    moments = dict.fromkeys((now, now + _HALF_HOUR, max(six, now)))
    models = ((moment, change(server_model(snapshot, namespace, now, moment + _CATCHES_UP))) for moment in moments)
    return tuple(_if_back(snapshot, model, moment) for moment, model in sorted(models, key=itemgetter(0)))


def _if_back(snapshot: ClusterSnapshot, model: ServerModel, at: datetime) -> ComingBack:
    now, namespace = model.now, model.namespace
    drawing, back = Drawing(model), (at - now).total_seconds()
    hangs = snapshot.heartbeat(namespace).still_works(now)
    after = _hanging if hangs else _stopped
    likely, *courses = (
        after(model, draw, back) for draw in (drawing.likely(), *(drawing.next() for _ in range(_DRAWS)))
    )
    backlogs = [list(_backlog(course, back, hangs=hangs)) for course in (likely, *courses)]
    ends = [max((run.end for run in backlog), default=0.0) for backlog in backlogs]
    done = range_over(now, ends[1:], ends[0])
    return ComingBack(at, at == now, len(backlogs[0]), done, tuple(_late(snapshot, model, likely)))


def _stopped(model: ServerModel, draw: Draw, back: float) -> Course:
    """A server that is down makes no backups, and what was at work fails at its return."""
    return play(replace(model.state, stopped=(0.0, max(_STARTS, back))), draw)


def _hanging(model: ServerModel, draw: Draw, back: float) -> Course:
    """A server whose storage hangs goes on making backups; none starts, and those at work go on at the return."""
    state = model.state
    free = max(0, state.slots - len(state.running))
    taken = OpenRun(len(state.conflicts))
    state = replace(state, running=[*state.running, *[taken] * free], conflicts=[*state.conflicts, 0])
    return play(state, replace(draw, running=[*(back + time_left for time_left in draw.running), *[back] * free]))


def _backlog(course: Course, back: float, *, hangs: bool) -> Iterator[PlayedRun]:
    """The runs that are open when the server returns, or that it has not made by then."""
    yield from course.waiting
    yield from (run for run in course.running if hangs and run.end > back)
    for run in chain.from_iterable(course.made):
        if not run.is_lost and not run.is_refused and run.due <= back:
            yield run


def _late(snapshot: ClusterSnapshot, model: ServerModel, likely: Course) -> Iterator[str]:
    for place, schedule in enumerate(model.schedules):
        runs, dialect = snapshot.runs(schedule), snapshot.dialect(schedule)
        copy, parsed = newest_good(runs), None if dialect is None else expression(schedule.spec.schedule, dialect)
        if copy is None or copy.started is None or not isinstance(parsed, CronSchedule):
            continue
        before = partial(ran_before, schedule, runs)
        late = late_from(schedule, parsed, copy.started, model.now, RECENT_ENOUGH, before)
        pairs = zip((*model.running, *model.waiting), (*likely.running, *likely.waiting), strict=False)
        own = (run for item, run in pairs if item.owner.kind is OwnerKind.SCHEDULE and item.owner.name == schedule.name)
        whole = (run for run in chain(own, likely.made[place]) if not (run.is_lost or run.is_refused or run.is_cut))
        complete = min((run.end for run in whole), default=NEVER)
        if late is not None and (late - model.now).total_seconds() < complete:
            yield schedule.name
