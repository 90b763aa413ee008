"""The page of the fleet: a row for each cluster, worst first, and what is wrong in the one under the cursor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from heapq import nsmallest
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from foretop.bindings import Handler, key_name
from foretop.commands.live_session import bearer_token
from foretop.pages.page import PageAddress, PageHost
from foretop.pages.table_page import TablePage
from foretop.panes.page_records import ScreenPage, signs_of
from foretop.widgets.paragraphs import Line, Paragraph, lead, paragraph, span
from foretop_core.config.settings import PrometheusSettings, Settings
from foretop_core.dashboard.object_fetch import set_scope
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.errors import ForetopError
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.exporter import PAGE
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState
from foretop_core.rooms.exporter.fleet_table import FleetTableModel
from foretop_core.rooms.exporter.fleet_view import FLEET, night_words, other_names
from foretop_core.rooms.exporter.prometheus import PrometheusServer, server_of
from foretop_core.rules import humanize
from foretop_core.rules.sentences import with_keys
from foretop_core.rules.triage import rank
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, severity_mark
from foretop_core.tables.engine.view import TableView
from foretop_core.tables.resources.findings import subject_and_what

SIGNS = signs_of(
    healthy="no problems, and all was seen",
    waiting="its first lists come in",
    look="warnings",
    broken="errors, or no news of it",
    unset="no problems in what may be seen, and not all may be",
)
_SOON = 0.2
_EVERY, _LONGEST = 1.0, 10.0
_SHARE = 10
"""Seconds between two measurements: while clusters come in, and later so many times as long as one took."""
_MOST_FINDINGS = 4
_ASKED_EVERY = 30.0
"""Seconds; exporters are scraped about as often."""


class _FleetSpec(ScreenPage, frozen=True, kw_only=True):
    """How the page looks; its rows are no objects of the store."""

    @property
    def view(self) -> TableView[ClusterRow]:
        return FLEET

    def rows(self, state: DashboardState) -> TableModel:
        return FleetTableModel(state)

    def pane(
        self,
        rows: TableModel,
        key: ObjectRef,
        state: DashboardState,
        cells: int | None = None,
        keys: Callable[[Collection[str]], tuple[Paragraph, ...]] = lambda named: (),
    ) -> tuple[Paragraph, ...]:
        row = rows.entry(key)
        if row is None:
            return ()
        told = _asked_pane(row, rows.render_context(key, row)) if row.is_asked else _pane(row, state)
        gaps = rows.gaps if isinstance(rows, FleetTableModel) else ()
        return self._grouped((*told, *(paragraph(str(gap), Tone.WARN, label="Asked") for gap in gaps)))

    def why_empty(self, state: DashboardState) -> list[Line]:
        key = span(f"{key_name('palette')}ctx", bold=True)
        return [(span("One cluster is watched; a fleet has two or more. "), key, span(" adds one."))]


class FleetPage(TablePage):
    """The table of the clusters; they are measured while it is on the screen."""

    class Measured(Message):
        """Rows may be other than before."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "screen.do('enter_cluster')", show=False)]

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        spec = _FleetSpec(id=PAGE.id, signs=SIGNS, groups=(("Do",), ("Also",), ("Night",)), pane_grows=True)
        super().__init__(page_id, spec, display_options, host)

    def shown(self) -> None:
        """Whoever comes back from one cluster sees all of them again."""
        if self.state is not None and self.state.focus:
            set_scope(self.state, "", "")
        super().shown()
        self.run_worker(self._measure(), group="fleet", exclusive=True)
        self.run_worker(self._ask(), group="asking", exclusive=True)
        self.run_worker(self._learn_uids(), group="uids", exclusive=True)

    def left(self) -> None:
        super().left()
        self.workers.cancel_group(self, "fleet")
        self.workers.cancel_group(self, "asking")

    _prometheus = PrometheusSettings()

    def configure(self, settings: Settings) -> None:
        """Another Prometheus is asked at once."""
        super().configure(settings)
        if settings.prometheus != self._prometheus:
            self._prometheus = settings.prometheus
            if isinstance(self.rows, FleetTableModel):
                self.rows.stop_asking()
                self.run_worker(self._ask(), group="asking", exclusive=True)

    async def _ask(self) -> None:
        """A fault is told once; the pane has it while it lasts."""
        while True:
            if isinstance(self.rows, FleetTableModel):
                before, self.rows.is_asking = self.rows.gaps, bool(self._prometheus.url)
                if not self.rows.is_asking:
                    return
                await self.rows.ask(partial(_server, self._prometheus))
                for gap in self.rows.gaps:
                    if str(gap) not in map(str, before):
                        self.app.notify(str(gap), severity="warning")
                self.post_message(self.Measured())
            await asyncio.sleep(_ASKED_EVERY)

    async def _measure(self) -> None:
        while True:
            rest, began = _SOON, time.monotonic()
            if isinstance(self.rows, FleetTableModel):
                await self.rows.measure(began)
                self.post_message(self.Measured())
                if not self.rows.is_loading:
                    rest = min(_LONGEST, max(_EVERY, (time.monotonic() - began) * _SHARE))
            await asyncio.sleep(rest)

    @on(Measured)
    def _show_measured(self) -> None:
        self.pulse()

    async def _learn_uids(self) -> None:
        while True:
            if isinstance(self.rows, FleetTableModel):
                await self.rows.learn_uids()
            await asyncio.sleep(_EVERY)

    def handlers(self) -> Mapping[str, Handler]:
        return {**super().handlers(), "enter_cluster": self.do_enter_cluster}

    def offers(self, action_id: str) -> bool:
        """Nothing can be done to several clusters at once, so none is marked."""
        if action_id == "enter_cluster":
            return self.table.cursor is not None
        return not action_id.startswith("mark") and super().offers(action_id)

    async def do_enter_cluster(self) -> None:
        """The whole dashboard shows this cluster alone, and first what is wrong in it; escape leads back."""
        state, key = self.state, self.table.cursor
        if state is not None and key is not None:
            if key.context in state.contexts:
                await self._enter(state, key.context)
            else:
                self.run_worker(self._watch_and_enter(state, key.context), group="entering", exclusive=True)

    async def _enter(self, state: DashboardState, context: str) -> None:
        # Before the other page comes, which has its rows from the first paint on.
        set_scope(state, "", context)
        await self.host.go(PageAddress("triage", filter="", jumped=True))

    async def _watch_and_enter(self, state: DashboardState, context: str) -> None:
        """A cluster that Prometheus tells of opens where a context of the kubeconfig has its name."""
        try:
            if context not in await state.source.other_contexts():
                text = f"No context of the kubeconfig is called {context}: it cannot be opened from here"
                self.app.notify(text, severity="warning")
                return
            self.app.notify(f"Connecting to {context}")
            await state.source.add_context(context)
        except (ForetopError, OSError) as problem:
            self.app.notify(f"Cannot watch {context}: {problem}", severity="error")
            return
        state.take_contexts()
        self.host.attach(state)
        await self._enter(state, context)


