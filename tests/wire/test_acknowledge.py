"""Findings acknowledged on the command line, against the box: what counts, what is listed, and what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_core.models.kinds import ACKNOWLEDGEMENTS
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.action_fixtures import Wire, wire
from tests.wire.command_fixtures import BLIND, READER, Foretop, box, foretop, home
from tests.wire.test_commands import VELERO

__all__ = ["box", "foretop", "home", "wire"]
NIGHTLY = "schedule/velero/nightly"
OVERDUE = "schedule-overdue:Schedule/velero/nightly:unknown"
WHY = ("--reason", "the bucket is being moved")


def findings(capsys: pytest.CaptureFixture[str], foretop: Foretop) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    foretop("get", "findings", "-o", "json")
    return {item["id"]: item for item in json.loads(capsys.readouterr().out)["items"]}


def entries(box: LocalApiServer) -> dict[str, Any]:
    """What the ConfigMap holds, by id of the finding."""
    held = box.storage.find(box.storage.kind("ConfigMap"), "velero", ACKNOWLEDGEMENTS)
    found = [json.loads(text) for text in ((held or {}).get("data") or {}).values()]
    return {one["finding"]: one for one in found}


def test_what_is_acknowledged_is_listed_as_such_and_taken_back(
    foretop: Foretop, box: LocalApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    before = box.storage.get(box.storage.kind("Schedule"), "velero", "nightly")
    assert foretop("acknowledge", NIGHTLY, "--for", "shift", *WHY, "--yes") == 0
    assert "everybody sees until 06:00:00Z that this is known: overdue" in capsys.readouterr().out
    assert box.storage.get(box.storage.kind("Schedule"), "velero", "nightly") == before, "nothing is on the object"
    known = {key: item["acknowledged"] for key, item in findings(capsys, foretop).items() if item["acknowledged"]}
    assert known == {
        OVERDUE: {
            "by": "admin",
            "at": "2026-11-15T02:41:07Z",
            "until": "2026-11-15T06:00:00Z",
            "reason": "the bucket is being moved",
        }
    }
    foretop("get", "findings")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "nightly " in line]
    assert line.endswith("by admin until 06:00:00Z: the bucket is being moved")
    assert foretop("acknowledge", "schedule/gold-1", *WHY, "--yes") == 0
    assert len(entries(box)) == 2
    assert foretop("unacknowledge", NIGHTLY, "--yes") == 0
    assert [one for one in entries(box) if "nightly" in one] == []
    assert [key for key, item in findings(capsys, foretop).items() if item["acknowledged"]] == list(entries(box))


def test_a_report_says_everything_and_with_acknowledged_what_is_known_does_not_count(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("nightly", "gold-1", "gold-2"):
        assert foretop("acknowledge", f"schedule/{name}", "--for", "change", *WHY, "--yes") == 0
    capsys.readouterr()
    assert foretop("report", "-o", "json") == 1
    whole = json.loads(capsys.readouterr().out)
    assert "acknowledged" not in whole
    assert sum(item["acknowledged"] is not None for item in whole["findings"]) == 3
    assert foretop("report", "--acknowledged", "-o", "json") == 1, "warnings are left"
    parted = json.loads(capsys.readouterr().out)
    assert [(item["severity"], item["code"]) for item in parted["findings"]] == [
        ("warning", "velero-paused-overdue"),
        *(one for found in samples("BOX_FINDINGS") for one in found),
        ("note", "schedules-collide"),
    ]
    assert sorted(item["name"] for item in parted["acknowledged"]) == ["gold-1", "gold-2", "nightly"]
    warnings = [item["id"] for item in parted["findings"] if item["severity"] == "warning"]
    assert foretop("acknowledge", *warnings, *WHY, "--yes") == 0
    capsys.readouterr()
    assert foretop("report", "--acknowledged") == 0
    assert f"Acknowledged ({3 + len(warnings)})" in capsys.readouterr().out


def test_a_dry_run_says_what_is_written_and_nobody_writes_without_being_asked(
    foretop: Foretop, box: LocalApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("acknowledge", NIGHTLY, "--for", "1h", *WHY)
    assert foretop(*asked, "--dry-run", "-o", "json") == 0
    (planned,) = json.loads(capsys.readouterr().out)["items"]
    assert foretop(*asked) == 2
    assert foretop(*asked, "--yes", "--read-only") == 3
    assert entries(box) == {}
    assert foretop(*asked, "--yes") == 0
    assert list(entries(box).values()) == [json.loads(text) for text in planned["patch"]["data"].values()]
    (known,) = [item["acknowledged"] for item in findings(capsys, foretop).values() if item["acknowledged"]]
    assert known["until"] == "2026-11-15T03:41:07Z"


def test_a_finding_about_no_object_is_acknowledged_beside_its_velero(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    together = "schedules-collide:/velero/:00:00"
    assert foretop("acknowledge", together, *WHY, "--yes") == 0
    assert findings(capsys, foretop)[together]["acknowledged"]["by"] == "admin"


def test_who_may_not_write_there_is_told_so_in_one_line_and_reads_the_others(
    foretop: Foretop, box: LocalApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("acknowledge", NIGHTLY, *WHY, "--yes") == 0
    capsys.readouterr()
    assert foretop("acknowledge", "schedule/gold-1", *WHY, "--yes", user=READER.name) == 3
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("foretop: Cannot acknowledge: patch on configmaps in velero is not allowed (ask for a role")
    foretop("get", "findings", "-o", "json", user=READER.name)
    items = json.loads(capsys.readouterr().out)["items"]
    assert [one["name"] for one in items if one["acknowledged"]] == ["nightly"]


def test_who_may_not_read_them_sees_every_finding_as_open(foretop: Foretop, capsys: pytest.CaptureFixture[str]) -> None:
    assert foretop("acknowledge", NIGHTLY, *WHY, "--yes") == 0
    capsys.readouterr()
    assert foretop("report", "-o", "json", user=BLIND.name) == 1
    report = json.loads(capsys.readouterr().out)
    assert not any(one["acknowledged"] for one in report["findings"])
    assert report["notSeen"] == [], "what is not acknowledged hides nothing"
    foretop("get", "findings", user=BLIND.name)
    assert "not allowed to see what is known" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("acknowledge", "schedule/other", *WHY, "--yes"), "There is no finding schedule/other"),
        (("acknowledge", "nightly", *WHY, "--yes"), "There is no finding nightly"),
        (("acknowledge", NIGHTLY, *WHY, "--yes", "--for", "soon"), "'soon' is not valid"),
        (("acknowledge", NIGHTLY, "--yes", "--reason", " "), "A reason is needed"),
        (("unacknowledge", NIGHTLY, "--yes"), "None of these findings is acknowledged"),
    ],
)
def test_bad_input_is_one_line(
    foretop: Foretop, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert foretop(*arguments) == 2
    assert capsys.readouterr().err.startswith(f"foretop: {told}")


def test_a_sentence_says_that_a_finding_is_known(foretop: Foretop, capsys: pytest.CaptureFixture[str]) -> None:
    foretop("acknowledge", NIGHTLY, *WHY, "--yes")
    capsys.readouterr()
    foretop("get", "findings", "--plain")
    lines = capsys.readouterr().out.splitlines()
    (known,) = [line for line in lines if "nightly: " in line]
    assert known.startswith("Acknowledged error: Schedule velero/nightly: overdue")
    assert known.endswith("Known by admin until 2026-11-15T06:00:00Z: the bucket is being moved.")
    assert sum(line.startswith("New ") for line in lines) == len(lines) - 1
    assert foretop("describe", "schedule", "nightly") == 0
    assert "Known: acknowledged by admin until 06:00:00Z" in capsys.readouterr().out


def test_the_hand_over_has_what_is_wrong_what_is_known_and_what_was_written(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert foretop("acknowledge", NIGHTLY, *WHY, "--yes") == 0
    assert foretop("schedule", "pause", "gold-1", "--reason", "upgrade", "--yes") == 0
    capsys.readouterr()
    assert foretop("handover") == 0
    text = capsys.readouterr().out
    assert "✗ error: schedule velero/gold-2: overdue" in text
    assert "acknowledged by admin until 06:00:00Z: the bucket is being moved" in text
    assert "admin: PATCH minicluster schedule velero/gold-1: done" in text
    assert "by admin: upgrade (gold-1)" in text
    assert foretop("handover", "-o", "markdown") == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "# Hand-over at 2026-11-15T02:41:07Z: minicluster\n\nTimes without a date are of 15 Nov 2026."
    )
    assert "\n\n## Wrong now (" in out


def test_the_list_is_asked_for_once_and_only_where_a_velero_is(
    foretop: Foretop, box: LocalApiServer, wire: Wire
) -> None:
    """A Deployment called velero, which a tenant can make, is no Velero; who may not read the list is told once."""
    box.storage.create(box.storage.kind("Deployment"), {**VELERO, "metadata": {"name": "velero", "namespace": "shop"}})
    wire.asked.clear()
    foretop("report", user=BLIND.name)
    asked = [path.rpartition("/api/")[2] for _, path in wire.asked if path.endswith("configmaps")]
    assert asked == ["v1/namespaces/velero/configmaps"]
    wire.asked.clear()
    foretop("get", "schedules")
    assert not [path for _, path in wire.asked if path.endswith("configmaps")], "only findings need it"
