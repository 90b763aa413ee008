"""A field above a list: what is typed narrows the list, arrows move in it without leaving the field."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label
from textual.widgets.option_list import Option

from foretop.dialogs.base_modal import BaseModal
from foretop.widgets.prompt import PlainOptionList, Prompt
from foretop_core.tables.text.terminal_text import unsigned

T = TypeVar("T")


class SearchModal(BaseModal[T]):
    """The base of the palette and the picker; a subclass lists what fits and decides what enter does."""

    def on_mount(self) -> None:
        self.show_found(self.search(""))
        self.query_one(Prompt).focus()

    @abstractmethod
    def search(self, text: str) -> Iterable[Text]:
        """The lines that fit what was typed, best first."""

    def show_found(self, lines: Iterable[Text]) -> None:
        options = self.query_one(PlainOptionList)
        options.clear_options()
        options.add_options(Option(line) for line in lines)
        if options.option_count:
            options.highlighted = 0

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.show_found(self.search(event.value))

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.action_leave()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self.query_one(PlainOptionList).action_highlight(event.by)


_SHOWN = 200
"""More than this are not looked through by eye; typing narrows them."""


class SearchPicker(SearchModal[int]):
    """A searchable list; the answer is the index of the chosen entry."""

    def __init__(self, title: str, labels: Sequence[str]) -> None:
        super().__init__()
        self._title = title
        self._labels = [unsigned(label) for label in labels]
        self._found: list[int] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield Label(Text(unsigned(self._title), style="bold"))
            with Horizontal(classes="prompt"):
                yield Label("/", markup=False)
                yield Prompt(placeholder="type to narrow", id="wanted")
            yield PlainOptionList(id="found")
            yield Label(id="count", markup=False)

    def search(self, text: str) -> Iterable[Text]:
        words = text.lower().split()
        fits = [index for index, label in enumerate(self._labels) if all(word in label.lower() for word in words)]
        self._found = fits[:_SHOWN]
        more = f", the first {_SHOWN} are shown" if len(fits) > _SHOWN else ""
        summary = f"{len(fits):,} of {len(self._labels):,}{more}; typing narrows, up/down move, enter select, esc close"
        self.query_one("#count", Label).update(Text(summary, style="dim"))
        return [Text(self._labels[index], no_wrap=True) for index in self._found]

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        index = self.query_one(PlainOptionList).highlighted
        if index is not None and index < len(self._found):
            self.dismiss(self._found[index])

    @on(PlainOptionList.OptionSelected)
    def _chosen(self, event: PlainOptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])
