"""The texts of `foretop explain` on the screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.dialogs.base_modal import ChoicePicker, TextModal
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph
from foretop.widgets.styles import BOLD, DIM
from foretop_core.tables.text.explanations import EXPLANATIONS, Explanation

_TITLE = "Topics, as foretop explain prints them"


class ExplanationScreen(TextModal):
    """One topic; scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "leave", show=False),
    ]

    def __init__(self, explanation: Explanation, ascii: bool) -> None:
        super().__init__(ascii)
        self._explanation = explanation

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall -text"):
            yield TextPane(ascii=self.ascii, id="explanation")

    def on_mount(self) -> None:
        self.query_one(TextPane).show(explanation_text(self._explanation))


def explanation_text(explanation: Explanation) -> list[Paragraph]:
    """Keeps the lines of what is indented; the rest is folded by the window."""
    said = [Paragraph((Span(explanation.title, BOLD), Span("   up/down scroll, esc/q close", DIM)))]
    for block in explanation.body.strip("\n").split("\n\n"):
        lines = block.splitlines()
        said.append(paragraph(""))
        if lines[0].startswith(" "):
            said += [Paragraph((Span(line),), indent=4) for line in lines]
        else:
            said.append(paragraph(" ".join(lines)))
    return said


def choose_topic(app: App[object], ascii: bool) -> None:
    """A list of the topics; enter opens one."""
    topics = list(EXPLANATIONS.values())

    def chosen(place: int | None) -> None:
        if place is not None:
            app.push_screen(ExplanationScreen(topics[place], ascii))

    app.push_screen(ChoicePicker(_TITLE, [f"{one.topic:<10} {one.title}" for one in topics], ascii), chosen)
