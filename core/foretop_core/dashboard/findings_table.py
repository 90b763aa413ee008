"""The rows of Triage: what was found, worst first, each under the finding that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from foretop_core.dashboard.related_objects import object_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import FAULTS, TableModel
from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding, opened, ungathered
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.rules.triage.ranking import rank
from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.filter_fields import OverriddenFields
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.sorted_rows import SortedRows
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view import Cell, Row, find_column
from foretop_core.tables.resources import findings
from foretop_core.tables.resources.json_items import Item
from foretop_core.tables.resources.visibility_findings import is_visibility_finding
from foretop_core.tables.text.terminal_text import clean

_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{6}([0-9a-f]{6})$")
_SUBJECT, _WHAT = ([column.name for column in findings.COLUMNS].index(name) for name in ("subject", "what"))


class FindingsTableModel(TableModel):
    """Rows made from what triage found."""

    def __init__(self, state: DashboardState) -> None:
        super().__init__(state, findings.COLUMNS, findings.FIELDS)
        self._table: SortedRows[Finding] = SortedRows(rank)
        self._sorted_by, self._reversed = "severity", False
        self._opened: frozenset[ObjectRef] = frozenset()
        self.shows_acknowledged = False
        """Whether the findings that are known are listed too."""
        self._seen: tuple[object, ...] = ()

    @property
    def name(self) -> str:
        return "findings"

    def key_of(self, entry: Finding) -> ObjectRef:
        return findings.key_of(entry)

    @property
    def table(self) -> SortedRows[Finding]:
        return self._table

    @property
    def sorted_by(self) -> str:
        return self._sorted_by

    @property
    def reversed(self) -> bool:
        return self._reversed

    def take_over(self, before: TableModel) -> None:
        super().take_over(before)
        self.shows_acknowledged = isinstance(before, FindingsTableModel) and before.shows_acknowledged

    def close(self) -> None:
        """Nothing to end: findings are read from the state every time."""

    def pump(self) -> bool:
        seen = (
            self.state.findings_revision,
            self.state.focus,
            self.filter_text,
            self._opened,
            self.shows_acknowledged,
        )
        if self._seen == seen:
            return False
        self._seen = seen
        return self._table.replace((findings.key_of(finding), finding) for finding in self._lines())

    def _lines(self) -> Iterator[Finding]:
        """What is narrowed to a namespace or filtered is shown one by one: a line of many could not be searched."""
        listed = (*self.state.findings, *(self.state.acknowledged if self.shows_acknowledged else ()))
        if self.state.focus.namespace or self.filter_text:
            yield from ungathered(listed)
            return
        for finding in listed:
            yield finding
            if findings.key_of(finding) in self._opened:
                yield from opened(finding)

    def narrow(self, text: str, *, typing: bool = False) -> None:
        super().narrow(text, typing=typing)
        self.pump()

    @property
    def held_back(self) -> str:
        known = 0 if self.shows_acknowledged else sum(1 for _ in ungathered(self.state.acknowledged))
        return f"{known:,} acknowledged" if known else ""

    def toggle(self, key: ObjectRef) -> None:
        """Opens or closes the line of a finding that gathers others."""
        self._opened ^= {key}

    def sort(self, column: str, *, reverse: bool) -> None:
        self._table.sort(find_column(findings.COLUMNS, column, self.name).sort, reverse=reverse)
        self._sorted_by, self._reversed = column, reverse

    def facets(self, entry: Finding) -> FilterableRow:
        render = self.state.render_context_of(entry)
        row = findings.facets(entry, render)
        if "subject" not in self._wanted.fields:
            return row
        return OverriddenFields(row, {"subject": _subject_shown(entry, render)})

    def home(self, entry: Finding) -> tuple[str, str, str]:
        return entry.context, entry.subject.kind, entry.subject.home

    def paint_one(self, key: ObjectRef, entry: Finding) -> Row:
        render = self.state.render_context_of(entry)
        row = findings.paint(entry, render)
        shown = _subject_shown(entry, render)
        if self._stands_under_its_cause(entry):
            shown = f"└ {shown}"
        cells = [*row.cells]
        cells[_SUBJECT] = Cell(shown)
        if entry.acknowledged is not None:
            known = render.text(acknowledgement_text(entry.acknowledged))
            cells[_WHAT] = Cell(f"acknowledged {known} ({cells[_WHAT].text})", Tone.DIM)
        return replace(row, cells=tuple(cells))

    def _stands_under_its_cause(self, entry: Finding) -> bool:
        """Not where a person has sorted otherwise, or narrowed the cause away."""
        cause, as_ranked = entry.because, self._sorted_by == "severity" and not self._reversed
        return cause is not None and as_ranked and findings.key_of(cause) in self.table

    def is_stale(self, key: ObjectRef) -> bool:
        found = self.table.get(key)
        return found is not None and not is_visibility_finding(found) and self.state.is_stale(key)

    def item(self, key: ObjectRef) -> Item:
        found = self.table.get(key)
        if found is None:
            raise BadInput(f"{key.name} no longer exists")
        return findings.finding_item(found, self.state.render_context_of(found).now)

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        found = self.table.get(key)
        return None if found is None else object_of(found)

    def is_fault(self, entry: Finding) -> bool:
        return findings.paint(entry, self.state.render_context(entry.context)).mark in FAULTS


def _subject_shown(found: Finding, render: RenderContext) -> str:
    """Without what tells nothing: the namespace of the only Velero, and of a UUID all but its end."""
    text = _UUID.sub(r"-…\1", clean(findings.subject_text(found)))
    places = render.snapshot.velero_namespaces
    if len(places) != 1 or found.subject.namespace != places[0] or not found.subject.name:
        return text
    return text.replace(f"{clean(places[0])}/", "", 1)
