"""Text for panes and lines: spans with a tone, paragraphs with a label, folded to a width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest

import msgspec
from msgspec.structs import replace
from rich.style import Style

from foretop.widgets.styles import BOLD, DIM, PLAIN, style_of
from foretop_core.foreign_text import without_signs
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import clean, cut_end, width

LABEL = 9
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_JOINTS = "-._="
"""Behind these a name can be parted that does not fit into a line."""
_WORD_OR_SPACES = re.compile(r" +|[^ ]+")
_BETWEEN = 3
"""Cells between two columns of paragraphs."""
_KEPT_FOLDED = 512
"""Paragraphs, with the width that they were folded to."""


class Span(msgspec.Struct, frozen=True):
    """A piece of a line in one style; its text is safe for a terminal."""

    text: str
    style: Style = PLAIN


Line = tuple[Span, ...]


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph; the lines after the first stand under the text, not under the label."""

    spans: Line
    label: str = ""
    indent: int | None = None
    yields: bool = False
    """Gives up its end where the others would not fit otherwise."""
    least: int = 2
    """The lines that it keeps then; one that may keep none goes before any other is cut."""
    in_items: bool = False
    """A line is broken between items, two or more spaces apart, and within one only where it is longer than a line."""
    one_line: str = ""
    """It takes one line where there is no room for all of it, cut at its end, which then says this: how to see the
    whole."""
    apart: bool = False
    """An empty line stands before it where there is room for all such lines."""
    at_bottom: bool = False
    """It stands below all lines that are free, and so does what follows."""


def span(text: str, tone: Tone = Tone.PLAIN, *, bold: bool = False) -> Span:
    """Text from anywhere, made harmless; a sign of foretop's own in it is spelt out."""
    return signed(without_signs(text), tone, bold=bold)


def signed(text: str, tone: Tone = Tone.PLAIN, *, bold: bool = False) -> Span:
    """The same with the signs of foretop, for a text into which no object has put any."""
    style = style_of(tone)
    return Span(clean(text), style + BOLD if bold else style)


def paragraph(
    text: str, tone: Tone = Tone.PLAIN, *, label: str = "", bold: bool = False, yields: bool = False, least: int = 2
) -> Paragraph:
    return Paragraph((span(text, tone, bold=bold),), label, yields=yields, least=least)


def lead(text: str, tone: Tone, label: str = "") -> Paragraph:
    """A paragraph whose first sentence stands out: the rest is what shows it, or what follows."""
    first, stop, rest = text.partition(". ")
    spans = (span(f"{first}{stop.strip()}", tone, bold=True), span(f" {rest}" if rest else ""))
    return Paragraph(spans, label, yields=True, least=1)


def wrap(paragraphs: Iterable[Paragraph], cells: int, lines: int | None = None, key: str = "") -> list[Line]:
    """The lines of the paragraphs in this width; those that yield are cut where there are more than `lines`.

    The last of them that is cut says with which key one reads it whole. Where there are fewer, they stand in groups.
    """
    parts = [(paragraph, _fold(paragraph, max(10, cells))) for paragraph in paragraphs]
    excess = 0 if lines is None else sum(len(folded) for _, folded in parts) - lines
    removed = [0] * len(parts)
    for index in sorted(range(len(parts)), key=lambda at: (parts[at][0].least > 0, -at)):
        paragraph, folded = parts[index]
        if excess > 0 and paragraph.yields:
            removed[index] = max(0, min(excess, len(folded) - paragraph.least))
            excess -= removed[index]
        elif excess < 0 and paragraph.one_line and sum(len(piece.text) for piece in paragraph.spans) <= -excess * cells:
            whole = _fold(replace(paragraph, one_line=""), max(10, cells))
            if len(whole) - 1 <= -excess:
                parts[index] = paragraph, whole
                excess += len(whole) - 1
    gaps = sum(paragraph.apart for paragraph, _ in parts)
    free = -excess - gaps if lines is not None else -1
    shown: list[Line] = []
    last = max((index for index, fewer in enumerate(removed) if 0 < fewer < len(parts[index][1])), default=-1)
    for index, ((paragraph, folded), fewer) in enumerate(zip(parts, removed, strict=True)):
        if free >= 0 and paragraph.apart:
            shown.append(())
        if free > 0 and paragraph.at_bottom:
            shown += [()] * free
            free = 0
        shown += _without_end(folded, fewer, f" … {key}" if key and index == last else " …") if fewer else folded
    return shown


