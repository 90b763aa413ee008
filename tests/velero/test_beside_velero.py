"""The velero command line beside foretop's: the same actions, the same facts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.velero.foretop_command import ForetopCommand
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import NOT_DUE, wait_until_available
from tests.velero.velero_cluster import TEAMS, VELERO_NAMESPACE, ServerFlags, StorySteps


@pytest.fixture
def foretop(cluster: RealVeleroCluster, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE), tmp_path)


def _state(cluster: RealVeleroCluster, name: str) -> tuple[Any, ...]:
    found = cluster.find("Schedule", name) or {}
    spec, status = found["spec"], found.get("status") or {}
    return (spec.get("paused", False), spec.get("skipImmediately"), status.get("phase"), "lastSkipped" in status)


@pytest.mark.share
@pytest.mark.parametrize("skip", ["true", "false"])
def test_pausing_and_unpausing_leave_the_same_schedule(
    cluster: RealVeleroCluster, foretop: ForetopCommand, skip: str
) -> None:
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    for name in ("by-velero", "by-foretop"):
        steps.schedule(name, NOT_DUE)
        steps.wait_for_phase("Schedule", name, "Enabled")
    cluster.velero_command("schedule", "pause", "by-velero")
    foretop.text("schedule", "pause", "by-foretop", "--yes")
    assert _state(cluster, "by-velero")[0] == _state(cluster, "by-foretop")[0] is True
    flag = f"--skip-immediately={skip}"
    cluster.velero_command("schedule", "unpause", "by-velero", flag)
    foretop.text("schedule", "unpause", "by-foretop", flag, "--yes", "--no-wait")
    cluster.wait_until(lambda: all(_state(cluster, name)[:2] == (False, False) for name in ("by-velero", "by-foretop")))
    assert _state(cluster, "by-velero") == _state(cluster, "by-foretop") == (False, False, "Enabled", skip == "true")


def described(text: str) -> dict[str, str]:
    """The `Key:  value` lines of a description; of a key that comes twice, the first."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"\s*([A-Z][A-Za-z -]+):\s+(\S.*)", line):
            found.setdefault(match[1], match[2].strip())
    return found


def _moment(text: str) -> str:
    """`2026-11-15 15:20:03 +0000 UTC` as RFC 3339."""
    date, time, *_ = text.split()
    return f"{date}T{time}Z"


@pytest.mark.share
def test_a_backup_and_its_restore_are_described_alike_and_their_logs_are_the_same(
    cluster: RealVeleroCluster, foretop: ForetopCommand
) -> None:
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.backup("shop", TEAMS[0])
    steps.wait_for_phase("Backup", "shop", "Completed")
    cluster.create("Restore", "shop-again", {"backupName": "shop", "namespaceMapping": {TEAMS[0]: "team-again"}})
    steps.wait_for_phase("Restore", "shop-again", "Completed", "PartiallyFailed")

    theirs, ours = (
        described(cluster.velero_command("backup", "describe", "shop", "--details")),
        foretop.item("backups", "shop"),
    )
    assert ours["phase"] == theirs["Phase"]
    assert ours["started"] == _moment(theirs["Started"])
    assert ours["completed"] == _moment(theirs["Completed"])
    assert ours["expires"] == _moment(theirs["Expiration"])
    assert ours["storageLocation"] == theirs["Storage Location"]
    assert str(ours["itemsTotal"]) == theirs["Total items to be backed up"]
    assert str(ours["itemsDone"]) == theirs["Items backed up"]

    log = cluster.velero_command("backup", "logs", "shop")
    assert foretop.text("backup", "logs", "shop").splitlines() == log.splitlines()
    assert "level=info" in log

    theirs = described(cluster.velero_command("restore", "describe", "shop-again", "--details"))
    ours = foretop.item("restores", "shop-again")
    assert ours["phase"] == theirs["Phase"].split()[0]
    assert ours["started"] == _moment(theirs["Started"])
    assert ours["completed"] == _moment(theirs["Completed"])
    assert str(ours["itemsTotal"]) == theirs["Total items to be restored"]
    assert str(ours["itemsDone"]) == theirs["Items restored"]
    assert ours["backup"] == theirs["Backup"]
    results = foretop.text("restore", "results", "shop-again")
    assert results.strip(), "there is a word for a restore without problems too"
