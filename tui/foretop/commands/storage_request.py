"""`foretop storage-request`: approve or reject storage requested by tenants."""

from __future__ import annotations

import click

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.object_selection import select_one
from foretop.commands.write_command import CommandSession, acting_options, in_session, verb_of
from foretop_core.actions.planners.nonadmin import DECIDE_STORAGE, Decision, plan_decide
from foretop_core.actions.plans import chosen
from foretop_core.models.kinds import NABSL_REQUEST


@click.group("storage-request", cls=CommandGroup, epilog=exit_codes_text("storage-request"))
def command() -> None:
    """Approve or reject storage requested by tenants."""


@verb_of(command, DECIDE_STORAGE)
@click.argument("names", nargs=-1, required=True)
@connection_options
@acting_options
@in_session((NABSL_REQUEST,))
async def approve(at: CommandSession, names: tuple[str, ...]) -> int:
    """Let Velero use the storage location of a tenant."""
    return await _decide(at, names, "approve")


@verb_of(command, DECIDE_STORAGE, 1)
@click.argument("names", nargs=-1, required=True)
@connection_options
@acting_options
@in_session((NABSL_REQUEST,))
async def reject(at: CommandSession, names: tuple[str, ...]) -> int:
    """Refuse the storage location of a tenant."""
    return await _decide(at, names, "reject")


async def _decide(at: CommandSession, names: tuple[str, ...], decision: Decision) -> int:
    requests = at.snapshot.storage_requests
    items = [select_one(at.snapshot, NABSL_REQUEST, requests, name) for name in dict.fromkeys(names)]
    return await at.run(chosen(plan_decide, decision=decision), items)
