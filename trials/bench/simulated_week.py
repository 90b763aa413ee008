"""`python -m trials.bench.simulated_week [DAYS [SEED...]]`: forecasts of a simulated week, beside what came of them.

Lengths are random, and so are the moments at which tenants ask for backups. Every hour the coming day is foretold; what
was told first of a run is judged, as foretop keeps it.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from random import Random
from statistics import median

import msgspec

from foretop_core.models import Backup, Restore
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import DAY, night
from foretop_core.rules.night.outlook import outlook
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_demo.controllers.simulated_runs import SimulatedRun, owner_name
from foretop_demo.scenarios import Scenario, ScenarioOptions
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.judged_forecasts import JudgedRun, Side, ToldRun, judged_runs, told_runs

SLOTS = 2
_SPREAD = 0.25
_TEAMS = ("team-pay", "team-shop", "team-web")
_SCHEDULES = (
    ("etcd", "0 * * * *", 4.0),
    ("orders", "5 * * * *", 9.0),
    ("ledger", "20 */2 * * *", 14.0),
    ("mail", "20 */4 * * *", 25.0),
    ("wiki", "0 1 * * *", 40.0),
    ("images", "0 1 * * *", 70.0),
    ("archive", "10 1 * * *", 35.0),
    ("logs", "30 1 * * *", 20.0),
)
"""Name, cron, and minutes of a usual run."""
_TENANT_MINUTES = 2.5


class _RandomLengths(msgspec.Struct, frozen=True):
    """Each run takes as long as is usual for its owner, times a random factor."""

    seed: int
    minutes: dict[str, float]

    def of(self, run: Backup | Restore) -> SimulatedRun:
        factor = math.exp(Random(f"{self.seed}/{run.name}").gauss(0.0, _SPREAD))
        return SimulatedRun(timedelta(minutes=self.minutes.get(owner_name(run), _TENANT_MINUTES) * factor), 500)


def _scene(seed: int, length: timedelta, tenants_every: float) -> Scenario:
    """`tenants_every` so many minutes, on the average; 0 for none."""

    def set_up(builder: ScenarioBuilder) -> None:
        builder.workload = _RandomLengths(seed, {name: minutes for name, _, minutes in _SCHEDULES})  # type: ignore[assignment]
        builder.namespace(HOME, *_TEAMS)
        builder.location()
        server = builder.velero(SLOTS)
        for name, cron, _ in _SCHEDULES:
            builder.schedule(name, cron, [name], runs=20)
        random, at, number = Random(f"{seed}/tenants"), builder.now, 0
        while tenants_every and at < builder.start + length:
            at += timedelta(minutes=random.expovariate(1 / tenants_every))
            number += 1
            builder.create_at(at, "NonAdminBackup", random.choice(_TEAMS), f"nab-{number}", {"backupSpec": {}})
        server.start()
        builder.non_admin().start()

    return Scenario("week", "random lengths", set_up, timedelta(hours=3))


class Share(msgspec.Struct, frozen=True):
    """How many starts or ends were told, how many fell inside nine in ten, and how wide that range was."""

    told: int
    inside: int
    width: timedelta

    @property
    def ratio(self) -> float:
        return self.inside / self.told if self.told else 0.0

    def line(self) -> str:
        return f"{self.told:5} told {self.ratio:5.0%} inside, {self.width.total_seconds() / 60:5.1f} min wide"


def _share(judged: Iterable[tuple[Side | None, timedelta]]) -> Share:
    known = [(side, width) for side, width in judged if side is not None]
    inside = sum(side is Side.INSIDE for side, _ in known)
    widths = [width.total_seconds() for _, width in known]
    return Share(len(known), inside, timedelta(seconds=median(widths or [0.0])))


def starts(judged: Iterable[JudgedRun]) -> Share:
    return _share((one.start, one.told.start[1] - one.told.start[0]) for one in judged)


def ends(judged: Iterable[JudgedRun]) -> Share:
    return _share((one.end, one.told.end[1] - one.told.end[0]) for one in judged)


def judge(length: timedelta, tenants_every: float, seed: int = 1) -> tuple[JudgedRun, ...]:
    """The first forecast of each run of a simulated stretch of time."""
    box = SimulatedCluster(_scene(seed, length, tenants_every), ScenarioOptions(seed=seed), FIXED_START)
    told: dict[object, ToldRun] = {}
    for _ in _hours(length):
        for one in told_runs("", outlook(night(_seen(box), HOME, box.clock.now(), DAY))):
            told.setdefault(one.key, one)
        box.settle(timedelta(hours=1))
    return tuple(judged_runs(_seen(box), told.values()))


def _hours(length: timedelta) -> Iterator[int]:
    return iter(range(round(length / timedelta(hours=1))))


def _seen(box: SimulatedCluster) -> ClusterSnapshot:
    snapshot = assemble(box.objects(), given_versions={"": "1.18.3"})
    return msgspec.structs.replace(snapshot, servers={HOME: VeleroInfo(concurrency=SLOTS, version="1.18.3")})


def main() -> None:
    given = float(sys.argv[1]) if len(sys.argv) > 1 else 7.0
    seeds = [int(seed) for seed in sys.argv[2:]] or [1]
    for tenants_every, most in ((0.0, 7.0), (10.0, 7.0), (4.0, 7.0), (2.0, 1.0)):
        # Where the slots are always taken a day takes minutes.
        days = min(given, most)
        begun = time.process_time()
        judged = [run for seed in seeds for run in judge(timedelta(days=days), tenants_every, seed)]
        who = f"tenants every {tenants_every:g} minutes" if tenants_every else "no tenants"
        print(f"{days:g} days, {len(seeds)} times, {who}; {time.process_time() - begun:.0f} s of CPU", flush=True)
        seldom = {name for name, cron, _ in _SCHEDULES if cron.split()[1] == "1"}
        for called, some in (
            ("every hour or some", [one for one in judged if one.told.schedule not in seldom]),
            ("every night", [one for one in judged if one.told.schedule in seldom]),
            ("all", list(judged)),
        ):
            print(f"  {called:20}starts {starts(some).line()}; ends {ends(some).line()}", flush=True)


if __name__ == "__main__":
    main()
