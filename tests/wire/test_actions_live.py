"""Writes that somebody answers: the box with its controllers at work, and commands that follow what comes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from foretop.cli import run
from foretop_demo.reconcile import Behaviour
from foretop_demo.scenarios import ScenarioOptions
from tests.wire.boxes import living_box

Foretop = Callable[..., int]


@contextmanager
def living(scene: str, folder: Path, speed: float, options: ScenarioOptions | None = None) -> Iterator[str]:
    """A box whose time runs on a thread of its own; the kubeconfig that leads to it."""
    with living_box(scene, folder, speed, options) as (_, path):
        yield path


def followed(capsys: pytest.CaptureFixture[str]) -> str:
    (item,) = json.loads(capsys.readouterr().out)["items"]
    return str(item["followed"])


def test_after_maintenance_velero_takes_every_wish_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living("maintenance", tmp_path, 1.0) as config:
        shared = ("--yes", "--wait", "-o", "json", "--kubeconfig", config)
        assert run(["schedule", "unpause", "sessions-15m", "--skip-immediately=true", *shared]) == 0
        assert "skips what was due" in followed(capsys)
        assert run(["schedule", "unpause", "mail-30m", "--skip-immediately=false", *shared]) == 0
        assert "Velero picked it up, backup mail-30m-20261115023" in followed(capsys)
        assert run(["schedule", "create", "new", "--schedule", "0 * * * *", *shared]) == 0
        assert followed(capsys) == "Velero picked up new: Enabled"


def test_a_backup_is_made_followed_and_deleted_with_its_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living("maintenance", tmp_path, 600.0) as config:
        at = ("--kubeconfig", config)
        wait = ("--yes", "--wait", "-o", "json", *at)
        assert run(["backup", "create", "mine", "--from-schedule", "wiki-nightly", *wait]) == 0
        assert followed(capsys).startswith("mine: Completed")
        assert run(["restore", "create", "--from-backup", "mine", *wait]) == 0
        assert "Completed" in followed(capsys)
        assert run(["backup", "delete", "mine", *wait]) == 0
        assert followed(capsys) == "mine is deleted, with its data"


def test_describe_lists_the_resources_in_a_backup_on_request_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living("quiet", tmp_path, 1.0) as config:
        at = ("--kubeconfig", config)
        assert run(["get", "backups", "phase:Completed", "-o", "json", *at]) == 0
        name = json.loads(capsys.readouterr().out)["items"][0]["name"]
        assert run(["describe", "backup", name, *at]) == 0
        assert "v1/ConfigMap:" not in capsys.readouterr().out
        assert run(["describe", "backup", name, "--details", *at]) == 0
        told = capsys.readouterr().out
        assert "Resources\n" in told
        assert "v1/ConfigMap:\n  - " in told
        assert run(["describe", "schedule", "mail", "--details", *at]) == 1
        assert "--details lists the resources of a backup or restore" in capsys.readouterr().err
        assert run(["describe", "backup", name, "--details", "--read-only", *at]) == 1
        assert "read-only is on" in capsys.readouterr().err


def test_that_nobody_takes_it_up_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with living("dead", tmp_path, 1.0) as config:
        monkeypatch.setattr("foretop.commands.write_command.PICKED_UP_WITHIN", 0.5)
        shared = ("--yes", "--wait", "-o", "json", "--kubeconfig", config)
        assert run(["schedule", "create", "new", "--schedule", "0 * * * *", *shared]) == 1
        assert followed(capsys).startswith("Not picked up yet")


def test_the_seed_s_nab_can_be_deleted_by_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wishes = ScenarioOptions(behaviour=Behaviour.SEED)
    with living("nonadmin-status", tmp_path, 60.0, wishes) as config:
        at = ("--kubeconfig", config)
        assert run(["get", "nab", "phase:Created", "-o", "json", *at]) == 0
        name = next(item for item in json.loads(capsys.readouterr().out)["items"] if item["veleroName"])
        target = f"{name['namespace']}/{name['name']}"
        assert run(["nab", "delete", target, "--force", "--yes", "--wait", "-o", "json", *at]) == 0
        assert followed(capsys) == f"{name['name']} is deleted"
