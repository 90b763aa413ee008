"""The log of a backup or restore, full screen: fetched with progress, searched, saved."""

from __future__ import annotations

from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label

from core.actions.hand import Hand
from core.actions.logs import Log, NoLog, log_plan, nab_log, nonadmin_log_plan, run_log, why_no_log
from core.actions.plans import Plan
from core.errors import ForetopError
from core.models import Backup, NonAdminBackup, NonAdminRestore, Restore
from core.store import Key
from core.view.bars import bar
from core.view.marks import Tone
from tui.copying import copy
from tui.hands import Hands
from tui.modals import sentences
from tui.modals.parts import Knob
from tui.modals.window import Window
from tui.prose import Para, Span, para, span
from tui.tones import BOLD, DIM
from tui.widgets.lines import OneLine, ProsePane
from tui.widgets.loglines import LogLines
from tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from tui.app import Dashboard

Logged = Backup | Restore | NonAdminBackup
_BAR = 30


class Stage(Enum):
    ASKING = auto()
    FETCHING = auto()
    SHOWN = auto()
    REFUSED = auto()


class LogWindow(Window[None]):
    """Says first that a DownloadRequest will be made; where none can be, shows what Velero's pod has."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
        Binding("ctrl+s,s", "save", show=False),
        Binding("c", "copy", show=False),
        Binding("left,right", "other_knob", show=False),
    ]

    def __init__(self, hands: Hands, key: Key, ascii: bool) -> None:
        super().__init__(ascii)
        self.hands = hands
        self.key = key
        self.stage = Stage.ASKING
        self.fetched: Log | None = None
        self._said: list[Para] = []
        self._got = (0, 0)

    def compose(self) -> ComposeResult:
        with Vertical(id="log"):
            yield OneLine(ascii=self.ascii, id="log-head")
            yield ProsePane(ascii=self.ascii, id="log-said")
            with Horizontal(classes="knobs"):
                yield Knob("Cancel", "cancel")
                yield Knob("Fetch", "go")
            yield LogLines(self.ascii)
            with Horizontal(classes="prompt"):
                yield Label("/", markup=False)
                yield Prompt(placeholder="search, n and N go from one to the next", id="search")
            yield OneLine(ascii=self.ascii, id="log-foot")

    def on_mount(self) -> None:
        item = self._item()
        why_not = why_no_log(self._hand.world(), item) if isinstance(item, Backup | Restore) else None
        if self._plan() is None or why_not or self._hand.client.read_only:
            self._fetch()
        else:
            self.query_one("#cancel").focus()
        self._draw()

    @property
    def dashboard(self) -> Dashboard:
        from tui.app import Dashboard

        assert isinstance(self.app, Dashboard)
        return self.app

    @property
    def _hand(self) -> Hand:
        return self.hands.hand(self.key.context)

    def _item(self) -> Logged | None:
        """The object whose log it is: for a tenant's restore that of Velero's."""
        found = self.hands.item(self.key)
        if isinstance(found, NonAdminRestore):
            return self.hands.world(self.key.context).velero_restore(found)
        return found if isinstance(found, Backup | Restore | NonAdminBackup) else None

    def _plan(self) -> Plan | None:
        item = self._item()
        if item is None:
            return None
        if isinstance(item, NonAdminBackup) and item.spec.backup_spec.storage_location:
            return nonadmin_log_plan(self._hand, item)
        live = self._hand.world().velero_backup(item) if isinstance(item, NonAdminBackup) else item
        return log_plan(self._hand, live) if live is not None else None

    # Fetching

    @work(exit_on_error=False, exclusive=True)
    async def _fetch(self) -> None:
        self.stage = Stage.FETCHING
        self._draw()
        try:
            self.fetched = await self._get()
        except ForetopError as problem:
            self.stage = Stage.REFUSED
            self._said = [para(str(problem), Tone.BAD)]
            self._draw()
            self.query_one("#cancel").focus()
            return
        self.stage = Stage.SHOWN
        if self.fetched.partial:
            text = f"Partial: what Velero's own pod has of it. The whole log cannot be had: {self.fetched.why}"
            self._said = [para(text, Tone.WARN)]
        lines = self.query_one(LogLines)
        lines.show(self.fetched.lines)
        self._draw()
        lines.focus()

    async def _get(self) -> Log:
        item = self._item()
        if item is None:
            raise NoLog(f"{self.key.name} has no log", "its Velero object is not there")
        if isinstance(item, NonAdminBackup):
            return await nab_log(self._hand, item, progress=self._came)
        return await run_log(self._hand, item, progress=self._came)

    def _came(self, done: int, total: int) -> None:
        self._got = (done, total)
        self._draw()

    # What is on the screen

    def _draw(self) -> None:
        place = f"{self.key.context}, namespace {self.key.namespace}"
        self.query_one("#log-head", OneLine).show([span(f" {place} · Log of {self.key.name}", bold=True)])
        shown = self.stage is Stage.SHOWN
        said = self.query_one("#log-said", ProsePane)
        said.show(self._words())
        said.styles.height = "1fr" if not shown else 2 if self._said else 0
        self.query_one(".knobs").display = self.stage in (Stage.ASKING, Stage.REFUSED)
        self.query_one("#go").display = self.stage is Stage.ASKING
        self.query_one("#cancel", Knob).say("Cancel" if self.stage is Stage.ASKING else "Close")
        self.query_one(LogLines).display = shown
        self._show_foot()
        self.call_after_refresh(self._show_foot)

    def _words(self) -> list[Para]:
        if self.stage is Stage.FETCHING:
            done, total = self._got
            come = f"{bar(done, total, _BAR)} {done:,} of {total:,} bytes" if total else f"{done:,} bytes"
            return [para(f"Asking for the log … {come}")]
        plan = self._plan() if self.stage is Stage.ASKING else None
        if plan is None:
            return self._said
        return sentences.proposal(plan, 0, max(40, self.size.width - 4))

    @on(LogLines.Moved)
    def _show_foot(self) -> None:
        lines = self.query_one(LogLines)
        foot = self.query_one("#log-foot", OneLine)
        if self.stage is not Stage.SHOWN:
            foot.show([Span(" esc", BOLD), Span(" or ", DIM), Span("q", BOLD), Span(" leaves", DIM)])
            return
        last = min(len(lines.lines), lines.top + max(1, lines.size.height))
        found = f"   {len(lines.matches)} with it" if self.query_one(Prompt).value else ""
        where = f" {last:,} of {len(lines.lines):,} lines{found}   "
        keys = (("/", "search"), ("n N", "next"), ("s", "save"), ("left right", "aside"), ("q", "back"))
        foot.show([Span(where), *(piece for key, word in keys for piece in (Span(key, BOLD), Span(f" {word}  ", DIM)))])

    # Keys

    @on(Knob.Pressed)
    def _pressed(self, event: Knob.Pressed) -> None:
        event.stop()
        if event.knob.id == "go":
            self._fetch()
        else:
            self.action_leave()

    def action_other_knob(self) -> None:
        go = self.query_one("#go", Knob)
        (self.query_one("#cancel", Knob) if go.has_focus or not go.display else go).focus()

    def action_search(self) -> None:
        if self.stage is Stage.SHOWN:
            self.add_class("-searching")
            self.query_one(Prompt).focus()

    def action_next(self, by: int) -> None:
        self.query_one(LogLines).next_match(by)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(LogLines).search(event.value)

    @on(Input.Submitted)
    def _kept(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(LogLines).focus()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.query_one(Prompt).value = ""
        self.remove_class("-searching")
        self.query_one(LogLines).focus()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self.query_one(LogLines).focus()

    def action_copy(self) -> None:
        plan = self._plan()
        if plan is not None:
            copy(self.dashboard, sentences.commands(plan))

    def action_save(self) -> None:
        if self.fetched is None:
            return
        path = Path.cwd() / f"{self.key.name}.log"
        try:
            self.fetched.save(path)
        except ForetopError as problem:
            self.dashboard.notify(f"Not saved: {problem}", severity="error")
        else:
            self.dashboard.notify(f"{len(self.fetched.lines):,} lines saved to {path}")
