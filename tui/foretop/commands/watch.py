"""`foretop watch`: a sentence, or a command, for every finding that comes, changes or goes."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.finding_sentences import UNTOLD, FindingSentences, why_untold
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, until_ended
from foretop.commands.output import say, warn
from foretop.commands.view_rows import FindingRows, RowChange, row_changes
from foretop_core.errors import ForetopError
from foretop_core.foreign_text import redacted_values
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.process_group import end_process_group
from foretop_core.rules.triage import Severity
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.text.terminal_text import LONGEST

_EVENTS = {"ADDED": "new", "MODIFIED": "changed", "DELETED": "resolved", UNTOLD: "untold"}
HOOK_LIMIT = 60.0
_HOOK_HELP = f"Run this shell command for each change instead of printing it; it has {HOOK_LIMIT:g} seconds."
_LEVELS = {severity.value: tuple(Severity)[: place + 1] for place, severity in enumerate(Severity)}


@click.command(
    "watch",
    cls=OwnOptionsFirst,
    epilog=example(
        "foretop watch --severity error --exec 'logger -t foretop \"$FORETOP_EVENT $FORETOP_NAME $FORETOP_WHAT\"'"
    ),
)
@click.option("--exec", "hook", metavar="CMD", help=_HOOK_HELP)
@click.option(
    "--severity",
    type=click.Choice(list(_LEVELS)),
    default="warning",
    show_default=True,
    help="The least severity that counts.",
)
@click.option("--existing", is_flag=True, help="Also what is found at the start; otherwise only what is new after it.")
@click.option("--once", is_flag=True, help="End after the first change.")
@connection_options
def command(session_options: SessionOptions, hook: str | None, severity: str, existing: bool, once: bool) -> int:
    """Watch for findings until interrupted: print a sentence for each change, or run a command.

    CMD gets the finding as JSON on standard input and in FORETOP_EVENT (new, changed, resolved, untold: too old, or
    of an object that is gone), FORETOP_SEVERITY, FORETOP_CODE, FORETOP_CONTEXT, FORETOP_KIND, FORETOP_NAMESPACE,
    FORETOP_NAME and FORETOP_WHAT. One runs at a time, and none for a finding that is acknowledged. One that has not
    ended after a minute is ended with all that it has started, so that the next change is not held up.
    """
    levels = frozenset(level.value for level in _LEVELS[severity])
    return asyncio.run(until_ended(_watch(session_options, hook, levels, existing, once)))


async def _watch(
    session_options: SessionOptions, hook: str | None, levels: frozenset[str], existing: bool, once: bool
) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        await asyncio.gather(*(session.settled(name) for name in session.contexts), return_exceptions=True)
        sentences = FindingSentences(why_untold(session))
        counts = existing
        async for changes in row_changes(FindingRows(session, "")):
            lines = sentences.of(change for change in changes if change.item["severity"] in levels)
            for change, line in lines if counts else ():
                if hook is None:
                    say(line)
                    sys.stdout.flush()
                elif change.type in ("DELETED", UNTOLD) or change.item["acknowledged"] is None:
                    await _run(hook, change)
            if once and counts and lines:
                return 0
            counts = True
    return 0


async def _run(hook: str, change: RowChange, limit: float = HOOK_LIMIT) -> None:
    """One failure costs itself only: it is named, and the watch goes on."""
    item = redacted_values(change.item)
    environ = {**os.environ, **_environment(change.type, item)}
    try:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_shell(hook, stdin=asyncio.subprocess.PIPE, env=environ, start_new_session=True)
        )
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # It may be running by now, and only who has started it can end it with all its helpers.
        await end_process_group(await starting)
        raise
    except OSError as problem:
        warn([ForetopError("The command of --exec cannot be run", problem.strerror or str(problem))])
        return
    body = json.dumps({"event": _EVENTS[change.type], "finding": item}, ensure_ascii=False)
    try:
        async with asyncio.timeout(limit):
            await process.communicate(f"{body}\n".encode())
    except TimeoutError:
        await end_process_group(process)
        warn([ForetopError("The command of --exec was ended", f"it took more than {limit:g} s")])
        return
    except asyncio.CancelledError:
        await end_process_group(process)
        raise
    if process.returncode:
        warn([ForetopError("The command of --exec failed", f"exit code {process.returncode}")])


def _environment(event: str, item: Item) -> dict[str, str]:
    names = ("severity", "code", "context", "kind", "namespace", "name", "what")
    return {
        "FORETOP_EVENT": _EVENTS[event],
        **{f"FORETOP_{name.upper()}": str(item[name])[:LONGEST].replace("\0", "") for name in names},
    }
