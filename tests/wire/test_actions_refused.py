"""Commands that must change nothing: read-only, missing rights, and input that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop.cli import run
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.action_fixtures import Wire, wire
from tests.wire.boxes import kubeconfig
from tests.wire.command_fixtures import Foretop, box, foretop, home, still_box

__all__ = ["box", "foretop", "home", "still_box", "wire"]
WRITES = [
    ("schedule", "pause", "nightly"),
    ("schedule", "unpause", "resting"),
    ("schedule", "create", "made", "--schedule", "@daily"),
    ("schedule", "delete", "nightly"),
    ("backup", "create", "--from-schedule", "nightly"),
    ("backup", "create", "--same-as", "ended"),
    ("backup", "delete", "ended"),
    ("backup", "cancel", "running"),
    ("restore", "create", "--from-backup", "ended"),
    ("nab", "delete", "orders"),
    ("nar", "delete", "orders-back"),
    ("storage-request", "reject", "ask"),
    ("server", "set", "--schedule-skip-immediately=false"),
]


def changed_by(wire: Wire) -> list[tuple[str, str]]:
    """The writes but for the question who one is, which changes nothing."""
    return [(method, path) for method, path in wire.writes if not path.endswith("selfsubjectreviews")]


@pytest.mark.parametrize("way", ["flag", "environment", "configuration"])
def test_read_only_refuses_every_write_and_still_shows_it(
    way: str,
    box: LocalApiServer,
    foretop: Foretop,
    wire: Wire,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if way == "environment":
        monkeypatch.setenv("FORETOP_READ_ONLY", "1")
    if way == "configuration":
        (tmp_path / "config" / "foretop").mkdir(parents=True)
        (tmp_path / "config" / "foretop" / "config.yaml").write_text("contexts: {minicluster: {readOnly: true}}\n")
    flag = ("--read-only",) if way == "flag" else ()
    for command in WRITES if way == "flag" else WRITES[:1]:
        assert foretop(*command, *flag, "--yes") == 3, command
        printed = capsys.readouterr()
        assert "read-only is on" in printed.err
        assert "kubectl" in printed.out or "velero --kubecontext" in printed.out
    assert foretop(*WRITES[0], *flag, "--dry-run=server") == 3
    assert foretop(*WRITES[0], *flag, "--dry-run") == 0
    assert wire.writes == []
    assert not (tmp_path / "state").exists()


def test_a_missing_right_refuses_every_write(
    box: LocalApiServer, wire: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = kubeconfig(box, tmp_path, "reader")
    for command in WRITES:
        assert run([*command, "--yes", "--kubeconfig", mine]) == 3, command
        (line,) = capsys.readouterr().err.splitlines()
        assert "is not allowed (ask for a role with this permission)" in line
    assert changed_by(wire) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("schedule", "pause", "nosuch", "--yes"), "Schedule nosuch not found"),
        (("schedule", "pause", "elsewhere/nightly", "--yes"), "Schedule elsewhere/nightly not found"),
        (("schedule", "pause", "-l", "tier=tin", "--yes"), "No schedule has the labels tier=tin"),
        (("schedule", "pause", "-l", "tier=(", "--yes"), "Label selector"),
        (("schedule", "pause", "--yes"), "give names, or -l, or --all"),
        (("schedule", "pause", "nightly", "--all", "--yes"), "give only one of"),
        (("schedule", "pause", "nightly"), "give --yes"),
        (("schedule", "pause", "nightly", "--until", "2020-01-01T00:00:00Z", "--yes"), "is in the past"),
        (("schedule", "unpause", "resting", "--skip-immediately", "--yes"), "--skip-immediately"),
        (
            ("schedule", "unpause", "resting", "--skip-immediately=maybe", "--yes"),
            "'maybe' is not valid for --skip-immediately; use true, false",
        ),
        (("schedule", "pause", "nightly", "--dry-run=maybe"), "'maybe' is not valid for --dry-run; use client, server"),
        (("schedule", "create", "x", "--schedule", "0 25 * * *", "--yes"), "in the field hour, at character 3"),
        (("schedule", "create", "x", "--schedule", "@daily", "--ttl", "30d", "--yes"), "is not a valid duration"),
        (("schedule", "create", "x", "--yes"), "--schedule is missing"),
        (("schedule", "create", "--yes"), "give NAME and --schedule, or -f FILE"),
        (("schedule", "create", "-f", "/no/such", "--yes"), "/no/such cannot be read"),
        (("backup", "create", "x", "--yes"), "give --from-schedule or --same-as"),
        (("backup", "create", "--from-schedule", "nosuch", "--yes"), "Schedule nosuch not found"),
        (("restore", "create", "--from-backup", "nosuch", "--yes"), "Backup nosuch not found"),
        (("restore", "create", "--from-backup", "ended", "--namespace-mappings", "a", "--yes"), "is not valid in"),
        *(refused for room in samples("REFUSED") for refused in room),
        (("schedule", "pause", "a", "--context", "a", "--context", "b", "--yes"), "exactly one --context"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_sent(
    arguments: tuple[str, ...],
    words: str,
    still_box: LocalApiServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = still_box.storage.version
    assert run([*arguments, "--kubeconfig", kubeconfig(still_box, tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert still_box.storage.version == before
    assert not (tmp_path / "state").exists()


def test_a_mistake_in_the_configuration_is_one_line_and_protects_the_context(
    foretop: Foretop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config" / "foretop").mkdir(parents=True)
    (tmp_path / "config" / "foretop" / "config.yaml").write_text("contexts: {minicluster: {readonly: yes please}}\n")
    assert foretop("schedule", "pause", "nightly", "--yes") == 3
    mistake, protected, refusal = capsys.readouterr().err.splitlines()
    assert protected.endswith("config.yaml: every context is read-only until this is fixed")
    assert "config.yaml:1: contexts.minicluster: unknown setting 'readonly'; did you mean readOnly?" in mistake
    assert "read-only is on" in refusal


def test_a_production_context_is_written_to_when_its_name_is_given(
    foretop: Foretop, wire: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config" / "foretop").mkdir(parents=True)
    (tmp_path / "config" / "foretop" / "config.yaml").write_text("contexts: {minicluster: {production: true}}\n")
    pause = ("schedule", "pause", "nightly", "--yes")
    for more in ((), ("--confirm-context", "other")):
        assert foretop(*pause, *more) == 3
        assert "minicluster is marked production (add --confirm-context minicluster)" in capsys.readouterr().err
    assert foretop("schedule", "pause", "nightly", "--dry-run") == 0
    assert changed_by(wire) == []
    assert foretop(*pause, "--confirm-context", "minicluster") == 0
    assert len(changed_by(wire)) == 1
