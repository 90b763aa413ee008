"""The main screen: status, tabs, the page, and the keys that work now.

It is on the screen before the pages and what they draw from are loaded, so those are imported where they are used.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen

from foretop.bindings import (
    ACTIONS,
    RESUME,
    ROOM_ACTIONS,
    Action,
    Handler,
    KeyHints,
    footer_order,
    key_name,
    use_keys,
    use_tabs,
)
from foretop.main_screen import tab_bar_text
from foretop.pages.page import Page, PageAddress, PageHistory
from foretop.widgets.line_widgets import Divider, StyledLine, key_at, key_line, line_width
from foretop.widgets.paragraphs import Line
from foretop.widgets.styles import style_of
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.errors import ForetopError, let_through
from foretop_core.pages import DETAIL, MOST_TABS, PAGES, TABS, chosen_tabs
from foretop_core.room_finder import room_modules
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import width

if TYPE_CHECKING:
    from foretop.dialogs.base_modal import BaseModal
    from foretop.main_screen.action_host import ActionCarrier, AppHost
    from foretop.main_screen.object_actions import ObjectActions
    from foretop.main_screen.screen_actions import ScreenActions
    from foretop.main_screen.write_actions import WriteActions
    from foretop.panes.action_sentences import ApplicableAction
    from foretop_core.config.settings import Settings
    from foretop_core.dashboard.action_service import ActionService
    from foretop_core.dashboard.state import DashboardState
    from foretop_core.models.wire import ObjectRef

IN_A_WINDOW: KeyHints = (("esc", "close"),)
"""A window tells its own keys."""
_WHERE_TENANTS_ARE = 8
"""Elsewhere few tables have more than one namespace, and the key for that may stand at the end of the footer."""

_DELETED_BY_HAND = ("delete-nab", "delete-nar")
_BEFORE_GO_TO = 4
"""Where tenants' objects are, deleting one is an everyday task: it is told on the smallest screen too."""

_FIRST = 1
_QUIT_WITHIN = 5.0
"""Seconds in which a second q ends foretop; so long the notice of the first one stays."""
_OF_RUN = {"open": "open run", **{room.action.id: room.action.short for room in ROOM_ACTIONS if room.of_run}}
"""On the page of an object: what leads to a run or to what failed in it."""


def footer_hints(offered: Iterable[Action], page: Page, can_go_back: bool) -> KeyHints:
    """The actions that are offered, in the words of the page that is shown."""
    actions = footer_order(_in_words_of_here(action, page, can_go_back) for action in offered)
    return tuple((action.shown, action.short or action.title) for action in actions)


def _in_words_of_here(action: Action, page: Page, can_go_back: bool) -> Action:
    page_id = page.page_id
    if action.id == "fold" and page.is_folded:
        return replace(action, short="unfold")
    if action.id == "group" and page_id == "nonadmin":
        return replace(action, footer=_WHERE_TENANTS_ARE)
    if action.id in _DELETED_BY_HAND and page_id == "nonadmin":
        return replace(action, footer=_BEFORE_GO_TO)
    if page_id == DETAIL and action.id in _OF_RUN:
        return replace(action, short=_OF_RUN[action.id], footer=_FIRST)
    return replace(action, short="quit") if action.id == "back" and not can_go_back else action


# Deferred imports: what the first frame does not need is loaded after it.


def _bindings() -> list[BindingType]:
    keys: list[BindingType] = [
        Binding(",".join(action.keys), f"do('{action.id}')", action.title, show=False, id=action.id)
        for action in ACTIONS
        if action.keys
    ]
    tabs = [Binding(f"{digit}", f"digit({digit})", show=False) for digit in range(1, MOST_TABS + 1)]
    return [*keys, *tabs]


_FRAME = 1 / 30
"""Seconds in which the screen is drawn once more."""
_MANY_OBJECTS = 2_000
"""The rows of so many are there within a blink."""


