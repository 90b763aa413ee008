"""An upgrade checked against a cluster: `foretop upgrade-check`, and what the doctor says of cron."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_demo.access import User
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import VELERO, obj

NOBODY = User("nobody")


def velero(image: str) -> dict[str, Any]:
    made = deepcopy(VELERO)
    made["spec"]["template"]["spec"]["containers"][0]["image"] = image  # type: ignore[index]
    return made


def objects(image: str) -> list[dict[str, Any]]:
    crons = {"both": "0 2 1 * 1", "midnight": "0 */24 * * *", "plain": "0 3 * * *"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
        velero(image),
        *(obj("Schedule", name, {"schedule": cron, "paused": True, "template": {}}) for name, cron in crons.items()),
    ]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(objects("velero/velero:v1.18.2"), [NOBODY]) as made:
        yield made


@pytest.fixture
def config(box: LocalApiServer, tmp_path: Path) -> str:
    return kubeconfig(box, tmp_path)


def cron_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    run(["doctor", "-o", "json", *arguments])
    (line,) = [item for item in json.loads(capsys.readouterr().out)["items"] if item["about"] == "cron"]
    return line  # type: ignore[no-any-return]


@pytest.mark.sweep
def test_the_release_of_a_cluster_is_found_and_its_changes_told(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["upgrade-check", "--kubeconfig", config, "-o", "json"]) == 1
    items = json.loads(capsys.readouterr().out)["items"]
    assert [(item["context"], item["name"], item["from"], item["effect"]) for item in items] == [
        ("minicluster", "both", "1.18.2", "other-times"),
        ("minicluster", "midnight", "1.18.2", "refused"),
    ]


def test_a_server_that_has_the_release_already_changes_nothing(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["upgrade-check", "--kubeconfig", config, "--velero-version", "1.18.3"]) == 0
    bugs, _, said = capsys.readouterr().out.rpartition("\n\n")
    assert said == "Nothing changes for 3 schedules: this is already Velero 1.18.3.\n"
    assert all(line.startswith("Velero 1.18.3 has a known bug: ") for line in bugs.splitlines())


def test_schedules_that_may_not_be_seen_are_not_taken_for_unchanged(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["upgrade-check", "--kubeconfig", kubeconfig(box, tmp_path, "nobody"), "-o", "json"]) == 3
    assert json.loads(capsys.readouterr().out)["notSeen"] != []


def test_the_doctor_says_which_dialect_and_why_and_what_the_newest_changes(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = cron_line(capsys, "--kubeconfig", config)
    assert line["verdict"] == "note"
    assert "Velero 1.15 to 1.18.2 (robfig/cron v3.0.1), because of the tag 1.18.2 of its image" in line["found"]
    assert "An upgrade to 1.18.3 changes 2 of 3 schedules" in line["found"]
    assert "upgrade-check" in line["remedy"]


@pytest.mark.sweep
def test_the_doctor_takes_a_given_version_over_the_image_and_names_the_contradiction(
    config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = cron_line(capsys, "--kubeconfig", config, "--velero-version", "minicluster=1.18.3")
    assert "because of --velero-version 1.18.3; against that: the tag 1.18.2 of its image" in line["found"]
    assert (line["verdict"], line["remedy"]) == ("note", "")


@pytest.mark.sweep
def test_the_doctor_asks_for_the_release_where_it_is_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with box_in_thread(objects("velero/velero@sha256:0123")) as made:
        line = cron_line(capsys, "--kubeconfig", kubeconfig(made, tmp_path))
    assert "netresearch/go-cron v0.15.0" in line["found"]
    assert line["remedy"].startswith("give the release with --velero-version")
