"""Findings about cron dialects: one note before an upgrade, and errors with evidence after it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.triage import Finding, Severity, triage
from tests.objects import NOW, backup, location, schedule
from tests.unit.rules.test_upgrade_recording import moments

NOTE = "velero-cron-dialect"
MONDAY_RUN: dict[str, Any] = {
    "created": "2026-11-09T02:00:03Z",
    "started": "2026-11-09T02:00:04Z",
    "ended": "2026-11-09T02:10:00Z",
}


def findings(*objects: Resource, version: str, now: datetime = NOW) -> list[Finding]:
    snapshot = replace(assemble(objects), servers={"velero": VeleroInfo(False, 1, version)})
    return list(triage(snapshot, now).findings)


def with_code(code: str, found: list[Finding]) -> Finding:
    (only,) = [finding for finding in found if finding.code == code]
    return only


DIFFERENT = [
    schedule("both", "0 2 1 * 1", last="2026-11-09T02:00:03Z"),
    schedule("steps", "0 */24 * * *", last="00:00:03"),
    schedule("plain", "0 2 * * *", last="02:00:03"),
]


def test_one_note_counts_what_the_next_dialect_reads_differently() -> None:
    note = with_code(NOTE, findings(location(), *DIFFERENT, version="1.18.2"))
    assert note.severity is Severity.NOTE
    assert render(note.what, NOW) == "upgrade changes 2 schedules"
    assert "both (run at other times) and steps (refused)" in render(note.evidence, NOW)
    assert [subject.name for subject in note.related] == ["both", "steps"]
    assert "upgrade-check" in render(note.remedy, NOW)


@pytest.mark.parametrize("version", ["1.18.3", "1.14.1"])
def test_no_note_for_the_newest_dialect_or_without_a_change(version: str) -> None:
    assert NOTE not in [finding.code for finding in findings(location(), *DIFFERENT, version=version)]


def test_an_unknown_release_is_a_finding_if_it_makes_a_difference() -> None:
    note = with_code(NOTE, findings(location(), schedule("both", "0 2 1 * 1", paused=True), version="1.18"))
    assert render(note.what, NOW) == "its release is not known"
    assert "Velero 1.15 to 1.18.2 and Velero 1.18.3 and later read 1 schedule differently: both" in render(
        note.evidence, NOW
    )
    assert render(note.remedy, NOW).startswith("Give the release with --velero-version.")


def test_an_unknown_release_is_not_a_finding_if_all_read_alike() -> None:
    assert NOTE not in [finding.code for finding in findings(location(), schedule(), version="1.18")]


def test_a_schedule_stopped_by_an_upgrade_is_an_error_with_figures() -> None:
    """Its run of Monday the 9th was made by an older server; that of the 16th is missing."""
    now = datetime.fromisoformat("2026-11-16T09:00:00Z")
    objects = (
        location(checked="2026-11-16T08:59:03Z", synced="2026-11-16T08:59:03Z"),
        schedule("both", "0 2 1 * 1", last="2026-11-09T02:00:03Z"),
        backup("both-20261109020003", of="both", **MONDAY_RUN),
    )
    found = with_code("schedule-stopped", findings(*objects, version="1.18.3", now=now))
    assert found.severity is Severity.ERROR
    assert found.since == datetime.fromisoformat("2026-11-16T02:00:00Z")
    assert found.what == "runs less since an upgrade"
    assert "runs a year before an upgrade, 3 now" in render(found.evidence, NOW)
    assert "Velero 1.15 to 1.18.2" in render(found.evidence, NOW)
    assert "'0 2 1 * *'" in render(found.remedy, NOW)
    assert "'0 2 * * 1'" in render(found.remedy, NOW)
    assert "schedule-stopped" not in [finding.code for finding in findings(*objects, version="1.18.2", now=now)]


def test_a_schedule_has_not_stopped_before_its_next_run_is_missed() -> None:
    found = findings(
        location(),
        schedule("both", "0 2 1 * 1", last="2026-11-09T02:00:03Z"),
        backup("both-20261109020003", of="both", **MONDAY_RUN),
        version="1.18.3",
    )
    assert found == []


def test_a_refusal_since_an_upgrade_is_one_finding_with_a_replacement() -> None:
    refused = schedule("steps", "0 */24 * * *", phase="FailedValidation", last="2026-11-14T00:00:03Z")
    found = findings(location(), refused, version="1.18.3")
    assert [finding.code for finding in found] == ["schedule-invalid"]
    assert "it ran until 14 Nov 00:00Z: 365 runs a year before an upgrade, none now" in render(found[0].evidence, NOW)
    assert render(found[0].remedy, NOW).startswith("Set spec.schedule to '0 0 * * *'.")


def test_a_refusal_that_every_release_shares_blames_no_upgrade() -> None:
    found = findings(location(), schedule("bad", "0 99 * * *", phase="FailedValidation"), version="1.18.3")
    assert "accepts it" not in render(found[0].evidence, NOW)
    assert render(found[0].remedy, NOW).startswith("Correct its cron.")


def test_a_runaway_by_upgrade_says_that_the_older_release_refuses_it() -> None:
    found = with_code("schedule-never-fires", findings(location(), schedule("m", "@manual"), version="1.18.3"))
    assert "Velero 1.15 to 1.18.2 refuses it." in render(found.evidence, NOW)


def test_a_date_beyond_velero_s_search_is_also_a_runaway() -> None:
    rare = schedule("rare", "0 2 29 2 1", last="02:40:03")
    found = with_code("schedule-never-fires", findings(location(), rare, version="1.18.3"))
    assert render(found.what, NOW) == "no date fits, runs every minute"
    assert render(found.evidence, NOW).startswith("No date within five years matches")
    assert "Velero 1.15 to 1.18.2 runs it at 02:00 on the 29th and on every Monday in February." in render(
        found.evidence, NOW
    )
    assert "schedule-never-fires" not in [each.code for each in findings(location(), rare, version="1.18.2")]


def test_the_recorded_upgrade_stops_the_schedule_with_both_days() -> None:
    """The recording ends just before the two minutes of grace are over."""
    t, _, snapshot = moments()[-1]
    now = t + timedelta(seconds=30)
    found = with_code("schedule-stopped", list(triage(snapshot, now).findings))
    assert found.subject.name == "both-days"
    assert found.since == datetime.fromisoformat("2026-11-15T10:26:00Z")
    assert NOTE not in [finding.code for finding in triage(snapshot, now).findings]
    assert "schedule-stopped" not in [finding.code for finding in triage(snapshot, t).findings]


def test_the_recorded_server_has_a_warning_before_its_upgrade() -> None:
    t, _, snapshot = next(
        (t, name, snapshot)
        for t, name, snapshot in moments()
        if any(schedule.phase == "FailedValidation" for schedule in snapshot.schedules)
    )
    note = with_code(NOTE, list(triage(snapshot, t).findings))
    assert render(note.what, NOW).startswith("upgrade changes")
    assert "Velero 1.18.3 reads" in render(note.evidence, NOW)
