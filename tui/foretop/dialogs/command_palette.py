"""The command palette: views by name, and every action that works now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label

from foretop.dialogs.search_modal import SearchModal
from foretop.widgets.option_list import PlainOptionList
from foretop.widgets.prompt import Prompt
from foretop_core.tables.text.terminal_text import clean, cut_end

_LINE = 68
"""What fits into the window beside its border and scroll bar."""


class PaletteEntry(msgspec.Struct, frozen=True):
    """One command; of its `names`, one that ends with a space needs an argument."""

    command: str
    names: tuple[str, ...]
    title: str
    shown: str = ""
    works: bool = True
    """Whether it would do something here; otherwise it says why not."""


class CommandPalette(SearchModal[str]):
    """The palette; the answer is the command that was chosen, or typed with its argument."""

    def __init__(self, entries: Sequence[PaletteEntry], ascii: bool) -> None:
        super().__init__(ascii)
        self._entries = entries
        self._found: list[PaletteEntry] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            with Horizontal(classes="prompt"):
                yield Label(":", markup=False)
                yield Prompt(placeholder="schedules  nab  queue  backups  bsl  ns team-a  q", id="command")
            yield PlainOptionList(id="found")

    def search(self, text: str) -> Iterable[Text]:
        self._found = matching(self._entries, text)
        return [_line(entry) for entry in self._found]

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        verb, _, word = typed.partition(" ")
        wants = next((entry for entry in self._entries if f"{verb} " in entry.names), None)
        if wants is not None:
            self.dismiss(f"{wants.command} {word.strip()}")
            return
        at = self.query_one(PlainOptionList).highlighted
        if at is not None and at < len(self._found):
            self._choose(self._found[at])
        elif typed:
            self.dismiss(typed)

    @on(PlainOptionList.OptionSelected)
    def _chosen(self, event: PlainOptionList.OptionSelected) -> None:
        self._choose(self._found[event.option_index])

    def _choose(self, entry: PaletteEntry) -> None:
        if entry.names[0].endswith(" "):
            prompt = self.query_one(Prompt)
            prompt.value = entry.names[0]
            prompt.cursor_position = len(prompt.value)
            prompt.focus()
        else:
            self.dismiss(entry.command)


def matching(entries: Sequence[PaletteEntry], text: str) -> list[PaletteEntry]:
    """Names that begin so first, then names and titles that have it in them; the command of a word that is typed."""
    wanted = text.strip().lower()
    if not wanted:
        return list(entries)
    verb, space, _ = text.lstrip().lower().partition(" ")
    if space and (taking := [entry for entry in entries if f"{verb} " in entry.names]):
        return taking
    first = [entry for entry in entries if any(name.strip() == wanted for name in entry.names)]
    begins = [entry for entry in entries if any(name.startswith(wanted) for name in entry.names)]
    has = [entry for entry in entries if wanted in entry.title.lower() or any(wanted in n for n in entry.names)]
    return list(dict.fromkeys([*first, *begins, *has]))


def _line(entry: PaletteEntry) -> Text:
    key = f"  {entry.shown}" if entry.shown else "  not here" if not entry.works else ""
    line = Text(no_wrap=True)
    line.append(f"{cut_end(' '.join(name.strip() for name in entry.names[:3]), 21):<22} ", style="bold")
    line.append(cut_end(clean(entry.title), _LINE - 23 - len(key)))
    line.append(key, style="dim")
    return line
