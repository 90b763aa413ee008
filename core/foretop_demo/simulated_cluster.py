"""A running box: the API server with a scenario and its controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from foretop_core.clock import Clock, FastClock, ManualClock, SystemClock
from foretop_core.models import Resource, from_builtins
from foretop_core.models.kinds import KINDS
from foretop_demo.access import User
from foretop_demo.controllers.clock import BoxClock
from foretop_demo.controllers.downloads import FileServer
from foretop_demo.controllers.engine import Engine
from foretop_demo.controllers.variants import catalog_for
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.local_api_server import LocalApiServer, seed_defaults
from foretop_demo.scenarios import Scenario
from foretop_demo.scenarios.scenario_builder import ScenarioBuilder, ScenarioOptions

_HISTORY = 1024
"""The changes of each kind kept for watches that lag behind; they are most of the memory of a busy box."""

FIXED_START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)
"""The start of a scenario that must repeat exactly."""


class SimulatedCluster:
    """A box with its scenario set up and warmed up; `open` serves requests and runs its time, until `close`.

    Before that its clock is manual: `engine.advance` runs the controllers without waiting.
    """

    def __init__(
        self, scene: Scenario, options: ScenarioOptions, start: datetime | None = None, speed: float = 1.0
    ) -> None:
        self.scene = scene
        self.speed = speed
        self.start = (start or SystemClock().now()).replace(microsecond=0)
        self.clock = BoxClock(ManualClock(self.start - scene.warm_up))
        self.storage = InProcessApi(
            self.clock,
            catalog_for(options.behaviour, options.velero_version),
            history=_HISTORY,
            seed=options.seed,
            name=scene.name,
        )
        seed_defaults(self.storage)
        self._file_server = FileServer()
        self.engine = Engine(self.storage, self.clock)
        self.builder = ScenarioBuilder(self.engine, self.start, options, self._file_server)
        self.builder.history.put("ConfigMap", self._about(options), self.start)
        scene.set_up(self.builder)
        self.engine.run_until(self.start)
        self.storage.compact()
        self._stack = AsyncExitStack()
        self._task: asyncio.Task[None] | None = None

    async def open(self, users: Iterable[User] = (), port: int = 0) -> LocalApiServer:
        """Serve, and run the box's time from where it is; if that fails, everything is closed again."""
        try:
            return await self._open(users, port)
        except BaseException:
            await self.close()
            raise

    async def _open(self, users: Iterable[User], port: int) -> LocalApiServer:
        await self._stack.enter_async_context(self._file_server)
        cluster = await self._stack.enter_async_context(LocalApiServer(self.clock, users, port, self.storage))
        self.clock.base = FastClock(self.clock.base.now(), self.speed)
        self._task = asyncio.create_task(self.engine.run(self.speed))
        return cluster

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._stack.aclose()

    def _about(self, options: ScenarioOptions) -> Json:
        """The description of this box: `kubectl -n kube-public get configmap minicluster -o yaml`."""
        data = {
            "scene": self.scene.name,
            "behaviour": options.behaviour.value,
            "velero": options.velero_version,
            "seed": str(options.seed),
            "speed": f"{self.speed:g}",
        }
        return {"metadata": {"name": "minicluster", "namespace": "kube-public"}, "data": data}

    @property
    def running_clock(self) -> Clock:
        """The box's time, as a viewer should show it."""
        return self.clock.base

    def settle(self, by: timedelta) -> None:
        """Let simulated time pass before the box is opened."""
        self.engine.advance(by)

    def objects(self) -> list[Resource]:
        """Every object that foretop has a model for, in its current state."""
        return [
            from_builtins(kind.model, body)
            for kind in KINDS
            for body in self.storage.list(self.storage.kind(kind.name))
        ]
