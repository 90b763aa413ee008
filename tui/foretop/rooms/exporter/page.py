"""The page of the fleet: a row for each cluster, worst first, and what is wrong in the one under the cursor."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from heapq import nsmallest
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message

from foretop.bindings import Handler, key_name
from foretop.pages.page import PageAddress, PageHost
from foretop.pages.table_page import TablePage
from foretop.panes.page_records import ScreenPage, signs_of
from foretop.widgets.paragraphs import Line, Paragraph, lead, paragraph, span
from foretop_core.dashboard.object_fetch import set_scope
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.exporter import PAGE
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState
from foretop_core.rooms.exporter.fleet_table import FleetTableModel
from foretop_core.rooms.exporter.fleet_view import FLEET, night_words
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
        return self._grouped(tuple(_pane(row, state))) if row is not None else ()

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
        self.run_worker(self._learn_uids(), group="uids", exclusive=True)

    def left(self) -> None:
        super().left()
        self.workers.cancel_group(self, "fleet")

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
        if self.state is not None and self.table.cursor is not None:
            # Before the other page comes, which has its rows from the first paint on.
            set_scope(self.state, "", self.table.cursor.context)
            await self.host.go(PageAddress("triage", filter="", jumped=True))


PAGE_CLASS = FleetPage


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
    if not row.uids and is_asked:
        yield paragraph("told apart by its name alone: its uid is not known", Tone.DIM, label="Cluster")


def _late(row: ClusterRow, render: RenderContext) -> str:
    counted = humanize.count(row.late, "namespace")
    return (
        f"{counted}, {row.oldest_late[0]} since {render.time(row.oldest_late[1], None)}" if row.oldest_late else counted
    )
