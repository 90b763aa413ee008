"""The list of what changed: of a bundle, of a cluster that was watched, and of one that nobody watched."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from foretop.cli import run
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import SCHEDULE
from foretop_core.rooms.archives.kept_changes import KeptChanges, beginning
from tests import recordings
from tests.objects import NOW, backup, schedule
from tests.rooms.archives.packing import BUNDLE
from tests.tui.fake_source import CONTEXT, FilledSource
from tests.wire.boxes import living_box

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
NIGHT = recordings.FOLDER / "night.jsonl"


def test_a_bundle_tells_what_its_objects_prove(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "changes", "name:held", "--since", "1h", "-f", str(BUNDLE), "-o", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "velero-debug: Nobody watched: only what the objects that are there tell of themselves. "
        "Nothing else is known.\n"
    )
    told = [(one["at"], one["what"], one["by"], one["seen"]) for one in json.loads(out)["items"]]
    assert told == [
        ("2026-11-19T02:17:30Z", "paused", "with kubectl-client-side-apply", False),
        ("2026-11-19T02:17:30Z", "created", "with kubectl-client-side-apply", False),
    ]


def test_a_cluster_without_a_record_says_that_nobody_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living_box("contents", tmp_path, 0.0) as (_, path):
        assert run(["get", "changes", "--since", "48h", "ended", "--kubeconfig", path]) == 0
    out, err = capsys.readouterr()
    assert "ended, Completed" in out
    assert "created" not in out
    assert "before that only what the objects that are there tell of themselves." in err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("changes", "--since", "soon"), "--since 'soon' is not a duration such as 30m or 12h"),
        (("backups", "--since", "1h"), "--since goes with changes"),
        (("changes", "colour:red"), "colour"),
    ],
)
def test_what_cannot_be_asked_is_one_line(words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", *words, "-f", str(BUNDLE)]) == 2
    assert why in capsys.readouterr().err


def test_what_a_dashboard_saw_is_told_with_what_was_and_what_is() -> None:
    source = FilledSource([schedule(), backup(created="02:00:03")])
    state = DashboardState(source, lambda: 0.0)
    source.manual.advance(timedelta(minutes=5))
    paused = msgspec.to_builtins(schedule(paused=True))
    source.change(SCHEDULE, paused)
    kept = KeptChanges(state, CONTEXT, state.now(CONTEXT) - HOUR).listed()
    assert [(step.text, step.told) for step in kept.changes] == [("paused: false → true", False), ("created", True)]
    assert beginning(kept, NOW - HOUR, state.zone).startswith("Watched since 02:41:07Z; before that")


def test_a_recording_tells_each_change_up_to_its_moment(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for event in recordings.events("night", "backups"):
        told.append((event.object.name, event.object.phase))  # type: ignore[attr-defined]
    end = [entry.t for entry in recordings.read("night")][-1]
    assert run(["get", "changes", "kind:Backup", "--since", "72h", "-o", "json", "-f", str(NIGHT)]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    phases = [one for one in items if one["what"] == "phase"]
    assert all(one["seen"] for one in phases)
    assert max(datetime.fromisoformat(one["at"]) for one in items) <= end
    seen = {(one["name"], one["after"]) for one in phases}
    assert seen <= set(told)
    assert len({name for name, _ in seen}) > 20
    assert run(["get", "changes", "kind:Backup", "--since", "1m", "-o", "json", "-f", str(NIGHT)]) == 0
    last = json.loads(capsys.readouterr().out)["items"]
    assert (
        last
        == [one for one in items if datetime.fromisoformat(one["at"]) >= end.replace(microsecond=0) - MINUTE][
            : len(last)
        ]
    )
