"""The details of one object: overview, conditions, related objects, results, events, changes, YAML; live while open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

from foretop.bindings import Handler, KeyHints
from foretop.pages.page import Page, PageAddress, PageHost, safely
from foretop.panes.detail_sections import (
    SECTIONS,
    SECTIONS_OF_ROOMS,
    as_yaml,
    describe_object,
    heading,
    read_part,
    run_rows,
    sections_of,
    state_of,
)
from foretop.panes.page_records import TABLE_PAGES, FetchedPart
from foretop.panes.stale_notice import stale_paras
from foretop.panes.volumes_section import status_of
from foretop.widgets.line_widgets import Divider, FrameLine, StyledLine, TextPane, line_width
from foretop.widgets.paragraphs import Line, Paragraph, Span, paragraph
from foretop.widgets.prompt import Prompt
from foretop.widgets.run_table import RunTable
from foretop.widgets.styles import BOLD, CURSOR, DIM, PLAIN, style_of_mark
from foretop_core.dashboard.object_fetch import (
    fetch_movements,
    fetch_object,
    unwatch_events,
    watch_events,
)
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import (
    HAVE_RESULTS,
    NAMESPACE,
    ON_DEMAND,
    SCHEDULE,
)
from foretop_core.models.velero import RunStatus
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGE_OF
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.store import UnreadableObject
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import cut

if TYPE_CHECKING:
    from foretop_core.rules.facts.contents_facts import FetchedFiles

_ON_DEMAND = frozenset(kind.name for kind in ON_DEMAND)
_WITH_VOLUMES = ("volumes", "describe", *SECTIONS_OF_ROOMS)
_LEAST_OF_RUNS = 5
"""So many runs are in sight, however long the text is."""
_ABOVE_AND_BELOW = 2
"""Lines of the page that are neither text nor table: title and sections, or the frame."""
_FRAME = 3
"""Lines of the screen around a page, for one that has no size yet."""


class DetailPage(Page, can_focus=True):
    """The page has the focus itself: up and down scroll; left, right and tab change the section."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("pagedown,ctrl+f", "scroll_by(15)", show=False),
        Binding("pageup,ctrl+b", "scroll_by(-15)", show=False),
        Binding("home,g", "scroll_by(-1000000)", show=False),
        Binding("end,G", "scroll_by(1000000)", show=False),
        Binding("right,tab", "section(1)", show=False),
        Binding("left,shift+tab", "section(-1)", show=False),
        Binding("space", "fold", show=False),
        Binding("shift+down", "scroll_text(1)", show=False),
        Binding("shift+up", "scroll_text(-1)", show=False),
    ]

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(page_id, display_options, host)
        self.key: ObjectRef | None = None
        self.section = SECTIONS[0]
        self._folded = True
        self._runs_of: ObjectRef | None = None
        """The schedule whose runs were listed last: who comes back to it finds the cursor where it was."""
        self._whole: Mapping[str, Any] | None = None
        self._asked: tuple[ObjectRef, str] | None = None
        """Of which object in which version the whole was asked for."""
        self._yaml: tuple[tuple[object, ...], Sequence[Paragraph]] = ((), ())
        self._fetched = {name: room.fetched(self) for name, room in SECTIONS_OF_ROOMS.items()}
        """By section, the part that a person fetches."""
        self._listed_for: tuple[ObjectRef, RunStatus] | None = None
        """Of which object in which state the data movements were listed."""
        self._not_listed = ""

    def compose(self) -> ComposeResult:
        yield StyledLine(id="detail-head")
        yield Divider(id="sections")
        yield FrameLine("┌┐", id="detail-top")
        yield TextPane(id="detail-body", classes="boxed")
        yield RunTable(id="detail-runs", classes="boxed")
        yield FrameLine("└┘", id="detail-bottom")
        with Horizontal(classes="filter"):
            yield Label("/", markup=False)
            yield Prompt(placeholder="search; enter goes to the next match", id="search")

    def place(self) -> PageAddress:
        return PageAddress(self.page_id, key=self.key, section=self.section)

    def restore(self, place: PageAddress) -> None:
        if place.key is not None:
            if place.key != self.key:
                self._forget()
            self.key, self.section = place.key, place.section
            if self.state is not None:
                watch_events(self.state, place.key)
            self._draw(keep_place=False)

    def left(self) -> None:
        self.go_back()
        if self.state is not None and self.key is not None:
            unwatch_events(self.state, self.key)
        self._forget()

    def _forget(self) -> None:
        """Forgets what was asked about the object that was open."""
        for part in self._fetched.values():
            part.forget()
        self._listed_for, self._not_listed = None, ""

    def shown(self) -> None:
        self.screen.set_focus(self, scroll_visible=False)

    def attach(self, state: DashboardState) -> None:
        super().attach(state)
        self._draw()

    def pulse(self) -> None:
        self._draw()

    def draw(self) -> None:
        self._draw()

    def kinds_on_demand(self) -> frozenset[str]:
        """Its own, and those of the page that shows such objects, whose pane stands here too."""
        if self.key is None:
            return frozenset()
        home = TABLE_PAGES.get(PAGE_OF.get(self.key.kind, ""))
        own = KINDS_OF_VOLUMES if self.key.kind == SCHEDULE.name else frozenset({self.key.kind}) & _ON_DEMAND
        return own | (home.kinds_on_demand if home is not None else frozenset())

    def subject(self) -> ObjectRef | None:
        return self.key

    @property
    def _runs(self) -> RunTable:
        return self.query_one("#detail-runs", RunTable)

    def run_under_cursor(self) -> ObjectRef | None:
        return self._runs.cursor

    def on_resize(self) -> None:
        self._draw()

    def action_scroll_by(self, by: int) -> None:
        """Scrolls, or moves the cursor of the table of runs where there is one."""
        if self._runs.cursor is not None:
            self._runs.move(by)
        else:
            self.action_scroll_text(by)

    def action_scroll_text(self, by: int) -> None:
        self.query_one(TextPane).scroll_lines(by)

    def action_section(self, by: int) -> None:
        sections = self._sections
        index = sections.index(self.section) if self.section in sections else 0
        self.section = sections[(index + by) % len(sections)]
        self._draw(keep_place=False)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "open": self.do_open,
            "section": lambda: self.action_section(1),
            "search": self.do_search,
            "yaml": self.do_yaml,
            "describe": self.do_describe,
        }

    async def do_open(self) -> None:
        """The way back from the run leads here."""
        if (run := self._runs.cursor) is not None:
            await self.host.go(PageAddress(self.page_id, key=run, jumped=True))

    def do_search(self) -> None:
        self.add_class("-filtering")
        self.screen.set_focus(self._prompt, scroll_visible=False)

    @property
    def _prompt(self) -> Prompt:
        return self.query_one("#search", Prompt)

    def ways_of_typing(self) -> KeyHints:
        return (("enter", "next match"), ("esc", "close"), ("up down", "scroll")) if self._prompt.has_focus else ()

    def can_go_back(self) -> bool:
        return self.has_class("-filtering")

    def go_back(self) -> bool:
        """A search is closed before the page is."""
        if not self.can_go_back():
            return False
        self.remove_class("-filtering")
        self._prompt.value = ""
        self.screen.set_focus(self, scroll_visible=False)
        return True

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one("#detail-body", TextPane).search(event.value)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#detail-body", TextPane).search(event.value, onwards=True)

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.go_back()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self.action_scroll_by(event.by)

    def action_fold(self) -> None:
        self._folded = not self._folded
        self._draw()

    def do_yaml(self) -> None:
        self._show("yaml")

    def do_describe(self) -> None:
        self._show("describe")

    def offers(self, action_id: str) -> bool:
        if action_id in ("yaml", "describe"):
            return self._is_there
        return action_id != "open" or self._runs.cursor is not None

    @property
    def _is_there(self) -> bool:
        """False for an object that is gone; a namespace is told of by its copies alone too."""
        if self.state is None or self.key is None:
            return False
        return self.key.kind == NAMESPACE.name or self.state.store.get(self.key) is not None

    @property
    def _fetched_here(self) -> tuple[FetchedPart, DashboardState, ObjectRef] | None:
        """The part of the section on the screen that a person fetches, and what it is of."""
        part = self._fetched.get(self.section)
        if part is None or self.state is None or self.key is None or self.section not in self._sections:
            return None
        return part, self.state, self.key

    @property
    def has_list(self) -> bool:
        return (here := self._fetched_here) is not None and here[0].has_list(*here[1:])

    @property
    def lacks_list(self) -> bool:
        return (here := self._fetched_here) is not None and here[0].lacks_list(*here[1:])

    @property
    def why_no_list(self) -> str:
        return here[0].why_no_list(*here[1:]) if (here := self._fetched_here) is not None else ""

    def keep_results(self, key: ObjectRef, files: FetchedFiles) -> None:
        """They were fetched; of an object that is still open they are shown."""
        if self.state is not None and key == self.key:
            for part in self._fetched.values():
                part.keep(self.state, key, files)
            self._draw(keep_place=False)

    def _show(self, section: str) -> None:
        """The key that leads into a section leads back to the overview as well."""
        self.section = SECTIONS[0] if self.section == section else section
        self._draw(keep_place=False)

    @property
    def _sections(self) -> tuple[str, ...]:
        return sections_of(self.key.kind) if self.key is not None else SECTIONS

    def _title(self, state: DashboardState, key: ObjectRef) -> Line:
        """Its state, its kind and its name."""
        mark = state_of(state, key)
        name = Span(cut(heading(key), self.app.size.width - 4), BOLD)
        return (name,) if mark is None else (Span(f"{mark.value} ", style_of_mark(mark)), name)

    def _draw(self, *, keep_place: bool = True) -> None:
        if self.state is None or self.key is None:
            return
        state, key = self.state, self.key
        title = self._title(state, key)
        self.query_one("#detail-head", StyledLine).show((Span(" "), *title))
        self.query_one("#sections", Divider).show(self._section_bar())
        top, bottom = self.query_one("#detail-top", FrameLine), self.query_one("#detail-bottom", FrameLine)
        top.show(title, self._section_names(), framed=True, focused=True)
        bottom.show((), (), framed=True, focused=True)
        paragraphs = safely(
            lambda: [*stale_paras(state, key, state.zone_of(key)), *self._said(state, key)],
            f"the section {self.section}",
            key,
            state,
        )
        body = self.query_one("#detail-body", TextPane)
        body.show(paragraphs, keep_place=keep_place)
        self._show_runs(state, key, body)

    def _show_runs(self, state: DashboardState, key: ObjectRef, body: TextPane) -> None:
        """The text has as many lines as it needs, and the runs below it the rest, but never fewer than a few."""
        rows = run_rows(state, key) if self.section == SECTIONS[0] else []
        runs, room = self._runs, (self.size.height or self.app.size.height - _FRAME) - _ABOVE_AND_BELOW
        runs.display = bool(rows)
        if not rows:
            body.styles.height = "1fr"
            return
        runs.show(rows)
        if key != self._runs_of:
            self._runs_of = key
            runs.go_to_first()
        lines = body.lines_wanted(body.size.width or self.size.width)
        body.styles.height = max(1, min(lines, room - 1 - min(len(rows), _LEAST_OF_RUNS)))

    def _section_bar(self) -> list[Span]:
        """The names of the sections, closer where they do not fit; in a very narrow line this one and which it is."""
        bar = [Span("─"), *self._section_names(), Span("─")]
        if line_width(tuple(bar)) > self.app.size.width:
            bar = [Span("─ ")]
            for section in self._sections:
                bar += [Span(_title_of(section), CURSOR if section == self.section else PLAIN), Span(" ")]
        if self.section in self._sections and line_width(tuple(bar)) > self.app.size.width:
            which = f" {self._sections.index(self.section) + 1} of {len(self._sections)} sections "
            return [Span("─"), Span(f" {_title_of(self.section)} ", CURSOR), Span("─"), Span(which, DIM), Span("─")]
        return bar

    def _section_names(self) -> Line:
        names = [
            Span(f" {_title_of(section)} ", CURSOR if section == self.section else PLAIN) for section in self._sections
        ]
        return tuple(part for place, name in enumerate(names) for part in ((Span("─"), name) if place else (name,)))

    def _said(self, state: DashboardState, key: ObjectRef) -> Sequence[Paragraph]:
        if self.section == "yaml":
            return self._as_yaml()
        self._list_movements(state, key)
        cells = self.query_one("#detail-body", TextPane).size.width or self.app.size.width
        paragraphs = describe_object(state, key, self.section, cells)
        if self.section == "volumes" and self._not_listed:
            paragraphs = [paragraph(f"Data movements cannot be listed. {self._not_listed}", Tone.WARN)]
        part = self._fetched.get(self.section)
        return [*paragraphs, *part.paragraphs(state, key)] if part is not None else paragraphs

    def _list_movements(self, state: DashboardState, key: ObjectRef) -> None:
        """Lists the movements of a run that has ended, which are not watched, when a person wants to see them."""
        if key.kind not in HAVE_RESULTS or self.section not in _WITH_VOLUMES:
            return
        status = self._status()
        if status is None or not status.completion_timestamp or self._listed_for == (key, status):
            return
        self._listed_for, self._not_listed = (key, status), ""
        self.run_worker(self._fetch_movements(state, key), group="movements", exclusive=True)

    async def _fetch_movements(self, state: DashboardState, key: ObjectRef) -> None:
        problem = await fetch_movements(state, key)
        if key == self.key:
            self._not_listed = problem
            self._draw()

    def _status(self) -> RunStatus | None:
        assert self.state is not None
        assert self.key is not None
        return status_of(self.state, self.key, self.state.store.get(self.key))

    def _as_yaml(self) -> Sequence[Paragraph]:
        """Shows what was read of it at once, the whole as soon as the server has told it; made anew when it changes."""
        assert self.state is not None
        assert self.key is not None
        resource = self.state.store.get(self.key)
        if resource is None:
            return describe_object(self.state, self.key, SECTIONS[0])
        asked = (self.key, resource.metadata.resource_version)
        if self._asked != asked:
            if self._asked is None or self._asked[0] != self.key:
                self._whole = None
            self._asked = asked
            self.run_worker(self._fetch(self.state, self.key), group="whole", exclusive=True)
        made_from = (self.key, resource, id(self._whole), self._folded)
        if self._yaml[0] != made_from:
            plain = self._whole or read_part(self.key, resource)
            self._yaml = (made_from, as_yaml(plain, whole=self._whole is not None, folded=self._folded))
        if isinstance(resource, UnreadableObject):
            # What could not be read is not known here, but the server has it.
            why = describe_object(self.state, self.key, SECTIONS[0])
            return [*why, *(self._yaml[1] if self._whole is not None else ())]
        return self._yaml[1]

    async def _fetch(self, state: DashboardState, key: ObjectRef) -> None:
        whole = await fetch_object(state, key)
        if key == self.key:
            self._whole = whole
            self._draw()


def _title_of(section: str) -> str:
    return section.upper() if section == "yaml" else section.title()
