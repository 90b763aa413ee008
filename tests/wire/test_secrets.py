"""No secret in what a command prints, in the journal, or in a crash report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foretop.cli import run
from foretop.terminal.crash_report import crash_lines
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.action_fixtures import Wire, wire
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.canary import (
    CANARY,
    GOOD,
    SECRET_OBJECTS,
    echo_server,
    secret_kubeconfig,
    secrets_in,
    sign_addresses,
)
from tests.wire.command_fixtures import OBJECTS, home
from tests.wire.test_plan_executor import refusing

__all__ = ["home", "wire"]
READING = [
    *(["get", what, "-o", form] for what in ("schedules", "backups", "nab", "storage") for form in ("wide", "yaml")),
    *(["describe", *what] for what in (("schedule", "broken"), ("backup", "failed"), ("bsl", "default"))),
    ["describe", "nab", "orders"],
    ["doctor"],
    ["report", "-o", "json"],
    *(command for commands in samples("READING") for command in commands),
    ["schedule", "pause", "--all", "--dry-run"],
    ["schedule", "edit", "nightly", "--schedule", "0 3 * * *", "--dry-run"],
    ["restore", "create", "--from-backup", "ended", "--dry-run"],
]
WRITING = [
    ["schedule", "pause", "--all", "--yes"],
    ["schedule", "edit", "nightly", "--schedule", "0 3 * * *", "--yes"],
    ["schedule", "delete", "nightly", "--yes"],
    ["backup", "create", "--from-schedule", "gold-1", "--yes"],
    ["restore", "delete", "back", "--yes"],
    ["nar", "delete", "velero/orders-back", "--yes"],
    ["nab", "delete", "velero/orders", "--yes"],
    ["journal"],
    ["journal", "-o", "json"],
]


@pytest.fixture
def box(wire: Wire) -> Iterator[LocalApiServer]:
    with box_in_thread(SECRET_OBJECTS) as made:
        yield made


@pytest.fixture
def echo() -> Iterator[str]:
    with echo_server() as url:
        yield url


def test_no_command_prints_or_notes_a_secret_of_the_cluster(
    box: LocalApiServer, echo: str, wire: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, _ = secret_kubeconfig(box, echo, tmp_path)
    sign_addresses(box, echo)
    for command in (*READING, *WRITING):
        run([*command, "--kubeconfig", config, *(["--context", GOOD] if command[0] != "journal" else [])])
        printed = "".join(capsys.readouterr())
        assert printed, command
        assert secrets_in(printed, box) == [], command
    assert len(wire.writes) >= 8, "writes are what the journal is about"
    kept = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert kept
    assert [line for path in kept for line in secrets_in(path.read_text(), box)] == []
    assert not [path for _, path in wire.asked if "/secrets" in path], "what is in a Secret is never asked for"


@pytest.mark.parametrize("command", [["doctor"], ["report"], ["schedule", "pause", "--all"]])
def test_no_error_of_a_context_has_its_secret(
    box: LocalApiServer, echo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    config, failing = secret_kubeconfig(box, echo, tmp_path)
    for context in failing:
        assert run([*command, "--kubeconfig", config, "--context", context]) != 0
        printed = "".join(capsys.readouterr())
        assert printed, context
        assert secrets_in(printed, box) == [], context


@pytest.mark.parametrize(
    "told",
    [
        "Authorization: Bearer can4ry",
        "{'Authorization': 'Basic can4ry'}",
        "password=can4ry",
        'auth {"token": "can4ry"}',
        "http://anna:p/can4ry@proxy:3128 is down",
        "GET /one.gz?X-Amz-Credential=can4ry-can4ry-can4ry&X-Amz-Signature=can4rycan4rycan4ry",
        "clientSecret : can4ry",
    ],
)
def test_no_short_secret_is_in_a_crash_report_either(told: str, tmp_path: Path) -> None:
    said = crash_lines(RuntimeError(told), {"XDG_STATE_HOME": str(tmp_path)})
    (report,) = (tmp_path / "foretop").glob("crash-*.txt")
    assert "can4ry" not in f"{said}\n{report.read_text()}"
    assert report.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("line", ["token: *can4ry", "token: !can4ry x", "token: '\\can4ry", "token: %can4ry"])
def test_a_kubeconfig_that_is_not_yaml_is_not_quoted(line: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(f"users:\n- name: me\n  user:\n    {line}\n")
    with pytest.raises(BadInput, match="Cannot read the kubeconfig") as caught:
        choose_contexts(ConnectionOptions(kubeconfig=str(path)), {})
    assert "can4ry" not in str(caught.value)


def test_a_crash_report_has_no_secret(box: LocalApiServer, tmp_path: Path) -> None:
    try:
        try:
            raise ValueError(f"Bearer {box.token()} was refused by https://anna:{CANARY}@storage")
        except ValueError as cause:
            raise KeyError(f"http://storage/one.gz?X-Amz-Signature={CANARY}-signature-0004") from cause
    except KeyError as problem:
        said = crash_lines(problem, {"XDG_STATE_HOME": str(tmp_path)})
    (report,) = (tmp_path / "foretop").glob("crash-*.txt")
    assert "test_a_crash_report_has_no_secret" in report.read_text()
    assert secrets_in(f"{said}\n{report.read_text()}", box) == []


def test_a_secret_that_a_webhook_repeats_is_nowhere(
    tmp_path: Path, wire: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    """On standard output and error, in the log and in the journal alike."""
    message = f'denied: https://me:{CANARY}@hook/x?sig={CANARY} {{"token": "{CANARY}"}} password="my {CANARY}"'
    wire.misbehave = refusing(403, message=message)
    log = tmp_path / "foretop.log"
    with box_in_thread(OBJECTS) as box:
        config = kubeconfig(box, tmp_path)
        assert run(["schedule", "pause", "nightly", "--yes", "--log-file", str(log), "--kubeconfig", config]) == 3
        assert run(["journal", "-o", "json"]) == 0
    printed = capsys.readouterr()
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    for text in (printed.out + printed.err, log.read_text(), journal.read_text()):
        assert "denied: https://" in text
        assert CANARY not in text
