"""What a drill leaves on a real API server: deleted only where the journal proves it, by the very uid."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop.rooms.drills import command as drill_command
from foretop_core.models.kinds import RESTORE
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.rooms.drills import leftovers as drills
from foretop_core.rooms.drills import run as drill_run
from foretop_core.rooms.drills.run import DrillRun
from tests.real.build import Kit
from tests.real.cluster import RealCluster
from tests.real.test_actions import path_of
from tests.real.test_protection import _furnish

Drill = Callable[..., int]


@pytest.fixture
def shop(cluster: RealCluster, namespace: str) -> Iterator[str]:
    """A namespace with a good copy; the others of its test are those that begin with its name."""
    name = f"{namespace}-shop"
    cluster.create_namespace(name)
    _furnish(cluster, namespace, name)
    yield name
    held = cluster.admin.get("/api/v1/namespaces").expect(200)["items"]
    for item in held:
        if item["metadata"]["name"].startswith(name):
            cluster.empty_namespace(item["metadata"]["name"])


@pytest.fixture
def drill(cluster: RealCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Nobody restores here: each drill is interrupted once all is made, and counts as over."""

    async def interrupted(self: DrillRun, plan: Any, *_: Any) -> None:
        assert await self.make(plan) == ""
        raise KeyboardInterrupt

    monkeypatch.setattr(DrillRun, "carry_out", interrupted)
    monkeypatch.setattr(drill_run, "_GONE_WITHIN", 0.0)
    monkeypatch.setattr(drills, "GOING_FOR", timedelta())
    monkeypatch.setattr(drills, "LONGEST_DRILL", timedelta())
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    more = ("--velero-namespace", namespace, "--velero-version", "1.18.3")
    return lambda *words: run(["drill", *words, *more, "--kubeconfig", str(cluster.kubeconfig("admin"))])


def places(namespace: str, name: str) -> dict[str, str]:
    return {
        "Restore": path_of(RESTORE, namespace, name),
        "ConfigMap": f"/api/v1/namespaces/{namespace}/configmaps/{name}",
        "Namespace": f"/api/v1/namespaces/{name}",
    }


def held(cluster: RealCluster, namespace: str, name: str) -> dict[str, str]:
    """By kind the uids of what is there and is not being deleted: no controller ends a namespace here."""
    found = {}
    for kind, path in places(namespace, name).items():
        answer = cluster.admin.get(path)
        if answer.status == 200 and "deletionTimestamp" not in answer.body["metadata"]:
            found[kind] = answer.body["metadata"]["uid"]
    return found


def test_only_what_is_proven_is_deleted(
    cluster: RealCluster, namespace: str, shop: str, drill: Drill, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, foreign = f"{shop}-trial", f"{shop}-foreign"
    meta = {"name": foreign, "labels": {DRILL_LABEL: "x"}}
    cluster.admin.post("/api/v1/namespaces", {"metadata": meta}).expect(201)
    cluster.admin.post(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": meta}).expect(201)
    theirs = held(cluster, namespace, foreign)
    assert drill(shop, "--yes", "--into", mine) == 130
    assert held(cluster, namespace, mine).keys() == {"Restore", "ConfigMap", "Namespace"}
    capsys.readouterr()
    drill("--clean-up", "--all", "--yes")
    assert "kubectl --context" in capsys.readouterr().out
    assert held(cluster, namespace, mine) == {}
    assert held(cluster, namespace, foreign) == theirs
    assert cluster.admin.get(f"/api/v1/namespaces/{shop}").expect(200)["metadata"].get("deletionTimestamp") is None


@pytest.mark.parametrize("late", [False, True])
def test_a_namesake_is_not_hit(
    late: bool,
    cluster: RealCluster,
    namespace: str,
    shop: str,
    drill: Drill,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither one that is there when the deletion is planned, nor one that is made just before it is sent."""
    mine = f"{shop}-trial"
    assert drill(shop, "--yes", "--into", mine) == 130
    path = places(namespace, mine)["ConfigMap"]

    def make_again() -> None:
        old = cluster.admin.get(path).expect(200)
        cluster.admin.delete(path).expect(200)
        meta = {"name": mine, "labels": old["metadata"]["labels"]}
        cluster.admin.post(path.rpartition("/")[0], {"metadata": meta}).expect(201)

    deleting = drill_run.delete_made

    async def after_it_was_made_again(*words: Any) -> list[str]:
        make_again()
        return await deleting(*words)

    if late:
        monkeypatch.setattr(drill_command, "delete_made", after_it_was_made_again)
    else:
        make_again()
    assert drill("--clean-up", mine, "--yes") == 1
    assert held(cluster, namespace, mine).keys() == {"ConfigMap"}


def test_the_kubectl_lines_do_what_they_say(
    cluster: RealCluster, namespace: str, shop: str, drill: Drill, kit: Kit, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through a shell: those that make a drill's objects, and those that delete what foretop leaves alone."""
    mine = f"{shop}-trial"
    environ = {
        **os.environ,
        "PATH": f"{kit.kubectl.parent}:{os.environ['PATH']}",
        "KUBECONFIG": str(cluster.kubeconfig("admin")),
    }

    def shell(line: str) -> None:
        done = subprocess.run(["bash", "-c", line], env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stderr)

    capsys.readouterr()
    assert drill(shop, "--dry-run", "-o", "json", "--into", mine) == 0
    planned = json.loads(capsys.readouterr().out)["items"]
    for item in planned:
        shell(item["command"])
    for item in planned:
        found = cluster.admin.get(places(namespace, mine)[item["kind"]]).expect(200)
        for key in ("data", "spec"):
            if key in item["patch"]:
                assert found[key] == item["patch"][key]
        assert found["metadata"]["labels"][DRILL_LABEL] == item["patch"]["metadata"]["labels"][DRILL_LABEL]
    drill("--clean-up", mine, "--yes", "-o", "json")
    refused = json.loads(capsys.readouterr().out)["items"]
    assert {one["result"] for one in refused} == {"refused"}
    assert held(cluster, namespace, mine).keys() == {"Restore", "ConfigMap", "Namespace"}
    for one in refused:
        shell(one["error"].partition("delete it with: ")[2] + " --wait=false")
    assert held(cluster, namespace, mine) == {}
