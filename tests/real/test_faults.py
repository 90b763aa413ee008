"""Faults between foretop and a real API server: after each quiet moment the store and the rows equal a fresh list."""

from __future__ import annotations

from tests.real.cluster import RealCluster
from trials.chaos.real_faults import FaultOutcome, FaultRun, proxied, try_real_faults


async def test_after_twenty_faults_the_store_and_the_rows_equal_a_fresh_list(cluster: RealCluster) -> None:
    outcome = await try_real_faults(cluster, faults=20, heavy=0, seed=14)
    assert outcome.lost == []
    assert outcome.tried.total() == 20


async def test_after_servers_ended_and_etcd_was_restored_the_store_and_the_rows_equal_a_fresh_list(
    cluster: RealCluster,
) -> None:
    outcome = FaultOutcome()
    async with proxied(cluster) as proxy:
        await FaultRun(cluster, proxy, 14, outcome).run_named(["API server killed", "etcd killed", "etcd restored"])
    assert outcome.lost == []
    assert outcome.quiet == 5
