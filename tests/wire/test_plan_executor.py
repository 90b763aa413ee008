"""What becomes of a step by what the server answers: sent again, handed back, given up or looked into."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from foretop_core.actions.journal import Journal, default_path
from foretop_core.actions.plan_executor import MOST_TRIES, Outcome, Result, whoami
from foretop_core.actions.planners.backups import plan_back_up_now
from foretop_core.actions.planners.nonadmin import plan_delete_nar
from foretop_core.actions.planners.restores import RestoreRequest, plan_restore
from foretop_core.actions.plans import Plan, Planner
from foretop_core.clock import ManualClock
from foretop_core.errors import ActionRefused, ForetopError
from foretop_core.rules.forecast import Choice
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.pauses import PAUSED_AT
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.access import Rule, User
from tests.objects import NOW
from tests.unit.actions.test_journal import hold
from tests.wire.action_fixtures import (
    Answer,
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
    world_in,
)
from tests.wire.boxes import box_in_thread
from tests.wire.test_actions_lost import creating, deleting
from tests.wire.test_commands import obj
from tests.wire.test_logs import ONE, location

__all__ = ["wire"]
THREE = [a_schedule("a"), a_schedule("b"), a_schedule("c")]
Misbehave = Callable[[web.BaseRequest, Answer], Any]


def restoring(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_restore(snapshot, snapshot.backups, RestoreRequest("back"), now)


def refusing(code: int, **more: Any) -> Misbehave:
    async def misbehave(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
        told = {"kind": "Status", "status": "Failure", "code": code, "message": "no", **more}
        return web.json_response(told, status=code)

    return misbehave


def writing(wire: Wire, how: str) -> None:
    wire.cut = lambda method, path: how if method in ("PATCH", "POST", "DELETE") else ""


def reading(wire: Wire, how: str) -> None:
    wire.cut = lambda method, path: how if method == "GET" else ""


def sent_lines(folder: Path) -> int:
    return Journal(folder / "journal").path.read_text().count('"sending"')


# One after the other


async def test_each_result_is_told_before_the_next_write_is_sent(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE) as box, hand_in(box, tmp_path) as executor:
        sent = []
        async for result in executor.carry_out(planned(box, pausing), pausing):
            sent.append((result.step.target.name, len(wire.writes)))
        assert sent == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(("how", "outcome"), [("after", Outcome.DONE), ("before", Outcome.FAILED)])
async def test_several_lost_answers_are_told_in_the_order_of_the_plan(
    how: str, outcome: Outcome, tmp_path: Path, wire: Wire
) -> None:
    async with box_with(THREE) as box, hand_in(box, tmp_path, look_for=0.05) as executor:
        plan = planned(box, pausing)
        writing(wire, how)
        results = await done(executor, plan, pausing)
        assert [(one.step.target.name, one.outcome) for one in results] == [(name, outcome) for name in "abc"]


async def test_who_leaves_while_an_answer_is_looked_for_leaves_it_as_unknown(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:2]) as box, hand_in(box, tmp_path, look_for=600.0) as executor:
        plan = planned(box, pausing)
        wire.cut = lambda method, path: "" if method == "GET" else "after" if path.endswith("/a") else "before"
        results = executor.carry_out(plan, pausing)
        first = await anext(results)
        assert (first.step.target.name, first.outcome) == ("a", Outcome.DONE)
        looks = len(wire.asked)
        async with asyncio.timeout(120):
            while len(wire.asked) == looks:  # noqa: ASYNC110 - a request's arrival has no event
                await asyncio.sleep(0.01)
        await results.aclose()  # type: ignore[attr-defined]
        (_, left) = executor.journal.read()
        assert left.name == "b"
        assert left.result.startswith("unknown: The connection to ")


# The journal


async def test_what_is_not_written_needs_no_journal(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("")
    async with box_with(THREE[:1]) as box:
        plan = planned(box, pausing)
        async with hand_in(box, tmp_path) as executor:
            (rehearsed,) = await done(executor, plan, pausing, dry_run=True)
        async with hand_in(box, tmp_path, read_only=True) as executor:
            (held,) = await done(executor, plan, pausing)
        assert (rehearsed.outcome, held.outcome) == (Outcome.DONE, Outcome.NOT_SENT)
        assert "read-only" in held.error
        assert not named(box, "a").spec.paused


async def test_of_a_new_object_the_journal_has_the_uid_that_the_server_gave_it(tmp_path: Path) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        (made,) = await done(executor, planned(box, plan_back_up_now), plan_back_up_now)
        (entry,) = executor.journal.read()
        stored = box.storage.get(box.storage.kind("Backup"), "velero", entry.name)
        assert (made.outcome, entry.uid) == (Outcome.DONE, stored["metadata"]["uid"])


async def test_a_tenant_cannot_wash_the_journal(tmp_path: Path) -> None:
    """Twenty-four large objects of a tenant, deleted together, push no earlier entry out."""
    notes = {"note": "x" * 250_000}
    large = [obj("NonAdminRestore", f"r{number:02}", {"restoreSpec": {"backupName": "b"}}) for number in range(24)]
    for one in large:
        one["metadata"]["annotations"] = notes
    async with box_with([*THREE[:1], *large]) as box, hand_in(box, tmp_path) as executor:
        await done(executor, planned(box, pausing), pausing)
        snapshot = world_in(box)
        plan = plan_delete_nar(snapshot, sorted(snapshot.nars, key=lambda one: one.name), NOW)
        results = await done(executor, plan, plan_delete_nar)
        assert {one.outcome for one in results} == {Outcome.DONE}
        written = [(one.name, one.result) for one in executor.journal.read()]
        assert written == [("a", "done"), *((f"r{number:02}", "done") for number in range(24))]
        lines = executor.journal.path.read_bytes().splitlines()
        assert len(lines) == 50
        assert max(map(len, lines)) <= 16 * 1024
        *_, last = executor.journal.read()
        assert last.before["metadata"]["annotations"]["note"].endswith("more characters]")


async def test_a_lock_that_is_held_refuses_the_write_and_the_loop_goes_on(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as usual:
        executor = replace(usual, journal=Journal(tmp_path / "journal", lock_limit=0.3))
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        counting = asyncio.ensure_future(count())
        with hold(executor.journal.path), pytest.raises(ForetopError, match="another process has locked it for"):
            await done(executor, planned(box, pausing), pausing)
        counting.cancel()
        assert turns > 100
        assert wire.writes == []


@pytest.mark.sweep
def test_a_command_that_waits_for_the_lock_can_be_interrupted(tmp_path: Path) -> None:
    state = tmp_path / "state"
    environ = {**os.environ, "XDG_STATE_HOME": str(state), "XDG_CONFIG_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    home = {"kind": "Namespace", "metadata": {"name": "velero"}}
    with box_in_thread([home, *THREE]) as box, hold(Journal(default_path(environ)).path) as lock:
        pausing_all = ("schedule", "pause", "--all", "--yes", "--kubeconfig", str(box.kubeconfig(tmp_path / "config")))
        waits = [sys.executable, "-c", _WAITS_LONG, *pausing_all]
        with subprocess.Popen(waits, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as foretop:
            assert foretop.stderr is not None
            assert "waits" in foretop.stderr.readline()
            foretop.send_signal(signal.SIGINT)
            assert foretop.wait(120) == 130
        assert not lock.closed
    assert list(Journal(default_path(environ)).read()) == []


_WAITS_LONG = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from foretop_core.actions import journal
from foretop.cli import main
lock = journal.lock_file
def told(*arguments):
    print("waits", file=sys.stderr)
    return lock(arguments[0], 600.0, *arguments[2:])
journal.lock_file, journal.LOCK_LIMIT, journal.DISK_LIMIT = told, 600.0, 600.0
main()
"""


