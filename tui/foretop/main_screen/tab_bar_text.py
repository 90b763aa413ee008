"""The texts of header and footer that need no data: tabs and hint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.style import Style

from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Line, Span, signed, span
from foretop.widgets.styles import BOLD, CURSOR, PLAIN
from foretop_core.errors import ForetopError
from foretop_core.pages import PageRecord
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.text.terminal_text import cut, cut_end, pad, width

_NOTICE_EDGE = 1
"""Cells on either side of a message, as the style sheet has them."""
_BESIDE, _ROOMY = 9, 80
"""Cells for a page that has no tab, and from how many columns on they are kept free."""
CONNECTING: Line = (Span(" foretop", BOLD), Span("   connecting"))


def cannot_start(trouble: ForetopError, cells: int) -> Line:
    """The problem that keeps foretop from a cluster; the page below has it whole."""
    mark = StatusGlyph.LOOK
    message = signed(f"{mark.value} {span(trouble.what).text}", mark.tone)
    return (Span(" foretop   ", BOLD), Span(cut_end(message.text, max(10, cells - 12)), message.style))


@lru_cache(maxsize=64)
def tabs(pages: tuple[PageRecord, ...], current: str, cells: int, beside: PageRecord | None = None) -> Line:
    """The tabs, by their full names where there is room; at the least the digits and the name of the current one.

    A page that has no tab is `beside` them while it is shown; room for its short name is always left, so that no tab
    moves when it comes.
    """
    own = _fitting(pages, current, cells - _BESIDE if cells >= _ROOMY else cells)
    if beside is None:
        return own
    for gap, name in (("  ", beside.name), (" ", beside.name), (" ", beside.short)):
        last = (Span(gap), Span(f":{name}", CURSOR + BOLD))
        if line_width(own) + line_width(last) <= cells:
            return (*own, *last)
    return (*_fitting(pages, current, cells - line_width(last)), *last)


def _fitting(pages: tuple[PageRecord, ...], current: str, cells: int) -> Line:
    full, short = [tab.name for tab in pages], [tab.short for tab in pages]
    shortest = [tab.shortest or tab.short for tab in pages]
    alone = [tab.short if tab.id == current else "" for tab in pages]
    layouts = (
        *((full, " ", "  "), (full, "", "  "), (full, "", " "), (short, " ", "  "), (short, "", " ")),
        (shortest, "", " "),
    )
    for names, between, after in layouts:
        line = _tabs(pages, names, current, between, after)
        if line_width(line) <= cells:
            return line
    return _tabs(pages, alone, current, "", " ")


def _tabs(pages: Sequence[PageRecord], names: Sequence[str], current: str, between: str, after: str) -> Line:
    pieces: list[Span] = []
    for tab, name in zip(pages, names, strict=True):
        style = CURSOR + BOLD if tab.id == current else PLAIN
        pieces += [Span(after if pieces else " "), Span(f"{tab.digit}", style + BOLD)]
        pieces.append(Span(f"{between}{name}" if name else "", style))
    return tuple(pieces)


def tab_at(line: Line, pages: Sequence[PageRecord], x: int) -> str:
    """The page whose tab stands at this cell of `tabs`; "" where none does."""
    begin = 0
    own = line[: 3 * len(pages)]
    for tab, gap, digit, name in zip(pages, own[::3], own[1::3], own[2::3], strict=True):
        begin += width(gap.text)
        stop = begin + width(digit.text) + width(name.text)
        if begin <= x < stop:
            return tab.id
        begin = stop
    return ""


def notice(text: str, cells: int, taken: int, key: str) -> str:
    """A message in the line of the hint: beside it, or over all of it where it is long, so that no word is half seen.

    Of one that is too long the middle goes, for its end tells what became of something; the key shows it whole.
    """
    room = cells - 2 * _NOTICE_EDGE
    if width(text) <= room - taken - 1:
        return text
    if width(text) > room:
        more = f" ({key} shows all)"
        text = f"{cut(text, room - width(more))}{more}"
    return pad(text, room)


def hint(text: str, cells: int, style: Style = PLAIN) -> Line:
    return (Span("─ "), Span(f"{cut_end(text, cells - 4)} ", style)) if text else ()
