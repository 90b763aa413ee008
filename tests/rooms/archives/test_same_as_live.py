"""An archive of a box shows what the box showed: every view, the report, the forecast and each object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.clock import ShiftedClock
from foretop_core.pages import GET_TABLES
from tests.wire.boxes import living_box

VIEWS = sorted({words[0].id: word for word, words in GET_TABLES.items() if not words[1]}.values())


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@contextmanager
def looked_at(moment: datetime) -> Iterator[None]:
    """The clocks of clusters stand still, however long it takes to look at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShiftedClock, "now", lambda _: moment)
        yield


def unnamed(value: Any) -> Any:
    """Without how the cluster is called."""
    if isinstance(value, dict):
        return {name: unnamed(part) for name, part in value.items() if name != "context"}
    return [unnamed(part) for part in value] if isinstance(value, list) else value


def answers(capsys: pytest.CaptureFixture[str], *source: str) -> Iterator[tuple[str, Any]]:
    for view in VIEWS:
        run(["get", view, "-o", "json", *source])
        items = json.loads(capsys.readouterr().out)["items"]
        yield f"get {view}", sorted(map(json.dumps, unnamed(items)))
    run(["report", "-o", "json", *source])
    report = json.loads(capsys.readouterr().out)
    for part in ("schedules", "findings", "volumes"):
        yield f"report: {part}", sorted(map(json.dumps, unnamed(report[part])))
    run(["forecast", "-o", "json", *source])
    yield "forecast", sorted(map(json.dumps, unnamed(json.loads(capsys.readouterr().out)["servers"])))
    for kind in ("schedule", "backup", "restore"):
        run(["get", kind, "-o", "json", *source])
        for one in json.loads(capsys.readouterr().out)["items"][:3]:
            run(["describe", kind, one["name"], "-n", one["namespace"], *source])
            lines = capsys.readouterr().out.splitlines()
            yield f"describe {kind} {one['name']}", [line for line in lines if not line.startswith("Context")]


def different(live: dict[str, Any], kept: dict[str, Any]) -> dict[str, list[str]]:
    """What only one of them says, by where."""
    return {name: sorted(map(str, {*live[name]} ^ {*kept[name]}))[:4] for name in live if live[name] != kept[name]}


@pytest.mark.sweep
@pytest.mark.parametrize("scene", ["contents", "default", "volumes"])
def test_every_view_of_a_gathered_box_is_that_of_the_box(
    scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "gathered.tar.gz"
    with living_box(scene, tmp_path, 0.0) as (box, path), looked_at(box.clock.now()):
        live = ("--kubeconfig", path)
        assert run(["gather", "-o", str(packed), "--with-texts", "-y", *live]) in (0, 1)
        capsys.readouterr()
        shown = dict(answers(capsys, *live))
    kept = dict(answers(capsys, "-f", str(packed)))
    assert different(shown, kept) == {}
