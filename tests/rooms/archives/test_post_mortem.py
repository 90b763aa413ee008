"""The course of a recording as Markdown: what was wrong, who did what, what followed, how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.rooms.archives import post_mortem as post_mortem_module
from foretop_core.rooms.archives.contents import read_archive
from foretop_core.rooms.archives.kept_changes import recorded_changes
from foretop_core.rooms.archives.post_mortem import PostMortem, post_mortem, post_mortem_text
from foretop_core.rules.triage import Thresholds
from tests import recordings
from tests.objects import NOW
from tests.rooms.archives.packing import BUNDLE

MINUTE = timedelta(minutes=1)


def stamp(minute: float) -> str:
    return (NOW + minute * MINUTE).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(minute: float, kind: str, body: dict[str, Any], word: str = "MODIFIED") -> str:
    return json.dumps({"t": stamp(minute), "kind": kind, "type": word, "object": body})


def schedule(paused: bool, version: int, **annotations: str) -> dict[str, Any]:
    meta = {"name": "daily", "namespace": "velero", "uid": "u-1", "resourceVersion": str(version)}
    writers = [{"manager": "foretop", "time": stamp(1), "fieldsV1": {"f:spec": {"f:paused": {}}}}]
    return {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {**meta, "annotations": annotations, "managedFields": writers, "creationTimestamp": stamp(-90)},
        "spec": {"schedule": "42 2 * * *", "paused": paused, "template": {}},
        "status": {"phase": "Enabled", "lastBackup": stamp(-60)},
    }


def backup(phase: str, version: int, **status: Any) -> dict[str, Any]:
    meta = {"name": "b-*1*", "namespace": "velero", "uid": "u-2", "creationTimestamp": stamp(2)}
    return {
        "apiVersion": "velero.io/v1",
        "kind": "Backup",
        "metadata": {**meta, "resourceVersion": str(version)},
        "spec": {},
        "status": {"phase": phase, "startTimestamp": stamp(2), **status},
    }


def told(folder: Path, lines: Iterable[str]) -> PostMortem:
    (folder / "a.jsonl").write_text("\n".join(lines))
    archive = read_archive(folder / "a.jsonl", lambda _: None)
    assert archive.recording is not None
    return post_mortem(archive.recording, "prod", Thresholds(), lambda _: None)


COURSE = (
    line(0, "schedules", schedule(False, 1), "ADDED"),
    line(1, "schedules", schedule(True, 2, **{"foretop.io/paused-by": "maria", "foretop.io/paused-at": stamp(1)})),
    line(2, "backups", backup("InProgress", 3), "ADDED"),
    line(9, "backups", backup("Failed", 4, completionTimestamp=stamp(9), failureReason="no <disk>")),
    line(20, "schedules", schedule(False, 5)),
    line(30, "schedules", {**schedule(False, 6), "status": {"phase": "Enabled", "lastBackup": stamp(20.5)}}),
)


@pytest.mark.parametrize("lead_in", [2000, 0])
def test_a_course_from_a_pause_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lead_in: int) -> None:
    monkeypatch.setattr(post_mortem_module, "LEAD_IN", lead_in)
    course = told(tmp_path, COURSE)
    text = post_mortem_text(course, UTC)
    assert text.startswith("# prod: 2026-11-15T02:41:07Z to 2026-11-15T03:11:07Z\n")
    assert "- 02:42:07Z  schedule velero/daily: paused: false → true, by maria\n" in text
    assert '- 02:50:07Z  backup velero/b-\\*1\\* failed: "no \\<disk\\>"\n' in text
    assert [one for one in text.splitlines() if "paused and overdue" in one and "gone by 03:01" in one]
    course_lines = text.partition("## What followed what")[2].partition("##")[0].splitlines()
    times = [one[2:10] for one in course_lines if one.startswith("- ")]
    assert times == sorted(times)
    assert "Not recorded" in text


def test_the_recording_of_a_real_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    source = str(recordings.FOLDER / "overlap.jsonl")
    assert run(["report", "-f", source, "--post-mortem"]) == 0
    text = capsys.readouterr().out
    assert "schedule velero/one: paused: false → true, by whom is not known" in text
    assert "▲ warning: schedule velero/one: paused and overdue, seen from 02:44:29Z, gone by 02:45:25Z" in text
    assert text.count("## ") == 6


def test_what_is_no_recording_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "-f", str(BUNDLE), "--post-mortem"]) == 2
    assert "velero-debug has no course: it is no recording (make one with foretop record)" in capsys.readouterr().err
    assert run(["report", "--post-mortem"]) == 2
    assert "--post-mortem goes with -f RECORDING, as text" in capsys.readouterr().err


def test_an_object_that_cannot_be_read_costs_itself(tmp_path: Path) -> None:
    odd = schedule(False, 7)
    odd["spec"]["schedule"] = {"not": "a text"}
    course = told(tmp_path, (*COURSE, line(31, "schedules", odd)))
    assert [change.text for change in course.writes if change.what == "paused"] == [
        "paused: false → true",
        "paused: true → false",
    ]
    assert archive_changes(tmp_path) == []


def archive_changes(folder: Path) -> list[str]:
    """The objects that are told to be gone."""
    recording = read_archive(folder / "a.jsonl", lambda _: None).recording
    assert recording is not None
    steps = recorded_changes(recording, "prod", recording.begin, recording.end)
    return [str(step.key) for step in steps if step.what == "deleted"]
