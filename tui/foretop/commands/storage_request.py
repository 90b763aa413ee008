"""`foretop storage-request`: approve or reject storage requested by tenants."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from foretop.commands.connection import connection_options
from foretop.commands.object_selection import select_one
from foretop.commands.write_command import (
    WriteOptions,
    acting_options,
    open_session,
    run_action,
    run_async,
    verb_of,
)
from foretop_core.actions import action_catalog
from foretop_core.actions.nonadmin import Decision, plan_decide
from foretop_core.actions.plans import Plan
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import NABSL_REQUEST
from foretop_core.rules.snapshot import ClusterSnapshot


@click.group("storage-request")
def command() -> None:
    """Approve or reject storage requested by tenants.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.DECIDE_STORAGE)
@click.argument("names", nargs=-1, required=True)
@connection_options
@acting_options
def approve(names: tuple[str, ...], session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Let Velero use the storage location of a tenant."""
    return run_async(_decide(session_options, write_options, names, "approve"))


@verb_of(command, action_catalog.DECIDE_STORAGE, 1)
@click.argument("names", nargs=-1, required=True)
@connection_options
@acting_options
def reject(names: tuple[str, ...], session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Refuse the storage location of a tenant."""
    return run_async(_decide(session_options, write_options, names, "reject"))


async def _decide(
    session_options: SessionOptions, write_options: WriteOptions, names: tuple[str, ...], decision: Decision
) -> int:
    async with open_session(session_options, (NABSL_REQUEST,)) as at:
        requests = at.snapshot.storage_requests
        items = [select_one(at.snapshot, NABSL_REQUEST, requests, name) for name in dict.fromkeys(names)]

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_decide(snapshot, some, decision, now)

        return await run_action(at, planner, items, write_options)
