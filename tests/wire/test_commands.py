"""The commands that look at a cluster, called as a person calls them, against the cluster in a box."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.boxes import box_in_thread, kubeconfig, living_box

READER = User("reader", (Rule(("get", "list", "watch"), ("velero.io",), ("schedules", "backups")),))
NOBODY = User("nobody")


def obj(kind: str, name: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    group = "oadp.openshift.io/v1alpha1" if kind.startswith("NonAdmin") else "velero.io/v1"
    meta = {"name": name, "namespace": "velero", "creationTimestamp": "2026-11-01T00:00:00Z"}
    return {"apiVersion": group, "kind": kind, "metadata": meta, "spec": spec, **more}


VELERO = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "velero", "namespace": "velero"},
    "spec": {
        "selector": {"matchLabels": {"app": "velero"}},
        "template": {
            "metadata": {"labels": {"app": "velero"}},
            "spec": {
                "containers": [
                    {
                        "name": "velero",
                        "image": "velero/velero:v1.18.3",
                        "args": ["server", "--schedule-skip-immediately", "--concurrent-backups=2"],
                    }
                ]
            },
        },
    },
}
OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    VELERO,
    obj("Schedule", "hourly", {"schedule": "0 * * * *", "template": {}}, status={"phase": "Enabled"}),
    obj("Schedule", "broken", {"schedule": "0 0 * * 8", "template": {}}, status={"phase": "FailedValidation"}),
    obj(
        "Backup",
        "one",
        {"includedNamespaces": ["a"]},
        status={"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"},
    ),
    obj("Backup", "two", {"includedNamespaces": ["a"]}, status={"phase": "Queued", "queuePosition": 1}),
    obj("Restore", "back", {"backupName": "one"}, status={"phase": "Completed"}),
    obj("NonAdminBackup", "orders", {"backupSpec": {}}),
    obj("NonAdminRestore", "orders-back", {"restoreSpec": {"backupName": "orders"}}),
]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS, [READER, NOBODY]) as made:
        yield made


@pytest.fixture
def config(box: LocalApiServer, tmp_path: Path) -> str:
    return kubeconfig(box, tmp_path)


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("schedules", ["broken", "hourly"]),
        ("backups", ["one", "two"]),
        ("restores", ["back"]),
        ("nab", ["orders"]),
        ("nar", ["orders-back"]),
        ("queue", ["one", "two"]),
    ],
)
def test_get_lists_the_items_of_a_view(
    config: str, capsys: pytest.CaptureFixture[str], what: str, names: list[str]
) -> None:
    assert run(["get", what, "--kubeconfig", config, "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "List"
    assert sorted(item["name"] for item in told["items"]) == names
    assert all(item["context"] == "minicluster" and "kind" in item for item in told["items"])


def test_options_are_taken_before_the_subcommand_too(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--kubeconfig", config, "get", "schedules"]) == 0
    printed = capsys.readouterr().out
    assert "hourly" in printed
    assert "CRON" in printed


def test_a_filter_keeps_what_fits(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "schedules", "phase:FailedValidation", "--kubeconfig", config, "-o", "json"]) == 0
    assert [item["name"] for item in json.loads(capsys.readouterr().out)["items"]] == ["broken"]


def test_findings_name_the_object_in_the_apis_spelling(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "findings", "--kubeconfig", config, "-o", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["items"]
    assert ("Schedule", "broken", "schedule-invalid") in {(item["kind"], item["name"], item["code"]) for item in found}


def test_the_report_of_a_cluster_has_an_exit_code_for_scripts(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--kubeconfig", config, "-o", "json"]) == 1
    assert [item["name"] for item in json.loads(capsys.readouterr().out)["queue"]] == ["one", "two"]


def test_not_everything_seen_is_told_apart_from_nothing_wrong(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = kubeconfig(box, tmp_path, "nobody")
    assert run(["report", "--kubeconfig", mine, "-o", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["notSeen"] != []


@pytest.mark.sweep
def test_the_doctor_finds_all_there(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--kubeconfig", config, "-o", "json"]) == 0
    checks = {item["about"]: item for item in json.loads(capsys.readouterr().out)["items"]}
    assert checks["schedules.velero.io"]["verdict"] == "ok"
    assert checks["patch schedules.velero.io"]["verdict"] == "ok"
    assert "version 1.18.3" in checks["Velero"]["found"]
    assert "--schedule-skip-immediately=true, --concurrent-backups=2" in checks["Velero"]["found"]


@pytest.mark.sweep
def test_the_doctor_names_the_right_that_is_missing(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--kubeconfig", kubeconfig(box, tmp_path, "reader"), "-o", "json"]) == 1
    checks = {item["about"]: item for item in json.loads(capsys.readouterr().out)["items"]}
    assert checks["schedules.velero.io"]["verdict"] == "ok"
    storage = checks["backupstoragelocations.velero.io"]
    assert storage["verdict"] == "missing"
    assert storage["found"].startswith("get, list and watch are not allowed in ")
    assert "list and watch on backupstoragelocations.velero.io" in storage["remedy"]


@pytest.mark.sweep
def test_the_doctor_asks_for_no_right_to_a_deployment_that_does_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = obj("BackupStorageLocation", "default", {"provider": "aws", "objectStorage": {"bucket": "b"}})
    with box_in_thread([*(one for one in OBJECTS if one is not VELERO), storage], []) as box:
        run(["doctor", "--kubeconfig", kubeconfig(box, tmp_path), "-o", "json"])
    (velero,) = [item for item in json.loads(capsys.readouterr().out)["items"] if item["about"] == "Velero"]
    assert "no Deployment velero exists" in velero["found"]
    assert velero["remedy"] == "give the release with --velero-version"


def test_no_token_is_ever_printed(box: LocalApiServer, config: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--kubeconfig", config])
    run(["get", "findings", "--kubeconfig", config])
    printed = capsys.readouterr()
    assert box.token() not in printed.out + printed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["get", "schedules", "--kubeconfig", "/no/such"], "Cannot read the kubeconfig /no/such"),
        (["get", "sails"], "'sails' is not valid for get; use findings, triage, schedules"),
        (["doctor", "--kubeconfig", "/no/such"], "Cannot read the kubeconfig"),
    ],
)
def test_bad_connections_are_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


def test_an_unknown_context_names_those_there_are(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "schedules", "--kubeconfig", config, "--context", "prod"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "minicluster" in line


def test_a_cluster_that_is_gone_is_one_line_for_get_and_two_for_the_doctor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with box_in_thread() as made:
        gone = kubeconfig(made, tmp_path)
    assert run(["get", "schedules", "--kubeconfig", gone]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "connection refused" in line
    assert run(["doctor", "--kubeconfig", gone]) == 3


@pytest.mark.parametrize(
    "command",
    [("report",), ("forecast",), *(command for commands in samples("JUDGING") for command in commands)],
)
def test_of_a_cluster_that_does_not_answer_nothing_is_judged(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with box_in_thread() as made:
        gone = kubeconfig(made, tmp_path)
    assert run([*command, "--kubeconfig", gone]) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "connection refused" in line


@pytest.mark.parametrize(
    "command", [("forecast", "--hours", "1"), ("whatif", "--concurrent-backups", "3", "--hours", "1")]
)
def test_a_night_is_not_judged_where_what_it_is_foreseen_from_cannot_be_seen(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its storage may be refusing everything."""
    with box_in_thread(OBJECTS[:3], [READER]) as made:
        assert run([*command, "--kubeconfig", kubeconfig(made, tmp_path)]) == 0
        assert "Not visible" not in capsys.readouterr().out
        mine = kubeconfig(made, tmp_path, "reader")
        assert run([*command, "--velero-namespace", "velero", "--kubeconfig", mine]) == 3
        assert "Not visible: minicluster BackupStorageLocation (not allowed" in capsys.readouterr().out
        assert run([*command, "--velero-namespace", "velero", "--kubeconfig", mine, "-o", "json"]) == 3
        (gap,) = json.loads(capsys.readouterr().out)["notSeen"]
        assert gap["kind"] == "BackupStorageLocation"


