"""Plans: whether two steps are the same, and the snapshot with one object read afresh."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.actions.plans import NamedSource, PlanStep, Write, replace_object
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, SCHEDULE
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import backup, schedule
from tests.unit.store.making import Watched
from tests.unit.store.making import backup as stored

AIM = ObjectRef("prod", "Schedule", "velero", "nightly")
PATCH = Write("PATCH", {"metadata": {"uid": "u-1", "resourceVersion": "7"}, "spec": {"paused": True}})
STEP = PlanStep(AIM, PATCH, ("spec.paused false → true",), "it rests", "kubectl patch")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (STEP, True),
        (replace(STEP, command="another line"), True),
        (
            replace(
                STEP,
                write=Write("PATCH", {"metadata": {"uid": "u-1", "resourceVersion": "8"}, "spec": {"paused": True}}),
            ),
            True,
        ),
        (
            replace(
                STEP,
                write=Write("PATCH", {"metadata": {"uid": "u-2", "resourceVersion": "7"}, "spec": {"paused": True}}),
            ),
            False,
        ),
        (
            replace(
                STEP,
                write=Write("PATCH", {"metadata": {"uid": "u-1", "resourceVersion": "7"}, "spec": {"paused": False}}),
            ),
            False,
        ),
        (replace(STEP, target=ObjectRef("prod", "Schedule", "velero", "hourly")), False),
        (replace(STEP, write=replace(PATCH, method="POST")), False),
        (replace(STEP, changes=()), False),
        (replace(STEP, forecast="it runs"), False),
        (replace(STEP, warnings=("careful",)), False),
        (replace(STEP, source=NamedSource(AIM, "u-1")), False),
    ],
)
def test_who_agreed_to_a_step_has_agreed_to_all_of_it_but_the_version(other: PlanStep, same: bool) -> None:
    assert STEP.same_as(other) is same
    assert other.same_as(STEP) is same


@pytest.mark.parametrize(
    ("write", "uid"),
    [
        (PATCH, "u-1"),
        (Write("POST", {"metadata": {"uid": "u-1"}}), ""),
        (Write("DELETE", {"preconditions": {"uid": "u-2"}, "metadata": {"uid": "u-1"}}), "u-2"),
        (Write("PATCH", {"spec": {}}), ""),
        (Write("DELETE", {"preconditions": {"resourceVersion": "7"}}), ""),
    ],
)
def test_a_step_knows_which_object_it_is_meant_for(write: Write, uid: str) -> None:
    assert replace(STEP, write=write).uid == uid


def test_an_object_that_was_read_afresh_takes_the_place_of_the_old_one() -> None:
    old, other = schedule("nightly"), schedule("hourly")
    seen = ClusterSnapshot("prod", schedules=(old, other), backups=(backup("nightly"),))
    fresh: Any = schedule("nightly", paused=True)
    now = replace_object(seen, SCHEDULE, fresh)
    assert now.schedules == (other, fresh)
    assert now.backups == seen.backups
    made: Any = backup("new")
    assert replace_object(seen, BACKUP, made).backups == (*seen.backups, made)
    assert replace_object(seen, DEPLOYMENT, fresh) is seen


def test_after_a_fresh_read_no_lookup_has_the_old_object() -> None:
    seen = Watched()
    seen.list(stored("running", 1, labels={SCHEDULE_LABEL: "nightly"}, phase="InProgress"))
    snapshot = seen.store.snapshot("prod")
    assert [one.phase for one in snapshot.lookups.backups_of_schedule("velero", "nightly")] == ["InProgress"]
    fresh = stored("running", 2, labels={SCHEDULE_LABEL: "nightly"}, phase="Completed")
    now = replace_object(snapshot, BACKUP, fresh)
    assert [one.phase for one in now.backups] == ["Completed"]
    assert [one.phase for one in now.lookups.backups_of_schedule("velero", "nightly")] == ["Completed"]
