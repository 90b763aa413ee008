"""Many lines of text: only those on the screen are drawn, levels have a sign and a colour, matches are highlighted."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.line_widgets import highlighted, strip_of
from foretop.widgets.paragraphs import Line, Span
from foretop.widgets.styles import CURSOR, PLAIN, style_of
from foretop_core.actions.run_logs import LogLevel
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import LONGEST, fold, plain_rows, unsigned

_SIDEWAYS = 20
_MARGIN = 2
"""Cells before the text: the sign of the level."""
_NARROW, _MOST_WRAPPED_UNASKED = 100, 20_000
"""Columns and lines of a log that is wrapped when it is opened."""
_MOST_MEASURED = 100_000
"""Characters that are not plain: to measure them takes a hundred times as long."""
_SIGNS = {LogLevel.ERROR: StatusGlyph.BROKEN, LogLevel.WARNING: StatusGlyph.LOOK}


class LogLines(Widget, can_focus=True):
    """A view of many lines that scrolls by rows and sideways, and goes from match to match and from error to error.

    A long line is one row, or with wrap as many as it needs.
    """

    DEFAULT_CSS = "LogLines { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,enter", "by(1)", show=False),
        Binding("up,k", "by(-1)", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("home,g", "by(-100000000)", show=False),
        Binding("end,G", "by(100000000)", show=False),
        Binding("right", f"aside({_SIDEWAYS})", show=False),
        Binding("left", f"aside(-{_SIDEWAYS})", show=False),
    ]

    class Moved(Message):
        """Other lines are visible."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[str] = ()
        self.top = 0
        """The row at the upper edge."""
        self.matches: Sequence[int] = ()
        """The visible lines that have the searched text, by their place in `lines`."""
        self.errors: Sequence[int] = ()
        self.errors_only = False
        self.wraps = False
        self.current: int | None = None
        """The line that the last jump went to."""
        self._levels: Sequence[LogLevel] = ()
        self._visible: Sequence[int] = ()
        self._starts: Sequence[int] = (0,)
        """With wrap, the first row of each visible line, and at the end the number of rows."""
        self._wanted = ""
        self._aside = 0
        self._opening: Callable[[], None] | None = None

    def show(self, lines: Sequence[str], levels: Sequence[LogLevel] = ()) -> None:
        """Lines with their levels; those of lines that come without are OTHER."""
        self.lines = lines
        self._levels = levels or [LogLevel.OTHER] * len(lines)
        self.errors = array("I", (index for index, level in enumerate(self._levels) if level is LogLevel.ERROR))
        self.current = None
        self._arrange()
        self.action_by(0)

    # Rows

    @property
    def rows(self) -> int:
        return self._starts[-1] if self.wraps else len(self._visible)

    @property
    def last_visible(self) -> int:
        """The number of the last line on the screen, among those that are not filtered out."""
        if not self._visible:
            return 0
        return self._place(min(self.rows, self.top + max(1, self.size.height)) - 1) + 1

    @property
    def visible_count(self) -> int:
        return len(self._visible)

    def _arrange(self) -> None:
        """Work out which lines are visible, and how many rows each takes."""
        self._visible = self.errors if self.errors_only else range(len(self.lines))
        if self.wraps:
            self._starts = array("Q", accumulate(self._row_counts(), initial=0))
        self._find_matches()

    def _row_counts(self) -> Iterator[int]:
        """How many rows each line takes; beyond what can be measured in a moment, odd lines are one row and cut."""
        cells, measured = self._cells, 0
        for _, line in self._visible_lines():
            if len(line) <= LONGEST and line.isascii() and line.isprintable():
                yield plain_rows(line, cells)
                continue
            measured += min(len(line), LONGEST)
            yield len(fold(unsigned(line), cells)) if measured <= _MOST_MEASURED else 1

    def _find_matches(self) -> None:
        text = self._wanted
        self.matches = array(
            "I", (index for index, line in self._visible_lines() if text in line.casefold()) if text else ()
        )

    def _visible_lines(self) -> Iterable[tuple[int, str]]:
        """All at once where all are visible: to take one by one out of a long log takes five times as long."""
        return ((index, self.lines[index]) for index in self.errors) if self.errors_only else enumerate(self.lines)

    @property
    def _cells(self) -> int:
        return max(10, self.size.width - _MARGIN)

    def _place(self, row: int) -> int:
        """Which of the visible lines a row belongs to."""
        return bisect_right(self._starts, row) - 1 if self.wraps else row

    def _row(self, line: int) -> int:
        """The first row of a line, or of the next one that is visible."""
        place = bisect_left(self._visible, line)
        return self._starts[min(place, len(self._visible))] if self.wraps else place

    def _line(self, row: int) -> int | None:
        place = self._place(row)
        return self._visible[place] if 0 <= place < len(self._visible) else None

    def when_sized(self, opening: Callable[[], None]) -> None:
        """Calls it as soon as there is room for lines: before that nobody can say which of them are in sight."""
        if self.size.height:
            opening()
        else:
            self._opening = opening

    def on_resize(self, event: events.Resize) -> None:
        if self.wraps:
            self._rearrange(self._line(self.top))
        if self._opening is not None and self.size.height:
            opening, self._opening = self._opening, None
            opening()

    def _rearrange(self, first: int | None) -> None:
        """This line comes to the upper edge where it can."""
        self._arrange()
        self._go_to(self._row(first) if first is not None else 0)

    # What is shown

    def toggle_wrap(self) -> None:
        first = self._first_to_keep()
        self.wraps, self._aside = not self.wraps, 0
        self._rearrange(first)

    def wrap_if_narrow(self) -> None:
        """Wraps where the end of most lines, and so the text of an error, would be beyond the edge.

        Not a huge log: that would be measured before its first line is shown.
        """
        if not self.wraps and self.size.width < _NARROW and len(self._visible) <= _MOST_WRAPPED_UNASKED:
            self.toggle_wrap()

    def wrap_where_it_fits(self) -> None:
        """Wraps the lines where all of them have room then."""
        if not self.wraps and len(self._visible) <= self.size.height:
            self.toggle_wrap()
            if self.rows > self.size.height:
                self.toggle_wrap()

    def toggle_errors_only(self) -> None:
        """A few errors are shown whole: their messages are right of the edge."""
        first = self._first_to_keep()
        self.errors_only = not self.errors_only
        self._rearrange(first)
        if self.errors_only:
            self.wrap_where_it_fits()

    def _first_to_keep(self) -> int | None:
        """The line that is read: the one that was jumped to, while it is in sight, else the first."""
        return self.current if self._is_in_sight(self.current) else self._line(self.top)

    def search(self, text: str) -> None:
        """Highlights the text and goes to its first match at or after the top line."""
        self._wanted = text.casefold()
        self._find_matches()
        self.current = None
        self.next_match(1)
        self.refresh()
        self.post_message(self.Moved())

    def next_match(self, by: int) -> None:
        self._jump(self.matches, by)

    def next_error(self, by: int) -> None:
        self._jump(self.errors, by)

    def _jump(self, places: Sequence[int], by: int) -> None:
        """To the next or the previous of these lines, round and round."""
        if not places:
            return
        if self._is_in_sight(self.current) and self.current is not None:
            index = bisect_right(places, self.current) if by > 0 else bisect_left(places, self.current) - 1
        else:
            first = self._line(self.top) or 0
            index = bisect_left(places, first) - (by < 0)
        self.current = places[index % len(places)]
        row = self._row(self.current)
        if not self._is_in_sight(self.current) or row < self.top:
            self._go_to(row)
        self.refresh()
        self.post_message(self.Moved())

    def _is_in_sight(self, line: int | None) -> bool:
        return line is not None and self.top <= self._row(line) < self.top + max(1, self.size.height)

    # Scrolling

    def action_by(self, by: int) -> None:
        self._go_to(self.top + by)

    def to_end(self) -> None:
        self._go_to(self.rows)

    def action_page(self, by: int) -> None:
        self._go_to(self.top + by * max(1, self.size.height - 1))

    def action_aside(self, by: int) -> None:
        """Moves to the side; to the right also out of wrapped lines, which have nothing to their left."""
        if self.wraps and by > 0:
            self.toggle_wrap()
        if not self.wraps:
            self._aside = max(0, self._aside + by)
            self.refresh()

    def _go_to(self, top: int) -> None:
        self.top = max(0, min(top, self.rows - self.size.height))
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        row = self.top + y
        line = self._line(row) if row < self.rows else None
        if line is None:
            return Strip.blank(self.size.width, PLAIN)
        level = _SIGNS.get(self._levels[line])
        style = style_of(level.tone if level is not None else Tone.PLAIN)
        text = unsigned(self.lines[line])
        whole = highlighted((Span(text, style),), self._wanted)
        sign = level.value if level is not None else " "
        if self.wraps:
            nth = row - self._starts[self._place(row)]
            pieces = fold(text, self._cells)
            start = sum(map(len, pieces[:nth]))
            shown = _part(whole, start, start + len(pieces[nth]))
            sign = sign if nth == 0 else " "
        else:
            shown = _part(whole, self._aside, len(text))
        margin = (Span(sign, style + CURSOR if line == self.current else style), Span(" "))
        return strip_of((*margin, *shown), self.size.width)


def _part(line: Line, start: int, stop: int) -> Line:
    """The spans from one character to another."""
    pieces: list[Span] = []
    index = 0
    for piece in line:
        kept = piece.text[max(0, start - index) : max(0, stop - index)]
        index += len(piece.text)
        if kept:
            pieces.append(Span(kept, piece.style))
    return tuple(pieces)
