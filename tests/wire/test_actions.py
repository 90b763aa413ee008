"""Plans carried out against the cluster in a box: conflicts, rights, bulk, a dying server, read-only, the journal."""

from __future__ import annotations

import stat
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.plans import Plan
from foretop_core.clock import ManualClock
from foretop_core.errors import ActionRefused, ForetopError
from foretop_core.models import Schedule
from foretop_core.rules.forecast import Choice
from foretop_demo.access import Access, Rule, User
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Catalog, load_catalog
from foretop_demo.local_api_server import LocalApiServer
from tests.objects import NOW
from tests.wire.action_fixtures import (
    Wire,
    a_schedule,
    box_with,
    done,
    hand_in,
    named,
    patch_schedule,
    pausing,
    planned,
    unpausing,
    wire,
)

__all__ = ["wire"]
PATCHES = (Rule(("get", "list", "watch", "patch"), ("velero.io",), ("schedules",)),)


@pytest.mark.parametrize(("field", "choice"), list(product([None, True, False], list(Choice))))
async def test_the_skip_table_as_it_arrives(field: bool | None, choice: Choice, tmp_path: Path) -> None:
    spec: dict[str, Any] = {"paused": True} if field is None else {"paused": True, "skipImmediately": field}
    async with box_with([a_schedule(**spec)]) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(choice)
        (result,) = await done(executor, planned(box, planner), planner)
        assert result.outcome is Outcome.DONE
        held = named(box, "nightly").spec
        wanted = {Choice.SKIP: True, Choice.DO_NOT_SKIP: False, Choice.LEAVE: field}[choice]
        assert (held.paused, held.skip_immediately) == (False, wanted)
        (line,) = executor.journal.read()
        assert line.before["spec"] == {"paused": True, "skipImmediately": field}
        assert line.uid == named(box, "nightly").metadata.uid


async def test_a_second_writer_who_changes_nothing_of_the_plan_is_waited_out(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule(paused=True)]) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(Choice.SKIP)
        plan = planned(box, planner)
        patch_schedule(box, "nightly", {"metadata": {"labels": {"seen": "yes"}}})
        (result,) = await done(executor, plan, planner)
        assert result.outcome is Outcome.DONE
        assert named(box, "nightly").metadata.labels == {"seen": "yes"}
        assert [method for method, _ in wire.writes] == ["PATCH", "PATCH"]
        assert len(list(executor.journal.read())) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"lastBackup": "2026-11-15T02:00:03Z"}},
        {"spec": {"schedule": "0 5 * * *"}},
        {"spec": {"skipImmediately": False}},
        {"metadata": {"annotations": {"meta.helm.sh/release-name": "velero"}}},
    ],
)
async def test_a_second_writer_who_changes_the_plan_makes_it_be_asked_again(
    change: dict[str, Any], tmp_path: Path
) -> None:
    async with box_with([a_schedule(paused=True)]) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(Choice.SKIP)
        plan = planned(box, planner)
        patch_schedule(box, "nightly", change)
        (result,) = await done(executor, plan, planner)
        assert result.outcome is Outcome.CHANGED
        assert named(box, "nightly").spec.paused is True, "it must not be forced"
        assert list(executor.journal.read()) == []
        assert result.again is not None
        assert not result.again.same_as(plan.steps[0])
        again = Plan(plan.record, NOW, (result.again,))
        (agreed,) = await done(executor, again, planner)
        assert agreed.outcome is Outcome.DONE
        assert named(box, "nightly").spec.paused is False


async def test_what_somebody_else_has_unpaused_meanwhile_is_handed_back(tmp_path: Path) -> None:
    async with box_with([a_schedule(paused=True)]) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(Choice.SKIP)
        plan = planned(box, planner)
        patch_schedule(box, "nightly", {"spec": {"paused": False}})
        (result,) = await done(executor, plan, planner)
        assert (result.outcome, result.again) == (Outcome.CHANGED, None)
        assert named(box, "nightly").spec.skip_immediately is None


async def test_a_writer_who_never_stops_is_not_fought(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule(paused=True)]) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(Choice.SKIP)
        plan = planned(box, planner)

        def meddle(method: str, path: str) -> str:
            if method == "PATCH":
                patch_schedule(box, "nightly", {"metadata": {"labels": {"n": str(len(wire.asked))}}})
            return ""

        wire.cut = meddle
        (result,) = await done(executor, plan, planner)
        assert result.outcome is Outcome.NOT_SENT
        assert "times in a row" in result.error
        assert named(box, "nightly").spec.paused is True


async def test_a_busy_server_is_asked_again_when_it_says_so(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        wire.cut = lambda method, path: "busy" if method == "PATCH" and len(wire.writes) == 1 else ""
        (result,) = await done(executor, planned(box, pausing), pausing)
        assert result.outcome is Outcome.DONE
        assert len(wire.writes) == 2
        assert len(list(executor.journal.read())) == 1


async def test_a_right_taken_away_in_between_is_told_and_nothing_is_done(tmp_path: Path) -> None:
    async with box_with([a_schedule()], [User("maria", PATCHES)]) as box, hand_in(box, tmp_path, "maria") as executor:
        plan = planned(box, pausing)
        await executor.guard(plan)
        take_all_rights(box, "maria")
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, result.status) == (Outcome.FAILED, 403)
        assert "ask for a role" in result.error
        assert named(box, "nightly").spec.paused is False


