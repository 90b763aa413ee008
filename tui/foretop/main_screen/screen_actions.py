"""The actions on the screen as a whole: help, palette, scope, time zone, sign-in, and saving the table."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.app import App, SuspendNotSupported

from foretop.bindings import (
    BY_ID,
    RESUME,
    ROOM_ACTIONS,
    WRITE_ACTIONS,
    Action,
    Handler,
    RoomAction,
    handlers_by_name,
    key_name,
    page_key,
)
from foretop.dialogs.base_modal import choose
from foretop.main_screen.action_host import ActionHost, AppHost
from foretop.main_screen.object_actions import run_under_cursor
from foretop.main_screen.write_actions import WriteActions, all_windows, why_no_window, window_labels
from foretop.pages.page import PageAddress
from foretop.pages.table_page import TablePage
from foretop.pages.triage_selection import finding_under_cursor
from foretop.panes.page_records import signs_on
from foretop.terminal.job_control import plain_terminal
from foretop_core.actions.planners.pausing import CHANGE_PAUSE
from foretop_core.actions.planners.schedules import CREATE_SCHEDULE
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, ForetopError, nearest
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, ON_DEMAND, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGES
from foretop_core.rules import humanize
from foretop_core.rules.sentences import names_key
from foretop_core.tables.text.terminal_text import clean
from foretop_core.tables.text.times import TimeZoneMode, TimeZoneSetting

if TYPE_CHECKING:
    from foretop.dialogs.command_palette import PaletteEntry

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_TENANTS = tuple(kind.name for kind in KINDS if kind not in BESIDE_VELERO and kind not in ON_DEMAND)


class ScopeCommands:
    """The handlers of `:ns` and `:ctx`; without a name they open a list."""

    def __init__(self, host: ActionHost, state: DashboardState) -> None:
        self._host = host
        self._state = state

    async def obey(self, verb: str, name: str) -> None:
        if verb == "ns":
            self._namespace(name)
        else:
            await self._choose_context(name)

    def look_at(self, namespace: str = "", context: str = "") -> None:
        from foretop_core.dashboard.object_fetch import set_scope

        set_scope(self._state, namespace, context)
        if self._host.page is not None:
            self._host.page.refocus()
        self._host.pulse()

    def _namespace(self, name: str) -> None:
        context = self._state.focus.context
        if not name:
            self._offer("Which namespace", "all namespaces", self._namespaces(), lambda one: self.look_at(one, context))
        elif not _NAME.fullmatch(name):
            self._host.app.notify(f"{name!r} is not a valid namespace name", severity="warning")
        elif (existing := self._existing()) is not None and name not in existing:
            text = f"Namespace {name!r} does not exist{nearest(name, sorted(existing))}"
            self._host.app.notify(text, severity="warning")
        else:
            self.look_at(name, context)

    def _existing(self) -> set[str] | None:
        """The namespaces that exist or have something in them; None where nobody can tell."""
        contexts = (self._state.focus.context,) if self._state.focus.context else self._state.contexts
        names = set(self._namespaces())
        for context in contexts:
            namespaces = self._state.store.snapshot(context).namespaces
            if namespaces is None:
                return None
            names.update(item.name for item in namespaces)
        return names

    async def _choose_context(self, name: str) -> None:
        """Looks at one context: watched ones come first, and a name that fits one of them alone means that one."""
        watched, others = self._state.contexts, await self._others()
        matches = _fitting(name, watched) or _fitting(name, others)
        if len(matches) == 1:
            self._look_at_context(matches[0])
        elif matches or (not name and (others or len(watched) > 1)):
            names = matches or (*watched, *others)
            labels = [context if context in watched else f"{context}  (not watched yet)" for context in names]
            self._offer("Which context", "all contexts", names, self._look_at_context, labels)
        elif name:
            listed = humanize.join((*watched, *others), 5) or "none"
            close = nearest(name, (*watched, *others))
            text = close if "did you mean" in close else f"; the kubeconfig has {listed}"
            self._host.app.notify(f"Unknown context {name!r}{text}", severity="warning")
        else:
            self._host.app.notify(f"{humanize.join(watched) or 'Nothing'} is the only context of the kubeconfig")

    async def _others(self) -> tuple[str, ...]:
        """A kubeconfig that cannot be read any more is told, and leaves those that are watched."""
        try:
            return await self._state.source.other_contexts()
        except ForetopError as problem:
            self._host.app.notify(str(problem), severity="error")
            return ()

    def _look_at_context(self, name: str) -> None:
        if not name or name in self._state.contexts:
            self.look_at(self._state.focus.namespace, name)
        else:
            self._host.run_worker(self._watch(name))

    async def _watch(self, name: str) -> None:
        self._host.app.notify(f"Connecting to {name}")
        try:
            await self._state.source.add_context(name)
        except (ForetopError, OSError) as problem:
            self._host.app.notify(f"Cannot watch {name}: {problem}", severity="error")
            return
        self._state.take_contexts()
        self._host.attach(self._state)
        self.look_at(self._state.focus.namespace, name)
        self._host.app.notify(f"{name} is watched from now on; 0 shows all contexts")

    def _offer(
        self,
        title: str,
        everything: str,
        names: Sequence[str],
        take: Callable[[str], None],
        labels: Sequence[str] = (),
    ) -> None:
        choose(self._host.app, title, [everything, *(labels or names)], lambda place: take(("", *names)[place]))

    def _namespaces(self) -> list[str]:
        """The namespaces that something was seen in."""
        store = self._state.store
        names = {
            key.namespace
            for context in self._state.contexts
            for kind in _TENANTS
            for key, _ in store.items(context, kind)
        }
        return sorted(names.union(*(store.snapshot(context).velero_namespaces for context in self._state.contexts)))


def _fitting(name: str, names: Sequence[str]) -> list[str]:
    """The one of that name, else those that contain it; none for no name."""
    return [other for other in names if other == name] or [other for other in names if name and name in other]


def entries(available: Iterable[Action]) -> list[PaletteEntry]:
    """The lines of the palette: those without a key first, then tabs, actions here, topics, actions elsewhere."""
    from foretop.dialogs.command_palette import PaletteEntry
    from foretop_core.tables.text.explanations import explanations

    pages = [
        PaletteEntry(f"go {page.id}", page.commands, page.title, key if (key := page_key(page.id)).isdigit() else "")
        for page in PAGES.values()
    ]
    names = [
        PaletteEntry("ns", ("ns ",), "show one namespace: ns team-a; ns alone lists all"),
        PaletteEntry("ctx", ("ctx ",), "show one context of the kubeconfig: ctx prod; ctx alone lists all"),
        PaletteEntry("window", ("window ",), "is all done by 06:00, and free to 07:30? window 06:00-07:30; window off"),
    ]
    quit = PaletteEntry("q", ("q", "quit"), "quit foretop")
    explained = [
        PaletteEntry(
            f"explain {explanation.topic}", (f"explain {explanation.topic}",), f"explained: {explanation.title}"
        )
        for explanation in explanations().values()
    ]
    here = [action for action in available if action.id not in ("palette", "escape", "back")]
    offered = {action.id for action in here}
    led_to = [BY_ID[home] for home in _HOMES if home not in offered]
    elsewhere = [action for action in WRITE_ACTIONS if action.id not in {*offered, *_HOMES}]
    return [
        *(page for page in pages if not page.shown),
        *names,
        *(_entry(action) for action in here if action.id in _BY_NAME_ALONE),
        quit,
        *(page for page in pages if page.shown),
        *(_entry(action) for action in here if action.id not in _BY_NAME_ALONE),
        *(_entry(replace(action, shown="")) for action in led_to),
        *explained,
        *(_entry(action, works=False) for action in elsewhere),
    ]


def _entry(action: Action, *, works: bool = True) -> PaletteEntry:
    from foretop.dialogs.command_palette import PaletteEntry

    names = (action.id.replace("_", "-"), *action.words)
    return PaletteEntry(f"do {action.id}", names, action.title, action.shown if works else "", works)


def sign_in(app: App[Any], state: DashboardState, context: str) -> None:
    """Nothing else happens meanwhile: the terminal is the plugin's."""
    try:
        with plain_terminal(app):
            print(f"Signing in to {clean(context)}; ctrl+c cancels", flush=True)
            state.source.sign_in(context)
    except SuspendNotSupported:
        app.notify(
            f"This terminal cannot suspend the screen: sign in from another terminal, then press {key_name('relist')}",
            severity="warning",
        )
    except (ForetopError, OSError) as problem:
        app.notify(f"Not signed in to {context}: {problem}", severity="error")
    else:
        app.notify(f"Signed in to {context}")
    app.refresh()