class MainScreen(Screen[None]):
    """The screen that holds the pages and passes keys to the one that is shown."""

    BINDINGS: ClassVar[list[BindingType]] = _bindings()

    def __init__(self, display_options: DisplayOptions, app_host: AppHost) -> None:
        super().__init__()
        self.display_options = display_options
        self.app_host = app_host
        self.state: DashboardState | None = None
        self.pages: dict[str, Page] = {}
        self.current = ""
        self.history = PageHistory()
        self.actions: tuple[Action, ...] = ACTIONS
        use_keys(ACTIONS)
        """With the keys of the person's own configuration."""
        self.tabs = TABS
        self.settings: Settings | None = None
        self.trouble: ForetopError | None = None
        """What keeps the session from being opened."""
        self._version: tuple[object, ...] | None = None
        self._going = asyncio.Lock()
        self._coming = ""
        """The page that is being made for the first time."""
        self._is_frame_due = False
        self._quit_asked_at = -_QUIT_WITHIN
        """When q was pressed last where there was nothing to go back from, by the clock of the process."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            yield StyledLine(id="status")
            yield StyledLine(id="clock")
        yield StyledLine(id="tabs")
        yield Container(id="pages")
        yield StyledLine(id="time-line")
        yield Divider(id="bottom-rule")
        yield StyledLine(id="footer")

    async def arrive(self) -> None:
        """The frame is painted; loading the rest must not keep keys and paint waiting."""
        await asyncio.to_thread(importlib.import_module, "foretop.pages.make_page")
        if self.query_one("#pages").is_attached:
            await self._enter()

    async def _enter(self) -> None:
        """To the first page, unless a key has led to another meanwhile."""
        async with self._going:
            if not self.current:
                await self._go(PageAddress(self.display_options.page), True)

    # Those who carry actions out bring the dialogs with them: they are imported when the frame is already painted.

    @cached_property
    def write_actions(self) -> WriteActions:
        from foretop.main_screen.write_actions import WriteActions

        return WriteActions(self)

    @property
    def service(self) -> ActionService:
        return self.write_actions.service

    @cached_property
    def object_actions(self) -> ObjectActions:
        from foretop.main_screen.object_actions import ObjectActions

        return ObjectActions(self)

    @cached_property
    def screen_actions(self) -> ScreenActions:
        from foretop.main_screen.screen_actions import ScreenActions

        return ScreenActions(self, self.app_host, self.write_actions)

    def on_resize(self) -> None:
        self._version = None
        self.call_after_refresh(self.pulse)

    @property
    def page(self) -> Page | None:
        return self.pages.get(self.current)

    @on(Page.Altered)
    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    @on(events.ScreenSuspend)
    @on(events.ScreenResume)
    def _other_keys_work(self) -> None:
        """The page has changed, a field has the focus, or a window has come above or gone; often several at once."""
        if not self._is_frame_due:
            self._is_frame_due = True
            self.call_later(self._show_due_frame)

    def _show_due_frame(self) -> None:
        self._is_frame_due = False
        self.show_frame()

    def attach(self, state: DashboardState) -> None:
        """The session is there: every page that is mounted gets the facts."""
        self.state, self.trouble = state, None
        for page in self.pages.values():
            page.attach(state)
        self.pulse()

    def configure(self, settings: Settings) -> None:
        """The person's configuration, at the start and whenever it changes."""
        self.settings = settings
        self.tabs = chosen_tabs(settings.tabs)
        use_tabs(self.tabs)
        for page in self.pages.values():
            page.configure(settings)
        self._version = None

    def stand_by(self, trouble: ForetopError) -> None:
        """There is no session yet, and this is why; the frame stays and the keys work."""
        self.trouble = trouble
        for page in self.pages.values():
            self._explain(page, trouble)
        self.show_frame()

    def show_opening(self, progress: str) -> None:
        """How far the session has come that is being opened."""
        # As below.
        from foretop.panes.empty_state import opening

        for page in self.pages.values():
            page.explain(opening(progress))

    def _explain(self, page: Page, trouble: ForetopError | None) -> None:
        # After the first paint: it draws on the store.
        from foretop.panes.empty_state import CONNECTING, why_closed

        page.explain(why_closed(trouble) if trouble is not None else CONNECTING)

    def pulse(self) -> None:
        """Draws what is on the screen as it is at this moment."""
        if self.state is not None:
            if self.state.is_moving:
                return
            self.state.begin_frame()
            self.state.source.watch_on_demand(self._kinds_on_demand())
            self.state.judge()
            if self.page is not None and self.page.state is not None:
                self._draw_page(self.page)
            for window in self._windows():
                if window.is_mounted and not window.is_left:
                    window.pulse()
        version = self.state.version if self.state is not None else ()
        if version == self._version:
            self._show_top()
        else:
            self._version = version
            self.show_frame()

    def _kinds_on_demand(self) -> frozenset[str]:
        """The kinds that are needed by the page and by the windows before it."""
        of_page = self.page.kinds_on_demand() if self.page is not None else frozenset[str]()
        return of_page.union(*(window.kinds_on_demand for window in self._windows()))

    def _windows(self) -> list[BaseModal[Any]]:
        if self.app.screen is self:
            return []
        # Only a window that is open has loaded it.
        from foretop.dialogs.base_modal import BaseModal

        return [screen for screen in self.app.screen_stack if isinstance(screen, BaseModal)]

    def _draw_page(self, page: Page) -> None:
        """A page that cannot be drawn leaves the frame and the other pages alone."""
        try:
            page.pulse()
        except Exception as problem:
            let_through(problem)
            self.app_host.note_failure(f"drawing page {page.page_id}", None, problem)

    def show_frame(self) -> None:
        """All lines of the frame; between two changes the clock is all that moves."""
        cells = self.size.width
        if not cells or not self.is_mounted:
            return
        self._show_top()
        page = self.page
        self.query_one("#tabs", StyledLine).show(self._tab_line(cells))
        if page is not None:
            page.show_frames()
        hint, tone = self._hint(page) if page and not page.has_frames else ("", Tone.DIM)
        rule = self.query_one("#bottom-rule", Divider)
        rule.show(tab_bar_text.hint(hint, cells, style_of(tone)))
        rule.display = bool(hint)
        self.query_one("#footer", StyledLine).show(self._footer_line())

    @property
    def _tab(self) -> str:
        """The page that is shown or about to be, or the one below a detail."""
        if self._coming:
            return self._coming
        return self.history.tab if self.current == DETAIL else self.current

    def _tab_line(self, cells: int) -> Line:
        shown = PAGES.get(self._tab)
        return tab_bar_text.tabs(self.tabs, self._tab, cells, None if self.has_tab(self._tab) else shown)

    def has_tab(self, page_id: str) -> bool:
        return any(tab.id == page_id for tab in self.tabs)

    @on(StyledLine.Clicked, "#tabs")
    async def _tab_clicked(self, event: StyledLine.Clicked) -> None:
        page_id = tab_bar_text.tab_at(self._tab_line(self.size.width), self.tabs, event.x)
        if page_id:
            await self.action_tab(page_id)

    @on(StyledLine.Clicked, "#footer")
    async def _key_clicked(self, event: StyledLine.Clicked) -> None:
        """A key in the footer does what it does when it is pressed."""
        shown = key_at(self._footer_line(), event.x)
        typing = self.page is not None and bool(self.page.ways_of_typing())
        action = next((offer for offer in self.offered() if offer.shown == shown), None)
        if action is not None and not typing:
            await self.action_do(action.id)

    def _hint(self, page: Page) -> tuple[str, Tone]:
        """How the page is narrowed, and as of when its rows are; a problem is told alone."""
        if self.state is None or page.has_problem:
            return page.hint(), page.hint_tone
        # After the first paint: it draws on the store.
        from foretop.panes.stale_notice import as_of

        stale = as_of(self.state)
        return ", ".join(part for part in (page.hint(), stale) if part), Tone.WARN if stale else page.hint_tone

    @property
    def hint_cells(self) -> int:
        """How much of the line above the keys is taken: all of it where that is a line of the page."""
        if not self.is_mounted:
            return 0
        rule = self.query_one("#bottom-rule", Divider)
        return width(rule.text) if rule.display else self.size.width

    def _show_top(self) -> None:
        cells = self.size.width
        if not cells or not self.is_mounted:
            return
        if self.state is None:
            line = tab_bar_text.CONNECTING if self.trouble is None else tab_bar_text.cannot_start(self.trouble, cells)
            self.query_one("#status", StyledLine).show(line)
            return
        if self.state.is_moving:
            return
        # After the first paint: it draws on the store.
        from foretop.main_screen import status_line_text

        line, time = status_line_text.status(self.state, self.display_options, self._scope(), cells)
        clock = self.query_one("#clock", StyledLine)
        clock.show(time)
        clock.styles.width = line_width(time)
        self.query_one("#status", StyledLine).show(line)
        if self.state.moves_in_time:
            self._show_time_line(self.state, cells)

    def _show_time_line(self, state: DashboardState, cells: int) -> None:
        shown = self.query_one("#time-line", StyledLine)
        # Only a recording has one.
        for room in room_modules("foretop", "time_line"):
            shown.display = True
            shown.show(room.time_line(state, cells))

    def _scope(self) -> str:
        if self.state is None:
            return ""
        names = self.state.places()
        if self.state.focus.namespace:
            return f"namespace {self.state.focus.namespace}"
        if not names:
            return "all namespaces"
        return f"namespace {names[0]}" if len(names) == 1 else f"{len(names)} namespaces"

    # Going from place to place

    async def go(self, place: PageAddress, *, remember: bool = True) -> None:
        """Brings a page onto the screen, made now if it was not there before; one after the other."""
        async with self._going:
            await self._go(place, remember)

    async def _go(self, place: PageAddress, remember: bool) -> None:
        if remember:
            self.note_cursor()
        is_new = bool(self.current) and place.page in PAGES.keys() - self.pages.keys()
        if is_new and self.state is not None and self.state.store.size > _MANY_OBJECTS:
            # Their rows take a while: until they are there, the tab says that the key was heard.
            self._coming = place.page
            self.show_frame()
            await asyncio.sleep(_FRAME)
        page = await self._page(place.page)
        self._coming = ""
        if self.page is not None and self.page is not page:
            self.page.left()
        for other in self.pages.values():
            other.display = other is page
        self.current = place.page
        if remember:
            self.history.visit(place)
        page.shown()
        page.restore(place)
        self._version = None
        self.pulse()

    def note_cursor(self) -> None:
        if self.page is not None:
            self.history.note(self.page.place())

    async def _page(self, page_id: str) -> Page:
        if page_id not in self.pages:
            # After the first paint: it draws on the store.
            from foretop.pages.make_page import make_page

            page = make_page(page_id, self.display_options, self)
            # Until it is the page on the screen: two at once would share the room.
            page.display = False
            await self.query_one("#pages").mount(page)
            # Only now, for whoever attaches the facts to all pages must find this one whole.
            self.pages[page_id] = page
            if self.settings is not None:
                page.configure(self.settings)
            if self.state is not None:
                page.attach(self.state)
            else:
                self._explain(page, self.trouble)
        return self.pages[page_id]

    async def action_digit(self, digit: int) -> None:
        """To the tab of a digit."""
        tab = next((tab for tab in self.tabs if tab.digit == digit), None)
        if tab is None:
            self.app.notify(f"No tab has the digit {digit}: tabs in the configuration lists {len(self.tabs)} pages")
            return
        await self.action_tab(tab.id)

    async def action_tab(self, page_id: str) -> None:
        if self.current != page_id:
            await self.go(PageAddress(page_id))

    async def show_object(self, key: ObjectRef, section: str = "overview") -> None:
        await self.go(PageAddress(DETAIL, key=key, section=section))

    # Keys

    def handler(self, action_id: str) -> Handler | None:
        """The function that carries an action out here and now."""
        carrier, handler = self._carriers().get(action_id, (None, None))
        return handler if carrier is not None and carrier.offers(action_id) else None

    def _carriers(self) -> dict[str, tuple[ActionCarrier, Handler]]:
        """By action, its carrier: the page on the screen comes before all others."""
        carriers: list[ActionCarrier] = [self, self.screen_actions, self.object_actions, self.write_actions]
        if self.page is not None:
            carriers.append(self.page)
        return {name: (carrier, handler) for carrier in carriers for name, handler in carrier.handlers().items()}

    def available(self) -> list[Action]:
        """The actions that would do something here and now."""
        carriers = self._carriers()
        return [action for action in self.actions if action.id in carriers and carriers[action.id][0].offers(action.id)]

    def offered(self) -> list[Action]:
        """The actions held out to a person: with read-only no writes, though their keys still say what would happen.

        Nor does an archive take any, though files of runs may be in it.
        """
        writes: Collection[str] = frozenset()
        if self.display_options.read_only:
            writes = self.write_actions.handlers().keys()
        elif self.write_actions.is_of_archive:
            writes = self.write_actions.not_of_archive()
        return [action for action in self.available() if action.id not in writes]

    def applicable_actions(self) -> list[ApplicableAction]:
        """The actions that would do something to an object here and now, and to which."""
        # After the first paint: it draws on the store.
        from foretop.main_screen.applicable_actions import applicable_actions

        return applicable_actions(self.offered(), self.page, self.object_actions, self.write_actions)

    def _key_hints(self) -> KeyHints:
        """The keys of the window above, of the field that is typed in, or of the page."""
        if self.app.screen is not self:
            return IN_A_WINDOW
        if self.page is None:
            return ()
        shown = [action for action in self.offered() if action.id != RESUME or self.write_actions.is_about_window]
        return self.page.ways_of_typing() or footer_hints(shown, self.page, self.can_go_back)

    def _footer_line(self) -> Line:
        """The key of the help is always told: it leads to all that there is no room for."""
        return key_line(self._key_hints(), self.size.width, key_name("help"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaves the key of an action that nobody carries out here to the next one that has it."""
        if action != "do" or self.page is None:
            return True
        action_id = str(parameters[0])
        return self.handler(action_id) is not None or bool(self.disabled_reason(action_id))

    def disabled_reason(self, action_id: str) -> str:
        """Why its key does nothing here; "" where another action has the key, or there is nothing to explain."""
        action = next(action for action in self.actions if action.id == action_id)
        sharing = [other for other in self.actions if set(other.keys) & set(action.keys)]
        if self.state is None or any(self.handler(other.id) is not None for other in sharing):
            return ""
        return self.write_actions.disabled_reason(action_id) or action.disabled_reason

    async def action_do(self, action_id: str) -> None:
        if self.page is None:
            await self._enter()
        handler = self.handler(action_id)
        if handler is None:
            if disabled_reason := self.disabled_reason(action_id):
                self.app.notify(disabled_reason)
            return
        try:
            outcome = handler()
            if outcome is not None:
                await outcome
        except Exception as problem:
            let_through(problem)
            self.app_host.note_failure(f"action {action_id}", self._subject(), problem)
        self.show_frame()

    def _subject(self) -> ObjectRef | None:
        """The object under the cursor, as far as that can be told."""
        try:
            return self.page.subject() if self.page is not None else None
        except Exception:
            return None

    # What keys do here

    def handlers(self) -> Mapping[str, Handler]:
        """The ways back, forth and out."""
        return {
            "previous": self.do_previous,
            "next": self.do_next,
            "last": self.do_last,
            "escape": self.do_escape,
            "back": self.do_back,
            "leave": self.do_leave,
            "full": self.do_full,
        }

    def offers(self, action_id: str) -> bool:
        if action_id == "previous":
            return self.history.can_go_back
        return self.history.can_go_on if action_id == "next" else True

    async def do_previous(self) -> None:
        await self._visit(self._step(-1))

    async def do_next(self) -> None:
        await self._visit(self._step(1))

    async def do_last(self) -> None:
        self.note_cursor()
        await self._visit(self.history.swap())

    def _step(self, by: int) -> PageAddress | None:
        self.note_cursor()
        return self.history.step(by)

    async def _visit(self, place: PageAddress | None) -> None:
        if place is not None:
            await self.go(place, remember=False)

    async def do_escape(self) -> None:
        if self.has_class("-full"):
            self.remove_class("-full")
        elif not (self.page is not None and self.page.go_back()):
            await self._leave_page()
        self.pulse()

    async def _leave_page(self) -> None:
        if self.history.has_jumped:
            await self.do_previous()
        elif self.current == DETAIL:
            await self._visit(self.history.out_of_detail())

    async def do_back(self) -> None:
        """`q`: as escape; in a tab with nothing to go back from a second one ends foretop."""
        if self.can_go_back:
            await self.do_escape()
        elif time.monotonic() - self._quit_asked_at < _QUIT_WITHIN:
            self.app.exit()
        else:
            self._quit_asked_at = time.monotonic()
            self.app.notify(f"{key_name('back')} again to quit", timeout=_QUIT_WITHIN)

    @property
    def can_go_back(self) -> bool:
        """True if escape would do something here."""
        inside = self.page is not None and self.page.can_go_back()
        return inside or self.has_class("-full") or self.current == DETAIL or self.history.has_jumped

    def do_leave(self) -> None:
        self.app.exit()

    def do_full(self) -> None:
        self.toggle_class("-full")
