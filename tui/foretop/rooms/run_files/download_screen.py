"""A window that downloads a file of a backup or restore: it shows what will be written, asks, and shows progress."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum, auto
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from foretop.dialogs import plan_text
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.base_modal import BaseModal
from foretop.dialogs.dialog_frame import dialog_width
from foretop.dialogs.dialog_parts import DialogButton, DialogEdge, MessageBody, NoticeLine, boxed
from foretop.terminal.clipboard import copy
from foretop.widgets.line_widgets import StyledLine
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, signed
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.planners.downloads import Run, RunFile
from foretop_core.actions.plans import Plan
from foretop_core.actions.run_files import (
    FileUnavailable,
    file_plan,
    files_of,
    files_plan,
    files_together,
    likely_file_owner,
    why_no_file,
)
from foretop_core.config.protection import NO_PROTECTION, Protection
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import ForetopError
from foretop_core.logs import logger
from foretop_core.models import Backup, NonAdmin, Restore
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.contents_facts import FetchedFiles
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.results import Results
from foretop_core.tables.engine.drawings import bar
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import width

if TYPE_CHECKING:
    from foretop.dialogs.dialog_registry import Keep

_log = logger(__name__)

_BAR = 30
_ONCE = "foretop asks once: later logs, results and lists of this cluster are fetched at once until you quit."
_AROUND = 6
"""Lines of the question besides its sentences."""
_NOTICE = 5.0
"""Seconds for which a message is shown in the place of the keys."""


class DownloadState(Enum):
    ASKING = auto()
    FETCHING = auto()
    SHOWN = auto()
    REFUSED = auto()


class DownloadScreen(BaseModal[None]):
    """The base of log and results; asks once in a session and cluster before it creates DownloadRequests.

    What would be refused anyway is tried at once, to show why.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", show=False),
        Binding("left,right", "other_knob", show=False),
    ]
    file: ClassVar[RunFile]

    def __init__(self, service: ActionService, key: ObjectRef) -> None:
        super().__init__()
        self.service = service
        self.key = key
        self.download_state = DownloadState.ASKING
        self.said: list[Paragraph] = []
        self._came_in = (0, 0)

    def compose(self) -> ComposeResult:
        with Vertical(classes="fetch"):
            yield DialogEdge("╭╮", "top")
            with Vertical(classes="sides"):
                yield StyledLine(id="fetch-head")
                yield MessageBody(id="fetch-said")
                with Horizontal(id="fetch-confirm", classes="confirm"):
                    yield from boxed(Prompt(id="confirm"))
                yield NoticeLine(id="notice")
                with Horizontal(classes="knobs"):
                    yield DialogButton("Cancel", "cancel")
                    yield DialogButton("Fetch", "go")
            yield from self.body()
            yield DialogEdge("╰╯", "bottom")
            yield StyledLine(id="fetch-foot")

    def body(self) -> ComposeResult:
        """The widgets that show the file, where this window does."""
        yield from ()

    @abstractmethod
    async def get(self) -> None:
        """Fetches it and keeps it."""

    def item(self) -> Run | NonAdmin:
        """The run whose file it is, as it is now."""
        item = self._item()
        if item is None:
            raise FileUnavailable(f"{self.key.name} has no {self.file.noun}", "it no longer exists")
        return item

    @abstractmethod
    def got(self) -> None:
        """Called when it has come."""

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Asks, or fetches at once where there is nothing to ask."""
        owner = self._owner()
        why_not = (
            why_no_file(self.executor.snapshot(), owner, self.file) if isinstance(owner, Backup | Restore) else None
        )
        agreed = self.service.downloads.is_agreed(self.key.context, self._protection.name)
        if agreed or owner is None or why_not or self.executor.client.read_only:
            self._fetch()
        else:
            self.query_one("#confirm" if self._protection.name else "#go").focus()
        self.draw()

    @property
    def _protection(self) -> Protection:
        return next(iter(self.service.protections((self.key.context,))), NO_PROTECTION)

    @property
    def executor(self) -> PlanExecutor:
        context = self.key.context
        return self.service.with_confirmed(self.service.downloads.confirmed(context)).executor(context)

    def _item(self) -> Run | NonAdmin | None:
        resource = self.service.item(self.key)
        return resource if isinstance(resource, Backup | Restore | NonAdmin) else None

    def _owner(self) -> Run | NonAdmin | None:
        item = self._item()
        return likely_file_owner(self.executor.snapshot(), item) if item is not None else None

    def _plan(self) -> Plan | None:
        owner = self._owner()
        return file_plan(self.executor, owner, self.file) if owner is not None else None

    @work(exclusive=True)
    async def _fetch(self) -> None:
        self.download_state = DownloadState.FETCHING
        self.draw()
        try:
            await self.get()
        except Exception as problem:
            if not isinstance(problem, ForetopError):
                _log.exception("fetching %s of %s failed", self.file.noun, self.key)
            self.download_state = DownloadState.REFUSED
            self.said = [paragraph(failure_line(problem), Tone.BAD)]
            self.draw()
            self.query_one("#cancel").focus()
            return
        self.download_state = DownloadState.SHOWN
        self.got()

    def came(self, done: int, total: int) -> None:
        self._came_in = (done, total)
        self.draw()

    # What is on the screen

    @property
    def _is_question(self) -> bool:
        """Framed as every dialog, until there is a file to show."""
        return self.download_state is not DownloadState.SHOWN

    def draw(self) -> None:
        cells = self.app.size.width - 2
        what = plan_text.title(f"{self.file.noun.capitalize()} of {{}}", self.key.name, cells)
        place = plan_text.place((self.key,), max(0, cells - width(what) - 3))
        where = (Span(f" · {place}", DIM),) if width(what) + 3 + width(place) <= cells else ()
        self.query_one("#fetch-head", StyledLine).show([Span(f" {what}", BOLD), *where])
        window = self.query_one(".fetch")
        window.set_class(self._is_question, "-question")
        window.styles.width = dialog_width(self.app.size.width) if self._is_question else "100%"
        body = self.query_one("#fetch-said", MessageBody)
        body.show(self._words())
        body.styles.height = "auto" if self._is_question else 2 if self.said else 0
        body.styles.max_height = max(2, self.app.size.height - _AROUND) if self._is_question else None
        self.query_one(".knobs").display = self.download_state in (DownloadState.ASKING, DownloadState.REFUSED)
        self.query_one("#go").display = self.download_state is DownloadState.ASKING
        wants_name = self.download_state is DownloadState.ASKING and bool(self._protection.name)
        self.query_one("#fetch-confirm").display = wants_name
        self.query_one("#cancel", DialogButton).say(
            "Cancel" if self.download_state is DownloadState.ASKING else "Close"
        )
        if self._is_question:
            self._show_edges(wants_name)
        self.show_foot()

    def _show_edges(self, wants_name: bool) -> None:
        room = min(dialog_width(self.app.size.width), self.app.size.width) - 8
        title = plan_text.title(f"Fetch the {self.file.noun} of {{}}", self.key.name, room)
        edges = {dialog_edge.id: dialog_edge for dialog_edge in self.query(DialogEdge)}
        for edge in edges.values():
            edge.look_dangerous(wants_name)
        self.query_one(".fetch").set_class(wants_name, "-dangerous")
        asks = self.download_state is DownloadState.ASKING
        keys = "enter fetch · tab next · esc close" if asks else "esc close"
        look = style_of(Tone.BAD) if wants_name else BOLD
        edges["top"].show((Span(title, look),), (), framed=True, focused=True)
        edges["bottom"].show((), (Span(keys, DIM),), framed=True, focused=True)

    def _words(self) -> list[Paragraph]:
        if self.download_state is DownloadState.FETCHING:
            return [self.progress(*self._came_in)]
        plan = self._plan() if self.download_state is DownloadState.ASKING else None
        if plan is None:
            return self.said
        room = min(dialog_width(self.app.size.width), self.app.size.width) - 4
        protection = self._protection
        why = [paragraph(f"Type {protection.name} to confirm: {protection.production}.", Tone.WARN)]
        return [
            *plan_text.warnings(plan, ActionTargets((self.key,))),
            *self.proposal(plan),
            *plan_text.writes(plan.steps, room, copies=not protection.name),
            paragraph(""),
            paragraph(_ONCE, Tone.DIM),
            *(why if protection.name else ()),
        ]

    def progress(self, done: int, total: int) -> Paragraph:
        """How much of it has come; the total is 0 as long as it is not known."""
        come = f"{bar(done, total, _BAR)} {done:,} of {total:,} bytes" if total else f"{done:,} bytes"
        return Paragraph((signed(f"Requesting the {self.file.noun} … {come}"),))

    def proposal(self, plan: Plan) -> list[Paragraph]:
        """The sentences on what is written."""
        return list(plan_text.proposal(plan))

    def show_foot(self) -> None:
        self.query_one("#fetch-foot", StyledLine).show(
            [Span(" esc", BOLD), Span(" or ", DIM), Span("q", BOLD), Span(" close", DIM)]
        )

    def show_notice(self, text: str) -> bool:
        """Above the buttons, or in the place of the keys, for a few seconds."""
        if self._is_question:
            self.query_one(NoticeLine).show([Span(f" {text}", BOLD)])
            self.set_timer(_NOTICE, lambda: self.query_one(NoticeLine).show([]))
        else:
            self.query_one("#fetch-foot", StyledLine).show([Span(f" {text}", BOLD)])
            self.set_timer(_NOTICE, self.show_foot)
        return True

    # Keys

    def action_press(self) -> None:
        """Does what the button with the focus says."""
        name = self._protection.name
        if not self.query_one("#go").has_focus:
            self.action_leave()
        elif name and self.query_one("#confirm", Prompt).value != name:
            self.app.notify(f"Type {name} first", severity="warning")
            self.draw()
        else:
            self.service.downloads.agree(self.key.context, frozenset({name} if name else ()))
            self._fetch()

    @on(Input.Submitted)
    def _name_typed(self, event: Input.Submitted) -> None:
        if self.download_state is DownloadState.ASKING:
            event.stop()
            self.query_one("#go").focus()

    @on(Prompt.Dropped)
    def _left(self, event: Prompt.Dropped) -> None:
        """The field may still have the focus when nothing is asked any more."""
        event.stop()
        self.action_leave()

    def action_other_knob(self) -> None:
        go = self.query_one("#go", DialogButton)
        (self.query_one("#cancel", DialogButton) if go.has_focus or not go.display else go).focus()

    def action_copy(self) -> None:
        plan = self._plan()
        if plan is not None:
            copy(self.app, plan_text.commands(plan))


class ResultsDownload(DownloadScreen):
    """The window of the download; it closes when the results, and what a backup holds, have arrived."""

    file = RunFile.RESULTS

    def __init__(self, service: ActionService, key: ObjectRef, keep: Keep) -> None:
        super().__init__(service, key)
        self._keep = keep
        self._files = FetchedFiles(Results())

    def _plan(self) -> Plan | None:
        owner = self._owner()
        return files_plan(self.executor, owner) if owner is not None and owner is self._item() else super()._plan()

    def proposal(self, plan: Plan) -> list[Paragraph]:
        if len(plan.steps) == 1:
            return super().proposal(plan)
        owner = self._owner()
        nouns = humanize.join([f"the {file.noun}" for file in files_together(owner)]) if owner is not None else ""
        made = f"{len(plan.steps)} DownloadRequests are created, for {nouns} of {self.key.name}"
        return [paragraph(f"{made}; Velero removes them after ten minutes.")]

    async def get(self) -> None:
        self._files = await files_of(self.executor, self.item(), progress=self.came)

    def got(self) -> None:
        if self._files.volumes is not None:
            self.service.source.store.note_volumes(self.key, self._files.volumes)
        self._keep(self.key, self._files)
        self.action_leave()
