"""Faults between foretop and a real API server: after each quiet moment the store and the rows equal a fresh list."""

from __future__ import annotations

import asyncio

from tests.chaos.real_faults import FaultOutcome, FaultRun, proxied, try_real_faults
from tests.real.cluster import RealCluster


async def test_after_forty_faults_the_store_and_the_rows_equal_a_fresh_list(cluster: RealCluster) -> None:
    outcome = await try_real_faults(cluster, faults=40, heavy=0, seed=14)
    assert outcome.lost == []
    assert outcome.tried.total() == 40


async def test_a_restored_etcd_leaves_nothing_wrong_though_its_versions_are_as_high_as_before(
    cluster: RealCluster,
) -> None:
    outcome = FaultOutcome()
    await asyncio.to_thread(cluster.save_etcd)
    async with proxied(cluster) as proxy:
        run = FaultRun(cluster, proxy, 14, outcome)
        await run.run_named(["etcd killed", "etcd restored"])
    assert outcome.lost == []
