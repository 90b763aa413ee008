"""The rows of Triage: what was found, worst first, each under the finding that explains it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from foretop_core.dashboard.related_objects import object_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Finding, opened, ungathered
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.rows import SortedRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import Cell
from foretop_core.tables.resources import findings
from foretop_core.tables.resources.visibility_findings import is_visibility_finding
from foretop_core.tables.text.terminal_text import unsigned

_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{6}([0-9a-f]{6})$")
_SUBJECT, _WHAT = ([column.name for column in findings.COLUMNS].index(name) for name in ("subject", "what"))


class FindingsTableModel(TableModel):
    """Rows made from what triage found."""

    table: SortedRows[Finding]

    def __init__(self, state: DashboardState) -> None:
        self._column = findings.FINDINGS.column(findings.FINDINGS.order)
        super().__init__(state, findings.FINDINGS, SortedRows(self._column.sort))
        self._opened: frozenset[ObjectRef] = frozenset()
        self.shows_acknowledged = False
        """Whether the findings that are known are listed too."""
        self._seen: tuple[object, ...] = ()

    @property
    def sorted_by(self) -> str:
        return self._column.name

    @property
    def marks(self) -> Mapping[StatusGlyph, int]:
        return Counter(self.view.mark(finding, self.state.render_context(finding.context)) for _, finding in self.table)

    def sort(self, column: str, *, reverse: bool) -> None:
        self._column = self.view.column(column)
        self.table.sort(self._column.sort, reverse=reverse)

    def take_over(self, before: TableModel) -> None:
        super().take_over(before)
        self.shows_acknowledged = isinstance(before, FindingsTableModel) and before.shows_acknowledged

    def close(self) -> None:
        """Nothing to end: findings are read from the state every time."""

    def pump(self) -> bool:
        basis = (
            self.state.findings_revision,
            self.state.focus,
            self.filter_text,
            self._opened,
            self.shows_acknowledged,
        )
        if self._seen == basis:
            return False
        self._seen = basis
        return self.table.replace((findings.key_of(finding), finding) for finding in self._lines())

    def _lines(self) -> Iterator[Finding]:
        """Lists findings one by one where they are narrowed or filtered: a line of many could not be searched."""
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
    def needless_columns(self) -> frozenset[str]:
        """The sign of a row says how grave it is."""
        return frozenset({"severity"})

    @property
    def held_back(self) -> str:
        hidden = 0 if self.shows_acknowledged else sum(len(one.members) or 1 for one in self.state.acknowledged)
        return f"{hidden:,} acknowledged" if hidden else ""

    def toggle(self, key: ObjectRef) -> None:
        """Opens or closes the line of a finding that gathers others."""
        self._opened ^= {key}

    def render_context(self, key: ObjectRef, entry: Finding) -> RenderContext:
        return self.state.render_context_of(entry)

    def facets(self, key: ObjectRef, entry: Finding) -> FilterableRow:
        render = self.state.render_context_of(entry)
        row = findings.FindingFacets(entry, render)
        if "subject" not in self._wanted.fields:
            return row
        return OverriddenFields(row, {"subject": _subject_shown(entry, render)})

    def home(self, key: ObjectRef, entry: Finding) -> tuple[str, str, str]:
        return entry.context, entry.subject.kind, entry.subject.home

    def cells(self, entry: Finding, render: RenderContext) -> list[Cell]:
        cells = self.plain_cells(entry, render)
        shown = _subject_shown(entry, render)
        cells[_SUBJECT] = Cell(f"└ {shown}" if self._stands_under_its_cause(entry) else shown)
        if entry.acknowledged is not None:
            note = render.text(acknowledgement_text(entry.acknowledged))
            cells[_WHAT] = Cell(f"acknowledged {unsigned(note)} ({cells[_WHAT].text})", Tone.DIM)
        return cells

    def plain_cells(self, entry: Finding, render: RenderContext) -> list[Cell]:
        """The cells without what stands for the screen alone."""
        return super().cells(entry, render)

    def _stands_under_its_cause(self, entry: Finding) -> bool:
        """Not where a person has sorted otherwise, or narrowed the cause away."""
        cause, as_ranked = entry.because, self.sorted_by == "severity" and not self.reversed
        return cause is not None and as_ranked and findings.key_of(cause) in self.table

    def is_stale(self, key: ObjectRef) -> bool:
        finding = self.table.get(key)
        return finding is not None and not is_visibility_finding(finding) and self.state.is_stale(key)

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        finding = self.table.get(key)
        return None if finding is None else object_of(finding)


class OverriddenFields:
    """The sides of a row, with some fields that the screen says otherwise than the row."""

    __slots__ = ("_fields", "_row")

    def __init__(self, row: FilterableRow, fields: Mapping[str, str]) -> None:
        self._row = row
        self._fields = fields

    def text(self) -> str:
        return self._row.text()

    def contains(self, word: str) -> bool:
        return self._row.contains(word)

    def field(self, name: str) -> str:
        return self._fields[name] if name in self._fields else self._row.field(name)

    def labels(self) -> Mapping[str, str]:
        return self._row.labels()


def _subject_shown(found: Finding, render: RenderContext) -> str:
    """Without what tells nothing: the namespace of the only Velero, and of a UUID all but its end."""
    text = _UUID.sub(r"-…\1", unsigned(findings.subject_text(found)))
    places = render.snapshot.velero_namespaces
    if len(places) != 1 or found.subject.namespace != places[0] or not found.subject.name:
        return text
    return text.replace(f"{unsigned(places[0])}/", "", 1)
