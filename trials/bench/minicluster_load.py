"""Benchmarks of the box: start-up, writes, and the time to load ten thousand objects."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterable

from foretop_core.clock import SystemClock
from foretop_demo import InProcessApi, LocalApiServer
from foretop_demo.reading import ListOptions
from foretop_demo.selectors import Selection
from trials.bench import Figure

WRITES, OBJECTS = 2_000, 10_000
START = """
import asyncio, urllib.request
from foretop_demo import LocalApiServer
async def main():
    async with LocalApiServer() as box:
        await asyncio.to_thread(lambda: urllib.request.urlopen(box.url + "/version").read())
        print("answered", flush=True)
asyncio.run(main())
"""


def measure() -> Iterable[Figure]:
    yield Figure("box: start to first answer, Python included", _start_seconds(), 0.5, "s")
    storage = InProcessApi(SystemClock())
    yield Figure("box: load and list 10,000 NABs", _load_seconds(storage), 5.0, "s")
    seconds = asyncio.run(_write_seconds(storage))
    yield Figure("box: a status write, five watchers", seconds / WRITES * 1000, 2.0, "ms")


def _start_seconds() -> float:
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", START], stdout=subprocess.PIPE) as box:
        assert box.stdout is not None
        assert box.stdout.readline() == b"answered\n"
        return time.perf_counter() - begin


def _load_seconds(storage: InProcessApi) -> float:
    storage.create(storage.kind("Namespace"), {"metadata": {"name": "team"}})
    kind = storage.kind("NonAdminBackup")
    begin = time.perf_counter()
    for number in range(OBJECTS):
        name = f"nab-{number:05}"
        storage.create(kind, {"metadata": {"name": name}, "spec": {"backupSpec": {"ttl": "720h0m0s"}}}, "team")
        storage.patch_status(kind, "team", name, {"phase": "Created", "veleroBackup": {"name": name}})
    for stored in storage.reader.list(kind, Selection(), ListOptions()).items:
        assert stored.raw
    return time.perf_counter() - begin


async def _write_seconds(storage: InProcessApi) -> float:
    async with LocalApiServer(storage=storage) as box:
        command = [sys.executable, "-m", "trials.bench.load_client", box.url, box.token(), str(WRITES)]
        client = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        out, _ = await client.communicate()
        return float(out)
