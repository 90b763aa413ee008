"""A one-line text field, which handles all keys of text entry itself, and a list of options to pick from."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input, OptionList

from foretop.widgets.styles import CURSOR
from foretop_core.tables.text.terminal_text import cut

EDITING = (("ctrl+w", "word back"), ("ctrl+u", "all back"), ("ctrl+p", "go to"))
"""What works in every field of a page."""
NARROWING = (("enter", "keep"), ("esc", "clear"), ("up down", "to the rows"), *EDITING)
"""What keys do in a filter."""


def hint(empty: str = "", example: str = "") -> str:
    """The text in an empty field, which nobody takes for a value: `empty: all; e.g. orders, ledger`."""
    return "; ".join(f"{word} {text}" for word, text in (("empty:", empty), ("e.g.", example)) if text)


class Prompt(Input):
    """The field: enter keeps the text, escape clears it, and up and down leave the field."""

    DEFAULT_CSS = """
    Prompt { height: 1; border: none; padding: 0; width: 1fr; background: ansi_default; }
    Prompt:focus { border: none; background: ansi_default; background-tint: ansi_default 0%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", show=False),
        Binding("ctrl+c", "drop", show=False),
    ]

    class Dropped(Message):
        """Escape was pressed: the text is dropped."""

    class Passed(Message):
        """Up or down was pressed in the field."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, *, value: str = "", placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, id=id, select_on_focus=False)
        self.cursor_blink = False
        self._hint = placeholder

    def show_hint(self, text: str) -> None:
        """Shows as much of it as fits: of a line that is too long a field would show its first words alone."""
        self._hint = text
        self.placeholder = cut(text, self.size.width, "...")

    def on_resize(self) -> None:
        self.show_hint(self._hint)

    def action_drop(self) -> None:
        self.post_message(self.Dropped())

    def on_key(self, event: events.Key) -> None:
        if event.key in ("up", "down"):
            event.stop()
            self.post_message(self.Passed(-1 if event.key == "up" else 1))


class PlainOptionList(OptionList):
    """A list that shows the selected option in reverse video, which its base cannot take from a style sheet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "highlight(1)", show=False),
        Binding("k", "highlight(-1)", show=False),
    ]
    lines_each = 1

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        index = (self.scroll_offset.y + y) // self.lines_each
        return strip.apply_style(CURSOR) if self.highlighted == index else strip

    def action_highlight(self, by: int) -> None:
        """As the arrows."""
        if by > 0:
            self.action_cursor_down()
        else:
            self.action_cursor_up()
