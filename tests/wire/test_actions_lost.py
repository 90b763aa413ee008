"""Answers that are lost: a server that dies in the middle, comes back or not, and what was really done."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from foretop_core.actions.plan_executor import Outcome
from foretop_core.actions.planners.backups import plan_delete_backup
from foretop_core.actions.planners.schedules import NewSchedule, plan_create_schedules, plan_delete_schedule
from foretop_core.actions.plans import Plan, Planner
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.change_log import ChangeType
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, a_schedule, box_with, done, hand_in, named, pausing, planned, wire
from tests.wire.test_commands import obj

__all__ = ["wire"]


class Counted:
    """How often each schedule was made paused, as the storage itself saw it."""

    def __init__(self, box: LocalApiServer) -> None:
        self.paused: dict[str, int] = {}
        box.storage.subscribe(self._heard)

    def _heard(self, kind: Any, change: Any) -> None:
        if kind.kind == "Schedule" and change.type is not ChangeType.DELETED and change.new.body["spec"].get("paused"):
            name = change.new.body["metadata"]["name"]
            self.paused[name] = self.paused.get(name, 0) + 1


def cut_at(wire: Wire, nth: int, how: str, comes_back: bool) -> None:
    """The nth patch loses its answer; afterwards the server is dead, or answers again."""
    state = {"patches": 0}

    def cut(method: str, path: str) -> str:
        if method == "PATCH":
            state["patches"] += 1
            if state["patches"] == nth:
                return how
        return "before" if state["patches"] >= nth and not comes_back else ""

    wire.cut = cut


@pytest.mark.parametrize(
    ("how", "comes_back", "outcome"),
    [
        ("after", True, Outcome.DONE),
        ("before", True, Outcome.FAILED),
        ("after", False, Outcome.UNKNOWN),
        ("before", False, Outcome.UNKNOWN),
    ],
)
async def test_a_server_that_dies_in_the_middle_leaves_no_doubt_but_about_one(
    how: str, comes_back: bool, outcome: Outcome, tmp_path: Path, wire: Wire
) -> None:
    names = [f"s-{number:02}" for number in range(20)]
    patience = 60.0 if comes_back else 0.3
    async with (
        box_with([a_schedule(name) for name in names]) as box,
        hand_in(box, tmp_path, patience=patience) as executor,
    ):
        plan = planned(box, pausing)
        counted = Counted(box)
        cut_at(wire, 8, how, comes_back)
        results = await done(executor, plan, pausing)
        wire.cut = lambda method, path: ""
        told = [result.outcome for result in results]
        after = Outcome.DONE if comes_back else Outcome.NOT_SENT
        assert told == [Outcome.DONE] * 7 + [outcome] + [after] * 12
        really = {name for name in names if named(box, name).spec.paused}
        said = {result.step.target.name for result in results if result.outcome is Outcome.DONE}
        assert said <= really <= said | {names[7]}
        assert set(counted.paused.values()) == {1}, "nothing is done twice"
        lines = [(line.name, line.result.partition(":")[0]) for line in executor.journal.read()]
        assert lines == [(r.step.target.name, r.outcome.value) for r in results if r.outcome is not Outcome.NOT_SENT]


def creating(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_create_schedules(snapshot, [NewSchedule("velero", "new", "@daily")], now)


def deleting(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_delete_schedule(snapshot, items, now)


def deleting_data(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_delete_backup(snapshot, snapshot.backups, now)


@pytest.mark.parametrize("planner", [creating, deleting, deleting_data])
@pytest.mark.parametrize(("how", "outcome"), [("after", Outcome.DONE), ("before", Outcome.FAILED)])
async def test_a_lost_answer_to_any_write_is_found_out(
    planner: Planner, how: str, outcome: Outcome, tmp_path: Path, wire: Wire
) -> None:
    ended = {"phase": "Completed", "completionTimestamp": "2026-11-15T02:01:00Z"}
    async with (
        box_with([a_schedule(), obj("Backup", "one", {}, status=ended)]) as box,
        hand_in(box, tmp_path) as executor,
    ):
        plan = planned(box, planner)
        # The transport itself repeats a DELETE once where a kept connection turns out to be dead.
        wire.cut = lambda method, path: "" if method == "GET" else how
        (result,) = await done(executor, plan, planner)
        assert result.outcome is outcome
        (line,) = executor.journal.read()
        assert line.result.startswith(outcome.value)


async def test_a_delete_that_the_transport_repeated_is_done(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, deleting)
        box.storage.delete(box.storage.kind("Schedule"), "velero", "nightly")
        (result,) = await done(executor, plan, deleting)
        assert (result.outcome, result.error) == (Outcome.DONE, "it was already deleted")


async def test_what_is_interrupted_under_way_is_in_the_journal_as_unknown(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        wire.hold = asyncio.Event()
        sending = asyncio.create_task(done(executor, plan, pausing))
        async with asyncio.timeout(120):
            while not wire.writes:  # noqa: ASYNC110 - the request's arrival has no event of its own
                await asyncio.sleep(0.01)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        wire.hold.set()
        (line,) = executor.journal.read()
        assert line.result == "unknown: interrupted while it was being sent"


async def test_a_server_that_is_gone_was_sent_nothing(tmp_path: Path) -> None:
    async with box_with([a_schedule("a"), a_schedule("b")]) as box:
        plan = planned(box, pausing)
        async with hand_in(box, tmp_path, patience=0.3) as executor:
            await box.__aexit__(None, None, None)
            results = await done(executor, plan, pausing)
        assert [result.outcome for result in results] == [Outcome.NOT_SENT, Outcome.NOT_SENT]
        assert not any(named(box, name).spec.paused for name in ("a", "b"))
        assert list(executor.journal.read()) == []
