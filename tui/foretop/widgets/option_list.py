"""A list of options with as many lines each."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widgets import OptionList

from foretop.widgets.styles import CURSOR


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
