"""Velero refuses a backup that it cannot keep or that is not valid: every place that forecasts one says so alike."""

from __future__ import annotations

from datetime import UTC

import pytest

from foretop.dialogs.pause_dialogs import choice_summary
from foretop.panes.schedule_pane import schedule_pane
from foretop_core.actions.planners.backups import plan_back_up_now, plan_run_again
from foretop_core.actions.planners.pausing import plan_unpause
from foretop_core.actions.planners.schedules import NewSchedule, plan_create_schedules
from foretop_core.models import BackupSpec, BackupStorageLocation, Schedule
from foretop_core.rules.facts.pause_facts import UnpauseCounts, count_unpause
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.storage_readiness import storage_refusal
from foretop_core.rules.triage import Thresholds
from foretop_core.rules.triage.storage import unusable_locations
from foretop_core.tables.engine.view import UnreadableRow
from tests.objects import NOW, backup, location, schedule
from tests.unit.tables.test_views import Shown

BAD = location("offsite", "Unavailable", message="dial tcp: no route")
WHY = "its storage location offsite is Unavailable"
SPEC = {"storageLocation": "offsite"}


def copy(*, paused: bool = False, last: str = "02:00:03") -> Schedule:
    return schedule("copy", "0 * * * *", last=last, paused=paused, skip=False, template=SPEC)


@pytest.mark.parametrize(
    ("place", "name", "told"),
    [
        (BAD, "offsite", WHY),
        (location("cold", spec={"accessMode": "ReadOnly"}), "cold", "its storage location cold is read-only"),
        (BAD, "gone", "its storage location gone does not exist"),
        (location("default", "Unavailable"), "", "its storage location default is Unavailable"),
        (location(), "", ""),
        (location("offsite", ""), "offsite", ""),
    ],
)
def test_a_location_that_cannot_be_used_is_refused(place: BackupStorageLocation, name: str, told: str) -> None:
    assert storage_refusal(ClusterSnapshot("prod", storage=(place,)), "velero", name) == told


@pytest.mark.parametrize("kind", ["BackupStorageLocation", ""], ids=["locations", "whole cluster"])
def test_a_location_that_may_not_be_seen_is_not_said_to_be_missing(kind: str) -> None:
    gaps = (VisibilityGap("prod", kind, "not allowed"),)
    hidden = ClusterSnapshot("prod", schedules=(copy(),), unseen=gaps)
    assert storage_refusal(hidden, "velero", "offsite") == ""
    assert not list(unusable_locations(hidden, NOW, Thresholds()))


def test_row_and_pane_say_that_the_next_run_is_refused() -> None:
    shown = Shown("schedules", [BAD, copy()])
    assert shown.text("next") == [["▲", "in 18m, refused"]]
    ((_, entry),) = shown.model.table
    assert not isinstance(entry, UnreadableRow)
    pane = ["".join(span.text for span in one.spans) for one in schedule_pane(entry, shown.render_context())]
    assert f"03:00:00Z, in 18 minutes, but Velero refuses it while {WHY}" in pane
    (item,) = shown.items()
    assert (item["nextRun"], item["expectedStart"], item["refusal"]) == ("2026-11-15T03:00:00Z", None, WHY)


def test_a_backup_that_is_made_now_is_said_to_be_refused() -> None:
    item, failed = copy(), backup("copy-1", "FailedValidation", of="copy", spec=SPEC)
    snapshot = ClusterSnapshot("prod", schedules=(item,), backups=(failed,), storage=(BAD,))
    for plan in (plan_back_up_now(snapshot, [item], NOW), plan_run_again(snapshot, [failed], NOW)):
        assert plan.steps[0].forecast.startswith(f"one backup is created, and Velero refuses it while {WHY}")
    request = NewSchedule("velero", "new", "0 3 * * *", BackupSpec(storage_location="offsite"))
    (made,) = plan_create_schedules(snapshot, [request], NOW).steps
    assert made.forecast == f"first backup due 03:00:00Z, but Velero refuses it while {WHY}"


def test_unpausing_says_that_what_it_makes_is_refused() -> None:
    item = copy(paused=True, last="00:00:03")
    snapshot = ClusterSnapshot("prod", schedules=(item,), storage=(BAD,))
    (step,) = plan_unpause(snapshot, [item], Choice.DO_NOT_SKIP, NOW).steps
    assert step.forecast == (
        "one backup is created at once: due since 01:00:00Z, 2 runs missed; next run 03:00:00Z, in 18 minutes; "
        f"Velero refuses its backups while {WHY}"
    )
    paused = [schedule_facts(snapshot, item, NOW)]
    assert choice_summary(paused, Choice.DO_NOT_SKIP) == "1 refused by Velero"
    assert count_unpause(paused, Choice.DO_NOT_SKIP) == UnpauseCounts(refused=1)
    assert choice_summary([*paused, *paused], Choice.DO_NOT_SKIP) == "2 refused by Velero"


def test_a_backup_in_the_queue_is_refused_when_it_is_its_turn_and_the_next_may_wait_a_minute() -> None:
    runs = backup("runs", "InProgress", started="02:20:00", progress={"itemsBackedUp": 50, "totalItems": 100})
    waits = backup("copy-2", "Queued", created="02:21:00", queuePosition=1, spec=SPEC)
    after = backup("after", "Queued", created="02:22:00", queuePosition=2)
    shown = Shown("queue", [BAD, location(), runs, waits, after])
    assert [row[1] for row in shown.text("when")][1:] == ["refused", "~03:03 held"]
    context = shown.render_context()
    told = render(context.facts(waits).told, NOW, UTC)
    assert told == f"Velero refuses it when it is its turn about 03:02Z, in 21 minutes, while {WHY}."
    items = {item["name"]: item for item in shown.items()}
    assert (items["copy-2"]["expectedStart"], items["copy-2"]["refusal"]) == (None, WHY)
    assert items["after"]["refusal"] is None
