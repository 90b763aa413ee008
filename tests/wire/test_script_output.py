"""What scripts read: kubectl's output forms, selections, descriptions, metrics and hooks, against the box."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace

from foretop.cli import run
from foretop.commands.finding_sentences import FindingSentences, why_untold
from foretop.commands.live_session import dashboard_state
from foretop.commands.view_rows import RowChange
from foretop.commands.watch import _run as run_hook
from foretop_core.config.settings import ThresholdSettings
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.triage import Finding, aggregated, triage
from foretop_core.session import open_session
from foretop_core.tables.resources.findings import finding_item
from foretop_demo.local_api_server import LocalApiServer
from tests.objects import NOW, backup, location
from tests.tui.fake_source import FilledSource
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS, change, obj

HOOK = {
    "name": "freeze",
    "includedNamespaces": ["shop"],
    "labelSelector": {"matchLabels": {"app": "db"}},
    "pre": [{"exec": {"container": "db", "command": ["/bin/sync"], "onError": "Fail", "timeout": "30s"}}],
}
TEMPLATE = {
    "includedNamespaces": ["shop", "pay"],
    "excludedNamespaces": ["tmp"],
    "ttl": "240h0m0s",
    "storageLocation": "offsite",
    "labelSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold", "silver"]}]},
    "hooks": {"resources": [HOOK]},
    "snapshotMoveData": True,
}
DONE = {
    "phase": "Completed",
    "startTimestamp": "2026-11-15T01:00:00Z",
    "completionTimestamp": "2026-11-15T01:10:00Z",
    "hookStatus": {"hooksAttempted": 2, "hooksFailed": 0},
}
MOVED = {
    "apiVersion": "velero.io/v1",
    "kind": "PodVolumeBackup",
    "metadata": {"name": "done-1", "namespace": "velero", "labels": {"velero.io/backup-name": "done"}},
    "spec": {
        "volume": "pgdata",
        "node": "worker-7",
        "backupStorageLocation": "offsite",
        "pod": {"name": "db-0", "namespace": "shop"},
        "repoIdentifier": "repo",
    },
    "status": {"phase": "Completed", "progress": {"bytesDone": 5_000_000, "totalBytes": 5_000_000}},
}
REFUSED = {
    "type": "Accepted",
    "status": "False",
    "reason": "InvalidBackupSpec",
    "message": "no such location",
    "lastTransitionTime": "2026-11-15T02:00:00Z",
}
MORE = [
    obj("Schedule", "whole", {"schedule": "0 1 * * *", "template": TEMPLATE}, status={"phase": "Enabled"}),
    obj("Backup", "done", TEMPLATE, status=DONE),
    MOVED,
    obj("NonAdminBackup", "no", {"backupSpec": {}}),
    obj("Restore", "running", {"backupName": "done"}, status={"phase": "InProgress"}),
]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread([*OBJECTS, *MORE]) as made:
        url = f"{made.url}/apis/oadp.openshift.io/v1alpha1/namespaces/velero/nonadminbackups/no/status"
        patch = json.dumps({"status": {"phase": "BackingOff", "conditions": [REFUSED]}}).encode()
        head = {"Authorization": f"Bearer {made.token()}", "Content-Type": "application/merge-patch+json"}
        with urlopen(Request(url, patch, head, method="PATCH"), timeout=120) as answer:
            assert answer.status == 200
        yield made


@pytest.fixture
def config(box: LocalApiServer, tmp_path: Path) -> str:
    return kubeconfig(box, tmp_path)


def printed(config: str, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run([*arguments, "--kubeconfig", config]) == code
    captured = capsys.readouterr()
    return captured.err if code == 2 else captured.out


def test_names_are_those_that_kubectl_takes(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(config, capsys, "get", "schedules", "-o", "name").splitlines() == [
        "schedule.velero.io/broken",
        "schedule.velero.io/hourly",
        "schedule.velero.io/whole",
    ]
    assert "nonadminbackup.oadp.openshift.io/orders" in printed(config, capsys, "get", "nab", "-o", "name")
    assert "schedule.velero.io/broken" in printed(config, capsys, "get", "findings", "-o", "name")


def test_rows_are_sorted_by_a_field_and_printed_without_headers(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (".started", "started", "{.started}"):
        head, *rows = printed(config, capsys, "get", "backups", "--sort-by", path).splitlines()
        assert head.split()[0] == "BACKUP"
        assert [row.split()[0] for row in rows] == ["done", "one", "two"]
    assert printed(config, capsys, "get", "backups", "--sort-by", ".started", "--no-headers").startswith("done ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("get", "backups", "-o", "jsonpath={.name}"),
            "'jsonpath={.name}' is not valid for --output; use text, wide, json",
        ),
        (("get", "backups", "-o", "table"), "'table' is not valid for --output; use text, wide"),
        (("get", "backups", "--sort-by", "wind"), "no item has the field wind"),
        (("get", "backups", "--plain"), "--plain goes with findings"),
        (("get", "backups", "--watch", "-o", "name"), "--watch goes with text, wide and json"),
        (("describe", "schedule", "nothing"), "Schedule nothing not found"),
        (("describe", "pod", "x"), "'pod' is not valid for describe; "),
    ],
)
def test_what_cannot_be_printed_is_one_line(
    config: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    (line,) = printed(config, capsys, *arguments, code=2).splitlines()
    assert words in line


def test_a_name_has_no_sign_where_a_script_reads_it(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    for view in ("nar", "queue"):
        found = printed(config, capsys, "get", view)
        assert "orders-back" in found or "running" in found
        assert "↺" not in found


def test_the_reason_of_a_refused_backup_is_a_column(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = printed(config, capsys, "get", "nab").splitlines()
    assert head.split()[-1] == "REASON"
    refused = next(row for row in rows if row.split()[1] == "no")
    assert refused.endswith("InvalidBackupSpec: no such location")


@pytest.mark.sweep
def test_a_schedule_is_described_with_its_template(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(config, capsys, "describe", "schedule", "velero/whole")
    for label, text in (
        ("Cron", "0 1 * * *"),
        ("Namespaces", "shop, pay, without tmp"),
        ("TTL", "10 days (240h0m0s)"),
        ("Storage location", "offsite"),
        ("Selector", "tier in (gold, silver)"),
        ("Hooks", "freeze: before, in shop, app=db: /bin/sync in container db, on error Fail, timeout 30s"),
        ("snapshotMoveData", "true"),
    ):
        assert f"{label:<20} {text}\n" in told
    assert "Conditions" not in told


def test_a_finished_backup_is_described_with_its_volumes_and_hooks(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = printed(config, capsys, "describe", "backup", "done")
    assert "pgdata  Completed on worker-7, 5.0 MB of 5.0 MB (100 %)" in told
    assert f"{'Hooks run':<20} 2 hooks, 0 failed\n" in told
    assert "restore velero/running  InProgress" in told


@pytest.mark.sweep
def test_a_description_has_the_findings(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(config, capsys, "describe", "schedule", "broken")
    assert "Findings\nerror: invalid cron" in told


def test_findings_are_one_sentence_each(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(config, capsys, "get", "findings", "--plain").splitlines()
    assert any(line.startswith("New error: Schedule velero/broken: invalid cron") for line in lines)
    assert all(line.endswith(".") for line in lines)


async def test_a_finding_too_long_for_a_command_does_not_end_the_watch(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    item: dict[str, Any] = dict.fromkeys(("severity", "code", "context", "kind", "namespace", "name"), "x")
    change = RowChange("ADDED", ObjectRef("c", "Schedule", "velero", "s"), {**item, "what": "w" * 300_000})
    await run_hook(f'echo "${{#FORETOP_WHAT}}" > {tmp_path}/length; cat > {tmp_path}/body', change)
    assert (tmp_path / "length").read_text() == "16384\n"
    assert len(json.loads((tmp_path / "body").read_text())["finding"]["what"]) == 300_000
    monkeypatch.setenv("FAR_TOO_LONG", "x" * 200_000)
    await run_hook("true", change)
    assert "The command of --exec cannot be run: Argument list too long" in capfd.readouterr().err


async def test_a_command_that_does_not_end_is_ended_with_all_it_started(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    item: dict[str, Any] = dict.fromkeys(("severity", "code", "context", "kind", "namespace", "name", "what"), "x")
    change = RowChange("ADDED", ObjectRef("c", "Schedule", "velero", "s"), item)
    hook = f"trap '' TERM; sleep 3600 & echo $! > {tmp_path}/helper; exec 9<&0; sleep 3600"
    # A busy machine may take longer to start it.
    for limit in (1.0, 8.0, 64.0):
        await run_hook(hook, change, limit=limit)
        assert capfd.readouterr().err.count(f"The command of --exec was ended: it took more than {limit:g} s") == 1
        if (tmp_path / "helper").exists():
            break
    helper = int((tmp_path / "helper").read_text())
    await until(lambda: has_ended(helper))
    await run_hook(f"cat > {tmp_path}/body", change)
    assert json.loads((tmp_path / "body").read_text())["finding"]["what"] == "x"


async def test_a_command_does_not_outlive_the_watch(tmp_path: Path) -> None:
    item: dict[str, Any] = dict.fromkeys(("severity", "code", "context", "kind", "namespace", "name", "what"), "x")
    change = RowChange("ADDED", ObjectRef("c", "Schedule", "velero", "s"), item)
    started = tmp_path / "started"
    running = asyncio.create_task(run_hook(f"echo $$ > {started}.new; mv {started}.new {started}; sleep 3600", change))
    await until(started.exists)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: has_ended(int(started.read_text())))


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not happened():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.01)


def has_ended(process: int) -> bool:
    """Also where nobody has asked for its exit code yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.sweep
