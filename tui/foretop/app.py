"""The dashboard: opens the session after the first paint, and pumps what changes onto the screen."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.console import RenderableType
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.geometry import Size
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.widget import Widget

from foretop.bindings import key_name
from foretop.main_screen import tab_bar_text
from foretop.main_screen.main_screen import MainScreen
from foretop.pages.page import HEIGHT_CLASSES, SIZE_CLASSES
from foretop.terminal.cell_diff import CellDiff
from foretop.terminal.job_control import resize_in_the_loop, resume_only_after_suspend
from foretop.terminal.serial_keys import SerialKeyApp
from foretop.terminal.textual_internals import (
    ParsedOnce,
    guard_input,
    guard_messages,
    has_driver,
    lay_out_once,
    show_late_widgets,
    switch_mouse,
    write_to_terminal,
)
from foretop_core.dashboard.session_protocol import ClusterSession, DisplayOptions
from foretop_core.errors import ForetopError, let_through
from foretop_core.pages import PAGES
from foretop_core.tables.text.terminal_text import unsigned

if TYPE_CHECKING:
    from foretop.dialogs.base_modal import TooSmallScreen
    from foretop.main_screen.settings_applier import SettingsApplier
    from foretop.terminal.themes import ThemeFilter
    from foretop_core.config.live_config import LiveConfig
    from foretop_core.dashboard.state import DashboardState
    from foretop_core.models.wire import ObjectRef

# Deferred imports: what the first frame does not need is loaded after it.

PACE = 1 / 15
"""Seconds between two drawings at least, however much changes."""
FIRST_PACE = 1 / 60
"""The same while there is nothing to show: the first rows do not wait."""
LONGEST_PACE = 1 / 7
DRAWING_REST = 4
"""So many times as long as a drawing took, up to the longest pace, nothing is drawn: a cluster that is just being
listed, or a slow machine, needs the processor more."""
FAST_CLOCK_PACE = 1 / 4
"""Seconds between two drawings of the demo's clock, which may run faster than anybody can read."""
TRY_AGAIN = 5.0
"""Seconds after which a configuration that could not be used is read again."""
LOOK_AT_FILES = 1.0
"""Seconds between two looks at the configuration."""
LOOK_AT_PROGRESS = 0.25
_KEPT_MESSAGES = 200
_LEAST_SIZE = Size(40, 10)
"""In less no table can be read."""
_KEPT_FAILURES = 20


