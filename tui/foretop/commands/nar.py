"""`foretop nar`: delete a non-admin restore, read its results."""

from __future__ import annotations

import click

from foretop.commands.connection import connection_options
from foretop.commands.object_selection import ObjectSelection, choosing_options
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
from foretop_core.actions.nonadmin import plan_delete_nar
from foretop_core.actions.plans import PlanStep
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE, STORAGE


@click.group("nar")
def command() -> None:
    """Delete non-admin restores, and read what went wrong in them.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.DELETE_NAR)
@choosing_options
@wait_option
@connection_options
@acting_options
def delete(
    selection: ObjectSelection,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Delete non-admin restores; what they have restored stays."""
    return run_async(_delete(session_options, write_options, selection, wants_to_wait(wait)))


async def _delete(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    wait: bool,
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.nonadmin_deletion_probe(NAR.name, step.target.namespace, step.target.name)

    async with open_session(session_options, (NAR, RESTORE)) as at:
        items = selection.of(at.snapshot, NAR, at.snapshot.nars)
        return await run_action(at, plan_delete_nar, items, write_options, probe=probe if wait else None)


add_results(
    command,
    NAR,
    lambda snapshot: snapshot.nars,
    (NAR, NAB, RESTORE, BACKUP, STORAGE),
    "a non-admin restore, by namespace and resource, where its rules allow",
)
