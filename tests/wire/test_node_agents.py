"""The limits of node agents over HTTP: two reads at most, and what a refusal leaves open."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.kube.access.node_agents import read_node_limits
from foretop_core.rules.queue.node_limits import NodeAgentLimits
from foretop_demo.access import Rule, User
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.command_fixtures import UPLOAD
from tests.wire.scripted_api import ScriptedApi, client_of
from tests.wire.test_commands import VELERO, obj

AGENTS = "/apis/apps/v1/namespaces/velero/daemonsets/node-agent"
CONFIG = "/api/v1/namespaces/velero/configmaps/{}"


def agents(*args: str, image: str = "velero/velero:v1.18.3", name: str = "node-agent") -> dict[str, Any]:
    container = {"name": name, "image": image, "args": ["node-agent", "server", *args]}
    meta = {"name": "node-agent", "namespace": "velero"}
    return {"metadata": meta, "spec": {"template": {"spec": {"containers": [container]}}}}


def config(name: str, number: int) -> dict[str, Any]:
    text = json.dumps({"loadConcurrency": {"globalConfig": number}})
    return {"metadata": {"name": name, "namespace": "velero"}, "data": {"config.json": text}}


async def read(answers: dict[str, Any]) -> tuple[NodeAgentLimits, int]:
    """The limits, and how many requests they took."""
    api = ScriptedApi(answers)
    async with client_of(api) as client:
        return await read_node_limits(client, "velero"), len(api.asked)


@pytest.mark.parametrize("flag", [("--node-agent-configmap=own",), ("--node-agent-configmap", "own")])
async def test_the_configmap_is_the_one_that_the_daemonset_names(flag: tuple[str, ...]) -> None:
    found, asked = await read({AGENTS: agents(*flag), CONFIG.format("own"): config("own", 4)})
    assert (found.of("a"), found.source, asked) == (4, "own", 2)


async def test_without_a_name_the_default_counts_since_1_15_and_a_fixed_name_before() -> None:
    old = CONFIG.format("node-agent-config")
    found, asked = await read({AGENTS: agents(), old: config("node-agent-config", 4)})
    assert (found.of("a"), asked) == (1, 1)
    for image, limit in (("velero/velero:v1.14.1", 4), ("velero/velero@sha256:0", None)):
        found, _ = await read({AGENTS: agents(image=image), old: config("node-agent-config", 4)})
        assert found.of("a") == limit
    assert found.why_unknown == "the release of the node agents is not known"
    found, _ = await read({AGENTS: agents(image="velero/velero@sha256:0"), old: 404})
    assert found.of("a") == 1


@pytest.mark.parametrize(
    ("answers", "why", "is_refused"),
    [
        ({AGENTS: 403}, "you may not get DaemonSet node-agent in velero", True),
        ({AGENTS: 404}, "there is no DaemonSet node-agent in velero", False),
        ({AGENTS: agents(name="other")}, "DaemonSet node-agent has no container node-agent", False),
        (
            {AGENTS: agents("--node-agent-configmap=own"), CONFIG.format("own"): 403},
            "you may not get ConfigMap own in velero",
            True,
        ),
        ({AGENTS: {"metadata": {"name": "node-agent"}, "spec": 7}}, "DaemonSet node-agent could not be read", False),
    ],
)
async def test_what_cannot_be_read_is_not_known_with_its_reason(answers: Any, why: str, is_refused: bool) -> None:
    found, _ = await read(answers)
    assert found.of("a") is None
    assert found.why_not("a").startswith(why)
    assert found.is_refused is is_refused


async def test_a_configmap_that_is_missing_leaves_the_default() -> None:
    found, _ = await read({AGENTS: agents("--node-agent-configmap=own"), CONFIG.format("own"): 404})
    assert found == NodeAgentLimits(1)


# A dashboard and a command


def volume(name: str, phase: str, **status: object) -> dict[str, Any]:
    made: dict[str, Any] = copy.deepcopy(UPLOAD)
    made["metadata"]["name"] = made["spec"]["sourcePVC"] = name
    return {**made, "status": {"phase": phase, **status}}


OLD = "2026-11-15T02:20:00Z"
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    VELERO,
    obj("Backup", "running", {}, status={"phase": "InProgress", "startTimestamp": OLD}),
    volume("big", "InProgress", node="worker-1", acceptedTimestamp=OLD, startTimestamp=OLD),
    volume("small", "Accepted", acceptedByNode="worker-1", acceptedTimestamp=OLD),
    {"apiVersion": "apps/v1", "kind": "DaemonSet", **agents("--node-agent-configmap=own")},
    {"apiVersion": "v1", "kind": "ConfigMap", **config("own", 1)},
]
FEW = User("few", (Rule(("get", "list", "watch"), ("velero.io",), ("*",)),))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("user", "told"),
    [("admin", "worker-1 moves volume big of running, one at a time"), ("few", "worker-1 moves volume big of running")],
)
def test_the_reason_that_a_volume_waits_has_the_limit(
    user: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with box_in_thread(OBJECTS, [FEW]) as box:
        config = kubeconfig(box, tmp_path, *([user] if user != "admin" else []))
        assert run(["get", "queue", "-o", "json", "--kubeconfig", config]) == 0
        (item,) = json.loads(capsys.readouterr().out)["items"]
        assert item["note"] == f"volume small waits its turn: {told}"
        run(["report", "-o", "json", "--kubeconfig", config])
        remedies = [one["remedy"] for one in json.loads(capsys.readouterr().out)["findings"]]
        known = "it moves 1 volume at a time, by loadConcurrency in ConfigMap own"
        refused = "is not known: you may not get DaemonSet node-agent in velero"
        assert any((known if user == "admin" else refused) in remedy for remedy in remedies), remedies
