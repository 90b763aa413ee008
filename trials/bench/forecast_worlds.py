"""Worlds in which forecasts are judged: a Velero server played by its simplest rules, apart from those of the forecast.

Once a minute the server submits what is due and looks at its queue; it looks too when a backup is made, and after an
end unless it is late with that. Tenants ask at a rate of the hour, or keep some waiting for a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from random import Random

import msgspec

from foretop_core.cron import CronSchedule, Dialect
from foretop_core.models import Resource
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import backup, location, schedule

START = datetime(2026, 11, 11, 0, 0, 7, tzinfo=UTC)
"""A world begins at midnight; its server looks at its schedules at the seventh second of each minute."""
VELERO, VERSION = "velero", "1.18.3"
_TEAMS = tuple(f"team-{number}" for number in range(12))
_SPREAD = 0.25
_HOUR = 3600.0
_LATE = {1: 1 / 3, 2: 1 / 24}
"""The share of ends after which a slot stays free until the next look, as recorded."""
_LOOK, _END, _ASK, _REFILL = range(4)
_REFILLS_EVERY = 15.0


class Crowd(msgspec.Struct, frozen=True):
    """Tenants: so many ask in each hour of the world, and from one second to another they keep so many waiting."""

    an_hour: Callable[[float], float] = lambda _: 0.0
    minutes: float = 2.5
    keep: int = 0
    kept: tuple[tuple[float, float], ...] = ()

    def moments(self, random: Random, until: float) -> Iterator[float]:
        most = max(self.an_hour(hour) for hour in range(24 * 7)) or 1e-9
        at = 0.0
        while (at := at + random.expovariate(most / _HOUR)) < until:
            if random.random() * most < self.an_hour(at / _HOUR):
                yield at


class World(msgspec.Struct, frozen=True):
    """A server, its schedules (name, cron, minutes of a usual run), its tenants, and when forecasts are made."""

    name: str
    crowd: Crowd = Crowd()
    slots: int = 2
    schedules: tuple[tuple[str, str, float], ...] = (
        ("etcd", "0 * * * *", 3.0),
        ("orders", "5 * * * *", 5.0),
        ("mail", "20 * * * *", 4.0),
        ("stock", "35 * * * *", 2.0),
        ("cache", "50 * * * *", 1.0),
    )
    forecasts_at: tuple[float, ...] = (48.0, 51.5, 55.75, 57.0, 63.25, 66.5)
    """Hours of the world."""
    length: timedelta = timedelta(hours=8)
    has_flag: bool = True
    """The number of slots can be read."""
    kept_for: float = math.inf
    """The hours after which the backup of a tenant is deleted."""


class MadeRun(msgspec.Struct):
    """A run of a world; its moments are seconds of the world."""

    owner: str
    is_tenant: bool
    length: float
    due: float
    created: float
    started: float = math.inf

    @property
    def ended(self) -> float:
        return self.started + self.length


class _Server:
    """The world while it is played."""

    def __init__(self, world: World, seed: int, until: float) -> None:
        self.world, self.until = world, until
        self.random = Random(f"{world.name}/{seed}")
        self.events: list[tuple[float, int, int, MadeRun | None]] = []
        self.pushed = 0
        self.made: list[MadeRun] = []
        self.waiting: list[MadeRun] = []
        self.at_work: list[MadeRun] = []
        self.late = _LATE.get(world.slots, _LATE[2])
        self.dues = {name: _due(cron, until) for name, cron, _ in world.schedules}
        self.next = {name: next(dues) for name, dues in self.dues.items()}
        self.minutes = {name: minutes for name, _, minutes in world.schedules}

    def push(self, at: float, kind: int, run: MadeRun | None = None) -> None:
        self.pushed += 1
        heappush(self.events, (at, self.pushed, kind, run))

    def play(self) -> list[MadeRun]:
        crowd = self.world.crowd
        self.push(0.0, _LOOK)
        for at in crowd.moments(self.random, self.until):
            self.push(at, _ASK)
        for since, _ in crowd.kept:
            self.push(since, _REFILL)
        while self.events and (self.events[0][0] < self.until or self.at_work or self.waiting):
            at, _, kind, run = heappop(self.events)
            if kind == _LOOK:
                self.push(at + 60.0, _LOOK)
                self.submit(at)
            elif kind == _END:
                assert run is not None
                self.at_work.remove(run)
                if self.random.random() >= self.late:
                    self.look(at)
            elif kind == _ASK:
                self.ask(at)
            else:
                if sum(run.is_tenant for run in self.waiting) < crowd.keep:
                    self.ask(at)
                if any(since <= at + _REFILLS_EVERY < min(last, self.until) for since, last in crowd.kept):
                    self.push(at + _REFILLS_EVERY, _REFILL)
        return self.made

    def submit(self, at: float) -> None:
        if at < self.until:
            for name in self.next:
                if self.next[name] <= at and not any(run.owner == name for run in self.at_work):
                    due = -math.inf
                    while self.next[name] <= at:
                        due, self.next[name] = self.next[name], next(self.dues[name])
                    self.make(name, False, self.minutes[name], due, at)
        self.look(at)

    def ask(self, at: float) -> None:
        busy = {run.owner for run in (*self.waiting, *self.at_work)}
        teams = [team for team in _TEAMS if team not in busy] or list(_TEAMS)
        self.make(self.random.choice(teams), True, self.world.crowd.minutes, at, at)
        self.look(at)

    def make(self, owner: str, is_tenant: bool, minutes: float, due: float, at: float) -> None:
        length = minutes * 60 * math.exp(self.random.gauss(0.0, _SPREAD))
        run = MadeRun(owner, is_tenant, length, due, at)
        self.made.append(run)
        self.waiting.append(run)

    def look(self, at: float) -> None:
        taken = {run.owner for run in self.at_work}
        for run in list(self.waiting):
            if len(self.at_work) >= self.world.slots:
                return
            if run.owner not in taken:
                self.waiting.remove(run)
                run.started = at
                self.at_work.append(run)
                self.push(run.ended, _END, run)
            taken.add(run.owner)


def _due(cron: str, until: float) -> Iterator[float]:
    parsed = expression(cron, Dialect.NETRESEARCH)
    assert isinstance(parsed, CronSchedule)
    for due in parsed.between(START, START + timedelta(seconds=until)):
        yield (due - START).total_seconds()
    while True:
        yield math.inf


def play_world(world: World, seed: int) -> list[MadeRun]:
    """All runs of a world until its last forecast has come true."""
    return _Server(world, seed, max(world.forecasts_at) * _HOUR + world.length.total_seconds() + 60).play()


def moment(seconds: float) -> datetime:
    """As objects have it, in whole seconds."""
    return (START + timedelta(seconds=seconds)).replace(microsecond=0)


def snapshot_of(world: World, made: Sequence[MadeRun], now: float) -> ClusterSnapshot:
    """The objects of a world at a second of it."""
    objects: list[Resource] = [
        _backup(number, run, now) for number, run in enumerate(made) if _is_there(world, run, now)
    ]
    for name, cron, _ in world.schedules:
        last = max((run.created for run in made if run.owner == name and run.created <= now), default=None)
        objects.append(
            schedule(
                name,
                cron,
                created=START.isoformat(),
                last="" if last is None else moment(last).isoformat(),
                template={"includedNamespaces": [name]},
            )
        )
    checked = moment(now // 60 * 60).isoformat()
    snapshot = assemble([location(checked=checked, synced=checked), *objects], given_versions={"": VERSION})
    concurrency = world.slots if world.has_flag else None
    return msgspec.structs.replace(snapshot, servers={VELERO: VeleroInfo(concurrency=concurrency, version=VERSION)})


def _is_there(world: World, run: MadeRun, now: float) -> bool:
    return run.created <= now and not (run.is_tenant and run.ended + world.kept_for * _HOUR < now)


def _backup(number: int, run: MadeRun, now: float) -> Resource:
    started, ended = run.started <= now, run.ended <= now
    notes = {NAB_NAME_ANNOTATION: f"nab-{number}", NAB_NAMESPACE_ANNOTATION: run.owner}
    return backup(
        f"{run.owner}-{number}",
        "Completed" if ended else "InProgress" if started else "Queued",
        created=moment(run.created).isoformat(),
        started=moment(run.started).isoformat() if started else "",
        ended=moment(run.ended).isoformat() if ended else "",
        of="" if run.is_tenant else run.owner,
        spec={"includedNamespaces": [run.owner]},
        annotations=notes if run.is_tenant else {},
    )


def _minutes(rate: float) -> float:
    """So long that the slots are busy for most of the time, where that is not very long."""
    return min(10.0, 84.0 / rate)


def _steady(rate: float) -> World:
    crowd = Crowd(lambda _: rate, _minutes(rate))
    return World(f"steady, {rate:g} an hour", crowd, forecasts_at=(3.0, 12.0, 27.5, 30.25, 33.6))


def _by_day(day: float, night: float) -> World:
    crowd = Crowd(lambda hour: day if 8 <= hour % 24 < 18 else night, _minutes(day))
    return World(f"day and night, {day:g} and {night:g} an hour", crowd)


def _rush(minutes: float, ages: tuple[float, ...], kept_for: float = math.inf) -> World:
    begins = 50.0
    called = f"a rush of {minutes:g} minutes" if minutes < 1000 else "a rush that goes on"
    return World(
        called if kept_for == math.inf else f"{called}, NABs kept for {kept_for * 60:g} minutes",
        Crowd(lambda _: 60 / 97, 2.0, 5, ((begins * _HOUR, (begins + minutes / 60) * _HOUR),)),
        slots=3,
        forecasts_at=tuple(begins + age / 60 for age in ages),
        kept_for=kept_for,
    )


_REALISTIC = (
    ("etcd", "0 * * * *", 2.0),
    ("orders", "5 * * * *", 4.0),
    ("sessions", "5 * * * *", 1.0),
    ("ledger", "20 */2 * * *", 10.0),
    ("mail", "20 */4 * * *", 20.0),
    ("wiki", "0 1 * * *", 30.0),
    ("images", "0 1 * * *", 50.0),
    ("archive", "10 1 * * *", 35.0),
    ("logs", "30 1 * * *", 20.0),
    ("crm", "0 1 * * *", 15.0),
)
_OFFICE = Crowd(lambda hour: 8.0 if 8 <= hour % 24 < 18 else 1.0, 2.5)
_DAY = timedelta(hours=24)
REALISTIC = World("realistic", _OFFICE, schedules=_REALISTIC, length=_DAY, forecasts_at=(61.0, 66.4, 72.0, 80.3))
WORLDS = (
    *(_steady(rate) for rate in (2.0, 6.0, 20.0, 60.0)),
    *(_by_day(day, night) for day, night in ((2.0, 0.2), (10.0, 1.0), (20.0, 2.0), (60.0, 6.0))),
    _rush(60, (5, 15, 30, 45, 57)),
    _rush(170, (15, 45, 90, 130, 165)),
    _rush(100_000, (10, 30, 60, 120, 180, 300)),
    _rush(100_000, (60, 120, 180, 300), kept_for=0.75),
    World("5 kept waiting for days", Crowd(minutes=2.0, keep=5, kept=((0.0, 1e9),)), slots=3),
    World(
        "3 kept waiting by day",
        Crowd(minutes=2.0, keep=3, kept=tuple(((24 * day + 8) * _HOUR, (24 * day + 18) * _HOUR) for day in range(5))),
    ),
    REALISTIC,
    msgspec.structs.replace(REALISTIC, name="realistic, flag unknown", has_flag=False),
)
