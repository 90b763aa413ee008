"""`foretop gather`: an archive of what foretop reads of a cluster, shown before it is written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import judged_state, running_session, wait_synced
from foretop.commands.output import say, say_progress, table, warn
from foretop.commands.write_command import run_async
from foretop_core.actions.journal import Journal, default_path
from foretop_core.background import in_thread
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import ON_DEMAND
from foretop_core.own_files import read_file
from foretop_core.rooms.archives.gather import Gathered, add_own, gather
from foretop_core.rules import humanize
from foretop_core.rules.sentences import render

_MOST_LOG = 16 * 2**20


@click.command("gather", cls=OwnOptionsFirst, epilog=example("foretop gather -o incident.tar.gz"))
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="The archive to write, a new tar.gz.")
@click.option("--with-texts", is_flag=True, help="Keep annotations and commands in tenants' own objects.")
@click.option("--own-log", metavar="PATH", help="Add this log of foretop, as --log-file wrote it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@connection_options
def command(target: str, with_texts: bool, own_log: str | None, yes: bool, session_options: SessionOptions) -> int:
    """Write what foretop reads of a cluster, its findings and its journal to an archive, in must-gather's layout.

    Secrets are not read, signed addresses and passwords are taken out. What will be in it is shown first.
    foretop open shows it as the cluster was.
    """
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("no terminal to ask on: give --yes")
    if os.path.lexists(target):
        raise BadInput(f"{target} is not written", "it exists already", "give a new name")
    return run_async(_gather(session_options, Path(target), own_log, with_texts=with_texts, asks=not yes))


async def _gather(options: SessionOptions, target: Path, own_log: str | None, *, with_texts: bool, asks: bool) -> int:
    async with running_session(replace(options, with_velero=True)) as session:
        if len(session.contexts) != 1:
            raise click.UsageError("an archive is of exactly one --context")
        (context,) = session.contexts
        await wait_synced(session)
        session.watch_on_demand(frozenset(kind.name for kind in ON_DEMAND))
        await wait_synced(session)
        gathered = await gather(session, context, say_progress, with_texts=with_texts)
        state = await judged_state(session)
        journal = await Journal(default_path(os.environ)).read_in_thread()
        log = await in_thread(lambda: read_file(Path(own_log), _MOST_LOG)) if own_log else b""
        add_own(gathered, _findings(state, context), (one for one in journal if one.context == context), log)
        packed = await in_thread(lambda: gathered.packed(state.now(context)))
    _show(gathered, target, len(packed))
    if asks and not click.confirm("Write it?", default=False, err=True):
        raise click.Abort
    _write(target, packed)
    say(f"{target} is written: foretop open {target} shows it.")
    return 1 if gathered.problems else 0


def _findings(state: DashboardState, context: str) -> Iterator[str]:
    now = state.now(context)
    for finding in (*state.findings, *state.acknowledged):
        since = f", since {humanize.time(finding.since, now)}" if finding.since else ""
        yield f"{finding.severity.value}  {finding.subject}: {render(finding.what, now)}{since}"
        yield f"    {render(finding.evidence, now)}"


def _show(gathered: Gathered, target: Path, size: int) -> None:
    """Everything that would leave the house, before it is written."""
    rows = [[f"{count:,}", kind] for kind, count in sorted(gathered.counts.items())]
    texts = [name for name in gathered.files if name.endswith((".log", ".txt"))]
    rows += [[humanize.size(len(gathered.files[name])), name.rpartition("/")[2]] for name in texts]
    table(["", "IN IT"], rows)
    warn(gathered.problems)
    files, whole = humanize.count(len(gathered.files), "file"), humanize.size(gathered.size)
    say(f"{target}: {files}, {whole}, packed {humanize.size(size)}.")


def _write(target: Path, packed: bytes) -> None:
    try:
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(packed)
    except OSError as problem:
        raise BadInput(f"{target} is not written", problem.strerror or str(problem), "give another place") from None
