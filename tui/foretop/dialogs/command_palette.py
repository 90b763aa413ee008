"""The command palette: views by name, and every action that works now."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Label

from foretop.dialogs.search_modal import SearchModal
from foretop.widgets.prompt import PlainOptionList, Prompt
from foretop_core.errors import nearest
from foretop_core.tables.text.terminal_text import cut_end, unsigned, width

_EDGES = 8
"""Cells of the window beside a line: border, padding and scroll bar."""
_NEAREST = 3
"""Commands that are offered for a text that begins them all."""
_NAME, _SHOWN = 22, 12
"""Cells of the names and of the key, each with the space after it."""


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

    def __init__(self, entries: Sequence[PaletteEntry]) -> None:
        super().__init__()
        self._entries = entries
        self._found: list[PaletteEntry] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            with Horizontal(classes="prompt"):
                yield Label(":", markup=False)
                yield Prompt(placeholder="schedules  nab  queue  storage  ns team-a  q", id="command")
            yield PlainOptionList(id="found")

    def search(self, text: str) -> Iterable[Text]:
        self._found = matching(self._entries, text)
        cells = self.window_cells - _EDGES
        return [_line(entry, cells) for entry in self._found]

    def show_found(self, lines: Iterable[Text]) -> None:
        """The first line is under the cursor only where enter may run it; arrows put the cursor on any."""
        super().show_found(lines)
        typed = self.query_one(Prompt).value
        if typed.strip() and not is_command(self._entries, typed):
            self.query_one(PlainOptionList).highlighted = None

    def on_resize(self) -> None:
        self.show_found(self.search(self.query_one(Prompt).value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        verb, _, word = typed.partition(" ")
        wants = next((entry for entry in self._entries if f"{verb} " in entry.names), None)
        if wants is not None:
            self.dismiss(f"{wants.command} {word.strip()}")
            return
        index = self.query_one(PlainOptionList).highlighted
        if index is not None and index < len(self._found):
            self._choose(self._found[index])
        elif typed:
            self.dismiss(f"unknown {typed}")

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
    """Names that begin so first, then those with each word in names or title; the command of a word that is typed."""
    typed = text.strip().lower()
    if not typed:
        return list(entries)
    verb, space, _ = text.lstrip().lower().partition(" ")
    if space and (taking := [entry for entry in entries if f"{verb} " in entry.names]):
        return taking
    searched = ((entry, " ".join((*entry.names, entry.title.lower()))) for entry in entries)
    has = [entry for entry, words in searched if all(word in words for word in typed.split())]
    return list(dict.fromkeys([*_meant(entries, typed), *_beginning(entries, typed), *has]))


def is_command(entries: Sequence[PaletteEntry], text: str) -> bool:
    """True where it is plain what is meant; a guess is offered and not run."""
    typed = text.strip().lower()
    verb = typed.partition(" ")[0]
    return any(f"{verb} " in entry.names for entry in entries) or bool(_meant(entries, typed))


def _meant(entries: Sequence[PaletteEntry], wanted: str) -> list[PaletteEntry]:
    """The entry of that name, else the only one whose name begins so, else the only page: `:back` is Backups."""
    named = [entry for entry in entries if any(name.strip() == wanted for name in entry.names)]
    begun = _beginning(entries, wanted)
    pages = [entry for entry in begun if entry.command.startswith("go ")]
    return named or next((palette_entries for palette_entries in (begun, pages) if len(palette_entries) == 1), [])


def unknown_command(entries: Sequence[PaletteEntry], text: str) -> str:
    """One line about a text that is no command, with those that are nearest."""
    typed = text.strip().lower()
    begun = [
        next(name for name in palette_entry.names if name.startswith(typed))
        for palette_entry in _beginning(entries, typed)
    ]
    close = f"; did you mean {' or '.join(begun[:_NEAREST])}?" if begun else ""
    close = close or nearest(typed, (name.strip() for entry in entries for name in entry.names))
    if not close and (palette_entries := matching(entries, typed)):
        close = f"; did you mean {palette_entries[0].names[0].strip()}?"
    return f"Unknown command {text!r}{close}"


def _beginning(entries: Sequence[PaletteEntry], wanted: str) -> list[PaletteEntry]:
    return [entry for entry in entries if any(name.startswith(wanted) for name in entry.names)]


def _line(entry: PaletteEntry, cells: int) -> Text:
    """Name, key and what it is, each in its column; what is long goes on below."""
    key = entry.shown or ("" if entry.works else "not here")
    folded = textwrap.wrap(unsigned(entry.title), max(20, cells - _NAME - _SHOWN)) or [""]
    line = Text(no_wrap=True)
    line.append(f"{_names(entry):<{_NAME}}", style="bold")
    line.append(f"{cut_end(key, _SHOWN - 1):<{_SHOWN}}", style="dim")
    line.append(f"\n{' ' * (_NAME + _SHOWN)}".join(folded))
    return line


def _names(entry: PaletteEntry) -> str:
    """As many of its names as there is room for, the first one in any case."""
    text, *others = (name.strip() for name in entry.names)
    for name in others:
        if width(text) + 1 + width(name) < _NAME:
            text = f"{text} {name}"
    return cut_end(text, _NAME - 1)
