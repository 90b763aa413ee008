"""`foretop forecast` on the recording of a real night: what it foresees, a window, and bad input."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from tests import recordings
from tests.rooms import samples

pytestmark = pytest.mark.long

AT = "2026-11-16T15:40:00Z"
GIVEN = ("--velero-version", "1.18.3", "--at", AT)
_FORESEEING = [("forecast",), *(command for commands in samples("FORESEEING") for command in commands)]
SILENT = ("--velero-version", "1.18.3", "--at", "2026-11-16T17:40:00Z")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The objects of the recording as they were at that moment, as kubectl would print them."""
    until, objects = datetime.fromisoformat(AT), dict[tuple[str, str, str], Any]()
    for event in recordings.events("night"):
        if event.t <= until:
            objects[event.key] = event.raw
    path: Path = tmp_path_factory.mktemp("night") / "night.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects.values())}))
    return str(path)


def foreseen(capsys: pytest.CaptureFixture[str], night: str, *more: str) -> dict[str, Any]:
    run(["forecast", "-f", night, *GIVEN, "-o", "json", *more])
    (server,) = json.loads(capsys.readouterr().out)["servers"]
    assert isinstance(server, dict)
    return server


def test_the_next_start_of_every_schedule_lies_in_the_range_that_was_told(
    night: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server = foreseen(capsys, night, "--hours", "1")
    assert server["slots"] == 1
    assert server["courses"] >= 50
    real: dict[str, str] = {}
    for event in recordings.events("night", "backups"):
        name, status = (
            event.raw["metadata"].get("labels", {}).get("velero.io/schedule-name"),
            event.raw.get("status", {}),
        )
        if name and event.raw["metadata"]["creationTimestamp"] > AT and status.get("startTimestamp"):
            real.setdefault(name, status["startTimestamp"])
    assert set(real) == {"audit", "crm", "etcd", "lake", "shop", "wiki"}
    inside = 0
    for name, start in real.items():
        told = next(one for one in server["runs"] if one["schedule"] == name and one["fate"] != "lost")
        first, last = told["start"]["nineInTen"]
        inside += first <= start <= last
    assert inside >= 5, "of six"


def test_runs_that_the_overlap_guard_takes_are_told_as_lost(night: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = foreseen(capsys, night, "--hours", "1")
    lost = {
        name: sum(one["shareLost"] for one in server["runs"] if one["schedule"] == name) for name in ("etcd", "wiki")
    }
    assert lost["etcd"] > 3, "every minute, and Velero made 17 of 24"
    assert lost["wiki"] < 1
    assert run(["forecast", "-f", night, *GIVEN, "--hours", "1"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Lost ")]
    assert line.endswith(": the next run falls due first")


@pytest.fixture(scope="module")
def at_three(night: str) -> str:
    """The same, with every schedule due at three."""
    path, items = Path(night).with_name("at-three.json"), json.loads(Path(night).read_text())["items"]
    for one in items:
        if one["kind"] == "Schedule":
            one["spec"]["schedule"] = "0 3 * * *"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.mark.parametrize(
    ("which", "window", "free"),
    [
        ("night", "15:50-16:00", False),
        ("night", "16:50-17:00", False),
        ("at_three", "02:00-02:30", True),
        ("at_three", "02:30-03:30", False),
    ],
)
def test_a_window_is_free_or_not_however_far_it_is(
    which: str, window: str, free: bool, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    night = request.getfixturevalue(which)
    server = foreseen(capsys, night, "--hours", "1", "--window", window)
    assert server["window"]["free"] is free
    assert bool(server["window"]["notFreeBy"]) is not free
    run(["forecast", "-f", night, *GIVEN, "--hours", "1", "--window", window])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Window ")]
    assert line.endswith(" is free") is free


def test_a_window_says_what_is_open_when_it_begins(night: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One slot and six schedules, one of them every minute: something is always at work."""
    window = foreseen(capsys, night, "--hours", "1", "--window", "15:50-16:00")["window"]
    assert window["atWorkAtBegin"] or window["waitingAtBegin"] or window["perhapsOpenAtBegin"]
    assert set(window["atWorkAtBegin"]) <= set(window["notFreeBy"])
    assert window["lastEndBefore"]["likely"] <= window["lastEndBefore"]["nineInTenBy"]
    run(["forecast", "-f", night, *GIVEN, "--hours", "1", "--window", "15:50-16:00"])
    assert " by 15:50: ends " in capsys.readouterr().out


def test_the_zone_of_the_window_does_not_move_the_schedules(night: str, capsys: pytest.CaptureFixture[str]) -> None:
    here = foreseen(capsys, night, "--hours", "1", "--window", "15:50-16:00")
    there = foreseen(capsys, night, "--hours", "1", "--window", "16:50-17:00", "--tz", "Europe/Berlin")
    assert [one["due"] for one in there["runs"]] == [one["due"] for one in here["runs"]]
    assert there["window"] == here["window"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--window", "6-7"), "'6-7' is not a valid window (use two times of day, such as 06:00-07:30)"),
        (("--window", "06:00-06:00"), "it has no length"),
        (("--hours", "0"), "0 is not in the range"),
        (("--hours", "999"), "999 is not in the range"),
        (("--tz", "Mars/Base"), "'Mars/Base' is not a valid time zone"),
    ],
)
def test_bad_input_is_one_line(
    given: tuple[str, ...], told: str, night: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forecast", "-f", night, *GIVEN, *given]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("asked", _FORESEEING)
def test_nothing_is_foreseen_of_a_server_that_is_silent(
    asked: tuple[str, ...], night: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*asked, "-f", night, *SILENT]) == 3
    said = capsys.readouterr()
    assert "Nothing can be foreseen: Velero is silent" in said.out + said.err


@pytest.fixture
def few(tmp_path: Path) -> str:
    """A schedule that makes its runs, one that is paused, one that Velero refuses, and one into a lost location."""
    server = {"checked": "2026-11-16T15:39:30Z"}
    items: list[dict[str, Any]] = [
        {
            "apiVersion": "velero.io/v1",
            "kind": "BackupStorageLocation",
            "metadata": {"name": name, "namespace": "velero"},
            "spec": {"default": name == "default"},
            "status": {"phase": phase, "lastValidationTime": server["checked"], "lastSyncedTime": server["checked"]},
        }
        for name, phase in (("default", "Available"), ("offsite", "Unavailable"))
    ]
    for name, cron, paused, place in (
        ("daily", "0 3 * * *", False, "default"),
        ("parked", "0 4 * * *", True, "default"),
        ("broken", "70 * * * *", False, "default"),
        ("copy", "30 3 * * *", False, "offsite"),
    ):
        items.append(
            {
                "apiVersion": "velero.io/v1",
                "kind": "Schedule",
                "metadata": {"name": name, "namespace": "velero", "creationTimestamp": "2026-11-10T00:00:00Z"},
                "spec": {"schedule": cron, "paused": paused, "template": {"storageLocation": place}},
                "status": {"phase": "Enabled", "lastBackup": "2026-11-16T03:00:03Z"},
            }
        )
    for day in range(12, 17):
        began = f"2026-11-{day}T03:00:03Z"
        items.append(
            {
                "apiVersion": "velero.io/v1",
                "kind": "Backup",
                "metadata": {
                    "name": f"daily-{day}",
                    "namespace": "velero",
                    "labels": {"velero.io/schedule-name": "daily"},
                    "creationTimestamp": began,
                },
                "spec": {},
                "status": {
                    "phase": "Completed",
                    "startTimestamp": began,
                    "completionTimestamp": f"2026-11-{day}T03:10:03Z",
                },
            }
        )
    path = tmp_path / "few.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.mark.parametrize(
    ("without", "code"),
    [
        ((), 1),
        (("--without", "paused"), 1),
        (("--without", "paused,refused"), 1),
        (("--without", "paused", "--without", "refused, invalid"), 0),
        (("--without", "lost"), 1),
    ],
)
@pytest.mark.parametrize("command", _FORESEEING)
def test_all_is_well_only_where_no_backup_is_missing_but_those_left_out(
    command: tuple[str, ...], without: tuple[str, ...], code: int, few: str
) -> None:
    assert run([*command, "-f", few, *GIVEN, *without]) == code


def test_a_run_that_is_refused_is_not_told_as_done_by_six(few: str, capsys: pytest.CaptureFixture[str]) -> None:
    server = foreseen(capsys, few)
    assert server["bySix"] == "not all"
    assert server["missing"] == ["refused", "invalid", "paused"]
    run(["forecast", "-f", few, *GIVEN, "--window", "06:00-07:00"])
    assert "Done      not all by 06:00: " in (told := capsys.readouterr().out)
    assert "; copy refused; broken invalid" in told


def test_a_word_that_cannot_be_left_out_is_one_line(few: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["forecast", "-f", few, *GIVEN, "--without", "late"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "foretop: --without 'late' is not known (choose from lost, refused, invalid, paused)"
