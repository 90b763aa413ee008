"""The history of toasts, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.dialogs.base_modal import TextModal
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph
from foretop.widgets.styles import BOLD, DIM
from foretop_core.tables.text.terminal_text import clean


class MessagesScreen(TextModal):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m,enter", "leave", show=False),
    ]

    def __init__(self, told: Sequence[tuple[str, str]], ascii: bool) -> None:
        super().__init__(ascii)
        self._told = tuple(reversed(told))

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield TextPane(ascii=self.ascii, id="messages")

    def on_mount(self) -> None:
        said = [Paragraph((Span("Messages", BOLD), Span("   newest first, esc/q close", DIM))), paragraph("")]
        said += [Paragraph((Span(f"{at}  ", DIM), Span(clean(text))), indent=11) for at, text in self._told]
        self.query_one(TextPane).show(said if self._told else [*said, paragraph("No messages yet.")])
