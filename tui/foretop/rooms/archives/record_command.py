"""`foretop record`: what happens in a cluster, an event a line, until it is ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.output import say, say_to
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import ON_DEMAND
from foretop_core.rooms.archives.recorder import Recorder
from foretop_core.rules import humanize
from foretop_core.session import Session

_MIB = 2**20


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
        recorder = Recorder(target, most, session.store, session.contexts[0])
        try:
            session.watch_on_demand(frozenset(kind.name for kind in ON_DEMAND))
            with suppress(TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(seconds):
                    await _follow(session, recorder)
        finally:
            recorder.close()
    older = f" and {recorder.older}" if recorder.older.exists() else ""
    say(f"{target}{older}: {humanize.count(recorder.events, 'event')}; foretop open {target} shows it.")
    return 0


async def _follow(session: Session, recorder: Recorder) -> None:
    changed = asyncio.Event()
    feed = session.store.feed.subscribe(None, changed.set)
    (context,) = session.contexts
    await wait_synced(session)
    say_to(f"Recording {context} to {recorder.path}; ctrl+c ends it.", err=True)
    while True:
        recorder.write(feed.drain().items(), session.clock(context).now())
        await changed.wait()
        changed.clear()
