"""Findings acknowledged on the command line, against the box: what counts, what is listed, and what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import wire
from tests.wire.command_fixtures import Foretop, box, foretop, home

__all__ = ["box", "foretop", "home", "wire"]
NIGHTLY = "schedule/velero/nightly"
WHY = ("--reason", "the bucket is being moved")


def findings(capsys: pytest.CaptureFixture[str], foretop: Foretop) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    foretop("get", "findings", "-o", "json")
    return {item["id"]: item for item in json.loads(capsys.readouterr().out)["items"]}


def marks(box: LocalApiServer, name: str) -> dict[str, str]:
    held = box.storage.get(box.storage.kind("Schedule"), "velero", name)
    return {key: value for key, value in (held["metadata"].get("annotations") or {}).items() if "acknowledged" in key}


def test_what_is_acknowledged_for_oneself_is_listed_as_such_and_writes_nothing_to_the_cluster(
    foretop: Foretop, box: LocalApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    before = box.storage.get(box.storage.kind("Schedule"), "velero", "nightly")
    assert foretop("acknowledge", NIGHTLY, "--for", "shift", *WHY) == 0
    assert "acknowledged until 06:00:00Z, for you only" in capsys.readouterr().out
    assert box.storage.get(box.storage.kind("Schedule"), "velero", "nightly") == before
    known = {key: item["acknowledged"] for key, item in findings(capsys, foretop).items() if item["acknowledged"]}
    assert known == {
        "schedule-overdue:Schedule/velero/nightly:unknown": {
            "by": "admin",
            "at": "2026-11-15T02:41:07Z",
            "until": "2026-11-15T06:00:00Z",
            "reason": "the bucket is being moved",
            "shared": False,
        }
    }
    foretop("get", "findings")
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "nightly " in line]
    assert line.endswith("by admin until 06:00:00Z: the bucket is being moved")


def test_a_report_says_everything_and_with_acknowledged_what_is_known_does_not_count(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("nightly", "gold-1", "gold-2"):
        assert foretop("acknowledge", f"schedule/{name}", "--for", "change", *WHY) == 0
    capsys.readouterr()
    assert foretop("report", "-o", "json") == 1
    whole = json.loads(capsys.readouterr().out)
    assert "acknowledged" not in whole
    assert sum(item["acknowledged"] is not None for item in whole["findings"]) == 3
    assert foretop("report", "--acknowledged", "-o", "json") == 0
    parted = json.loads(capsys.readouterr().out)
    assert [(item["severity"], item["code"]) for item in parted["findings"]] == [
        ("warning", "velero-paused-overdue"),
        ("note", "schedules-collide"),
    ]
    assert sorted(item["name"] for item in parted["acknowledged"]) == ["gold-1", "gold-2", "nightly"]
    assert foretop("report", "--acknowledged") == 0
    assert "Acknowledged (3)" in capsys.readouterr().out
    foretop("report", "--acknowledged", "--prometheus")
    assert 'foretop_findings_acknowledged{context="minicluster",severity="error",code="schedule-overdue"} 3' in (
        capsys.readouterr().out
    )


@pytest.mark.sweep
def test_what_everybody_sees_is_an_annotation_that_is_shown_first_and_taken_off_again(
    foretop: Foretop, box: LocalApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("acknowledge", NIGHTLY, "--for", "1h", *WHY, "--shared")
    assert foretop(*asked, "--dry-run", "-o", "json") == 0
    (planned,) = json.loads(capsys.readouterr().out)["items"]
    assert marks(box, "nightly") == {}
    assert foretop(*asked, "--yes") == 0
    assert marks(box, "nightly") == planned["patch"]["metadata"]["annotations"]
    (known,) = [item["acknowledged"] for item in findings(capsys, foretop).values() if item["acknowledged"]]
    assert (known["shared"], known["until"]) == (True, "2026-11-15T03:41:07Z")
    assert foretop("unacknowledge", NIGHTLY, "--yes") == 0
    assert marks(box, "nightly") == {}
    assert not any(item["acknowledged"] for item in findings(capsys, foretop).values())


def test_nobody_writes_an_annotation_without_being_asked(foretop: Foretop, box: LocalApiServer) -> None:
    assert foretop("acknowledge", NIGHTLY, *WHY, "--shared") == 2
    assert foretop("acknowledge", NIGHTLY, *WHY, "--shared", "--yes", "--read-only") == 3
    assert marks(box, "nightly") == {}


def test_with_read_only_one_s_own_acknowledgement_is_still_kept(foretop: Foretop) -> None:
    assert foretop("acknowledge", NIGHTLY, *WHY, "--read-only") == 0
    assert foretop("unacknowledge", NIGHTLY, "--read-only") == 0


@pytest.mark.sweep
def test_a_finding_about_no_object_can_be_known_to_oneself_only(
    foretop: Foretop, capsys: pytest.CaptureFixture[str]
) -> None:
    together = "schedules-collide:/velero/:00:00"
    assert foretop("acknowledge", together, *WHY, "--shared", "--yes") == 3
    assert "it cannot be shared" in capsys.readouterr().out
    assert foretop("acknowledge", together, *WHY) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("acknowledge", "schedule/other", *WHY), "There is no finding schedule/other"),
        (("acknowledge", "nightly", *WHY), "There is no finding nightly"),
        (("acknowledge", NIGHTLY, *WHY, "--for", "soon"), "'soon' is not valid"),
        (("acknowledge", NIGHTLY, "--reason", " "), "A reason is needed"),
        (("unacknowledge", NIGHTLY), "None of these findings is acknowledged"),
    ],
)
def test_bad_input_is_one_line(
    foretop: Foretop, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert foretop(*arguments) == 2
    assert capsys.readouterr().err.startswith(f"foretop: {told}")


def test_a_sentence_says_that_a_finding_is_known(foretop: Foretop, capsys: pytest.CaptureFixture[str]) -> None:
    foretop("acknowledge", NIGHTLY, *WHY)
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
    assert foretop("acknowledge", NIGHTLY, *WHY, "--shared", "--yes") == 0
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
