"""The velero command line beside foretop's: the same deeds, the same facts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.velero.foretop_command import ForetopCommand
from tests.velero.place import HOME, TEAMS, Hands, ServerFlags
from tests.velero.real_place import RealPlace
from tests.velero.stories import NOT_DUE, until_available


@pytest.fixture
def foretop(place: RealPlace, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(place.cluster.kubeconfig("admin", HOME), tmp_path)


def _state(place: RealPlace, name: str) -> tuple[Any, ...]:
    found = place.find("Schedule", name) or {}
    spec, status = found["spec"], found.get("status") or {}
    return (spec.get("paused", False), spec.get("skipImmediately"), status.get("phase"), "lastSkipped" in status)


@pytest.mark.share
@pytest.mark.parametrize("skip", ["true", "false"])
def test_pausing_and_unpausing_leave_the_same_schedule(place: RealPlace, foretop: ForetopCommand, skip: str) -> None:
    at = Hands(place)
    place.start(ServerFlags())
    for name in ("by-velero", "by-foretop"):
        at.schedule(name, NOT_DUE)
        at.until_phase("Schedule", name, "Enabled")
    place.velero_command("schedule", "pause", "by-velero")
    foretop.text("schedule", "pause", "by-foretop", "--yes")
    assert _state(place, "by-velero")[0] == _state(place, "by-foretop")[0] is True
    flag = f"--skip-immediately={skip}"
    place.velero_command("schedule", "unpause", "by-velero", flag)
    foretop.text("schedule", "unpause", "by-foretop", flag, "--yes", "--no-wait")
    place.until(lambda: all(_state(place, name)[:2] == (False, False) for name in ("by-velero", "by-foretop")))
    assert _state(place, "by-velero") == _state(place, "by-foretop") == (False, False, "Enabled", skip == "true")


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
    place: RealPlace, foretop: ForetopCommand
) -> None:
    at = Hands(place)
    place.start(ServerFlags())
    until_available(at)
    at.backup("shop", TEAMS[0])
    at.until_phase("Backup", "shop", "Completed")
    place.create("Restore", "shop-again", {"backupName": "shop", "namespaceMapping": {TEAMS[0]: "team-again"}})
    at.until_phase("Restore", "shop-again", "Completed", "PartiallyFailed")

    theirs, ours = (
        described(place.velero_command("backup", "describe", "shop", "--details")),
        foretop.item("backups", "shop"),
    )
    assert ours["phase"] == theirs["Phase"]
    assert ours["started"] == _moment(theirs["Started"])
    assert ours["completed"] == _moment(theirs["Completed"])
    assert ours["expires"] == _moment(theirs["Expiration"])
    assert ours["storageLocation"] == theirs["Storage Location"]
    assert str(ours["itemsTotal"]) == theirs["Total items to be backed up"]
    assert str(ours["itemsDone"]) == theirs["Items backed up"]

    log = place.velero_command("backup", "logs", "shop")
    assert foretop.text("backup", "logs", "shop").splitlines() == log.splitlines()
    assert "level=info" in log

    theirs = described(place.velero_command("restore", "describe", "shop-again", "--details"))
    ours = foretop.item("restores", "shop-again")
    assert ours["phase"] == theirs["Phase"].split()[0]
    assert ours["started"] == _moment(theirs["Started"])
    assert ours["completed"] == _moment(theirs["Completed"])
    assert str(ours["itemsTotal"]) == theirs["Total items to be restored"]
    assert str(ours["itemsDone"]) == theirs["Items restored"]
    assert ours["backup"] == theirs["Backup"]
    results = foretop.text("restore", "results", "shop-again")
    assert results.strip(), "there is a word for a restore without problems too"
