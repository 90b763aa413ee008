"""The help: every key that works on this page, from the same list as the footer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from foretop.bindings import UNLISTED, Action, ActionGroup, footer_order
from foretop.dialogs.base_modal import TextModal
from foretop.dialogs.text_screens import TextScreen, choose_topic
from foretop.panes.page_records import Sign
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, wrap
from foretop.widgets.styles import BOLD, DIM, style_of

_KEY = 16
_MOST_NEEDED = 8
"""So many of the keys of the footer come first, with the tabs and the way back."""
_TABS = "1 … 9"
_TWO_COLUMNS = 100
"""Cells of a window from which on there are two columns."""
_EDGES = 5
"""Cells of a column beside its text: frame, padding and what a text pane leaves free."""


class HelpScreen(TextModal):
    """The window of the help; it scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,enter", "leave", show=False),
        Binding("tab", "topics", show=False),
    ]

    def __init__(self, actions: Sequence[Action], signs: Sequence[Sign] = ()) -> None:
        super().__init__()
        self._actions = actions
        self._signs = signs

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"), Horizontal():
            yield TextPane(id="help")
            yield TextPane(id="more-help")

    def on_resize(self) -> None:
        """Two columns where there is room, cut between two groups."""
        columns = 2 if self.window_cells >= _TWO_COLUMNS else 1
        groups = help_groups(self._actions, self._signs)
        cells = self.window_cells // columns - _EDGES
        paragraphs, right = halves(groups, cells) if columns == 2 else (groups, [])
        self.query_one("#help", TextPane).show(_joined(paragraphs))
        self.query_one("#more-help", TextPane).show(_joined(right))
        self.query_one("#more-help").display = columns == 2

    def action_topics(self) -> None:
        choose_topic(self.app)


class LogHelpScreen(TextScreen):
    """The keys of a log or a list, over it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,enter", "leave", show=False),
    ]
    window = "window -tall -text"

    def __init__(self, noun: str, keys: Sequence[tuple[str, str]]) -> None:
        head = Paragraph((Span(f"Keys of the {noun}", BOLD), Span("   up/down scroll, esc/q close", DIM)))
        super().__init__([head, *(_key(key, does) for key, does in keys)])


Group = list[Paragraph]


def halves(groups: Sequence[Group], cells: int) -> tuple[list[Group], list[Group]]:
    """The groups in two columns of this width, the longer one as short as possible."""
    sizes = [len(wrap(group, cells)) for group in groups]
    cut = min(range(1, len(groups) + 1), key=lambda at: max(sum(sizes[:at]), sum(sizes[at:])))
    return list(groups[:cut]), list(groups[cut:])


def _joined(groups: Iterable[Group]) -> list[Paragraph]:
    return [line for group in groups for line in (*group, paragraph(""))]


def help_text(actions: Sequence[Action], signs: Sequence[Sign] = ()) -> list[Paragraph]:
    return _joined(help_groups(actions, signs))


def help_groups(actions: Sequence[Action], signs: Sequence[Sign]) -> list[Group]:
    """The most needed keys, then the signs of the page, then all other keys by what they are for."""
    head = Paragraph((Span("Keys", BOLD), Span("   up/down scroll, tab topics explained, esc/q close", DIM)))
    first = [action for action in footer_order(actions)[:_MOST_NEEDED] if action.shown]
    first += [action for action in actions if action.id == "escape"]
    shown_keys = {action.shown for action in first} | {_TABS}
    groups = [[head, _key(_TABS, "the tabs"), *(_key(action.shown, action.title) for action in first)]]
    if signs:
        groups.append([paragraph("The signs of this page", bold=True), *map(_sign, signs)])
    for group in ActionGroup:
        members = [action for action in actions if action.group is group and action.shown not in ("", *shown_keys)]
        if not members:
            continue
        lines = [paragraph(group.value, bold=True), *(_key(action.shown, action.title) for action in members)]
        if group is ActionGroup.TABLE:
            taken = {*(action.shown for action in actions), *shown_keys}
            lines += [_key(keys, title) for keys, title in UNLISTED if keys not in taken]
        groups.append(lines)
    return groups


def _sign(sign: Sign) -> Paragraph:
    return Paragraph((Span(f"  {sign.text:<{_KEY - 3}} ", style_of(sign.tone)), Span(sign.meaning)), indent=_KEY)


def _key(keys: str, title: str) -> Paragraph:
    return Paragraph((Span(f"  {keys:<{_KEY - 3}} ", BOLD), Span(title)), indent=_KEY)
