"""The parts of dialogs: buttons, option cyclers, text fields, and radio lists with a forecast for each choice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from msgspec.structs import replace
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

from foretop.widgets.line_widgets import FrameLine, StyledLine, TextPane, line_width, strip_of
from foretop.widgets.paragraphs import Span
from foretop.widgets.prompt import Prompt, hint
from foretop.widgets.styles import BOLD, BORDER, CURSOR, DIM, HEAD, PLAIN, RAISED, style_of
from foretop_core.actions.action_record import ChoiceField, Field, TextField
from foretop_core.dashboard.plan_table import PlanTable
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import cut_end, unsigned, width

LABEL_CELLS = 17
_PAIR_CELLS = 8
NO_TABLE = PlanTable((), (), ())


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

    def __init__(self, field: ChoiceField) -> None:
        super().__init__(id=field.name)
        self.field = field
        self.at = field.at

    @property
    def value(self) -> Any:
        """The chosen option, as the planner gets it."""
        return self.field.options[self.at][1]

    def show(self, field: ChoiceField) -> None:
        """Other options, from the one that they begin with."""
        self.field, self.at = field, field.at
        self.refresh()

    def render(self) -> Text:
        style = CURSOR if self.has_focus else PLAIN
        label = cut_end(unsigned(self.field.options[self.at][0]), max(4, self.size.width - 4))
        return Text(f"‹ {label} ›", style=style, no_wrap=True)

    def action_turn(self, by: int) -> None:
        self.at = (self.at + by) % len(self.field.options)
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

    DEFAULT_CSS = "DialogField { height: 1; }"

    def __init__(self, field: Field, *, cells: int = LABEL_CELLS) -> None:
        super().__init__()
        self.field, self._cells = field, cells

    def compose(self) -> ComposeResult:
        field = self.field
        label = Label(Text(unsigned(field.label), no_wrap=True), classes="label")
        label.styles.width = self._cells
        yield label
        if isinstance(field, TextField):
            placeholder = hint(field.default, field.example)
            yield from boxed(Prompt(value=field.value, placeholder=placeholder, id=field.name))
        else:
            yield OptionCycler(field)


class FieldPair(Horizontal):
    """Two fields beside each other, or below each other where there is little room."""

    lines = 1

    def __init__(self, left: Field, right: Field) -> None:
        beside = replace(right, label=f" {right.label}")
        super().__init__(*(DialogField(field, cells=_PAIR_CELLS) for field in (left, beside)), classes="pair")

    def stack(self, stacked: bool) -> None:
        self.lines = 2 if stacked else 1


class RadioList(Widget, can_focus=True):
    """A table of choices, with a head above; up, down and space go through them."""

    DEFAULT_CSS = "RadioList { height: auto; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", show=False),
        Binding("enter", "settle", show=False),
    ]

    class Chosen(Message):
        """Another choice was selected."""

    class Settled(Message):
        """Enter was pressed on the choice."""

    def __init__(self, count: int) -> None:
        super().__init__(id="choices")
        self.at = 0
        self.is_taken = False
        self.lines = count + 1
        self._count = count
        self._table = NO_TABLE

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.lines

    def show(self, table: PlanTable) -> None:
        """The choices with what each would do now, a row each."""
        if table != self._table:
            self._table = table
            self.refresh()

    def take(self, place: int) -> None:
        self.is_taken = True
        self.choose(max(0, min(self._count - 1, place)))
        self.focus()

    def action_turn(self) -> None:
        """To the next one, and from the last to the first."""
        self.take((self.at + 1) % self._count)

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
        if y > len(self._table.rows):
            return Strip.blank(cells, PLAIN)
        if y == 0:
            return strip_of((Span(f"  {self._table.head(cells - 2)}", HEAD),), cells)
        here = y - 1 == self.at
        sign = f"{(StatusGlyph.HEALTHY if here else StatusGlyph.WAITING).value} "
        pieces = self._table.line(y - 1, cells - 2)
        raised = here and self.has_focus and getattr(self.app, "raises_cursor", False)
        look = CURSOR + BOLD if here and self.has_focus and not raised else BOLD if here else PLAIN
        line = [Span(sign, BOLD if here else DIM)]
        line += [Span(piece.text, style_of(piece.tone) if place else look) for place, piece in enumerate(pieces)]
        if raised:
            line.append(Span(" " * max(0, cells - line_width(tuple(line)))))
            line = [Span(span.text, span.style + RAISED) for span in line]
        return strip_of(tuple(line), cells)

    def on_click(self, event: events.Click) -> None:
        if event.y:
            self.take(event.y - 1)


class PlanTableView(Widget):
    """The rows of a plan below their head; where they do not fit they scroll, and nothing else does."""

    DEFAULT_CSS = "PlanTableView { height: auto; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__(id="plan-table")
        self.top = 0
        self.most = 1
        """Lines that it may take, its head among them."""
        self.is_wide = False
        self._table = NO_TABLE

    @property
    def table(self) -> PlanTable:
        return self._table

    def show(self, table: PlanTable, most: int, *, wide: bool) -> None:
        before = (len(self._table.rows), self.most)
        is_same = (table, most, wide) == (self._table, self.most, self.is_wide)
        self._table, self.most, self.is_wide = table, most, wide
        self.display = bool(table.rows)
        self.scroll_lines(0)
        if not is_same:
            self.refresh(layout=before != (len(table.rows), most))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self._table.rows) + 1, self.most)

    @property
    def _rows_shown(self) -> int:
        return max(1, min(len(self._table.rows), self.most - 1))

    def scroll_lines(self, by: int) -> bool:
        """Scrolls; True if there was anything to scroll to."""
        top = max(0, min(self.top + by, len(self._table.rows) - self._rows_shown))
        if top == self.top:
            return False
        self.top = top
        self.refresh()
        return True

    @property
    def scrolls(self) -> bool:
        return self.display and len(self._table.rows) > self._rows_shown

    @property
    def place(self) -> str:
        """`1–14 of 38`."""
        total = len(self._table.rows)
        return f"{self.top + 1}–{min(total, self.top + self._rows_shown)} of {total}" if total else ""

    def render_line(self, y: int) -> Strip:
        cells, table, row = self.size.width, self._table, self.top + y - 1
        if y == 0:
            return strip_of((Span(f" {table.head(cells - 2, wide=self.is_wide)}", HEAD),), cells)
        if row >= len(table.rows):
            return Strip.blank(cells, PLAIN)
        pieces = (Span(piece.text, style_of(piece.tone)) for piece in table.line(row, cells - 2, wide=self.is_wide))
        return strip_of((Span(" "), *pieces), cells)


class DialogEdge(FrameLine):
    """The top or the bottom of a dialog; bad where what it does is dangerous."""

    def __init__(self, corners: str, id: str) -> None:
        super().__init__(corners, id=id)
        self.is_dangerous = False

    def look_dangerous(self, dangerous: bool) -> None:
        if dangerous != self.is_dangerous:
            self.is_dangerous = dangerous
            self.refresh()

    def edge_style(self, focused: bool) -> Style:
        return style_of(Tone.BAD) if self.is_dangerous else BOLD


class NoticeLine(StyledLine):
    """The line above the buttons: a rule below a table, and in its place what there is to tell for a moment."""

    is_rule = False

    def rule(self, shown: bool) -> None:
        if shown != self.is_rule:
            self.is_rule = shown
            self.refresh()

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        if not self.text and self.is_rule:
            return strip_of((Span(" "), Span("─" * (cells - 2), BORDER)), cells)
        return super().render_line(y)


class MessageBody(TextPane):
    """Paragraphs; as many lines as they need, at most as many as there is room for."""

    DEFAULT_CSS = "MessageBody { height: auto; }"

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, self.lines_wanted(width))

    def _arrange(self) -> None:
        before = len(self._lines)
        super()._arrange()
        if len(self._lines) != before:
            self.refresh(layout=True)
