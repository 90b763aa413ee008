"""The dashboard run without a terminal: keys go in, lines come out."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from rich.segment import Segment
from textual import events
from textual._compositor import Compositor
from textual.geometry import Region
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.strip import Strip

from foretop.app import Dashboard
from foretop.pages.table_page import TablePage
from foretop.widgets.line_widgets import FrameLine, StyledLine, TextPane
from foretop.widgets.table import Table
from foretop_core import background
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.models.wire import ObjectRef
from tests.tui.fake_source import FilledSource, troubled

_SIGNS = {"slash": "/", "colon": ":", "question_mark": "?", "space": " ", "minus": "-"}
_DIGITS = re.compile(r"\d+")
"""Clocks and ages go on where everything else stands still."""
_STANDS_STILL, _PATIENCE, _LOOKS = 30.0, 120.0, 200
"""Seconds without a change on the screen, seconds in all, and how often it is looked before a wait is given up."""
TINY, SMALL, MIDDLE, LARGE = (40, 12), (80, 24), (120, 40), (200, 60)


class Screen:
    """What a person at the terminal has: keys and eyes."""

    def __init__(self, app: Dashboard, pilot: Pilot[int], source: FilledSource) -> None:
        self.app = app
        self.pilot = pilot
        self.source = source

    async def press(self, *keys: str) -> None:
        """Keys as the terminal sends them, each when the one before has been dealt with."""
        for key in keys:
            await self.key(key)

    async def sort_by(self, column: str) -> None:
        """Goes on to the next column until the rows are sorted by this one."""
        rows = self.table.rows
        assert rows is not None
        for _ in rows.columns:
            await self.press("greater_than_sign")
            if rows.sorted_by == column:
                return
        raise AssertionError(f"no column {column} to sort by:\n{self.text}")

    async def key(self, key: str) -> None:
        """A key, and the time that it takes to be dealt with; one that ends the app is not waited for for long."""
        self.send(key)
        for _ in range(300):
            await self.idle()
            if self.app._exit or (self.app.has_no_keys and self._is_drawn()):
                break
            await asyncio.sleep(0.01)

    async def idle(self) -> None:
        """Waits until the event loop has nothing left to run, and the screen nothing left to draw.

        Timers and threads are not waited for. Textual's own way asks each widget by a message, which costs more than
        the key itself.
        """
        loop = asyncio.get_running_loop()
        for _ in range(100_000):
            await asyncio.sleep(0)
            if loop._ready:  # type: ignore[attr-defined]
                continue
            if not self.app.is_running or not self._draws():
                return
        raise AssertionError(f"it is never idle; the screen:\n{self.text}")

    def _draws(self) -> bool:
        """Draws what is left to draw, at once instead of at the next frame; false where nothing is left."""
        if self.app._batch_count or not self._has_to_draw():
            return False
        self.app.screen._on_timer_update()
        return True

    def _has_to_draw(self) -> bool:
        screen = self.app.screen
        left = (screen._layout_required, screen._scroll_required, screen._repaint_required, screen._recompose_required)
        return bool(any(left) or screen._dirty_widgets or screen._callbacks)

    def _is_drawn(self) -> bool:
        """The table of the page, if it is one, shows its rows."""
        if not self.app.is_running or not isinstance(self.app.main_screen.page, TablePage):
            return True
        tables = list(self.app.main_screen.page.query(Table))
        rows = tables[0].rows if tables else None
        return bool(tables) and (rows is None or not len(rows.table) or bool(tables[0].window))

    def send(self, key: str) -> None:
        """A key on the heels of the one before."""
        named = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        assert self.app._driver is not None
        self.app._driver.send_message(events.Key(named, _SIGNS.get(key, key if len(key) == 1 else None)))

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Waits for the thing itself; gives up where the screen stands still, so that a test fails and does not hang.

        A machine that is slow or was asleep looks seldom: without many looks nobody gives up.
        """
        began = looked = changed = time.monotonic()
        seen, looks = "", 0
        while not is_so():
            await self.idle()
            now = time.monotonic()
            looks += 1
            if now > looked + 1:
                looked, still = now, _DIGITS.sub("", self.text)
                if still != seen:
                    seen, changed = still, now
                if looks > _LOOKS and (now > changed + _STANDS_STILL or now > began + _PATIENCE):
                    raise AssertionError(f"it never came to that; the screen:\n{self.text}")
            # A tenth of the time that it took so far: what comes soon is seen soon, and a long wait costs little.
            await asyncio.sleep(max(0.01, min((now - began) / 10, 0.1)))

    async def sees(self, text: str) -> None:
        await self.until(lambda: text in self.text)

    async def on_page(self, page: str) -> None:
        await self.until(lambda: self.page == page)

    async def tick(self) -> None:
        """One beat of the pump, without waiting for its time."""
        self.app.pulse()
        await self.idle()

    async def settle(self) -> None:
        """Beats until one changes nothing: a table that got its size late is counted by the next beat only."""
        seen = ""
        while seen != self.text:
            seen = self.text
            await self.tick()

    @property
    def _strips(self) -> list[Strip]:
        """The screen line by line; one that was looked at before is drawn again only where the app draws it again."""
        compositor = self.app.screen._compositor
        looked_at: _LookedAt | None = vars(compositor).get("looked_at")
        if looked_at is None or self._has_to_draw():
            return compositor.render_strips()
        if looked_at.strips is None:
            looked_at.strips = compositor.render_strips()
        elif stale := looked_at.stale & set(range(len(looked_at.strips))):
            crop = Region(0, min(stale), compositor.size.width, max(stale) - min(stale) + 1)
            chops = compositor._render_chops(crop, stale.__contains__)
            for line in stale:
                looked_at.strips[line] = Strip.join(chops[line].values())
        looked_at.stale = set()
        return looked_at.strips

    @property
    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self._strips]

    @property
    def lit(self) -> list[list[Segment]]:
        """Line by line, what stands in reverse video."""
        return [[segment for segment in strip if segment.style and segment.style.reverse] for strip in self._strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def page(self) -> str:
        return self.app.main_screen.current

    @property
    def table(self) -> Table:
        page = self.app.main_screen.page
        assert isinstance(page, TablePage)
        return page.table

    @property
    def rule(self) -> str:
        """The line above the pane: whose it is, how the table is narrowed, and which rows are in sight."""
        assert self.app.main_screen.page is not None
        return self.app.main_screen.page.query_one("#pane-top", FrameLine).text

    @property
    def table_lines(self) -> list[str]:
        """What stands within the table, without the frame that a wide terminal has around it."""
        region = self.table.content_region
        strips = self._strips[region.y : region.bottom]
        return [strip.crop(region.x, region.right).text.rstrip() for strip in strips]

    @property
    def pane(self) -> str:
        assert self.app.main_screen.page is not None
        return self.app.main_screen.page.query(TextPane).first().text

    @property
    def status(self) -> str:
        frame = self.app.main_screen
        return frame.query_one("#status", StyledLine).text + frame.query_one("#clock", StyledLine).text

    @property
    def footer(self) -> str:
        return self.app.main_screen.query_one("#footer", StyledLine).text

    @property
    def faults(self) -> list[str]:
        """What the screen had to say about itself; a good run has none."""
        return list(self.app.survived)

    def names(self) -> list[str]:
        """The rows on the screen, by the names of their objects."""
        rows = self.table.rows
        assert rows is not None
        subjects = (rows.subject(row.key) for row in self.table.window)
        return [subject.name if subject else "" for subject in subjects]

    async def on(self, key: ObjectRef) -> None:
        assert self.table.go_to(key), f"{key} is not among the rows"
        await self.idle()


@asynccontextmanager
async def running(app: Dashboard, size: tuple[int, int], *, painted: bool = False) -> AsyncIterator[Pilot[int]]:
    """The app without a terminal; `painted` for tests that look at what it writes.

    Nobody else reads that: the lines of the screen are drawn when a test looks at them.
    """
    with ExitStack() as patched:
        # At once: what is played beside the frame would come in one of the next, sooner or later.
        patched.enter_context(patch.object(background, "beside", lambda work: work()))
        if not painted:
            patched.enter_context(patch.object(Compositor, "render_full_update", _note_all))
            patched.enter_context(patch.object(Compositor, "render_partial_update", _note_lines))
        async with app.run_test(size=size) as pilot:
            yield pilot


@dataclass(slots=True)
class _LookedAt:
    """The lines that a test has seen, and those of them that are drawn again since."""

    strips: list[Strip] | None = None
    stale: set[int] = field(default_factory=set)


def _note_all(compositor: Compositor, simplify: bool = False) -> None:
    compositor._dirty_regions.clear()
    vars(compositor)["looked_at"] = _LookedAt()


def _note_lines(compositor: Compositor) -> None:
    looked_at = vars(compositor).setdefault("looked_at", _LookedAt())
    looked_at.stale.update(line for region in compositor._dirty_regions for line in region.line_range)
    compositor._dirty_regions.clear()


@asynccontextmanager
async def screen(
    source: FilledSource | None = None,
    size: tuple[int, int] = SMALL,
    display_options: DisplayOptions | None = None,
    *,
    may_fail: bool = False,
    painted: bool = False,
) -> AsyncIterator[Screen]:
    """A dashboard with its facts on the screen; what it survives is a failure of the test, unless that is wanted."""
    filled = source or FilledSource(troubled())
    app = Dashboard(lambda: filled, display_options or DisplayOptions(flash=False))
    async with running(app, size, painted=painted) as pilot:
        shown = Screen(app, pilot, filled)
        await shown.until(lambda: app.main_screen.page is not None and app.main_screen.page.state is not None)
        await shown.tick()
        yield shown
        assert may_fail or shown.faults == []