class _WholeCells(ScrollBarRender):
    """A scrollbar without the eighths of a block at its ends, which ASCII does not have."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


ScrollBar.renderer = _WholeCells


class Dashboard(SerialKeyApp):
    """The app: one main screen over one session."""

    CSS_PATH = "styles/foretop.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "foretop"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "leave", show=False)]
    HORIZONTAL_BREAKPOINTS = SIZE_CLASSES
    VERTICAL_BREAKPOINTS = HEIGHT_CLASSES

    def __init__(
        self,
        open_source: Callable[[], ClusterSession],
        display_options: DisplayOptions | None = None,
        config: LiveConfig | None = None,
        progress: Callable[[], str] = str,
    ) -> None:
        self.display_options = display_options or DisplayOptions()
        super().__init__(ansi_color=True, typed=self.display_options.typed)
        self.theme = "ansi-dark"
        self.set_class(self.is_ascii, "-ascii")
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.told: deque[tuple[str, str]] = deque(maxlen=_KEPT_MESSAGES)
        self._open_source = open_source
        self._progress = progress
        """How far the session has come that is being opened, while that takes long: an archive is read then."""
        self._source: ClusterSession | None = None
        self._pumping: asyncio.Task[None] | None = None
        self._mouse = self.display_options.mouse
        self.survived: list[str] = []
        """The failures that cost themselves only, the latest of them."""
        self._is_up = False
        guard_messages()
        guard_input()
        lay_out_once()
        show_late_widgets()
        self._again = asyncio.Event()
        self._redraw = asyncio.Event()
        self._listens = False
        self._drawn: tuple[object, ...] = ()
        self._canvas = CellDiff()
        self._size_notice: TooSmallScreen | None = None
        self.config = config
        self.theme_name = "terminal"
        self._theme_filter: ThemeFilter | None = None
        if config is not None:
            self.show_theme(config.settings.theme)

    @property
    def is_ascii(self) -> bool:
        """True if the terminal has ASCII characters only."""
        return self.display_options.ascii

    def get_default_screen(self) -> MainScreen:
        return MainScreen(self.display_options, self)

    @property
    def main_screen(self) -> MainScreen:
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    @property
    def my_zone(self) -> tzinfo:
        """The zone of the configuration where that names one, else that of the machine that foretop runs on."""
        # When it is first asked for: the first paint needs no zone.
        from foretop_core.clock import local_zone, named_zone

        named = named_zone(self.config.settings.time_zone) if self.config is not None else None
        return named or local_zone(os.environ)

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._resumed)
        resize_in_the_loop()
        resume_only_after_suspend(lambda: self.call_later(self._draw_again))

    def _resumed(self, _: object) -> None:
        self._canvas.forget()
        resize_in_the_loop()

    def on_resize(self, event: events.Resize) -> None:
        """A terminal that changes its size may move or drop what it shows."""
        self._canvas.forget()
        if not self.screen_stack:
            return
        fits = event.size.width >= _LEAST_SIZE.width and event.size.height >= _LEAST_SIZE.height
        if not fits and self._size_notice is None:
            # Only where it is needed: the first paint of a terminal that is large enough does without it.
            from foretop.dialogs.base_modal import TooSmallScreen

            self._size_notice = TooSmallScreen(_LEAST_SIZE)
            self.push_screen(self._size_notice)
        elif fits and self._size_notice is not None:
            self._size_notice.dismiss()
            self._size_notice = None

    def on_ready(self) -> None:
        """Ready is not painted yet, and what comes next takes the processor for itself."""
        self._is_up = True
        self.main_screen.show_frame()
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        """Keys that are pressed before the first page is there wait for it in order; the screen is drawn meanwhile."""
        self._pumping = asyncio.create_task(self._run(), name="pump")
        await self.main_screen.arrive()

    async def on_unmount(self) -> None:
        if self._pumping is not None:
            self._pumping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._pumping
        if self._applier is not None:
            self._applier.close()
        if self._source is not None:
            await self._source.stop()

    async def _run(self) -> None:
        """The frame is on the screen; only now come the libraries that speak to clusters."""
        try:
            self._source = await self._opened()
            from foretop_core.background import beside, keep_running
            from foretop_core.dashboard.background_reads import BackgroundReads
            from foretop_core.dashboard.state import DashboardState

            first = PAGES[self.display_options.page].first_kind
            self._source.start(frozenset({first} if first else ()))
            reads = BackgroundReads(os.environ, waits=False)
            state = DashboardState(self._source, asyncio.get_running_loop().time, reads, beside)
            self._follow_config(state)
            self.main_screen.attach(state)
        except Exception as problem:
            self.fail(problem)
            return
        tasks: dict[str, Callable[[], Awaitable[None]]] = {"drawing": partial(self._pump, state)}
        if self.config is not None:
            tasks["reading the configuration"] = partial(self._follow_config_file, self.config.config.path)
        async with asyncio.TaskGroup() as group:
            for name, work in tasks.items():
                group.create_task(keep_running(name, work, partial(self._task_failed, name)))

    def _task_failed(self, name: str, problem: Exception, delay: float) -> None:
        self.survives(name, problem)

    async def _follow_config_file(self, path: Path) -> None:
        """Takes up a configuration that has changed."""
        from foretop_core.background import when_changed
        from foretop_core.config.config_file import file_stamp

        async with contextlib.aclosing(when_changed(lambda: file_stamp(path), LOOK_AT_FILES)) as changes:
            async for _ in changes:
                if self._applier is not None and await self._applier.poll():
                    self._drawn = ()
                    self._redraw.set()

    async def _opened(self) -> ClusterSession:
        """The session; a configuration that cannot be used is shown and tried again, as it may be fixed meanwhile."""
        from foretop_core.background import in_thread

        while True:
            try:
                opening = asyncio.create_task(in_thread(self._open_source))
                while not (await asyncio.wait([opening], timeout=LOOK_AT_PROGRESS))[0]:
                    self.main_screen.show_opening(self._progress())
                return opening.result()
            except ForetopError as problem:
                self.main_screen.stand_by(problem)
            self._again.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TRY_AGAIN):
                    await self._again.wait()

    def try_again(self) -> None:
        """Tries again now whatever waits for it, and draws over what others wrote on the screen."""
        self._draw_again()
        self._again.set()
        if self._source is not None:
            self._source.retry_now()

    def _draw_again(self) -> None:
        self._canvas.forget()
        self.screen.refresh(layout=True)

    async def _pump(self, state: DashboardState) -> None:
        """Draws at every change of the store and every second of the cluster's clock, and sleeps in between."""
        loop, changed = asyncio.get_running_loop(), self._redraw
        if not self._listens:
            self._listens = True
            state.store.listen(changed.set)
        while True:
            changed.clear()
            drawn_state, begun = self._state(state), loop.time()
            if drawn_state != self._drawn:
                self._drawn = drawn_state
                to_be_shown = state.source.to_be_shown()
                self.pulse()
                for rows in to_be_shown:
                    self.call_after_refresh(rows.note_shown)
                self._tell_terminal()
            drawn = loop.time()
            rest = max(PACE, min(DRAWING_REST * (drawn - begun), LONGEST_PACE))
            pace = rest if state.store.size else FIRST_PACE
            second = loop.call_later(self._until_next_second(state), changed.set)
            await changed.wait()
            second.cancel()
            await asyncio.sleep(max(0.0, drawn + pace - loop.time()))

    def _until_next_second(self, state: DashboardState) -> float:
        """Seconds until the clock on the screen moves; the demo's runs faster."""
        if not state.contexts:
            return 1.0
        rest, speed = 1.0 - state.source.clock(state.contexts[0]).now().microsecond / 1e6, self.display_options.speed
        return rest if speed <= 1.0 else max(rest / speed, FAST_CLOCK_PACE)

    def _follow_config(self, state: DashboardState) -> None:
        """The configuration is in effect before the first rows are shown."""
        if self.config is None:
            return
        # After the first paint: it knows of rules and clusters.
        from foretop.main_screen.settings_applier import SettingsApplier

        self._applier = SettingsApplier(self.config, self.main_screen, state)
        self._applier.start()

    def _tell_terminal(self) -> None:
        """New findings, for who looks elsewhere; a fault in that is not the end of the screen."""
        try:
            if self._applier is not None:
                self._applier.look()
        except Exception as problem:
            self.survives("telling the terminal", problem)

    def write_terminal(self, text: str) -> None:
        write_to_terminal(self, text)

    _applier: SettingsApplier | None = None

    def _state(self, state: DashboardState) -> tuple[object, ...]:
        """The values that move when there is something to draw: the facts, their health, and the second."""
        store = state.store
        revisions = tuple(store.revision(context) for context in state.contexts)
        clock = state.source.clock(state.contexts[0]).now() if state.contexts else None
        # Where the clock stands still, what is judged beside the screen is shown all the same.
        ticks = int(asyncio.get_running_loop().time()) if state.origins(state.contexts) else 0
        return revisions, store.health.revision, clock.replace(microsecond=0) if clock else None, ticks

    def pulse(self) -> None:
        """Draws; a fault in drawing is told once and is not the end of the screen."""
        try:
            self.main_screen.pulse()
        except Exception as problem:
            self.survives("drawing the screen", problem)

    def survives(self, what: str, problem: Exception) -> bool:
        """Told once, and listed in Triage; before the screen is there, a failure is the end."""
        let_through(problem)
        return self._is_up and self.note_failure(what, None, problem)

    def note_failure(self, what: str, subject: ObjectRef | None, problem: Exception) -> bool:
        """Something failed that was asked for or drawn; True, for it is dealt with."""
        # Only a failure needs it, and the first paint is faster without.
        from foretop_core.rules.own_failures import problem_text

        text = f"{what} failed: {problem_text(problem)}"
        is_known = text in self.survived
        self.survived = [*self.survived[-_KEPT_FAILURES:], text]
        # Whatever else fails on the way to telling it, it is dealt with.
        with contextlib.suppress(Exception):
            if self.main_screen.state is not None and self.main_screen.state.contexts:
                self.main_screen.state.note_failure(what, subject, problem)
        with contextlib.suppress(Exception):
            if not is_known:
                self.notify(text, severity="error")
        return True

    def rewritten(self, update: RenderableType | None) -> RenderableType | None:
        """Textual writes the whole of every line that it touches; we write the cells that differ."""
        return self._canvas.sparing(update)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: Literal["information", "warning", "error"] = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """One toast, the newest, in the line above the keys; all are kept in the list of messages, and none is markup.

        A window that is open shows it inside, or covers it.
        """
        now = self.main_screen.state.clock() if self.main_screen.state else datetime.now(UTC)
        text = " ".join(unsigned(line) for line in message.splitlines())
        self.told.append((f"{now:%H:%M:%S}Z", text))
        # With the first message: the first paint shows none.
        from foretop.dialogs.base_modal import BaseModal

        window = self.screen
        if isinstance(window, BaseModal) and not window.is_left and window.show_notice(text):
            return
        # In order with the toasts that were asked for before: those are shown when their turn comes, not at once.
        self.call_later(self.clear_notifications)
        shown = tab_bar_text.notice(text, self.size.width, self.main_screen.hint_cells, key_name("messages"))
        super().notify(shown, title=unsigned(title), severity=severity, timeout=timeout, markup=False)

    def clear_notifications(self) -> None:
        """Takes what holds a toast away with it; Textual would keep one for every message."""
        super().clear_notifications()
        if self.screen_stack:
            self.screen.query("ToastHolder").remove()

    def action_leave(self) -> None:
        self.exit()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters of a theme, or one that takes out colours; before them that of a terminal with ASCII alone."""
        filters = super().get_line_filters()
        if self.is_ascii:
            # Only here: most terminals have all the signs.
            from foretop.terminal.themes import AsciiFilter

            self._to_ascii = self._to_ascii or AsciiFilter()
            filters = [self._to_ascii, *filters]
        if self.no_color:
            # Only here: the terminal's own colours need none of it.
            from foretop.terminal.themes import ColourlessFilter

            self._colourless = self._colourless or ColourlessFilter()
            return [self._colourless, *filters]
        return filters if self._theme_filter is None else [*filters, self._theme_filter]

    _colourless: LineFilter | None = None
    _to_ascii: LineFilter | None = None

    @property
    def raises_cursor(self) -> bool:
        """True if the row under the cursor keeps its colours, on a background of its own; else it is reversed."""
        return self._theme_filter is not None and self._theme_filter.raises_cursor and not self.no_color

    def show_theme(self, name: str, *, afresh: bool = False) -> None:
        """The terminal's own colours, or those of a theme or skin; `afresh` where its colours may have changed."""
        if name == self.theme_name and not afresh:
            return
        # Only for another theme: the terminal's own colours need none of it.
        from foretop.terminal.themes import ThemeFilter, theme_colours

        colours = theme_colours(name, self.config.settings.skins if self.config is not None else {})
        self.theme_name = name
        self._theme_filter = None if colours is None else ThemeFilter(colours)
        if self._is_up:
            self._draw_again()
            for widget in (widget for screen in self.screen_stack for widget in screen.walk_children(Widget)):
                # What it drew is kept, and the row under the cursor is drawn for a theme.
                widget.refresh()

    def cycle_theme(self) -> None:
        """A choice that the configuration goes over holds until the end."""
        # As above.
        from foretop.terminal.themes import next_theme

        self.show_theme(next_theme(self.theme_name, self.config.settings.skins if self.config is not None else {}))
        origin = self.config.theme_origin if self.config is not None else ""
        if self.config is not None:
            self.run_worker(self.config.choose_theme(self.theme_name))
        off = " (NO_COLOR is set: no colours)" if self.no_color else ""
        until = f" until you quit: {origin} sets another" if origin else ""
        self.notify(f"Theme {self.theme_name}{until}{off}")

    def toggle_mouse(self) -> None:
        """The terminal's own selection and our mouse exclude each other."""
        if not has_driver(self):
            return
        self._mouse = not self._mouse
        switch_mouse(self, self._mouse)
        self.notify(f"Mouse {'on' if self._mouse else 'off'}")
