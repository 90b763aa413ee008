"""Every action against every way in which a server or something in between can answer a write: none is done falsely."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.plan_executor import MOST_TRIES, Outcome, PlanExecutor
from foretop_core.actions.planners.backups import (
    plan_back_up_now,
)
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.run_files import file_plan
from foretop_core.actions.write_answer import check_answer
from foretop_core.errors import Unreadable
from foretop_core.models import NonAdmin
from foretop_core.rules.pauses import OWN_MANAGER
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.local_api_server import LocalApiServer
from tests.examples import sampled
from tests.objects import NOW, schedule
from tests.sample_plans import HELD, SAMPLES, WORLD, by_name, samples_in
from tests.wire.action_fixtures import (
    Answer,
    Wire,
    a_schedule,
    box_with,
    done,
    hand_in,
    pausing,
    planned,
    wire,
)

__all__ = ["wire"]
LOGIN = "<html><form action=/login>Please sign in</form></html>"


@asynccontextmanager
async def box_of_all() -> AsyncIterator[LocalApiServer]:
    """An object for every action; one schedule has been paused by foretop itself."""
    async with box_with(WORLD) as box:
        box.storage.create(box.storage.kind("Schedule"), HELD, manager=OWN_MANAGER)
        yield box


def _always(plan: Plan) -> Planner:
    return lambda _snapshot, _items, _now: plan


def plans(executor: PlanExecutor, box: LocalApiServer) -> list[tuple[Plan, Planner]]:
    """One for every action."""
    snapshot = executor.snapshot()
    made = [(sample.plan(snapshot, NOW), sample.again) for sample in samples_in(box).values()]
    for item in (*by_name("ended", "backups")(snapshot), *by_name("kept", "nabs")(snapshot)):
        for file in RunFile:
            if isinstance(item, NonAdmin) and file is RunFile.RESOURCES:
                continue  # The list of resources is asked of Velero's own objects alone.
            plan = file_plan(executor, item, file)
            made.append((plan, _always(plan)))
    return made


@dataclass
class Tally:
    """What really reached the box, and what somebody else was sent."""

    made: set[str] = field(default_factory=set)
    """The names of the objects that the box has written."""
    elsewhere: list[str] = field(default_factory=list)
    other: str = ""
    later: list[asyncio.Task[Any]] = field(default_factory=list)

    async def make(self, request: web.BaseRequest, box: Answer) -> dict[str, Any]:
        answer = await box(request)
        assert isinstance(answer, web.Response)
        body = json.loads(answer.body or b"{}")  # type: ignore[arg-type]
        if answer.status < 300:
            meta = body["metadata"]
            self.made.add(
                meta.get("generateName", "").rstrip("-") or meta.get("name") or request.path.rpartition("/")[2]
            )
        return dict(body)


Way = Callable[[Tally, web.BaseRequest, Answer], Any]


def hang_up(request: web.BaseRequest) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def says(
    body: Any, code: int = 200, *, applied: bool = False, raw: bool = False, kind: str = "application/json"
) -> Way:
    async def way(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
        if applied:
            await tally.make(request, box)
        content = body if raw else json.dumps(body).encode()
        return web.Response(body=content, status=code, content_type=kind)

    return way


def twisted(change: Callable[[dict[str, Any]], Any], *, applied: bool = False) -> Way:
    """The object that the box has at that path, or would make, changed."""

    async def way(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
        sent = json.loads(await request.read())
        meta = {"name": request.path.rpartition("/")[2], "namespace": "velero", "uid": "u", **sent.get("metadata", {})}
        found = await tally.make(request, box) if applied else {**sent, "metadata": meta}
        return web.json_response(change(found))

    return way


def redirect(code: int, *, applied: bool = False) -> Way:
    async def way(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
        if applied:
            await tally.make(request, box)
        return web.Response(status=code, headers={"Location": f"{tally.other}{request.path}"})

    return way


async def cut_before(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
    return hang_up(request)


async def cut_after(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
    await tally.make(request, box)
    return hang_up(request)


async def cut_and_made_later(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
    await request.read()

    async def late() -> None:
        await asyncio.sleep(0.05)
        await tally.make(request, box)

    tally.later.append(asyncio.create_task(late()))
    return hang_up(request)


def truncated(*, applied: bool) -> Way:
    async def way(tally: Tally, request: web.BaseRequest, box: Answer) -> web.StreamResponse:
        made = json.dumps(await tally.make(request, box)).encode() if applied else await request.read()
        response = web.StreamResponse(headers={"Content-Length": str(len(made)), "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(made[: len(made) // 2])
        return hang_up(request)

    return way


async def honest(tally: Tally, request: web.BaseRequest, box: Answer) -> web.Response:
    made = await tally.make(request, box)
    return web.json_response(made, status=made["code"] if made.get("status") == "Failure" else 200)


def status(code: int, reason: str = "") -> dict[str, Any]:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": "no"}


ANSWERS: dict[str, Way] = {
    "honest": honest,
    "login page": says(LOGIN.encode(), raw=True, kind="text/html"),
    "login page after the write": says(LOGIN.encode(), raw=True, kind="text/html", applied=True),
    "redirect to another server": redirect(302),
    "redirect that keeps the method": redirect(307),
    "redirect after the write": redirect(307, applied=True),
    "nothing": says(b"", raw=True),
    "no content": says(b"", 204, raw=True),
    "202 without a body": says(b"", 202, raw=True),
    "202 that is made later": says({"kind": "Status", "status": "Success", "code": 202}, 202),
    "201 of a login page": says(LOGIN.encode(), 201, raw=True, kind="text/html"),
    "null": says(None),
    "a list": says([{"kind": "Schedule"}]),
    "bad UTF-8": says(b'{"kind":"Schedule","metadata":{"name":"\xff"}}', raw=True),
    "nested without end": says(b"[" * 30_000, raw=True),
    "Status Failure with 200": says(status(500)),
    "Status Success of something else": says({"kind": "Status", "status": "Success", "details": {"name": "x"}}),
    "another name": twisted(lambda found: {**found, "metadata": {**found["metadata"], "name": "other"}}),
    "another namespace": twisted(lambda found: {**found, "metadata": {**found["metadata"], "namespace": "other"}}),
    "another kind": twisted(lambda found: {**found, "kind": "ConfigMap"}),
    "another uid": twisted(lambda found: {**found, "metadata": {**found["metadata"], "uid": "other"}}),
    "no uid": twisted(lambda found: {**found, "metadata": {**found["metadata"], "uid": None}}),
    "error in bad UTF-8 after the write": says(b'{"message":"\xff"}', 500, raw=True, applied=True),
    "error in bad UTF-8": says(b'{"message":"\xff"}', 500, raw=True),
    "500": says(status(500, "InternalError")),
    "504 after the write": says(status(504, "Timeout"), 504, applied=True),
    "403 page of a proxy": says(LOGIN.encode(), 403, raw=True, kind="text/html"),
    "404 page of a proxy": says(LOGIN.encode(), 404, raw=True, kind="text/html"),
    "404 page of a proxy after the write": says(LOGIN.encode(), 404, raw=True, applied=True),
    "500 that claims 404": says(status(404, "NotFound"), 500),
    "cut before": cut_before,
    "cut after": cut_after,
    "made after the cut": cut_and_made_later,
    "cut inside the answer": truncated(applied=True),
    "cut inside the answer, not made": truncated(applied=False),
}
SUCCESSES = frozenset(
    {
        *("login page", "nothing", "no content", "202 without a body", "202 that is made later", "201 of a login page"),
        *("null", "a list", "bad UTF-8", "nested without end", "Status Failure with 200", "another name", "500"),
        *("Status Success of something else", "another namespace", "another kind", "another uid", "no uid"),
        "cut inside the answer, not made",
    }
)
"""Answers 2xx that are not the object, or not all of it; nothing was made."""
_EACH_TIME = (
    *("login page", "202 without a body", "202 that is made later"),
    *("honest", "login page after the write", "redirect that keeps the method", "redirect after the write", "null"),
    *("Status Success of something else", "another name", "another uid", "500", "504 after the write"),
    *("404 page of a proxy after the write", "cut before", "cut after", "made after the cut", "cut inside the answer"),
    "cut inside the answer, not made",
)
"""One of each sort; all of them run in the sweeps."""


@asynccontextmanager
async def another_server(tally: Tally) -> AsyncIterator[None]:
    """Would take any write, and says that it has made it."""

    async def handle(request: web.Request) -> web.Response:
        tally.elsewhere.append(f"{request.method} {request.path}")
        sent = json.loads(await request.read() or b"{}")
        meta = {"name": request.path.rpartition("/")[2], "namespace": "velero", "uid": "u", **sent.get("metadata", {})}
        return web.json_response({**sent, "metadata": meta})

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    tally.other = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
    try:
        yield
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("name", sampled(ANSWERS, *_EACH_TIME))
async def test_no_write_is_done_falsely_or_missing_in_the_journal(name: str, tmp_path: Path, wire: Wire) -> None:
    tally = Tally()
    async with (
        box_of_all() as box,
        # All the others are decided when the answer is lost: one look tells as much as many.
        hand_in(box, tmp_path, look_for=60.0 if name == "made after the cut" else 0.0) as executor,
        another_server(tally),
    ):
        made = plans(executor, box)
        assert {plan.record for plan, _ in made} == set(RECORDS)
        wire.misbehave = lambda request, box: ANSWERS[name](tally, request, box)
        asked = len(wire.writes)
        results = [result for plan, planner in made for result in await done(executor, plan, planner)]
        await asyncio.gather(*tally.later)
        assert len(results) == len(made)
        assert len(wire.writes) - asked >= len(made)
        for result in results:
            if result.outcome is Outcome.DONE:
                assert result.step.target.name in tally.made, f"{result.step.target} was not made"
            if result.outcome in (Outcome.FAILED, Outcome.NOT_SENT):
                assert result.step.target.name not in tally.made, f"{result.step.target} was made"
        if name in ("honest", "cut after", "made after the cut", "login page after the write"):
            assert {result.outcome for result in results} == {Outcome.DONE}
        if name in SUCCESSES:
            assert {result.outcome for result in results} == {Outcome.UNKNOWN}
        lines = [(line.kind, line.name, line.result.partition(":")[0]) for line in executor.journal.read()]
        assert lines == [(r.step.target.kind, r.step.target.name, r.outcome.value) for r in results]
        assert tally.elsewhere == []


async def test_a_server_that_never_lets_a_write_through_is_asked_a_few_times_only(tmp_path: Path, wire: Wire) -> None:
    for code in (409, 429):
        folder = tmp_path / str(code)
        folder.mkdir()
        async with box_of_all() as box, hand_in(box, folder, look_for=0.0) as executor:
            refusal = says({**status(code, "Conflict"), "details": {"retryAfterSeconds": 0}}, code)
            wire.misbehave = lambda request, answer, refusal=refusal: refusal(Tally(), request, answer)
            for plan, planner in plans(executor, box):
                wire.asked.clear()
                (result,) = await done(executor, plan, planner)
                assert result.outcome in (Outcome.NOT_SENT, Outcome.FAILED)
                assert len(wire.writes) <= MOST_TRIES
            wire.misbehave = None


@pytest.mark.parametrize("action", SAMPLES)
async def test_a_namesake_made_meanwhile_is_not_touched(action: str, tmp_path: Path, wire: Wire) -> None:
    sample = SAMPLES[action]
    async with box_of_all() as box, hand_in(box, tmp_path) as executor:
        snapshot = executor.snapshot()
        plan = sample.plan(snapshot, NOW)
        step = plan.steps[0]
        if step.write.method == "POST" and step.source is None:
            return
        target = step.source.target if step.source else step.target
        kind = box.storage.kind(target.kind)
        first = box.storage.get(kind, target.namespace, target.name)
        box.storage.delete(kind, target.namespace, target.name)
        kept = {
            key: value
            for key, value in first["metadata"].items()
            if key in ("name", "namespace", "labels", "annotations")
        }
        second = box.storage.create(kind, {**first, "metadata": kept}, manager=OWN_MANAGER)
        wire.asked.clear()
        result = (await done(executor, plan, sample.again))[0]
        assert result.outcome is Outcome.CHANGED
        assert result.error.endswith("deleted and created again in the meantime")
        assert not [path for method, path in wire.writes if method == "POST"]
        assert box.storage.get(kind, target.namespace, target.name) == second


@pytest.mark.sweep
async def test_lost_answers_are_looked_into_while_the_rest_is_sent(tmp_path: Path, wire: Wire) -> None:
    """A webhook that breaks every write would otherwise cost ten seconds for each schedule."""
    names = [f"s-{number:02}" for number in range(40)]
    async with (
        box_with([a_schedule(name) for name in names]) as box,
        hand_in(box, tmp_path, look_for=1.0) as executor,
    ):
        refusal = says(status(500, "InternalError"), 500)
        wire.misbehave = lambda request, answer: refusal(Tally(), request, answer)
        looked: list[int] = []
        async for result in executor.carry_out(planned(box, pausing), pausing):
            assert result.outcome is Outcome.FAILED
            looked.append(len(wire.writes))
        assert looked[0] > 1, "the next was sent before the first was given up"
        assert len(looked) == 40


async def test_what_a_dead_process_had_sent_is_in_the_journal(tmp_path: Path, wire: Wire) -> None:
    async with box_with([a_schedule()]) as box, hand_in(box, tmp_path) as executor:
        seen: list[str] = []

        async def while_sending(tally: Tally, request: web.BaseRequest, answer: Answer) -> web.Response:
            seen.extend(line.result for line in executor.journal.read())
            return await honest(tally, request, answer)

        wire.misbehave = lambda request, answer: while_sending(Tally(), request, answer)
        await done(executor, planned(box, pausing), pausing)
        (before,) = seen
        assert before.startswith("unknown: ")
        assert [line.result for line in executor.journal.read()] == ["done"]


@pytest.mark.parametrize(
    "another", [{"name": "other"}, {"namespace": "other"}, {"name": "other", "namespace": "other"}]
)
def test_a_new_object_of_another_name_or_namespace_is_no_answer(another: dict[str, str]) -> None:
    """What is created has no uid yet that could tell them apart."""
    item = schedule()
    (step,) = plan_back_up_now(ClusterSnapshot("prod", schedules=(item,)), [item], NOW).steps
    meta = {"name": step.target.name, "namespace": "velero", "uid": "u", "creationTimestamp": "2026-11-15T02:41:07Z"}
    made = {**step.write.body, "kind": "Backup", "metadata": meta}
    check_answer(step, json.dumps(made).encode())
    with pytest.raises(Unreadable, match=r"The answer is not about"):
        check_answer(step, json.dumps({**made, "metadata": {**meta, **another}}).encode())
