"""What a row says beyond its own object: the beat of Velero and the flags that it was started with."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from foretop.cli import run
from tests.objects import NOW
from tests.wire.boxes import box_in_thread, kubeconfig, living_box
from tests.wire.test_commands import VELERO, obj

PULSE = {"phase": "Available", "lastValidationTime": "2026-11-15T02:40:33Z", "lastSyncedTime": "2026-11-15T02:40:33Z"}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    VELERO,
    obj("BackupStorageLocation", "default", {"provider": "aws", "objectStorage": {"bucket": "b"}}, status=PULSE),
    obj(
        "Schedule",
        "hourly",
        {"schedule": "0 * * * *", "template": {}},
        status={"phase": "Enabled", "lastBackup": "2026-11-15T02:00:33Z"},
    ),
]


@pytest.mark.sweep
def test_get_and_report_tell_the_same_start_and_the_servers_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with box_in_thread(OBJECTS, created=NOW - timedelta(days=1)) as box:
        config = ("--kubeconfig", kubeconfig(box, tmp_path))
        assert run(["get", "schedules", "-o", "json", *config]) == 0
        (row,) = json.loads(capsys.readouterr().out)["items"]
        run(["report", "-o", "json", *config])
        (reported,) = json.loads(capsys.readouterr().out)["schedules"]
        run(["get", "schedules", *config])
        shown = capsys.readouterr().out
    assert row["expectedStart"] == reported["expectedStart"] == "2026-11-15T03:00:33Z"
    assert "server: yes" in shown


@pytest.mark.sweep
def test_get_tells_of_the_queue_what_the_report_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that is down ends nothing, and a volume waits for the one that its node moves."""
    for scene, state in (("dead", "server_silent"), ("volumes", "waits_for_volume")):
        with living_box(scene, tmp_path, 0.01) as (_, config):
            at = ("-o", "json", "--kubeconfig", config)
            run(["get", "queue", *at])
            printed = json.loads(capsys.readouterr().out)["items"]
            run(["report", *at])
            reported = json.loads(capsys.readouterr().out)
        assert state in {item["state"] for item in printed}
        assert {item["name"]: item["state"] for item in printed} == {
            item["name"]: item["state"] for item in reported["queue"]
        }
        assert [item["state"] for item in reported["servers"]] == ["down" if scene == "dead" else "active"]
