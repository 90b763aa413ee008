"""`foretop upgrade-check` on manifests, as a person or a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from foretop.cli import run

AT = ("--at", "2026-12-31T23:59:59Z")
CRONS = {
    "both": "0 2 1 * 1",
    "midnight": "0 */24 * * *",
    "evening": "0 22-2 * * *",
    "by-hand": "@manual",
    "plain": "0 3 * * *",
    "zoned": "TZ=Asia/Tokyo 0 3 * * *",
}


def manifest(tmp_path: Path, *names: str, **more: object) -> str:
    path = tmp_path / "schedules.yaml"
    documents = [
        {
            "apiVersion": "velero.io/v1",
            "kind": "Schedule",
            "metadata": {"name": name, "namespace": "velero", "creationTimestamp": "2026-11-01T00:00:00Z"},
            "spec": {"schedule": CRONS[name], "template": {}, **more},
        }
        for name in names
    ]
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def test_every_change_is_reported_with_figures_and_a_replacement(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = manifest(tmp_path, "both", "midnight", "plain")
    assert run(["upgrade-check", "-f", source, "--velero-version", "1.18.2", *AT]) == 1
    output = capsys.readouterr().out.splitlines()
    assert output[:6] == [
        "velero/both   0 2 1 * 1   runs at other times",
        "  Velero 1.18.2: at 02:00 on the 1st of the month and on every Monday",
        "  Velero 1.18.3: at 02:00 on the 1st if it is a Monday",
        "  Runs in the next twelve months: 61 → 3",
        "  First difference: Fri 01 Jan 2027 02:00Z",
        "  Write instead: 0 2 1 * *   and   0 2 * * 1",
    ]
    assert "  Write instead: 0 0 * * *" in output
    assert output[-1] == "2 of 3 schedules change; 1 loses all its backups."


def test_the_items_have_the_documented_fields(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = manifest(tmp_path, "midnight", "plain")
    assert run(["upgrade-check", "-f", source, "--velero-version", "1.18.2", *AT, "-o", "json"]) == 1
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert item == {
        "context": "",
        "kind": "Schedule",
        "namespace": "velero",
        "name": "midnight",
        "schedule": "0 */24 * * *",
        "paused": False,
        "effect": "refused",
        "from": "1.18.2",
        "to": "1.18.3",
        "meaningBefore": "at 00:00 every day",
        "meaningAfter": 'refused: step (24) must be less than range size (24): "*/24"',
        "runsBefore": 365,
        "runsAfter": 0,
        "firstDifference": "2027-01-01T00:00:00Z",
        "instead": ["0 0 * * *"],
        "insteadNote": "",
    }


def test_every_possible_release_is_shown_if_it_is_unknown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = manifest(tmp_path, "zoned", "both")
    assert run(["upgrade-check", "-f", source, *AT, "-o", "json"]) == 1
    printed = capsys.readouterr()
    found = {(item["name"], item["from"], item["effect"]) for item in json.loads(printed.out)["items"]}
    assert found == {("both", "up to 1.18.2", "other-times"), ("zoned", "up to 1.14", "accepted")}
    assert "--velero-version" in printed.err


@pytest.mark.parametrize(
    ("names", "given", "output"),
    [
        (("plain",), ("--velero-version", "1.18.2"), "1 schedule is read the same by Velero 1.18.2 and 1.18.3."),
        (("plain",), (), "1 schedule is read the same by Velero up to 1.18.2 and 1.18.3."),
        (
            ("both", "by-hand"),
            ("--velero-version", "1.15.2", "--to", "1.18.2"),
            "2 schedules are read the same by Velero 1.15.2 and 1.18.2.",
        ),
        (
            ("both", "by-hand"),
            ("--velero-version", "1.18.3"),
            "Nothing changes for 2 schedules: this is already Velero 1.18.3.",
        ),
    ],
)
def test_no_change_is_one_line_and_exit_code_zero(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, names: tuple[str, ...], given: tuple[str, ...], output: str
) -> None:
    assert run(["upgrade-check", "-f", manifest(tmp_path, *names), *given]) == 0
    bugs, _, said = capsys.readouterr().out.rpartition("\n\n")
    assert said == f"{output}\n"
    assert all(" a known bug: " in line for line in bugs.splitlines())


def test_a_paused_schedule_is_reported_as_paused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = manifest(tmp_path, "by-hand", paused=True)
    assert run(["upgrade-check", "-f", source, "--velero-version", "1.18.2"]) == 1
    output = capsys.readouterr().out
    assert "starts a backup every minute   paused: nothing changes until it is unpaused" in output
    assert "Runs in the next twelve months: 0 → 525,600" in output


def test_unreadable_schedules_are_not_counted_as_unchanged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = Path(manifest(tmp_path, "plain"))
    bad = {"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {"name": "x"}, "spec": {"schedule": 7}}
    source.write_text(source.read_text() + "---\n" + yaml.safe_dump(bad))
    assert run(["upgrade-check", "-f", str(source), "--velero-version", "1.18.2"]) == 3
    assert "Schedule" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--to", "newest"), "'newest' is not a valid Velero version"),
        (("--to", "1.18"), "give the patch, such as 1.18.3"),
        (("--velero-version", "one"), "'one' is not a valid Velero version"),
    ],
)
def test_bad_input_is_a_one_line_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, more: tuple[str, ...], says: str
) -> None:
    assert run(["upgrade-check", "-f", manifest(tmp_path, "plain"), *more]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


def test_a_file_without_schedules_cannot_be_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, namespace: b}\nspec: {schedule: '* * * * *'}"
    )
    assert run(["upgrade-check", "-f", str(path)]) == 2
    assert "contains no schedules" in capsys.readouterr().err


def test_known_bugs_and_copies_that_cannot_be_restored_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Restic's volumes are lost by a release after 1.18, whatever becomes of the schedules."""
    source = Path(manifest(tmp_path, "plain"))
    copies = [
        {
            "apiVersion": "velero.io/v1",
            "kind": "PodVolumeBackup",
            "metadata": {"name": name, "namespace": "velero", "labels": {"velero.io/backup-name": "old-1"}},
            "spec": {"uploaderType": uploader, "pod": {"namespace": "shop", "name": "db-0"}, "volume": "data"},
            "status": {"phase": phase},
        }
        for name, uploader, phase in (
            ("a", "restic", "Completed"),
            ("b", "kopia", "Completed"),
            ("c", "restic", "Failed"),
            ("d", "", "Completed"),
        )
    ]
    source.write_text(source.read_text() + "---\n" + yaml.safe_dump_all(copies))

    def checked(to: str, *more: str) -> tuple[int, str]:
        code = run(["upgrade-check", "-f", str(source), "--velero-version", "1.18.0", "--to", to, *more, *AT])
        return code, capsys.readouterr().out

    code, text = checked("1.18.2")
    assert code == 0
    assert "Velero 1.18.2 ends a known bug: a template that has only patterns in excludedNamespaces" in text
    assert "Velero 1.18.2 has a known bug: a backup that was refused keeps its slot" in text
    assert "restic" not in text
    code, text = checked("1.19.0")
    assert code == 1
    assert (
        "Velero 1.19.0 cannot restore volumes that restic copied; 1 backup of today:\n  velero/old-1: 2 volumes of shop"
        in text
    )
    code, text = checked("1.19.0", "-o", "json")
    assert json.loads(text)["lostCopies"] == [
        {"namespace": "velero", "backup": "old-1", "volumes": 2, "namespaces": ["shop"]}
    ]
    assert [bug["issue"] for bug in json.loads(checked("1.18.3", "-o", "json")[1])["knownBugs"]] == [10519, 10241, 9374]
