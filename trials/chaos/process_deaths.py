"""foretop killed with SIGKILL in the middle of its writes: the journal has every write that was made, and says so."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Answer, Wire, a_schedule, tapped
from tests.wire.boxes import box_in_thread

NAMES = tuple(f"nightly-{number}" for number in range(6))
WAYS = ("before the write", "after the write", "after the answer", "at any time")
_FORETOP = (sys.executable, "-m", "foretop")
_PATIENCE = 120.0


def try_death(seed: int) -> list[str]:
    """What was lost with one process."""
    dice = random.Random(seed)
    way = dice.choice(WAYS)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        wire = tapped(patch)
        objects: list[dict[str, Any]] = [{"kind": "Namespace", "metadata": {"name": "velero"}}]
        with box_in_thread([*objects, *map(a_schedule, NAMES)]) as box:
            return [f"seed {seed}, killed {way}: {lost}" for lost in _die(way, dice, box, wire, Path(folder))]


def _die(way: str, dice: random.Random, box: LocalApiServer, wire: Wire, folder: Path) -> list[str]:
    reached = threading.Event()
    if way != "at any time":
        wire.misbehave = _stop_at(way, dice.randrange(len(NAMES)), reached)
    environ = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    kubeconfig = box.kubeconfig(folder / "kubeconfig")
    command = [*_FORETOP, "schedule", "pause", "--all", "--yes", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as foretop:
        reached.wait(dice.uniform(0.3, 2.0) if way == "at any time" else _PATIENCE)
        foretop.kill()
    told = subprocess.run([*_FORETOP, "journal", "-o", "json"], env=environ, capture_output=True, check=False)
    if told.returncode != 0:
        return [f"foretop journal ended with {told.returncode}: {told.stderr.decode()[-200:]}"]
    results = {item["name"]: item["result"] for item in json.loads(told.stdout)["items"]}
    made = {name for name in NAMES if _is_paused(box, name)}
    lost = [f"{name} was paused and is not in the journal" for name in sorted(made - results.keys())]
    lost += [f"{name} counts as done and is not" for name in results if results[name] == "done" and name not in made]
    open_ends = [name for name, result in results.items() if result.startswith("unknown: foretop ended")]
    if way in ("before the write", "after the write") and not open_ends:
        lost.append(f"no write has an open end: {results}")
    return lost


def _stop_at(
    way: str, place: int, reached: threading.Event
) -> Callable[[web.BaseRequest, Answer], Awaitable[web.StreamResponse]]:
    """The write at this place is the last one that is answered, or is not."""
    asked = 0

    async def misbehave(request: web.BaseRequest, box: Answer) -> web.StreamResponse:
        nonlocal asked
        if request.method != "PATCH":
            return await box(request)
        asked += 1
        if asked <= place:
            return await box(request)
        if way == "before the write":
            reached.set()
            await asyncio.sleep(_PATIENCE)
        answer = await box(request)
        reached.set()
        if way == "after the write":
            await asyncio.sleep(_PATIENCE)
        return answer

    return misbehave


def _is_paused(box: LocalApiServer, name: str) -> bool:
    found: dict[str, Any] = box.storage.get(box.storage.kind("Schedule"), "velero", name)
    return bool(found["spec"].get("paused"))
