"""One of a few."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label
from textual.widgets.option_list import Option

from foretop.modals.window import Window
from foretop.widgets.options import Options
from foretop_core.tables.text.text import clean


class Choose(Window[int]):
    """Answers with the place of what was chosen."""

    def __init__(self, title: str, labels: Sequence[str], ascii: bool) -> None:
        super().__init__(ascii)
        self._title = title
        self._labels = labels

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(Text(clean(self._title), style="bold"))
            yield Options(*(Option(Text(clean(label), no_wrap=True)) for label in self._labels))
            yield Label(Text("enter chooses, esc or q leaves", style="dim"))

    @on(Options.OptionSelected)
    def _chosen(self, event: Options.OptionSelected) -> None:
        self.dismiss(event.option_index)
