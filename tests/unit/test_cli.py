"""The basic commands, as a person or a script calls them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from foretop.cli import COMMANDS, foretop, run
from foretop.commands.exit_codes import exit_code_table, exit_codes, exit_codes_of
from foretop.commands.help_examples import START_EXAMPLES, example_of
from foretop_core.tables.text.explanations import explanations

ROOT = Path(__file__).parents[2]
SCHEDULES = """
apiVersion: velero.io/v1
kind: ScheduleList
items:
- metadata: {name: hourly, namespace: velero, creationTimestamp: "2026-11-01T00:00:00Z"}
  spec: {schedule: "0 * * * *", template: {}}
  status: {phase: Enabled, lastBackup: "2026-11-15T00:00:03Z"}
- metadata: {name: broken, namespace: velero, creationTimestamp: "2026-11-01T00:00:00Z"}
  spec: {schedule: "0 0 * * 9", template: {}}
  status: {phase: FailedValidation}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep, namespace: team-a}
spec: {schedule: "30 2 * * *", timeZone: Asia/Tokyo}
"""
FROM = ("--from", "2026-11-15T02:41:07Z")
AT = ("--at", "2026-11-15T02:41:07Z")


@pytest.fixture
def manifest(tmp_path: Path) -> str:
    path = tmp_path / "objects.yaml"
    path.write_text(SCHEDULES)
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict:  # type: ignore[type-arg]
    assert run(arguments) == code
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one-line error message; nothing else is printed anywhere."""
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("foretop: ")
    return line


def test_next_prints_the_runs_and_their_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "next", "30 2 * * 1-5", *FROM, "--count", "2", "-o", "json")
    assert output == {
        "expression": "30 2 * * 1-5",
        "zone": "UTC",
        "from": "2026-11-15T02:41:07Z",
        "runs": ["2026-11-16T02:30:00Z", "2026-11-17T02:30:00Z"],
        "description": "at 02:30 on Monday to Friday",
        "note": "",
    }


def test_next_reads_the_given_zone_and_answers_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "next", "0 9 * * *", *FROM, "--tz", "Asia/Tokyo", "--count", "1", "-o", "json")
    assert output["runs"] == ["2026-11-16T00:00:00Z"]
    assert output["zone"] == "Asia/Tokyo"
    # Older releases refuse it.
    own = answer(capsys, "next", "CRON_TZ=Asia/Tokyo 0 9 * * *", *FROM, "--count", "1", "-o", "json", code=3)
    assert own["runs"] == output["runs"]
    assert own["zone"] == "Asia/Tokyo"


def test_next_warns_of_an_expression_that_never_fires(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "next", "0 0 31 2 *", "-o", "json", code=1)
    assert output["runs"] == []
    assert "always due" in output["note"]


def test_next_prints_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["next", "0 3 * * *", *FROM]) == 0
    printed = capsys.readouterr().out
    assert "at 03:00" in printed
    assert "Sun 15 Nov 2026 03:00:00Z   in 18 minutes" in printed


BOTH_DAYS = "0 2 1 * 1"
EITHER, BOTH = "at 02:00 on the 1st of the month and on every Monday", "at 02:00 on the 1st if it is a Monday"


def test_next_prints_each_answer_with_its_releases_if_they_differ(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "next", BOTH_DAYS, *FROM, "--count", "1", "-o", "json")
    assert output["runs"] == ["2027-02-01T02:00:00Z"]
    assert output["readings"] == [
        {"releases": "Velero up to 1.18.2", "description": EITHER, "error": None, "next": ["2026-11-16T02:00:00Z"]},
        {"releases": "Velero 1.18.3 and later", "description": BOTH, "error": None, "next": ["2027-02-01T02:00:00Z"]},
    ]
    assert run(["next", "0 */24 * * *", *FROM, "--count", "1"]) == 3
    assert capsys.readouterr().out.splitlines() == [
        "0 */24 * * *   is read differently by different Velero releases",
        "Velero up to 1.18.2   at 00:00 every day (UTC)",
        "  Mon 16 Nov 2026 00:00:00Z   in 21 hours and 18 minutes",
        'Velero 1.18.3 and later   refused: step (24) must be less than range size (24): "*/24"',
        "Kubernetes reads a CronJob as Velero 1.15 to 1.18.2 does.",
    ]


