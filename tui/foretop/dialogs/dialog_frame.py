"""The window of a dialog: one sentence, fields, a table, what is written, and two buttons.

It opens in its first field, or on its choices, and where it has neither on the action. Enter goes from field to field
and then to the action; nothing but enter on that one sends: whatever is typed anywhere else is text, or nothing. What
deletes, or is done in production, asks for a name first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Label

from foretop.dialogs.base_modal import BaseModal
from foretop.dialogs.dialog_parts import (
    NO_TABLE,
    DialogButton,
    DialogEdge,
    DialogField,
    FieldPair,
    MessageBody,
    NoticeLine,
    OptionCycler,
    PlanTableView,
    RadioList,
    boxed,
)
from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Paragraph, Span
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, DIM, PLAIN, style_of
from foretop_core.actions.action_record import Field, TextField
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import cut_end, unsigned, width

WIDE, HUGE, LOW, HIGH = 120, 160, 20, 36
"""The classes of sizes of the pages, which stand above the dialogs: columns, and lines."""
_WIDTHS = ((HUGE, 120), (WIDE, 100), (0, 78))
"""From how many columns on a dialog is how wide."""
_AROUND = 4
"""Lines that are no sentences: top and bottom, the line for messages and the buttons."""
_FEWEST_SENTENCES = 6
"""Lines; with fewer beside the fields, fields and sentences scroll together."""
_FEWEST_ROWS = 4
_SLIM = 60
"""Cells below which two fields stand below each other."""
_MOST_WRITTEN = 3
"""Lines of what is written that are always in sight; more of them are read as the rest is."""
_LEAST_PLACE = 12
"""Cells; where fewer are left of the title, the place is left out."""
_BESIDE_WAYS = 6
"""Cells of the border that the keys in it leave free."""
_NOTICE = 5.0
"""Seconds for which a message is shown in the dialog."""


def dialog_width(screen: int) -> int:
    return next(cells for columns, cells in _WIDTHS if screen >= columns)


class DialogText(msgspec.Struct, frozen=True):
    """All that a dialog says, from the top."""

    title: str
    place: str = ""
    lead: tuple[Paragraph, ...] = ()
    """Warnings, and the sentence with the consequence; above the fields, so that nobody has to look for them."""
    table: PlanTable = NO_TABLE
    said: tuple[Paragraph, ...] = ()
    writes: tuple[Paragraph, ...] = ()


class DialogFrame(BaseModal[None]):
    """The layout and focus order of a dialog; its texts come from the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("left", "knob('cancel')", show=False),
        Binding("right", "knob('go')", show=False),
        Binding("pagedown", "scroll_by(5)", show=False),
        Binding("pageup", "scroll_by(-5)", show=False),
        Binding("q", "leave_by_letter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""
        """What must be typed before it is sent; what needs it cannot be undone, or is done in production."""
        self.wanted_is = ""
        """Says what that is, where it is not the name."""
        self._text = DialogText("")
        self._notice_timer: Timer | None = None
        self.cancel, self.go = DialogButton("Cancel", "cancel"), DialogButton("", "go")
        self._lead, self._said, self._writes = (MessageBody(id=name) for name in ("lead", "said", "writes"))
        self._edges = DialogEdge("╭╮", "top"), DialogEdge("╰╯", "bottom")
        self._notice = NoticeLine(id="notice")
        self._rows = PlanTableView()
        self._confirm = Prompt(id="confirm")
        self._to_type = Label("", id="wanted", markup=False)
        self._fields = Vertical(id="fields")
        self._scrolled = Vertical(id="scrolled")
        """Fields and sentences; where they do not fit they scroll, and the buttons stay."""
        self._window = Vertical(classes="window dialog")

    @property
    def is_asking(self) -> bool:
        """True while there is something to fill in."""
        return True

    def fields(self) -> Iterable[Field | tuple[Field, Field] | RadioList]:
        """The form; two fields that are a pair stand beside each other where there is room."""
        return ()

    def compose(self) -> ComposeResult:
        with self._window:
            yield self._edges[0]
            with Vertical(classes="sides"):
                with self._scrolled:
                    yield self._lead
                    with self._fields:
                        yield self._to_type
                        with Horizontal(classes="confirm"):
                            yield from boxed(self._confirm)
                        for field in self.fields():
                            match field:
                                case RadioList():
                                    yield field
                                case (left, right):
                                    yield FieldPair(left, right)
                                case _:
                                    yield DialogField(field)
                    yield self._rows
                    yield self._said
                yield self._notice
                yield self._writes
                with Horizontal(classes="knobs"):
                    yield self.cancel
                    yield self.go
            yield self._edges[1]

    def on_mount(self) -> None:
        # Before the first paint, which would be narrow else, with its buttons cut off.
        self._take_width(self.app.size.width)
        self.show_fields(True)
        self.start()

    def typed(self, name: str) -> str:
        """The text of a field as it stands."""
        return self.query_one(f"#{name}", Prompt).value.strip()

    def cycler(self, name: str) -> OptionCycler:
        return self.query_one(f"#{name}", OptionCycler)

    def values(self) -> dict[str, Any]:
        """By the names of the fields, what is typed, as it is read, and what is chosen; raises BadInput."""
        fields = (node.field for node in self._fields.walk_children(DialogField))
        return {
            field.name: field.read(self.typed(field.name))
            if isinstance(field, TextField)
            else self.cycler(field.name).value
            for field in fields
        }

    def fill(self, fields: Iterable[Field]) -> None:
        """Begins anew with these values."""
        for field in fields:
            if isinstance(field, TextField):
                self.query_one(f"#{field.name}", Prompt).value = field.value
            else:
                self.cycler(field.name).show(field)

    def start(self) -> None:
        """To the first field, and where there is none to the action."""
        next(iter(self._stops()), self.go if self.go.display else self.cancel).focus()

    def _stops(self) -> list[Widget]:
        """The fields that are shown, in their order."""
        return [widget for widget in self.focus_chain if not isinstance(widget, DialogButton)]

    @property
    def can_be_typed_in(self) -> bool:
        return any(isinstance(widget, Prompt) for widget in self._stops())

    def on_descendant_focus(self) -> None:
        """Scrolls to the end for who comes to the buttons: there it says what they do."""
        self._show_edges()
        if isinstance(self.focused, DialogButton):
            self._scrolled.scroll_end(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """As wide as its class of sizes; drawn once the new size is there."""
        self._take_width(event.size.width)
        self.call_after_refresh(self.draw)

    def _take_width(self, screen: int) -> None:
        self._window.styles.width = dialog_width(screen)

    def draw(self) -> None:
        """Brings everything in the window up to date."""

    @property
    def _inner(self) -> int:
        """The cells between the sides."""
        screen = self.app.size.width
        return min(dialog_width(screen), screen) - 2

    @property
    def cells(self) -> int:
        """How wide a line of the sentences is."""
        return max(38, self._inner - 2)

    @property
    def is_confirmed(self) -> bool:
        return not self.wanted or self._confirm.value == self.wanted

    def show_fields(self, shown: bool) -> None:
        """The field for what must be typed comes and goes with the protection of a cluster."""
        for widget in self.query("#wanted, .confirm"):
            widget.display = bool(self.wanted)
        self._window.set_class(bool(self.wanted), "-dangerous")
        for part in (*self._edges, self.go):
            part.look_dangerous(bool(self.wanted))
        self._fields.display = shown and any(child.display for child in self._fields.children)

    def say(self, text: DialogText) -> None:
        """Shows it, each part in its place; only the table scrolls where there is room for the rest."""
        self._text = text
        prompt = Text(unsigned(f"Type {self.wanted} to confirm{self.wanted_is}."), no_wrap=True)
        if self.wanted and self._to_type.content != prompt:
            self._to_type.update(prompt)  # An update has the whole screen laid out.
        screen, inner = self.app.size, self._inner
        is_low, is_high, has_table = screen.height < LOW, screen.height >= HIGH, bool(text.table.rows)
        # At once: each change of a class has the whole window styled anew.
        self._window.update_classes({"-airy": is_high, "-plain": not has_table, "-slim": inner < _SLIM}, animate=False)
        for pair in self._fields.walk_children(FieldPair):
            pair.stack(inner < _SLIM)
        self._lead.show(text.lead)
        self._writes.show(text.writes)
        written = self._writes.lines_wanted(inner)
        is_apart = not is_low and 0 < written <= _MOST_WRITTEN
        self._said.show(text.said if is_apart else (*text.said, *text.writes))
        for body, shown in ((self._writes, is_apart), (self._lead, True), (self._said, True)):
            body.display = shown and bool(body.paragraphs)
        most = screen.height if is_low else screen.height - (2 if screen.width < WIDE else 6)
        room = max(3, most - _AROUND - written * is_apart)
        above = self._lead.lines_wanted(inner) + (is_high and self._lead.display) + self._field_lines
        above += (is_high or not has_table) and self._field_lines > 0
        spoken = self._said.lines_wanted(inner)
        rows = max(_FEWEST_ROWS + 1, room - above - spoken)
        self._rows.show(text.table, rows, wide=screen.width >= WIDE)
        beside = room - above - (min(rows, len(text.table.rows) + 1) if has_table else 0)
        self._scrolled.styles.max_height = room
        self._said.styles.max_height = beside if beside >= min(_FEWEST_SENTENCES, spoken) else room
        self._notice.rule(has_table)
        self._show_edges()
        # Whether all of it is in sight is known once it has its size.
        self.call_after_refresh(self._settle_view)

    def _settle_view(self) -> None:
        """Keeps in sight what has the focus when the text above it has grown."""
        if self.focused is not None and self.focused in self._stops():
            self.focused.scroll_visible(animate=False)
        self._show_edges()

    def show_notice(self, text: str) -> bool:
        """In the line above the knobs, until something else is said or a few seconds have passed.

        Without that line, before it is composed and after it is removed, the message is for the list of messages only.
        """
        if not self._notice.is_attached:
            return False
        self._end_notice()
        self._notice.show([Span(f" {cut_end(text, self.cells)}", BOLD)])
        self._notice_timer = self.set_timer(_NOTICE, self._end_notice)
        return True

    def _end_notice(self) -> None:
        if self._notice_timer is not None:
            self._notice_timer.stop()
        self._notice.show([])

    @on(Input.Changed, "#confirm")
    def _name_changed(self) -> None:
        """A name that is typed is not asked for any more."""
        if self.is_confirmed and self._notice.text.strip() == cut_end(self.unconfirmed, self.cells):
            self._end_notice()

    @property
    def _field_lines(self) -> int:
        """The lines of the fields, told before they have been laid out for the first time."""
        shown = [child for child in self._fields.children if child.display] if self._fields.display else []
        return sum(child.lines if isinstance(child, RadioList | FieldPair) else 1 for child in shown)

    def forget_what_was_typed(self) -> None:
        """Clears the word that was typed: what was agreed to once is not agreed to again."""
        self._confirm.value = ""
        self.start()

    def _show_edges(self) -> None:
        """Shows what is done and where, which rows are in sight, and the keys."""
        table = self._rows
        order = f"{table.table.order}, " if self.app.size.width >= WIDE and table.table.order else ""
        rows = (Span(f"{order}{table.place}", DIM),) if table.scrolls else ()
        room = self._inner - 6 - line_width(rows)
        title = Span(cut_end(self._text.title, room), style_of(Tone.BAD) if self.wanted else BOLD)
        room -= width(title.text)
        place = f" in {self._text.place}" if self._text.place else ""
        where = (Span(cut_end(place, room), PLAIN),) if room > _LEAST_PLACE else ()
        top, bottom = self._edges
        top.show((title, *where), rows, framed=True, focused=True)
        bottom.show((), (Span(self._keys_that_fit(), DIM),), framed=True, focused=True)

    def _keys_that_fit(self) -> str:
        """As many as fit, whole ones; the way out always, and the way to what is out of sight before all others."""
        ways = "esc close" if self.can_be_typed_in else "esc/q close"
        scrolls, scrolled = self._rows.scrolls, self._scrolled
        is_unseen = scrolls or self._said.has_more or scrolled.max_scroll_y > scrolled.scroll_y
        scroll = "up/down scroll" if scrolls and self._radio is None else "pgdn more"
        for way in (*((scroll,) if is_unseen else ()), *reversed(self._ways())):
            if width(longer := f"{way} · {ways}") <= self._inner - _BESIDE_WAYS:
                ways = longer
        return ways

    @property
    def _radio(self) -> RadioList | None:
        return next(iter(self._fields.walk_children(RadioList)), None)

    def _ways(self) -> tuple[str, ...]:
        """The keys that work where the focus is."""
        if not self.go.display:
            return ()
        # From the last field they part: tab goes to the knob that leaves, which stands before the one that does it.
        on = ("enter to the action", "tab next") if self.focused in self._stops()[-1:] else ("tab/enter next",)
        match self.focused:
            case Prompt():
                return *on, "shift+tab back"
            case OptionCycler():
                return "left/right/space change", *on
            case RadioList():
                return "up/down/space choose", *on
            case DialogButton(id="go"):
                return "enter confirm", "left/shift+tab back"
            case _:
                return "enter close", "tab/right next"

    # Keys

    def action_step(self, by: int) -> None:
        radio = self._radio
        if self.is_asking and radio is not None and radio.display:
            radio.take(radio.at + by)
        elif self.is_asking and not self._rows.scrolls and self._stops():
            self._next(by)
        else:
            self.action_scroll_by(by)

    def action_scroll_by(self, by: int) -> None:
        """Down through the fields to the sentences, and through these; up the same way."""
        scrolled = self._scrolled
        if self._rows.scroll_lines(by):
            pass
        elif scrolled.scroll_y < scrolled.max_scroll_y if by > 0 else not self._said.top:
            scrolled.scroll_relative(y=by, animate=False)
        else:
            self._said.scroll_lines(by)
        self._show_edges()

    def action_knob(self, wanted: str) -> None:
        (self.go if wanted == "go" and self.go.display else self.cancel).focus()

    def _next(self, by: int) -> None:
        """Up and down end where the dialog does: up from the first field is not a way to the knob that sends."""
        chain = self.focus_chain
        index = chain.index(self.focused) + by if self.focused in chain else 0
        chain[max(0, min(len(chain) - 1, index))].focus()

    def action_leave_by_letter(self) -> None:
        """Leaves, unless something can be typed: there a letter is text, also when it went astray."""
        if not self.can_be_typed_in:
            self.action_leave()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.action_leave()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        if self._rows.scrolls:
            self.action_scroll_by(event.by)
        else:
            self._next(event.by)

    @on(Input.Submitted)
    @on(OptionCycler.Settled)
    @on(RadioList.Settled)
    def _entered(self, event: Input.Submitted | OptionCycler.Settled | RadioList.Settled) -> None:
        """To the next field, and from the last one to the knob that does it: that it is meant is another enter."""
        event.stop()
        if why := self.why_stay():
            self.app.notify(why, severity="warning")
            return
        stops = self._stops()
        if not self.is_confirmed and (self.focused is self._confirm or self.focused in stops[-1:]):
            self._confirm.focus()
            self.app.notify(self.unconfirmed, severity="warning")
        elif self.focused in stops[:-1]:
            self.focus_next()
        else:
            self.go.focus()

    def why_stay(self) -> str:
        """The reason why enter does not lead on from the field with the cursor; "" where it does."""
        return ""

    @property
    def unconfirmed(self) -> str:
        return f"Type {self.wanted} first"
