"""A page with a table and a pane; most tabs are one."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from foretop.bindings import Handler, key_name
from foretop.pages.filterable_page import FilterablePage, filter_line
from foretop.pages.page import HIGH, LOW, WIDE, PageAddress, PageHost, safely
from foretop.panes.action_sentences import action_keys_line
from foretop.panes.empty_state import how_far, nothing_fits, ways_out, why_empty
from foretop.panes.page_records import ScreenPage
from foretop.panes.stale_notice import not_allowed, seen_ago, stale_paras
from foretop.widgets.line_widgets import FrameLine, ReadablePane
from foretop.widgets.paragraphs import Line, Paragraph, Span, paragraph, signed, span
from foretop.widgets.styles import BOLD, DIM, style_of, style_of_mark
from foretop.widgets.table import Table
from foretop_core.config.settings import PageSettings, Settings
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import MADE_AT_ONCE, GroupHeaderRow, TableModel
from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGES
from foretop_core.rules import humanize
from foretop_core.rules.undone import CODE as CHANGE_UNDONE
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import WORST_FIRST, View


def group_pane(row: GroupHeaderRow) -> tuple[Paragraph, ...]:
    spans = [span(row.name, bold=True), span(f": {humanize.count(row.size, 'row')}")]
    for cell in row.words:
        spans += [Span(", "), Span(cell.text, style_of(cell.tone))]
    opening = "unfold" if row.folded else "fold"
    keys = (("enter", opening), ("space", "mark all, or none"), ("b", "show one list"))
    return (
        Paragraph(tuple(spans)),
        Paragraph(tuple(part for key, does in keys for part in (Span(key, BOLD), Span(f" {does}   ", DIM))), "Keys"),
    )


_COUNTED = (StatusGlyph.BROKEN, StatusGlyph.LOOK, StatusGlyph.PAUSED, StatusGlyph.RUNNING, StatusGlyph.WAITING)
"""What is not good, the worst first."""


_PANE, _HIGH_PANE, _MOST_PANE = 6, 10, 18
"""Lines of the pane below a table, as in the style sheet, and at most."""
_HEAD = 2
"""Lines of the table that are no rows: its titles, and one that is free below the last row."""
_SPARE = 2
"""Rows that stay free when the pane gets or gives lines, so that one more or less does not move the border again."""


class TablePage(FilterablePage):
    """The table has the focus, and the pane shows the row under its cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "scroll_pane(1)", show=False),
        Binding("shift+up", "scroll_pane(-1)", show=False),
        Binding("tab", "read_pane", show=False),
    ]

    def __init__(self, page_id: str, spec: ScreenPage, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(page_id, display_options, host)
        self.spec = spec
        self.kinds = spec.view.kinds
        """The names of the kinds without which it has nothing to show."""
        self.rows: TableModel | None = None
        self._problem = ""
        self._page_settings: PageSettings | None = None
        self.table = Table(spec.priorities, flash=display_options.flash, classes="boxed")
        self.pane = ReadablePane(whole=False, more_key="tab", id="pane", classes="boxed")
        self._pane_box = Vertical(id="pane-box")
        self._frame_lines = {
            name: FrameLine("┌┐" if name.endswith("top") else "└┘", id=name)
            for name in ("table-top", "table-bottom", "pane-top", "pane-bottom")
        }

    def compose(self) -> ComposeResult:
        yield filter_line("text  !text  -l label=value  -f fuzzy  phase:Failed")
        with Container(classes="body"):
            with Vertical(id="table-box"):
                yield self._frame_lines["table-top"]
                yield self.table
                yield self._frame_lines["table-bottom"]
            with self._pane_box:
                yield self._frame_lines["pane-top"]
                yield self.pane
                yield self._frame_lines["pane-bottom"]

    def attach(self, state: DashboardState) -> None:
        super().attach(state)
        before, self.rows = self.rows, self.spec.rows(state)
        if state.focus:
            self.rows.renew()
        self.table.show(self.rows)
        self._arrange()
        if before is not None:
            self.rows.take_over(before)
            self.table.rearranged()
        self.narrow_to(self.prompt.value)
        self._tell()
        self._bring_rows()

    def configure(self, settings: Settings) -> None:
        """Columns and order are taken up where they are set, or were set before; a person's own order stays else."""
        page_settings = settings.page_settings(self.page_id)
        if page_settings != self._page_settings:
            self._page_settings = page_settings
            self._arrange()

    def _arrange(self) -> None:
        settings = self._page_settings
        if settings is not None:
            self.table.configure(settings.columns, settings.sort, reverse=settings.reverse)
        elif self.table.is_configured:
            self.table.configure((), "", reverse=False)

    def explain(self, lines: Sequence[Line]) -> None:
        self.table.explain(lines)

    def _bring_rows(self) -> None:
        """The rows of a large table are made some at a time, and keys are answered between."""
        if self.rows is None or not self.rows.due or self._is_bringing:
            return
        self._is_bringing = True
        self.set_timer(_REST, self._bring_some)

    def _bring_some(self) -> None:
        self._is_bringing = False
        if self.rows is None:
            return
        now = time.monotonic()
        if self.display and (self.rows.due <= MADE_AT_ONCE or now - self._painted_at >= _PAINTED_EVERY):
            # Which makes some too.
            self._painted_at = now
            self.pulse()
        else:
            self.rows.bring()
        self._bring_rows()

    def pulse(self) -> None:
        if self.rows is not None and self.state is not None:
            self.rows.keep_up()
            self.table.pulse()
            self._bring_rows()
            self.table.show_below(self.rows.below() if self.is_framed else ())
            if not len(self.rows.table):
                self.table.explain(self._why_empty())
            self._tell()

    def shown(self) -> None:
        self.take_keys()
        if self.rows is not None and self.rows.is_out_of_focus:
            self._renew()
        self.table.pulse()
        self._bring_rows()
        # A page that was hidden has its room only when it has been laid out.
        self.call_after_refresh(self._tell)

    def take_keys(self) -> None:
        self.screen.set_focus(self.table, scroll_visible=False)

    def move(self, by: int) -> None:
        self.table.action_move(by)

    def on_resize(self, event: events.Resize) -> None:
        self._show_pane_box()
        self.show_frames()

    @property
    def has_frames(self) -> bool:
        """A low terminal has no room for the pane, and so not for the line above it."""
        return self.screen.size.height >= LOW and self._pane_box.visible

    def hint(self) -> str:
        return self._hint_words()

    @property
    def is_framed(self) -> bool:
        """True if table and pane stand side by side, each in a frame."""
        return self.size.width >= WIDE

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.set_class(self.pane.has_focus, "-reading")
        self.show_frames()

    def action_read_pane(self) -> None:
        """Into the pane, to read what does not fit; and back."""
        if self.pane.has_focus:
            self.take_keys()
        elif self.rows is not None and len(self.rows.table):
            # Where it is hidden it has to be seen before it can have the focus.
            self.add_class("-reading")
            self.screen.set_focus(self.pane, scroll_visible=False)

    def show_frames(self) -> None:
        """The lines around table and pane: titles, order, which rows are in sight."""
        if not self.size.width:
            return
        framed, in_pane = self.is_framed, self.pane.has_focus
        if self.rows is None:
            for name, line in self._frame_lines.items():
                title = (Span(PAGES[self.page_id].name, BOLD),) if framed and name == "table-top" else ()
                line.show(title, (), framed=framed, focused=framed and name.startswith("table"))
            return
        stale, count = span(seen_ago(self.rows.state), Tone.WARN), Span(self.table.count, DIM)
        hint, lines = signed(self._hint_words(), self.hint_tone), self._frame_lines
        if framed:
            spans = (*self._title(), Span("  " if stale.text else ""), stale)
            lines["table-top"].show(spans, self._order(), framed=True, focused=not in_pane)
            lines["table-bottom"].show(_listed(hint), _listed(count), framed=True, focused=not in_pane)
            lines["pane-bottom"].show((), (), framed=True, focused=in_pane)
            lines["pane-top"].show(self._pane_title(), (), framed=True, focused=in_pane)
        else:
            right = _listed(stale, hint, count)
            lines["pane-top"].show(self._pane_title(), right, framed=False, focused=in_pane)

    def _title(self) -> Line:
        """`Schedules 39  ✗1 ▲2`: how many rows, and of how many the state is not good."""
        assert self.rows is not None
        counts = self.rows.marks
        states = [Span(f" {mark.value}{counts[mark]:,}", style_of_mark(mark)) for mark in _COUNTED if counts.get(mark)]
        return (Span(PAGES[self.page_id].name, BOLD), Span(f" {len(self.rows.table):,} ", DIM), *states)

    def _order(self) -> Line:
        assert self.rows is not None
        view = self.rows.view
        if isinstance(view, View) and self.rows.sorted_by in (
            WORST_FIRST,
            "" if view.starts_worst_first else view.order,
        ):
            return (Span(f"{view.order_words}{', reversed' if self.rows.reversed else ''}", DIM),)
        titles = {column.name: f"by {column.title.lower()}" for column in self.rows.columns}
        words = {**titles, "severity": "worst first", WORST_FIRST: "worst first"}.get(self.rows.sorted_by)
        if words is None:
            return ()
        return (Span(f"{words}{', reversed' if self.rows.reversed else ''}", DIM),)

    def _pane_title(self) -> Line:
        """The name of the row under the cursor, and its state."""
        row = self.table.cursor_row
        if row is None or self.rows is None:
            return ()
        if isinstance(row, GroupHeaderRow):
            return (Span(row.name, BOLD),)
        names = (cell.text for cell, column in zip(row.cells, self.rows.columns, strict=True) if column.name in _NAMES)
        return (Span(next(names, row.key.name), BOLD), Span(f" {row.mark.value}", style_of_mark(row.mark)))

    @on(Table.CursorMoved)
    def _cursor_moved(self) -> None:
        self._tell()
        self.post_message(self.Altered())

    @on(Table.Resized)
    def _table_resized(self) -> None:
        self.post_message(self.Altered())

    def _tell(self) -> None:
        """The pane says what there is to say about the row under the cursor."""
        key = self.table.cursor
        pane = self.pane
        self._show_pane_box()
        self._share_lines()
        if self.rows is None or self.state is None or key is None or not len(self.rows.table):
            pane.show(())
            self.show_frames()
            return
        moved = key != self._pane_key
        self._pane_key = key
        rows, state = self.rows, self.state
        subject = rows.subject(key) or key
        paragraphs = safely(lambda: self._said(rows, key, state), f"the pane of {self.page_id}", subject, state)
        pane.show(paragraphs, keep_place=not moved)
        self.show_frames()

    def _show_pane_box(self) -> None:
        """Without rows there is no pane below; beside the table its frame stays."""
        # Rows without a cursor are a table without a size yet: the pane is not hidden for that moment.
        # A class of the page would match all its parts with the style sheet again.
        self._pane_box.visible = self.is_framed or (self.rows is not None and bool(len(self.rows.table)))

    def _share_lines(self) -> None:
        """Gives the pane the lines that few rows leave free, whatever row the cursor is on and whatever is filtered.

        Where rows come and go the border stands still until they need its lines, or leave many free.
        """
        if self.rows is None:
            return
        usual = self._usual_pane
        total, heads = self.rows.table.total, max(0, len(self.rows.lines) - len(self.rows.table))
        free, lines = self.size.height - _HEAD - total, self._pane_lines or usual
        if not self.spec.pane_grows:
            free -= heads
            free = lines if lines <= free <= lines + _SPARE + 1 else free - _SPARE
        grown = min(_MOST_PANE, free)
        # Without rows the table says why there are none, and needs its lines.
        is_usual = self.is_framed or not len(self.rows.table) or self.screen.size.height < LOW or grown <= usual
        # None takes the height of the style sheet; a rule that is only cleared lays nothing out.
        height = None if is_usual else grown
        if height != self._pane_lines:
            self._pane_lines = self._pane_box.styles.height = height

    @property
    def _usual_pane(self) -> int:
        return _HIGH_PANE if self.screen.size.height >= HIGH else _PANE

    _is_bringing = False
    _painted_at = 0.0
    """When rows that have come in were last shown, by the clock of the process."""
    _pane_lines: int | None = None
    _pane_key: ObjectRef | None = None

    def _said(self, rows: TableModel, key: ObjectRef, state: DashboardState) -> tuple[Paragraph, ...]:
        stale = stale_paras(state, key, state.zone_of(rows.subject(key))) if rows.is_stale(key) else ()
        if (head := self.table.head) is not None:
            return (*stale, *group_pane(head))
        cells = self.pane.size.width - 2 if self.is_framed else None
        undone = () if self.page_id == "triage" else _undone(rows.subject(key), state)
        return (*stale, *undone, *self.spec.pane(rows, key, state, cells, self._keys))

    def _keys(self, named: Collection[str]) -> tuple[Paragraph, ...]:
        """Only while it is on the screen: what works is a question to the page that is."""
        if self.host.current != self.page_id:
            return ()
        return action_keys_line(
            self.host.applicable_actions(),
            marked=bool(self.table.marked),
            named=named,
            brief=self.spec.shows_keys_beside,
        )

    def _why_empty(self) -> list[Line]:
        assert self.rows is not None
        assert self.state is not None
        if self.rows.table.total and (self.rows.filter_text or self.rows.faults_only):
            if self._problem:
                return [(span(f"{self._problem}.", Tone.BAD),)]
            values = self.rows.values_there()
            return nothing_fits(self.state.focus, self.rows.filter_text, self.rows.table.total, values)
        if self.rows.table.due:
            return [(span(_still_due(self.rows), Tone.DIM),)]
        nobody = [_NONE_HERE] if self.rows.table.total else self.spec.why_empty(self.state)
        out = ways_out(self.state.focus) if self.state.focus.narrows(self.kinds) else []
        return [*(why_empty(self.state, self.kinds) or nobody), *out]

    # What keys do here

    def kinds_on_demand(self) -> frozenset[str]:
        return self.spec.kinds_on_demand

    def subject(self) -> ObjectRef | None:
        if self.rows is None or self.table.cursor is None:
            return None
        return self.rows.subject(self.table.cursor)

    def offers(self, action_id: str) -> bool:
        if action_id in (
            "mark",
            "mark_range",
            "mark_all",
            "wide",
            "sort_before",
            "sort_after",
            "sort_selected",
            "faults",
        ):
            return self.rows is not None and self.rows.table.total > 0
        if action_id == "group":
            return self.rows is not None and self.rows.can_group and self.rows.table.total > 0
        if action_id == "fold":
            return self.table.head is not None
        if action_id == "clear_marks":
            return bool(self.table.marked)
        return True

    @property
    def is_folded(self) -> bool:
        return self.table.head is not None and self.table.head.folded

    def action_scroll_pane(self, by: int) -> None:
        self.pane.scroll_lines(by)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "mark": self.table.toggle_mark,
            "mark_range": self.table.mark_range,
            "mark_all": self.table.mark_all,
            "clear_marks": self.table.clear_marks,
            "sort_before": lambda: self.table.sort_beside(-1),
            "sort_after": lambda: self.table.sort_beside(1),
            "sort_selected": self.table.sort_selected,
            "wide": self.do_wide,
            "group": self.do_group,
            "fold": self.table.fold,
            "faults": self.do_faults,
        }

    def do_wide(self) -> None:
        self.table.toggle_wide()
        self.post_message(self.Altered())

    def do_group(self) -> None:
        # Full, the table has its titles, and no line that is free.
        lines = self.table.height if self.is_framed else self.size.height - (_HEAD - 1) - self._usual_pane
        self.table.toggle_groups(lines)

    def do_faults(self) -> None:
        if self.rows is not None:
            self.rows.faults_only = not self.rows.faults_only
            self._renew(to_first=self.rows.faults_only)

    def refocus(self) -> None:
        self._renew()

    def narrow(self, text: str) -> None:
        self.set_class(bool(text), "-filtering")
        self.prompt.value = text
        self.narrow_to(text)

    def place(self) -> PageAddress:
        return PageAddress(self.page_id, self.rows.filter_text if self.rows else None, self.table.cursor)

    def restore(self, place: PageAddress) -> None:
        if self.rows is None:
            return
        if place.filter is not None:
            self.narrow(place.filter)
            self.take_keys()
        if place.key is not None:
            self.table.go_to(place.key)

    def can_go_back(self) -> bool:
        inside = self.pane.has_focus or bool(self.table.marked) or self._is_filtering
        return inside or (self.rows is not None and self.rows.faults_only)

    @property
    def _is_filtering(self) -> bool:
        return bool((self.rows and self.rows.filter_text) or self._problem) or self.has_class("-filtering")

    def go_back(self) -> bool:
        if self.pane.has_focus:
            self.take_keys()
            return True
        if self.table.marked and not self.prompt.has_focus:
            self.table.clear_marks()
            return True
        if self._is_filtering:
            self.narrow("")
            self.take_keys()
            self.post_message(self.Altered())
            return True
        if self.rows is not None and self.rows.faults_only:
            self.rows.faults_only = False
            self._renew()
            return True
        return False

    def _hint_words(self) -> str:
        """How the table is narrowed, and what is not shown of it."""
        if self._problem:
            return self._problem
        if self.rows is None:
            return ""
        parts = [
            self.rows.notice,
            self.rows.state.focus.words,
            "only faults" if self.rows.faults_only else "",
            f"{self.rows.held_back} ({key_name('acknowledged')})" if self.rows.held_back else "",
            f"{key_name('escape')} clears the marks" if self.table.marked else "",
            f"hidden: {', '.join(self.table.given_up)} ({key_name('wide')} shows)" if self.table.given_up else "",
            _still_due(self.rows),
            how_far(self.rows.state, self.kinds),
            not_allowed(self.rows.state) if not self.kinds else "",
        ]
        return ", ".join(part for part in parts if part)

    @property
    def hint_tone(self) -> Tone:
        """A plain count is dim; a notice, rows that are hidden or marked, or that have not come in yet, are not."""
        if self.rows is None or self._problem:
            return super().hint_tone
        less = (
            self.rows.notice
            or self.rows.filter_text
            or self.rows.faults_only
            or self.rows.state.focus.words
            or self.table.marked
        )
        state = self.rows.state
        missing = self.rows.table.due or how_far(state, self.kinds) or (not self.kinds and not_allowed(state))
        return Tone.WARN if self.rows.notice or less or missing else Tone.DIM

    @property
    def has_problem(self) -> bool:
        return bool(self._problem)

    @property
    def narrows_slowly(self) -> bool:
        return self.rows is not None and self.rows.table.total > _MANY_ROWS

    def narrow_to(self, text: str) -> None:
        if self.rows is None or (text == self.rows.filter_text and not self._problem):
            return
        why = ""
        try:
            self.rows.narrow(text, typing=True)
            self._problem = ""
        except BadInput as problem:
            self._problem, why = str(problem), problem.why
        self.say_unfit(why)
        self._show_renewed(to_first=bool(text))

    def to_first(self) -> None:
        self.table.rearranged(to_first=True)

    def _renew(self, *, to_first: bool = False) -> None:
        if self.rows is not None:
            self.rows.renew()
            self._show_renewed(to_first=to_first)

    def _show_renewed(self, *, to_first: bool) -> None:
        self.table.rearranged(to_first=to_first)
        self.pulse()
        self.post_message(self.Altered())


def _undone(key: ObjectRef | None, state: DashboardState) -> tuple[Paragraph, ...]:
    """Says who has put back what was written to the object of a row, as Triage does."""
    findings = [finding for finding in state.findings if finding.code == CHANGE_UNDONE and finding.subject == key]
    lines = (state.render_context_of(finding).text(finding.evidence) for finding in findings)
    return tuple(paragraph(text, Tone.WARN, bold=True, yields=True, least=1) for text in lines)


def _still_due(rows: TableModel) -> str:
    """Names the rows that have still to be made; "" for none."""
    return f"{rows.table.due:,} rows still to come" if rows.table.due else ""


_REST, _PAINTED_EVERY = 0.005, 0.1
"""Seconds between two steps in which rows are made, and between two paints meanwhile."""
_MANY_ROWS = 5_000
"""Narrowing so many takes some 20 to 40 ms."""
_NAMES = frozenset({"name", "subject"})


def _listed(*words: Span) -> Line:
    """The texts that say something, with commas between them."""
    spans = [word for word in words if word.text]
    return tuple(part for place, word in enumerate(spans) for part in ((Span(", ", DIM), word) if place else (word,)))


_NONE_HERE: Line = (span("None here.", Tone.DIM),)
