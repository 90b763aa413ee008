"""`foretop config`, and which of flag, environment and file decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foretop.cli import run
from foretop.commands.config import TEMPLATE
from foretop_core.config.config_file import read_config
from foretop_core.config.thresholds_from_settings import thresholds_of
from foretop_core.rules.triage import Thresholds


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "foretop" / "config.yaml"
    path.parent.mkdir()
    return path


def origins(capsys: pytest.CaptureFixture[str], *before: str, code: int = 0) -> dict[str, tuple[object, str]]:
    capsys.readouterr()
    assert run([*before, "config", "show", "-o", "json"]) == code
    settings = json.loads(capsys.readouterr().out)["settings"]
    return {one["name"]: (one["value"], one["from"]) for one in settings}


def test_init_writes_a_file_that_sets_nothing_and_never_over_another(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "init"]) == 0
    assert file.read_text() == TEMPLATE
    assert {origin for _, origin in origins(capsys).values()} == {"default"}
    file.write_text("page: queue\n")
    assert run(["config", "init"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert file.read_text() == "page: queue\n"


def uncommented() -> str:
    """The file with every setting in use; sentences, which begin with a blank, stay comments."""
    return "".join(
        line[1:] if line.startswith("#") and (line[1:2].isalpha() or line.startswith("#  ")) else line
        for line in TEMPLATE.splitlines(keepends=True)
    )


def test_every_setting_is_in_the_commented_file_with_its_default(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(uncommented())
    found = read_config({"XDG_CONFIG_HOME": str(file.parents[1])})
    assert found.mistakes == ()
    assert thresholds_of(found.settings.thresholds) == Thresholds()
    assert {name for name, (_, origin) in origins(capsys).items() if origin == "default"} == set()


def test_the_path_is_printed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{file}\n"


def test_the_schema_knows_every_page_and_action(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "triage" in schema["$defs"]["Settings"]["properties"]["page"]["enum"]
    assert "veleroNamespace" in schema["$defs"]["Settings"]["properties"]


def test_flags_go_over_the_environment_over_the_file_over_the_default(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert origins(capsys)["page"] == ("triage", "default")
    file.write_text("theme: dark\npage: queue\nveleroNamespace: one\nthresholds: {overdue: 90s}\n")
    assert origins(capsys)["page"] == ("queue", "line 2")
    assert origins(capsys)["thresholds.overdue"] == ("1m30s", "line 4")
    monkeypatch.setenv("FORETOP_PAGE", "backups")
    monkeypatch.setenv("FORETOP_VELERO_NAMESPACE", "two")
    assert origins(capsys)["page"] == ("backups", "FORETOP_PAGE")
    flags = ("--page", "storage", "--velero-namespace", "three", "--context", "prod")
    found = origins(capsys, *flags)
    assert found["page"] == ("storage", "flag")
    assert found["veleroNamespace"] == ("three", "flag")
    assert found["defaultContexts"] == (["prod"], "flag")
    assert found["theme"] == ("dark", "line 1")


def test_a_mistake_is_told_on_standard_error_and_the_rest_is_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("paeg: queue\ntheme: light\n")
    monkeypatch.setenv("FORETOP_PAGE", "backupz")
    assert run(["config", "show"]) == 1
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        f"foretop: {file}:1: unknown setting 'paeg'; did you mean page?",
        "foretop: FORETOP_PAGE: page 'backupz' does not exist; did you mean backups?",
        f"foretop: {file}: every context is read-only until this is fixed",
    ]
    assert "light" in printed.out


def test_a_theme_that_is_not_there_is_refused_in_one_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--theme", "drak", "config", "show"]) == 2
    assert "--theme: theme 'drak' does not exist; did you mean dark?" in capsys.readouterr().err
