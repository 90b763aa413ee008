"""Items of the calendar's lanes, when their expressions are due, and which start in the same minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property, lru_cache
from itertools import islice

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError, CronSchedule, Dialect, Fields
from foretop_core.cron.wall_clock_calendar import Calendar
from foretop_core.cron.zone_walk import CLEAR_OF_CHANGE
from foretop_core.cron.zones import steady_span, to_local
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.models.builtin_kinds import CronJobSpec
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import Reading, expression
from foretop_core.rules.facts.schedule_facts import SEVERITIES, LastingFacts, runs_to_come
from foretop_core.rules.failure_record import problem_text
from foretop_core.rules.severity import Severity
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.timeline.time_axis import TimeAxis

_MINUTE, _TICK = timedelta(minutes=1), timedelta(microseconds=1)
_DAY = 1440
"""Minutes."""
AUTOGEN = "autogen-"
"""How the prescaler names the CronJob that warms up for a PreScaledCronJob."""
LANES = (SCHEDULE.name, PRESCALED.name)
_MOST_MINUTES = 500
"""How many minutes, the fullest first, are looked at for all that start together."""


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

    refused: bool = False
    """Velero refuses them as things stand."""
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
            found = readings_of(key.context, resource)
            text, dialect = resource.spec.schedule, found[-1].dialect
            facts = LastingFacts(resource, None, found)
            problem = _open(found) or (facts.invalid if facts.stays_invalid else "") or _never(found[-1].parsed)
            base = _base(found[-1].parsed, facts.base)
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
    bits = run_bits(parsed, start, minutes, base)
    found = []
    while bits:
        lowest = bits & -bits
        found.append(start + (lowest.bit_length() - 1) * _MINUTE)
        bits ^= lowest
    return tuple(found)


class RepeatedCollision(msgspec.Struct, frozen=True):
    """Schedules of one Velero that start in the same minute: the first such minute, and how many there are."""

    context: str
    at: datetime
    keys: tuple[ObjectRef, ...]
    times: int


Entry = tuple[CronSchedule, datetime | None]
"""An expression, and the run that it counts from: whatever has the same entry starts at the same times."""
Server = tuple[str, str, str]
"""A cluster, a kind and a namespace: only backups of one Velero wait for each other."""


class StartLoad:
    """All that start within a ruler, counted by the minute."""

    def __init__(self, items: Iterable[TimelineItem], ruler: TimeAxis) -> None:
        self.ruler = ruler
        self._keys: dict[Server, dict[Entry, list[ObjectRef]]] = {}
        for item in items:
            if item.starts and isinstance(parsed := item.parsed, CronSchedule):
                entries = self._keys.setdefault(item.key[:3], {})
                entries.setdefault((parsed, item.base), []).append(item.key)

    @cached_property
    def _bits(self) -> dict[Entry, int]:
        start, minutes = self.ruler.start, self.ruler.minutes
        every = {entry for entries in self._keys.values() for entry in entries}
        return {(parsed, base): run_bits(parsed, start, minutes, base) for parsed, base in every}

    @cached_property
    def _by_server(self) -> dict[Server, MinuteCounter]:
        """The backups of each Velero."""
        counters = {server: MinuteCounter() for server in self._keys if server[1] == SCHEDULE.name}
        for server, counter in counters.items():
            for entry, keys in self._keys[server].items():
                counter.add(self._bits[entry], len(keys))
        return counters

    def collisions(self, now: datetime) -> tuple[RepeatedCollision, ...]:
        """Every set that is still to start together within the ruler, in the order of their first minute."""
        since = self.ruler.first_to_come(now)
        found: list[RepeatedCollision] = []
        for server, tally in self._by_server.items():
            minutes: dict[frozenset[Entry], list[int]] = {}
            for minute, _ in islice(tally.crowded(since), _MOST_MINUTES):
                minutes.setdefault(frozenset(self._entries_at(server, minute)), []).append(minute)
            for times in minutes.values():
                first = self.ruler.start + timedelta(minutes=min(times))
                found.append(RepeatedCollision(server[0], first, self._members([server], min(times)), len(times)))
        return tuple(sorted(found, key=lambda one: (one.at, one.context, -len(one.keys))))

    def _members(self, servers: Iterable[Server], minute: int) -> tuple[ObjectRef, ...]:
        keys = [
            key for server in servers for entry in self._entries_at(server, minute) for key in self._keys[server][entry]
        ]
        return tuple(sorted(keys, key=lambda key: (key.name, key.namespace)))

    def _entries_at(self, server: Server, minute: int) -> list[Entry]:
        return [entry for entry in self._keys[server] if self._bits[entry] >> minute & 1]


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
    found = store.get(ObjectRef(key.context, CRON_JOB.name, key.namespace, f"{AUTOGEN}{key.name}"))
    return found if isinstance(found, CronJob) else None


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
            return LaneObstacles(bool(facts.refusal), late=late, severity=grave, waits=waits)
        case PreScaledCronJob():
            return LaneObstacles(unwarmed=warmer is None)
        case _:
            return NO_OBSTACLES


# Runs as bits, one for each minute of a stretch of time: thousands of schedules are added up as whole numbers.


def run_bits(schedule: CronSchedule, start: datetime, minutes: int, base: datetime | None = None) -> int:
    """The runs within so many minutes from `start`, a whole minute in UTC and bit 0.

    A constant delay counts from `base`, its last run, and has no runs without one.
    """
    if schedule.every is not None:
        return 0 if base is None else _delayed(schedule.every, base, start, minutes)
    if schedule.never_fires:
        return 0
    shift = _steady_offset(schedule.zone or UTC, start, start + minutes * _MINUTE)
    if shift is not None:
        return _on_a_steady_clock(schedule, start + shift, minutes)
    end = start + minutes * _MINUTE
    return _set((run.astimezone(UTC) - start) // _MINUTE for run in schedule.between(start - _TICK, end - _TICK))


class MinuteCounter:
    """How many begin in each minute: bit k of all the counts together is one number."""

    def __init__(self) -> None:
        self._planes: list[int] = []

    def add(self, bits: int, times: int) -> None:
        """So many schedules that all run in these minutes."""
        place = 0
        while times:
            if times & 1:
                self._carry(bits, place)
            times >>= 1
            place += 1

    def _carry(self, bits: int, place: int) -> None:
        while bits:
            if place >= len(self._planes):
                self._planes += [0] * (place + 1 - len(self._planes))
            held = self._planes[place]
            self._planes[place] = held ^ bits
            bits &= held
            place += 1

    def at(self, minute: int) -> int:
        return sum((plane >> minute & 1) << weight for weight, plane in enumerate(self._planes))

    def crowded(self, since: int = 0) -> Iterable[tuple[int, int]]:
        """Minutes in which two or more begin, and how many, the fullest first and then the earliest."""
        left = 0
        for plane in self._planes[1:]:
            left |= plane
        left = left >> since << since
        while left:
            fullest = left
            for plane in reversed(self._planes):
                fullest = fullest & plane or fullest
            minute = (fullest & -fullest).bit_length() - 1
            yield minute, self.at(minute)
            left ^= 1 << minute


def _delayed(every: timedelta, base: datetime, start: datetime, minutes: int) -> int:
    """Velero looks once a minute, so that a shorter delay is a run in each.

    Reckoned from the start, for a run may lie beyond the last year that a time can have.
    """
    if every <= _MINUTE:
        return (1 << minutes) - 1
    run = base - start + max(1, -(-(start - base) // every)) * every
    found = []
    while run < minutes * _MINUTE:
        found.append(run // _MINUTE)
        run += every
    return _set(found)


def _set(places: Iterable[int]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def _steady_offset(zone: tzinfo, start: datetime, end: datetime) -> timedelta | None:
    """How far the wall clock is from UTC, where it stays so from well before the start to well after the end."""
    if zone is UTC:
        return timedelta()
    begin, change = steady_span(zone, start)
    offset = to_local(zone, start) - start
    clear = start - CLEAR_OF_CHANGE >= begin and end + CLEAR_OF_CHANGE <= change
    return offset if clear and not offset % _MINUTE else None


def _on_a_steady_clock(schedule: CronSchedule, wall: datetime, minutes: int) -> int:
    fields = schedule.fields
    times = fields.minute * _hours(fields.hour)
    into = wall.hour * 60 + wall.minute
    days = _days(replace(fields, minute=0, hour=0), wall.date().toordinal(), -(-(into + minutes) // _DAY))
    bits = 0
    for day in days:
        bits |= times << day * _DAY
    return bits >> into & ((1 << minutes) - 1)


@lru_cache(maxsize=256)
def _hours(hours: int) -> int:
    """The first minute of each hour that is in the set."""
    return sum(1 << 60 * hour for hour in range(24) if hours >> hour & 1)


@lru_cache(maxsize=1024)
def _days(fields: Fields, first: int, number: int) -> tuple[int, ...]:
    """Which of so many days, from one on, match the day fields."""
    calendar = Calendar(fields)
    dates = ((place, date.fromordinal(first + place)) for place in range(number))
    return tuple(
        place
        for place, day in dates
        if calendar.has_month(day.month) and calendar.has_day(day.year, day.month, day.day)
    )
