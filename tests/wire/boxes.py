"""A cluster in a box on a thread of its own, for tests that call commands as a person does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from foretop_core.clock import ManualClock
from foretop_demo.access import User
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.objects import NOW


@contextmanager
def box_in_thread(
    objects: Sequence[dict[str, Any]] = (), users: Sequence[User] = (), created: datetime = NOW
) -> Iterator[LocalApiServer]:
    """Serves these objects, made at that moment, until the end of the block."""
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()
    made: list[LocalApiServer] = []

    async def serve() -> None:
        clock = ManualClock(created)
        async with LocalApiServer(clock=clock, users=users) as box:
            for item in objects:
                box.storage.create(box.storage.kind(item["kind"]), item)
            clock.set(NOW)
            made.append(box)
            ready.set()
            await done.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            # Here, because the thread of an async test has a running loop of its own.
            loop.close()
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        assert ready.wait(120), "the box did not open"
        assert made, "the box did not take the objects"
        yield made[0]
    finally:
        if made:
            loop.call_soon_threadsafe(done.set)
        thread.join(120)


@contextmanager
def living_box(
    scene: str, folder: Path, speed: float, options: ScenarioOptions | None = None
) -> Iterator[tuple[SimulatedCluster, str]]:
    """A scene with its controllers, whose time runs until the end of the block; and the kubeconfig that leads to it."""
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()
    made: list[tuple[SimulatedCluster, str]] = []

    async def live() -> None:
        box = SimulatedCluster(find_scene(scene), options or ScenarioOptions(), FIXED_START, speed)
        cluster = await box.open()
        made.append((box, str(cluster.kubeconfig(folder / "kubeconfig"))))
        ready.set()
        await done.wait()
        await box.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()), daemon=True)
    thread.start()
    try:
        assert ready.wait(120), "the box did not open"
        yield made[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(120)
        loop.close()


def kubeconfig(box: LocalApiServer, folder: Path, user: str = "admin") -> str:
    return str(box.kubeconfig(folder / f"kubeconfig-{user}", user))
