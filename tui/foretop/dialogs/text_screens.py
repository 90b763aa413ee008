"""Windows with a text to read: an explanation, the hand-over, or the messages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby, islice, pairwise
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.dialogs.base_modal import TextModal, choose
from foretop.terminal.clipboard import copy
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, DIM
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.journal import JournalEntry
from foretop_core.rules import humanize
from foretop_core.tables.text.explanations import Explanation, explanations

_TITLE = "Topics"
_MOST_WRITES = 20
"""So many of the last are listed with the messages; `foretop journal` has all."""


class TextScreen(TextModal):
    """A window with one text; scrolls where it does not fit."""

    window: ClassVar[str] = "window -tall"
    """What the style sheet calls it."""

    def __init__(self, said: Sequence[Paragraph]) -> None:
        super().__init__()
        self._said = said

    def compose(self) -> ComposeResult:
        with Vertical(classes=self.window):
            yield TextPane()

    def on_mount(self) -> None:
        self.query_one(TextPane).show(self._said)


class ExplanationScreen(TextScreen):
    """One topic."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "leave", show=False),
    ]
    window = "window -tall -text"

    def __init__(self, explanation: Explanation) -> None:
        super().__init__(explanation_text(explanation))


def explanation_text(explanation: Explanation) -> list[Paragraph]:
    """Keeps the lines of what is indented; the rest is folded by the window."""
    paragraphs = [Paragraph((Span(explanation.title, BOLD), Span("   up/down scroll, esc/q close", DIM)))]
    for block in explanation.body.strip("\n").split("\n\n"):
        lines = block.splitlines()
        paragraphs.append(paragraph(""))
        if lines[0].startswith(" "):
            paragraphs += [Paragraph((Span(line),), indent=4) for line in lines]
        else:
            paragraphs.append(paragraph(" ".join(lines)))
    return paragraphs


def explain(app: App[object], topic: str) -> None:
    """Opens a topic; the palette has no others."""
    app.push_screen(ExplanationScreen(explanations()[topic]))


def choose_topic(app: App[object]) -> None:
    """A list of the topics; enter opens one."""
    topics = list(explanations().values())
    labels = [f"{topic.topic:<10} {topic.title}" for topic in topics]
    choose(app, _TITLE, labels, lambda place: app.push_screen(ExplanationScreen(topics[place])))


_WAYS = "up/down scroll   c copy   C copy as Markdown   esc/q close"
_INDENT = 6


class HandoverScreen(TextScreen):
    """The text as `foretop handover` prints it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy_text", show=False),
        Binding("C", "copy_markdown", show=False),
    ]
    window = "window -tall -text"

    def __init__(self, text: str, markdown: str) -> None:
        super().__init__(_paragraphs(text))
        self._text = text
        self._markdown = markdown

    def action_copy_text(self) -> None:
        copy(self.app, self._text)

    def action_copy_markdown(self) -> None:
        copy(self.app, self._markdown)


def _paragraphs(text: str) -> list[Paragraph]:
    title, *lines = text.splitlines()
    paragraphs = [Paragraph((Span(title, BOLD),)), Paragraph((Span(_WAYS, DIM),))]
    for before, line in pairwise((title, *lines)):
        is_head = bool(line) and not before
        indent = len(line) - len(line.lstrip()) + 2 if line else 0
        paragraphs.append(Paragraph((Span(line, BOLD) if is_head else Span(line),), indent=min(indent, _INDENT + 2)))
    return paragraphs


class MessagesScreen(TextScreen):
    """The messages so far, and the last writes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m,enter", "leave", show=False),
    ]

    def __init__(self, told: Sequence[tuple[str, str]], writes: Sequence[JournalEntry], now: datetime) -> None:
        paragraphs = [Paragraph((Span("Messages", BOLD), Span("   newest first, esc/q close", DIM))), paragraph("")]
        paragraphs += [_line(when, text) for when, text in reversed(told)] or [paragraph("No messages yet.")]
        if writes:
            paragraphs += [paragraph(""), paragraph("Sent by you, newest first", bold=True)]
            together = groupby(reversed(writes), key=_alike)
            paragraphs += [_sent(list(entries), now) for _, entries in islice(together, _MOST_WRITES)]
        super().__init__(paragraphs)


def _sent(entries: Sequence[JournalEntry], now: datetime) -> Paragraph:
    """Tells a write to one object, or the same one to several one after the other."""
    kind, place, result, what = _alike(entries[0])[1:]
    names = humanize.join([entry.name for entry in entries])
    some = f"{humanize.count(len(entries), kind)} in {place} ({names})"
    which = some if len(entries) > 1 else f"{kind} {place}/{names}"
    moment = entries[0].moment
    when = humanize.time(moment, now) if moment is not None else entries[0].at
    return _line(when, f"{which} {result}{what}")


def _line(at: str, text: str) -> Paragraph:
    return Paragraph((Span(f"{at}  ", DIM), span(text)), indent=11)


def _alike(entry: JournalEntry) -> tuple[str, ...]:
    """The cluster, kind and namespace of the object, how it ended and what was changed."""
    changes = change_lines(entry.method, entry.patch, entry.before)
    return entry.context, entry.kind, entry.namespace, entry.result, f": {changes[0]}" if changes else ""
