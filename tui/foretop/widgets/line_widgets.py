"""Lines of spans, repainted only where they differ from what is on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.paragraphs import Line, Paragraph, Span, wrap
from foretop.widgets.styles import BOLD, BORDER, CURSOR, DIM, PLAIN
from foretop_core.tables.text.terminal_text import cut, cut_end, width

_LEAST_NAME = 12
"""Cells of a name in the line of a frame, before what stands behind it is cut."""


def strip_of(line: Line, cells: int) -> Strip:
    return Strip([Segment(piece.text, piece.style) for piece in line]).adjust_cell_length(cells, PLAIN)


def changed_cells(before: Line, after: Line) -> tuple[int, int]:
    """From which cell to before which two lines differ."""
    start = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        start += width(new.text)
    return start, max(line_width(before), line_width(after))


def line_width(line: Line) -> int:
    return sum(width(piece.text) for piece in line)


def key_line(hints: Sequence[tuple[str, str]], cells: int, kept: str = "") -> Line:
    """As many keys as there is room for, the important ones first; a key that is kept gives way to none."""
    pieces: list[Span] = [Span(" ")]
    # The spaces behind the last one need no room.
    free = cells + 1 - sum(_hint_width(*hint) for hint in hints if hint[0] == kept)
    for key, word in hints:
        if key != kept:
            if _hint_width(key, word) > free:
                continue
            free -= _hint_width(key, word)
        pieces += [Span(key, BOLD), Span(f" {word}  ", DIM)]
    return tuple(pieces)


def _hint_width(key: str, word: str) -> int:
    return width(key) + width(word) + 3


def key_at(line: Line, x: int) -> str:
    """The key of a line of `key_line` that stands at this cell, with its word; "" where none does."""
    index = width(line[0].text) if line else 0
    for key, word in zip(line[1::2], line[2::2], strict=True):
        stop = index + width(key.text) + width(word.text.rstrip())
        if index <= x < stop:
            return key.text
        index += width(key.text) + width(word.text)
    return ""


def explanation_strip(lines: Sequence[Line], y: int, size: Size) -> Strip:
    """The text in place of rows, in the upper third of the page, each thing folded under itself."""
    folded = [part for line in lines for part in wrap([Paragraph(line, indent=2)], size.width - 4)]
    index = y - max(1, (size.height - len(folded)) // 3)
    return strip_of((Span("  "), *_at(folded, index)), size.width)


def highlighted(line: Line, wanted: str) -> Line:
    """The line with every place of the text, given in lower case, lit."""
    text = "".join(piece.text for piece in line)
    folded = text.casefold()
    if not wanted or wanted not in folded or len(folded) != len(text):
        return line
    lit: set[int] = set()
    start = folded.find(wanted)
    while start >= 0:
        lit.update(range(start, start + len(wanted)))
        start = folded.find(wanted, start + len(wanted))
    pieces: list[Span] = []
    index = 0
    for piece in line:
        for is_lit, letters in groupby(range(index, index + len(piece.text)), lit.__contains__):
            part = "".join(text[place] for place in letters)
            pieces.append(Span(part, CURSOR if is_lit else piece.style))
        index += len(piece.text)
    return tuple(pieces)


class StyledLine(Widget):
    """A line of the frame: status, tabs, rule or keys."""

    DEFAULT_CSS = "StyledLine { height: 1; width: 1fr; }"

    class Clicked(Message):
        """The mouse was pressed on one of its cells."""

        def __init__(self, line: StyledLine, x: int) -> None:
            super().__init__()
            self.line = line
            self.x = x

        @property
        def control(self) -> StyledLine:
            return self.line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line: Line = ()

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Clicked(self, event.x))

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self._line)

    def show(self, line: Iterable[Span]) -> None:
        before, self._line = self._line, tuple(line)
        if before != self._line:
            start, stop = changed_cells(before, self._line)
            self.refresh(Region(start, 0, max(1, stop - start), 1))

    def render_line(self, y: int) -> Strip:
        return strip_of(self._line, self.size.width) if y == 0 else Strip.blank(self.size.width, PLAIN)


class Divider(StyledLine):
    """A horizontal line, with words in it where there are some."""

    def render_line(self, y: int) -> Strip:
        words = self._line
        rest = max(0, self.size.width - line_width(words))
        return strip_of((*words, Span("─" * rest, BORDER)), self.size.width)


class FrameLine(Widget):
    """The top or bottom of a frame, or a rule without one: a text at the left and another at the right.

    Textual's own border has one title for a side. Where there is no room for both texts, the left one is cut: its
    first piece, which is a name, so that the state behind it stays.
    """

    DEFAULT_CSS = "FrameLine { height: 1; width: 1fr; }"

    def __init__(self, corners: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._corners = corners
        self._shown: tuple[Line, Line, bool, bool] = ((), (), False, False)

    @property
    def text(self) -> str:
        return _text((*self._shown[0], *self._shown[1]))

    def show(self, left: Line, right: Line, *, framed: bool, focused: bool) -> None:
        shown = (left, right, framed, focused)
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def edge_style(self, focused: bool) -> Style:
        return PLAIN if focused else BORDER

    def render_line(self, y: int) -> Strip:
        spans, right, framed, focused = self._shown
        line = self.edge_style(focused)
        first, last = (f"{self._corners[0]}─", f"─{self._corners[1]}") if framed else ("─", "─")
        spaced = [(Span(" "), *words, Span(" ")) if words else () for words in (spans, right)]
        room = self.size.width - len(first) - len(last)
        ending = spaced[1] if line_width(spaced[1]) <= room else ()
        beginning, left_room = spaced[0], room - line_width(ending)
        if (beyond := line_width(beginning) - left_room) > 0:
            space, name, *rest = beginning
            named = Span(cut(name.text, max(_LEAST_NAME, width(name.text) - beyond)), name.style)
            beginning = cut_line((space, named, *rest), left_room)
        rule = "─" * (room - line_width(beginning) - line_width(ending))
        pieces = (Span(first, line), *beginning, Span(rule, line), *ending, Span(last, line))
        return strip_of(pieces, self.size.width)


def cut_line(line: Line, cells: int) -> Line:
    """As much of the line as there is room for, with an ellipsis where something is missing."""
    if line_width(line) <= cells:
        return line
    kept: list[Span] = []
    room = cells
    for piece in line:
        if width(piece.text) >= room:
            kept.append(Span(cut_end(piece.text, max(0, room)), piece.style))
            break
        kept.append(piece)
        room -= width(piece.text)
    return tuple(kept)


class TextPane(Widget):
    """Paragraphs folded to the width; scrolls by lines where they do not fit.

    One that is not to show them `whole` cuts those that yield, until it is scrolled. In the place of its last line
    `more_key` says with which key one reads on; without one an arrow tells that there is more.
    """

    DEFAULT_CSS = "TextPane { width: 1fr; height: 1fr; }"

    def __init__(
        self,
        *,
        whole: bool = True,
        more_key: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._whole = whole
        self._more_key = more_key
        self._paragraphs: tuple[Paragraph, ...] = ()
        self._lines: list[Line] = []
        self._wanted = ""
        self.top = 0

    def search(self, text: str, *, onwards: bool = False) -> None:
        """Lights the text and goes to its first place at or after the top line; `onwards`, to the next one below."""
        self._wanted = text.casefold()
        hits = [row for row, line in enumerate(self._lines) if self._wanted and self._wanted in _text(line).casefold()]
        if hits:
            below = (row for row in hits if row >= self.top + onwards)
            index = next(below, hits[0])
            is_at_end = onwards and self.top >= len(self._lines) - self.size.height
            self.scroll_lines((hits[0] if is_at_end else index) - self.top)
        self.refresh()

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        return self._paragraphs

    @property
    def text(self) -> str:
        return "\n".join(map(_text, self._lines))

    def lines_wanted(self, cells: int) -> int:
        """How many lines would show all of it in this width."""
        return len(wrap(self._paragraphs, cells - 2))

    def show(self, paragraphs: Sequence[Paragraph], *, keep_place: bool = True) -> None:
        shown = tuple(paragraphs)
        if not keep_place and self.top:
            self.top = 0
            self.refresh()
        # A page that was hidden gets its size without being told of it.
        if shown != self._paragraphs or self.size != self._folded_for:
            self._paragraphs = shown
            self._arrange()

    _folded_for = Size()

    def scroll_lines(self, by: int) -> None:
        if not self._whole and by > 0 and not self.top:
            whole = wrap(self._paragraphs, self.size.width - 2)
            # What fits stays as it is, in its groups.
            self._lines = whole if len(whole) > self.size.height else self._lines
        top = max(0, min(self.top + by, len(self._lines) - self.size.height))
        if top != self.top:
            self.top = top
            self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def _arrange(self) -> None:
        """While it has no place on the screen it is not folded: the lines stay those that were painted last."""
        if not self.size.width:
            return
        self._folded_for = self.size
        lines = None if self._whole or self.top or self.has_focus else self.size.height
        before, self._lines = self._lines, wrap(self._paragraphs, self.size.width - 2, lines, self._more_key)
        top, self.top = self.top, max(0, min(self.top, len(self._lines) - self.size.height))
        for y in range(self.size.height):
            old, new = _at(before, top + y), _at(self._lines, self.top + y)
            is_last = y == self.size.height - 1
            if old != new or (is_last and self._goes_on(before, top) != self._goes_on(self._lines, self.top)):
                self.refresh(Region(0, y, self.size.width, 1))

    @property
    def has_more(self) -> bool:
        """True if there is more below what is in sight."""
        return self._goes_on(self._lines, self.top)

    def _goes_on(self, lines: Sequence[Line], top: int) -> bool:
        """True if there is more below."""
        return len(lines) > top + self.size.height

    def render_line(self, y: int) -> Strip:
        line = highlighted(_at(self._lines, self.top + y), self._wanted)
        more = y == self.size.height - 1 and self._goes_on(self._lines, self.top)
        strip = strip_of((Span(" "), *line), self.size.width)
        if not more:
            return strip
        if self._more_key:
            unseen = len(self._lines) - self.top - self.size.height + 1
            key = "" if self.has_focus else f", {self._more_key}"
            return strip_of((Span(f" … {unseen} more{key}", DIM),), self.size.width)
        sign = strip_of((Span("↓"),), 1)
        return Strip.join([strip.crop(0, self.size.width - 1), sign])


class ReadablePane(TextPane, can_focus=True):
    """The pane beside or below a table: the focus goes into it to read what does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._arrange()

    def action_scroll(self, by: int) -> None:
        self.scroll_lines(by)

    def action_page(self, by: int) -> None:
        self.scroll_lines(by * max(1, self.size.height - 1))

    def action_edge(self, by: int) -> None:
        self.scroll_lines(by * len(self._lines))

    def on_mouse_scroll_down(self) -> None:
        self.scroll_lines(3)

    def on_mouse_scroll_up(self) -> None:
        self.scroll_lines(-3)


def _text(line: Line) -> str:
    return "".join(piece.text for piece in line)


def _at(lines: Sequence[Line], place: int) -> Line:
    return lines[place] if 0 <= place < len(lines) else ()
