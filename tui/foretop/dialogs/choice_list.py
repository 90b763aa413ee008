"""A picker for a few choices."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label
from textual.widgets.option_list import Option

from foretop.dialogs.base_modal import BaseModal
from foretop.widgets.option_list import PlainOptionList
from foretop_core.tables.text.terminal_text import clean, width

_LEAST_WIDTH = 76
_FRAME = 5
"""Cells of the border, beside it and for a scrollbar."""


class ChoicePicker(BaseModal[int]):
    """A list of choices; the answer is the index of the chosen one."""

    def __init__(self, title: str, labels: Sequence[str], ascii: bool) -> None:
        super().__init__(ascii)
        self._title = title
        self._labels = labels

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(Text(clean(self._title), style="bold"))
            yield PlainOptionList(*(Option(Text(clean(label), no_wrap=True)) for label in self._labels))
            yield Label(Text("enter select, esc/q close", style="dim"))

    def on_mount(self) -> None:
        """As wide as its longest choice, where the terminal is."""
        longest = max(width(clean(label)) for label in (self._title, *self._labels))
        self.query_one(".window").styles.width = max(_LEAST_WIDTH, longest + _FRAME)

    @on(PlainOptionList.OptionSelected)
    def _chosen(self, event: PlainOptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)
