"""Velero's pods, data movements and repositories on the command line, and the log of a pod over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.actions.run_logs import LogText, container_log
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.session import open_session
from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.scenarios.velero_pods import SERVER, crash_server, put_pods
from tests.objects import NOW
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.command_fixtures import UPLOAD
from tests.wire.test_commands import VELERO, obj

NO_PODS = User("no-pods", (Rule(("get", "list", "watch"), ("velero.io", "apps"), ("*",)),))
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    VELERO,
    obj("Backup", "one", {}, status={"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"}),
    UPLOAD,
    obj(
        "BackupRepository",
        "shop-default-kopia",
        {
            "volumeNamespace": "shop",
            "backupStorageLocation": "default",
            "repositoryType": "kopia",
            "resticIdentifier": "",
            "maintenanceFrequency": "1h0m0s",
        },
        status={"phase": "Ready"},
    ),
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "shop-0", "namespace": "velero", "labels": {"app": "shop"}},
        "spec": {"containers": [{"name": "shop"}]},
    },
]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS, [NO_PODS]) as made:
        put_pods(made.storage, "velero", "velero/velero:v1.18.3", NOW)
        crash_server(made.storage, "velero", NOW, "no such plugin")
        yield made


def rows(what: str, config: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert run(["get", what, "-o", "json", "--kubeconfig", config]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["items"]
    return found


def test_get_pods_lists_velero_s_pods_and_no_others(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(box, tmp_path)
    found = {row["name"]: row for row in rows("pods", config, capsys)}
    assert found[SERVER]["status"] == "CrashLoopBackOff"
    assert found[SERVER]["restarts"] == 5
    assert found[SERVER]["lastExit"]["code"] == 1
    assert sorted(row["role"] for row in found.values()) == ["node-agent"] * 4 + ["server"]
    run(["get", "pods", "--kubeconfig", config])
    text = capsys.readouterr().out
    assert "CrashLoopBackOff" in text
    assert "shop-0" not in text


def test_get_movements_and_repositories(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(box, tmp_path)
    (movement,) = rows("movements", config, capsys)
    assert (movement["name"], movement["volume"], movement["backup"]) == ("up", "data-0", "running")
    (repository,) = rows("repositories", config, capsys)
    assert (repository["volumeNamespace"], repository["phase"]) == ("shop", "Ready")


def test_who_may_not_list_pods_is_told_so(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["get", "pods", "--kubeconfig", kubeconfig(box, tmp_path, "no-pods")])
    assert "Not visible: Pod (not allowed in velero)" in capsys.readouterr().out


DOWN = {**VELERO, "status": {"replicas": 1, "unavailableReplicas": 1}}


@pytest.mark.sweep
def test_the_crash_of_a_server_that_is_down_is_in_its_finding_where_pods_may_be_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with box_in_thread([OBJECTS[0], DOWN], [NO_PODS]) as box:
        put_pods(box.storage, "velero", "velero/velero:v1.18.3", NOW)
        crash_server(box.storage, "velero", NOW, "no such plugin")
        for user, told in (("admin", True), ("no-pods", False)):
            config = kubeconfig(box, tmp_path, user)
            run(["get", "findings", "-o", "json", "--kubeconfig", config])
            answer = capsys.readouterr()
            (found,) = (one for one in json.loads(answer.out)["items"] if one["code"] == "velero-not-ready")
            assert (f"Pod {SERVER} is in CrashLoopBackOff, 5 restarts" in found["evidence"]) is told
            assert ("no such plugin" in found["raw"]) is told
            assert "pods" not in answer.err


def read(box: LocalApiServer, folder: Path, user: str = "admin", **more: Any) -> LogText:
    options = SessionOptions(ConnectionOptions(kubeconfig=kubeconfig(box, folder, user)))

    async def fetch() -> LogText:
        client = open_session(options, {}).connections.clients["minicluster"]
        try:
            return await container_log(client, "velero", SERVER, "velero", **more)
        finally:
            await client.close()

    return asyncio.run(fetch())


def test_the_log_of_a_pod_and_of_its_run_before(box: LocalApiServer, tmp_path: Path) -> None:
    assert any("level=fatal" in line and "no such plugin" in line for line in read(box, tmp_path, previous=True))
    with pytest.raises(ForetopError, match="pods/log"):
        read(box, tmp_path, "no-pods")
