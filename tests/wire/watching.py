"""What the wire tests put around a reflector: a sink that remembers, waits that take no time, a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from random import Random

from core.clock import SystemClock
from core.kube.auth import Authenticator
from core.kube.client import ApiClient
from core.kube.config import ContextConfig, Identity
from core.kube.execplugin import ExecPlugins
from core.kube.pace import Pace, Timing
from core.kube.reflector import Reflector
from core.kube.sink import EventType, Health, Scope, State
from core.models.kinds import SCHEDULE
from core.models.wire import Resource
from tests.wire.rough import RoughServer

PATIENCE = 20.0


class MemorySink:
    """Keeps the latest of every object, as the store does, and lets a test wait for what it expects."""

    def __init__(self) -> None:
        self.objects: dict[str, Resource] = {}
        self.bad: dict[str, str] = {}
        self.lost_lines = 0
        self.healths: list[Health] = []
        self.replacements = 0
        self._listed: set[str] = set()
        self._gone: dict[str, int] = {}
        self._news = asyncio.Event()

    def replace_begin(self) -> None:
        self._listed = set()

    def page(self, objects: Iterable[Resource]) -> None:
        for found in objects:
            self._listed.add(found.name)
            self.bad.pop(found.name, None)
            self.objects[found.name] = found
        self._news.set()

    def replace_end(self) -> None:
        self.replacements += 1
        self.objects = {name: found for name, found in self.objects.items() if name in self._listed}
        self.bad = {name: problem for name, problem in self.bad.items() if name in self._listed}
        self._gone = {}
        self._news.set()

    def apply(self, event: EventType, resource: Resource) -> None:
        name, version = resource.name, int(resource.metadata.resource_version)
        held = self.objects.get(name)
        known = int(held.metadata.resource_version) if held else self._gone.get(name, 0)
        if version >= known:
            self.objects.pop(name, None)
            self.bad.pop(name, None)
            if event == "DELETED":
                self._gone[name] = version
            else:
                self.objects[name] = resource
        self._news.set()

    def unreadable(self, namespace: str, name: str, problem: str) -> None:
        if name:
            self._listed.add(name)
            self.objects.pop(name, None)
            self.bad[name] = problem
        else:
            self.lost_lines += 1
        self._news.set()

    def health(self, health: Health) -> None:
        self.healths.append(health)
        self._news.set()

    @property
    def state(self) -> State | None:
        return self.healths[-1].state if self.healths else None

    def versions(self) -> dict[str, str]:
        return {name: found.metadata.resource_version for name, found in self.objects.items()}

    async def until(self, settled: Callable[[], bool], patience: float = PATIENCE) -> None:
        async with asyncio.timeout(patience):
            while not settled():
                self._news.clear()
                await self._news.wait()

    async def until_equal(self, server: RoughServer) -> None:
        await self.until(lambda: self.versions() == versions(server))


class Naps:
    """Sleeps that take next to no time and remember how long they should have been."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0.001)


def versions(server: RoughServer) -> dict[str, str]:
    return {name: found["metadata"]["resourceVersion"] for name, found in server.objects.items()}


def connect(url: str, read_only: bool = False, identity: Identity | None = None) -> ApiClient:
    config = ContextConfig(name="rough", server=url, identity=identity or Identity(token="secret"))
    clock = SystemClock()
    auth = Authenticator(config, lambda: config, ExecPlugins(clock, {}), clock)
    return ApiClient(auth, clock, read_only)


@asynccontextmanager
async def following(
    server: RoughServer,
    timing: Timing | None = None,
    naps: Naps | None = None,
    sink: MemorySink | None = None,
) -> AsyncIterator[MemorySink]:
    """A reflector of schedules at work."""
    found = sink or MemorySink()
    client = connect(server.url)
    pace = Pace(naps or Naps(), Random(7))
    reflector = Reflector(client, Scope("rough", SCHEDULE), found, SystemClock(), pace, timing)
    task = asyncio.create_task(reflector.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await client.close()
