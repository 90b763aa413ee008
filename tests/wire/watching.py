"""What the wire tests put around a reflector: the store, waits that take no time, a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any, TypeVar

from foretop_core.clock import SystemClock
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient, WritePermit
from foretop_core.kube.connection.cluster_protection import ClusterProtection
from foretop_core.kube.connection.config import AuthInfo, ContextConfig
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.kube.watching.reflector import Reflector
from foretop_core.kube.watching.retry import InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchSink, WatchState
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import Resource
from foretop_core.store import Store, UnreadableObject
from tests.wire.faulty_server import RoughServer

T = TypeVar("T")
# A wait ends when the thing happens; this is for machines that have much else to do.
PATIENCE = 120.0


def fails_once(plain: Callable[..., T]) -> Callable[..., T]:
    """The same function, which raises when it is first called."""
    left = [RuntimeError("once")]

    def failing(*arguments: Any, **options: Any) -> T:
        if left:
            raise left.pop()
        return plain(*arguments, **options)

    return failing


class Noticed:
    """A sink that says when it was told something."""

    def __init__(self, sink: WatchSink, notice: Callable[[], None]) -> None:
        self._sink = sink
        self._notice = notice

    def replace_begin(self) -> None:
        self._sink.replace_begin()

    def page(self, objects: Iterable[Resource]) -> None:
        self._sink.page(objects)
        self._notice()

    def replace_end(self, version: str = "") -> None:
        self._sink.replace_end(version)
        self._notice()

    def apply(self, event: EventType, resource: Resource) -> None:
        self._sink.apply(event, resource)
        self._notice()

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        self._sink.unreadable(namespace, name, problem, version)
        self._notice()

    def health(self, health: WatchHealth) -> None:
        self._sink.health(health)
        self._notice()


class WatchedStore(Noticed):
    """The real store behind one watch, with a memory of what it was told and a way to wait for it."""

    def __init__(self, scope: WatchScope) -> None:
        self.store = Store()
        self.lost_lines = 0
        self.healths: list[WatchHealth] = []
        self.replacements = 0
        self._scope = scope
        self._news = asyncio.Event()
        super().__init__(self.store.sink(scope, SystemClock()), self._news.set)

    def replace_end(self, version: str = "") -> None:
        self.replacements += 1
        super().replace_end(version)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        self.lost_lines += not name
        super().unreadable(namespace, name, problem, version)

    def health(self, health: WatchHealth) -> None:
        self.healths.append(health)
        super().health(health)

    @property
    def state(self) -> WatchState | None:
        return self.healths[-1].state if self.healths else None

    @property
    def objects(self) -> dict[str, Resource]:
        rows = self.store.items(self._scope.context, self._scope.kind.name)
        return {key.name: found for key, found in rows if not isinstance(found, UnreadableObject)}

    @property
    def bad(self) -> dict[str, str]:
        return {key.name: found.problem for key, found in self.store.unreadable.items()}

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


def connect(url: str, read_only: bool = False, identity: AuthInfo | None = None) -> ApiClient:
    config = ContextConfig(name="rough", server=url, identity=identity or AuthInfo(token="secret"))
    clock = SystemClock()
    auth = Authenticator(config, lambda: config, ExecPlugins(clock, {}), clock)
    return ApiClient(auth, clock, ClusterProtection(read_only))


def permit(client: ApiClient, method: str, path: str, *confirmed: str) -> WritePermit:
    """As the guard would give it for this one write."""
    return WritePermit(client, frozenset({(method, path)}), frozenset(confirmed))


@asynccontextmanager
async def following(
    server: RoughServer,
    timing: WatchTimings | None = None,
    naps: Naps | None = None,
    pace: InterruptibleWait | None = None,
) -> AsyncIterator[WatchedStore]:
    """A reflector of schedules at work."""
    scope = WatchScope("rough", SCHEDULE)
    found = WatchedStore(scope)
    client = connect(server.url)
    paced = pace or InterruptibleWait(naps or Naps(), Random(7))
    reflector = Reflector(client, scope, found, SystemClock(), paced, timing)
    task = asyncio.create_task(reflector.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await client.close()