def beside(left: Iterable[Paragraph], right: Iterable[Paragraph], cells: int) -> tuple[Paragraph, ...]:
    """Two columns of paragraphs, a paragraph for each line; the left one has the larger half."""
    room = (cells * 4 // 7, cells - cells * 4 // 7 - _BETWEEN)
    columns = [wrap(paragraphs, size) for paragraphs, size in zip((left, right), room, strict=True)]
    lines = []
    for line, other in zip_longest(*columns, fillvalue=()):
        gap = room[0] + _BETWEEN - sum(width(piece.text) for piece in line)
        lines.append(Paragraph((*line, Span(" " * gap), *other)))
    return tuple(lines)


def _without_end(folded: tuple[Line, ...], lines: int, end: str) -> list[Line]:
    """So many lines fewer: the last one ends with an ellipsis, and what is gone can be scrolled to."""
    kept = folded[: len(folded) - lines]
    if not kept:
        return []
    longest = max(sum(width(piece.text) for piece in line) for line in folded)
    return [*kept[:-1], _with_ellipsis(kept[-1], max(longest, width(end) + 10), end)]


def _with_ellipsis(line: Line, cells: int, end: str) -> Line:
    """Words are left out at the end until there is room for it."""
    pieces = list(line)
    while pieces and sum(width(piece.text) for piece in pieces) + width(end) > cells:
        last = pieces.pop()
        before, space, _ = last.text.rstrip().rpartition(" ")
        if space:
            pieces.append(Span(before, last.style))
    if pieces:
        pieces[-1] = Span(pieces[-1].text.rstrip(), pieces[-1].style)
        end = end.removeprefix(" …" if pieces[-1].text.endswith("…") else "")
    return (*pieces, Span(end))


@lru_cache(_KEPT_FOLDED)
def _fold(paragraph: Paragraph, cells: int) -> tuple[Line, ...]:
    """Kept, because a pane is folded at every change and mostly says what it said before."""
    if paragraph.one_line:
        return (_cut_to_line(paragraph, cells),)
    indent = LABEL if paragraph.label else 0
    if paragraph.indent is not None:
        indent = paragraph.indent
    lines: list[_Word] = [[]]
    if paragraph.label:
        lines[0].append((f"{paragraph.label:<{LABEL}}"[: max(LABEL, len(paragraph.label) + 1)], DIM))
    used = _cells(lines[0])
    room = max(8, cells - indent)
    for part in _items(paragraph.spans) if paragraph.in_items else _words(paragraph.spans):
        word, size = part, _cells(part)
        blank = word[0][0].isspace()
        if used + size > indent + room and not blank:
            if used > indent:
                lines.append([(" " * indent, PLAIN)] if indent else [])
                used = indent
            if size > room:
                *full, word = _broken(word, room)
                for piece in full:
                    lines[-1] += piece
                    lines.append([(" " * indent, PLAIN)] if indent else [])
                size = _cells(word)
        if blank and used + size > indent + room:
            used = indent + room
            continue
        if blank and used == indent and len(lines) > 1:
            continue
        lines[-1] += word
        used += size
    return tuple(_joined(line) for line in lines)


def _cut_to_line(paragraph: Paragraph, cells: int) -> Line:
    """Its beginning, and behind an ellipsis how to see the whole; nothing of that where all of it fits."""
    label = Span(f"{paragraph.label:<{LABEL}}", DIM)
    room = max(8, cells - width(label.text))
    whole = "".join(piece.text for piece in paragraph.spans)
    if width(whole) <= room:
        return label, *paragraph.spans
    style = paragraph.spans[0].style
    hint = Span(f"  {paragraph.one_line}", BOLD)
    return label, Span(cut_end(whole, max(1, room - width(hint.text))), style), hint


_Word = list[tuple[str, Style]]
"""Letters without a space between them, or spaces; each part with the style of its span."""


def _cells(word: _Word) -> int:
    return width(word[0][0]) if len(word) == 1 else sum(width(text) for text, _ in word)


def _words(spans: Sequence[Span]) -> Iterable[_Word]:
    """Words and the spaces between them; a word may go on from one span to the next."""
    word: _Word = []
    for piece in spans:
        for part in _WORD_OR_SPACES.findall(piece.text):
            if word and (word[0][0][0] == " ") != (part[0] == " "):
                yield word
                word = []
            word.append((part, piece.style))
    if word:
        yield word


def _items(spans: Sequence[Span]) -> Iterable[_Word]:
    """Items and the spaces between them; the words of an item are one."""
    item: _Word = []
    for word in _words(spans):
        if word[0][0][0] != " " or sum(len(text) for text, _ in word) == 1:
            item += word
        else:
            yield from (item, word) if item else (word,)
            item = []
    if item:
        yield item


def _broken(word: _Word, cells: int) -> list[_Word]:
    """Divides a piece that is too long for a line: an item between its words, a word at a joint or anywhere."""
    if any(" " in text for text, _ in word):
        lines = _fold(Paragraph(tuple(Span(text, style) for text, style in word)), cells)
        return [[(piece.text, piece.style) for piece in line] for line in lines]
    return _at_joint(word, cells) or _pieces(word, cells)


def _at_joint(word: _Word, cells: int) -> list[_Word]:
    """A long name in two lines, parted before its UUID or behind a joint, a slash first; nothing where that fails."""
    text = "".join(part for part, _ in word)
    if not text.isascii():
        return []
    uuid = _UUID.search(text)
    other = max(text.rfind(joint, 0, cells) for joint in _JOINTS) + 1
    joints = (uuid.start() if uuid else 0, text.rfind("/", 0, cells) + 1, other)
    end = next((place for place in joints if 0 < place <= cells and len(text) - place <= cells), 0)
    return [_slice(word, 0, end), _slice(word, end, len(text))] if end else []


def _slice(word: _Word, start: int, stop: int) -> _Word:
    """Its letters from one place to before another, each with its style."""
    parts, before = [], 0
    for text, style in word:
        if part := text[max(0, start - before) : max(0, stop - before)]:
            parts.append((part, style))
        before += len(text)
    return parts


def _pieces(word: _Word, cells: int) -> list[_Word]:
    """A word in pieces of at most so many cells, in one pass; a letter that is wider stands alone."""
    pieces: list[_Word] = [[]]
    taken = 0
    for text, style in word:
        start = 0
        for index, letter in enumerate(text):
            size = width(letter)
            if taken and taken + size > cells:
                if index > start:
                    pieces[-1].append((text[start:index], style))
                pieces.append([])
                start, taken = index, 0
            taken += size
        pieces[-1].append((text[start:], style))
    return pieces


def _joined(parts: _Word) -> Line:
    """Neighbours of one style become one span: fewer codes for the terminal."""
    texts: list[str] = []
    merged: list[Span] = []
    for place, (text, style) in enumerate(parts):
        texts.append(text)
        following = parts[place + 1][1] if place + 1 < len(parts) else None
        if following is not style and following != style:
            merged.append(Span("".join(texts), style))
            texts = []
    return tuple(merged)
