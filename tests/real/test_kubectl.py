"""kubectl against the minicluster: commands of an operator work as on any cluster."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from foretop_demo import LocalApiServer, Rule, User
from tests.real.build import Kit

PATIENCE_SECONDS = 300
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: velero}\n"
SCHEDULE = """
apiVersion: velero.io/v1
kind: Schedule
metadata: {name: daily, namespace: velero}
spec: {schedule: "0 1 * * *", template: {includedNamespaces: [shop]}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: velero, namespace: velero}
spec:
  selector: {matchLabels: {app: velero}}
  template:
    metadata: {labels: {app: velero}}
    spec:
      containers:
        - {name: velero, image: "velero:v1.17.2", args: [server]}
"""


@dataclass(frozen=True)
class Kubectl:
    """kubectl with the kubeconfig of one user of a box."""

    binary: Path
    kubeconfig: Path
    home: Path

    async def start(self, *arguments: str) -> Process:
        environment = {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.home), "PATH": os.defpath}
        return await asyncio.create_subprocess_exec(
            self.binary, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
        )

    async def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        """The output of kubectl, including stderr if it is expected to fail."""
        process = await self.start(*arguments)
        async with asyncio.timeout(PATIENCE_SECONDS):
            out, err = await process.communicate(stdin.encode())
        assert process.returncode == code, (process.returncode, out, err)
        return (err if code else out).decode()

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[asyncio.StreamReader]:
        """The output of a kubectl that does not end by itself."""
        process = await self.start(*arguments)
        assert process.stdout is not None
        try:
            yield process.stdout
        finally:
            process.terminate()
            await process.communicate()


@pytest.fixture
async def box() -> AsyncIterator[LocalApiServer]:
    viewer = User("viewer", (Rule(("get", "list", "watch"), ("velero.io",), ("*",)),))
    async with LocalApiServer(users=[viewer]) as box:
        yield box


@pytest.fixture
async def kubectl(box: LocalApiServer, kit: Kit, tmp_path: Path) -> Kubectl:
    kubectl = Kubectl(kit.kubectl, box.kubeconfig(tmp_path / "kubeconfig", namespace="velero"), tmp_path)
    assert await kubectl.run("apply", "-f", "-", stdin=NAMESPACE) == "namespace/velero created\n"
    return kubectl


async def test_a_manifest_is_applied_changed_and_left_alone(kubectl: Kubectl) -> None:
    name = "schedule.velero.io/daily"
    assert await kubectl.run("apply", "-f", "-", stdin=SCHEDULE) == f"{name} created\n"
    assert await kubectl.run("apply", "-f", "-", stdin=SCHEDULE) == f"{name} unchanged\n"
    later = SCHEDULE.replace("0 1 * * *", "0 2 * * *")
    assert await kubectl.run("apply", "-f", "-", stdin=later) == f"{name} configured\n"
    live = json.loads(await kubectl.run("get", "schedule", "daily", "-o", "json"))
    assert (live["spec"]["schedule"], live["metadata"]["generation"]) == ("0 2 * * *", 2)


async def test_the_table_has_the_columns_of_the_definition(kubectl: Kubectl) -> None:
    await kubectl.run("apply", "-f", "-", stdin=SCHEDULE)
    head, row = (await kubectl.run("get", "schedules", "-A")).splitlines()
    assert head.split() == ["NAMESPACE", "NAME", "STATUS", "SCHEDULE", "LASTBACKUP", "AGE", "PAUSED"]
    assert row.split()[:3] == ["velero", "daily", "0"]


async def test_a_schedule_is_paused_described_and_deleted(kubectl: Kubectl) -> None:
    await kubectl.run("apply", "-f", "-", stdin=SCHEDULE)
    paused = await kubectl.run("patch", "schedule", "daily", "--type=merge", "-p", '{"spec":{"paused":true}}')
    assert paused == "schedule.velero.io/daily patched\n"
    operation = '[{"op":"add","path":"/metadata/labels","value":{"team":"shop"}}]'
    await kubectl.run("patch", "schedule", "daily", "--type=json", "-p", operation)
    described = await kubectl.run("describe", "schedule", "daily")
    assert "Paused:" in described
    assert "team=shop" in described
    assert "Events:  <none>" in described
    owners = json.loads(await kubectl.run("get", "schedule", "daily", "-o", "json", "--show-managed-fields"))
    entries = {entry["manager"]: entry["fieldsV1"] for entry in owners["metadata"]["managedFields"]}
    assert entries["kubectl-patch"]["f:spec"] == {"f:paused": {}}
    assert "deleted" in await kubectl.run("delete", "schedule", "daily")
    gone = await kubectl.run("get", "schedule", "daily", code=1)
    assert gone == 'Error from server (NotFound): schedules.velero.io "daily" not found\n'


async def test_changes_are_printed_as_they_happen(kubectl: Kubectl) -> None:
    await kubectl.run("apply", "-f", "-", stdin=SCHEDULE)
    async with kubectl.running("get", "schedules", "-w", "--no-headers") as lines, asyncio.timeout(PATIENCE_SECONDS):
        assert (await lines.readline()).split()[0] == b"daily"
        await kubectl.run("patch", "schedule", "daily", "--type=merge", "-p", '{"status":{"phase":"Enabled"}}')
        assert (await lines.readline()).split()[:2] == [b"daily", b"Enabled"]


async def test_mistakes_are_named_before_anything_is_written(kubectl: Kubectl) -> None:
    unknown = await kubectl.run("apply", "-f", "-", stdin=SCHEDULE.replace("template:", "tempalte:"), code=1)
    assert 'unknown field "spec.tempalte"' in unknown
    wrong = SCHEDULE.replace("spec: {", "spec: {paused: maybe, ")
    assert 'spec.paused in body must be of type boolean: "string"' in await kubectl.run(
        "apply", "-f", "-", stdin=wrong, code=1
    )
    assert await kubectl.run("get", "schedules", "-o", "name") == ""


async def test_veleros_deployment_is_changed_by_container_name(kubectl: Kubectl) -> None:
    await kubectl.run("apply", "-f", "-", stdin=DEPLOYMENT)
    newer = DEPLOYMENT.replace("v1.17.2", "v1.18.3")
    assert await kubectl.run("apply", "-f", "-", stdin=newer) == "deployment.apps/velero configured\n"
    live = json.loads(await kubectl.run("get", "deployment", "velero", "-o", "json"))
    container = live["spec"]["template"]["spec"]["containers"][0]
    assert (container["image"], container["args"]) == ("velero:v1.18.3", ["server"])


async def test_a_viewer_is_told_what_is_missing(box: LocalApiServer, kubectl: Kubectl) -> None:
    await kubectl.run("apply", "-f", "-", stdin=SCHEDULE)
    config = box.kubeconfig(kubectl.home / "viewer", "viewer", "velero")
    viewer = Kubectl(kubectl.binary, config, kubectl.home)
    assert await viewer.run("get", "schedules", "-o", "name") == "schedule.velero.io/daily\n"
    refused = await viewer.run("patch", "schedule", "daily", "--type=merge", "-p", '{"spec":{"paused":true}}', code=1)
    assert 'User "viewer" cannot patch resource "schedules" in API group "velero.io"' in refused
    assert await viewer.run("auth", "can-i", "list", "schedules.velero.io") == "yes\n"
    assert await viewer.run("auth", "can-i", "delete", "schedules.velero.io", code=1) == ""


async def test_a_namespace_is_made_and_goes_with_what_is_in_it(kubectl: Kubectl) -> None:
    assert await kubectl.run("create", "namespace", "shop") == "namespace/shop created\n"
    await kubectl.run("apply", "-f", "-", stdin=SCHEDULE)
    await kubectl.run("delete", "namespace", "velero")
    assert "velero" not in await kubectl.run("get", "namespaces", "-o", "name")
    assert await kubectl.run("get", "schedules", "-A", "-o", "name") == ""
