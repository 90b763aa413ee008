"""The dashboard before a living box, whose server keeps a list of the writes that reached it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aiohttp import web
from textual import events
from textual.pilot import Pilot

from foretop.app import Dashboard
from foretop.dialogs.dialog_parts import DialogButton
from foretop.dialogs.plan_screen import PlanScreen
from foretop_core.actions.journal import Journal, JournalEntry, default_path
from foretop_core.clock import ShiftedClock
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import ObjectRef
from foretop_core.session import Session, open_session
from foretop_demo.access import User
from foretop_demo.reconcile import Behaviour
from foretop_demo.scenarios import find_scene
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioOptions
from foretop_demo.server import ApiServer
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.tui.pilot import SMALL, Screen, running

CONTEXT = "minicluster"
_REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")


class Watching(Screen):
    """Keys and eyes before a session."""

    def __init__(self, app: Dashboard, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot


@dataclass
class Stand:
    """A person at the terminal, and the box behind it."""

    box: SimulatedCluster
    session: Session
    shown: Screen
    folder: Path
    writes: list[str] = field(default_factory=list)
    """Method and path of every write that reached the server."""
    before_write: Callable[[str, str], None] = lambda method, path: None
    """Called by the server before it looks at a write: the place for a second writer."""

    def key(self, kind: Kind, name: str, namespace: str = HOME) -> ObjectRef:
        return ObjectRef(CONTEXT, kind.name, namespace, name)

    def object(self, kind: str, name: str, namespace: str = HOME) -> dict[str, Any]:
        found = self.box.storage.find(self.box.storage.kind(kind), namespace, name)
        assert found is not None, f"there is no {kind} {namespace}/{name}"
        return found

    def patch(self, kind: str, name: str, change: dict[str, Any], namespace: str = HOME) -> None:
        """A second writer."""
        self.box.storage.patch(self.box.storage.kind(kind), namespace, name, change, "kubectl")

    async def stop_velero(self) -> None:
        """The controllers of the box stand still; its server goes on."""
        assert self.box._task is not None
        self.box._task.cancel()
        await asyncio.gather(self.box._task, return_exceptions=True)

    def start_velero(self) -> None:
        self.box._task = asyncio.create_task(self.box.engine.run(self.box.speed))

    @property
    def dialog(self) -> PlanScreen:
        screen = self.shown.app.screen
        assert isinstance(screen, PlanScreen), f"no dialog is open:\n{self.shown.text}"
        return screen

    @property
    def has_dialog(self) -> bool:
        return isinstance(self.shown.app.screen, PlanScreen)

    @property
    def journal(self) -> list[JournalEntry]:
        return list(Journal(default_path({"XDG_STATE_HOME": str(self.folder)})).read())

    async def see(self, *texts: str) -> None:
        """Waits until all of these are on the screen, wherever its lines are broken."""

        def all_seen() -> bool:
            shown = unfolded(self.shown.lines)
            return all(text in shown for text in texts)

        await self.shown.until(all_seen)

    async def go(self, tab: str, key: ObjectRef) -> None:
        await self.shown.press(*((tab,) if len(tab) == 1 else (":", *tab, "enter")))
        await self.shown.until(lambda: self.session.store.get(key) is not None)
        await self.shown.tick()
        await self.shown.on(key)

    async def paste(self, text: str) -> None:
        assert self.shown.app._driver is not None
        self.shown.app._driver.send_message(events.Paste(text))
        await self.shown.idle()

    async def send(self) -> None:
        """On to the knob that sends, from whatever has the focus, and presses it."""
        go = self.shown.app.screen.query_one("#go", DialogButton)
        for _ in self.shown.app.screen.focus_chain:
            if go.has_focus:
                break
            await self.shown.press("tab")
        assert go.has_focus, f"tab does not come to {go.label}:\n{self.shown.text}"
        await self.shown.press("enter")


def unfolded(lines: Sequence[str]) -> str:
    """The screen as one line, without the frames of windows: text is found wherever it was folded.

    A pane beside the table is read after it.
    """
    parts = [line.partition("││") for line in lines]
    in_order = [left for left, _, _ in parts] + [right for _, between, right in parts if between]
    return " ".join(" ".join(part.strip(" │|─") for part in in_order).split())


@asynccontextmanager
async def stand(
    render: str,
    folder: Path | None = None,
    *,
    size: tuple[int, int] = SMALL,
    read_only: bool = False,
    user: User | None = None,
    behaviour: Behaviour = Behaviour.RELEASED,
    speed: float = 1.0,
    made_by: Callable[[Session], Dashboard] | None = None,
    painted: bool = False,
    ahead: timedelta | None = None,
) -> AsyncIterator[Stand]:
    """The dashboard before a box, in a folder; `painted` for tests that look at what is written to the terminal.

    The clock of this machine is as far `ahead` of the cluster's.
    """
    box = SimulatedCluster(find_scene(render), ScenarioOptions(behaviour=behaviour), FIXED_START, speed)
    held: list[Stand] = []
    route = ApiServer._route

    async def counting(self: ApiServer, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path
        if held and request.method != "GET" and not path.endswith(_REVIEWS):
            held[0].writes.append(f"{request.method} {path[path.find('/api') :]}")
            held[0].before_write(request.method, path)
        return await route(self, request)

    with _in_folder(folder) as (folder, environ):
        environ.setattr(ApiServer, "_route", counting)
        try:
            cluster = await box.open(users=(user,) if user else ())
            config = cluster.kubeconfig(folder / "kubeconfig", user.name if user else "admin")
            options = SessionOptions(ConnectionOptions(kubeconfig=str(config)), read_only=read_only)
            session = open_session(
                options, {"XDG_CONFIG_HOME": str(folder)}, ShiftedClock(box.running_clock, lambda: ahead)
            )
            app = (
                made_by(session)
                if made_by
                else Dashboard(lambda: session, DisplayOptions(flash=False, read_only=read_only))
            )
            async with running(app, size, painted=painted) as pilot:
                shown = Watching(app, pilot)
                await shown.until(lambda: app.main_screen.state is not None and app.main_screen.size.width == size[0])
                await session.settled(CONTEXT)
                await shown.tick()
                made = Stand(box, session, shown, folder)
                held.append(made)
                yield made
        finally:
            await box.close()


@contextmanager
def _in_folder(folder: Path | None) -> Iterator[tuple[Path, pytest.MonkeyPatch]]:
    """What a key saves lands beside the rest of the test, and not in the checkout."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as made, pytest.MonkeyPatch.context() as environ:
        folder = folder or Path(made)
        environ.chdir(folder)
        environ.setenv("XDG_STATE_HOME", str(folder))
        environ.setenv("LOGNAME", "maria")
        yield folder, environ
