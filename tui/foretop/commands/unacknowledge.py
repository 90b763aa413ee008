"""`foretop unacknowledge`: findings that count again."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.acknowledge import findings_in
from foretop.commands.connection import connection_options
from foretop.commands.finding_selection import select_findings
from foretop.commands.output import say
from foretop.commands.write_command import (
    DONE,
    WriteOptions,
    open_session,
    run_async,
    unchecked_acting_options,
    verb_of,
)
from foretop_core.actions.acknowledgement_file import acknowledgements_of
from foretop_core.actions.planners.acknowledging import UNACKNOWLEDGE, plan_unacknowledge
from foretop_core.actions.plans import Plan
from foretop_core.background import in_thread
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import with_acknowledgements
from foretop_core.session import WATCHED
from foretop_core.tables.resources.findings import subject_text


@verb_of(None, UNACKNOWLEDGE)
@click.argument("names", nargs=-1, required=True, metavar="FINDING|KIND/NAME...")
@connection_options
@unchecked_acting_options
def command(names: tuple[str, ...], session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Let findings count again, that you or somebody else has acknowledged.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """
    return run_async(_unacknowledge(session_options, write_options, names))


async def _unacknowledge(session_options: SessionOptions, write_options: WriteOptions, names: tuple[str, ...]) -> int:
    """Own ones at once; those that everybody sees by a plan that is shown and asked about."""
    own = acknowledgements_of(os.environ)
    async with open_session(replace(session_options, with_velero=True), WATCHED, write_options) as at:
        chosen = select_findings(findings_in(at), names)
        known = await in_thread(own.read)
        mine = [finding for finding in chosen if (finding.context, finding.id) in known]
        shared = [
            finding
            for finding in with_acknowledgements(chosen, {}, at.snapshot.find, lambda _: at.now)
            if finding.acknowledged is not None
        ]
        if not mine and not shared:
            raise BadInput("None of these findings is acknowledged")
        if shared:
            write_options.check()
        if mine and not write_options.dry_run:
            await own.remove_in_thread([(finding.context, finding.id) for finding in mine], at.now)
        if write_options.form == "text":
            word = "would count again" if write_options.dry_run else "counts again"
            for finding in mine:
                say(f"✓ {subject_text(finding)}: {render(finding.what, at.now)}: {word}")
        if not shared and write_options.form == "text":
            return DONE

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_unacknowledge(snapshot, some, shared, now)

        objects = dict.fromkeys(finding.subject for finding in shared)
        items = [item for ref in objects if (item := at.snapshot.find(ref)) is not None]
        return await at.run(planner, items)
