"""The base of windows of text: all scroll with the same keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from foretop.dialogs.base_modal import BaseModal
from foretop.widgets.line_widgets import TextPane


class TextModal(BaseModal[None]):
    """A window with a text, in one column or two, which scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("end,G", "scroll_by(1000000)", show=False),
        Binding("home,g", "scroll_by(-1000000)", show=False),
    ]

    def action_scroll_by(self, by: int) -> None:
        for pane in self.query(TextPane):
            pane.scroll_lines(by)

    def action_page(self, by: int) -> None:
        """One line of the page before stays in sight."""
        self.action_scroll_by(by * max(1, self.query(TextPane).first().size.height - 1))
