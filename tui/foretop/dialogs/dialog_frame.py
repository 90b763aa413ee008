"""The window of a dialog: fields, sentences and two buttons.

It opens in its first field, or on its choices, and where it has neither on the Cancel button. Tab goes through the
fields to Cancel and then to the action, and nothing but enter on that one sends: whatever is
typed anywhere else is text, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Label

from foretop.dialogs.base_modal import BaseModal
from foretop.dialogs.dialog_parts import DialogButton, MessageBody, OptionCycler, RadioList, boxed
from foretop.widgets.paragraphs import Paragraph
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import to_ascii
from foretop_core.tables.text.terminal_text import clean, cut_end, width

_AROUND = 5
"""Lines that are no sentences: the border, where it happens, the line for messages and the knobs."""
_LEAST_WIDTH, _MOST_WIDTH, _SHARE = 78, 120, 0.9
"""Cells, where the terminal has so many, and the share of the terminal in between."""
_FEWEST_SENTENCES = 6
"""Lines; with fewer beside the fields, fields and sentences scroll together."""
_BESIDE_WAYS = 6
"""Cells of the border that the keys in it leave free."""
_NOTICE = 5.0
"""Seconds for which a message is shown in the dialog."""


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
    """The word on the knob that sends."""
    dismissal: str = "Cancel"
    """The word on the knob that leaves without sending; another one where the action itself cancels something."""
    is_asking = True
    _notice_timer: Timer | None = None
    _asks_for_name = False
    """The notice says what is to be typed first."""

    def fields(self) -> Iterable[Widget]:
        """What can be chosen or typed."""
        return ()

    @property
    def wanted(self) -> str:
        """What must be typed before anything dangerous is sent."""
        return ""

    @property
    def wanted_is(self) -> str:
        """What that is, where it is not the name."""
        return ""

    @property
    def is_dangerous(self) -> bool:
        """What it does cannot be undone, or is done in production, and it looks so."""
        return bool(self.wanted)

    def compose(self) -> ComposeResult:
        with Vertical(classes="window dialog"):
            yield Label("", id="place", markup=False)
            with Vertical(id="scrolled"):
                with Vertical(id="fields"):
                    yield from self.fields()
                    yield Label("", id="wanted", markup=False)
                    with Horizontal(classes="confirm"):
                        yield from boxed(Prompt(id="confirm"))
                yield MessageBody(ascii=self.ascii, id="said")
            yield Label("", id="notice", markup=False)
            with Horizontal(classes="knobs"):
                yield DialogButton(self.dismissal, "cancel")
                yield DialogButton(self.verb, "go")

    def on_mount(self) -> None:
        # Before the first paint, which would be narrow else, with its buttons cut off.
        self._take_width(self.app.size.width)
        self.show_wanted()
        self.show_fields(True)
        self.start()

    def start(self) -> None:
        """To the first field."""
        next(iter(self._stops()), self.cancel).focus()

    def _stops(self) -> list[Widget]:
        """The fields that are shown, in their order."""
        return [
            one
            for one in self.query_one("#fields").query("Prompt, OptionCycler, RadioList").results(Widget)
            if all(node.display for node in one.ancestors_with_self if isinstance(node, Widget))
        ]

    @property
    def can_be_typed_in(self) -> bool:
        return any(isinstance(one, Prompt) for one in self._stops())

    def on_descendant_focus(self) -> None:
        """Who comes to the buttons reads what they do."""
        self._show_ways()
        if isinstance(self.focused, DialogButton):
            self._scrolled.scroll_end(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        """As wide as reads well; what was high because it was narrow need not stay so."""
        self._take_width(event.size.width)
        self.query_one(MessageBody).start_afresh()
        self.call_after_refresh(self.draw)

    def _take_width(self, screen: int) -> None:
        self.query_one(".dialog").styles.width = max(_LEAST_WIDTH, min(_MOST_WIDTH, round(screen * _SHARE)))

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
    def cells(self) -> int:
        """How wide a line of the sentences is."""
        return max(40, self.query_one(MessageBody).size.width - 2)

    @property
    def is_confirmed(self) -> bool:
        return not self.wanted or self.query_one("#confirm", Prompt).value == self.wanted

    def show_wanted(self) -> None:
        """The field for what must be typed; it comes and goes with the protection of a cluster."""
        for one in self.query("#wanted, .confirm"):
            one.display = bool(self.wanted)
        self.query_one(".dialog").set_class(self.is_dangerous, "-dangerous")
        self.go.look_dangerous(self.is_dangerous)

    def show_fields(self, shown: bool) -> None:
        self.query_one("#fields").display = shown and any(child.display for child in self.query_one("#fields").children)

    def say(self, title: str, place: str, sentences: list[Paragraph], others: Sequence[list[Paragraph]] = ()) -> None:
        """What is done, where, and the sentences, with room for the `others` that a different choice would bring."""
        window = self.query_one(".dialog")
        window.border_title = Content(to_ascii(title, self.ascii))
        self._label("#place", Text(to_ascii(place, self.ascii), style="dim", no_wrap=True))
        self._show_ways()
        if self.wanted:
            text = clean(f"Type {self.wanted} to confirm{self.wanted_is}.")
            self._label("#wanted", Text(text, no_wrap=True))
        said = self.query_one(MessageBody)
        room = self.size.height - _AROUND
        beside = room - self._above()
        self._scrolled.styles.max_height = room
        said.styles.max_height = beside if beside >= _FEWEST_SENTENCES else room
        said.reserve(others)
        said.show(sentences)
        # Whether all of it is in sight is known once it has its size.
        self.call_after_refresh(self._show_ways)

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
        told = cut_end(to_ascii(text, self.ascii), self.cells)
        self.query_one("#notice", Label).update(Text(told, style="bold", no_wrap=True))
        if self._notice_timer is not None:
            self._notice_timer.stop()
        self._notice_timer = self.set_timer(_NOTICE, self._end_notice)
        self._asks_for_name = text == self.unconfirmed
        return True

    def _end_notice(self) -> None:
        self._asks_for_name = False
        self.query_one("#notice", Label).update("")

    @on(Input.Changed, "#confirm")
    def _name_changed(self) -> None:
        """A name that is typed is not asked for any more."""
        if self._asks_for_name and self.is_confirmed:
            self._end_notice()

    def _above(self) -> int:
        """The lines of the fields, told before they have been laid out for the first time."""
        fields = self.query_one("#fields")
        shown = [child for child in fields.children if child.display] if fields.display else []
        return sum(child.lines if isinstance(child, RadioList) else 1 for child in shown) + bool(shown)

    def forget_what_was_typed(self) -> None:
        """What was agreed to once is not agreed to again."""
        for prompt in self.query("#confirm").results(Prompt):
            prompt.value = ""
        self.start()

    def _show_ways(self) -> None:
        """As many as fit, whole ones; the way out always, and the way to what is out of sight before all others."""
        ways = self._way_out
        unseen = self.query_one(MessageBody).has_more or self._scrolled.max_scroll_y > self._scrolled.scroll_y
        for way in (*(("pgdn more",) if unseen else ()), *reversed(self._ways())):
            if width(longer := f"{way} · {ways}") <= self.size.width - _BESIDE_WAYS:
                ways = longer
        self.query_one(".dialog").border_subtitle = Content(to_ascii(ways, self.ascii))

    @property
    def _way_out(self) -> str:
        return "esc close" if self.can_be_typed_in else "esc/q close"

    def _ways(self) -> tuple[str, ...]:
        """The keys that work where the focus is."""
        if not self.go.display:
            return ()
        match self.focused:
            case Prompt():
                return "tab/enter next", "shift+tab back"
            case OptionCycler():
                return "left/right/space change", "tab/enter next"
            case RadioList():
                return "up/down/space choose", "enter/tab next"
            case DialogButton(id="go"):
                return "enter confirm", "left/shift+tab back"
            case _:
                return "enter close", "tab/right next"

    # Keys

    def action_step(self, by: int) -> None:
        choices = self.query(RadioList)
        if self.is_asking and choices:
            choices.first().move(by)
        elif self.is_asking and self._stops():
            self._next(by)
        else:
            self.action_scroll_by(by)

    def action_scroll_by(self, by: int) -> None:
        """Down through the fields to the sentences, and through these; up the same way."""
        said, scrolled = self.query_one(MessageBody), self._scrolled
        if scrolled.scroll_y < scrolled.max_scroll_y if by > 0 else not said.top:
            scrolled.scroll_relative(y=by, animate=False)
        else:
            said.scroll_lines(by)
        self._show_ways()

    def action_knob(self, wanted: str) -> None:
        (self.go if wanted == "go" and self.go.display else self.cancel).focus()

    def _next(self, by: int) -> None:
        """Up and down end where the dialog does: up from the first field is not a way to the knob that sends."""
        chain = self.focus_chain
        at = chain.index(self.focused) + by if self.focused in chain else 0
        chain[max(0, min(len(chain) - 1, at))].focus()

    def action_leave_by_letter(self) -> None:
        """Where something can be typed a letter is text, also when it went astray."""
        if not self.can_be_typed_in:
            self.action_leave()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.action_leave()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self._next(event.by)

    @on(Input.Submitted)
    @on(OptionCycler.Settled)
    @on(RadioList.Settled)
    def _entered(self, event: Input.Submitted | OptionCycler.Settled | RadioList.Settled) -> None:
        """To the next field, and from the last one to the knob that does it: that it is meant is another enter."""
        event.stop()
        stops = self._stops()
        if self.focused in stops[:-1]:
            self.focus_next()
        elif self.is_confirmed:
            self.go.focus()
        else:
            self.app.notify(self.unconfirmed, severity="warning")

    @property
    def unconfirmed(self) -> str:
        return f"Type {self.wanted} first"
