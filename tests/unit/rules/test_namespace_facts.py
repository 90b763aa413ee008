"""The record of a namespace says what page, pane and JSON show of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.models.velero import ScheduleStatus
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.namespace_facts import NamespaceFacts, ProtectionJudge, ProtectionLimits
from foretop_core.rules.severity import Severity
from tests.objects import NOW
from tests.unit.rules.test_protection import copy, location, namespace, schedule
from tests.unit.tables.test_views import Shown

_COVERED = (location(), namespace("team"), schedule("daily", "team", cron="0 3 * * *"))


def facts(*objects: Resource) -> NamespaceFacts:
    row = assemble(objects).protection.row("team")
    assert row is not None
    return ProtectionJudge(NOW, ProtectionLimits()).facts(row)


@pytest.mark.parametrize(
    ("objects", "word", "severity", "why"),
    [
        ((copy("one", "team"),), "protected", None, "protected"),
        (
            (copy("one", "team", age=timedelta(hours=30)),),
            "copy due",
            None,
            "still protected: a run has made no copy, and no second one may be missed",
        ),
        ((), "no copy", Severity.ERROR, "it has no copy, though its schedules promise one"),
        (
            (copy("one", "team", age=timedelta(days=4)),),
            "late",
            Severity.ERROR,
            "its newest copy is older than its schedules promise",
        ),
        ((copy("one", "team", phase="PartiallyFailed"),), "partial", Severity.WARNING, "no copy has all of it"),
    ],
)
def test_one_state_one_word_and_one_severity(
    objects: tuple[Resource, ...], word: str, severity: Severity | None, why: str
) -> None:
    found = facts(*_COVERED, *objects)
    assert (found.word, found.severity, found.why) == (word, severity, why)
    shown = Shown("protection", [*_COVERED, *objects])
    assert [row[1] for row in shown.text("state", "name") if row[2] == "team"] == [word]


def test_the_newest_copy_and_what_it_lacks() -> None:
    complete, partial = (
        facts(*_COVERED, copy("one", "team")),
        facts(*_COVERED, copy("one", "team", phase="PartiallyFailed")),
    )
    assert [one.newest_copy.name if one.newest_copy else "" for one in (complete, partial)] == ["one", "one"]
    assert (complete.lack, partial.lack) == ("", "failed partially")
    assert complete.next_cover is not None
    assert complete.next_cover.schedule.name == "daily"
    assert facts(location(), namespace("team")).next_cover is None


@pytest.mark.parametrize(
    ("tried", "taken", "told"), [(0, 0, "snapshot"), (3, 3, "snapshot, 3"), (3, 2, "snapshot, 2 of 3")]
)
def test_snapshots_that_the_newest_copy_lacks_are_told(tried: int, taken: int, told: str) -> None:
    made = copy("one", "team")
    status = replace(made.status, csi_volume_snapshots_attempted=tried, csi_volume_snapshots_completed=taken)
    assert facts(*_COVERED, replace(made, status=status)).volumes == told


def test_an_old_copy_of_schedules_that_owe_none_yet_is_not_plainly_protected() -> None:
    """A pause that has just ended leaves a copy of several times the promised age behind, and no promise."""
    skipped = replace(schedule("daily", "team", cron="0 3 * * *"), status=ScheduleStatus(last_skipped=NOW))
    found = facts(location(), namespace("team"), skipped, copy("one", "team", age=timedelta(days=4)))
    assert (found.word, found.severity) == ("protected", None)
    assert found.why == "protected; created, unpaused or skipped lately, its schedules promise no newer copy yet"