def test_the_command_of_a_watch_that_is_ended_from_outside_ends_with_it(number: signal.Signals, tmp_path: Path) -> None:
    with box_in_thread(OBJECTS) as made:
        started = tmp_path / "started"
        os.mkfifo(started)
        hook = f"sleep 600 & echo $$ $! > {started}; wait"
        # Whoever runs the tests may ignore a SIGHUP, and then this would too.
        plain = f"import signal; signal.signal({number:d}, signal.SIG_DFL); from foretop.cli import main; main()"
        base = [sys.executable, "-c", plain, "--kubeconfig", kubeconfig(made, tmp_path)]
        watch = [*base, "watch", "--existing", "--severity", "error", "--exec", hook]
        with subprocess.Popen(watch) as watching:
            processes = [int(one) for one in started.read_text().split()]
            watching.send_signal(number)
            assert watching.wait(60) == 128 + number
        assert len(processes) == 2
        asyncio.run(until(lambda: all(has_ended(one) for one in processes)))


@pytest.mark.sweep
def test_each_change_of_a_finding_is_a_sentence_and_runs_the_hook(tmp_path: Path) -> None:
    """In processes of their own, with a schedule that is fixed while they watch."""
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "foretop" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("thresholds: {goesAfter: 1s}\n")
    with box_in_thread(OBJECTS) as made:
        base = [sys.executable, "-m", "foretop", "--kubeconfig", kubeconfig(made, tmp_path)]
        sink = tmp_path / "seen"
        hook = f'echo "$FORETOP_EVENT $FORETOP_CODE $FORETOP_NAME" >> {sink}; cat >> {sink}.json'
        watch = [*base, "watch", "--existing", "--once", "--severity", "error", "--exec", hook]
        subprocess.run(watch, check=True, timeout=120)
        assert sink.read_text() == "new schedule-invalid broken\n"
        assert json.loads(Path(f"{sink}.json").read_text())["finding"]["code"] == "schedule-invalid"
        told = [*base, "get", "findings", "--watch", "--plain", "code:schedule-invalid"]
        with subprocess.Popen(told, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            assert watching.stdout.readline().startswith("New error: Schedule velero/broken: invalid cron")
            fixed = '{"spec":{"schedule":"0 3 * * *"},"status":{"phase":"Enabled"}}'
            change(made, tmp_path, fixed, "broken")
            assert watching.stdout.readline() == "Resolved: Schedule velero/broken: invalid cron, makes no backups.\n"
            watching.terminate()


def test_get_describe_and_handover_judge_by_the_configured_limits(config: str) -> None:
    """They judged by foretop's own, whatever the configuration said; the dashboard and the report did not."""
    options = SessionOptions(ConnectionOptions(kubeconfig=config), thresholds=ThresholdSettings(goes_after="1s"))
    state = dashboard_state(open_session(options, os.environ))
    assert state.thresholds.goes_after == timedelta(seconds=1)


def _change(kind: str, finding: Finding) -> RowChange:
    return RowChange(kind, finding.subject, finding_item(finding, NOW))


def _failed(name: str) -> Finding:
    """The finding of a backup of nobody that failed 24 hours ago."""
    ended = "2026-11-14T02:41:07Z"
    failed = backup(name, "Failed", created=ended, started=ended, ended=ended)
    (found,) = triage(assemble([location(), failed]), NOW).findings
    return found


def test_a_finding_is_resolved_only_where_something_has_mended_it() -> None:
    source = FilledSource([location(), backup("kept")])
    sentences = FindingSentences(why_untold(source))
    there = ObjectRef(source.contexts[0], "Backup", "velero", "kept")
    old, mended = _failed("old"), replace(_failed("kept"), subject=there, told_until=None)
    gone = replace(mended, subject=there._replace(name="gone"))
    sentences.of([_change("ADDED", one) for one in (old, mended, gone)])
    assert [line for _, line in sentences.of([_change("DELETED", one) for one in (old, mended, gone)])] == [
        "No longer told: Backup velero/old: failed (too old to be told).",
        "Resolved: Backup velero/kept: failed.",
        "No longer told: Backup velero/gone: failed (it no longer exists).",
    ]


def test_findings_that_become_one_line_or_their_own_again_are_not_told_as_resolved() -> None:
    sentences = FindingSentences(lambda _: "")
    each = [_failed(f"b-{number}") for number in range(4)]
    (line,) = aggregated(each)
    sentences.of([_change("ADDED", one) for one in each])
    together = sentences.of([*(_change("DELETED", one) for one in each), _change("ADDED", line)])
    assert [text.split()[0] for _, text in together] == ["New"]
    apart = sentences.of([_change("DELETED", line), *(_change("ADDED", one) for one in each[:3])])
    assert [text.split()[0] for _, text in apart] == ["New"] * 3
