"""`foretop doctor`: checks of a cluster, one per line, and how to fix what is missing."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import click

from foretop.commands.connection import connection_options
from foretop.commands.output import emit, output_option, say
from foretop_core.actions.intents import told_rights
from foretop_core.clock import SystemClock
from foretop_core.kube.access.doctor_checks import Check, CheckStatus, diagnose
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.connection.open_connections import connect
from foretop_core.rules.dialects import NONE_GIVEN
from foretop_core.tables.resources.json_items import as_list

_SIGNS = {CheckStatus.OK: "✓", CheckStatus.NOTE: "·", CheckStatus.MISSING: "✗", CheckStatus.FAILED: "✗"}


@click.command("doctor")
@connection_options
@output_option
def command(session_options: SessionOptions, form: str) -> int:
    """What foretop finds in the cluster, and what it lacks.

    Exit code: 0 all there, 1 something needed is missing or not allowed, 2 no connection.
    """
    return asyncio.run(_examine(session_options, form))


async def _examine(session_options: SessionOptions, form: str) -> int:
    clock = SystemClock()
    named = NamespaceSelection(session_options.namespaces, session_options.velero_namespace, with_velero=True)
    connections = connect(session_options.connect, os.environ, clock, read_only=True)
    given = session_options.velero_versions or NONE_GIVEN
    given.check(connections.clients)
    items: list[dict[str, Any]] = []
    verdicts: set[CheckStatus] = set()
    for context, client in connections.clients.items():
        try:
            async for check in diagnose(client, clock, named, told_rights(), given.of(context)):
                verdicts.add(check.verdict)
                items.append({"context": context, **_item(check)})
                if form == "text":
                    _print(check)
        finally:
            await client.close()
    if form != "text":
        emit(as_list(items), form)
    return 2 if CheckStatus.FAILED in verdicts else 1 if CheckStatus.MISSING in verdicts else 0


def _item(check: Check) -> dict[str, Any]:
    return {"about": check.about, "verdict": check.verdict.value, "found": check.found, "remedy": check.remedy}


def _print(check: Check) -> None:
    say(f"{_SIGNS[check.verdict]} {check.about}: {check.found}")
    if check.remedy:
        say(f"    {check.remedy}")
