"""`foretop server`: Velero's default for skipImmediately."""

from __future__ import annotations

import click

from foretop.commands.backup_spec_options import TRUTH
from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.write_command import CommandSession, verb_of, writing
from foretop_core.actions.planners.server_default import SERVER_DEFAULT, plan_server_default
from foretop_core.actions.plans import chosen
from foretop_core.errors import ActionRefused
from foretop_core.models import Deployment
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, RESTORE
from foretop_core.rules.velero_deployment import server


@click.group("server", cls=CommandGroup, epilog=exit_codes_text("server"))
def command() -> None:
    """Set Velero's default for skipImmediately."""


@verb_of(command, SERVER_DEFAULT)
@click.option("--schedule-skip-immediately", "skip", type=TRUTH, required=True, metavar="true|false")
@writing((DEPLOYMENT, BACKUP, RESTORE))
async def set_default(at: CommandSession, skip: str) -> int:
    """Set a flag of the Velero Deployment; Velero restarts, which kills what is running."""
    every = at.session.store.all(at.context, Deployment)
    deployments = [item for item in every if server(item) is not None]
    if not deployments:
        raise ActionRefused(
            "Velero's Deployment cannot be seen",
            "it does not exist, or you are not allowed to see it",
            "use -n, or ask for access",
        )
    if len(deployments) > 1:
        places = ", ".join(item.namespace for item in deployments)
        raise click.UsageError(f"there are several Velero servers, in {places}: choose one with -n")
    return await at.run(chosen(plan_server_default, skip=skip.lower() == "true"), deployments)