PAGE_CLASS = FleetPage


def _server(settings: PrometheusSettings) -> PrometheusServer:
    """By its files as they are now: a token may be another one by then."""
    return server_of(settings, bearer_token(settings.token_file or None))


def _asked_pane(row: ClusterRow, render: RenderContext) -> Iterator[Paragraph]:
    """Tells what Prometheus does: codes of findings, and no words of them."""
    worst = row.worst
    if worst is not None and row.state is not ClusterState.NO_NEWS:
        counts = ((row.errors, "error"), (row.warnings, "warning"))
        counted = humanize.join([humanize.count(count, word) for count, word in counts if count])
        since = f" since {render.time(worst.since, None)}" if worst.since is not None else ""
        yield lead(f"{worst.code}{since}; {counted or worst.severity.value}.", severity_mark(worst.severity).tone)
    else:
        yield lead(f"{humanize.capitalized(row.state.value)}.", Tone.PLAIN)
    yield lead("Look into the cluster: enter watches it and opens Triage.", Tone.PLAIN, label="Do")
    yield from _facts(row, render, is_asked=row.state is not ClusterState.NO_NEWS)
    as_of = f", as of {render.time(row.judged, None)}" if row.judged is not None else ""
    yield paragraph(f"by Prometheus{as_of}", Tone.DIM, label="Told")


def _pane(row: ClusterRow, state: DashboardState) -> Iterator[Paragraph]:
    """Tells what is wrong there and what to do first, as Triage does; then the night and the rest."""
    render = state.render_context(row.cluster)
    findings = nsmallest(_MOST_FINDINGS, (one for one in state.findings if one.context == row.cluster), key=rank)
    if findings:
        worst = findings[0]
        tone = severity_mark(worst.severity).tone
        render = state.render_context_of(worst)
        yield lead(f"{humanize.capitalized(subject_and_what(worst, render.text(worst.what)))}.", tone)
        yield lead(render.text(with_keys(worst.remedy, key_name)), Tone.PLAIN, label="Do")
    else:
        yield lead(f"{humanize.capitalized(row.state.value)}.", Tone.PLAIN)
    for place, finding in enumerate(findings[1:]):
        text = subject_and_what(finding, state.render_context_of(finding).text(finding.what))
        yield paragraph(text, severity_mark(finding.severity).tone, label=" " if place else "Also")
    is_asked = row.cluster in state.source.clusters and row.state not in (ClusterState.LOADING, ClusterState.NO_NEWS)
    yield from _facts(row, render, is_asked=is_asked)


def _facts(row: ClusterRow, render: RenderContext, *, is_asked: bool) -> Iterator[Paragraph]:
    """The rest of what is known of it; `is_asked` where it could have told its uid."""
    if row.night is not None:
        yield paragraph(f"{night_words(row.night)} in 24 hours", label="Night")
    if row.done_by is not None:
        yield paragraph(f"9 of 10 by {render.time(row.done_by, None)}", label="Done")
    if row.late:
        yield paragraph(_late(row, render), Tone.BAD, label="Late")
    if row.slots is not None:
        waiting = f", {row.waiting} waiting" if row.waiting else ""
        yield paragraph(f"{row.slots_in_use} of {row.slots} in use{waiting}", label="Slots")
    if row.unavailable:
        yield paragraph(f"{humanize.join(row.unavailable)} unavailable", Tone.BAD, label="Storage")
    if row.paused:
        yield paragraph(humanize.count(row.paused, "schedule"), Tone.PAUSED, label="Paused")
    if row.releases:
        yield paragraph(humanize.join(row.releases), label="Velero")
    if names := other_names(row):
        yield paragraph(names, Tone.WARN, label="Cluster")
    if not row.uids and is_asked:
        yield paragraph("told apart by its name alone: its uid is not known", Tone.DIM, label="Cluster")


def _late(row: ClusterRow, render: RenderContext) -> str:
    counted = humanize.count(row.late, "namespace")
    return (
        f"{counted}, {row.oldest_late[0]} since {render.time(row.oldest_late[1], None)}" if row.oldest_late else counted
    )
