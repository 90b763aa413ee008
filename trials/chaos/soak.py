"""A dashboard before 50,000 NABs of which 300 a second change, for ten minutes: the slowest key, and the memory.

`python -m trials.chaos soak [SECONDS]` runs it; the cluster is in a process of its own, which this module starts.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random

from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Kind
from foretop_demo.local_api_server import LocalApiServer
from tests.terminal import Terminal, cpu_seconds, resident_megabytes

OBJECTS, A_SECOND = 50_000, 300
SLOWEST_KEY = 0.5
MOST_GROWTH = 1.10
_TEAMS = 200
_BETWEEN_KEYS = 0.5
_LOOK = 30.0
_WARM = 60.0
"""Seconds until the level that the memory must keep to."""
_UNDER_WAY, _REFUSED = 0.04, 0.01
"""Shares of the NABs that are on their way, and that were refused; the others have ended."""
_PAGES = {"3": "NonAdmin", "4": "Queue", "1": "Triage", "7": "Backups", "5": "Calendar"}
"""The keys, and the tab that each lights up: opening a page is what takes longest."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen up to one time."""

    seconds: float
    megabytes: float
    slowest: float
    key: str
    busy: float
    """Seconds of a processor that foretop used for the slowest key: the rest of it, others had the machine."""
    cpu: float

    def __str__(self) -> str:
        return (
            f"{self.seconds:5.0f} s  {self.megabytes:6.1f} MB  slowest key {self.slowest * 1000:4.0f} ms ({self.key}, "
            f"{self.busy * 1000:.0f} ms of CPU)"
            f"  {self.cpu:3.0f} % CPU  load {os.getloadavg()[0]:.1f}"
        )


def soak(seconds: float, say: Say) -> list[str]:
    """What was too slow, or has grown, in that time."""
    with tempfile.TemporaryDirectory() as home:
        kubeconfig = Path(home) / "kubeconfig"
        command = [sys.executable, "-m", "trials.chaos.soak", str(kubeconfig)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                say(server.stdout.readline().strip())
                foretop = [sys.executable, "-m", "foretop", "--kubeconfig", str(kubeconfig), "--page", "nonadmin"]
                folders = {"HOME": home, "XDG_STATE_HOME": home, "XDG_CACHE_HOME": home}
                with Terminal(foretop, 120, 40, folders) as terminal:
                    terminal.shows(lambda lines: "API ●" in lines[0] and f"of {OBJECTS:,}" in "\n".join(lines))
                    return _judge(_watch(terminal, seconds, say))
            finally:
                server.terminate()


def _watch(terminal: Terminal, seconds: float, say: Say) -> list[Look]:
    looks: list[Look] = []
    began, cpu, slowest = time.perf_counter(), cpu_seconds(terminal.pid), (0.0, "", 0.0)
    for key, page in cycle(_PAGES.items()):
        before = cpu_seconds(terminal.pid)
        took = _answer(terminal, key, page)
        slowest = max(slowest, (took, key, cpu_seconds(terminal.pid) - before))
        passed = time.perf_counter() - began
        if passed >= _LOOK * (len(looks) + 1):
            used = cpu_seconds(terminal.pid)
            share = (used - cpu) / (passed - (looks[-1].seconds if looks else 0.0)) * 100
            looks.append(Look(passed, resident_megabytes(terminal.pid), *slowest, share))
            say(str(looks[-1]))
            cpu, slowest = used, (0.0, "", 0.0)
        if passed >= seconds:
            return looks
        time.sleep(_BETWEEN_KEYS)
    raise AssertionError("the keys never end")


def _answer(terminal: Terminal, key: str, page: str, limit: float = 60.0) -> float:
    """Seconds until the tab is lit."""
    begin = time.perf_counter()
    terminal.press(key)
    while page not in terminal.look()[1][1] and time.perf_counter() - begin < limit:
        terminal.changed(0.02)
    return time.perf_counter() - begin


def _judge(looks: list[Look]) -> list[str]:
    level = next(look.megabytes for look in looks if look.seconds >= _WARM)
    most = max(look.megabytes for look in looks if look.seconds >= _WARM)
    slowest = max(looks, key=lambda look: look.slowest)
    lost = []
    if slowest.slowest > SLOWEST_KEY:
        lost.append(f"the key {slowest.key} took {slowest.slowest:.2f} s")
    if most > MOST_GROWTH * level:
        lost.append(f"memory grew from {level:.1f} to {most:.1f} MB")
    return lost


async def _serve(kubeconfig: Path) -> None:
    async with LocalApiServer() as box:
        dice = Random(1)
        names = _fill(box.storage, dice)
        box.kubeconfig(kubeconfig)
        print(f"{OBJECTS:,} NABs, {A_SECOND} changes a second", flush=True)
        nab = box.storage.kind("NonAdminBackup")
        due = time.monotonic()
        while True:
            for _ in range(A_SECOND // 10):
                _change(box.storage, nab, *dice.choice(names), dice)
            due += 0.1
            await asyncio.sleep(max(0.0, due - time.monotonic()))


def _change(storage: InProcessApi, nab: Kind, namespace: str, name: str, dice: Random) -> None:
    rolled = dice.random()
    under_way = rolled < _UNDER_WAY
    velero = {"phase": "InProgress" if under_way else "Completed", "progress": {"itemsBackedUp": dice.randrange(1000)}}
    status = {
        "phase": "BackingOff" if rolled > 1 - _REFUSED else "Created",
        "queueInfo": {"estimatedQueuePosition": dice.randrange(1, 1000) if under_way else 0},
        "veleroBackup": {"name": name, "namespace": "velero", "nacuuid": name, "status": velero},
    }
    storage.patch_status(nab, namespace, name, status)


def _fill(storage: InProcessApi, dice: Random) -> list[tuple[str, str]]:
    nab = storage.kind("NonAdminBackup")
    for team in range(_TEAMS):
        storage.create(storage.kind("Namespace"), {"kind": "Namespace", "metadata": {"name": f"team-{team:03}"}})
    names = [(f"team-{number % _TEAMS:03}", f"nab-{number:05}") for number in range(OBJECTS)]
    accepted = {"type": "Accepted", "status": "True", "reason": "BackupAccepted", "message": "backup accepted"}
    for namespace, name in names:
        storage.create(
            nab,
            {
                "kind": "NonAdminBackup",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"backupSpec": {"includedNamespaces": [namespace], "ttl": "720h0m0s"}},
                "status": {"phase": "Created", "conditions": [accepted]},
            },
        )
        # Changed once before it is seen: what grows later is foretop, and not the objects.
        _change(storage, nab, namespace, name, dice)
    return names


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
