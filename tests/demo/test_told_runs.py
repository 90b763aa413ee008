"""Forecasts of the simulated cluster, and what came of them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.forecast_accuracy import measure_accuracy, told_runs
from foretop_core.rules.night.night import night
from foretop_core.rules.night.outlook import outlook
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.bench.simulated_week import ends, judge, starts


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
    found = measure_accuracy(seen(), "openshift-adp", box.clock.now(), told)
    assert found.starts >= 12
    assert found.starts_inside / found.starts >= 0.75
    assert found.ends_inside / found.ends >= 0.75
    assert not found.is_hard


@pytest.mark.sweep
@pytest.mark.parametrize("tenants_every", [0.0, 10.0])
def test_the_runs_of_half_a_simulated_day_end_inside_their_ranges(tenants_every: float) -> None:
    """Lengths and tenants are random; `python -m tests.bench.simulated_week` judges the week."""
    judged = judge(timedelta(hours=12), tenants_every)
    assert starts(judged).told >= 30
    assert starts(judged).ratio >= 0.85
    assert 0.85 <= ends(judged).ratio <= 0.97