@pytest.mark.parametrize(("version", "means"), [("1.18.2", EITHER), ("1.14", EITHER), ("1.18.3", BOTH), ("2.0", BOTH)])
def test_next_gives_one_answer_for_a_given_release(
    capsys: pytest.CaptureFixture[str], version: str, means: str
) -> None:
    output = answer(capsys, "next", BOTH_DAYS, *FROM, "--velero-version", version, "-o", "json")
    assert output["description"] == means
    assert "readings" not in output


def test_next_warns_of_a_day_that_does_not_come_within_five_years(capsys: pytest.CaptureFixture[str]) -> None:
    output = answer(capsys, "next", "0 2 29 2 1", *FROM, "--velero-version", "1.18.3", "-o", "json")
    assert output["runs"] == []
    assert "always due" in output["note"]


def test_next_reads_schedules_as_velero_and_cron_jobs_as_kubernetes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "both.yaml"
    path.write_text(
        f"apiVersion: velero.io/v1\nkind: Schedule\nmetadata: {{name: a, namespace: velero}}\n"
        f"spec: {{schedule: '{BOTH_DAYS}', template: {{}}}}\n---\n"
        f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: b, namespace: velero}}\n"
        f"spec: {{schedule: '{BOTH_DAYS}'}}\n"
    )
    schedule, job = answer(capsys, "next", "-f", str(path), *FROM, "-o", "json")["items"]
    assert [reading["description"] for reading in schedule["readings"]] == [EITHER, BOTH]
    assert (job["description"], "readings" in job) == (EITHER, False)
    given = ("--velero-version", "1.18.3")
    schedule, job = answer(capsys, "next", "-f", str(path), *FROM, *given, "-o", "json")["items"]
    assert (schedule["description"], job["description"]) == (BOTH, EITHER)
    assert "readings" not in schedule


def test_next_reads_schedules_and_cron_jobs_from_a_file(capsys: pytest.CaptureFixture[str], manifest: str) -> None:
    output = answer(capsys, "next", "-f", manifest, *FROM, "-o", "json", code=1)
    assert output["kind"] == "List"
    hourly, broken, sweep = output["items"]
    assert hourly["schedule"] == "0 * * * *"
    assert hourly["nextRun"] == "2026-11-15T01:00:00Z"
    assert hourly["runs"][0] == "2026-11-15T03:00:00Z"
    assert broken["nextRun"] is None
    assert "above maximum (7)" in broken["error"]
    assert "readings" not in broken
    assert sweep["runs"][0] == "2026-11-15T17:30:00Z"


def test_yaml_and_json_output_are_equal(capsys: pytest.CaptureFixture[str], manifest: str) -> None:
    as_json = answer(capsys, "report", "-f", manifest, *AT, "-o", "json", code=1)
    assert run(["report", "-f", manifest, *AT, "-o", "yaml"]) == 1
    assert yaml.safe_load(capsys.readouterr().out) == as_json


def test_report_has_the_documented_fields(capsys: pytest.CaptureFixture[str], manifest: str) -> None:
    output = answer(capsys, "report", "-f", manifest, *AT, "-o", "json", code=1)
    assert set(output) == {"at", "servers", "schedules", "queue", "volumes", "findings", "unreadable", "notSeen"}
    broken, hourly = output["schedules"]
    assert hourly == {
        "context": "",
        "kind": "Schedule",
        "namespace": "velero",
        "name": "hourly",
        "phase": "Enabled",
        "state": "overdue",
        "schedule": "0 * * * *",
        "paused": False,
        "skipImmediately": None,
        "lastBackup": "2026-11-15T00:00:03Z",
        "lastBackupName": None,
        "lastBackupPhase": None,
        "lastBackupUnknown": "it is not visible here",
        "lastSkipped": None,
        "nextRun": "2026-11-15T01:00:00Z",
        "nextRunUnknown": None,
        "due": True,
        "expectedStart": None,
        "expectedStartUnknown": "the second at which Velero looks at its schedules is not known",
        "refusal": None,
        "waitsFor": None,
        "lastOutcome": None,
        "lastEndedName": None,
        "lastEndedPhase": None,
        "lastEndedAt": None,
    }
    assert broken["nextRun"] is None
    invalid = next(item for item in output["findings"] if item["code"] == "schedule-invalid")
    assert (invalid["kind"], invalid["namespace"], invalid["name"]) == ("Schedule", "velero", "broken")
    assert {"id", "severity", "since", "evidence", "remedy", "related"} <= set(invalid)


