"""Which Velero serves: what the box shows of it over HTTP, and what a person says of it on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop.cli import run
from foretop_core.cron import Dialect
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.session import open_session
from foretop_demo import LocalApiServer
from foretop_demo.controllers import Flags
from tests.demo.controller_box import ControllerBox
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.http_box import START, state
from tests.wire.test_commands import obj

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OF_BACKUPS = "metadata.name=backups.velero.io"
REQUESTS = "/apis/velero.io/v1/namespaces/velero/serverstatusrequests"
HOME = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}}
BOTH_DAYS = obj("Schedule", "both-days", {"schedule": "0 2 1 * 1", "template": {}}, status={"phase": "Enabled"})
MONDAY, FIRST_AND_MONDAY = "2026-11-16T02:00:00Z", "2027-02-01T02:00:00Z"


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    """No Deployment shows the release, and the one schedule is read in two ways by the releases that have a queue."""
    with box_in_thread([HOME, BOTH_DAYS]) as made:
        yield made


@pytest.fixture
def config(box: LocalApiServer, tmp_path: Path) -> str:
    return kubeconfig(box, tmp_path)


# ── what the box shows ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("version", "queues"), [("1.14", False), ("1.17.2", False), ("1.18.2", True), ("1.18.3", True)]
)
async def test_the_definition_of_backup_tells_whether_there_is_a_queue(version: str, queues: bool) -> None:
    async with state(Flags(version=version)) as at:
        (found,) = (await at.api.get(DEFINITIONS, fieldSelector=OF_BACKUPS)).expect(200)["items"]
        schema = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        status = schema["properties"]["status"]["properties"]
        assert ("queuePosition" in status, "Queued" in status["phase"]["enum"]) == (queues, queues)


async def test_one_definition_can_be_watched_by_its_name() -> None:
    async with state() as at:
        since = await at.api.version_of(DEFINITIONS)
        async with at.api.watching(DEFINITIONS, fieldSelector=OF_BACKUPS, resourceVersion=since) as watch:
            for name in ("schedules.velero.io", "backups.velero.io"):
                await at.patch(f"{DEFINITIONS}/{name}", {"metadata": {"labels": {"seen": "yes"}}})
            event = await watch.next()
        assert (event["type"], event["object"]["metadata"]["name"]) == ("MODIFIED", "backups.velero.io")


async def test_a_server_that_is_asked_answers_with_its_version() -> None:
    async with state(Flags(version="1.17.2")) as at:
        made = await at.post(REQUESTS, "who", {})
        async with at.api.watching(REQUESTS, resourceVersion=made["metadata"]["resourceVersion"]) as watch:
            at.wait(1)
            answered = (await watch.next())["object"]["status"]
        assert (answered["phase"], answered["serverVersion"]) == ("Processed", "v1.17.2")


@pytest.mark.parametrize(
    ("version", "asked", "candidates"),
    [
        ("1.14", True, (Dialect.ROBFIG1,)),
        ("1.17.2", True, (Dialect.ROBFIG,)),
        ("1.18.3", True, (Dialect.NETRESEARCH,)),
        ("1.17.2", False, (Dialect.ROBFIG1, Dialect.ROBFIG)),
        ("1.18.2", False, (Dialect.ROBFIG, Dialect.NETRESEARCH)),
    ],
)
async def test_foretop_sees_the_definition_and_the_answer_of_the_server(
    tmp_path: Path, version: str, asked: bool, candidates: tuple[Dialect, ...]
) -> None:
    table = ControllerBox(START, Flags(version=version))
    table.add_location()
    table.velero.start()
    if asked:
        table.create("ServerStatusRequest", "velero", "who", {})
    table.pass_time(1)
    async with LocalApiServer(table.engine.clock, storage=table.storage) as cluster:
        wishes = SessionOptions(ConnectionOptions(kubeconfig=str(cluster.kubeconfig(tmp_path / "kubeconfig"))))
        session = open_session(wishes, {}, table.manual)
        session.start()
        try:
            await session.settled("minicluster")
            assert session.snapshot("minicluster").verdict("velero").candidates == candidates
        finally:
            await session.stop()


def test_a_command_that_writes_hears_the_answer_of_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = {"phase": "Processed", "serverVersion": "v1.18.3"}
    for asked, readings in (((), 2), ((obj("ServerStatusRequest", "who", {}, status=answered),), 1)):
        with box_in_thread([HOME, BOTH_DAYS, *asked]) as made:
            assert run(["schedule", "pause", "both-days", "--dry-run", "--kubeconfig", kubeconfig(made, tmp_path)]) == 0
        said = capsys.readouterr().out
        assert "1 Feb 2027" in said
        assert ("16 Nov" in said) is (readings == 2)


# ── what a person says ───────────────────────────────────────────────────────────────────────────────────────


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments]) == 0
    (item,) = json.loads(capsys.readouterr().out)["items"]
    found: dict[str, Any] = item
    return found


def test_without_a_word_both_readings_are_told(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    item = listed(capsys, "get", "schedules", "-o", "json", "--kubeconfig", config)
    assert item["nextRun"] is None
    assert [reading["nextRun"] for reading in item["readings"]] == [MONDAY, FIRST_AND_MONDAY]


@pytest.mark.parametrize(
    ("said", "run_at"),
    [
        (("1.18.2",), MONDAY),
        (("v1.18.3",), FIRST_AND_MONDAY),
        (("1.18.3", "minicluster=1.18.2"), MONDAY),
        (("minicluster=1.18.2", "minicluster/velero=1.18.3"), FIRST_AND_MONDAY),
        (("1.18.3", "minicluster/elsewhere=1.18.2"), FIRST_AND_MONDAY),
    ],
)
def test_the_version_given_decides_how_the_schedule_is_read(
    config: str, capsys: pytest.CaptureFixture[str], said: tuple[str, ...], run_at: str
) -> None:
    options = [word for version in said for word in ("--velero-version", version)]
    after = listed(capsys, "get", "schedules", "-o", "json", "--kubeconfig", config, *options)
    before = listed(capsys, *options, "get", "schedules", "-o", "json", "--kubeconfig", config)
    assert after["nextRun"] == before["nextRun"] == run_at
    assert "readings" not in after


@pytest.mark.sweep
def test_the_report_on_a_cluster_and_on_a_file_take_it_too(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump(BOTH_DAYS))
    for source in (("--kubeconfig", config), ("-f", str(file), "--at", "2026-11-15T02:42:00Z")):
        run(["report", "-o", "json", "--velero-version", "1.18.3", *source])
        (item,) = json.loads(capsys.readouterr().out)["schedules"]
        assert item["nextRun"] == FIRST_AND_MONDAY


@pytest.mark.parametrize("command", [("get", "schedules"), ("report",), ("doctor",), ("schedule", "pause", "x", "-y")])
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("newest", "'newest' is not a valid Velero version (give one such as 1.18.2 or 1.18)"),
        ("minicluster=", "'' is not a valid Velero version"),
        ("prod=1.18.2", "--velero-version prod=… does not name a context in use: there are minicluster"),
    ],
)
def test_what_cannot_be_is_one_line_before_any_connection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], said: str, words: str
) -> None:
    with box_in_thread() as made:
        gone = kubeconfig(made, tmp_path)
    assert run([*command, "--kubeconfig", gone, "--velero-version", said]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_a_file_has_no_contexts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(yaml.safe_dump(BOTH_DAYS))
    assert run(["report", "-f", str(file), "--velero-version", "prod=1.18.2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a file has no context: give only the version" in line
