"""Forecasts of the simulated cluster, and what came of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import night
from foretop_core.rules.night.outlook import outlook
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.judged_forecasts import Side, ToldRun, judged_runs, told_runs
from tests.objects import at, backup, schedule
from trials.bench.simulated_week import ends, judge, starts

_TOLD = ToldRun(
    "",
    "velero",
    "s0",
    at("02:00:00"),
    at("01:00:00"),
    (at("02:00:00"), at("02:01:00")),
    (at("02:10:00"), at("02:20:00")),
)


@pytest.mark.parametrize("after", [timedelta(), timedelta(minutes=40)], ids=["at its start", "after 40 minutes"])
def test_the_runs_of_the_busy_scene_come_inside_the_ranges_that_were_told(after: timedelta) -> None:
    """Its tenants keep the queue filled, so no run of a schedule starts when it is made.

    At its start they have done so for four minutes, after days with one backup every hour and a half.
    """
    box = SimulatedCluster(find_scene("default"), ScenarioOptions(seed=2), FIXED_START)

    def seen() -> ClusterSnapshot:
        snapshot = assemble(box.objects(), given_versions={"": "1.18.3"})
        return replace(snapshot, servers={"openshift-adp": VeleroInfo(concurrency=3, version="1.18.3")})

    box.settle(after)
    told = told_runs("", outlook(night(seen(), "openshift-adp", box.clock.now(), timedelta(hours=2))))
    box.settle(timedelta(minutes=90))
    judged = tuple(judged_runs(seen(), told))
    assert starts(judged).told >= 12
    assert starts(judged).ratio >= 0.75
    assert ends(judged).ratio >= 0.75


@pytest.mark.sweep
@pytest.mark.parametrize("tenants_every", [0.0, 10.0])
def test_the_runs_of_half_a_simulated_day_end_inside_their_ranges(tenants_every: float) -> None:
    """Lengths and tenants are random; `python -m trials.bench.simulated_week` judges the week."""
    judged = judge(timedelta(hours=12), tenants_every)
    assert starts(judged).told >= 30
    assert starts(judged).ratio >= 0.85
    assert 0.85 <= ends(judged).ratio <= 0.97


@pytest.mark.parametrize(
    ("started", "ended", "sides"),
    [
        ("02:00:20", "02:15:00", (Side.INSIDE, Side.INSIDE)),
        ("02:05:00", "02:20:01", (Side.LATER, Side.INSIDE)),
        ("02:01:01", "02:20:02", (Side.INSIDE, Side.LATER)),
        ("02:01:02", "02:09:58", (Side.LATER, Side.EARLIER)),
    ],
)
def test_a_start_and_an_end_are_judged_by_the_second(started: str, ended: str, sides: tuple[Side, Side]) -> None:
    made = backup("s0-1", created="02:00:03", started=started, ended=ended, of="s0")
    (judged,) = judged_runs(assemble([made]), [_TOLD])
    assert (judged.start, judged.end) == sides


def test_the_backup_of_a_later_run_is_not_taken_for_that_of_one_that_was_deleted() -> None:
    later = backup("s0-2", created="02:05:03", started="02:05:03", ended="02:06:00", of="s0")
    snapshot = assemble([schedule("s0", "*/5 * * * *"), later], given_versions={"": "1.18.3"})
    (judged,) = judged_runs(snapshot, [_TOLD])
    assert (judged.is_made, judged.start, judged.end) == (False, None, None)
