"""For any order of events, faults and new lists, the store ends up with what the server has."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.kube.pace import Timing
from tests.wire.rough import RoughServer, Script, answer, hang_up, serving
from tests.wire.watching import following

NAMES = ["a", "b", "c", "d", "e"]
Step = Callable[[RoughServer], Awaitable[None]]


def _put(name: str, odd: bool) -> Step:
    async def step(server: RoughServer) -> None:
        await server.put(name, spec={"schedule": 7 if odd else f"{server.version} * * * *"})

    return step


def _delete(name: str) -> Step:
    async def step(server: RoughServer) -> None:
        if name in server.objects:
            await server.delete(name)

    return step


async def _compact(server: RoughServer) -> None:
    server.version += 1
    await server.compact()


async def _hold(server: RoughServer) -> None:
    server.holding = True


async def _release(server: RoughServer) -> None:
    await server.release()


async def _breathe(server: RoughServer) -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def _fault(queue: str, code: int) -> Step:
    async def step(server: RoughServer) -> None:
        faults = server.list_faults if queue == "list" else server.watch_faults
        faults.append(hang_up if code == 0 else answer(code, "Fault", retry_after=1 if code == 429 else None))

    return step


def _script(make: Callable[[], Script]) -> Step:
    async def step(server: RoughServer) -> None:
        server.scripts.append(make())

    return step


def _shuffled(seed: int) -> Callable[[list[bytes]], list[bytes]]:
    def twist(lines: list[bytes]) -> list[bytes]:
        mixed = [*lines, *lines]
        Random(seed).shuffle(mixed)
        return mixed

    return twist


STEPS = st.one_of(
    st.builds(_put, st.sampled_from(NAMES), st.integers(0, 9).map(lambda n: n == 0)),
    st.builds(_put, st.sampled_from(NAMES), st.just(False)),
    st.builds(_delete, st.sampled_from(NAMES)),
    st.sampled_from([_compact, _hold, _release, _breathe]),
    st.builds(_fault, st.sampled_from(["list", "watch"]), st.sampled_from([0, 410, 429, 500, 503])),
    st.builds(
        _script,
        st.sampled_from(
            [
                lambda: Script(cut_inside_line=1),
                lambda: Script(cut_inside_line=3),
                lambda: Script(end_after=1),
                lambda: Script(error_after=2),
                lambda: Script(drip=True),
                lambda: Script(gzipped=True),
                lambda: Script(twist=_shuffled(1)),
                lambda: Script(twist=_shuffled(2)),
                lambda: Script(twist=lambda lines: [b"{]\n", *lines[1:]], end_after=1),
            ]
        ),
    ),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, max_size=40))
def test_after_any_history_the_store_equals_the_server(steps: list[Step]) -> None:
    asyncio.run(_live_through(steps))


async def _live_through(steps: list[Step]) -> None:
    async with serving(RoughServer()) as server:
        for name in NAMES[:3]:
            await server.put(name, spec={"schedule": "@daily"})
        async with following(server, Timing(chunk=2)) as sink:
            for step in steps:
                await step(server)
            await server.release()
            readable = {name for name, found in server.objects.items() if found["spec"]["schedule"] != 7}

            def equal() -> bool:
                held = {name: found.metadata.resource_version for name, found in sink.objects.items()}
                wanted = {name: server.objects[name]["metadata"]["resourceVersion"] for name in readable}
                return held == wanted and set(sink.bad) == set(server.objects) - readable

            await sink.until(equal)
