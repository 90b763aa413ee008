"""`foretop fleet`: a row for each cluster, worst first, by watching them or by asking Prometheus."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import shutil
import ssl
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import bearer_token, running_session
from foretop.commands.output import emit, output_option, say, table
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.connection.kubeconfig import read_kubeconfig
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import ClusterSample
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState, LastRuns, fleet, series_of
from foretop_core.rooms.exporter.prometheus import PrometheusServer, ask
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.tables.engine.json_items import as_list

_BAD = (ClusterState.NO_NEWS, ClusterState.ERRORS)
_HEAD = ("STATE", "CLUSTER", "WORST", "SINCE", "NIGHT", "DONE BY", "LATE", "PAUSED", "QUEUE", "STORAGE", "VELERO")
_NARROW = ("STATE", "CLUSTER", "WORST", "SINCE", "DONE BY")
"""The columns on a terminal with fewer cells than this."""
_WIDE = 160


@click.command("fleet", cls=OwnOptionsFirst, epilog=example("foretop fleet --prometheus https://thanos.example:9090"))
@click.option("--prometheus", "url", metavar="URL", help="Ask a Prometheus, Thanos or Mimir for exporters' metrics.")
@click.option("--prometheus-token-file", "token_file", metavar="FILE", help="The bearer token for it.")
@click.option("--prometheus-ca", "authority", metavar="FILE", help="The certificate authority of it, PEM.")
@connection_options
@output_option
@judging
def command(
    session_options: SessionOptions, url: str | None, token_file: str | None, authority: str | None, form: str
) -> int:
    """A row for each cluster, worst first: the contexts that are given, or else all of the kubeconfig.

    NIGHT counts the backups of the last 24 hours that completed, failed in part and failed, and the runs of the next
    24 hours that are not expected to be made.
    """
    if url is not None:
        server = PrometheusServer(url, bearer_token(token_file), _trusting(authority))
        server.check()
        series = asyncio.run(ask(server))
    elif token_file or authority:
        raise BadInput("--prometheus-token-file and --prometheus-ca are for --prometheus", "there is no --prometheus")
    else:
        series = list(map(series_of, asyncio.run(_watched(session_options))))
    now = datetime.now(UTC)
    rows = fleet(series, now)
    if form == "text":
        _print(rows, now)
    else:
        emit(as_list([_item(row) for row in rows]), form)
    if any(row.state in _BAD for row in rows):
        return 1
    return 0


async def _watched(session_options: SessionOptions) -> Sequence[ClusterSample]:
    connect = session_options.connect
    if not connect.contexts:
        known = read_kubeconfig(connect, os.environ).contexts
        connect = dataclasses.replace(connect, contexts=tuple(known))
    async with running_session(replace(session_options, connect=connect, with_velero=True)) as session:
        collector = Collector(session, {}, 0, os.environ, waits=True)
        for _ in range(2):
            # Where the volumes are is known only after the first. A cluster that does not answer has a row too.
            await asyncio.gather(*(session.settled(name) for name in session.contexts), return_exceptions=True)
            collector.look(at_once=True)
        return await collector.samples()


def _trusting(authority: str | None) -> ssl.SSLContext | None:
    if authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as problem:
        raise BadInput(f"Cannot use {authority}", problem.strerror or str(problem)) from None


def _print(rows: Sequence[ClusterRow], now: datetime) -> None:
    if not rows:
        say("No cluster: there are no metrics of a foretop exporter.")
        return
    cells = [_HEAD, *(_cells(row, now) for row in rows)]
    if sys.stdout.isatty() and shutil.get_terminal_size().columns < _WIDE:
        cells = [tuple(row[_HEAD.index(name)] for name in _NARROW) for row in cells]
    table(cells[0], cells[1:], indent="")
    for row in rows:
        if len(row.uids) > 1:
            say(f"{len(row.uids)} clusters are called {row.cluster}: give each exporter a --cluster-label.")
        elif not row.uids:
            say(f"{row.cluster} is told apart by its name alone: its uid is not known.")


def _cells(row: ClusterRow, now: datetime) -> tuple[str, ...]:
    worst = row.worst
    news = f"no news for {humanize.duration(timedelta(seconds=row.stale))}" if row.stale >= 1 else row.state.value
    queue = f"{row.waiting} waiting, slots {row.slots_in_use}/{row.slots}" if row.slots is not None else "-"
    late = f"{row.late}, {row.oldest_late[0]} since {humanize.time(row.oldest_late[1], now)}" if row.oldest_late else ""
    return (
        news,
        row.cluster,
        worst.code if worst is not None else "-",
        humanize.time(worst.since, now) if worst is not None and worst.since is not None else "-",
        _night(row.night),
        humanize.time(row.done_by, now) if row.done_by is not None else "-",
        late or str(row.late or "-"),
        str(row.paused or "-"),
        queue,
        f"{', '.join(row.unavailable)} unavailable" if row.unavailable else "-",
        ", ".join(row.releases) or "not known",
    )


def _night(night: LastRuns | None) -> str:
    if night is None:
        return "-"
    parts = ((night.partly_failed, "partly"), (night.failed, "failed"), (night.expected_lost, "to be lost"))
    return ", ".join([f"{night.completed} made", *(f"{count} {word}" for count, word in parts if count)])


def _item(row: ClusterRow) -> dict[str, Any]:
    """The row with its names as in all JSON."""
    night, worst, late = row.night, row.worst, row.oldest_late
    return {
        "cluster": row.cluster,
        "uids": list(row.uids),
        "state": row.state.value,
        "judgedAt": rfc3339(row.judged),
        "secondsWithoutNews": row.stale,
        "worstFinding": worst.code if worst is not None else None,
        "worstSeverity": worst.severity.value if worst is not None else None,
        "worstSince": rfc3339(worst.since) if worst is not None else None,
        "errors": row.errors,
        "warnings": row.warnings,
        "versions": list(row.releases),
        "slots": row.slots,
        "slotsInUse": row.slots_in_use,
        "waiting": row.waiting,
        "completedLastDay": night.completed if night is not None else None,
        "partlyFailedLastDay": night.partly_failed if night is not None else None,
        "failedLastDay": night.failed if night is not None else None,
        "runsExpectedLost": night.expected_lost if night is not None else None,
        "nightDoneBy": rfc3339(row.done_by),
        "lateNamespaces": row.late,
        "oldestLate": late[0] if late is not None else None,
        "oldestLateCopyAt": rfc3339(late[1]) if late is not None else None,
        "pausedSchedules": row.paused,
        "unavailableStorage": list(row.unavailable),
    }
