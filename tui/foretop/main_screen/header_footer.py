"""The texts of header and footer that need no data: tabs, hint and keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.style import Style

from foretop.pages.tabs import Tab
from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import BOLD, CURSOR, DIM, PLAIN
from foretop_core.errors import ForetopError
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.text.cell_text import cut, width

CONNECTING: Line = (Span(" foretop", BOLD), Span("   connecting"))


def cannot_start(trouble: ForetopError, cells: int) -> Line:
    """What keeps foretop from a cluster; the page below has it whole."""
    mark = StatusGlyph.LOOK
    said = span(f"{mark.value} {trouble.what}", mark.tone)
    return (Span(" foretop   ", BOLD), Span(cut(said.text, max(10, cells - 12)), said.style))


def tabs(pages: Sequence[Tab], current: str, cells: int) -> Line:
    """The tabs; close together at 80 columns."""
    long = sum(len(tab.short) + 4 for tab in pages) < cells
    pieces: list[Span] = [Span(" ")]
    for tab in pages:
        style = CURSOR + BOLD if tab.id == current else PLAIN
        pieces += [Span(f"{tab.digit}", style + BOLD), Span(f"{' ' if long else ''}{tab.short}", style)]
        pieces.append(Span("  " if long else " "))
    return tuple(pieces)


def footer(ways: Iterable[tuple[str, str]], cells: int) -> Line:
    """As many keys as there is room for, the important ones first."""
    pieces: list[Span] = [Span(" ")]
    used = 1
    for key, word in ways:
        size = width(key) + width(word) + 3
        if used + size > cells:
            continue
        pieces += [Span(key, BOLD), Span(f" {word}  ", DIM)]
        used += size
    return tuple(pieces)


def hint(text: str, style: Style = PLAIN) -> Line:
    return (Span("─ "), Span(f"{text} ", style)) if text else ()
