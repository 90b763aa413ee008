"""The suite of the minicluster, run against the server that it simulates."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.demo.conformance.client import Api, Target, opened
from tests.demo.conformance.suite import Suite
from tests.real.cluster import RealCluster


@pytest.fixture
async def api(cluster: RealCluster) -> AsyncIterator[Api]:
    async def compact() -> None:
        await asyncio.to_thread(cluster.compact)

    tokens = {name: cluster.token(name) for name in ("admin", "viewer", "tenant", "nobody")}
    async with opened(Target(cluster.url, cluster.ca, tokens, compact)) as api:
        yield api


class TestRealServer(Suite):
    """Every test of the suite, against a real kube-apiserver."""