def test_a_bad_filter_is_one_line(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "schedules", "wind:north", "--kubeconfig", config]) == 2
    assert "'wind' is not a field here" in capsys.readouterr().err


@pytest.mark.sweep
def test_watching_prints_all_that_is_there_and_then_each_change(tmp_path: Path) -> None:
    """In a process of its own, read line by line: what a script would do."""
    with box_in_thread(OBJECTS) as made:
        command = [
            sys.executable,
            "-m",
            "foretop",
            "get",
            "schedules",
            "--watch",
            "-o",
            "json",
            "--kubeconfig",
            kubeconfig(made, tmp_path),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
            assert watching.stdout is not None
            first = [json.loads(watching.stdout.readline()) for _ in range(2)]
            assert {(event["type"], event["object"]["name"]) for event in first} == {
                ("ADDED", "broken"),
                ("ADDED", "hourly"),
            }
            change(made, tmp_path, '{"spec":{"paused":true}}')
            event = json.loads(watching.stdout.readline())
            assert (event["type"], event["object"]["paused"]) == ("MODIFIED", True)
            watching.terminate()


def change(box: LocalApiServer, folder: Path, patch: str, name: str = "hourly") -> None:
    from urllib.request import Request, urlopen

    url = f"{box.url}/apis/velero.io/v1/namespaces/velero/schedules/{name}"
    head = {"Authorization": f"Bearer {box.token()}", "Content-Type": "application/merge-patch+json"}
    with urlopen(Request(url, patch.encode(), head, method="PATCH"), timeout=120) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("who", "arguments", "said"),
    [
        ("admin", ("queue", "-n", "default"), "Nothing in default. Velero's objects are in its own namespace"),
        ("reader", ("restores",), "Nothing visible. Not visible: Restore (not allowed in default)."),
    ],
)
def test_get_says_no_more_than_it_knows_when_there_are_no_rows(
    box: LocalApiServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    who: str,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    run(["get", *arguments, "--kubeconfig", kubeconfig(box, tmp_path, who)])
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("what", ["schedules", "nab", "findings"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_get_in_a_namespace_that_does_not_exist_is_an_error_of_one_line(
    config: str, capsys: pytest.CaptureFixture[str], what: str, form: str
) -> None:
    assert run(["get", what, "-n", "nosuchns", "--kubeconfig", config, "-o", form]) != 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "foretop: Namespace nosuchns does not exist\n"


def test_a_report_on_a_team_looks_at_velero_too(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(["report", "-n", "default", "--kubeconfig", config, "-o", "json"])
    assert {item["namespace"] for item in json.loads(capsys.readouterr().out)["schedules"]} == {"velero"}


@pytest.mark.sweep
def test_a_team_s_namespace_alone_gives_the_same_answers_as_the_whole_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Velero is down: neither is there no problem, nor does the team's backup wait for its turn."""
    with living_box("dead", tmp_path, 1) as (_, there):
        team = ("-n", "team-shop", "--kubeconfig", there)
        assert "down: pod in CrashLoopBackOff" in _said(capsys, "get", "findings", "--plain", *team)
        (row,) = json.loads(_said(capsys, "get", "nab", "-o", "json", *team))["items"]
        assert (row["namespace"], row["name"], row["veleroPhase"]) == ("team-shop", "carts", "New")
        assert row["severity"] == "warning", "it has a sign on the screen"
        assert "not picked up" in _said(capsys, "get", "nab", *team)
        described = _said(capsys, "describe", "nab", "carts", *team)
        assert "Velero has not picked it up: no sign of activity" in described
        assert "Namespaces           team-shop" in described
        assert run(["describe", "schedule", "mail-hourly", *team]) == 2, "others' objects stay out of it"


def test_a_report_on_two_clusters_names_the_cluster_of_every_line(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both have a schedule of the same name, and only one answer about it is theirs."""
    both = tmp_path / "both"
    text = Path(config).read_text()
    again = (
        text.partition("contexts:\n")[2].partition("current-context:")[0].replace("  name: minicluster", "  name: west")
    )
    both.write_text(text.replace("contexts:\n", f"contexts:\n{again}", 1))
    told = _said(capsys, "report", "--kubeconfig", str(both), "--context", "west", "--context", "minicluster")
    for context in ("west", "minicluster"):
        assert f"✗ error  {context}: schedule velero/broken: " in told
        rows = [line.split()[:2] for line in told.splitlines() if line.split()[:1] == [context]]
        assert [context, "velero/broken"] in rows
        assert [context, "▶"] in rows
    alone = _said(capsys, "report", "--kubeconfig", config)
    assert "✗ error  schedule velero/broken: " in alone
    assert "CONTEXT" not in alone


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run([*arguments])
    return capsys.readouterr().out
