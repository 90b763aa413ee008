"""Counts in the place of times: what comes before the first paint, and what a quiet second costs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.events import Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip

import foretop.app
from foretop.app import Dashboard
from foretop.terminal.textual_internals import InputEnd, InputSelectors
from foretop.widgets.table import Table
from foretop_core.clock import SystemClock
from foretop_core.dashboard.session_protocol import ClusterSession, DisplayOptions
from foretop_core.models import Backup, from_builtins
from foretop_core.models.kinds import BACKUP
from tests.examples import sampled
from tests.house.event_to_cell import follow_change, stations
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource, backup_dict, troubled
from tests.tui.pilot import MIDDLE, screen
from tests.tui.pilot import Screen as Driven

_FIRST_PAINT = """
import sys
from foretop.app import Dashboard

async def look(app):
    print("\\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()))
    print("\\n".join(sys.modules))
    app.exit(0)

Dashboard._begin = look
Dashboard(lambda: None).run(headless=True, size=(120, 40))
"""
_LATER = (
    "aiohttp",
    "kubernetes",
    "python_socks",
    "croniter",
    "yaml",
    "wcwidth",
    "foretop_core.store",
    "foretop_core.session",
    "foretop_core.rules.triage",
)


def test_the_frame_is_painted_before_anything_that_knows_of_clusters_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST_PAINT], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "connecting" in lines[0]
    assert "1 Triage" in lines[1]
    early = [name for name in lines[40:] if name in _LATER or name.startswith(tuple(f"{name}." for name in _LATER))]
    assert early == []
    assert sum(name.startswith(("foretop_core.", "foretop.")) for name in lines[40:]) <= 40


_FIRST_ROW = """
import asyncio, sys
from foretop.app import Dashboard
from foretop_core.dashboard.session_protocol import DisplayOptions
from tests.tui.fake_source import FilledSource, troubled

async def look(app):
    while "etcd-hourly" not in "\\n".join(strip.text for strip in app.screen._compositor.render_strips()):
        await asyncio.sleep(0.01)
    print("\\n".join(sys.modules))
    app.exit(0)

plain = Dashboard.on_mount

def on_mount(app):
    plain(app)
    app.run_worker(look(app))

Dashboard.on_mount = on_mount
Dashboard(lambda: FilledSource(troubled()), DisplayOptions(page="schedules")).run(headless=True, size=(120, 40))
"""
_NOT_FOR_ROWS = (
    "kubernetes",
    "python_socks",
    "croniter",
    "foretop_demo.world",
    "foretop.pages.calendar_page",
)


def test_the_first_row_waits_for_no_library_that_it_does_not_need() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST_ROW], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert not set(_NOT_FOR_ROWS) & set(modules)
    ours = [name for name in modules if name.startswith(("foretop_core.", "foretop."))]
    assert "foretop.pages.table_page" in ours
    assert len(ours) <= 226


_COLLECTOR = """
import asyncio, gc
from foretop import startup
from foretop.commands.start_dashboard import DisplayFlags, show_dashboard
class Waiting:
    def __init__(self, *_):
        self.was_enabled = gc.isenabled()
    async def run_async(self, mouse):
        while not gc.isenabled():
            await asyncio.sleep(0.01)
        return int(self.was_enabled)
startup._START, startup.Dashboard = 0.05, Waiting
print(show_dashboard(lambda: None, DisplayFlags()), gc.get_threshold()[0], gc.get_freeze_count() > 10_000)
"""


def test_garbage_is_collected_once_the_start_is_over_and_what_is_there_by_then_is_not_looked_at() -> None:
    done = subprocess.run([sys.executable, "-c", _COLLECTOR], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["0", "20000", "True"]


_FEW = ("kubernetes", "python_socks", "wcwidth", "aiohttp", "textual")


@pytest.mark.parametrize(
    ("words", "unneeded"), [(["--version"], _FEW), (["journal", "--help"], (*_FEW, "email.utils"))]
)
def test_the_version_and_a_help_are_told_without_the_libraries_that_few_need(
    words: list[str], unneeded: tuple[str, ...]
) -> None:
    code = f"import sys; from foretop.cli import run\ntry: run({words})\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {*unneeded} & set(done.stdout.split())


class Writing(Dashboard):
    """Keeps what would have gone to the terminal."""

    CSS_PATH = str(Path(foretop.app.__file__).with_name("styles") / "foretop.tcss")

    def __init__(self, source: ClusterSession) -> None:
        super().__init__(lambda: source, DisplayOptions(flash=False))
        self.written: list[str] = []

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        update = self._canvas.sparing(renderable)
        if isinstance(update, CompositorUpdate):
            self.written.append(update.render_segments(self.console))
        super()._display(screen, renderable)

    def taken(self) -> int:
        """Bytes since the last time."""
        size = len("".join(self.written).encode())
        self.written.clear()
        return size


async def test_a_second_in_which_nothing_happens_writes_the_clock_and_nothing_else() -> None:
    source = FilledSource(troubled())
    app = Writing(source)
    async with app.run_test(size=MIDDLE) as pilot:
        shown = Driven(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None)
        await shown.press("7")
        await shown.tick()
        app.taken()
        source.manual.advance(timedelta(seconds=1))
        await shown.tick()
        assert 0 < app.taken() <= 80


_WINDOWS = [("question_mark",), ("m",), ("colon",), ("ctrl+s",), ("slash",), ("6", "p")]


@pytest.mark.sweep
@pytest.mark.parametrize("keys", sampled(_WINDOWS, ("question_mark",), ("slash",)))
async def test_behind_a_window_too_the_clock_alone_is_written(keys: tuple[str, ...]) -> None:
    source = FilledSource(troubled())
    app = Writing(source)
    async with app.run_test(size=MIDDLE) as pilot:
        shown = Driven(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None)
        await shown.press("7", *keys)
        for _ in range(2):
            source.manual.advance(timedelta(seconds=1))
            await shown.tick()
        app.taken()
        source.manual.advance(timedelta(seconds=1))
        await shown.tick()
        await pilot.pause()
        assert app.taken() <= 80


@pytest.mark.sweep
async def test_behind_a_dialog_too_the_clock_alone_is_written() -> None:
    async with stand("maintenance", made_by=Writing, painted=True) as at:
        app = at.shown.app
        assert isinstance(app, Writing)
        await at.stop_velero()
        for keys in (("2", "u"), ("escape", "7", "l")):
            await at.shown.press(*keys)
            await at.shown.until(lambda: len(app.screen_stack) > 1 and "[ Cancel ]" in at.shown.text)
            seconds = [await _second(app, at.shown) for _ in range(3)]
            assert min(seconds) <= 80, seconds


async def _second(app: Writing, shown: Driven) -> int:
    """What is written until the clock has turned."""
    app.taken()
    before = shown.status
    await shown.until(lambda: shown.status != before)
    await shown.idle()
    return app.taken()


async def test_a_changed_row_writes_the_cells_that_changed() -> None:
    source = FilledSource([from_builtins(Backup, _run(number, "Completed")) for number in range(30)])
    app = Writing(source)
    async with app.run_test(size=MIDDLE) as pilot:
        shown = Driven(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None)
        await shown.press("7")
        await shown.sort_by("name")
        await shown.tick()
        app.taken()
        source.change(BACKUP, _run(7, "Failed"))
        await shown.tick()
        assert 0 < app.taken() <= 150


@pytest.mark.sweep
async def test_a_changed_row_is_the_only_line_of_its_table_that_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[int] = []
    plain = Table.render_line

    def render_line(table: Table, y: int) -> Strip:
        rendered.append(y)
        return plain(table, y)

    source = FilledSource([from_builtins(Backup, _run(number, "Completed")) for number in range(30)])
    app = Writing(source)
    async with app.run_test(size=MIDDLE) as pilot:
        shown = Driven(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None)
        # By name, where a row whose state changes keeps its place.
        await shown.press("7")
        await shown.sort_by("name")
        await shown.tick()
        monkeypatch.setattr(Table, "render_line", render_line)
        source.change(BACKUP, _run(7, "Failed"))
        await shown.tick()
        assert len(rendered) == 1, rendered


@pytest.mark.sweep
async def test_an_event_reaches_its_cell_through_nine_files() -> None:
    way = await follow_change()
    assert len(stations(way.event, way.cell)) <= 9, (way.event, way.cell)


async def test_sizes_that_the_terminal_no_longer_has_do_not_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[Size] = []
    plain = Screen._refresh_layout

    def count(self: Screen[object], size: Size | None = None, scroll: bool = False) -> None:
        laid_out.append(size or self.size)
        if len(laid_out) < 200:  # else the test would not end where they do
            plain(self, size, scroll)

    async with screen(size=MIDDLE) as shown:
        monkeypatch.setattr(Screen, "_refresh_layout", count)
        here = shown.app.screen
        for size in (Size(100, 30), Size(90, 25), Size(100, 30)):
            here.post_message(Resize(size, size))
            # Messages of a kind that follow each other at once are one.
            here.call_later(lambda: None)
        for _ in range(400):
            await asyncio.sleep(0)
        assert len(laid_out) < 20
        assert here.size == Size(*MIDDLE)


async def test_a_row_with_more_to_say_lays_nothing_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = _count_layouts(monkeypatch)
    async with screen() as shown:
        await shown.press("2")
        await shown.settle()
        laid_out.clear()
        before = shown.table.height
        await shown.press("down")
        await shown.settle()
        assert shown.table.height == before
        assert laid_out == []


def _count_layouts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """From now on an entry for each time that a screen is laid out."""
    laid_out: list[str] = []
    plain = Screen._refresh_layout

    def counted(self: Screen[object], *args: Any, **options: Any) -> None:
        laid_out.append(type(self).__name__)
        plain(self, *args, **options)

    monkeypatch.setattr(Screen, "_refresh_layout", counted)
    return laid_out


def _run(number: int, phase: str) -> dict[str, Any]:
    return backup_dict(f"run-{number:02}", phase, "2026-11-15T01:00:03Z", "2026-11-15T01:10:03Z")


class Ticking(FilledSource):
    """A source whose clock is that of the machine."""

    def clock(self, _context: str) -> SystemClock:  # type: ignore[override]
        return SystemClock()


async def test_an_idle_second_wakes_the_dashboard_twice_at_most() -> None:
    """Once for the clock and once for its painting."""
    source = Ticking(troubled(), at=SystemClock().now())
    app = Writing(source)
    async with app.run_test(size=MIDDLE) as pilot:
        shown = Driven(app, pilot, source)
        await shown.until(lambda: app.main_screen.state is not None)
        await shown.press("7")
        wakes = _count_wakes(asyncio.get_running_loop())
        seconds: list[int] = []
        for _ in range(8):
            wakes.clear()
            await asyncio.sleep(1.0)
            seconds.append(len(wakes))
        # One of them is the end of the sleep here.
        assert min(seconds) <= 3, seconds


def _count_wakes(loop: Any) -> list[float]:
    """From now on an entry for each time that the loop had nothing to do, slept and woke up."""
    wakes: list[float] = []
    plain = loop._selector.select

    def select(timeout: float | None = None) -> Any:
        if timeout is None or timeout > 0:
            wakes.append(loop.time())
        return plain(timeout)

    loop._selector.select = select
    return wakes


def test_the_wait_for_keys_sleeps_when_none_came_for_a_second() -> None:
    end = InputEnd()
    reader, writer = os.pipe()
    selector = InputSelectors.SelectSelector()
    selector.register(reader, InputSelectors.EVENT_READ)
    os.write(writer, b"j")
    assert selector.select(0.01)
    os.read(reader, 1)
    looks = 0
    while not selector.is_asleep:
        assert selector.select(0.5) == []
        looks += 1
    assert looks == 2
    os.write(writer, b"k")
    assert [key.fd for key, _ in selector.select(0.1)] == [reader]
    os.read(reader, 1)
    assert not selector.is_asleep
    while not selector.is_asleep:
        selector.select(1.0)
    end.set()
    assert selector.select(0.1) == []
    end.clear()
    selector.close()
    for descriptor in (reader, writer):
        os.close(descriptor)
