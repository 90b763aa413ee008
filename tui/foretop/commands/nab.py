"""`foretop nab`: delete a non-admin backup, read its log and results."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from foretop.commands.connection import connection_options
from foretop.commands.log_output import LogOptions, log_options, show_log
from foretop.commands.object_selection import ObjectSelection, choosing_options, select_one
from foretop.commands.results_output import add_results
from foretop.commands.write_command import (
    WriteOptions,
    acting_options,
    open_session,
    run_action,
    run_async,
    verb_of,
    wait_option,
    wants_to_wait,
)
from foretop_core.actions import action_catalog, velero_pickup
from foretop_core.actions.nonadmin import FORCE_FIELD, plan_delete_nab
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.schema_probe import serves_field
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, NAB, NAR, STORAGE
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (NAB, NAR, BACKUP, STORAGE)


@click.group("nab")
def command() -> None:
    """Delete non-admin backups, and read their logs and results.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.DELETE_NAB)
@choosing_options
@click.option("--force", is_flag=True, help="Use spec.forceDeleteBackup if the cluster supports it: the data stays.")
@wait_option
@connection_options
@acting_options
def delete(
    selection: ObjectSelection,
    force: bool,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Delete non-admin backups with their data, by spec.deleteBackup."""
    return run_async(_delete(session_options, write_options, selection, force, wants_to_wait(wait)))


async def _delete(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    force: bool,
    wait: bool,
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.nonadmin_deletion_probe(NAB.name, step.target.namespace, step.target.name)

    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, NAB, at.snapshot.nabs)
        served = await serves_field(at.executor.client, NAB, FORCE_FIELD)

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_delete_nab(snapshot, some, now, force=force, serves_force=served)

        return await run_action(at, planner, items, write_options, probe=probe if wait else None)


@command.command("logs")
@click.argument("name")
@log_options
@connection_options
def logs(name: str, wanted: LogOptions, session_options: SessionOptions) -> int:
    """Print the log of a non-admin backup, where its rules allow."""
    return run_async(_logs(session_options, name, wanted))


async def _logs(session_options: SessionOptions, name: str, wanted: LogOptions) -> int:
    async with open_session(session_options, KINDS) as at:
        return await show_log(at, select_one(at.snapshot, NAB, at.snapshot.nabs, name), wanted)


add_results(
    command,
    NAB,
    lambda snapshot: snapshot.nabs,
    KINDS,
    "a non-admin backup, by namespace and resource, where its rules allow",
)
