"""A real API server answers as the suite says: what the minicluster is held to is what clusters do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.conformance.client import Api, Target, opened
from tests.conformance.suite import Suite
from tests.real.cluster import RealCluster

USERS = ("admin", "viewer", "tenant", "nobody")


@pytest.fixture
async def api(cluster: RealCluster) -> AsyncIterator[Api]:
    def forget_history() -> None:
        """Out of etcd, and out of the API server's own memory, which only a restart empties."""
        cluster.compact()
        cluster.kill_apiserver()
        cluster.start_apiserver()

    async def compact() -> None:
        await asyncio.to_thread(forget_history)

    tokens = {user: cluster.token(user) for user in USERS}
    async with opened(Target(cluster.url, cluster.ca, tokens, compact)) as api:
        yield api
        await asyncio.to_thread(cluster.empty_namespace, api.namespace)


class TestRealApiServer(Suite):
    """Every test of the suite, against kube-apiserver."""
