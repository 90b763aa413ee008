"""A picker for many choices: type to filter, arrows and enter to select."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label

from foretop.dialogs.search_modal import SearchModal
from foretop.widgets.option_list import PlainOptionList
from foretop.widgets.prompt import Prompt
from foretop_core.tables.text.terminal_text import clean

_SHOWN = 200
"""More than this are not looked through by eye; typing narrows them."""


class SearchPicker(SearchModal[int]):
    """A searchable list; the answer is the index of the chosen entry."""

    def __init__(self, title: str, labels: Sequence[str], ascii: bool) -> None:
        super().__init__(ascii)
        self._title = title
        self._labels = [clean(label) for label in labels]
        self._found: list[int] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield Label(Text(clean(self._title), style="bold"))
            with Horizontal(classes="prompt"):
                yield Label("/", markup=False)
                yield Prompt(placeholder="type to narrow", id="wanted")
            yield PlainOptionList(id="found")
            yield Label(id="count", markup=False)

    def search(self, text: str) -> Iterable[Text]:
        wanted = text.lower().split()
        fits = [at for at, label in enumerate(self._labels) if all(word in label.lower() for word in wanted)]
        self._found = fits[:_SHOWN]
        more = f", the first {_SHOWN} are shown" if len(fits) > _SHOWN else ""
        said = f"{len(fits):,} of {len(self._labels):,}{more}; enter select, esc close"
        self.query_one("#count", Label).update(Text(said, style="dim"))
        return [Text(self._labels[at], no_wrap=True) for at in self._found]

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        at = self.query_one(PlainOptionList).highlighted
        if at is not None and at < len(self._found):
            self.dismiss(self._found[at])

    @on(PlainOptionList.OptionSelected)
    def _chosen(self, event: PlainOptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])
