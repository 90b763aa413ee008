"""The commands on a bundle of a real Velero: the same rows, findings and logs, as of its time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop.cli import run
from tests.rooms import samples
from tests.rooms.archives.packing import BUNDLE, BUNDLED_AT, listed, schedule, tree

FROM = ("-f", str(BUNDLE))


@pytest.fixture(autouse=True)
def _without_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = run([*words, "-o", "json"])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


def test_what_is_wrong_in_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    code, findings, err = told(capsys, "get", "findings", *FROM)
    assert (code, err) == (0, "")
    assert [(one["severity"], one["name"], one["what"]) for one in findings["items"]] == [
        ("error", "web-2", "last backup failed"),
        ("error", "broken", "invalid cron, makes no backups"),
        ("error", "never", "no date fits, runs every minute"),
        ("warning", "held", "paused and overdue"),
        ("note", "velero-debug", "11 kinds not in the archive"),
    ]


def test_rows_are_as_of_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    _, schedules, _ = told(capsys, "get", "schedules", *FROM)
    by_name = {one["name"]: one for one in schedules["items"]}
    assert len(by_name) == 9
    assert by_name["shop-4"]["nextRun"] == "2026-11-19T02:30:00Z"
    code, report, _ = told(capsys, "report", *FROM)
    assert (code, report["at"]) == (1, BUNDLED_AT)
    assert {gap["reason"] for gap in report["notSeen"]} == {"not in the archive"}
    _, ahead, _ = told(capsys, "forecast", "--hours", "1", *FROM)
    assert ahead["servers"][0]["from"] == BUNDLED_AT
    _, later, _ = told(capsys, "forecast", *FROM, "--at", "2026-11-19T04:00:00Z")
    assert later["servers"][0]["from"] == "2026-11-19T04:00:00Z"
    _, runs, _ = told(capsys, "next", *FROM)
    shop = next(one for one in runs["items"] if one["name"] == "shop-4")
    assert shop["nextRun"] == "2026-11-19T02:30:00Z"


@pytest.mark.parametrize(("words", "code", "texts"), [sample for room in samples("OF_AN_ARCHIVE") for sample in room])
def test_a_command_of_another_room_reads_it(
    words: tuple[str, ...], code: int, texts: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, *FROM]) == code
    output = "".join(capsys.readouterr())
    assert [text for text in texts if text not in output] == []


def test_what_is_not_in_it_is_not_said_to_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "restores", *FROM]) == 0
    assert capsys.readouterr().out == "Nothing visible. Not visible: Restore (not in the archive).\n"
    assert run(["get", "protection", *FROM]) == 1
    assert capsys.readouterr().err == (
        "foretop: Not all namespaces of velero-debug are shown: they are not in the archive\n"
    )


def test_a_log_and_the_resources_come_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "backup", "never-20261119021730", "--details", *FROM]) == 1
    out, err = capsys.readouterr()
    assert "v1/Namespace:" in out
    assert "podvolumebackups are not in the archive" in err


def test_several_archives_are_several_clusters(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tree(tmp_path / "other", {"all.json": listed(schedule("daily", "2025-01-01T00:00:00Z"))})
    code, schedules, _ = told(capsys, "get", "schedules", *FROM, "-f", str(other))
    assert code == 0
    assert {one["context"] for one in schedules["items"]} == {"velero-debug", "other"}
    daily = next(one for one in schedules["items"] if one["name"] == "daily")
    assert daily["nextRun"] == "2025-01-01T03:00:00Z"
    assert not daily["due"]


def test_without_a_terminal_open_prints_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["open", str(BUNDLE)]) == 1
    assert capsys.readouterr().out.startswith(f"As of {BUNDLED_AT}\nVelero velero-debug in velero: active\n")


def test_what_cannot_be_opened_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["open", "/nowhere/at/all"]) == 2
    assert capsys.readouterr().err == (
        "foretop: /nowhere/at/all cannot be opened: No such file or directory (give a path that is there)\n"
    )


def test_a_plain_file_has_one_time_for_all_commands(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    at = "2025-01-01T03:00:07Z"
    daily = schedule("daily", "2025-01-01T00:00:00Z") | {"status": {"phase": "Enabled", "lastBackup": at}}
    (tmp_path / "one.json").write_bytes(listed(daily))
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(json.loads(listed(daily))))
    for name in ("one.json", "one.yaml"):
        source = ("-f", str(tmp_path / name))
        assert told(capsys, "report", *source)[1]["at"] == at
        assert told(capsys, "get", "schedules", *source)[1]["items"][0]["nextRun"] == "2025-01-02T03:00:00Z"
        assert told(capsys, "forecast", *source)[1]["servers"][0]["from"] == at
        assert told(capsys, "next", *source)[1]["items"][0]["runs"][0] == "2025-01-02T03:00:00Z"
        assert told(capsys, "whatif", "--pause", "daily", *source)[0] in (0, 1, 4)
        assert run(["next", *source]) == 0
        out, err = capsys.readouterr()
        assert "2025-01-02T03:00:00Z" in out
        assert err == f"As of {at}, the newest time in {tmp_path / name}.\n"
        assert told(capsys, "report", *source, "--at", "2025-02-01T00:00:00Z")[1]["at"] == "2025-02-01T00:00:00Z"


def test_a_manifest_without_times_is_read_as_of_now(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plain = {"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {"name": "a", "namespace": "velero"}}
    (tmp_path / "a.json").write_text(json.dumps(plain | {"spec": {"schedule": "0 3 * * *"}}))
    _, runs, err = told(capsys, "next", "-f", str(tmp_path / "a.json"))
    assert datetime.fromisoformat(runs["items"][0]["runs"][0]) > datetime.now(UTC)
    assert err == ""


def test_a_wrong_clock_in_a_plain_file_is_left_out_and_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    right = [schedule(name, f"2025-01-0{day}T00:00:00Z") for day, name in enumerate("abc", 1)]
    (tmp_path / "odd.json").write_bytes(listed(*right, schedule("late", "2031-01-01T00:00:00Z")))
    _, report, err = told(capsys, "report", "-f", str(tmp_path / "odd.json"))
    assert report["at"] == "2025-01-03T00:00:00Z"
    assert "A time more than a day after all others is left out: 2031-01-01T00:00:00Z (Schedule velero/late)" in err


@pytest.mark.parametrize(("server", "is_known"), [("v1.16.2", True), ("", False)])
def test_the_release_of_a_bundle_is_what_velero_version_printed(
    server: str, is_known: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    version = f"Client:\n\tVersion: v1.18.0\n\tGit commit: -\nServer:\n\tVersion: {server}\n".encode()
    folder = "velero-bundle/kubecapture/velero.io_v1/velero"
    files = {f"{folder}/schedules.json": listed(schedule("daily")), "velero-bundle/version.txt": version}
    source = ("-f", str(tree(tmp_path / "sent", files)))
    run(["upgrade-check", *source])
    assert ("by Velero 1.16.2 and" in capsys.readouterr().out) == is_known
