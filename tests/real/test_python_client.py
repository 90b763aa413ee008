"""The kubernetes package against a real API server, with the same scripts as for the minicluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes.client import ApiClient

from tests.demo.conformance import python_client
from tests.real.cluster import RealCluster


@pytest.fixture(params=["token", "certificate"])
def client(cluster: RealCluster, request: pytest.FixtureRequest) -> Iterator[ApiClient]:
    path = cluster.kubeconfig("admin", certificate=request.param == "certificate")
    with python_client.signed_in(path) as client:
        yield client


def test_the_dynamic_client_writes_and_reads(client: ApiClient, namespace: str, tmp_path: Path) -> None:
    python_client.write_and_read(client, namespace, tmp_path / "discovered")


def test_a_watch_tells_what_happens_after_a_list(client: ApiClient, namespace: str) -> None:
    python_client.watch(client, namespace)


def test_an_informer_follows_every_change(client: ApiClient, namespace: str) -> None:
    python_client.inform(client, namespace)
