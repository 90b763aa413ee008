"""The pane of a group header: number of rows, and its keys."""

from __future__ import annotations

from foretop.widgets.paragraphs import Paragraph, Span, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.dashboard.table_models import GroupHeaderRow
from foretop_core.rules import humanize


def head_pane(row: GroupHeaderRow) -> tuple[Paragraph, ...]:
    said = [span(row.name, bold=True), span(f": {humanize.count(row.size, 'row')}")]
    for cell in row.words:
        said += [Span(", "), Span(cell.text, style_of(cell.tone))]
    opening = "unfold" if row.folded else "fold"
    keys = (("enter", opening), ("space", "mark all, or none"), ("b", "show one list"))
    return (
        Paragraph(tuple(said)),
        Paragraph(tuple(part for key, does in keys for part in (Span(key, BOLD), Span(f" {does}   "))), "Keys"),
    )
