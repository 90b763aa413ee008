"""Many lines of text: only those on the screen are drawn, what is searched for is lit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.line_widgets import highlighted, strip_of
from foretop.widgets.paragraphs import Line, Span
from foretop.widgets.styles import PLAIN, style_of
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.cell_text import clean

_SIDEWAYS = 20
_LEVELS = (("level=error", Tone.BAD), ("level=fatal", Tone.BAD), ("level=warn", Tone.WARN))


class LogLines(Widget, can_focus=True):
    """A view of many lines that scrolls by lines and sideways; a search goes from match to match."""

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

    def __init__(self, ascii: bool) -> None:
        super().__init__()
        self.lines: Sequence[str] = ()
        self.top = 0
        self.matches: list[int] = []
        self._wanted = ""
        self._aside = 0
        self._ascii = ascii

    def show(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.action_by(0)
        self.refresh()

    def search(self, text: str) -> None:
        """Lights the text and goes to its first place at or after the top line."""
        self._wanted = text.casefold()
        self.matches = [at for at, line in enumerate(self.lines) if self._wanted and self._wanted in line.casefold()]
        if self.matches:
            self._go_to(next((at for at in self.matches if at >= self.top), self.matches[0]))
        self.refresh()
        self.post_message(self.Moved())

    def next_match(self, by: int) -> None:
        if not self.matches:
            return
        later = [at for at in self.matches if at > self.top]
        earlier = [at for at in self.matches if at < self.top]
        if by > 0:
            self._go_to(later[0] if later and self._can_rise(later[0]) else self.matches[0])
        else:
            self._go_to(earlier[-1] if earlier else self.matches[-1])

    def _can_rise(self, at: int) -> bool:
        return at <= self._last or self.top < self._last

    @property
    def _last(self) -> int:
        return max(0, len(self.lines) - self.size.height)

    def action_by(self, by: int) -> None:
        self._go_to(self.top + by)

    def action_page(self, by: int) -> None:
        self._go_to(self.top + by * max(1, self.size.height - 1))

    def action_aside(self, by: int) -> None:
        self._aside = max(0, self._aside + by)
        self.refresh()

    def _go_to(self, top: int) -> None:
        self.top = max(0, min(top, self._last))
        self.refresh()
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        place = self.top + y
        if place >= len(self.lines):
            return Strip.blank(self.size.width, PLAIN)
        text = clean(self.lines[place])[self._aside :]
        return strip_of(self._lit(text, self.lines[place]), self.size.width, self._ascii)

    def _lit(self, text: str, whole: str) -> Line:
        tone = next((tone for word, tone in _LEVELS if word in whole), Tone.PLAIN)
        style = style_of(tone)
        return highlighted((Span(text, style),), self._wanted)
