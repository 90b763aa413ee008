"""What a person acts with in the cluster in a box, and a box that counts what it is asked and can be made to fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from foretop_core.actions.journal import Journal
from foretop_core.actions.plan_executor import PlanExecutor, Result
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause, plan_unpause
from foretop_core.actions.plans import Plan, Planner
from foretop_core.clock import ManualClock
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.models import Schedule, from_builtins
from foretop_core.models.kinds import KINDS
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import Choice
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.access import User
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.server import ApiServer
from tests.objects import NOW

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")


@dataclass
class Wire:
    """What came in, and what is to go wrong: `cut` says of a request whether its answer is lost, and how.

    A number is the code that is answered in the place of what was asked; "never" is no answer at all.
    """

    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    """What the writes said."""
    cut: Callable[[str, str], str] = lambda method, path: ""
    hold: asyncio.Event | None = None
    """A patch is not answered before this is set."""
    misbehave: Callable[[web.BaseRequest, Answer], Awaitable[web.StreamResponse]] | None = None
    """Answers the writes in the place of the box; the second one has the box make the write."""
    pages: dict[str, str] = field(default_factory=dict)
    """Texts that are answered at the ends of paths that the box itself does not know."""

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.asked if method != "GET" and not path.endswith(REVIEWS)]


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    return tapped(monkeypatch)


def tapped(monkeypatch: pytest.MonkeyPatch) -> Wire:
    """Every box that is opened from now on tells this of its requests."""
    known = Wire()

    class Told(ApiServer):
        async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
            known.asked.append((request.method, request.path))
            if request.method != "GET" and not request.path.endswith((*REVIEWS, "selfsubjectreviews")):
                known.bodies.append(await request.json())
            page = next((text for end, text in known.pages.items() if request.path.endswith(end)), None)
            if page is not None:
                return web.Response(text=page)
            if request.method == "PATCH" and known.hold is not None:
                await known.hold.wait()
            if known.misbehave is not None and request.method != "GET" and not request.path.endswith(REVIEWS):
                return await known.misbehave(request, super().handle)
            how = known.cut(request.method, request.path)
            if how == "busy":
                return web.json_response({"kind": "Status", "code": 429}, status=429, headers={"Retry-After": "0"})
            if how == "before":
                return _hang_up(request)
            if how == "never":
                await asyncio.Event().wait()
            if how.isdecimal():
                told = {"kind": "Status", "status": "Failure", "code": int(how), "message": f"told {how}"}
                return web.json_response(told, status=int(how))
            answer = await super().handle(request)
            return _hang_up(request) if how == "after" else answer

    monkeypatch.setattr("foretop_demo.local_api_server.ApiServer", Told)
    return known


def _hang_up(request: web.BaseRequest) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def world_in(box: LocalApiServer) -> ClusterSnapshot:
    """All that is in the box, as a session would have seen it."""
    found = []
    for kind in KINDS:
        found += [from_builtins(kind.model, body) for body in box.storage.list(box.storage.kind(kind.name))]
    return assemble(found, "minicluster")


@asynccontextmanager
async def hand_in(
    box: LocalApiServer,
    folder: Path,
    user: str = "admin",
    read_only: bool = False,
    patience: float = 60.0,
    look_for: float = 0.2,
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[PlanExecutor]:
    clock = ManualClock(NOW)
    path = box.kubeconfig(folder / f"kubeconfig-{user}", user)
    connections = connect(ConnectionOptions(kubeconfig=str(path)), environ or {}, clock, read_only)
    client = connections.clients["minicluster"]
    journal = Journal(folder / "journal")
    try:
        access = AccessReviewer(client, clock)
        yield PlanExecutor(client, access, clock, journal, user, lambda: world_in(box), patience, look_for)
    finally:
        await client.close()


@asynccontextmanager
async def box_with(
    objects: Sequence[dict[str, Any]], users: Sequence[User] = (), storage: InProcessApi | None = None
) -> AsyncIterator[LocalApiServer]:
    async with LocalApiServer(clock=ManualClock(NOW), users=users, storage=storage) as box:
        home = box.storage.kind("Namespace")
        for name in ("velero", "team-a"):
            box.storage.create(home, {"metadata": {"name": name}})
        for item in objects:
            box.storage.create(box.storage.kind(item["kind"]), item)
        yield box


async def done(executor: PlanExecutor, plan: Plan, planner: Planner, dry_run: bool = False) -> list[Result]:
    return [result async for result in executor.carry_out(plan, planner, dry_run)]


def named(box: LocalApiServer, name: str) -> Schedule:
    return from_builtins(Schedule, box.storage.get(box.storage.kind("Schedule"), "velero", name))


def a_schedule(name: str = "nightly", **spec: Any) -> dict[str, Any]:
    """Due since 01:00 at NOW."""
    return {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": name, "namespace": "velero", "creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"schedule": "0 * * * *", "template": {}, **spec},
        "status": {"phase": "Enabled", "lastBackup": "2026-11-15T00:00:03Z"},
    }


def patch_schedule(box: LocalApiServer, name: str, change: dict[str, Any]) -> None:
    """A second writer."""
    box.storage.patch(box.storage.kind("Schedule"), "velero", name, change, manager="somebody-else")


def unpausing(choice: Choice) -> Planner:
    def planner(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
        return plan_unpause(snapshot, items, choice, now)

    return planner


def pausing(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_pause(snapshot, items, PauseRequest("maria", "w1"), now)


def planned(box: LocalApiServer, planner: Planner) -> Plan:
    snapshot = world_in(box)
    return planner(snapshot, sorted(snapshot.schedules, key=lambda item: item.name), NOW)
