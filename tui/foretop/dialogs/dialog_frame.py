"""The window of a dialog: one sentence, fields, a table, what is written, and two buttons.

It opens in its first field, or on its choices, and where it has neither on the action. Enter goes from field to field
and then to the action; nothing but enter on that one sends: whatever is typed anywhere else is text, or nothing. What
deletes, or is done in production, asks for a name first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

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
    FieldPair,
    MessageBody,
    NoticeLine,
    OptionCycler,
    PlanTableView,
    RadioList,
    boxed,
)
from foretop.widgets.paragraphs import Paragraph, Span
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, DIM, PLAIN, style_of
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
    verb: str = ""
    """The word on the button that sends."""
    is_asking = True
    _text = DialogText("")
    _notice_timer: Timer | None = None
    _asks_for_name = False
    """The notice says what is to be typed first."""

    def fields(self) -> Iterable[Widget]:
        """The fields: what can be chosen or typed."""
        return ()

    @property
    def wanted(self) -> str:
        """The word that must be typed before anything dangerous is sent."""
        return ""

    @property
    def wanted_is(self) -> str:
        """Says what the word is, where it is not the name."""
        return ""

    @property
    def is_dangerous(self) -> bool:
        """True if what it does cannot be undone, or is done in production; it looks so."""
        return bool(self.wanted)

    def compose(self) -> ComposeResult:
        with Vertical(classes="window dialog"):
            yield DialogEdge("╭╮", self.ascii, "top")
            with Vertical(classes="sides"):
                with Vertical(id="scrolled"):
                    yield MessageBody(ascii=self.ascii, id="lead")
                    with Vertical(id="fields"):
                        yield Label("", id="wanted", markup=False)
                        with Horizontal(classes="confirm"):
                            yield from boxed(Prompt(id="confirm"))
                        yield from self.fields()
                    yield PlanTableView(self.ascii)
                    yield MessageBody(ascii=self.ascii, id="said")
                yield NoticeLine(ascii=self.ascii, id="notice")
                yield MessageBody(ascii=self.ascii, id="writes")
                with Horizontal(classes="knobs"):
                    yield DialogButton("Cancel", "cancel")
                    yield DialogButton(self.verb, "go")
            yield DialogEdge("╰╯", self.ascii, "bottom")

    def on_mount(self) -> None:
        # Before the first paint, which would be narrow else, with its buttons cut off.
        self._take_width(self.app.size.width)
        self.show_wanted()
        self.show_fields(True)
        self.start()

    def start(self) -> None:
        """To the first field, and where there is none to the action."""
        next(iter(self._stops()), self.go if self.go.display else self.cancel).focus()

    def _stops(self) -> list[Widget]:
        """The fields that are shown, in their order."""
        # By their class, here and below: a selector would be matched with every part of the window at every key.
        return [
            widget
            for widget in self.query_one("#fields").walk_children(Widget)
            if isinstance(widget, Prompt | OptionCycler | RadioList)
            and all(
                node.display and not node.disabled for node in widget.ancestors_with_self if isinstance(node, Widget)
            )
        ]

    @property
    def can_be_typed_in(self) -> bool:
        return any(isinstance(widget, Prompt) for widget in self._stops())

    def on_descendant_focus(self) -> None:
        """Scrolls to the end for who comes to the buttons: there it says what they do."""
        self._show_edges()
        if isinstance(self.focused, DialogButton):
            self._scrolled.scroll_end(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """As wide as its class of sizes; what was high because it was narrow need not stay so."""
        self._take_width(event.size.width)
        self.call_after_refresh(self._draw_afresh)

    def _draw_afresh(self) -> None:
        """Once the new size is there: until then the sentences are those that the old one had room for."""
        self.start_afresh()
        self.draw()

    def start_afresh(self) -> None:
        """Something quite different is said from now on: its height counts alone."""
        for body in self.query(MessageBody):
            body.start_afresh()

    def _take_width(self, screen: int) -> None:
        self.query_one(".dialog").styles.width = dialog_width(screen)

    def draw(self) -> None:
        """Brings everything in the window up to date."""

    @property
    def _scrolled(self) -> Vertical:
        """Fields and sentences; where they do not fit they scroll, and the buttons stay."""
        return self.query_one("#scrolled", Vertical)

    @property
    def cancel(self) -> DialogButton:
        return self.query_one("#cancel", DialogButton)

    @property
    def go(self) -> DialogButton:
        return self.query_one("#go", DialogButton)

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
        return not self.wanted or self.query_one("#confirm", Prompt).value == self.wanted

    def show_wanted(self) -> None:
        """The field for what must be typed; it comes and goes with the protection of a cluster."""
        for widget in self.query("#wanted, .confirm"):
            widget.display = bool(self.wanted)
        self.query_one(".dialog").set_class(self.is_dangerous, "-dangerous")
        for edge in self.query(DialogEdge):
            edge.look_dangerous(self.is_dangerous)
        self.go.look_dangerous(self.is_dangerous)

    def show_fields(self, shown: bool) -> None:
        self.query_one("#fields").display = shown and any(child.display for child in self.query_one("#fields").children)

    def say(self, text: DialogText) -> None:
        """Shows it, each part in its place; only the table scrolls where there is room for the rest."""
        self._text = text
        if self.wanted:
            prompt = unsigned(f"Type {self.wanted} to confirm{self.wanted_is}.")
            self._label("#wanted", Text(prompt, no_wrap=True))
        screen, inner = self.app.size, self._inner
        is_low, has_table = screen.height < LOW, bool(text.table.rows)
        window = self.query_one(".dialog")
        # At once: each change of a class has the whole window styled anew.
        window.update_classes(
            {"-airy": screen.height >= HIGH, "-plain": not has_table, "-slim": inner < _SLIM}, animate=False
        )
        for pair in self.query_one("#fields").walk_children(FieldPair):
            pair.stack(inner < _SLIM)
        lead, body, writes = (self.query_one(f"#{name}", MessageBody) for name in ("lead", "said", "writes"))
        lead.show(text.lead)
        writes.show(text.writes)
        apart = not is_low and writes.lines_needed(inner) <= _MOST_WRITTEN
        body.show((*text.said, *(() if apart else text.writes)))
        writes.display = apart and bool(text.writes)
        lead.display, body.display = bool(text.lead), bool(body.paragraphs)
        most = screen.height if is_low else screen.height - (2 if screen.width < WIDE else 6)
        room = max(3, most - _AROUND - (writes.lines_needed(inner) if writes.display else 0))
        air = screen.height >= HIGH
        above = lead.lines_needed(inner) + (air and lead.display) + self._above(air or not has_table)
        spoken = body.lines_needed(inner)
        rows = max(_FEWEST_ROWS + 1, room - above - spoken)
        self.query_one(PlanTableView).show(text.table, rows, wide=screen.width >= WIDE)
        beside = room - above - (min(rows, len(text.table.rows) + 1) if has_table else 0)
        self._scrolled.styles.max_height = room
        body.styles.max_height = beside if beside >= min(_FEWEST_SENTENCES, spoken) else room
        self.query_one(NoticeLine).rule(has_table)
        self._show_edges()
        # Whether all of it is in sight is known once it has its size.
        self.call_after_refresh(self._settle_view)

    def _settle_view(self) -> None:
        """Keeps in sight what has the focus when the text above it has grown."""
        if self.focused is not None and self.focused in self._stops():
            self.focused.scroll_visible(animate=False)
        self._show_edges()

    def _label(self, wanted: str, text: Text) -> None:
        """Shows the text in a label, unless it is there already: an update has the whole screen laid out."""
        label = self.query_one(wanted, Label)
        if label.content != text:
            label.update(text)

    def show_notice(self, text: str) -> bool:
        """In the line above the knobs, until something else is said or a few seconds have passed.

        Without that line, before it is composed and after it is removed, the message is for the list of messages only.
        """
        if not self.query("#notice"):
            return False
        self.query_one(NoticeLine).show([Span(f" {cut_end(text, self.cells)}", BOLD)])
        if self._notice_timer is not None:
            self._notice_timer.stop()
        self._notice_timer = self.set_timer(_NOTICE, self._end_notice)
        self._asks_for_name = text == self.unconfirmed
        return True

    def _end_notice(self) -> None:
        self._asks_for_name = False
        self.query_one(NoticeLine).show([])

    @on(Input.Changed, "#confirm")
    def _name_changed(self) -> None:
        """A name that is typed is not asked for any more."""
        if self._asks_for_name and self.is_confirmed:
            self._end_notice()

    def _above(self, gap: bool) -> int:
        """The lines of the fields, told before they have been laid out for the first time."""
        fields = self.query_one("#fields")
        shown = [child for child in fields.children if child.display] if fields.display else []
        lines = (child.lines if isinstance(child, RadioList | FieldPair) else 1 for child in shown)
        return sum(lines) + (gap and bool(shown))

    def forget_what_was_typed(self) -> None:
        """Clears the word that was typed: what was agreed to once is not agreed to again."""
        for prompt in self.query("#confirm").results(Prompt):
            prompt.value = ""
        self.start()

    def _show_edges(self) -> None:
        """Shows what is done and where, which rows are in sight, and the keys."""
        text, table = self._text, self.query_one(PlanTableView)
        look = style_of(Tone.BAD) if self.is_dangerous else BOLD
        order = f"{table.table.order}, " if self.app.size.width >= WIDE and table.table.order else ""
        rows = (Span(f"{order}{table.place}", DIM),) if table.scrolls else ()
        room = self._inner - 6 - sum(width(piece.text) for piece in rows)
        title = cut_end(text.title, room)
        place = f" in {text.place}" if text.place else ""
        where = (Span(cut_end(place, room - width(title)), PLAIN),) if room - width(title) > 12 else ()
        self.query_one("#top", DialogEdge).show((Span(title, look), *where), rows, framed=True, focused=True)
        ways = (Span(self._keys_that_fit(), DIM),)
        self.query_one("#bottom", DialogEdge).show((), ways, framed=True, focused=True)

    def _keys_that_fit(self) -> str:
        """As many as fit, whole ones; the way out always, and the way to what is out of sight before all others."""
        ways = "esc close" if self.can_be_typed_in else "esc/q close"
        table = self.query_one(PlanTableView)
        unseen = self.query_one("#said", MessageBody).has_more or self._scrolled.max_scroll_y > self._scrolled.scroll_y
        scroll = (
            "pgdn more" if self.query_one("#fields").walk_children(RadioList) or not table.scrolls else "up/down scroll"
        )
        for way in (*((scroll,) if unseen or table.scrolls else ()), *reversed(self._ways())):
            if width(longer := f"{way} · {ways}") <= self._inner - _BESIDE_WAYS:
                ways = longer
        return ways

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
        choices = self.query_one("#fields").walk_children(RadioList)
        if self.is_asking and choices and choices[0].display:
            choices[0].move(by)
        elif self.query_one(PlanTableView).scrolls:
            self.action_scroll_by(by)
        elif self.is_asking and self._stops():
            self._next(by)
        else:
            self.action_scroll_by(by)

    def action_scroll_by(self, by: int) -> None:
        """Down through the fields to the sentences, and through these; up the same way."""
        body, scrolled = self.query_one("#said", MessageBody), self._scrolled
        if self.query_one(PlanTableView).scroll_lines(by):
            pass
        elif scrolled.scroll_y < scrolled.max_scroll_y if by > 0 else not body.top:
            scrolled.scroll_relative(y=by, animate=False)
        else:
            body.scroll_lines(by)
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
        if self.query_one(PlanTableView).scrolls:
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
        confirm = self.query_one("#confirm", Prompt)
        if not self.is_confirmed and (self.focused is confirm or self.focused in stops[-1:]):
            confirm.focus()
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
