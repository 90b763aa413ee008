"""`foretop taken` against the box with its controllers: what a copy holds, and what could not be read of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import SimulatedCluster
from tests.wire.boxes import living_box


@contextmanager
def living(folder: Path) -> Iterator[tuple[SimulatedCluster, str]]:
    with living_box("protection", folder, 100.0) as (box, path):
        yield box, path


def requests(box: SimulatedCluster) -> int:
    return len(box.storage.list(box.storage.kind("DownloadRequest"), HOME))


def test_what_a_copy_holds_and_what_the_next_run_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living(tmp_path) as (box, path):

        def taken(*words: str) -> tuple[int, str, str]:
            code = run(["taken", *words, "--kubeconfig", path])
            return code, *capsys.readouterr()

        code, out, err = taken("files-daily")
        assert (code, err) == (0, "")
        assert requests(box) == 2
        lines = out.splitlines()
        assert lines[0].startswith(f"{HOME}/files-daily-")
        assert "Completed" in lines[0]
        assert "  files: 2 of 3 volumes, 80.0 GB; 9 objects: " in out
        volumes = [line.strip() for line in lines if line.startswith("    ")]
        assert volumes == [
            "archive: no snapshot location knows this volume",
            "cache by file system, 40.0 GB",
            "inbox by file system, 40.0 GB",
        ]
        assert "The next run of files-daily takes:" in out
        assert lines[-3].split() == ["files", "all", "not", "known"]
        assert lines[-2:] == [
            "Volumes: the next run takes 0 volumes, 3 not known.",
            "  files/archive not known: its PersistentVolume was not found.",
        ]

        code, out, _ = taken("files-daily", "-n", "files", "-o", "name")
        assert (code, out) == (0, "files/cache\nfiles/inbox\n")

        code, out, _ = taken(f"{HOME}/{_newest(box, 'files-daily')}", "-o", "json")
        item: dict[str, Any] = json.loads(out)
        (space,) = (one for one in item["namespaces"] if one["name"] == "files")
        assert (code, item["schedule"], item["next"], space["bytes"]) == (0, None, None, None)
        assert space["volumes"][0] == {
            "claim": "archive",
            "fate": "left out",
            "method": None,
            "bytes": None,
            "why": "no snapshot location knows this volume",
        }
        assert space["objects"]["Deployment"] == 1

        assert taken("fresh-daily")[1].startswith(f"{HOME}/fresh-daily: no copy yet\n")
        code, out, err = taken("nowhere")
        assert (code, out, err) == (
            2,
            "",
            "foretop: No schedule or backup nowhere (foretop get backups lists them)\n",
        )
        code, out, err = taken("files-daily", "-n", "nowhere")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "holds nothing of nowhere" in err


def test_without_the_right_to_ask_only_the_objects_tell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living(tmp_path) as (box, path):
        code = run(["taken", "files-daily", "--read-only", "--kubeconfig", path])
        out, err = capsys.readouterr()
        assert (code, requests(box)) == (1, 0)
        assert "  files: at least 2 volumes\n" in out
        assert err.count("read-only is on") == 2


def test_a_copy_is_looked_into_and_compared_with_another_and_with_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as (_, path):

        def taken(*words: str) -> tuple[int, str, str]:
            code = run(["taken", *words, "--kubeconfig", path])
            return code, *capsys.readouterr()

        code, out, _ = taken("files-daily", "--filter", "set", "-n", "files")
        assert (code, "    apps/StatefulSet (1): db\n" in out, "apps/Deployment" in out) == (0, True, False)
        code, out, _ = taken("files-daily", "--against", "bank-daily", "-o", "json")
        differing = json.loads(out)["differences"]
        assert {one["namespace"] for one in differing} == {"", "bank", "files"}
        assert {"namespace": "files", "kind": "apps/Deployment", "added": [], "gone": ["web"]} in differing
        code, out, err = taken("files-daily", "--against", "now", "-n", "files")
        assert (code, err) == (0, "")
        mine, _, now = out.partition("Only in files-daily-")[2].partition("Only in the cluster now:\n")
        assert "  files PersistentVolumeClaim (3): archive, cache and inbox\n" in now
        assert "  files apps/Deployment (1): web\n" in mine
        assert "Secret (" not in out
        code, out, err = taken("files-daily", "--against", "now")
        assert (code, "needs -n" in err) == (2, True)
        assert taken("files-daily", "--against", "nowhere")[0] == 2


def test_a_copy_tells_the_same_here_and_on_protection_and_backups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living(tmp_path) as (_, path):

        def told(*words: str) -> Any:
            run([*words, "-o", "json", "--kubeconfig", path])
            return json.loads(capsys.readouterr().out)

        (shown,) = (one for one in told("get", "protection")["items"] if one["name"] == "bank")
        name = shown["newestCopy"]
        (space,) = (one for one in told("taken", name)["namespaces"] if one["name"] == "bank")
        (copy,) = (one for one in told("get", "backups")["items"] if one["name"] == name)
        assert space["bytes"] == shown["bytes"] == copy["bytes"] == 80_000_000_000
        claims = {volume["claim"] for volume in space["volumes"] if volume["fate"] == "taken"}
        assert claims == {volume["name"] for volume in shown["volumesTaken"]}
        assert copy["volumesTaken"] == len(claims) == 2


def test_the_next_run_is_told_by_the_same_record_as_on_the_page_of_its_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living_box("contents", tmp_path, 100.0) as (_, path):

        def told(*words: str) -> str:
            run([*words, "--kubeconfig", path])
            return capsys.readouterr().out

        lines = told("taken", "wiki-nightly").splitlines()
        assert lines[-3].split() == ["wiki", "all", "part"]
        assert lines[-2:] == [
            "Volumes: the next run takes 1 volume, leaves out 1.",
            "  wiki/cache left out: its claim has the label velero.io/exclude-from-backup.",
        ]
        item = json.loads(told("taken", "shop-nightly", "-o", "json"))
        rows = json.loads(told("get", "protection", "-o", "json"))["items"]
        (shop,) = (one for one in rows if one["name"] == "shop")
        ((next_run,), (by_page,)) = item["next"], shop["schedules"]
        assert next_run == {key: by_page[key] for key in next_run} | {"name": "shop"}
        assert [one["name"] for one in next_run["volumesLeftOut"]] == ["pictures"]
        assert item["nextRefused"] is None


def _newest(box: SimulatedCluster, schedule: str) -> str:
    backups = box.storage.list(box.storage.kind("Backup"), HOME)
    ended = [one["metadata"]["name"] for one in backups if one.get("status", {}).get("phase") == "Completed"]
    return str(max(name for name in ended if name.startswith(schedule)))