async def test_a_write_that_is_done_stays_done_where_the_journal_fails_meanwhile(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)

        async def misbehave(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
            executor.journal.path.unlink()
            executor.journal.path.mkdir()
            return await answer(request)

        wire.misbehave = misbehave
        (result,) = await done(executor, plan, pausing)
        assert result.outcome is Outcome.DONE
        assert (
            result.error
            == f"The journal {executor.journal.path} cannot be written: is a directory (set XDG_STATE_HOME)"
        )
        assert named(box, "a").spec.paused


async def test_a_refusal_and_a_journal_that_fails_are_both_told(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        refuse = refusing(422, reason="Invalid")

        async def misbehave(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
            executor.journal.path.unlink()
            executor.journal.path.mkdir()
            return await refuse(request, answer)  # type: ignore[no-any-return]

        wire.misbehave = misbehave
        (result,) = await done(executor, plan, pausing)
        assert result.outcome is Outcome.FAILED
        assert result.error.startswith("no; The journal ")


async def test_a_step_is_written_down_once_for_each_time_that_it_is_planned(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        wire.cut = lambda method, path: "busy" if method == "PATCH" and len(wire.writes) < 3 else ""
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, len(wire.writes), sent_lines(tmp_path)) == (Outcome.DONE, 3, 1)
    other = tmp_path / "other"
    other.mkdir()
    wire.cut = lambda method, path: ""
    async with box_with([a_schedule(paused=True)]) as box, hand_in(box, other) as executor:
        planner = unpausing(Choice.SKIP)
        plan = planned(box, planner)
        patch_schedule(box, "nightly", {"metadata": {"labels": {"seen": "yes"}}})
        (result,) = await done(executor, plan, planner)
        assert (result.outcome, sent_lines(other)) == (Outcome.DONE, 2)


# Refusals


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(400, Outcome.FAILED), (403, Outcome.FAILED), (404, Outcome.FAILED), (422, Outcome.FAILED), (499, Outcome.FAILED)],
)
async def test_a_refusal_of_the_server_is_told_with_its_code(
    code: int, outcome: Outcome, tmp_path: Path, wire: Wire
) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        wire.misbehave = refusing(code)
        (result,) = await done(executor, plan, pausing)
        more = " (ask for a role with this permission)" if code == 403 else ""
        assert (result.outcome, result.status, result.error) == (outcome, code, f"no{more}")
        assert len(wire.writes) == 1
        assert [line.result for line in executor.journal.read()] == [f"failed: no{more}"]


async def test_a_refusal_without_a_word_is_told_by_its_code(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        for code in (403, 422):
            wire.misbehave = refusing(code, message="")
            (result,) = await done(executor, plan, pausing)
            assert result.error.startswith(f"The API server answered {code}")


@pytest.mark.parametrize("code", [500, 503])
async def test_a_server_that_failed_may_have_made_the_write_all_the_same(code: int, tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:2]) as box, hand_in(box, tmp_path, look_for=0.05) as executor:
        plan = planned(box, pausing)

        async def misbehave(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
            if request.path.endswith("/a"):
                await answer(request)
            return web.json_response({"kind": "Status", "code": code, "message": "no"}, status=code)

        wire.misbehave = misbehave
        results = await done(executor, plan, pausing)
        assert [one.outcome for one in results] == [Outcome.DONE, Outcome.FAILED]
        assert len(wire.writes) == 2


async def test_a_rehearsal_that_is_lost_has_failed_and_is_not_looked_for(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path, look_for=600.0) as executor:
        plan = planned(box, pausing)
        writing(wire, "500")
        (result,) = await done(executor, plan, pausing, dry_run=True)
        assert result.outcome is Outcome.FAILED


async def test_a_success_without_the_object_is_unknown_and_one_without_the_change_has_failed(
    tmp_path: Path, wire: Wire
) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan, before = planned(box, pausing), box.storage.get(box.storage.kind("Schedule"), "velero", "a")

        async def accepted(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
            return web.Response(status=202)

        async def unchanged(request: web.BaseRequest, answer: Answer) -> web.StreamResponse:
            return web.json_response(before)

        for misbehave, dry_run, outcome in (
            (accepted, False, Outcome.UNKNOWN),
            (accepted, True, Outcome.FAILED),
            (unchanged, False, Outcome.FAILED),
        ):
            wire.misbehave = misbehave
            (result,) = await done(executor, plan, pausing, dry_run=dry_run)
            assert result.outcome is outcome


async def test_what_is_deleted_already_is_done_and_what_exists_already_is_not_made_again(
    tmp_path: Path, wire: Wire
) -> None:
    async with box_with([a_schedule("nightly")]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, creating)
        box.storage.create(box.storage.kind("Schedule"), a_schedule("new"))
        (result,) = await done(executor, plan, creating)
        assert (result.outcome, result.status) == (Outcome.FAILED, 409)
        assert "already exists" in result.error
        assert len(wire.writes) == 1
        removal = planned(box, deleting)
        box.storage.delete(box.storage.kind("Schedule"), "velero", "new")
        results = await done(executor, removal, deleting)
        assert [(one.outcome, one.error) for one in results] == [
            (Outcome.DONE, "it was already deleted"),
            (Outcome.DONE, ""),
        ]


# A busy server


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    asked: list[float] = []
    sleep = asyncio.sleep

    async def at_once(seconds: float, result: Any = None) -> Any:
        asked.append(seconds)
        return await sleep(0, result)

    monkeypatch.setattr(asyncio, "sleep", at_once)
    return asked


@pytest.mark.parametrize(
    ("details", "waits"), [({"retryAfterSeconds": 7}, 7.0), ({}, 1.0), ({"retryAfterSeconds": 10}, 10.0)]
)
async def test_a_busy_server_says_how_long_to_wait(
    details: dict[str, int], waits: float, tmp_path: Path, wire: Wire, slept: list[float]
) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path, patience=10.0) as executor:
        plan = planned(box, pausing)
        wire.misbehave = refusing(429, details=details)
        slept.clear()
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, result.error) == (Outcome.NOT_SENT, f"refused {MOST_TRIES} times in a row: no")
        assert [seconds for seconds in slept if seconds] == [waits] * MOST_TRIES


async def test_a_server_that_is_busy_for_too_long_is_not_waited_for(
    tmp_path: Path, wire: Wire, slept: list[float]
) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path, patience=10.0) as executor:
        plan = planned(box, pausing)
        wire.misbehave = refusing(429, details={"retryAfterSeconds": 11})
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, result.status, len(wire.writes)) == (Outcome.FAILED, 429, 1)
        assert 11.0 not in slept


