"""The logs of Velero's pods: from the right container, only what is about the object, and within a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foretop_core.actions import run_logs as pod_logs
from foretop_core.actions.run_logs import container_log, pod_log
from foretop_core.errors import ForetopError
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire
from tests.wire.test_commands import obj

__all__ = ["wire"]
RUNS = obj("Backup", "one", {}, status={"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"})


def pod(name: str, label: str, *containers: str, crashed: bool = False) -> dict[str, Any]:
    since = {"running": {"startedAt": "2026-11-15T01:00:00Z"}}
    ended = {"startedAt": "2026-11-14T01:00:00Z", "finishedAt": "2026-11-15T00:59:00Z", "message": "out of memory"}
    last = {"lastState": {"terminated": ended}} if crashed else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "velero", "labels": {label: "velero"}},
        "spec": {"nodeName": "n", "containers": [{"name": one} for one in containers]},
        "status": {"containerStatuses": [{"name": one, "state": since, **last} for one in containers]},
    }


@pytest.mark.parametrize("label", ["deploy", "name", "component"])
async def test_the_log_of_the_container_velero_is_read_however_the_pod_is_labelled(label: str, tmp_path: Path) -> None:
    async with box_with([RUNS, pod("v", label, "sidecar", "velero")]) as box, hand_in(box, tmp_path) as executor:
        lines = list(await pod_log(executor.client, "velero", "one"))
        assert lines
        assert all("one" in line for line in lines)
        with pytest.raises(ForetopError, match="No Velero pod found in team-a"):
            await pod_log(executor.client, "team-a", "one")


async def test_a_pod_without_such_a_container_has_the_log_of_its_only_one(tmp_path: Path, wire: Wire) -> None:
    async with box_with([pod("v", "deploy", "server")]) as box, hand_in(box, tmp_path) as executor:
        assert list(await pod_log(executor.client, "velero", "one")) == []
        wire.pages["/pods/v/log"] = "backup=velero/one-2\nbackup=velero/one\none.two\n\xe9 one \n"
        assert list(await pod_log(executor.client, "velero", "one")) == ["backup=velero/one", "\xe9 one "]


async def test_a_container_and_its_run_before_the_restart_can_be_chosen(tmp_path: Path) -> None:
    crashed = pod("v", "deploy", "sidecar", "velero", crashed=True)
    async with box_with([RUNS, crashed]) as box, hand_in(box, tmp_path) as executor:
        now = list(await container_log(executor.client, "velero", "v", "velero"))
        before = list(await container_log(executor.client, "velero", "v", "velero", previous=True))
        assert any("one" in line for line in now)
        assert "out of memory" in before[-1]
        assert not any("out of memory" in line for line in now)
        first = list(await container_log(executor.client, "velero", "v"))
        assert not any("backup=velero/one" in line for line in first)


@pytest.mark.parametrize(("room", "is_read"), [(0, True), (-1, False)])
async def test_a_log_is_read_up_to_its_limit(
    room: int, is_read: bool, tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pod_logs, "MOST_BYTES", 2 * (5 + pod_logs._COST_OF_A_LINE) + room)
    wire.pages["/pods/v/log"] = "12345\n67890\n"
    async with box_with([pod("v", "deploy", "velero")]) as box, hand_in(box, tmp_path) as executor:
        if is_read:
            assert list(await container_log(executor.client, "velero", "v")) == ["12345", "67890"]
        else:
            with pytest.raises(ForetopError, match="the log is longer than"):
                await container_log(executor.client, "velero", "v")
