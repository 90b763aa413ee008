"""`foretop watch`: a sentence, or a command, for every finding that comes, changes or goes."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.finding_sentences import UNTOLD, FindingSentences, why_untold
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import bearer_token, running_session, until_ended, wait_evidence
from foretop.commands.output import say, warn
from foretop.commands.view_rows import FindingRows, RowChange, row_changes
from foretop.commands.watch_receivers import EVENTS, Alertmanager, Receiver, Webhook
from foretop_core.errors import BadInput, ForetopError
from foretop_core.foreign_text import redacted_values
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.process_group import end_process_group
from foretop_core.rules.triage import Severity
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.text.terminal_text import LONGEST

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
@click.option("--webhook", metavar="URL", help="Send each change there as JSON instead of printing it.")
@click.option("--alertmanager", metavar="URL", help="Keep an alert there for each finding, instead of printing it.")
@click.option("--token-file", metavar="FILE", help="The bearer token for these.")
@click.option(
    "--heartbeat",
    default=0,
    type=click.IntRange(0),
    metavar="MINUTES",
    help="Send the webhook the event alive where nothing else was sent for so long.",
)
@click.option("--existing", is_flag=True, help="Also what is found at the start; otherwise only what is new after it.")
@click.option("--once", is_flag=True, help="End after the first change.")
@connection_options
def command(
    session_options: SessionOptions,
    hook: str | None,
    severity: str,
    webhook: str | None,
    alertmanager: str | None,
    token_file: str | None,
    heartbeat: int,
    existing: bool,
    once: bool,
) -> int:
    """Watch for findings until interrupted: print a sentence for each change, or run a command.

    CMD gets the finding as JSON on standard input and in FORETOP_EVENT (new, changed, resolved, untold: too old, or
    of an object that is gone), FORETOP_SEVERITY, FORETOP_CODE, FORETOP_CONTEXT, FORETOP_KIND, FORETOP_NAMESPACE,
    FORETOP_NAME and FORETOP_WHAT. One runs at a time, and none for a finding that is acknowledged. One that has not
    ended after a minute is ended with all that it has started, so that the next change is not held up.

    Alertmanager gets what is there at the start too, each finding for as long as it lasts, by the names of the alerts
    in packaging/mixin, and ForetopWatching for as long as foretop watches.
    """
    levels = frozenset(level.value for level in _LEVELS[severity])
    if once and (webhook or alertmanager):
        raise BadInput("--once is for --exec and for what is printed", "a receiver is told for as long as it lasts")

    async def watch() -> int:
        token, receivers = bearer_token(token_file), list[Receiver]()
        if webhook is not None:
            receivers.append(Webhook(webhook, token, 60.0 * heartbeat))
        if alertmanager is not None:
            receivers.append(Alertmanager(alertmanager, token))
        async with asyncio.TaskGroup() as group:
            sending = [group.create_task(one.deliver()) for one in receivers]
            code = await _watch(session_options, hook, levels, existing, once, receivers)
            for task in sending:
                task.cancel()
        return code

    return asyncio.run(until_ended(watch()))


async def _watch(
    session_options: SessionOptions,
    hook: str | None,
    levels: frozenset[str],
    existing: bool,
    once: bool,
    receivers: Sequence[Receiver],
) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        with suppress(ForetopError):
            # All that is there comes in first, and is no news; a cluster that does not answer is a finding.
            await wait_evidence(session)
        sentences = FindingSentences(why_untold(session))
        counts = existing
        async for changes in row_changes(FindingRows(session, "")):
            lines = sentences.of(change for change in changes if change.item["severity"] in levels)
            for receiver in receivers:
                for change, _ in lines if counts or isinstance(receiver, Alertmanager) else ():
                    receiver.take(change)
            for change, line in lines if counts else ():
                if hook is None and receivers:
                    continue
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
    body = json.dumps({"event": EVENTS[change.type], "finding": item}, ensure_ascii=False)
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
        "FORETOP_EVENT": EVENTS[event],
        **{f"FORETOP_{name.upper()}": str(item[name])[:LONGEST].replace("\0", "") for name in names},
    }
