"""Asks a cluster for the names that the shell completes, and keeps them for the next tab key."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from foretop.commands.connection import connection_options
from foretop_core.clock import SystemClock
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.connection.list_watch_codec import read_page
from foretop_core.models.kinds import (
    BACKUP,
    NAB,
    NABSL,
    NABSL_REQUEST,
    NAMESPACE,
    NAR,
    PRESCALED,
    RESTORE,
    SCHEDULE,
    STORAGE,
    Kind,
)
from foretop_core.models.wire import Resource, decode
from foretop_core.own_files import replace_own_file

_MOST = 500
_KINDS = {
    "schedule": SCHEDULE,
    "schedules": SCHEDULE,
    "backup": BACKUP,
    "backups": BACKUP,
    "restore": RESTORE,
    "restores": RESTORE,
    "nab": NAB,
    "nar": NAR,
    "bsl": STORAGE,
    "storage": STORAGE,
    "nabsl": NABSL,
    "storage-request": NABSL_REQUEST,
    "prescaled": PRESCALED,
}


@click.command("__complete-refresh", hidden=True)
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("kind")
@connection_options
def command(path: Path, kind: str, session_options: SessionOptions) -> int:
    """Write the names of objects for the shell's completion."""
    names = asyncio.run(_names(kind, session_options))
    replace_own_file(path, json.dumps(names, ensure_ascii=False).encode(errors="replace"))
    return 0


async def _names(kind: str, session_options: SessionOptions) -> list[str]:
    names: set[str] = set()
    for client in connect(session_options.connect, os.environ, SystemClock(), read_only=True).clients.values():
        try:
            if kind == "namespace":
                names |= await _listed(client, NAMESPACE, "")
                continue
            object_kind = _KINDS[kind.removeprefix("object:")]
            names |= await _of_kind(client, object_kind, session_options.namespaces)
        finally:
            await client.close()
    return sorted(names)


async def _of_kind(client: ApiClient, kind: Kind, namespaces: Sequence[str]) -> set[str]:
    """Plain names within a namespace; else each with its own, where several have the same name."""
    if namespaces:
        lists = [await _listed(client, kind, place) for place in namespaces]
        return set().union(*lists)
    return await _listed(client, kind, "")


async def _listed(client: ApiClient, kind: Kind, namespace: str) -> set[str]:
    answer = await client.request("GET", api_paths.collection(kind, namespace), {"limit": str(_MOST)})
    # A server may send more than it was asked for.
    items = [decode(Resource, raw) for raw in (read_page(answer.body, kind).items or [])[:_MOST]]
    names = Counter(item.name for item in items)
    twice = set() if namespace else {name for name, count in names.items() if count > 1}
    return {f"{item.namespace}/{item.name}" if item.name in twice else item.name for item in items}
