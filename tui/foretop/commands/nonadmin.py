"""`foretop nab`, `foretop nar` and `foretop storage-request`: what tenants have made, and what they ask for."""

from __future__ import annotations

import click

from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.object_selection import ObjectSelection, choosing_options, select_one
from foretop.commands.write_command import (
    CommandSession,
    add_plain_verbs,
    add_verbs_of_rooms,
    verb_of,
    wait_option,
    writing,
)
from foretop_core.actions.planners.nonadmin import (
    DECIDE_STORAGE,
    DELETE_NAB,
    FORCE_FIELD,
    Decision,
    plan_decide,
    plan_delete_nab,
)
from foretop_core.actions.plans import chosen
from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.models.kinds import BACKUP, NAB, NABSL_REQUEST, NAR, RESTORE, STORAGE

_NAB_KINDS = (NAB, NAR, BACKUP, STORAGE)


@click.group("nab", cls=CommandGroup, epilog=exit_codes_text("nab"))
def nab() -> None:
    """Delete non-admin backups, and read their logs and results."""


@verb_of(nab, DELETE_NAB)
@choosing_options
@click.option("--force", is_flag=True, help="Use spec.forceDeleteBackup if the cluster supports it: the data stays.")
@wait_option
@writing(_NAB_KINDS)
async def delete(at: CommandSession, selection: ObjectSelection, force: bool) -> int:
    """Delete non-admin backups with their data, by spec.deleteBackup."""
    items = selection.of(at.snapshot, NAB, at.snapshot.nabs)
    served = await serves_field(at.executor.client, NAB, FORCE_FIELD)
    return await at.run(chosen(plan_delete_nab, force=force, serves_force=served), items)


add_verbs_of_rooms(nab)


@click.group("nar", cls=CommandGroup, epilog=exit_codes_text("nar"))
def nar() -> None:
    """Delete non-admin restores, and read what went wrong in them."""


add_plain_verbs(nar, (NAR, RESTORE))
add_verbs_of_rooms(nar)


@click.group("storage-request", cls=CommandGroup, epilog=exit_codes_text("storage-request"))
def storage_request() -> None:
    """Approve or reject storage requested by tenants."""


@verb_of(storage_request, DECIDE_STORAGE)
@click.argument("names", nargs=-1, required=True)
@writing((NABSL_REQUEST,))
async def approve(at: CommandSession, names: tuple[str, ...]) -> int:
    """Let Velero use the storage location of a tenant."""
    return await _decide(at, names, "approve")


@verb_of(storage_request, DECIDE_STORAGE, 1)
@click.argument("names", nargs=-1, required=True)
@writing((NABSL_REQUEST,))
async def reject(at: CommandSession, names: tuple[str, ...]) -> int:
    """Refuse the storage location of a tenant."""
    return await _decide(at, names, "reject")


async def _decide(at: CommandSession, names: tuple[str, ...], decision: Decision) -> int:
    requests = at.snapshot.storage_requests
    items = [select_one(at.snapshot, NABSL_REQUEST, requests, name) for name in dict.fromkeys(names)]
    return await at.run(chosen(plan_decide, decision=decision), items)
