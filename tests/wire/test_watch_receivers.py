"""`foretop watch --webhook` and `--alertmanager`: each change arrives, also after a while in which nobody took it."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop.commands.view_rows import RowChange
from foretop.commands.watch_receivers import Alertmanager, Receiver
from foretop_core.models.wire import ObjectRef
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import SimulatedCluster
from tests.http_answers import answering, echoing
from tests.wire.boxes import living_box

Got = queue.Queue[tuple[str, str, Any]]


@contextmanager
def taking(statuses: Sequence[int] = ()) -> Iterator[tuple[str, Got]]:
    """A server on loopback that answers so, and then 200; with all that it got: path, authorization and JSON."""
    got: Got = queue.Queue()
    coming = iter(statuses)

    def answer(path: str, authorization: str, body: bytes) -> tuple[int, bytes]:
        got.put((path, authorization, json.loads(body)))
        return next(coming, 200), b""

    with answering(answer) as url:
        yield url, got


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def box(tmp_path: Path) -> Iterator[SimulatedCluster]:
    with living_box("quiet", tmp_path, 1.0) as (made, _):
        broken = {"spec": {"schedule": "61 * * * *", "template": {}}, "metadata": {"name": "broken", "namespace": HOME}}
        made.storage.create(made.storage.kind("Schedule"), broken)
        yield made


@contextmanager
def watching(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "foretop",
        "watch",
        "--kubeconfig",
        str(folder / "kubeconfig"),
        "--existing",
        *words,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": str(folder)}
    ) as one:
        try:
            yield one
        finally:
            one.kill()


def until(got: Got, code: str) -> dict[str, Any]:
    """The next change of a finding of this code."""
    while True:
        _, _, body = got.get(timeout=60)
        if body.get("finding", {}).get("code") == code:
            return dict(body)


@pytest.mark.usefixtures("box")
def test_a_webhook_gets_each_change_until_it_takes_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-the-webhook\n")
    # Refused for good is not sent again; anything else is, a redirect too, which nobody follows.
    with (
        taking([401, 302]) as (url, got),
        watching(tmp_path, "--webhook", f"{url}/hook?sig=canary", "--token-file", str(tmp_path / "token")) as one,
    ):
        path, authorization, first = got.get(timeout=60)
        assert (path, authorization) == ("/hook?sig=canary", "Bearer of-the-webhook")
        assert got.get(timeout=60)[2] == got.get(timeout=60)[2] == first
        assert (first["event"], first["finding"]["code"]) == ("new", "schedule-invalid")
        one.send_signal(signal.SIGTERM)
        assert one.wait(30) == 128 + signal.SIGTERM
        assert one.stderr is not None
        told = one.stderr.read()
        assert "HTTP 401" in told
        assert "canary" not in told


def test_what_a_receiver_sends_back_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    with echoing() as url, pytest.raises(TimeoutError):
        asyncio.run(delivered(Alertmanager(url, "canary"), 1.0))
    told = capsys.readouterr().err
    assert "its answer is cut off, or no HTTP" in told
    assert "canary" not in told


async def delivered(receiver: Receiver, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        await receiver.deliver()


@pytest.mark.usefixtures("box")
def test_alertmanager_gets_all_that_stands_and_a_heartbeat(tmp_path: Path) -> None:
    with taking() as (url, got), watching(tmp_path, "--alertmanager", url):
        while True:
            path, _, alerts = got.get(timeout=60)
            assert path == "/api/v2/alerts"
            assert alerts[0]["labels"] == {"alertname": "ForetopWatching", "severity": "none"}
            if len(alerts) > 1:
                break
        (alert,) = [one for one in alerts if one["labels"].get("code") == "schedule-invalid"]
        assert alert["labels"]["alertname"] == "ForetopScheduleInvalid"
        assert (alert["labels"]["severity"], alert["labels"]["name"]) == ("critical", "broken")
        of_the_mixin = {"velero_namespace": HOME, "schedule": "broken"}
        assert alert["labels"].items() >= of_the_mixin.items(), "one route fits both"
        assert "endsAt" not in alert


@pytest.mark.parametrize(
    ("since", "starts"), [("2020-01-01T00:00:00Z", True), ("9999-01-01T00:00:00Z", False), (None, False)]
)
def test_an_alert_does_not_start_after_it_has_ended(since: str | None, starts: bool) -> None:
    words = dict.fromkeys(("id", "context", "kind", "namespace", "name", "subject", "what", "evidence", "remedy"), "x")
    item = {**words, "code": "one-code", "severity": "error", "since": since, "acknowledged": None}
    with taking() as (url, got):
        receiver = Alertmanager(url, "")
        for change in ("ADDED", "DELETED"):
            receiver.take(RowChange(change, ObjectRef("c", "Schedule", "x", "x"), item))
        with pytest.raises(TimeoutError):
            asyncio.run(delivered(receiver, 1.0))
        _, alert = got.get(timeout=60)[2]
    assert ("startsAt" in alert) is starts
    assert alert["endsAt"]


@pytest.mark.sweep
def test_both_are_told_when_it_is_over(box: SimulatedCluster, tmp_path: Path) -> None:
    with (
        taking() as (hook, told),
        taking() as (manager, alerts),
        watching(tmp_path, "--webhook", hook, "--alertmanager", manager),
    ):
        assert until(told, "schedule-invalid")["event"] == "new"
        box.storage.delete(box.storage.kind("Schedule"), HOME, "broken")
        assert until(told, "schedule-invalid")["event"] in ("resolved", "untold")
        while True:
            _, _, standing = alerts.get(timeout=60)
            if any("endsAt" in one for one in standing if one["labels"].get("code") == "schedule-invalid"):
                break


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--webhook", "hook.example/x"), "hook.example/x is not an address of a receiver"),
        (("--alertmanager", "ftp://a:canary@h/x"), "is not an address of a receiver"),
        (("--webhook", "http://[::1"), "http://[::1 is not an address of a receiver"),
        (("--webhook", f"http://{'x' * 70}.example"), "is not an address of a receiver"),
        (("--alertmanager", "http://a:canary@h", "--token-file", "token"), "has a user, and there is a token"),
        (("--webhook", "http://h", "--token-file", "two-lines"), "two-lines has no token: it is more than one word"),
        (("--webhook", "http://h", "--once"), "--once is for --exec and for what is printed"),
        (("--webhook", "http://h", "--token-file", "/nowhere"), "Cannot read /nowhere"),
    ],
)
def test_bad_input_is_one_line(
    words: tuple[str, ...],
    error: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("token").write_text("canary")
    Path("two-lines").write_text("canary\ncanary\n")
    assert run(["watch", *words]) == 2
    told = capsys.readouterr().err
    assert error in told
    assert "canary" not in told
