"""The parts of dialogs: buttons, option cyclers, text fields, and radio lists with a forecast for each choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Label

from foretop.widgets.line_widgets import TextPane, strip_of
from foretop.widgets.paragraphs import Paragraph, Span, wrap
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, CURSOR, DIM, PLAIN, style_of, to_ascii
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import clean, cut_end, pad, width

LABEL_CELLS = 17


class DialogButton(Widget, can_focus=True):
    """A button of one line; only enter presses it, because a space may belong to text typed in the wrong place.

    Its window does what the button with the focus says: `action_press`.
    """

    DEFAULT_CSS = "DialogButton { width: auto; height: 1; margin: 0 0 0 2; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.press", show=False)]

    def __init__(self, label: str, id: str) -> None:
        super().__init__(id=id)
        self.label = label
        self.is_dead = False
        self.look_dangerous(False)

    def look_dangerous(self, dangerous: bool) -> None:
        self._look = style_of(Tone.BAD) if dangerous else BOLD
        self._dead_look = DIM + Style(color="red") if dangerous else DIM
        self.refresh()

    def say(self, label: str, *, dead: bool = False) -> None:
        """A dead knob can still be reached, and then the dialog says why it does nothing."""
        if (label, dead) != (self.label, self.is_dead):
            self.label, self.is_dead = label, dead
            self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return width(self.label) + 4

    def render(self) -> Text:
        style = CURSOR + self._look if self.has_focus else self._dead_look if self.is_dead else self._look
        return Text(f"[ {self.label} ]", style=style, no_wrap=True)

    async def on_click(self) -> None:
        self.focus()
        await self.run_action("screen.press")


class OptionCycler(Widget, can_focus=True):
    """One value of a few; left, right and space go through them."""

    DEFAULT_CSS = "OptionCycler { width: 1fr; height: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", show=False),
        Binding("right,space", "turn(1)", show=False),
        Binding("enter", "settle", show=False),
    ]

    class Turned(Message):
        """Another value was selected."""

    class Settled(Message):
        """Enter was pressed on the value."""

    def __init__(self, values: Sequence[str], id: str, ascii: bool) -> None:
        super().__init__(id=id)
        self.values = tuple(values)
        self.at = 0
        self._ascii = ascii

    @property
    def value(self) -> str:
        return self.values[self.at]

    def offer(self, value: str) -> None:
        """Takes a value, also one that was not among them."""
        if value not in self.values:
            self.values = (*self.values, value)
        self.at = self.values.index(value)
        self.refresh()

    def render(self) -> Text:
        left, right = ("<", ">") if self._ascii else ("‹", "›")
        style = CURSOR if self.has_focus else PLAIN
        return Text(f"{left} {to_ascii(clean(self.value), self._ascii)} {right}", style=style, no_wrap=True)

    def action_turn(self, by: int) -> None:
        self.at = (self.at + by) % len(self.values)
        self.refresh()
        self.post_message(self.Turned())

    def action_settle(self) -> None:
        self.post_message(self.Settled())

    def on_click(self) -> None:
        self.action_turn(1)


def boxed(prompt: Prompt) -> Iterator[Widget]:
    """A text field between brackets: where it begins and ends is seen without colours too."""
    yield Label("[", markup=False, classes="edge")
    yield prompt
    yield Label("]", markup=False, classes="edge")


class DialogField(Horizontal):
    """A label and what is typed or turned beside it."""

    DEFAULT_CSS = f"DialogField {{ height: 1; }} DialogField .label {{ width: {LABEL_CELLS}; }}"

    def __init__(self, label: str, value: Prompt | OptionCycler) -> None:
        super().__init__()
        self._label = label
        self.value = value

    def compose(self) -> ComposeResult:
        yield Label(Text(clean(self._label), no_wrap=True), classes="label")
        if isinstance(self.value, Prompt):
            yield from boxed(self.value)
        else:
            yield self.value


class ChoiceRow(msgspec.Struct, frozen=True):
    """One choice, and what it would do now."""

    label: str
    brief: str


class RadioList(Widget, can_focus=True):
    """Choices one below the other; up, down and space go through them."""

    DEFAULT_CSS = "RadioList { height: auto; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", show=False),
        Binding("enter", "settle", show=False),
    ]

    class Chosen(Message):
        """Another choice was selected."""

    class Settled(Message):
        """Enter was pressed on the choice."""

    def __init__(self, count: int, ascii: bool) -> None:
        super().__init__(id="choices")
        self.at = 0
        self.is_taken = False
        self.lines = count
        self._ascii = ascii
        self._rows: tuple[ChoiceRow, ...] = ()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.lines

    def show(self, rows: Sequence[ChoiceRow]) -> None:
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self.refresh()

    def move(self, by: int) -> None:
        self.take(self.at + by)

    def take(self, place: int) -> None:
        self.is_taken = True
        self.choose(max(0, min(self.lines - 1, place)))
        self.focus()

    def action_turn(self) -> None:
        """To the next one, and from the last to the first."""
        self.take((self.at + 1) % self.lines)

    def action_settle(self) -> None:
        self.is_taken = True
        self.post_message(self.Settled())

    def offer(self, place: int) -> None:
        """The choice that is best just now, until a person takes one."""
        if not self.is_taken:
            self.choose(place)

    def choose(self, place: int) -> None:
        if place != self.at:
            self.at = place
            self.refresh()
            self.post_message(self.Chosen())

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if y >= len(self._rows):
            return Strip.blank(cells, PLAIN)
        one = self._rows[y]
        here = y == self.at
        label = max(width(each.label) for each in self._rows) + 2
        sign = "▸ " if here else "  "
        brief = cut_end(one.brief, max(4, cells - label - 2))
        look = CURSOR + BOLD if here and self.has_focus else BOLD if here else PLAIN
        line = (Span(sign, BOLD), Span(pad(one.label, label), look), Span(brief, PLAIN if here else DIM))
        return strip_of(line, cells, self._ascii)

    def on_click(self, event: events.Click) -> None:
        self.take(event.y)


class MessageBody(TextPane):
    """Paragraphs; as many lines as they need, at most as many as there is room for."""

    DEFAULT_CSS = "MessageBody { height: auto; }"
    _others: tuple[Sequence[Paragraph], ...] = ()

    def __init__(self, *, ascii: bool, whole: bool = True, id: str | None = None) -> None:
        super().__init__(ascii=ascii, whole=whole, id=id)
        self._highest: dict[int, int] = {}
        """By width: in the first layout of a new size a scrollbar may still take a cell, and fold one line more."""

    def reserve(self, others: Sequence[Sequence[Paragraph]]) -> None:
        """Makes room for what else may be said here, so that nothing around it moves when it is."""
        self._others = tuple(others)
        if self._lines_needed(self.size.width) > self._highest.get(self.size.width, 1):
            self.refresh(layout=True)

    def start_afresh(self) -> None:
        """Something quite different is said from now on: its height counts alone."""
        self._others = ()
        self._highest.clear()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._highest[width] = max(self._highest.get(width, 1), self._lines_needed(width))
        return self._highest[width]

    def _lines_needed(self, width: int) -> int:
        return max(len(wrap(one, width - 2)) for one in (self._paragraphs, *self._others))

    def _arrange(self) -> None:
        """Not before there is a width to fold to: what was folded to nothing would be seen for a moment."""
        if not self.size.width:
            return
        before = len(self._lines)
        super()._arrange()
        if len(self._lines) != before:
            self.refresh(layout=True)
