"""Protection, acknowledgements and undone writes against a real API server, with its record of who wrote what."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, BACKUP, SCHEDULE, STORAGE, Kind
from tests.real.cluster import RealCluster
from tests.real.test_actions import path_of

_PATIENCE = 60.0


def _wire(ago: timedelta) -> str:
    return (datetime.now(UTC) - ago).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def spaces(cluster: RealCluster, namespace: str) -> Iterator[tuple[str, str]]:
    """A namespace with a good copy, and one that nothing covers."""
    names = (f"{namespace}-shop", f"{namespace}-wiki")
    for name in names:
        cluster.create_namespace(name)
    yield names
    for name in names:
        cluster.empty_namespace(name)


@pytest.fixture
def foretop(
    cluster: RealCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    config = str(cluster.kubeconfig("admin"))
    return lambda *words: run([*words, "--velero-namespace", namespace, "--kubeconfig", config])


def _post(cluster: RealCluster, kind: Kind, namespace: str, name: str, spec: Any, status: Any) -> None:
    body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}, "spec": spec}
    cluster.admin.post(path_of(kind, namespace), {**body, "status": status}).expect(201)
    held = cluster.admin.get(path_of(kind, namespace, name)).expect(200)
    if held.get("status") != status:
        cluster.admin.patch(f"{path_of(kind, namespace, name)}/status", {"status": status}).expect(200)


def _furnish(cluster: RealCluster, home: str, shop: str) -> None:
    bucket = {"provider": "aws", "default": True, "objectStorage": {"bucket": "backups"}}
    now = _wire(timedelta())
    available = {"phase": "Available", "lastValidationTime": now, "lastSyncedTime": now}
    _post(cluster, STORAGE, home, "default", bucket, available)
    daily = {"schedule": "0 2 * * *", "template": {"includedNamespaces": [shop]}}
    _post(cluster, SCHEDULE, home, "shop-daily", daily, {"phase": "Enabled", "lastBackup": now})
    broken = {"schedule": "0 0 * * 8", "template": {"includedNamespaces": ["nowhere"]}}
    _post(cluster, SCHEDULE, home, "broken", broken, {"phase": "Enabled"})
    for name, phase in ((f"{shop}-1", "Completed"), (f"{shop}-2", "PartiallyFailed"), ("legacy-1", "Completed")):
        spec = {"includedNamespaces": [name[:-2]], "storageLocation": "default"}
        # The namespaces are made now, and so the copies of them are ones of later.
        kept = {"expiration": _wire(timedelta(days=-20)), "startTimestamp": _wire(timedelta(minutes=-1))}
        ended = {"phase": phase, "completionTimestamp": _wire(timedelta(minutes=-2)), **kept}
        _post(cluster, BACKUP, home, name, spec, ended)


def test_each_namespace_has_its_copies_and_what_covers_it(
    cluster: RealCluster,
    namespace: str,
    spaces: tuple[str, str],
    foretop: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop, wiki = spaces
    _furnish(cluster, namespace, shop)
    assert foretop("get", "protection", "-o", "json") == 0
    found = {row["name"]: row for row in json.loads(capsys.readouterr().out)["items"]}
    assert (found[shop]["state"], found[shop]["newestCopy"]) == ("protected", f"{shop}-1")
    assert (found[shop]["goodCopies"], found[shop]["partialCopies"]) == (1, 1)
    assert [one["name"] for one in found[shop]["schedules"]] == ["shop-daily"]
    assert (found[wiki]["state"], found[wiki]["newestCopy"]) == ("not covered", None)
    assert (found["legacy"]["state"], found["legacy"]["exists"]) == ("deleted", False)

    assert foretop("acknowledge", "schedule/broken", "--reason", "CHG-4711", "--yes") == 0
    held = cluster.admin.get(f"/api/v1/namespaces/{namespace}/configmaps/{ACKNOWLEDGEMENTS}").expect(200)
    (entry,) = held["data"].values()
    assert json.loads(entry)["reason"] == "CHG-4711"
    capsys.readouterr()
    foretop("get", "findings", "-o", "json")
    (known,) = [one for one in json.loads(capsys.readouterr().out)["items"] if one["name"] == "broken"]
    assert known["acknowledged"]["reason"] == "CHG-4711"


def test_who_puts_a_pause_back_is_read_from_the_record_of_writers(
    cluster: RealCluster,
    namespace: str,
    spaces: tuple[str, str],
    foretop: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    _furnish(cluster, namespace, spaces[0])
    place = path_of(SCHEDULE, namespace, "shop-daily")

    def heal() -> None:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if cluster.admin.get(place).expect(200)["spec"].get("paused"):
                change = {"spec": {"paused": False}}
                cluster.admin.patch(f"{place}?fieldManager=argocd-controller", change).expect(200)
                return
            time.sleep(0.1)

    healer = threading.Thread(target=heal)
    healer.start()
    try:
        assert foretop("schedule", "pause", "shop-daily", "--yes", "--watch-undone", "1") == 1
    finally:
        healer.join()
    told = capsys.readouterr().out
    assert f"schedule {namespace}/shop-daily: put back by argocd-controller at " in told
    assert foretop("schedule", "pause", "shop-daily", "--dry-run") == 0
    assert "It is managed by Argo CD (argocd-controller has written it)" in capsys.readouterr().out
