"""The lines of a table as Textual strips: header and rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from foretop.widgets.column_layout import ColumnSlot
from foretop.widgets.styles import (
    BOLD,
    CURSOR,
    DIM,
    FLASH,
    HEAD,
    PLAIN,
    RAISED,
    style_of,
    style_of_mark,
)
from foretop_core.dashboard.table_models import GroupHeaderRow, SectionRow
from foretop_core.tables.engine.drawings import LENGTH, LengthBar
from foretop_core.tables.engine.view import Column, Row
from foretop_core.tables.engine.view import pieces as cell_pieces
from foretop_core.tables.text.terminal_text import cut, cut_end, pad, width

LEFT = 3
"""Before the first column: the sign of the cursor or of a marked row, the glyph, and a space."""
UNDER_CURSOR, MARKED = "▌", "▪"
_CURSOR_BOLD = CURSOR + BOLD
_LEAST_TITLE = 16
"""Cells of a section's title, with the name of its cluster, before its words are cut."""


class HeaderState(msgspec.Struct, frozen=True):
    """The state that the header shows besides the titles: sort order and chosen column."""

    sorted_by: str
    reversed: bool
    selected: str


class RowState(msgspec.Struct, frozen=True):
    """The look of a row: under the cursor, marked, changed."""

    cursor: bool
    marked: bool
    lit: frozenset[int]
    shortened: Mapping[int, int] = msgspec.field(default_factory=dict)
    longest: Mapping[int, float] = msgspec.field(default_factory=dict)
    """By column, the scale of its bars."""
    raised: bool = False
    """The row under the cursor has a background of its own and keeps its colours; else it is reversed in one piece."""
    is_ascii: bool = False
    """Its drawings are of ASCII characters."""

    @property
    def ground(self) -> Style:
        return (RAISED if self.raised else CURSOR) if self.cursor else PLAIN

    def on_ground(self, style: Style) -> Style:
        """A style within this row: in a reversed one colours would be blocks, and dim text hard to read."""
        if not self.cursor:
            return style
        return style + RAISED if self.raised else _CURSOR_BOLD if style.bold and style.color is None else CURSOR

    @property
    def sign(self) -> str:
        return MARKED if self.marked else UNDER_CURSOR if self.cursor else " "


def head_strip(columns: Sequence[Column[Any]], slots: Sequence[ColumnSlot], heading: HeaderState, cells: int) -> Strip:
    """The titles; that of the sorted column has an arrow."""
    pieces: list[Segment] = [Segment(" " * LEFT, HEAD)]
    x = 0
    for slot in slots:
        column = columns[slot.index]
        pieces.append(Segment(" " * (slot.x - x), HEAD))
        arrow = ("↓" if heading.reversed != column.falls else "↑") if column.name == heading.sorted_by else ""
        words = f"{column.title[: slot.width - len(arrow)]}{arrow}"
        title = pad(words, slot.width, right=column.right)
        pieces.append(Segment(title, HEAD + CURSOR if column.name == heading.selected else HEAD))
        x = slot.x + slot.width
    return Strip(pieces).adjust_cell_length(cells, HEAD)


def row_strip(
    columns: Sequence[Column[Any]], slots: Sequence[ColumnSlot], row: Row, how: RowState, cells: int
) -> Strip:
    """`how.shortened` says of columns whose cells are alike how often each of them was shortened."""
    on = how.ground
    pieces = [
        Segment(how.sign, how.on_ground(BOLD) if how.sign != " " else on),
        Segment(row.mark.value, how.on_ground(DIM if row.faded else style_of_mark(row.mark))),
        Segment(" ", on),
    ]
    x = 0
    for slot in slots:
        cell, column = row.cells[slot.index], columns[slot.index]
        if slot.x > x:
            pieces.append(Segment(" " * (slot.x - x), on))
        shortened = how.shortened.get(slot.index, 0)
        if isinstance(cell.drawing, LengthBar) and slot.width > LENGTH:
            cell = replace(cell, drawing=replace(cell.drawing, longest=how.longest[slot.index]))
        for piece in cell_pieces(cell, column, slot.width, least=shortened, ascii=how.is_ascii):
            own = style_of(piece.tone) + BOLD if piece.bold else style_of(piece.tone)
            style = how.on_ground(DIM if row.faded else own)
            pieces.append(Segment(piece.text, style + FLASH if slot.index in how.lit else style))
        x = slot.x + slot.width
    return Strip(pieces).adjust_cell_length(cells, on)


def group_strip(row: GroupHeaderRow, how: RowState, cells: int) -> Strip:
    """`▾ team-pay  3  1 refused  1 running`, across all columns."""
    fold = "▸" if row.folded else "▾"
    pieces = [Segment(f"{how.sign}{fold} {row.name}", how.on_ground(BOLD))]
    pieces.append(Segment(f"  {row.size:,}", how.ground))
    pieces += [Segment(f"  {cell.text}", how.on_ground(style_of(cell.tone))) for cell in row.words]
    return Strip(pieces).adjust_cell_length(cells, how.ground)


def section_strip(row: SectionRow, cells: int) -> Strip:
    """`RUNNING 3 of 3 slots, the next is free about 02:30`, across all columns."""
    room = cells - 2
    title = cut(row.title, max(_LEAST_TITLE, room - width(row.words)))
    words = cut_end(row.words, room - width(title))
    pieces = [Segment(f" {title}", BOLD), Segment(f" {words}", DIM)]
    return Strip(pieces).adjust_cell_length(cells, PLAIN)
