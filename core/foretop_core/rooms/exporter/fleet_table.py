"""The rows of the page of the fleet: one for each cluster that is watched, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from foretop_core.clock import SystemClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.errors import let_through
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.exporter.exposition import ClusterSample
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState, cluster_row, ranked, series_of, urgency
from foretop_core.rooms.exporter.fleet_view import FLEET, ClusterFacets, key_of, mark_of
from foretop_core.rooms.exporter.measurement import Measurement
from foretop_core.rules.metric_families import Sample
from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.rows import SortedRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import WORST_FIRST

_LEAST = 2
"""One cluster is no fleet: the pages tell more of it than a row."""
_LOOK_AGAIN = 10.0
"""Seconds after which a cluster is measured again though nothing has changed: time has passed."""


class FleetTableModel(TableModel):
    """Rows made from the numbers of the exporter, which are worked out beside the event loop."""

    table: SortedRows[ClusterRow]

    def __init__(self, state: DashboardState) -> None:
        self._sorted_by = WORST_FIRST
        super().__init__(state, FLEET, SortedRows(urgency))
        self._measurement = Measurement(state)
        self._rows: dict[str, ClusterRow] = {}
        self._measured: dict[str, tuple[float, object]] = {}
        """By context, when it was measured last, and what it was like then."""
        self._is_new = True

    @property
    def sorted_by(self) -> str:
        return self._sorted_by

    @property
    def marks(self) -> Mapping[StatusGlyph, int]:
        return Counter(mark_of(row) for _, row in self.table)

    def sort(self, column: str, *, reverse: bool) -> None:
        self._sorted_by = column
        self.table.sort(urgency if column == WORST_FIRST else self.view.column(column).sort, reverse=reverse)

    def take_over(self, before: TableModel) -> None:
        super().take_over(before)
        if isinstance(before, FleetTableModel):
            self._rows, self._is_new = dict(before._rows), True

    def close(self) -> None:
        """Nothing to end: the clusters are measured only when that is asked for."""

    async def learn_uids(self) -> None:
        """Asks the clusters for their uids, by which two contexts of one cluster are one row."""
        await self._measurement.learn_uids()

    @property
    def is_loading(self) -> bool:
        """True while a cluster was not measured yet."""
        return len(self._rows) < len(self._contexts)

    @property
    def _contexts(self) -> tuple[str, ...]:
        return self.state.contexts if len(self.state.contexts) >= _LEAST else ()

    async def measure(self, ticks: float) -> None:
        """Measures, one after the other, the clusters that have changed or were not measured for long.

        Each row is there as soon as its cluster is measured, and one that cannot be is named in Triage.
        """
        for context in self._contexts:
            at, before = self._measured.get(context, (0.0, None))
            store = self.state.store
            basis = store.revision(context), store.health.revision_of(context), self.state.findings_revision
            if not self.state.was_judged(context) or (before == basis and ticks - at < _LOOK_AGAIN):
                continue
            self._measured[context] = ticks, basis
            try:
                row = await self._measurement.read(context, partial(_row, context))
            except Exception as problem:
                let_through(problem)
                self.state.note_failure(f"measuring {context}", key_of(_not_measured(context)), problem)
                row = self._rows.get(context) or _not_measured(context)
            self._rows[context], self._is_new = row, True

    def pump(self) -> bool:
        if not self._is_new:
            return False
        self._is_new = False
        rows = ranked(self._rows.get(context) or _not_measured(context) for context in self._contexts)
        return self.table.replace((key_of(row), row) for row in rows)

    def render_context(self, key: ObjectRef, entry: ClusterRow) -> RenderContext:
        """By the clock that goes on: for how long a cluster is lost is told too."""
        return replace(self.state.render_context(key.context), now=self.state.clock(key.context))

    def facets(self, key: ObjectRef, entry: ClusterRow) -> FilterableRow:
        return ClusterFacets(entry, self.render_context(key, entry))

    def home(self, key: ObjectRef, entry: ClusterRow) -> tuple[str, str, str]:
        return key.context, key.kind, key.namespace

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        """None: a cluster is no object that could be opened."""
        return None


def _row(context: str, samples: Sequence[Sample]) -> ClusterRow:
    series = (series_of(ClusterSample(context, sample)) for sample in samples)
    return cluster_row(context, series, SystemClock().now())


def _not_measured(context: str) -> ClusterRow:
    return replace(cluster_row(context, (), SystemClock().now()), state=ClusterState.LOADING)
