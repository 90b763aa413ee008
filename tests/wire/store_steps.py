"""Changes and faults that a store lives through, one after the other, and the check that it then has it all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchState
from tests.wire.faulty_server import RoughServer, Script, answer, hang_up, serving
from tests.wire.watching import WatchedStore, following

NAMES = ["a", "b", "c", "d", "e"]


@dataclass
class Pair:
    """The two that must agree."""

    server: RoughServer
    store: WatchedStore

    def agrees(self) -> bool:
        wanted = {name: found["metadata"]["resourceVersion"] for name, found in self.server.objects.items()}
        odd = {name for name, found in self.server.objects.items() if found["spec"]["schedule"] == 7}
        readable = {name: version for name, version in wanted.items() if name not in odd}
        return self.store.versions() == readable and set(self.store.bad) == odd

    async def catch_up(self) -> None:
        """A last object, told after all else, is there, and no list beside which it may have come is under way."""
        self.server.holding = False
        await self.server.put("last", spec={"schedule": str(self.server.version)})
        last = self.server.objects["last"]["metadata"]["resourceVersion"]
        await self.store.until(
            lambda: self.store.versions().get("last") == last and self.store.state is not WatchState.SYNCING
        )


Step = Callable[[Pair], Awaitable[None]]


def put(name: str, odd: bool) -> Step:
    async def step(pair: Pair) -> None:
        await pair.server.put(name, spec={"schedule": 7 if odd else f"{pair.server.version} * * * *"})

    return step


def delete(name: str) -> Step:
    async def step(pair: Pair) -> None:
        if name in pair.server.objects:
            await pair.server.delete(name)

    return step


async def compact(pair: Pair) -> None:
    pair.server.version += 1
    await pair.server.compact()


async def catch_up(pair: Pair) -> None:
    await pair.catch_up()


def fault(queue: str, code: int) -> Step:
    async def step(pair: Pair) -> None:
        faults = pair.server.list_faults if queue == "list" else pair.server.watch_faults
        faults.append(hang_up if code == 0 else answer(code, "Fault", retry_after=1 if code == 429 else None))

    return step


def misbehave(make: Callable[[], Script]) -> Step:
    """The next watch misbehaves; the present one is ended so that the next one comes."""

    async def step(pair: Pair) -> None:
        pair.server.scripts.append(make())
        await pair.server.end_watches()

    return step


def shuffled(seed: int) -> Callable[[list[bytes]], list[bytes]]:
    def twist(lines: list[bytes]) -> list[bytes]:
        mixed = [*lines, *lines]
        Random(seed).shuffle(mixed)
        return mixed

    return twist


def burst(steps: list[Step]) -> Step:
    """Several things at once, in one flush of the watch."""

    async def step(pair: Pair) -> None:
        pair.server.holding = True
        for one in steps:
            await one(pair)
        await pair.server.release()

    return step


SCRIPTS = [
    lambda: Script(cut_inside_line=1),
    lambda: Script(cut_inside_line=3),
    lambda: Script(end_after=1),
    lambda: Script(error_after=2),
    lambda: Script(drip=True),
    lambda: Script(gzipped=True),
    lambda: Script(twist=lambda lines: [b"{]\n", *lines[1:]], end_after=1),
]
FAULTS = (0, 410, 429, 500, 503)


async def live_through(steps: list[Step]) -> None:
    async with serving(RoughServer()) as server:
        for name in NAMES[:3]:
            await server.put(name, spec={"schedule": "@daily"})
        async with following(server, WatchTimings(chunk=2)) as sink:
            pair = Pair(server, sink)
            for step in steps:
                await step(pair)
            await pair.catch_up()
            await pair.catch_up()
            await sink.until(pair.agrees)