def test_report_without_findings_exits_with_zero(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text(
        "apiVersion: velero.io/v1\nkind: Schedule\n"
        "metadata: {name: a, namespace: velero, creationTimestamp: 2026-11-15T02:00:00Z}\n"
        "spec: {schedule: '@daily'}\nstatus: {phase: Enabled}\n"
    )
    assert run(["report", "-f", str(path), *AT]) == 0
    assert "No problems." in capsys.readouterr().out


def test_report_exits_with_one_where_there_are_only_warnings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "paused.yaml"
    path.write_text(
        "apiVersion: velero.io/v1\nkind: Schedule\n"
        "metadata: {name: a, namespace: velero, creationTimestamp: 2026-10-15T02:00:00Z}\n"
        "spec: {schedule: '@daily', paused: true}\nstatus: {phase: Enabled}\n"
    )
    output = answer(capsys, "report", "-f", str(path), *AT, "-o", "json", code=1)
    assert {finding["severity"] for finding in output["findings"]} == {"warning"}


def test_one_bad_object_is_named_and_the_others_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "half.yaml"
    path.write_text(SCHEDULES.replace('lastBackup: "2026-11-15T00:00:03Z"', "lastBackup: soon"))
    assert run(["next", "-f", str(path), *FROM, "-o", "json"]) == 1
    printed = capsys.readouterr()
    assert [item["name"] for item in json.loads(printed.out)["items"]] == ["broken", "sweep"]
    assert "Schedule velero/hourly cannot be read: status.lastBackup" in printed.err
    output = answer(capsys, "report", "-f", str(path), *AT, "-o", "json", code=1)
    assert len(output["unreadable"]) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["next", "0 0 * * 9"], ["'0 0 * * 9'", "day of week", 'end of range (9) above maximum (7): "9"']),
        (["next", "0 0 * * 7", "--velero-version", "1.18.2"], ["end of range (7) above maximum (6): 7"]),
        (["next", "0 0 * * *", "--velero-version", "new"], ["'new' is not a valid Velero version"]),
        (["next", ""], ["empty spec string"]),
        (["next", "@every 1d"], ["unknown unit"]),
        (["next", "@daily", "--from", "noon"], ["'noon' is not a valid time", "RFC 3339"]),
        (["next", "@daily", "--from", "0001-01-01T00:00:00+14:00"], ["out of range"]),
        (["next", "@daily", "--tz", "Mars/Olympus"], ["'Mars/Olympus' is not a valid time zone"]),
        (["next", "@daily", "--tz", "../etc/passwd"], ["is not a valid time zone"]),
        (["next", "@daily", "--count", "0"], ["0 is not in the range"]),
        (["next"], ["either an expression or -f FILE"]),
        (["next", "@daily", "-f", "x"], ["either an expression or -f FILE"]),
        (["next", "-f", "/no/such/file"], ["/no/such/file cannot be read", "No such file"]),
        (["report", "-f", "/no/such/file"], ["cannot be read"]),
        (["sail"], ["No such command 'sail'"]),
        (["--wind"], ["No such option --wind (see foretop --help)"]),
        (["reprot"], ["No such command 'reprot'; did you mean report? (see foretop --help)"]),
        (["schedule", "pauze"], ["No such command 'pauze'; did you mean pause? (see foretop schedule --help)"]),
        (
            ["schedule"],
            ["Missing command; use cover, create, delete, edit, pause, unpause (see foretop schedule --help)"],
        ),
        (["get", "--contxt", "a"], ["No such option --contxt; did you mean --context? (see foretop get --help)"]),
        (["get", "bakups"], ["foretop: 'bakups' is not valid for get; did you mean backups? (see foretop get --help)"]),
        (["get"], ["foretop: get needs one of findings, triage, schedules"]),
        (["get", "backups", "-o", "jsn"], ["'jsn' is not valid for --output; did you mean json?"]),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    line = refusal(capsys, *arguments)
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"a: [b", "not valid YAML at line 2, column 1"),
        (b"a: \xff", "not UTF-8 text"),
        (b"kind: Secret\napiVersion: v1\n", "kinds that foretop does not read"),
        (b"apiVersion: velero.io/v1\nkind: Schedule\nspec: 5\n", "spec: Expected `object`"),
    ],
)
def test_a_file_with_nothing_to_read_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    assert words in refusal(capsys, "report", "-f", str(path))


def test_control_codes_in_a_file_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "evil.yaml"
    path.write_text(SCHEDULES.replace("name: broken", 'name: "bro\\e[31mken\\r"'))
    run(["report", "-f", str(path), *AT])
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\r" not in printed.out
    assert "bro" in printed.out


