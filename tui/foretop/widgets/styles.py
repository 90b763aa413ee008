"""The styles of the core's tones: the sixteen colours of the terminal, and signs without them."""

from __future__ import annotations

from rich.style import Style

from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone

PLAIN = Style()
BOLD = Style(bold=True)
DIM = Style(dim=True)
CURSOR = Style(reverse=True)
RAISED = Style(bgcolor="bright_black")
"""The row under the cursor where a theme has a colour for it, so that the colours in it stay."""
BORDER = Style(color="bright_black")
FAINT = Style(color="color(8)")
"""Tracks of bars: the terminal's colour of borders, which a theme tells from it."""
FLASH = Style(bold=True, underline=True)
"""Not reversed: that is the cursor."""
HEAD = Style(bold=True, dim=True)

_STYLES = {
    Tone.PLAIN: PLAIN,
    Tone.DIM: DIM,
    Tone.BRIGHT: BOLD,
    Tone.FAINT: FAINT,
    Tone.GOOD: Style(color="green"),
    Tone.RUNNING: Style(color="cyan"),
    Tone.WAITING: Style(color="blue", bold=True),
    Tone.PAUSED: Style(color="magenta"),
    Tone.WARN: Style(color="yellow"),
    Tone.BAD: Style(color="red", bold=True),
}


def style_of(tone: Tone) -> Style:
    return _STYLES[tone]


def style_of_mark(mark: StatusGlyph) -> Style:
    return _STYLES[mark.tone]
