"""`python -m tests.tour.stepped_dashboard`: the dashboard here, before a cluster in a box whose clock is stepped.

A tour presses every key of every view in one run. So that it can, leaving foretop is told and not done until SIGUSR2
allows it, and a toast stays until the next key and no longer. SIGUSR1 lets the box's time go on by a step. The title
of the terminal tells where the screen is and which keys work there.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Input

import foretop.app
import foretop.startup
from foretop.app import Dashboard
from foretop.commands.demo import _served
from foretop.commands.start_dashboard import DisplayFlags, show_dashboard
from foretop.main_screen.main_screen import MainScreen
from foretop.pages.table_page import TablePage
from foretop.widgets.line_widgets import TextPane
from foretop_core.clock import Clock
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY
from foretop_core.session import Session, open_session
from foretop_demo.access import User
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.scenarios import Scenario, default
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster

STEP = timedelta(seconds=2)
_DRAWN_WITHIN = 0.5
_OF_TEXT_ENTRY = frozenset(
    {key for bound in Input.BINDINGS if isinstance(bound, Binding) for key in bound.key.split(",")} - {"ctrl+c"}
    | {"space", "slash", "colon", "question_mark", "minus", "asterisk", "left_square_bracket", "right_square_bracket"}
)
STAYED = "Here foretop would have ended"


class Where(msgspec.Struct, frozen=True):
    """Where the screen is, as the program knows it."""

    dealt: int = 0
    """Keys that were dealt with."""
    page: str = ""
    place: str = ""
    """The page, how it is narrowed, the object under the cursor or the one that is open, the section."""
    cursor: str = ""
    """The object under it; a head and its rows are told apart."""
    window: str = ""
    focus: str = ""
    field: str = ""
    """The field that is typed in."""
    order: str = ""
    marked: int = 0
    hidden: int = 0
    """Columns that have no room."""
    scrolls: bool = False
    """There is more to read than fits."""
    faults: int = 0
    own: dict[str, str] = {}
    """By key, what the page, its table or the window has bound to it."""
    offered: dict[str, str] = {}
    """By key, the action of the registry that it would carry out."""


def where(app: Dashboard, dealt: int) -> Where:
    frame, screen = app.main_screen, app.screen
    focused = screen.focused
    inside = frame.page if screen is frame and frame.page is not None else screen
    seen = {
        "dealt": dealt,
        "page": frame.current,
        "place": str(frame.page.place()) if frame.page is not None else "",
        "cursor": str(getattr(focused, "cursor", None) or ""),
        "window": "" if screen is frame else type(screen).__name__,
        "focus": f"{type(focused).__name__}#{focused.id or ''}" if focused is not None else "",
        "field": focused.id or "" if isinstance(focused, Input) else "",
        "scrolls": any(_is_longer(pane) for pane in inside.query("TextPane, LogLines") if pane.display),
        "faults": sum("could not be drawn" in text for _, text in app.told),
        "own": _not_typed(_own_keys(app), focused),
        "offered": _not_typed(_offered(frame), focused) if screen is frame else {},
    }
    return msgspec.convert(seen | _of_table(frame), Where)


def _not_typed(keys: dict[str, str], focused: Widget | None) -> dict[str, str]:
    """A field takes the keys of text entry for itself."""
    if not isinstance(focused, Input):
        return keys
    return {key: action for key, action in keys.items() if len(key) > 1 and key not in _OF_TEXT_ENTRY}


def _is_longer(pane: Any) -> bool:
    lines = pane._lines if isinstance(pane, TextPane) else pane.lines
    return bool(len(lines) > pane.size.height > 0)


def _of_table(frame: MainScreen) -> dict[str, object]:
    page = frame.page
    if not isinstance(page, TablePage) or page.rows is None:
        return {}
    rows, table = page.rows, page.table
    return {
        "order": f"{rows.sorted_by} {'down' if rows.reversed else 'up'}",
        "marked": len(table.marked),
        "hidden": len(rows.columns) - len(table._slots),
    }


def _own_keys(app: Dashboard) -> dict[str, str]:
    """What foretop's own pages, tables and windows have bound themselves; the nearest to the focus comes first."""
    found: dict[str, str] = {}
    for node, _ in app.screen._binding_chain:
        for kind in type(node).__mro__:
            if kind.__module__.startswith("foretop.") and kind is not MainScreen and not issubclass(kind, App):
                for bound in vars(kind).get("BINDINGS", ()):
                    for key in bound.key.split(","):
                        found.setdefault(key, bound.action)
    return found


