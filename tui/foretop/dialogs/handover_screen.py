"""The hand-over to the next shift, to be read and copied."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.dialogs.base_modal import TextModal
from foretop.terminal.clipboard import copy
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span
from foretop.widgets.styles import BOLD, DIM

_WAYS = "up/down scroll   c copy   m copy as Markdown   esc/q close"
_INDENT = 6


class HandoverScreen(TextModal):
    """The text as `foretop handover` prints it; scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy_text", show=False),
        Binding("m", "copy_markdown", show=False),
    ]

    def __init__(self, text: str, markdown: str, ascii: bool) -> None:
        super().__init__(ascii)
        self._text = text
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall -text"):
            yield TextPane(ascii=self.ascii, id="handover")

    def on_mount(self) -> None:
        self.query_one(TextPane).show(_paragraphs(self._text))

    def action_copy_text(self) -> None:
        copy(self.app, self._text)

    def action_copy_markdown(self) -> None:
        copy(self.app, self._markdown)


def _paragraphs(text: str) -> list[Paragraph]:
    title, *lines = text.splitlines()
    said = [Paragraph((Span(title, BOLD),)), Paragraph((Span(_WAYS, DIM),))]
    for before, line in pairwise((title, *lines)):
        is_head = bool(line) and not before
        indent = len(line) - len(line.lstrip()) + 2 if line else 0
        said.append(Paragraph((Span(line, BOLD) if is_head else Span(line),), indent=min(indent, _INDENT + 2)))
    return said
