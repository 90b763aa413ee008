"""The rows of the page of the fleet: one for each cluster that is watched, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from foretop_core.background import in_thread
from foretop_core.clock import SystemClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.errors import ForetopError, let_through
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.exporter.exposition import ClusterSample
from foretop_core.rooms.exporter.fleet import (
    ClusterRow,
    ClusterState,
    Series,
    cluster_row,
    fleet,
    merged,
    series_of,
    urgency,
)
from foretop_core.rooms.exporter.fleet_view import FLEET, ClusterFacets, key_of, mark_of
from foretop_core.rooms.exporter.measurement import Measurement
from foretop_core.rooms.exporter.prometheus import PrometheusServer, ask
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.metric_families import Sample
from foretop_core.store import Store
from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.render_context import RenderContext, RenderContextFactory
from foretop_core.tables.engine.rows import SortedRows
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import WORST_FIRST

_NO_OBJECTS = assemble(())
"""In a store, lists would still come in."""
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
        self.is_asking = False
        """A Prometheus tells of clusters too."""
        self.gaps: tuple[ForetopError, ...] = ()
        """Why what it tells is perhaps not all, or not of now."""
        self._series: tuple[Series, ...] = ()
        self._asked: tuple[ClusterRow, ...] = ()
        self._elsewhere = RenderContextFactory(Store(), "")

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
            self.is_asking, self.gaps = before.is_asking, before.gaps
            self._series, self._asked = before._series, before._asked

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
        return self.state.contexts if self.is_asking or len(self.state.contexts) >= _LEAST else ()

    async def ask(self, server: Callable[[], PrometheusServer]) -> None:
        """Asks for the clusters that Prometheus has metrics of; what it told last stays, and grows old."""
        try:
            reply = await ask(await in_thread(server))
            self._series, self.gaps = reply.series, reply.gaps
        except ForetopError as problem:
            self.gaps = (problem,)
        self._asked = await in_thread(partial(fleet, self._series, SystemClock().now()))
        self._is_new = True

    def stop_asking(self) -> None:
        """Leaves the clusters that are watched."""
        self._series, self._asked, self.gaps, self._is_new = (), (), (), True

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
        rows = merged([self._rows.get(context) or _not_measured(context) for context in self._contexts], self._asked)
        return self.table.replace((key_of(row), row) for row in rows)

    def render_context(self, key: ObjectRef, entry: ClusterRow) -> RenderContext:
        """By the clock that goes on: for how long a cluster is lost is told too. What was asked is of no store."""
        if entry.is_asked:
            render = self._elsewhere.render_context(SystemClock().now(), self.state.zoning)
            return replace(render, snapshot=_NO_OBJECTS)
        return replace(self.state.render_context(key.context), now=self.state.clock(key.context))

    def facets(self, key: ObjectRef, entry: ClusterRow) -> FilterableRow:
        return ClusterFacets(entry, self.render_context(key, entry))

    def home(self, key: ObjectRef, entry: ClusterRow) -> tuple[str, str, str]:
        return key.context, key.kind, key.namespace

    def is_stale(self, key: ObjectRef) -> bool:
        row = self.entry(key)
        return (row is None or not row.is_asked) and super().is_stale(key)

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        """None: a cluster is no object that could be opened."""
        return None


def _row(context: str, samples: Sequence[Sample]) -> ClusterRow:
    series = (series_of(ClusterSample(context, sample)) for sample in samples)
    return cluster_row(context, series, SystemClock().now())


def _not_measured(context: str) -> ClusterRow:
    return replace(cluster_row(context, (), SystemClock().now()), state=ClusterState.LOADING)
