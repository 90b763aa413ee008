"""The help: every key that works on this page, from the same list as the footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from foretop.bindings import UNLISTED, Action, ActionGroup
from foretop.dialogs.base_modal import TextModal
from foretop.dialogs.explanation_screen import choose_topic
from foretop.panes.page_records import Sign
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph
from foretop.widgets.styles import BOLD, DIM, style_of

_KEY = 16


class HelpScreen(TextModal):
    """The window of the help; it scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,enter", "leave", show=False),
        Binding("t", "topics", show=False),
    ]

    def __init__(
        self, actions: Sequence[Action], letters: Mapping[str, str], ascii: bool, signs: Sequence[Sign] = ()
    ) -> None:
        super().__init__(ascii)
        self._actions = actions
        self._letters = letters
        self._signs = signs

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield TextPane(ascii=self.ascii, id="help")

    def on_mount(self) -> None:
        self.query_one(TextPane).show(help_text(self._actions, self._letters, self._signs))

    def action_topics(self) -> None:
        choose_topic(self.app, self.ascii)


def help_text(actions: Sequence[Action], letters: Mapping[str, str], signs: Sequence[Sign] = ()) -> list[Paragraph]:
    """`letters` are the columns of the table by the capital that sorts by them; `signs` are those of the page."""
    sorting = ", ".join(f"{letter} {name}" for letter, name in letters.items())
    said = [Paragraph((Span("Keys", BOLD), Span("   up/down scroll, t topics explained, esc/q close", DIM)))]
    for group in ActionGroup:
        members = [action for action in actions if action.group is group and action.shown]
        if not members:
            continue
        said += [paragraph(""), paragraph(group.value, bold=True)]
        said += [_key(action.shown, action.title) for action in members]
        if group is ActionGroup.TABLE:
            said += [_key(keys, title) for keys, title in UNLISTED]
            said += [_key("shift+letter", f"sort, press again to reverse: {sorting}")] if sorting else []
    if signs:
        said += [paragraph(""), paragraph("The signs of this page", bold=True)]
        said += [_sign(sign) for sign in signs]
    return said


def _sign(sign: Sign) -> Paragraph:
    return Paragraph((Span(f"  {sign.text:<{_KEY - 3}} ", style_of(sign.tone)), Span(sign.meaning)), indent=_KEY)


def _key(keys: str, title: str) -> Paragraph:
    return Paragraph((Span(f"  {keys:<{_KEY - 3}} ", BOLD), Span(title)), indent=_KEY)