# What a new object is made from


@pytest.mark.parametrize(
    ("how", "outcome", "error"),
    [
        ("", Outcome.DONE, ""),
        ("403", Outcome.DONE, ""),
        ("404", Outcome.CHANGED, "backup velero/one was deleted in the meantime"),
        ("500", Outcome.NOT_SENT, "The API server answered 500 Internal Server Error: told 500"),
        ("before", Outcome.NOT_SENT, ""),
    ],
)
async def test_the_source_of_a_new_object_is_looked_at_first(
    how: str, outcome: Outcome, error: str, tmp_path: Path, wire: Wire
) -> None:
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path, patience=0.2) as executor:
        plan = planned(box, restoring)
        reading(wire, how)
        (result,) = await done(executor, plan, restoring)
        assert result.outcome is outcome
        assert error in result.error
        assert bool(wire.writes) is (outcome is Outcome.DONE)
        assert (box.storage.find(box.storage.kind("Restore"), "velero", "back") is not None) is (
            outcome is Outcome.DONE
        )


async def test_a_page_in_the_place_of_the_source_stops_the_write(tmp_path: Path, wire: Wire) -> None:
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, restoring)
        wire.pages["/backups/one"] = "<html>"
        (result,) = await done(executor, plan, restoring)
        assert (result.outcome, wire.writes) == (Outcome.NOT_SENT, [])


