"""`foretop schedule edit` against the cluster in a box: flags, an editor, and somebody else who edits too."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, patch_schedule, wire
from tests.wire.command_fixtures import Foretop, box, foretop, held, home

__all__ = ["box", "foretop", "home", "wire"]

UseEditor = Callable[[str], Path]


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UseEditor:
    """Makes a Python statement the editor: it changes `text`; hands out the folder of the edited files."""
    monkeypatch.delenv("KUBE_EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)

    def use(statement: str) -> Path:
        script = tmp_path / "editor.py"
        script.write_text(
            "import os, pathlib, sys\n"
            "path = pathlib.Path(sys.argv[-1])\n"
            "text = path.read_text()\n"
            f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(oct(path.stat().st_mode) + '\\n' + text)\n"
            f"{statement}\n"
            "path.write_text(text)\n"
        )
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
        return tmp_path / "state" / "foretop" / "edits"

    return use


def test_flags_change_their_fields_and_nothing_else(box: LocalApiServer, foretop: Foretop, wire: Wire) -> None:
    patch_schedule(box, "resting", {"spec": {"template": {"hooks": {"resources": []}, "ttl": "24h0m0s"}}})
    flags = ("--schedule", "30 3 * * *", "--ttl", "", "--include-namespaces", "shop,web", "--skip-immediately=false")
    assert foretop("schedule", "edit", "resting", *flags, "--yes") == 0
    spec = box.storage.get(box.storage.kind("Schedule"), "velero", "resting")["spec"]
    assert spec == {
        "schedule": "30 3 * * *",
        "paused": True,
        "skipImmediately": False,
        "template": {"hooks": {"resources": []}, "includedNamespaces": ["shop", "web"]},
    }
    (sent,) = wire.bodies
    assert sent["metadata"]["uid"] == held(box, "resting").metadata.uid


def test_a_dry_run_shows_the_runs_before_and_after_and_sends_nothing(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    patch_schedule(box, "nightly", {"spec": {"skipImmediately": False}})
    flags = ("--schedule", "*/10 * * * *", "--ttl", "5h", "--dry-run")
    assert foretop("schedule", "edit", "nightly", *flags) == 0
    printed = capsys.readouterr().out
    assert "spec.schedule 0 * * * * → */10 * * * *" in printed
    assert "means every 10 minutes" in printed
    assert "one backup is created at once" in printed
    assert wire.bodies == []


def test_what_is_already_so_sends_nothing(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("schedule", "edit", "nightly", "--schedule", "0 * * * *", "--ttl", "", "--yes") == 0
    assert "Nothing to do: nightly would not change." in capsys.readouterr().err
    assert wire.bodies == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "nothing to change"),
        (("--schedule", ""), "A schedule needs a cron expression"),
        (("--schedule", "0 25 * * *"), "in the field hour"),
        (("--ttl", "30d"), "is not a valid duration"),
        (("--include-namespaces", "Shop"), "is not a valid namespace name"),
    ],
)
def test_what_cannot_be_is_one_line(
    box: LocalApiServer,
    foretop: Foretop,
    wire: Wire,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    words: str,
) -> None:
    assert foretop("schedule", "edit", "nightly", *flags, "--yes") == 2
    assert words in capsys.readouterr().err
    assert wire.bodies == []


def test_the_editor_gets_the_spec_in_a_private_file_that_goes_when_it_is_done(
    box: LocalApiServer, foretop: Foretop, editor: UseEditor, tmp_path: Path
) -> None:
    patch_schedule(box, "resting", {"spec": {"template": {"snapshotMoveData": True}}})
    folder = editor("text = text.replace('snapshotMoveData: true', 'snapshotMoveData: false\\n    ttl: 48h')")
    assert foretop("schedule", "edit", "resting", "--editor", "--yes") == 0
    mode, _, text = (tmp_path / "seen").read_text().partition("\n")
    assert stat.S_IMODE(int(mode, 8)) == 0o600
    assert "# schedule velero/resting in minicluster\n" in text
    assert "paused" not in text.replace("Pause and unpause", "")
    spec = box.storage.get(box.storage.kind("Schedule"), "velero", "resting")["spec"]
    assert spec["template"] == {"snapshotMoveData": False, "ttl": "48h"}
    assert spec["paused"] is True
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("statement", ["pass", "text = ''", "text = '# all gone'"])
def test_an_unchanged_or_empty_file_sends_nothing(
    box: LocalApiServer,
    foretop: Foretop,
    editor: UseEditor,
    wire: Wire,
    capsys: pytest.CaptureFixture[str],
    statement: str,
) -> None:
    folder = editor(statement)
    assert foretop("schedule", "edit", "nightly", "--editor", "--yes") == 0
    assert "Nothing to do: nightly would not change." in capsys.readouterr().err
    assert wire.bodies == []
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("text += '  - [broken'", "is not valid YAML at line"),
        ("text = 'spec: 5'", "spec is empty or not a mapping"),
        ("text = 'metadata: {}'", "it must contain spec: and nothing else"),
        ("text += '  paused: false\\n'", "spec.paused is not edited"),
        ("text = text.replace('0 * * * *', '0 25 * * *')", "in the field hour"),
        ("text = text.replace('template: {}', 'template: {ttl: 30}')", "spec.template.ttl"),
        ("sys.exit(3)", "failed with exit code 3"),
    ],
)
def test_a_broken_edit_keeps_the_text_and_names_the_file(
    box: LocalApiServer,
    foretop: Foretop,
    editor: UseEditor,
    wire: Wire,
    capsys: pytest.CaptureFixture[str],
    statement: str,
    words: str,
) -> None:
    folder = editor(statement)
    assert foretop("schedule", "edit", "nightly", "--editor", "--yes") != 0
    (line,) = capsys.readouterr().err.splitlines()
    (draft,) = folder.iterdir()
    assert words in line
    assert str(draft) in line
    assert wire.bodies == []


def test_a_field_that_the_server_does_not_know_is_refused_and_the_text_is_kept(
    box: LocalApiServer, foretop: Foretop, editor: UseEditor, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = editor("text = text.replace('template: {}', 'template: {ttll: 30h}')")
    assert foretop("schedule", "edit", "nightly", "--editor", "--yes") == 1
    (draft,) = folder.iterdir()
    assert f"The edited text is in {draft}" in capsys.readouterr().err
    assert "ttll: 30h" in draft.read_text()


def test_an_editor_that_is_not_there_is_one_line(
    box: LocalApiServer, foretop: Foretop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBE_EDITOR", "/nowhere/editor --wait")
    assert foretop("schedule", "edit", "nightly", "--editor", "--yes") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "with /nowhere/editor: No such file or directory (set EDITOR)" in line


def test_what_someone_else_changes_in_another_field_meanwhile_stays(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first answer is a conflict; the plan is made again, and is the same."""
    changed: list[Any] = []

    def second_writer(method: str, path: str) -> str:
        if method == "PATCH" and not changed:
            changed.append(path)
            patch_schedule(box, "resting", {"spec": {"template": {"ttl": "5h"}}})
        return ""

    wire.cut = second_writer
    assert foretop("schedule", "edit", "resting", "--schedule", "30 3 * * *", "--yes") == 0
    spec = held(box, "resting").spec
    assert (spec.schedule, spec.template.ttl) == ("30 3 * * *", "5h")
    assert len(wire.bodies) == 2


def test_the_same_field_changed_by_someone_else_meanwhile_is_not_overwritten(
    box: LocalApiServer, foretop: Foretop, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    def second_writer(method: str, path: str) -> str:
        if method == "PATCH":
            patch_schedule(box, "resting", {"spec": {"schedule": "15 1 * * *"}})
        return ""

    wire.cut = second_writer
    assert foretop("schedule", "edit", "resting", "--schedule", "30 3 * * *", "--yes", "-o", "json") == 4
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item["result"] == "changed"
    assert held(box, "resting").spec.schedule == "15 1 * * *"
