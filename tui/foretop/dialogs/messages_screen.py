"""The history of toasts and the last writes, newest first."""

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
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.journal import JournalEntry
from foretop_core.tables.text.terminal_text import clean


class MessagesScreen(TextModal):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m,enter", "leave", show=False),
    ]

    def __init__(self, told: Sequence[tuple[str, str]], writes: Sequence[JournalEntry], ascii: bool) -> None:
        super().__init__(ascii)
        self._told = tuple(reversed(told))
        self._writes = tuple(reversed(writes))

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield TextPane(ascii=self.ascii, id="messages")

    def on_mount(self) -> None:
        said = [Paragraph((Span("Messages", BOLD), Span("   newest first, esc/q close", DIM))), paragraph("")]
        said += [_line(at, text) for at, text in self._told] or [paragraph("No messages yet.")]
        if self._writes:
            said += [paragraph(""), paragraph("Sent by you, newest first", bold=True)]
            said += [_line(entry.at, _write(entry)) for entry in self._writes]
        self.query_one(TextPane).show(said)


def _line(at: str, text: str) -> Paragraph:
    return Paragraph((Span(f"{at}  ", DIM), Span(clean(text))), indent=11)


def _write(entry: JournalEntry) -> str:
    changes = change_lines(entry.method, entry.patch, entry.before)
    what = f": {changes[0]}" if changes else ""
    return f"{entry.kind} {entry.namespace}/{entry.name} {entry.result}{what}"