async def test_a_server_that_is_away_before_the_first_write_is_sent_nothing_at_all(tmp_path: Path, wire: Wire) -> None:
    two = [ONE, obj("Backup", "two", {"storageLocation": "default"}, status=ONE["status"])]
    async with box_with([*two, location()]) as box, hand_in(box, tmp_path, patience=0.2) as executor:
        plan = plan_restore(executor.snapshot(), executor.snapshot().backups, RestoreRequest(), executor.clock.now())
        assert len(plan.steps) == 2
        wire.cut = lambda method, path: "before" if path.endswith("/one") else ""
        results = await done(executor, plan, restoring)
        assert [one.outcome for one in results] == [Outcome.NOT_SENT, Outcome.NOT_SENT]
        assert results[0].error == results[1].error
        assert wire.writes == []


# Planned again


async def conflicted(wire: Wire, folder: Path, read: str) -> list[Result]:
    """One step whose object was changed meanwhile; the object is then answered as told."""
    async with box_with(THREE[:2]) as box, hand_in(box, folder, patience=0.2) as executor:
        plan = planned(box, pausing)
        patch_schedule(box, "a", {"metadata": {"labels": {"seen": "yes"}}})
        wire.cut = lambda method, path: read if method == "GET" and path.endswith("/a") else ""
        return await done(executor, plan, pausing)