def take_all_rights(box: LocalApiServer, user: str) -> None:
    fresh = Access([(box.token(user), User(user))])
    box._access._users = fresh._users


async def test_a_missing_right_is_named_before_anything_is_sent(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()], [User("maria")]) as box, hand_in(box, tmp_path, "maria") as executor:
        with pytest.raises(ActionRefused, match=r"patch on schedules\.velero\.io in velero is not allowed"):
            await executor.guard(planned(box, pausing))
        assert wire.writes == []


async def test_a_role_for_some_names_only_is_tried(tmp_path: Path) -> None:
    some = (Rule(("patch",), ("velero.io",), ("schedules",), names=("a",)),)
    objects = [a_schedule("a"), a_schedule("b")]
    async with box_with(objects, [User("maria", some)]) as box, hand_in(box, tmp_path, "maria") as executor:
        plan = planned(box, pausing)
        await executor.guard(plan)
        assert [result.outcome for result in await done(executor, plan, pausing)] == [Outcome.DONE, Outcome.FAILED]


@pytest.mark.sweep
async def test_two_hundred_with_ten_that_fail_are_told_one_by_one_and_the_rest_can_be_repeated(tmp_path: Path) -> None:
    names = [f"s-{number:03}" for number in range(200)]
    lost = names[5:200:20]
    async with box_with([a_schedule(name) for name in names]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        for name in lost:
            box.storage.delete(box.storage.kind("Schedule"), "velero", name)
        results = await done(executor, plan, pausing)
        failed = [result for result in results if result.outcome is not Outcome.DONE]
        assert [result.step.target.name for result in failed] == lost
        assert all("not found" in result.error for result in failed)
        assert len(results) == 200
        assert all(named(box, name).spec.paused for name in names if name not in lost)
        assert len(list(executor.journal.read())) == 200
        for name in lost:
            box.storage.create(box.storage.kind("Schedule"), a_schedule(name))
        rest = Plan(plan.record, NOW, planned(box, pausing).steps)
        assert [step.target.name for step in rest.steps] == lost
        assert {result.outcome for result in await done(executor, rest, pausing)} == {Outcome.DONE}


async def test_a_dry_run_is_checked_by_the_server_and_changes_nothing(tmp_path: Path) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        before = box.storage.version
        (result,) = await done(executor, planned(box, pausing), pausing, dry_run=True)
        assert result.outcome is Outcome.DONE
        assert box.storage.version == before
        assert list(executor.journal.read()) == []


async def test_the_journal_has_each_write_before_and_after_and_no_secret(tmp_path: Path) -> None:
    objects = [a_schedule("a"), a_schedule("b", paused=True)]
    async with box_with(objects) as box, hand_in(box, tmp_path) as executor:
        await done(executor, planned(box, pausing), pausing)
        planner = unpausing(Choice.SKIP)
        await done(executor, planned(box, planner), planner)
        text = executor.journal.path.read_text()
        assert len(text.splitlines()) == 6
        assert len(list(executor.journal.read())) == 3
        assert box.token() not in text
        assert stat.S_IMODE(executor.journal.path.stat().st_mode) == 0o600
        first = next(executor.journal.read())
        assert (first.user, first.context, first.kind, first.name) == ("admin", "minicluster", "Schedule", "a")
        assert first.at == "2026-11-15T02:41:07Z"


async def test_what_cannot_be_written_down_is_not_done(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        executor.journal.path.mkdir(parents=True)
        with pytest.raises(ForetopError, match="cannot be written"):
            await done(executor, planned(box, pausing), pausing)
        assert wire.writes == []


async def test_the_fields_belong_to_foretop_afterwards(tmp_path: Path) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        await done(executor, planned(box, pausing), pausing)
        held = box.storage.get(box.storage.kind("Schedule"), "velero", "nightly")
        assert "foretop" in [entry["manager"] for entry in held["metadata"]["managedFields"]]
        assert isinstance(named(box, "nightly"), Schedule)


def without_skip() -> InProcessApi:
    """A box of a release that does not know skipImmediately yet."""
    kinds = []
    for kind in load_catalog():
        schema = deepcopy(kind.schema)
        if kind.kind == "Schedule":
            del schema["properties"]["spec"]["properties"]["skipImmediately"]
        kinds.append(msgspec.structs.replace(kind, schema=schema))
    return InProcessApi(ManualClock(NOW), Catalog(kinds))


async def test_a_release_without_the_field_refuses_instead_of_losing_the_skip(tmp_path: Path) -> None:
    async with box_with([a_schedule(paused=True)], storage=without_skip()) as box, hand_in(box, tmp_path) as executor:
        planner = unpausing(Choice.SKIP)
        (result,) = await done(executor, planned(box, planner), planner)
        assert result.outcome is Outcome.FAILED
        assert result.error == "the server knows no field spec.skipImmediately"
        assert named(box, "nightly").spec.paused is True
