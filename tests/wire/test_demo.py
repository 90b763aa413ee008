"""`foretop demo` as a person calls it, with and without --serve."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop.cli import run
from foretop.commands.demo import own_state
from foretop_core.actions.journal import Journal, default_path
from tests.unit.actions.test_journal import entry


@contextmanager
def served(*options: str) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A box in a process of its own, which tidies up after itself when it is told to end."""
    # Whoever runs the tests may ignore a SIGHUP, and then this would too.
    plain = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); from foretop.cli import main; main()"
    command = [sys.executable, "-c", plain, "demo", "--serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Path(process.stdout.readline().removesuffix("\n")), process
        finally:
            process.terminate()
            process.wait(120)


def ask(kubeconfig: Path, path: str) -> Any:
    content = yaml.safe_load(kubeconfig.read_text())
    server = content["clusters"][0]["cluster"]["server"]
    headers = {"Authorization": f"Bearer {content['users'][0]['user']['token']}"}
    with urllib.request.urlopen(urllib.request.Request(server + path, headers=headers)) as answer:
        return json.load(answer)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_serving_prints_the_path_alone_answers_and_ends_when_it_is_told_to(ending: signal.Signals) -> None:
    with served("--scene", "quiet") as (kubeconfig, process):
        assert kubeconfig.name == "kubeconfig"
        assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
        assert [entry.name for entry in kubeconfig.parent.iterdir()] == ["kubeconfig"]
        found = ask(kubeconfig, "/apis/velero.io/v1/schedules")
        assert len(found["items"]) == 5
        process.send_signal(ending)
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out) == (0, "")
        assert "released behaviour" in err
        assert not kubeconfig.parent.exists()


def test_the_flags_of_velero_are_on_its_deployment() -> None:
    with served("--scene", "quiet", "--concurrent-backups", "3", "--schedule-skip-immediately") as (kubeconfig, _):
        deployment = ask(kubeconfig, "/apis/apps/v1/namespaces/openshift-adp/deployments/velero")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert container["args"] == ["server", "--concurrent-backups=3", "--schedule-skip-immediately"]


@pytest.mark.parametrize(("version", "args"), [("1.14", ["server"]), ("1.18.2", ["server", "--concurrent-backups=1"])])
def test_the_version_of_velero_is_on_its_deployment_and_only_newer_ones_have_the_queues_flag(
    version: str, args: list[str]
) -> None:
    with served("--scene", "quiet", "--velero-version", version) as (kubeconfig, _):
        deployment = ask(kubeconfig, "/apis/apps/v1/namespaces/openshift-adp/deployments/velero")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert (container["image"], container["args"]) == (f"velero/velero:v{version}", args)


@pytest.mark.parametrize(("version", "queues"), [("1.14", False), ("1.17", False), ("1.18.3", True)])
def test_a_release_without_a_queue_shows_none_of_its_phases(
    version: str, queues: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--scene", "outage", "--seed", "1", "--velero-version", version]) == 0
    said = capsys.readouterr().out
    assert "Queue (" in said
    assert ("Queued" in said) is queues


@pytest.mark.sweep
def test_without_a_terminal_one_report_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--seed", "3"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("As of 2026-11-15T02:30:23Z\n")
    assert "Schedules (40)" in said
    assert "Queue (" in said
    assert run(["demo", "--seed", "3"]) == 0
    assert capsys.readouterr().out == said, "a seed repeats the scene"


def test_what_cannot_be_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, word in (
            (["--scene", "nope"], "the scenes are default, quiet"),
            (["--speed", "fast"], "'fast' is not a valid float"),
            (["--speed", "0"], "0"),
            (["--concurrent-backups", "0"], "0"),
            (["--sceen", "quiet"], "--scene"),
            (["--velero-version", "newest"], "'newest' is not a valid Velero version"),
            (["--velero-version", "newest", "--serve"], "'newest' is not a valid Velero version"),
            (["--scene", "quiet", "--serve", "--port", port], f"cannot serve on port {port}"),
        ):
            assert run(["demo", *options]) == 2, options
            out, err = capsys.readouterr()
            assert (out, err.count("\n")) == ("", 1), options
            assert word in err


def test_a_demo_has_a_journal_and_acknowledgements_of_its_own_which_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    mine = default_path(os.environ)
    for _ in range(2):
        with own_state():
            other = default_path(os.environ)
            assert other != mine
            assert list(Journal(other).read()) == []
            Journal(other).append(entry(1))
            assert len(list(Journal(other).read())) == 1
        assert default_path(os.environ) == mine