_HOMES = {CREATE_SCHEDULE.id: CREATE_SCHEDULE.page, "collisions": "calendar"}
"""Actions that need no object, and the page of each: by name they work on every page, and lead there first."""
_OF_ROOMS = {room.action.id: room for room in ROOM_ACTIONS}
_KEYLESS = (room.action.id for room in ROOM_ACTIONS if not (room.action.keys or room.page))
_BY_NAME_ALONE = frozenset({"windows", "handover", "messages", *_KEYLESS})
"""Actions of the first lines of the palette: few know their keys, or they have none."""

# Deferred imports: the hand-over, the export and a change of the scope are loaded when they are first asked for.


class ScreenActions:
    """The handlers of those actions."""

    def __init__(self, host: ActionHost, app_host: AppHost, write_actions: WriteActions) -> None:
        self.host = host
        self.app_host = app_host
        self.write_actions = write_actions
        self._handlers = handlers_by_name(self)
        self._handlers |= {room.action.id: partial(self._do_in_room, room) for room in ROOM_ACTIONS if room.module}

    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    def offers(self, action_id: str) -> bool:
        """By `can_<id>`; what has none always does something, but for a room's that is of a page or kind."""
        if (room := _OF_ROOMS.get(action_id)) is not None:
            if room.of_recording:
                return self.host.state is not None and self.host.state.moves_in_time
            is_always_offered = not (room.page or room.kinds or room.of_run)
            return is_always_offered or room.page == self.host.current or self._asked_of(room) is not None
        can: Callable[[], bool] | None = getattr(self, f"can_{action_id}", None)
        return can() if can is not None else True

    def can_save(self) -> bool:
        page = self.host.page
        return isinstance(page, TablePage) and page.rows is not None and page.rows.table.total > 0

    def can_sign_in(self) -> bool:
        return self.host.state is not None and bool(self.host.state.signed_out())

    def can_handover(self) -> bool:
        return self.host.state is not None and self.host.state.has_judged

    def can_all_namespaces(self) -> bool:
        return self.host.state is not None and bool(self.host.state.focus)

    def do_mouse(self) -> None:
        self.app_host.toggle_mouse()

    def do_theme(self) -> None:
        self.app_host.cycle_theme()

    def do_save(self) -> None:
        page = self.host.page
        if not isinstance(page, TablePage) or page.rows is None:
            return
        from foretop_core.dashboard.export import ExportFormat, save

        rows = page.rows

        def take(place: int) -> None:
            self.host.run_worker(write(ExportFormat.CSV if place == 0 else ExportFormat.JSON))

        async def write(form: ExportFormat) -> None:
            try:
                path, count = await save(rows, page.page_id, form)
            except OSError as problem:
                self.host.app.notify(f"Not saved: {problem.strerror}: {problem.filename}", severity="error")
            else:
                self.host.app.notify(f"{humanize.count(count, 'row')} saved to {path}")

        choose(self.host.app, f"Save {len(rows.table):,} rows as", ["CSV", "JSON"], take)

    def do_windows(self) -> None:
        """All pause windows: one is changed or resumed as a whole, or its first schedule is gone to."""
        state = self.host.state
        if state is None:
            return
        windows = all_windows(state)
        if not windows:
            self.host.app.notify(why_no_window(state))
            return

        def show(place: int) -> None:
            context, window = windows[place]
            first = window.schedules[0]
            key = ObjectRef(context, SCHEDULE.name, first.namespace, first.name)
            self.host.run_worker(self.host.go(PageAddress("schedules", filter="", key=key, jumped=True)))

        others = {
            key_name(CHANGE_PAUSE.id): ("change all of it", lambda place: self.write_actions.change(*windows[place])),
            key_name(RESUME): ("resume all of it", lambda place: self.write_actions.resume(*windows[place])),
        }
        title = "Pause windows: enter goes to the first schedule of one"
        choose(self.host.app, title, window_labels(state, windows), show, others)

    async def do_handover(self) -> None:
        """The whole of what the dashboard watches, whatever the page is narrowed to."""
        # With the first hand-over: no page needs it to be drawn.
        from foretop.dialogs.text_screens import HandoverScreen
        from foretop_core.dashboard.handover import handover_of, handover_text

        if (state := self.host.state) is not None:
            handover = await handover_of(state, os.environ)
            text, markdown = (handover_text(handover, state.zone, markdown=form) for form in (False, True))
            self.host.app.push_screen(HandoverScreen(text, markdown))

    def _asked_of(self, room: RoomAction) -> ObjectRef | None:
        """The object itself, or that of a finding whose remedy is the action; a line of many means none."""
        page, state = self.host.page, self.host.state
        if room.of_run:
            is_open = page is not None and bool(room.section) and page.section == room.section
            return None if is_open else run_under_cursor(self.host)
        finding, subject = finding_under_cursor(page), page.subject() if page is not None else None
        if state is None:
            return None
        keys: tuple[ObjectRef, ...] = (subject,) if subject is not None else ()
        if finding is not None and not room.of_findings:
            is_remedy = not finding.members and names_key(finding.remedy, room.action.id)
            keys = (finding.subject, *finding.related) if is_remedy else ()
            keys = tuple(key for key in keys if state.store.get(key) is not None)
        contexts = state.source.clusters if room.of_cluster else state.contexts
        return next((key for key in keys if key.kind in room.kinds and key.context in contexts), None)

    async def _do_in_room(self, room: RoomAction) -> None:
        if self.host.state is not None:
            act = getattr(importlib.import_module(room.module), f"do_{room.action.id}")
            await act(self.host, None if room.page == self.host.current else self._asked_of(room))

    def do_help(self) -> None:
        from foretop.dialogs.help_screen import HelpScreen

        self.host.app.push_screen(
            HelpScreen(
                self.host.available(),
                signs_on(self.host.current) if self.host.current else (),
            )
        )

    async def do_messages(self) -> None:
        """Lists what was said and what was sent to the clusters shown; that nothing was changed is no news."""
        from foretop.dialogs.plan_screen import NOT_DONE
        from foretop.dialogs.text_screens import MessagesScreen
        from foretop_core.actions.journal import Journal, default_path

        messages = [message for message in self.app_host.told if message[1] != NOT_DONE]
        try:
            entries = await Journal(default_path(os.environ)).read_in_thread()
        except (ForetopError, OSError) as problem:
            entries = ()
            messages.append(("", str(problem)))
        state = self.host.state
        contexts, now = (state.contexts, state.clock()) if state is not None else ((), datetime.now(UTC))
        writes = [entry for entry in entries if entry.context in contexts]
        self.host.app.push_screen(MessagesScreen(messages, writes, now))

    def do_palette(self) -> None:
        from foretop.dialogs.command_palette import CommandPalette

        self.host.app.push_screen(CommandPalette(entries(self.host.available())), self._said)

    def _said(self, command: str | None) -> None:
        if command:
            self.host.run_worker(self.obey(command))

    async def obey(self, command: str) -> None:
        """A command of the palette: `go backups`, `do zone`, `ns team-a`, `ctx prod`, `q`."""
        self.host.app.clear_notifications()
        verb, _, rest = command.partition(" ")
        match verb:
            case "go" if rest in PAGES and not self.host.has_tab(rest):
                await self.host.go(PageAddress(rest, jumped=True))
            case "go":
                await self.host.action_tab(rest)
            case "do":
                if (home := _HOMES.get(rest, self.host.current)) != self.host.current:
                    await self.host.go(PageAddress(home, jumped=True))
                await self.host.action_do(rest)
            case "ns" | "ctx" if self.host.state is not None:
                await ScopeCommands(self.host, self.host.state).obey(verb, rest.strip())
            case "window" if self.host.state is not None:
                self._keep_free(self.host.state, rest.strip())
            case "explain":
                from foretop.dialogs.text_screens import explain

                explain(self.host.app, rest)
            case "q":
                self.host.app.exit()
            case _:
                from foretop.dialogs.command_palette import unknown_command

                typed = command.removeprefix("unknown ")
                self.host.app.notify(unknown_command(entries(self.host.available()), typed), severity="warning")
        self.host.pulse()

    def _keep_free(self, state: DashboardState, text: str) -> None:
        """`:window 06:00-07:30`, by the clocks on the screen; `:window off` for none, `:window` says which it is."""
        from foretop_core.rules.night.window import read_window

        window = state.thresholds.window
        if text:
            try:
                window = None if text == "off" else read_window(text, state.zone)
            except BadInput as problem:
                self.host.app.notify(str(problem), severity="warning")
                return
            state.thresholds = replace(state.thresholds, window=window)
            state.judge(at_once=True)
        notice = f"{window} is to be kept free of backups" if window is not None else "No window is to be kept free"
        self.host.app.notify(notice)

    def do_all_namespaces(self) -> None:
        if self.host.state is not None:
            ScopeCommands(self.host, self.host.state).look_at()

    def do_zone(self) -> None:
        state = self.host.state
        if state is not None:
            state.zoning = state.zoning.following(self.app_host.my_zone)
            self.host.pulse()
            self.host.app.notify(_told_in(state.zoning))

    def do_relist(self) -> None:
        self.app_host.try_again()
        self.host.app.notify("Retrying now")

    def do_sign_in(self) -> None:
        if (state := self.host.state) is None:
            return
        app, contexts = self.host.app, state.signed_out()
        if len(contexts) == 1:
            sign_in(app, state, contexts[0])
        elif contexts:
            choose(app, "Sign in to", contexts, lambda place: sign_in(app, state, contexts[place]))

    def do_suspend(self) -> None:
        self.host.app.action_suspend_process()


def _told_in(zoning: TimeZoneSetting) -> str:
    match zoning.told:
        case TimeZoneMode.UTC:
            return "Times in UTC"
        case TimeZoneMode.MINE:
            return f"Times in local time, {zoning.zone}"
        case TimeZoneMode.EXPRESSION:
            return "Times in the zone of their cron expression, otherwise UTC"
