"""Text for panes and lines: spans with a tone, paragraphs with a label, folded to a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.style import Style

from foretop.widgets.styles import BOLD, PLAIN, style_of
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.cell_text import clean, width

LABEL = 9
_LEAST_LINES = 2


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line that looks the same throughout; the text is fit for a terminal."""

    text: str
    style: Style = PLAIN


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; the lines after the first stand under the text, not under the label."""

    spans: Line
    label: str = ""
    indent: int | None = None
    yields: bool = False
    """Gives up its middle where the others would not fit otherwise."""


def span(text: str, tone: Tone = Tone.PLAIN, *, bold: bool = False) -> Span:
    """Text from anywhere, made harmless."""
    style = style_of(tone)
    return Span(clean(text), style + BOLD if bold else style)


def paragraph(
    text: str, tone: Tone = Tone.PLAIN, *, label: str = "", bold: bool = False, yields: bool = False
) -> Paragraph:
    return Paragraph((span(text, tone, bold=bold),), label, yields=yields)


def wrap(paragraphs: Iterable[Paragraph], cells: int, lines: int | None = None) -> list[Line]:
    """The lines of the paragraphs in this width; those that yield are cut where there are more than `lines`."""
    parts = [(paragraph, _fold(paragraph, max(10, cells))) for paragraph in paragraphs]
    excess = 0 if lines is None else sum(len(folded) for _, folded in parts) - lines
    shown: list[Line] = []
    for paragraph, folded in parts:
        given = max(0, min(excess, len(folded) - _LEAST_LINES)) if paragraph.yields else 0
        excess -= given
        shown += _without_middle(folded, given) if given else folded
    return shown


def _without_middle(folded: list[Line], lines: int) -> list[Line]:
    """So many lines fewer: an error begins with what was tried and ends with the cause, so both are kept."""
    before = len(folded) - lines - 1
    return [*folded[: before - 1], (*folded[before - 1], Span(" …")), folded[-1]]


def _fold(paragraph: Paragraph, cells: int) -> list[Line]:
    indent = LABEL if paragraph.label else 0
    if paragraph.indent is not None:
        indent = paragraph.indent
    lines: list[list[Span]] = [[]]
    if paragraph.label:
        lines[0].append(Span(f"{paragraph.label:<{LABEL}}"[: max(LABEL, len(paragraph.label) + 1)], BOLD))
    used = sum(width(piece.text) for piece in lines[0])
    room = max(8, cells - indent)
    for text, style in _words(paragraph.spans):
        word, size = text, width(text)
        blank = word.isspace()
        if used + size > indent + room and not blank:
            if used > indent:
                lines.append([Span(" " * indent)] if indent else [])
                used = indent
            *full, word = _pieces(word, room) if size > room else (word,)
            for piece in full:
                lines[-1].append(Span(piece, style))
                lines.append([Span(" " * indent)] if indent else [])
            size = width(word)
        if blank and used + size > indent + room:
            continue
        if blank and used == indent and len(lines) > 1:
            continue
        lines[-1].append(Span(word, style))
        used += size
    return [_joined(line) for line in lines]


def _words(spans: Sequence[Span]) -> Iterable[tuple[str, Style]]:
    """Words and the spaces between them, each with the style of its span."""
    for piece in spans:
        start, text = 0, piece.text
        for at in range(1, len(text) + 1):
            if at == len(text) or (text[at] == " ") != (text[at - 1] == " "):
                yield text[start:at], piece.style
                start = at


def _pieces(word: str, cells: int) -> list[str]:
    """A word in pieces of at most so many cells, in one pass; a letter that is wider stands alone."""
    pieces: list[str] = []
    start = taken = 0
    for at, letter in enumerate(word):
        size = width(letter)
        if taken + size > cells and at > start:
            pieces.append(word[start:at])
            start, taken = at, 0
        taken += size
    return [*pieces, word[start:]]


def _joined(pieces: Sequence[Span]) -> Line:
    """Neighbours of one style become one span: fewer codes for the terminal."""
    merged: list[Span] = []
    for piece in pieces:
        if merged and merged[-1].style == piece.style:
            merged[-1] = Span(merged[-1].text + piece.text, piece.style)
        else:
            merged.append(piece)
    return tuple(merged)