def test_standard_input_is_read_for_a_dash(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(SCHEDULES))
    assert len(answer(capsys, "next", "-f", "-", "-o", "json", code=1)["items"]) == 3


def test_version_and_help_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("foretop ")
    assert run(["--help"]) == 0
    assert "doctor" in capsys.readouterr().out


def every_command() -> Iterator[tuple[str, click.Command]]:
    """All commands and their subcommands, by the words that a person types."""
    for name in COMMANDS:
        command = foretop.get_command(click.Context(foretop), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {verb}", inner) for verb, inner in command.commands.items())


def test_no_command_has_an_option_twice() -> None:
    for name, command in every_command():
        spellings = [word for param in command.params for word in (*param.opts, *param.secondary_opts)]
        assert len(spellings) == len(set(spellings)), name
        names = [param.name for param in command.params]
        assert len(names) == len(set(names)), name


def test_the_help_of_every_command_has_its_own_options_before_those_of_all() -> None:
    for name, command in [("foretop", foretop), *every_command()]:
        own, title, of_all = command.get_help(click.Context(command, info_name=name)).partition("\nConnection options:")
        assert "--kubeconfig" not in own, name
        assert "--help " in own, name
        assert "Commands:" not in of_all, name
        assert bool(title) is any("--kubeconfig" in param.opts for param in command.params), name


def test_every_command_has_an_example_that_it_understands() -> None:
    commands = {name: command for name, command in every_command() if not isinstance(command, click.Group)}
    for name, example in ((name, example_of(command)) for name, command in commands.items()):
        assert example, name
        typed = re.sub(r"^source <\((.*)\)$|\s+>.*$", r"\1", example)
        words = shlex.split(typed)
        assert words[: 1 + len(name.split())] == ["foretop", *name.split()]
        commands[name].make_context(name, words[1 + len(name.split()) :])
        assert example in commands[name].get_help(click.Context(commands[name], info_name=name))


def test_the_help_begins_with_examples_that_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    printed = capsys.readouterr().out
    for example in START_EXAMPLES.values():
        assert example in printed
        foretop.make_context("foretop", shlex.split(example)[1:])


@pytest.mark.parametrize("topic", list(explanations()))
def test_a_topic_names_commands_and_topics_that_are_there(topic: str) -> None:
    see = explanations()[topic].body.partition("See: ")[2]
    assert set(re.findall(r"foretop ([a-z-]+)", see)) <= set(COMMANDS)
    for named in re.findall(r"the topics? ([a-z]+(?: and [a-z]+)?)", see):
        assert set(named.split(" and ")) <= set(explanations())


def test_the_manual_page_has_every_command_topic_and_exit_code() -> None:
    page = subprocess.run(
        [sys.executable, ROOT / "packaging" / "manual_page.py"], capture_output=True, text=True, check=True
    ).stdout
    plain = page.replace("\\-", "-")
    assert page.startswith(".TH FORETOP 1")
    for name, _ in every_command():
        assert f".SS foretop {name}" in plain
    for explanation in explanations().values():
        assert f".SH {explanation.title.upper()}" in plain
    for codes in exit_codes():
        assert codes.line in plain
    assert all(re.match(r"\.(TH|SH|SS|PP|TP|B|nf|fi)\b", line) for line in page.splitlines() if line.startswith("."))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("30 2 * * *", "--velero-version", "1.18.3"), 0),
        (("0 0 30 2 *", "--velero-version", "1.18.3"), 1),
        (("0 2 1 * 1",), 0),
        (("TZ=Europe/Berlin 30 2 * * *",), 3),
        (("0 5 * * 7",), 3),
        (("70 * * * *",), 2),
    ],
)
def test_next_says_by_its_exit_code_whether_it_runs(arguments: tuple[str, ...], code: int) -> None:
    assert run(["next", *arguments]) == code


def test_every_help_has_the_exit_codes_of_its_command() -> None:
    for name, command in every_command():
        codes = exit_codes_of(name)
        told = " ".join(command.get_help(click.Context(command, info_name=name)).split())
        assert ("Exit codes: " in told) is (codes is not None), name
        assert codes is None or f"Exit codes: {codes.line}." in told, name


def test_the_manual_has_the_exit_codes() -> None:
    assert set(exit_code_table()) <= set((ROOT / "docs" / "manual.md").read_text().splitlines())
    named = {command for codes in exit_codes() for command in codes.commands} - {"every command"}
    assert {command.split()[0] for command in named} == set(COMMANDS) - {"demo", "completion"}
    assert {command for command in named if " " in command} <= {name for name, _ in every_command()}
