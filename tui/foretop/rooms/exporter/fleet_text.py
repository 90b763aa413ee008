"""The fleet as text or JSON, printed once: what `foretop fleet` does where there is no terminal."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from foretop.commands.live_session import running_session
from foretop.commands.output import emit, say, table, warn
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import ClusterSample
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState, Series, fleet, merged, series_of
from foretop_core.rooms.exporter.fleet_view import COLUMNS, cluster_item, other_names
from foretop_core.rooms.exporter.prometheus import PrometheusServer, Reply, ask
from foretop_core.store import Store
from foretop_core.tables.engine.json_items import as_list
from foretop_core.tables.engine.render_context import RenderContextFactory

_BAD = (ClusterState.NO_NEWS, ClusterState.ERRORS)
_NARROW = ("state", "name", "finding", "since", "done_by")
"""The columns on a terminal with fewer cells than this."""
_WIDE = 160


def print_fleet(watched: SessionOptions | None, server: PrometheusServer | None, form: str) -> int:
    """The exit code, once the clusters that are watched and the Prometheus have answered, or are known not to.

    Raises ForetopError where it does not answer, after what is watched was printed; what it could not ask itself is as
    a cluster without news.
    """
    samples, reply = asyncio.run(_told(watched, server))
    if isinstance(reply, ForetopError):
        if watched is not None:
            _print(map(series_of, samples), (), form)
        raise reply
    code = _print(map(series_of, samples), reply.series, form)
    warn(reply.gaps)
    return 1 if reply.gaps else code


async def _told(
    watched: SessionOptions | None, server: PrometheusServer | None
) -> tuple[Sequence[ClusterSample], Reply | ForetopError]:
    return await asyncio.gather(_watched(watched), _asked(server))


async def _asked(server: PrometheusServer | None) -> Reply | ForetopError:
    try:
        return await ask(server) if server is not None else Reply((), ())
    except ForetopError as problem:
        return problem


async def _watched(session_options: SessionOptions | None) -> Sequence[ClusterSample]:
    if session_options is None:
        return ()
    async with running_session(session_options) as session:
        collector = Collector(session, {}, 0, os.environ, waits=True)
        await collector.settle()
        return await collector.samples()


def _print(watched: Iterable[Series], asked: Iterable[Series], form: str) -> int:
    now = datetime.now(UTC)
    rows = merged(fleet(watched, now), fleet(asked, now))
    if form == "text":
        _print_table(rows, now)
    else:
        emit(as_list([cluster_item(row) for row in rows]), form)
    return 1 if any(row.state in _BAD for row in rows) else 0


def _print_table(rows: Sequence[ClusterRow], now: datetime) -> None:
    if not rows:
        say("No cluster: there are no metrics of a foretop exporter.")
        return
    is_narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDE
    columns = [column for column in COLUMNS if not is_narrow or column.name in _NARROW]
    # Nothing in a row is of a store: only the moment and the zone are asked for.
    render = RenderContextFactory(Store(), "").render_context(now)
    cells = [[column.text(row, render) or "-" for column in columns] for row in rows]
    table([column.title for column in columns], cells, indent="")
    for row in rows:
        if len(row.uids) > 1:
            say(f"{len(row.uids)} clusters are called {row.cluster}: give each exporter a --cluster-label.")
        elif not row.uids:
            say(f"{row.cluster} is told apart by its name alone: its uid is not known.")
        if names := other_names(row):
            say(f"{row.cluster}: {names}.")
