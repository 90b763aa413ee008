"""A dashboard before a cluster whose backups come, move on and go for a month: what it holds must not grow.

The names are ever new, while the number of objects stays the same: whatever is kept by name and never let go shows.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from foretop_core.clock import ManualClock
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.local_api_server import LocalApiServer
from tests.objects import NOW
from tests.terminal import Terminal, cpu_seconds, resident_megabytes

OBJECTS = 1_000
MONTH = timedelta(days=30)
PARTS = 20
"""After each of so many parts it is looked at; the first quarter is the warm-up."""
MOST_GROWTH = 1.05
_AT_ONCE = 100
_PAUSE = 0.02
"""Seconds after so many events at once: a server does not send them faster."""
_PROBE = "probe"
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Level:
    """What the program holds at one time, and what it did since the last look."""

    events: int
    megabytes: float
    descriptors: int
    threads: int
    answer: float
    cpu: float

    def __str__(self) -> str:
        return (
            f"{self.events:>9,} events  {self.megabytes:6.1f} MB  {self.descriptors:3} descriptors  {self.threads:2} "
            f"threads  a change is shown in {self.answer * 1000:5.0f} ms  {self.cpu:5.1f} s CPU"
        )


def run_for_long(events: int, seed: int, say: Say) -> list[str]:
    """What has grown after so many events."""
    return asyncio.run(_run(events, Random(seed), say))


async def _run(events: int, dice: Random, say: Say) -> list[str]:
    clock = ManualClock(NOW)
    async with LocalApiServer(clock=clock) as box:
        world = _World(box.storage, dice, clock, MONTH / events)
        with tempfile.TemporaryDirectory() as home:
            kubeconfig = box.kubeconfig(Path(home) / "kubeconfig")
            command = [sys.executable, "-m", "foretop", "--kubeconfig", str(kubeconfig), "--page", "backups"]
            with Terminal(
                command, 120, 40, {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}, anew=True
            ) as terminal:
                return _judge(await _watch(terminal, world, events, say))


async def _watch(terminal: Terminal, world: _World, events: int, say: Say) -> list[Level]:
    await asyncio.to_thread(terminal.shows, "API ●")
    terminal.press(f"/{_PROBE}\r")
    await asyncio.to_thread(terminal.shows, "Completed")
    levels: list[Level] = []
    cpu = cpu_seconds(terminal.pid)
    for part in range(1, PARTS + 1):
        while world.events < events * part // PARTS:
            for _ in range(_AT_ONCE):
                world.go_on()
            await asyncio.sleep(_PAUSE)
        phase = world.change_probe()
        answer = await asyncio.to_thread(terminal.until, partial(_has_probe, phase=phase))
        used = cpu_seconds(terminal.pid)
        levels.append(_level(world.events, terminal.pid, answer, used - cpu))
        cpu = used
        say(str(levels[-1]))
    return levels


def _has_probe(lines: list[str], phase: str) -> bool:
    return any(_PROBE in line and phase in line for line in lines)


def _level(events: int, pid: int, answer: float, cpu: float) -> Level:
    held = [len(os.listdir(f"/proc/{pid}/{what}")) for what in ("fd", "task")]
    return Level(events, resident_megabytes(pid), held[0], held[1], answer, cpu)


def _judge(levels: list[Level]) -> list[str]:
    warm, after = levels[: PARTS // 4], levels[PARTS // 4 :]
    lost = []
    if after[-1].megabytes > MOST_GROWTH * max(level.megabytes for level in warm):
        lost.append(f"memory grew from {warm[-1].megabytes:.1f} to {after[-1].megabytes:.1f} MB")
    for what in ("descriptors", "threads"):
        before, last = max(getattr(level, what) for level in warm), getattr(after[-1], what)
        if last > before:
            lost.append(f"{before} {what} became {last}")
    lost += ["a change was not shown" for level in levels if level.answer == float("inf")]
    return lost


class _World:
    """Backups that are made, counted up, ended and deleted, and the clock that goes on with them."""

    def __init__(self, storage: InProcessApi, dice: Random, clock: ManualClock, step: timedelta) -> None:
        self.events = 0
        self._storage = storage
        self._dice = dice
        self._clock = clock
        self._step = step
        self._backup = storage.kind("Backup")
        self._numbers = count()
        self._names: deque[str] = deque()
        storage.create(storage.kind("Namespace"), {"kind": "Namespace", "metadata": {"name": "velero"}})
        self._create(_PROBE, "Completed")
        for _ in range(OBJECTS):
            self._begin()

    def go_on(self) -> None:
        """One event."""
        self._clock.advance(self._step)
        self.events += 1
        if self.events % 5 == 0:
            self._storage.delete(self._backup, "velero", self._names.popleft())
        elif self.events % 5 == 1:
            self._begin()
        else:
            name = self._names[self._dice.randrange(len(self._names))]
            done = self._dice.randrange(100)
            status: dict[str, Any] = {"progress": {"itemsBackedUp": done, "totalItems": 100}}
            if done > 90:
                status |= {"phase": "Completed", "completionTimestamp": _text(self._clock.now())}
            self._storage.patch_status(self._backup, "velero", name, status)

    def change_probe(self) -> str:
        phase = "Failed" if self._phase == "Completed" else "Completed"
        self._phase = phase
        self._storage.patch_status(self._backup, "velero", _PROBE, {"phase": phase})
        return phase

    _phase = "Completed"

    def _begin(self) -> None:
        name = f"hourly-{next(self._numbers):09}"
        self._names.append(name)
        self._create(name, "InProgress")

    def _create(self, name: str, phase: str) -> None:
        now = _text(self._clock.now())
        self._storage.create(
            self._backup,
            {
                "kind": "Backup",
                "metadata": {"name": name, "namespace": "velero", "labels": {"velero.io/schedule-name": "hourly"}},
                "spec": {"includedNamespaces": [f"team-{self._dice.randrange(20)}"], "ttl": "720h0m0s"},
                "status": {"phase": phase, "startTimestamp": now},
            },
        )


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
