"""The note before an upgrade."""

from __future__ import annotations

import pytest

from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Severity, triage
from tests.objects import NOW, location, schedule
from tests.unit.rules.test_triage_dialects import findings, with_code
from tests.unit.rules.test_upgrade_recording import moments

NOTE = "velero-cron-dialect"
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


def test_the_recorded_server_has_a_warning_before_its_upgrade() -> None:
    t, _, snapshot = next(
        (t, name, snapshot)
        for t, name, snapshot in moments()
        if any(schedule.phase == "FailedValidation" for schedule in snapshot.schedules)
    )
    note = with_code(NOTE, list(triage(snapshot, t).findings))
    assert render(note.what, NOW).startswith("upgrade changes")
    assert "Velero 1.18.3 reads" in render(note.evidence, NOW)
