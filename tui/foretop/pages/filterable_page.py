"""A page with a filter field."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

from textual import on
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Input, Label

from foretop.bindings import Handler, KeyHints
from foretop.pages.page import Page
from foretop.widgets.line_widgets import StyledLine
from foretop.widgets.paragraphs import span
from foretop.widgets.prompt import NARROWING, Prompt
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import width

NEXT_LETTER = 0.15
"""Seconds that the next letter is waited for before many rows are narrowed: a word is narrowed to once."""


def filter_line(placeholder: str) -> Horizontal:
    field = Prompt(placeholder=placeholder, id="filter")
    return Horizontal(Label("/", markup=False), field, StyledLine(id="unfit"), classes="filter")


class FilterablePage(Page):
    """The base of pages with a filter; the page decides what fits."""

    _is_other_filter = False
    """Something was typed since the field was opened."""
    _typing: Timer | None = None
    """Set while what was typed is not narrowed to yet."""

    @property
    def narrows_slowly(self) -> bool:
        """True if there are so many rows that keys would wait while a letter is narrowed to."""
        return False

    @abstractmethod
    def narrow_to(self, text: str) -> None:
        """Shows what fits."""

    @abstractmethod
    def take_keys(self) -> None:
        """At once: a key that follows on the heels of this one belongs to the rows already."""

    @abstractmethod
    def to_first(self) -> None:
        """The cursor goes to the first row that fits."""

    @abstractmethod
    def move(self, by: int) -> None:
        """The cursor goes to another row."""

    @property
    def prompt(self) -> Prompt:
        return self.query_one("#filter", Prompt)

    def say_unfit(self, why: str) -> None:
        """Beside what is typed: why it cannot be used, or nothing."""
        unfit = self.query_one("#unfit", StyledLine)
        unfit.styles.width = min(width(why) + 1, self.size.width // 2) if why else 0
        unfit.show([span(why, Tone.BAD)])

    def ways_of_typing(self) -> KeyHints:
        return NARROWING if self.prompt.has_focus else ()

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "filter": self.do_filter,
        }

    def do_filter(self) -> None:
        self.add_class("-filtering")
        self._is_other_filter = False
        self.screen.set_focus(self.prompt, scroll_visible=False)

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._is_other_filter = True
        self._end_typing()
        if self.narrows_slowly:
            self._typing = self.set_timer(NEXT_LETTER, self._narrow_to_typed)
        else:
            self.narrow_to(event.value)

    def _narrow_to_typed(self) -> None:
        """Narrows to the text of the field now, where that was left for the next letter."""
        if self._end_typing():
            self.narrow_to(self.prompt.value)

    def _end_typing(self) -> bool:
        timer, self._typing = self._typing, None
        if timer is not None:
            timer.stop()
        return timer is not None

    @on(Input.Submitted, "#filter")
    def _kept(self, event: Input.Submitted) -> None:
        event.stop()
        self._narrow_to_typed()
        if not event.value:
            self.remove_class("-filtering")
        elif self._is_other_filter:
            # Rows may have moved since the last letter.
            self.to_first()
        self.take_keys()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        event.stop()
        self.go_back()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self._narrow_to_typed()
        self.take_keys()
        self.move(event.by)