@pytest.mark.parametrize(
    ("read", "outcomes", "error"),
    [
        ("", [Outcome.DONE, Outcome.DONE], ""),
        ("404", [Outcome.CHANGED, Outcome.DONE], "modified by someone else in the meantime"),
        ("403", [Outcome.NOT_SENT, Outcome.DONE], "told 403"),
        ("before", [Outcome.NOT_SENT, Outcome.NOT_SENT], ""),
    ],
)
async def test_an_object_that_changed_is_read_again_before_anything_else_is_sent(
    read: str, outcomes: list[Outcome], error: str, tmp_path: Path, wire: Wire
) -> None:
    results = await conflicted(wire, tmp_path, read)
    assert [one.outcome for one in results] == outcomes
    assert error in results[0].error


async def test_what_is_planned_again_is_of_the_moment_that_a_person_agreed_to(tmp_path: Path) -> None:
    """At another moment the plan would say something else, though nobody has changed what counts."""
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        patch_schedule(box, "a", {"metadata": {"labels": {"seen": "yes"}}})
        assert isinstance(executor.clock, ManualClock)
        executor.clock.advance(timedelta(minutes=5))
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, result.error) == (Outcome.DONE, "")
        assert named(box, "a").annotation(PAUSED_AT) == rfc3339(NOW)


