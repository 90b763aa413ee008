"""Findings about cron dialects: errors with evidence after an upgrade."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.triage import Finding, Severity, triage
from tests.objects import NOW, backup, location, schedule
from tests.unit.rules.test_upgrade_recording import moments

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
    assert "velero-cron-dialect" not in [finding.code for finding in triage(snapshot, now).findings]
    assert "schedule-stopped" not in [finding.code for finding in triage(snapshot, t).findings]
