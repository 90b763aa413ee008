"""A field above a list: what is typed narrows the list, arrows move in it without leaving the field."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TypeVar

from rich.text import Text
from textual import on
from textual.widgets import Input
from textual.widgets.option_list import Option

from foretop.dialogs.base_modal import BaseModal
from foretop.widgets.option_list import PlainOptionList
from foretop.widgets.prompt import Prompt

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
        found = self.query_one(PlainOptionList)
        found.clear_options()
        found.add_options(Option(line) for line in lines)
        if found.option_count:
            found.highlighted = 0

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
        found = self.query_one(PlainOptionList)
        if event.by > 0:
            found.action_cursor_down()
        else:
            found.action_cursor_up()
