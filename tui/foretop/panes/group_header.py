"""The pane of the head of a group: how many are below it, and what its keys do."""

from __future__ import annotations

from foretop.widgets.paragraphs import Paragraph, Span, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.dashboard.table_models import GroupHeaderRow
from foretop_core.rules import humanize


def head_pane(row: GroupHeaderRow) -> tuple[Paragraph, ...]:
    said = [span(row.name, bold=True), span(f": {humanize.count(row.size, 'row')}")]
    for cell in row.words:
        said += [Span(", "), Span(cell.text, style_of(cell.tone))]
    opening = "opens it" if row.folded else "folds it"
    keys = (("enter", opening), ("space", "marks all of it, or none"), ("b", "puts all rows in one list again"))
    return (
        Paragraph(tuple(said)),
        Paragraph(tuple(part for key, does in keys for part in (Span(key, BOLD), Span(f" {does}   "))), "Keys"),
    )
