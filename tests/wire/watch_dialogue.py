"""A reflector and an API server that answers from a script: all that is asked and reported is noted in order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.kube.watching.reflector import Reflector
from foretop_core.kube.watching.retry import InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import EventType, FirstRows, WatchHealth, WatchScope, WatchState
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import Resource
from tests.objects import NOW
from tests.wire.faulty_server import PATIENCE, hang_up, status
from tests.wire.scripted_api import client_of

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
EVERYWHERE, IN_TEAM_A = WatchScope("scripted", SCHEDULE), WatchScope("scripted", SCHEDULE, "team-a")
TYPE = {"apiVersion": "velero.io/v1", "kind": "Schedule"}


class Even(Random):
    """Draws nine tenths where the middle is one, so that a factor and a divisor differ."""

    def uniform(self, a: float, b: float) -> float:
        return round(a + (b - a) * 0.3, 9)

    def randint(self, a: int, b: int) -> int:
        return a


def item(name: str, version: str = "1", **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "velero", "resourceVersion": version}, **fields}


def body(names: Iterable[object] | None, version: str, chunk: str, left: int | None) -> dict[str, object]:
    meta = {"resourceVersion": version, "continue": chunk, "remainingItemCount": left}
    items = None if names is None else [item(one) if isinstance(one, str) else one for one in names]
    return {
        "kind": "ScheduleList",
        "metadata": {key: value for key, value in meta.items() if value not in ("", None)},
        "items": items,
    }


def page(names: Iterable[object] | None, version: str = "5", chunk: str = "", left: int | None = None) -> Answer:
    """A list, or a page of one; an item is a name or an object."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(body(names, version, chunk, left))

    return answer


def refuse(code: int, message: str = "", retry_after: int | None = None) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return status(code, "Refused", message, retry_after)

    return answer


def event(change: str, name: str, version: str = "", **fields: Any) -> bytes:
    return json.dumps({"type": change, "object": {**TYPE, **item(name, version, **fields)}}).encode()


def stream(*lines: bytes, cut: bool = False, stall: bool = False) -> Answer:
    """A watch that brings these lines and then ends, breaks off, or falls silent."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for line in lines:
            await response.write(line + b"\n")
        if cut:
            await hang_up(request)
        if stall:
            await asyncio.Event().wait()
        return response

    return answer


@dataclass
class Dialogue:
    """The answers to lists and watches in turn; when there are no more, it is over."""

    answers: list[Answer]
    other: Mapping[str, object] = field(default_factory=dict)
    """What is answered elsewhere, by path: an object, or the code of a refusal."""
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    asked: list[str] = field(default_factory=list)
    """Lists, watches and naps."""
    params: list[Mapping[str, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What the sink heard."""
    healths: list[WatchHealth] = field(default_factory=list)
    first: FirstRows = field(default_factory=FirstRows)
    state: WatchState | None = None

    def __post_init__(self) -> None:
        self._over = asyncio.Event()
        self._news = asyncio.Event()

    def after(self, seconds: float, answer: Answer) -> Answer:
        """That answer so many seconds later, by the clock of the reflector."""

        async def late(request: web.Request) -> web.StreamResponse:
            self.clock.advance(timedelta(seconds=seconds))
            return await answer(request)

        return late

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("/schedules"):
            found = self.other.get(request.path, 404)
            return status(found, "Refused") if isinstance(found, int) else web.json_response(found)
        query = dict(request.query)
        self.params.append(query)
        told = query["resourceVersion"] if "watch" in query else " ".join(f"{key}={query[key]}" for key in query)
        self.asked.append(f"{'watch' if 'watch' in query else 'list'} {told}".rstrip())
        if not self.answers:
            self._over.set()
            await asyncio.Event().wait()
        return await self.answers.pop(0)(request)

    async def run(
        self, timing: WatchTimings | None = None, scope: WatchScope = EVERYWHERE, slots: WatchSlots | None = None
    ) -> None:
        async with client_of(self, self.clock) as client:
            pace = InterruptibleWait(self._nap, Even())
            reflector = Reflector(client, scope, self, self.clock, pace, timing, slots, self.first)
            assert reflector.state is WatchState.SYNCING
            task = asyncio.create_task(reflector.run())
            over = asyncio.create_task(self._over.wait())
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
            self.state = reflector.state
            if task.done():
                task.result()
            for one in (task, over):
                one.cancel()
                with suppress(asyncio.CancelledError):
                    await one

    async def _nap(self, seconds: float) -> None:
        self.asked.append(f"nap {round(seconds, 3):g}")

    async def until_told(self, what: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while what not in self.told:
                self._news.clear()
                await self._news.wait()

    def _tell(self, what: str) -> None:
        self.told.append(what)
        self._news.set()

    def replace_begin(self) -> None:
        self._tell("begin")

    def page(self, objects: Iterable[Resource]) -> None:
        self._tell(" ".join(["page", *(found.name for found in objects)]))

    def replace_end(self, version: str = "") -> None:
        self._tell(f"end {version}".rstrip())

    def apply(self, event: EventType, resource: Resource) -> None:
        self._tell(f"{event} {resource.name}")

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        self._tell(f"unreadable {namespace}/{name} {version}: {problem}")

    def health(self, health: WatchHealth) -> None:
        self.healths.append(health)
        self._tell(health.state.value)