def _offered(frame: MainScreen) -> dict[str, str]:
    found: dict[str, str] = {}
    for action in frame.available():
        for key in action.keys:
            found.setdefault(key, action.id)
    return found


def _set_up(builder: ScenarioBuilder) -> None:
    default.set_up(builder)
    for name in ("cassandra", "quarterly"):
        builder.patch("Schedule", HOME, name, {"metadata": {"annotations": {PAUSED_BATCH: f"upgrade-of-{name}"}}})
    # Paused anew by foretop: only such a pause can be changed.
    builder.patch("Schedule", HOME, "quarterly", {"spec": {"paused": False}})
    storage, pause = (
        builder.engine.storage,
        {"metadata": {"annotations": {PAUSED_BY: "maria"}}, "spec": {"paused": True}},
    )
    storage.patch(storage.kind("Schedule"), HOME, "quarterly", pause, "foretop")


class SteppedBox(SimulatedCluster):
    """Time stands still in it between two steps."""

    def __init__(self) -> None:
        scene = Scenario("tour", "something for every key", _set_up, timedelta(minutes=4))
        super().__init__(scene, ScenarioOptions(seed=1), FIXED_START)
        self._standing = self.clock.base

    async def _open(self, users: Iterable[User], port: int) -> LocalApiServer:
        cluster = await super()._open(users, port)
        assert self._task is not None
        self._task.cancel()
        self.clock.base = self._standing
        return cluster

    @property
    def running_clock(self) -> Clock:
        return self._standing

    def step(self) -> None:
        self.engine.advance(STEP)


def session_before(kubeconfig: Path, box: SteppedBox) -> Session:
    return open_session(SessionOptions(ConnectionOptions(kubeconfig=str(kubeconfig))), {}, box.running_clock)


class Touring(Dashboard):
    CSS_PATH = str(Path(foretop.app.__file__).with_name("styles") / "foretop.tcss")
    may_leave = False
    _told_where = b""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.copied: tuple[str, ...] = ()
        self.received = self.dealt = 0
        self._told_so_far = 0

    def where(self) -> Where:
        return where(self, self.dealt)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.received += 1
        await super().on_event(event)

    async def _send_next(self) -> None:
        if self._waiting_keys:
            self.clear_notifications()
        await super()._send_next()
        if self.has_no_keys:
            self.call_after_refresh(self._tell)
            # Where a window has opened meanwhile, the page behind it may not be drawn again before something happens.
            self.set_timer(_DRAWN_WITHIN, self._tell)

    def _display(self, *args: Any) -> None:
        super()._display(*args)
        if self._told_where and self.has_no_keys:
            self.call_later(self._tell)

    def _tell(self) -> None:
        """What a key sets going may end after it was dealt with: it is told again when it has."""
        if not self.has_no_keys:
            return
        self.dealt = self.received
        if self._driver is None or self.is_headless:
            return
        told = b"%d %s" % (self.dealt, msgspec.json.encode(self.where()))
        if told != self._told_where:
            self._told_where = told
            self._driver.write(f"\x1b]2;{told.decode()}\x07")
            self._driver.flush()

    def notify(self, message: str, **more: Any) -> None:
        """Each with its number, so that the same words told again are seen to be told again."""
        self._told_so_far += 1
        super().notify(f"№{self._told_so_far} {message}", **{**more, "timeout": 600})

    def copy_to_clipboard(self, text: str) -> None:
        self.copied += (text,)
        super().copy_to_clipboard(text)

    def exit(self, *args: Any, **more: Any) -> None:
        if args or Touring.may_leave:
            super().exit(*args, **more)
        else:
            self.notify(STAYED)


def _let_leave(*_: object) -> None:
    Touring.may_leave = True


@contextmanager
def _stepped(box: SteppedBox) -> Iterator[Path]:
    with _served(box, 0) as kubeconfig:
        assert box._task is not None
        loop = box._task.get_loop()
        signal.signal(signal.SIGUSR1, lambda *_: loop.call_soon_threadsafe(box.step))
        signal.signal(signal.SIGUSR2, _let_leave)
        yield kubeconfig


def main() -> int:
    foretop.startup.Dashboard = Touring  # type: ignore[attr-defined]
    box = SteppedBox()
    with _stepped(box) as kubeconfig:
        return show_dashboard(lambda: session_before(kubeconfig, box), DisplayFlags(calm=True))


if __name__ == "__main__":
    sys.exit(main())
