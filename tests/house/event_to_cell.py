"""The way from a watch event to a cell: `python -m tests.house.event_to_cell` prints the own frames on the stack.

The event ends in the feed; a frame of the screen takes it from there, puts the row in its place, and paints its cells.
A station is a file that one of these stacks goes through.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from foretop.app import Dashboard
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.session import open_session
from foretop_core.store.store import Feed
from foretop_core.tables.resources.runs import BackupRow, BackupsView
from foretop_demo.scenarios import find_scene
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.tui.dashboard_on_box import CONTEXT, Watching

_OWN = ("/foretop_core/", "/foretop/")
_WAITING = ("Reflector._watch", "Dashboard._pump")
"""The coroutines that wait for an event and for a change; those that keep them running pass nothing on."""


def own_frames(innermost: FrameType | None) -> list[str]:
    """`file:function` of the own frames, from the outermost to the innermost."""
    found: list[str] = []
    while innermost is not None:
        path = innermost.f_code.co_filename
        if any(part in path for part in _OWN):
            inner = path[path.rindex("/foretop") + 1 :].partition("/")[2]
            found.append(f"{inner}:{innermost.f_code.co_qualname}")
        innermost = None if innermost.f_code.co_qualname in _WAITING else innermost.f_back
    return found[::-1]


def stations(*stacks: list[str]) -> list[str]:
    """The files that the stacks go through, each once."""
    return list(dict.fromkeys(frame.partition(":")[0] for frames in stacks for frame in frames))


class Way:
    """The stacks of one change."""

    def __init__(self, name: str) -> None:
        columns = {column.name: column for column in BackupsView().columns}
        self._name = name
        self._sort = _code(columns["started"].sort)
        self._text = _code(columns["errors"].cell)
        self.event: list[str] = []
        self.place: list[str] = []
        self.cell: list[str] = []

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call":
            return
        if not self.event and code is Feed.publish.__code__ and frame.f_locals["key"].name == self._name:
            self.event = own_frames(frame)
        elif self.event and not self.place and code is self._sort and self._is_changed(frame):
            self.place = own_frames(frame)
        elif self.place and not self.cell and code is self._text and self._is_changed(frame):
            self.cell = own_frames(frame)

    def _is_changed(self, frame: FrameType) -> bool:
        rows = (value for value in frame.f_locals.values() if isinstance(value, BackupRow))
        return any(row.run.name == self._name for row in rows)


def _code(function: Callable[..., Any]) -> CodeType:
    return function.__code__


async def follow_change() -> Way:
    """A backup changes in a simulated cluster while the page of backups is on the screen."""
    box = SimulatedCluster(find_scene("quiet"), ScenarioOptions(), FIXED_START, 1.0)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.push_async_callback(box.close)
        cluster = await box.open()
        config = cluster.kubeconfig(folder / "kubeconfig", "admin")
        options = SessionOptions(ConnectionOptions(kubeconfig=str(config)))
        session = open_session(options, {"XDG_CONFIG_HOME": str(folder)}, box.running_clock)
        app = Dashboard(lambda: session, DisplayOptions(flash=False, page="backups"))
        shown = Watching(app, await stack.enter_async_context(app.run_test(size=(120, 40))))
        await shown.until(lambda: app.main_screen.state is not None and app.main_screen.state.has_loaded)
        await session.settled(CONTEXT)
        await shown.tick()
        kind = box.storage.kind("Backup")
        name = shown.table.window[0].key.name
        way = Way(name)
        sys.setprofile(way.note)
        try:
            box.storage.patch(kind, HOME, name, {"status": {"errors": 7}}, "somebody")
            await shown.until(lambda: bool(way.cell))
        finally:
            sys.setprofile(None)
        return way


def main() -> None:
    way = asyncio.run(follow_change())
    stacks = {"event to feed": way.event, "frame to the row's place": way.place, "frame to cell": way.cell}
    for title, frames in stacks.items():
        print(f"{title}: {len(frames)} frames")
        for frame in frames:
            print(f"  {frame}")
    print(f"event to cell: {len(way.event) + len(way.cell)} frames, {len(stations(way.event, way.cell))} stations")
    print(f"with the row's place: {len(stations(*stacks.values()))} stations")


if __name__ == "__main__":
    main()
