"""What the frame itself does for a key, whichever page is on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from foretop.dialogs.choose import Choose
from foretop.dialogs.command_palette import CommandPalette
from foretop.dialogs.help_screen import HelpScreen
from foretop.dialogs.messages import MessagesScreen
from foretop.main_screen.command_list import entries, sorting_letters
from foretop.main_screen.navigation import PageAddress
from foretop.main_screen.scope_commands import ScopeCommands
from foretop.main_screen.sign_in import sign_in, signed_out
from foretop.pages.findings_page import finding_under_cursor, place_of
from foretop.pages.table_page import TablePage
from foretop.pages.tabs import DETAIL
from foretop.panes.results import HAVE_RESULTS
from foretop.terminal.clipboard import copy
from foretop_core.dashboard.export import ExportFormat, save
from foretop_core.dashboard.related_objects import PAGE_OF, related, related_to_finding
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.rules import humanize
from foretop_core.store import Key
from foretop_core.tables.text.time_zones import TimeZoneMode, TimeZoneSetting

if TYPE_CHECKING:
    from foretop.main_screen.main_screen import MainScreen

_ABOUT_AN_OBJECT = frozenset({"open", "jump", "yaml", "describe", "copy_name", "copy_namespace"})

_HAVE_EXPRESSIONS = frozenset({SCHEDULE.plural, PRESCALED.plural, CRON_JOB.plural})


class GlobalActions:
    """What global keys do on the main screen."""

    def __init__(self, frame: MainScreen) -> None:
        self.frame = frame

    def offers(self, action_id: str) -> bool:
        page = self.frame.page
        if action_id == "open":
            return (
                self.frame.current != DETAIL
                and page is not None
                and (page.subject() is not None or finding_under_cursor(page) is not None)
            )
        if action_id == "jump":
            return bool(self.targets())
        if action_id == "results":
            return self._run() is not None
        if action_id == "prime":
            subject = page.subject() if page is not None else None
            return subject is not None and subject.kind in _HAVE_EXPRESSIONS
        if action_id in _ABOUT_AN_OBJECT:
            return page is not None and page.subject() is not None
        if action_id == "save":
            return isinstance(page, TablePage) and page.rows is not None and page.rows.table.total > 0
        if action_id == "previous":
            return self.frame.trail.can_go_back
        if action_id == "sign_in":
            return self.frame.state is not None and bool(signed_out(self.frame.state))
        if action_id == "next":
            return self.frame.trail.can_go_on
        if action_id == "all_namespaces":
            return self.frame.state is not None and bool(self.frame.state.focus)
        return True

    async def do_open(self) -> None:
        found = finding_under_cursor(self.frame.page)
        if found is None or (self.frame.page is not None and self.frame.page.subject() is not None):
            await self._open("overview")
        elif (place := place_of(found, self.targets())) is not None:
            await self.frame.go(place)
        else:
            self.do_jump()

    async def do_yaml(self) -> None:
        await self._open("yaml")

    async def do_describe(self) -> None:
        await self._open("describe")

    async def do_results(self) -> None:
        key = self._run()
        if key is not None:
            await self.frame.show_object(key, "results")

    def _run(self) -> Key | None:
        """The backup or restore under the cursor, or the first that a finding names."""
        page = self.frame.page
        subject = page.subject() if page is not None else None
        keys = (subject, *(self.targets() if finding_under_cursor(page) is not None else ()))
        return next((key for key in keys if key is not None and key.kind in HAVE_RESULTS), None)

    async def _open(self, section: str) -> None:
        key = self.frame.page.subject() if self.frame.page else None
        if key is not None:
            await self.frame.show_object(key, section)

    async def do_prime(self) -> None:
        """The primer takes the expression of what is under the cursor."""
        from foretop.pages.primer_page import PrimerPage

        key = self.frame.page.subject() if self.frame.page else None
        await self.frame.go(PageAddress("primer"))
        if key is not None and isinstance(self.frame.page, PrimerPage):
            self.frame.page.take(key)

    def targets(self) -> tuple[Key, ...]:
        """Where J leads from here: only to what is there."""
        page, state = self.frame.page, self.frame.state
        if page is None or state is None:
            return ()
        if (found := finding_under_cursor(page)) is not None:
            return tuple(key for key in related_to_finding(found) if state.store.get(key) is not None)
        key = page.subject()
        return related(state.store, key) if key is not None else ()

    def do_jump(self) -> None:
        targets = self.targets()
        if len(targets) == 1:
            self.frame.run_worker(self._jump(targets[0]))
        elif targets:
            labels = [f"{key.kind.removesuffix('s')} {key.namespace}/{key.name}" for key in targets]
            self.frame.dashboard.push_screen(Choose("Jump to", labels, self.frame.looks.ascii), self._jumped(targets))

    def _jumped(self, targets: tuple[Key, ...]) -> Callable[[int | None], None]:
        def chosen(place: int | None) -> None:
            if place is not None:
                self.frame.run_worker(self._jump(targets[place]))

        return chosen

    async def _jump(self, key: Key) -> None:
        """To its row where it has one, else to its detail."""
        page = PAGE_OF.get(key.kind)
        if page is None or self.frame.current == DETAIL:
            await self.frame.show_object(key)
            return
        await self.frame.go(PageAddress(page, filter="", key=key, jumped=True))
        shown = self.frame.page
        if isinstance(shown, TablePage) and shown.table.cursor != key:
            await self.frame.show_object(key)

    def do_copy_name(self) -> None:
        if self.frame.page and (key := self.frame.page.subject()):
            copy(self.frame.dashboard, key.name)

    def do_copy_namespace(self) -> None:
        if self.frame.page and (key := self.frame.page.subject()):
            copy(self.frame.dashboard, key.namespace)

    def do_save(self) -> None:
        page = self.frame.page
        if not isinstance(page, TablePage) or page.rows is None:
            return
        rows = page.rows

        def chosen(place: int | None) -> None:
            if place is None:
                return
            try:
                path, count = save(rows, page.page_id, ExportFormat.CSV if place == 0 else ExportFormat.JSON)
            except OSError as problem:
                self.frame.dashboard.notify(f"Not saved: {problem.strerror}: {problem.filename}", severity="error")
            else:
                self.frame.dashboard.notify(f"{humanize.count(count, 'row')} saved to {path}")

        self.frame.dashboard.push_screen(
            Choose(f"Save {len(rows.table):,} rows as", ["CSV", "JSON"], self.frame.looks.ascii), chosen
        )

    async def do_previous(self) -> None:
        await self._visit(self._step(-1))

    async def do_next(self) -> None:
        await self._visit(self._step(1))

    async def do_last(self) -> None:
        self.frame.note_cursor()
        await self._visit(self.frame.trail.swap())

    def _step(self, by: int) -> PageAddress | None:
        self.frame.note_cursor()
        return self.frame.trail.step(by)

    async def _visit(self, place: PageAddress | None) -> None:
        if place is not None:
            await self.frame.go(place, remember=False)

    async def do_escape(self) -> None:
        if self.frame.has_class("-full"):
            self.frame.remove_class("-full")
        elif not (self.frame.page is not None and self.frame.page.go_back()):
            await self._leave_page()
        self.frame.pulse()

    async def _leave_page(self) -> None:
        if self.frame.current == DETAIL:
            await self._visit(self.frame.trail.out_of_detail())
        elif self.frame.trail.has_jumped:
            await self.do_previous()

    async def do_back(self) -> None:
        """`q`: as escape, and in a tab with nothing to go back from, out."""
        if self.can_go_back:
            await self.do_escape()
        else:
            self.frame.dashboard.exit()

    @property
    def can_go_back(self) -> bool:
        """Whether escape would do something here."""
        page = self.frame.page
        inside = page is not None and page.can_go_back()
        return inside or self.frame.has_class("-full") or self.frame.current == DETAIL or self.frame.trail.has_jumped

    def do_leave(self) -> None:
        self.frame.dashboard.exit()

    def do_help(self) -> None:
        self.frame.dashboard.push_screen(
            HelpScreen(self.frame.available(), sorting_letters(self.frame.page), self.frame.looks.ascii)
        )

    def do_messages(self) -> None:
        self.frame.dashboard.push_screen(MessagesScreen(self.frame.dashboard.told, self.frame.looks.ascii))

    def do_palette(self) -> None:
        self.frame.dashboard.push_screen(
            CommandPalette(entries(self.frame.available()), self.frame.looks.ascii), self._said
        )

    def _said(self, command: str | None) -> None:
        if command:
            self.frame.run_worker(self.obey(command))

    async def obey(self, command: str) -> None:
        """A command of the palette: `go backups`, `do zone`, `ns team-a`, `ctx prod`, `q`."""
        verb, _, rest = command.partition(" ")
        match verb:
            case "go":
                await self.frame.action_tab(rest)
            case "do":
                await self.frame.action_do(rest)
            case "ns" | "ctx" if self.frame.state is not None:
                ScopeCommands(self.frame, self.frame.state).obey(verb, rest.strip())
            case "q":
                self.frame.dashboard.exit()
            case _:
                self.frame.dashboard.notify(f"Unknown command {command!r}", severity="warning")
        self.frame.pulse()

    def do_all_namespaces(self) -> None:
        if self.frame.state is not None:
            ScopeCommands(self.frame, self.frame.state).look_at()

    def do_zone(self) -> None:
        state = self.frame.state
        if state is not None:
            state.zoning = state.zoning.following(self.frame.dashboard.my_zone)
            self.frame.pulse()
            self.frame.dashboard.notify(_told_in(state.zoning))

    def do_relist(self) -> None:
        self.frame.dashboard.try_again()
        self.frame.dashboard.notify("Retrying now")

    def do_sign_in(self) -> None:
        state, app = self.frame.state, self.frame.dashboard
        contexts = signed_out(state) if state is not None else ()

        def chosen(place: int | None) -> None:
            if place is not None and state is not None:
                sign_in(app, state, contexts[place])

        if len(contexts) == 1:
            chosen(0)
        elif contexts:
            app.push_screen(Choose("Sign in to", contexts, self.frame.looks.ascii), chosen)

    def do_full(self) -> None:
        self.frame.toggle_class("-full")

    def do_mouse(self) -> None:
        self.frame.dashboard.toggle_mouse()

    def do_suspend(self) -> None:
        self.frame.dashboard.action_suspend_process()


def _told_in(zoning: TimeZoneSetting) -> str:
    match zoning.told:
        case TimeZoneMode.UTC:
            return "Times in UTC"
        case TimeZoneMode.MINE:
            return f"Times in local time, {zoning.zone}"
        case TimeZoneMode.EXPRESSION:
            return "Times in the zone of their cron expression, otherwise UTC"
