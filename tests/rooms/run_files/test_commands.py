"""`foretop backup logs` and `foretop backup results` against a box."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foretop.cli import run
from tests.wire.test_actions_live import followed, living


def test_the_log_of_a_backup_is_searched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living("maintenance", tmp_path, 600.0) as config:
        at = ("--kubeconfig", config)
        create = ("create", "mine", "--from-schedule", "wiki-nightly", "--yes", "--wait", "-o", "json")
        assert run(["backup", *create, *at]) == 0
        assert followed(capsys).startswith("mine: Completed")
        assert run(["backup", "logs", "mine", "--search", "STARTING backup", *at]) == 0
        assert 'msg="Starting backup" backup=openshift-adp/mine' in capsys.readouterr().out


def test_what_failed_is_read_by_a_person_and_by_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with living("default", tmp_path, 1.0) as config:
        at = ("--kubeconfig", config)
        assert run(["get", "backups", "metrics-hourly", "phase:PartiallyFailed", "-o", "json", *at]) == 0
        name = json.loads(capsys.readouterr().out)["items"][0]["name"]
        assert run(["backup", "results", name, "-o", "json", *at]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["kind"], told["name"], told["errors"], told["warnings"]) == ("Backup", name, 3, 1)
        assert [one["severity"] for one in told["problems"]] == ["error"] * 3 + ["warning"]
        assert {"scope": "cluster", "namespace": "", "resource": "persistentvolumes"}.items() <= told["problems"][
            0
        ].items()
        assert run(["backup", "results", name, *at]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"openshift-adp/{name}: PartiallyFailed, 3 errors and 1 warning\n\nErrors:\n")
        assert "  namespace metrics\n    persistentvolumeclaims/data-metrics-0  Error backing up item: " in printed
        assert run(["backup", "results", name, "--read-only", *at]) == 3
        assert "read-only is on" in capsys.readouterr().err
        assert run(["get", "backups", "phase:Completed", "-o", "json", *at]) == 0
        clean = next(one for one in json.loads(capsys.readouterr().out)["items"] if not one.get("warnings"))["name"]
        assert run(["backup", "results", clean, "-o", "json", "--read-only", *at]) == 0
        assert json.loads(capsys.readouterr().out)["problems"] is None
