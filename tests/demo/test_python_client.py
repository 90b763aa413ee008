"""The kubernetes package at work on the minicluster, as in users' scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes.client import ApiClient

from tests.demo.conformance import python_client
from tests.wire.boxes import box_in_thread, kubeconfig

HOME = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[ApiClient]:
    with box_in_thread([HOME]) as box, python_client.signed_in(Path(kubeconfig(box, tmp_path))) as client:
        yield client


def test_the_dynamic_client_writes_and_reads(client: ApiClient, tmp_path: Path) -> None:
    python_client.write_and_read(client, "velero", tmp_path / "discovered")


def test_a_watch_tells_what_happens_after_a_list(client: ApiClient) -> None:
    python_client.watch(client, "velero")


def test_an_informer_follows_every_change(client: ApiClient) -> None:
    python_client.inform(client, "velero")
