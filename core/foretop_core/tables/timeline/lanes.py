"""Items of the calendar's lanes, and when their expressions are due."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.models.builtin_kinds import CronJobSpec
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import Reading, expression
from foretop_core.rules.facts.schedule_facts import ALWAYS_DUE, SEVERITIES, LastingFacts, runs_to_come
from foretop_core.rules.own_failures import problem_text
from foretop_core.rules.run_minutes import minutes_of, run_bits
from foretop_core.rules.severity import Severity
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.timeline.time_axis import TimeAxis

_MINUTE = timedelta(minutes=1)
AUTOGEN = "autogen-"
"""How the prescaler names the CronJob that warms up for a PreScaledCronJob."""
LANES = (SCHEDULE.name, PRESCALED.name)


class TimelineItem(msgspec.Struct, frozen=True):
    """The item of a lane: all of an object that decides when it runs."""

    key: ObjectRef
    expression: str
    dialect: Dialect
    """That of its server; of those that are possible the newest, where it has the problem that they differ."""
    warm_up: int = 0
    paused: bool = False
    base: datetime | None = None
    """The last run, where the expression counts from it."""
    problem: str = ""

    @property
    def parsed(self) -> CronSchedule | CronError:
        return expression(self.expression, self.dialect)

    @property
    def starts(self) -> bool:
        """True if it makes load at all."""
        return not (self.paused or self.problem)


class LaneObstacles(msgspec.Struct, frozen=True):
    """Obstacles to the coming runs of a lane; they change with other objects."""

    unwarmed: bool = False
    """Nothing makes the warm-ups before them."""
    late: timedelta | None = None
    """How long one of them is overdue."""
    severity: Severity | None = None
    """How grave it is that the next one is not made, or perhaps not."""
    waits: bool = False
    """A silent server or its storage holds them up."""
    paused_since: datetime | None = None
    paused_until: datetime | None = None
    """Until when a pause was meant to last."""


NO_OBSTACLES = LaneObstacles()

ReadingsOf = Callable[[str, Schedule], tuple[Reading, ...]]
"""How the server of a schedule in a context may read it."""


def timeline_item(key: ObjectRef, resource: Resource | None, readings_of: ReadingsOf) -> TimelineItem | None:
    """None for what has no schedule of its own; a lane that cannot be made says so, and costs itself only."""
    try:
        return _made(key, resource, readings_of)
    except Exception as problem:
        return TimelineItem(key, "", Dialect.ROBFIG, problem=f"cannot be shown: {problem_text(problem)}")


def _made(key: ObjectRef, resource: Resource | None, readings_of: ReadingsOf) -> TimelineItem | None:
    match resource:
        case Schedule():
            readings = readings_of(key.context, resource)
            text, dialect = resource.spec.schedule, readings[-1].dialect
            facts = LastingFacts(resource, None, readings)
            never = "no date fits" if resource.spec.paused else ALWAYS_DUE
            problem = (
                _open(readings)
                or (facts.invalid if facts.stays_invalid else "")
                or (_never(readings[-1].parsed) and never)
            )
            base = _base(readings[-1].parsed, facts.base)
            return TimelineItem(key, text, dialect, 0, resource.spec.paused, base, problem)
        case PreScaledCronJob():
            spec = resource.spec.cron_job.spec
            return _job(key, spec, resource.spec.warm_up_time_mins, resource.created)
        case CronJob():
            return _job(key, resource.spec, 0, resource.status.last_schedule_time or resource.created)
        case _:
            return None


def _job(key: ObjectRef, spec: CronJobSpec, warm_up: int, base: datetime | None) -> TimelineItem:
    text = spec.expression
    parsed = expression(text, Dialect.ROBFIG)
    problem = str(parsed) if isinstance(parsed, CronError) else _never(parsed)
    return TimelineItem(key, text, Dialect.ROBFIG, warm_up, spec.suspend, _base(parsed, base), problem)


def _base(parsed: CronSchedule | CronError, base: datetime | None) -> datetime | None:
    return base if not isinstance(parsed, CronError) and parsed.every is not None else None


def _open(found: tuple[Reading, ...]) -> str:
    """No run is drawn that only some releases would make."""
    if len(found) == 1:
        return ""
    listed = "; ".join(f"{reading.releases}: {reading.meaning}" for reading in found)
    return f"it depends on the Velero release, which is unknown ({listed})"


def _never(parsed: CronSchedule | CronError) -> str:
    return "it never fires" if not isinstance(parsed, CronError) and parsed.never_fires else ""


def planned_runs(item: TimelineItem, ruler: TimeAxis, beyond: int = 0) -> tuple[datetime, ...]:
    """When it is due within a ruler and so many minutes after it, by its expression alone."""
    parsed = item.parsed
    if item.problem or isinstance(parsed, CronError):
        return ()
    return _planned(parsed, item.base, ruler.start, ruler.minutes + beyond)


@lru_cache(maxsize=1024)
def _planned(parsed: CronSchedule, base: datetime | None, start: datetime, minutes: int) -> tuple[datetime, ...]:
    return tuple(start + minute * _MINUTE for minute in minutes_of(run_bits(parsed, start, minutes, base)))


def next_runs(item: TimelineItem, now: datetime, count: int) -> tuple[datetime, ...]:
    """The runs to come, if it were not paused; none where it cannot run."""
    parsed = item.parsed
    if item.problem or isinstance(parsed, CronError) or (parsed.every is not None and item.base is None):
        return ()
    return tuple(islice(runs_to_come(parsed, now, item.base), count))


def runs_within(item: TimelineItem, now: datetime, ahead: timedelta) -> int:
    """How many runs are to come in a span, counted by the minute: Velero looks once in each."""
    parsed, start = item.parsed, now.astimezone(UTC).replace(second=0, microsecond=0)
    start += _MINUTE if start < now else timedelta()
    if item.problem or isinstance(parsed, CronError):
        return 0
    return run_bits(parsed, start, int((now + ahead - start) // _MINUTE) + 1, item.base).bit_count()


def warmer(store: Store, key: ObjectRef) -> CronJob | None:
    """The CronJob that the prescaler made for a PreScaledCronJob."""
    resource = store.get(ObjectRef(key.context, CRON_JOB.name, key.namespace, f"{AUTOGEN}{key.name}"))
    return resource if isinstance(resource, CronJob) else None


def lane_obstacles(
    item: TimelineItem, resource: Resource | None, render: RenderContext, warmer: CronJob | None
) -> LaneObstacles:
    """Find what keeps its coming runs from being what they look like; `warmer` is the CronJob of the prescaler."""
    match resource:
        case Schedule() if item.paused:
            facts = render.schedule(resource)
            grave, pause = SEVERITIES.get(facts.coming_state), facts.pause
            since, until = (pause.since, pause.until) if pause is not None else (None, None)
            return LaneObstacles(severity=grave, paused_since=since, paused_until=until)
        case _ if not item.starts:
            return NO_OBSTACLES
        case Schedule():
            facts = render.schedule(resource)
            late = render.now - facts.overdue.since if facts.overdue is not None else None
            grave, waits = SEVERITIES.get(facts.coming_state), bool(facts.waits_for)
            return LaneObstacles(late=late, severity=grave, waits=waits)
        case PreScaledCronJob():
            return LaneObstacles(unwarmed=warmer is None)
        case _:
            return NO_OBSTACLES
