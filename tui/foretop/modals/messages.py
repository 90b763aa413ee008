"""What was said in toasts, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.modals.window import Window
from foretop.prose import Para, Span, para
from foretop.tones import BOLD, DIM
from foretop.widgets.lines import ProsePane
from foretop_core.tables.text.text import clean


class Messages(Window[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m,enter", "leave", show=False),
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
    ]

    def __init__(self, told: Sequence[tuple[str, str]], ascii: bool) -> None:
        super().__init__(ascii)
        self._told = tuple(reversed(told))

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield ProsePane(ascii=self.ascii, id="messages")

    def on_mount(self) -> None:
        said = [Para((Span("Messages", BOLD), Span("   newest first, esc or q leaves", DIM))), para("")]
        said += [Para((Span(f"{at}  ", DIM), Span(clean(text))), indent=11) for at, text in self._told]
        self.query_one(ProsePane).show(said if self._told else [*said, para("Nothing was said yet.")])

    def action_scroll_by(self, by: int) -> None:
        self.query_one(ProsePane).scroll_lines(by)
