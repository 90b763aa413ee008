"""`foretop server`: Velero's default for skipImmediately."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from foretop.commands.backup_spec_options import TRUTH
from foretop.commands.connection import connection_options
from foretop.commands.write_command import (
    WriteOptions,
    acting_options,
    open_session,
    run_action,
    run_async,
    verb_of,
)
from foretop_core.actions import action_catalog
from foretop_core.actions.guard import ActionRefused
from foretop_core.actions.plans import Plan
from foretop_core.actions.set_skip_immediately_default import plan_server_default
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Deployment
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, RESTORE
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.velero_deployment import server


@click.group("server")
def command() -> None:
    """Set Velero's default for skipImmediately.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.SERVER_DEFAULT)
@click.option("--schedule-skip-immediately", "skip", type=TRUTH, required=True, metavar="true|false")
@connection_options
@acting_options
def set_default(skip: str, session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Set a flag of the Velero Deployment; Velero restarts, which kills what is running."""
    return run_async(_set(session_options, write_options, skip.lower() == "true"))


async def _set(session_options: SessionOptions, write_options: WriteOptions, skip: bool) -> int:
    async with open_session(session_options, (DEPLOYMENT, BACKUP, RESTORE)) as at:
        every = at.session.store.all(at.context, Deployment)
        found = [item for item in every if server(item) is not None]
        if not found:
            raise ActionRefused(
                "Velero's Deployment cannot be seen",
                "it does not exist, or you are not allowed to see it",
                "use -n, or ask for access",
            )
        if len(found) > 1:
            places = ", ".join(item.namespace for item in found)
            raise click.UsageError(f"there are several Velero servers, in {places}: choose one with -n")

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_server_default(snapshot, some, skip, now)

        return await run_action(at, planner, found, write_options)
