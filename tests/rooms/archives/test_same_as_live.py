"""An archive of a box shows what the box showed: every view, the report, the forecast and each object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.pages import GET_TABLES
from tests.wire.boxes import living_box

VIEWS = sorted({words[0].id: word for word, words in GET_TABLES.items() if not words[1]}.values())
OF_THE_MOMENT = ("context", "expectedStart", "expectedEnd", "notBefore", "bytesPerSecond", "secondsLeft")
AHEAD = re.compile(r"\b(?:in|for) \d+ \w+")
"""The clock of the box goes on while it is looked at."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def settled(value: Any) -> Any:
    """Without what tells when it was looked at, and how the cluster is called."""
    if isinstance(value, dict):
        return {name: settled(part) for name, part in value.items() if name not in OF_THE_MOMENT}
    if isinstance(value, str):
        return AHEAD.sub("soon", value)
    return [settled(part) for part in value] if isinstance(value, list) else value


def answers(capsys: pytest.CaptureFixture[str], *source: str) -> Iterator[tuple[str, Any]]:
    for view in VIEWS:
        run(["get", view, "-o", "json", *source])
        items = json.loads(capsys.readouterr().out)["items"]
        yield f"get {view}", sorted(map(json.dumps, settled(items)))
    run(["report", "-o", "json", *source])
    report = json.loads(capsys.readouterr().out)
    for part in ("schedules", "findings", "volumes"):
        yield f"report: {part}", sorted(map(json.dumps, settled(report[part])))
    run(["forecast", "-o", "json", *source])
    servers = json.loads(capsys.readouterr().out)["servers"]
    yield (
        "forecast",
        [
            (one["namespace"], one["unknown"], one["slots"], *sorted({str(each["schedule"]) for each in one["runs"]}))
            for one in servers
        ],
    )
    run(["get", "schedules", "-o", "json", *source])
    for one in json.loads(capsys.readouterr().out)["items"][:3]:
        run(["describe", "schedule", one["name"], "-n", one["namespace"], *source])
        lines = capsys.readouterr().out.splitlines()
        yield f"describe {one['name']}", [AHEAD.sub("soon", line) for line in lines if not line.startswith("Context")]


@pytest.mark.sweep
@pytest.mark.parametrize("scene", ["contents", "default", "volumes"])
def test_every_view_of_a_gathered_box_is_that_of_the_box(
    scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "gathered.tar.gz"
    with living_box(scene, tmp_path, 0.0) as (_, path):
        live = ("--kubeconfig", path)
        assert run(["gather", "-o", str(packed), "--with-texts", "-y", *live]) in (0, 1)
        capsys.readouterr()
        shown = dict(answers(capsys, *live))
        kept = dict(answers(capsys, "-f", str(packed)))
        differ = {
            name: sorted(map(str, {*shown[name]} ^ {*kept[name]}))[:4] for name in shown if shown[name] != kept[name]
        }
    assert differ == {}
