"""A client in a process of its own, for measuring the box: `python -m trials.bench.load_client URL TOKEN WRITES`.

Five watchers follow while four writers change statuses; it prints the seconds until all of them have seen everything.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator

import aiohttp

WATCHERS, WRITERS = 5, 4
NABS = "/apis/oadp.openshift.io/v1alpha1/nonadminbackups"
NAB = "/apis/oadp.openshift.io/v1alpha1/namespaces/team/nonadminbackups/nab-{:05}/status"
PATCH = {"Content-Type": "application/merge-patch+json"}


async def watch(session: aiohttp.ClientSession, version: str, writes: int, ready: asyncio.Semaphore) -> None:
    query = {"watch": "1", "resourceVersion": version}
    async with session.get(NABS, params=query, timeout=aiohttp.ClientTimeout(None)) as answer:
        ready.release()
        for _ in range(writes):
            assert json.loads(await answer.content.readline())["type"] == "MODIFIED"


async def write(session: aiohttp.ClientSession, numbers: Iterator[int]) -> None:
    for number in numbers:
        body = json.dumps({"status": {"queueInfo": {"estimatedQueuePosition": number + 1}}})
        async with session.patch(NAB.format(number), data=body, headers=PATCH) as answer:
            assert answer.status == 200


async def measure(url: str, token: str, writes: int) -> float:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(url, headers=headers) as session:
        async with session.get(NABS, params={"limit": "1"}) as answer:
            version = (await answer.json())["metadata"]["resourceVersion"]
        ready = asyncio.Semaphore(0)
        async with asyncio.TaskGroup() as group:
            for _ in range(WATCHERS):
                group.create_task(watch(session, version, writes, ready))
            for _ in range(WATCHERS):
                await ready.acquire()
            begin = time.perf_counter()
            numbers = iter(range(writes))
            for _ in range(WRITERS):
                group.create_task(write(session, numbers))
        return time.perf_counter() - begin


if __name__ == "__main__":
    print(asyncio.run(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
