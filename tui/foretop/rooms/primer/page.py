"""The primer: an expression and its minutes go in, primed expressions come out as one types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

from foretop.bindings import Handler, KeyHints, key_name
from foretop.dialogs.search_modal import SearchPicker
from foretop.pages.page import Page, PageAddress, PageHost
from foretop.panes.calendar_pane import when
from foretop.panes.page_records import Sign, signs_of
from foretop.terminal.clipboard import copy
from foretop.widgets.column_layout import NARROW
from foretop.widgets.line_widgets import Divider, StyledLine, TextPane
from foretop.widgets.paragraphs import Line, Paragraph, Span, paragraph, span, wrap
from foretop.widgets.prompt import EDITING, Prompt
from foretop.widgets.styles import BOLD, DIM, HEAD, style_of
from foretop_core.config.settings import Settings
from foretop_core.cron import Dialect
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import Schedule
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.primer.preview import (
    MOST_PAIRS,
    Preview,
    coming,
    pair_axis,
    pair_cells,
    preview,
    taken_from,
)
from foretop_core.rooms.primer.priming import Pair, PrescalerVerdict, Primed
from foretop_core.rules import humanize
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import cut_end, pad, unsigned, width
from foretop_core.tables.text.times import short, until
from foretop_core.tables.timeline.time_axis import RUN, WARM_UP, axis, axis_over

SIGNS = (
    Sign(WARM_UP, "the warm-up"),
    Sign(RUN, "the run"),
    *signs_of(true="the expressions are exact", look="nearly exact; the note says why"),
)
SOURCES = (SCHEDULE.name, PRESCALED.name, CRON_JOB.name)
"""Kinds that have an expression to take."""
_WARM_UPS = frozenset({"set-warm-up", "create-warm-up"})
"""The actions on what an expression was taken from."""
_USUAL_MINUTES = "10"
_INDENT, _NARROW_INDENT = 12, 5
_DAY = timedelta(days=1)
_WEEK = 7 * _DAY
_WEEK_LINES = 4
_LEAST_ROWS, _MOST_ROWS = 3, 20
_LEAD = 8
_TIME = 20
"""Cells for `Mon 16 Nov 02:50` and what stands between two columns."""
_INTRO = (
    "A warm-up is a cron job of its own that runs some minutes before another one, so that nodes are ready when "
    "the work begins. This page computes its expressions exactly."
)


class PrimerPage(Page, can_focus=True):
    """The primer's page; in its two fields keys are text, outside them they are actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.do('edit')", show=False),
        Binding("tab,shift+tab", "screen.do('edit_minutes')", show=False),
        Binding("c", "screen.do('copy_primed')", show=False),
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("pagedown,ctrl+f", "scroll_by(12)", show=False),
        Binding("pageup,ctrl+b", "scroll_by(-12)", show=False),
    ]

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(page_id, display_options, host)
        self._taken: tuple[ObjectRef, str] | None = None
        self._dialect = Dialect.ROBFIG
        """That of what is primed: a CronJob's, unless the expression was taken from a schedule of Velero."""

    def compose(self) -> ComposeResult:
        with Horizontal(classes="fields"):
            yield Label("", id="expression-label", markup=False)
            yield Prompt(placeholder="minute hour day month weekday", id="expression")
            yield Label("", id="minutes-label", markup=False)
            yield Prompt(id="minutes")
            yield Label("min ", markup=False)
        yield StyledLine(id="meaning")
        yield Divider(id="primer-rule")
        yield TextPane(id="pane")

    def on_mount(self) -> None:
        self._minutes.value = _USUAL_MINUTES

    def configure(self, settings: Settings) -> None:
        """The minutes that stand there until somebody types others."""
        if self._minutes.value == self._configured_minutes:
            self._minutes.value = self._configured_minutes = str(settings.warm_up_minutes)

    _configured_minutes = _USUAL_MINUTES

    @property
    def _expression(self) -> Prompt:
        return self.query_one("#expression", Prompt)

    @property
    def _minutes(self) -> Prompt:
        return self.query_one("#minutes", Prompt)

    @property
    def preview(self) -> Preview | None:
        """The preview of the two fields; None where nothing was typed yet."""
        text = self._expression.value
        return preview(text, self._minutes.value.strip(), self._dialect) if text.strip() else None

    @property
    def is_editing(self) -> bool:
        return self._expression.has_focus or self._minutes.has_focus

    def attach(self, state: DashboardState) -> None:
        super().attach(state)
        self.pulse()

    def shown(self) -> None:
        self._leave()
        self.pulse()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow line has its room for the expression."""
        self._indent = _NARROW_INDENT if event.size.width < NARROW else _INDENT
        expression, minutes = ("Cron", "  ") if event.size.width < NARROW else ("Expression", "  Warm-up  ")
        self.query_one("#expression-label", Label).update(f" {expression:<{self._indent}}")
        self.query_one("#minutes-label", Label).update(minutes)
        self.call_after_refresh(self.pulse)

    _indent = _INDENT

    def restore(self, place: PageAddress) -> None:
        """Whoever comes from an object brings its expression along."""
        if place.key is not None:
            self.take(place.key)

    def take(self, key: ObjectRef) -> None:
        """Fills the fields from an object of the cluster."""
        resource = self.state.store.get(key) if self.state else None
        taken = taken_from(resource)
        if taken is None or self.state is None:
            return
        self._dialect = Dialect.ROBFIG
        if isinstance(resource, Schedule):
            self._dialect = self.state.render_context(key.context).snapshot.readings(resource)[-1].dialect
        text, minutes = unsigned(taken[0]), taken[1]
        self._expression.value = text
        if minutes is not None:
            self._minutes.value = str(minutes)
        self._taken = (key, text)
        self._leave()
        self.pulse()
        self.post_message(self.Altered())

    # What is shown

    def pulse(self) -> None:
        shown = self.preview
        self.query_one("#meaning", StyledLine).show(self._under(shown))
        pane = self.query_one("#pane", TextPane)
        if shown is None:
            pane.show(introduction())
        elif self.state is not None:
            pane.show(self._answer(shown, self.state, pane))

    def _answer(self, shown: Preview, state: DashboardState, pane: TextPane) -> tuple[Paragraph, ...]:
        try:
            return primer_pane(shown, state.now(), state.zone, pane.size.width - 2, pane.size.height)
        except Exception as problem:
            return (paragraph(f"Cannot be shown: {type(problem).__name__}: {problem}", Tone.BAD),)

    def _under(self, shown: Preview | None) -> Line:
        """Below the field: what it means, or a sign under the place where it goes wrong."""
        if shown is None:
            return ()
        before = " " * (self._indent + 1)
        if shown.problem and shown.problem_at is not None:
            index = width(unsigned(self._expression.value[: shown.problem_at]))
            return (Span(f"{before}{' ' * index}^ here", style_of(Tone.BAD)),)
        zone = f"zone {'UTC' if shown.zone in (None, UTC) else unsigned(str(shown.zone))}" if shown.meaning else ""
        if shown.problem_in_minutes:
            zone = "check the minutes"
        room = max(8, self.size.width - len(before) - width(zone) - 3)
        meaning = pad(cut_end(unsigned(shown.meaning), room), room)
        return (Span(f"{before}{meaning}  "), Span(zone, style_of(Tone.BAD) if shown.problem_in_minutes else DIM))

    @property
    def _source(self) -> ObjectRef | None:
        """The object that the expression was taken from, until another one is typed."""
        return self._taken[0] if self._taken is not None and self._taken[1] == self._expression.value else None

    def subject_of(self, action_id: str) -> ObjectRef | None:
        return self._source if action_id in _WARM_UPS and not self.is_editing else None

    def typed(self) -> Mapping[str, str]:
        return {"minutes": self._minutes.value.strip()}

    def hint(self) -> str:
        if self.is_editing:
            return "editing: enter/esc close the field, tab next field"
        if (key := self._source) is not None:
            return f"taken from {key.kind} {unsigned(key.namespace)}/{unsigned(key.name)}"
        return ""

    @property
    def hint_tone(self) -> Tone:
        return Tone.WARN if self.is_editing else super().hint_tone

    # What keys do here

    def ways_of_typing(self) -> KeyHints:
        other = "minutes" if self._expression.has_focus else "expression"
        return (("enter", "done"), ("esc", "close"), ("tab", other), *EDITING) if self.is_editing else ()

    def offers(self, action_id: str) -> bool:
        if action_id == "copy_primed":
            shown = self.preview
            return shown is not None and shown.primed is not None
        return action_id != "take" or bool(self._sources())

    def can_go_back(self) -> bool:
        return self.is_editing

    def go_back(self) -> bool:
        if not self.is_editing:
            return False
        self._leave()
        return True

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "edit": self.do_edit,
            "edit_minutes": self.do_edit_minutes,
            "copy_primed": self.do_copy_primed,
            "take": self.do_take,
        }

    def do_edit(self) -> None:
        self._edit(self._expression)

    def do_edit_minutes(self) -> None:
        """To the minutes, and from them to the expression."""
        self._edit(self._expression if self._minutes.has_focus else self._minutes)

    def _edit(self, field: Prompt) -> None:
        """The old text is selected: what is typed takes its place, and an arrow leaves it to be changed."""
        self.screen.set_focus(field, scroll_visible=False)
        field.select_all()

    def do_copy_primed(self) -> None:
        shown = self.preview
        if shown is not None and shown.primed is not None:
            copy(self.app, "\n".join(shown.primed.expressions))

    def do_take(self) -> None:
        sources = self._sources()
        places = [self._where(key) for key, _ in sources]
        size = max(map(width, places), default=0)
        labels = [f"{pad(place, size)}  {text}" for place, (_, text) in zip(places, sources, strict=True)]
        title = f"Take an expression ({humanize.count(len(sources), 'object')})"

        def chosen(place: int | None) -> None:
            if place is not None:
                self.take(sources[place][0])

        self.app.push_screen(SearchPicker(title, labels), chosen)

    def _sources(self) -> list[tuple[ObjectRef, str]]:
        if self.state is None:
            return []
        sources = [
            (key, taken[0])
            for kind in SOURCES
            for context in self.state.contexts
            for key, resource in self.state.store.items(context, kind)
            if (taken := taken_from(resource)) is not None
        ]
        return sorted(sources, key=lambda entry: (SOURCES.index(entry[0].kind), entry[0].namespace, entry[0].name))

    def _where(self, key: ObjectRef) -> str:
        place = f"{key.namespace}/{key.name}"
        context = f" {key.context}" if self.state is not None and len(self.state.contexts) > 1 else ""
        return f"{key.kind:<16} {unsigned(place)}{context}"

    def action_scroll_by(self, by: int) -> None:
        self.query_one("#pane", TextPane).scroll_lines(by)

    def _leave(self) -> None:
        self.screen.set_focus(self, scroll_visible=False)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.pulse()
        self.post_message(self.Altered())

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._leave()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self._leave()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self.action_scroll_by(event.by)


PAGE_CLASS = PrimerPage


# The answer in words: the expressions, how exact they are, the pairs to come, and the prescaler's.


def introduction() -> tuple[Paragraph, ...]:
    return (
        paragraph(_INTRO),
        paragraph(""),
        _labelled("enter", (Span("type the expression to warm up for"),)),
        _labelled("tab", (Span("type how many minutes before it"),)),
        _labelled(key_name("take"), (Span("use a Schedule, CronJob or PreScaledCronJob of the cluster instead"),)),
    )


def primer_pane(shown: Preview, now: datetime, zone: tzinfo, cells: int, lines: int) -> tuple[Paragraph, ...]:
    """`zone` is that of the times where the expression names none; what `lines` are left show the week and a table."""
    if shown.problem:
        return (_labelled("Cannot", (span(shown.problem, Tone.BAD),)),)
    assert shown.primed is not None
    assert shown.verdict is not None
    own = shown.zone or zone
    pairs = coming(shown, now)
    paragraphs = (
        *_primed(shown.primed),
        *_next(pairs, now, own, cells - _INDENT),
        *_ruler(pairs, shown.minutes, own, cells - _INDENT),
        *_prescaler(shown.verdict),
    )
    free = lines - len(wrap(paragraphs, cells))
    week = _week(pairs, now, own, cells - _INDENT) if free >= _WEEK_LINES else ()
    return (*paragraphs, *week, *_table(pairs, now, own, free - len(week)))


def _week(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    """The lane of the coming week, or of the days that are worked out where there are very many runs."""
    if not pairs or room < 30:
        return ()
    days = min(_WEEK, (pairs[-1].run - now) // _DAY * _DAY if len(pairs) >= MOST_PAIRS else _WEEK)
    if not days:
        return ()
    ruler = axis_over(now, days, room, zone)
    title = "Next week" if days == _WEEK else f"Next {days.days}d"
    return (
        paragraph(""),
        _labelled(title, (Span(axis(ruler, zone).rstrip(), HEAD),)),
        _labelled("", (Span(pair_cells(pairs, ruler).rstrip()),)),
    )


def _table(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, lines: int) -> tuple[Paragraph, ...]:
    """The next pairs, a line each."""
    rows = min(len(pairs), _MOST_ROWS, lines - 2)
    if rows < _LEAST_ROWS:
        return ()
    head = Paragraph((Span(f"{'':<{_INDENT}}{'WARM-UP':<{_TIME}}{'RUN':<{_TIME}}{'LEAD':<{_LEAD}}STARTS", HEAD),))
    body = [
        Paragraph(
            (
                Span(f"{'':<{_INDENT}}{_day(pair.warmup, zone)}{_day(pair.run, zone)}"),
                Span(f"{short(pair.run - pair.warmup):<{_LEAD}}"),
                Span(until(pair.warmup - now), DIM),
            )
        )
        for pair in pairs[:rows]
    ]
    return (paragraph(""), head, *body)


def _day(at: datetime, zone: tzinfo) -> str:
    local = at.astimezone(zone)
    return f"{f'{local:%a} {local.day} {local:%b %H:%M}':<{_TIME}}"


def _primed(primed: Primed) -> tuple[Paragraph, ...]:
    mark = StatusGlyph.TRUE if primed.exact else StatusGlyph.LOOK
    word = "exact" if primed.exact else "nearly exact"
    verdict = Span(f"   {mark.value} {word}", style_of(mark.tone))
    first, *others = primed.expressions
    paragraphs = [_labelled("Primed", (Span(first, BOLD), verdict))]
    paragraphs += [_labelled("", (Span(text, BOLD),)) for text in others]
    if primed.note:
        paragraphs.append(_labelled("", (span(primed.note, Tone.WARN),)))
    return tuple(paragraphs)


def _next(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    if not pairs:
        return (_labelled("Next", (span("no upcoming run within the next five years", Tone.WARN),)),)
    shown: list[str] = []
    day = now.astimezone(zone).date()
    for pair in pairs:
        text = _pair(pair, day, now, zone)
        if shown and len("   ".join([*shown, text])) > room:
            break
        shown.append(text)
        day = pair.run.astimezone(zone).date()
    return (_labelled("Next", (Span("   ".join(shown)),)),)


def _pair(pair: Pair, told: date, now: datetime, zone: tzinfo) -> str:
    """The day is said where it is another than the one told last, and of both ends where it changes between them."""
    begins, ends = pair.warmup.astimezone(zone), pair.run.astimezone(zone)
    if begins.date() != ends.date():
        return f"{when(begins, now, zone)} → {when(ends, now, zone)}"
    first = f"{begins:%H:%M}" if begins.date() == told else when(begins, now, zone)
    return f"{first} → {ends:%H:%M}"


def _ruler(pairs: tuple[Pair, ...], minutes: int, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    if not pairs or room < 10:
        return ()
    ruler = pair_axis(pairs, minutes, room, zone)
    name = "UTC" if zone is UTC else str(zone).rpartition("/")[2]
    return (
        _labelled("", (Span(axis(ruler, zone).rstrip(), HEAD),), name),
        _labelled("", (Span(pair_cells(pairs, ruler).rstrip()),)),
    )


def _prescaler(verdict: PrescalerVerdict) -> tuple[Paragraph, ...]:
    if not verdict.supported:
        return (_labelled("Prescaler", (span("refuses it: ", Tone.WARN), span(verdict.reason))),)
    text = Span(verdict.expression or "", BOLD)
    if not (verdict.missed_in_8_years or verdict.extra_in_8_years):
        against = Span("" if verdict.documented else f", though {verdict.reason}")
        return (_labelled("Prescaler", (Span("gives "), text, Span(", which is right"), against)),)
    wrong = f"{verdict.missed_in_8_years:,} warm-ups missed and {verdict.extra_in_8_years:,} unneeded in 8 years"
    spans = (Span("gives "), text, Span(", contrary to its documentation, and is wrong: "), span(wrong, Tone.BAD))
    return (_labelled("Prescaler", spans),)


def _labelled(label: str, spans: Line, aside: str = "") -> Paragraph:
    head = Span(f"{label:<{_INDENT}}", BOLD) if label else Span(f"{cut_end(aside, _INDENT - 1):<{_INDENT}}", DIM)
    return Paragraph((head, *spans), indent=_INDENT)