async def test_a_namesake_is_told_apart_from_an_object_that_was_modified(tmp_path: Path) -> None:
    async with box_with(THREE[:2]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        kind = box.storage.kind("Schedule")
        box.storage.delete(kind, "velero", "a")
        box.storage.create(kind, a_schedule("a"))
        patch_schedule(box, "b", {"spec": {"schedule": "0 5 * * *"}})
        results = await done(executor, plan, pausing)
        assert [(one.outcome, one.error) for one in results] == [
            (Outcome.CHANGED, "deleted and created again in the meantime"),
            (Outcome.CHANGED, "modified by someone else in the meantime"),
        ]
        assert all(one.again is not None and one.status == 0 for one in results)


async def test_a_status_that_velero_writes_meanwhile_stops_no_pause(tmp_path: Path) -> None:
    async with box_with(THREE[:2]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        patch_schedule(box, "a", {"status": {"lastBackup": "2026-11-15T02:00:03Z"}})
        results = await done(executor, plan, pausing)
        assert [(one.outcome, one.error) for one in results] == [
            (Outcome.DONE, "its status changed in the meantime"),
            (Outcome.DONE, ""),
        ]
        assert named(box, "a").spec.paused is True


async def test_another_refusal_of_the_content_is_no_conflict(tmp_path: Path, wire: Wire) -> None:
    async with box_with(THREE[:1]) as box, hand_in(box, tmp_path) as executor:
        plan = planned(box, pausing)
        wire.misbehave = refusing(422, message="spec.schedule: Invalid value")
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, len(wire.writes)) == (Outcome.FAILED, 1)
        wire.asked.clear()
        wire.misbehave = refusing(422, message="metadata.uid: Invalid value: field is immutable")
        (result,) = await done(executor, plan, pausing)
        assert (result.outcome, len(wire.writes)) == (Outcome.NOT_SENT, MOST_TRIES)


# Rights


PATCHES = Rule(("get", "list", "watch", "patch", "delete"), ("velero.io",), ("schedules",))
ONE_NAME = User("one", (PATCHES._replace(names=("b",)),))
OTHERS = User("others", (PATCHES._replace(names=("z",)),))
READS = User("reads", (PATCHES._replace(verbs=("get", "list", "watch")),))


@pytest.mark.parametrize(("user", "allowed"), [("admin", True), ("one", True), ("others", False), ("reads", False)])
@pytest.mark.parametrize("planner", [pausing, deleting])
async def test_a_role_for_one_of_the_names_is_enough_to_try(
    user: str, allowed: bool, planner: Planner, tmp_path: Path, wire: Wire
) -> None:
    async with box_with(THREE, [ONE_NAME, OTHERS, READS]) as box, hand_in(box, tmp_path, user) as executor:
        plan = planned(box, planner)
        if allowed:
            await executor.guard(plan)
        else:
            verb = "patch" if planner is pausing else "delete"
            with pytest.raises(ActionRefused, match=rf"{verb} on schedules.velero.io in velero is not allowed"):
                await executor.guard(plan)
        assert wire.writes == []


async def test_a_new_object_needs_the_right_for_every_name(tmp_path: Path) -> None:
    maker = User("maker", (Rule(("create",), ("velero.io",), ("schedules",)),))
    only = User("only", (Rule(("create",), ("velero.io",), ("schedules",), names=("new",)),))
    async with box_with(THREE, [maker, only, READS]) as box:
        async with hand_in(box, tmp_path, "maker") as executor:
            await executor.guard(planned(box, creating))
        for user in ("only", "reads"):
            async with hand_in(box, tmp_path, user) as executor:
                with pytest.raises(ActionRefused, match=r"create on schedules.velero.io in velero is not allowed"):
                    await executor.guard(planned(box, creating))


async def test_only_the_first_names_of_many_are_asked_about(tmp_path: Path, wire: Wire) -> None:
    many = [a_schedule(f"s-{number:02}") for number in range(15)]
    async with box_with(many, [OTHERS]) as box, hand_in(box, tmp_path, "others") as executor:
        plan = planned(box, pausing)
        wire.asked.clear()
        with pytest.raises(ActionRefused):
            await executor.guard(plan)
        assert 0 < len(wire.asked) < len(many)


# Who acts


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"LOGNAME": "maria"}, "maria as admin"),
        ({"LOGNAME": "admin"}, "admin"),
        ({"USER": "adm"}, "admin"),
        ({}, "admin"),
        ({"SUDO_USER": "maria", "LOGNAME": "root", "USER": "root"}, "maria as admin"),
        ({"LOGNAME": "maria", "USER": "other"}, "maria as admin"),
    ],
)
async def test_who_acts_is_named_here_and_as_the_cluster_knows_them(
    environ: dict[str, str], name: str, tmp_path: Path
) -> None:
    async with box_with([]) as box, hand_in(box, tmp_path) as executor:
        assert await whoami(executor.client, environ) == name


async def test_who_cannot_be_asked_about_is_who_they_are_here(tmp_path: Path, wire: Wire) -> None:
    async with box_with([]) as box:
        async with hand_in(box, tmp_path, read_only=True) as executor:
            assert await whoami(executor.client, {"LOGNAME": "maria"}) == "maria"
            assert wire.asked == []
        async with hand_in(box, tmp_path) as executor:
            writing(wire, "404")
            assert await whoami(executor.client, {"LOGNAME": "maria"}) == "maria"
            assert await whoami(executor.client, {}) == "somebody"
