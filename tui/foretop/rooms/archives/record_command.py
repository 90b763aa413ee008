"""`foretop record`: what happens in a cluster, an event a line, until it is ended."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from pathlib import Path

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.output import say, say_to
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import ON_DEMAND
from foretop_core.rooms.archives.beside import read_beside
from foretop_core.rooms.archives.recorder import Recorder
from foretop_core.rules import humanize
from foretop_core.session import Session

_MIB = 2**20
_ON_DEMAND = frozenset(kind.name for kind in ON_DEMAND)
_LOOK_AGAIN, _READ_AGAIN = 2.0, 300.0
"""Seconds between two looks at what is watched, and two reads of what is not."""


@click.command("record", cls=OwnOptionsFirst, epilog=example("foretop record -o night.jsonl --for 12h"))
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="The recording to write, a new .jsonl.")
@click.option("--for", "length", metavar="DURATION", help="End after this long, such as 12h; else with ctrl+c.")
@click.option(
    "--most",
    default=200,
    show_default=True,
    type=click.IntRange(2, 10_000),
    metavar="MIB",
    help="Disk space at most; when half of it is full, the older half goes.",
)
@connection_options
def command(target: str, length: str | None, most: int, session_options: SessionOptions) -> int:
    """Record what happens in a cluster; foretop open shows it as of any moment.

    Secrets are not read; signed addresses, and the annotations and commands of tenants, are left out.
    """
    lasts = humanize.read_duration(length) if length else None
    if length and lasts is None:
        raise click.UsageError(f"--for {length!r} is not a duration such as 30m or 12h")
    if not target.endswith(".jsonl"):
        raise click.UsageError(f"-o {target}: the name of a recording ends in .jsonl")
    seconds = lasts.total_seconds() if lasts is not None else None
    return asyncio.run(_record(session_options, Path(target), most * _MIB, seconds))


async def _record(options: SessionOptions, target: Path, most: int, seconds: float | None) -> int:
    async with running_session(replace(options, with_velero=True)) as session:
        if len(session.contexts) != 1:
            raise click.UsageError("a recording is of exactly one --context")
        (context,) = session.contexts
        recorder = Recorder(target, most, session.store, context, session.clock(context))
        try:
            with suppress(TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(seconds):
                    await _follow(session, context, recorder)
        finally:
            recorder.close()
    older = f" and {recorder.older}" if recorder.older.exists() else ""
    if recorder.failed is not None:
        why = recorder.failed.strerror or str(recorder.failed)
        raise BadInput(f"{target} breaks off", why, f"foretop open {target} shows it up to there")
    say(f"{target}{older}: {humanize.count(recorder.events, 'event')}; foretop open {target} shows it.")
    return 0


async def _follow(session: Session, context: str, recorder: Recorder) -> None:
    """Until the disk is full."""
    await wait_synced(session)
    # Where a Velero is becomes known with the first lists.
    session.watch_on_demand(_ON_DEMAND)
    await wait_synced(session)
    recorder.begin()
    say_to(f"Recording {context} to {recorder.path}; ctrl+c ends it.", err=True)
    read_at = -math.inf
    while recorder.failed is None:
        recorder.note_watched()
        if time.monotonic() - read_at >= _READ_AGAIN:
            recorder.take_beside(await read_beside(session.clusters[context].client, session.snapshot(context)))
            session.watch_on_demand(_ON_DEMAND)
            read_at = time.monotonic()
        await asyncio.sleep(_LOOK_AGAIN)
