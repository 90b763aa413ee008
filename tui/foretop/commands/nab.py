"""`foretop nab`: delete a non-admin backup, read its log and results."""

from __future__ import annotations

import click

from foretop.commands.connection import connection_options
from foretop.commands.log_output import LogOptions, log_options, show_log
from foretop.commands.object_selection import ObjectSelection, choosing_options, select_one
from foretop.commands.results_output import add_results
from foretop.commands.write_command import CommandSession, acting_options, in_session, verb_of, wait_option
from foretop_core.actions.planners.nonadmin import DELETE_NAB, FORCE_FIELD, plan_delete_nab
from foretop_core.actions.plans import chosen
from foretop_core.actions.schema_probe import serves_field
from foretop_core.models.kinds import BACKUP, NAB, NAR, STORAGE

KINDS = (NAB, NAR, BACKUP, STORAGE)


@click.group("nab")
def command() -> None:
    """Delete non-admin backups, and read their logs and results.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, DELETE_NAB)
@choosing_options
@click.option("--force", is_flag=True, help="Use spec.forceDeleteBackup if the cluster supports it: the data stays.")
@wait_option
@connection_options
@acting_options
@in_session(KINDS)
async def delete(at: CommandSession, selection: ObjectSelection, force: bool) -> int:
    """Delete non-admin backups with their data, by spec.deleteBackup."""
    items = selection.of(at.snapshot, NAB, at.snapshot.nabs)
    served = await serves_field(at.executor.client, NAB, FORCE_FIELD)
    return await at.run(chosen(plan_delete_nab, force=force, serves_force=served), items)


@command.command("logs")
@click.argument("name")
@log_options
@connection_options
@in_session(KINDS)
async def logs(at: CommandSession, name: str, wanted: LogOptions) -> int:
    """Print the log of a non-admin backup, where its rules allow."""
    return await show_log(at, select_one(at.snapshot, NAB, at.snapshot.nabs, name), wanted)


add_results(
    command,
    NAB,
    lambda snapshot: snapshot.nabs,
    KINDS,
    "a non-admin backup, by namespace and resource, where its rules allow",
)
