"""`foretop nar`: the end of a non-admin restore, and what went wrong in it."""

from __future__ import annotations

import click

from foretop.commands.acting import ActCommand, Manner, acting_options, desk, go, perform, wait_option, wants_to_wait
from foretop.commands.choosing import choosing_options, chosen
from foretop.commands.connection import connection_options
from foretop.commands.results import add_results
from foretop_core.actions import write_progress
from foretop_core.actions.nonadmin import plan_delete_nar
from foretop_core.actions.plans import PlanStep
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE, STORAGE


@click.group("nar")
def command() -> None:
    """Delete non-admin restores, and read what went wrong in them.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@command.command("delete", cls=ActCommand)
@choosing_options
@wait_option
@connection_options
@acting_options
def delete(
    names: tuple[str, ...],
    labels: str | None,
    everything: bool,
    wait: bool | None,
    wishes: SessionOptions,
    manner: Manner,
) -> int:
    """Delete non-admin restores; what they have restored stays."""
    return go(_delete(wishes, manner, names, labels, everything, wants_to_wait(wait)))


async def _delete(
    wishes: SessionOptions, manner: Manner, names: tuple[str, ...], labels: str | None, everything: bool, wait: bool
) -> int:
    def look(step: PlanStep) -> write_progress.Probe:
        return write_progress.nonadmin_deletion_probe(NAR.name, step.target.namespace, step.target.name)

    async with desk(wishes, (NAR, RESTORE)) as at:
        items = chosen(at.snapshot, NAR, at.snapshot.nars, names, labels, everything)
        return await perform(at, plan_delete_nar, items, manner, look=look if wait else None)


add_results(
    command,
    NAR,
    lambda snapshot: snapshot.nars,
    (NAR, NAB, RESTORE, BACKUP, STORAGE),
    "a non-admin restore, by namespace and resource, where its rules allow",
)
