"""`foretop describe`: everything that foretop knows of one object, as text."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options, from_files
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import judged_state, running_session, wait_synced
from foretop.commands.object_selection import select_one
from foretop.commands.output import say_signed, warn
from foretop.panes.detail_sections import describe, relatives
from foretop.widgets.paragraphs import Paragraph, paragraph, wrap
from foretop_core.actions.run_files import resources_of
from foretop_core.actions.unwatched_reads import events_of, movements_of
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models import Backup, NonAdmin, Resource, Restore
from foretop_core.models.kinds import BESIDE_VELERO, Kind
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.session import Session
from foretop_core.tables.resources.ticket_text import DESCRIBED

_SAME = {"schedules": "schedule", "backups": "backup", "restores": "restore", "storage": "bsl"}
_NO_END = 100_000


@click.command("describe", cls=OwnOptionsFirst, epilog=example("foretop describe schedule velero/daily"))
@click.argument("what", metavar="KIND", type=click.Choice([*DESCRIBED, *_SAME]))
@click.argument("name")
@click.option("--details", is_flag=True, help="Also list the resources in a backup or restore (DownloadRequest).")
@connection_options
@from_files
def command(what: str, name: str, details: bool, session_options: SessionOptions) -> int:
    """Everything that foretop knows of one object: state, spec, conditions, volumes, results, events, findings.

    KIND is schedule, backup, restore, nab, nar, bsl, nabsl or storage-request; NAME may be NAMESPACE/NAME.
    """
    return asyncio.run(_describe(DESCRIBED[_SAME.get(what, what)], name, session_options, details=details))


async def _describe(kind: Kind, name: str, session_options: SessionOptions, *, details: bool) -> int:
    if kind not in BESIDE_VELERO:
        # Where a tenant's object is on its way, Velero's objects alone know.
        session_options = replace(session_options, with_velero=True)
    async with running_session(session_options) as session:
        good, bad = await wait_synced(session)
        warn(bad)
        context, resource = _find(session, good, kind, name)
        key = ObjectRef(context, kind.name, resource.namespace, resource.name)
        missing = await _fetch_more(session, context, resource)
        state = await judged_state(session)
        findings = _findings((*state.findings, *state.acknowledged), key, state.now(context))
        listed = await _resources(session, context, resource, missing) if details else []
        head = paragraph(f"{key.kind} {key.namespace}/{key.name}", bold=True)
        _print([head, *describe(state, key, resource, once=True), *listed, *_related(state, key), *findings])
        warn(missing)
        return 1 if bad or missing else 0


def _find(session: Session, contexts: Sequence[str], kind: Kind, name: str) -> tuple[str, Resource]:
    """In the first of the contexts that has it."""
    refusal: ForetopError | None = None
    for context in contexts:
        items = [item for _, item in session.store.items(context, kind.name) if isinstance(item, kind.model)]
        try:
            return context, select_one(session.snapshot(context), kind, items, name)
        except ForetopError as problem:
            refusal = refusal or problem
    assert refusal is not None
    raise refusal


async def _fetch_more(session: Session, context: str, resource: Resource) -> list[ForetopError]:
    """Puts what is not watched into the store beside the rest; returns why something could not be fetched."""
    client = session.clusters[context].client
    run = session.snapshot(context).velero_run(resource) if isinstance(resource, NonAdmin) else resource
    problems: list[ForetopError] = []
    resources: list[Resource] = []
    try:
        if isinstance(run, Backup | Restore):
            resources += await movements_of(client, run)
    except ApiError as problem:
        problems.append(ForetopError("Volumes are not shown", str(problem)))
    try:
        resources += await events_of(client, resource)
    except ApiError as problem:
        problems.append(ForetopError("Events are not shown", str(problem)))
    session.store.fill(context, resources, session.clock(context))
    return problems


async def _resources(
    session: Session, context: str, resource: Resource, missing: list[ForetopError]
) -> list[Paragraph]:
    """The list that Velero keeps in storage; what keeps it from being fetched joins what is missing."""
    run = session.snapshot(context).velero_run(resource) if isinstance(resource, NonAdmin) else resource
    try:
        if not isinstance(run, Backup | Restore):
            raise BadInput("--details lists the resources of a backup or restore", f"{resource.name} is neither")
        resources = await resources_of(ActionService(session, os.environ).executor(context), run)
    except ForetopError as problem:
        missing.append(problem)
        return []
    return [paragraph(""), paragraph("Resources", bold=True), *map(paragraph, resources.lines())]


def _related(state: DashboardState, key: ObjectRef) -> list[Paragraph]:
    near = relatives(state, key)
    return [paragraph(""), paragraph("Related", bold=True), *near] if near else []


def _findings(findings: Iterable[Finding], key: ObjectRef, now: datetime) -> list[Paragraph]:
    mine = [finding for finding in findings if key in (finding.subject, *finding.related)]
    paragraphs = [paragraph(line) for finding in mine for line in _told(finding, now)]
    return [paragraph(""), paragraph("Findings", bold=True), *paragraphs] if paragraphs else []


def _told(found: Finding, now: datetime) -> Iterator[str]:
    yield f"{found.severity.value}: {render(found.what, now)}"
    if found.acknowledged is not None:
        yield f"  Known: acknowledged {render(acknowledgement_text(found.acknowledged), now)}"
    yield f"  Do: {render(found.remedy, now)}"


def _print(paragraphs: Sequence[Paragraph]) -> None:
    """Folded to a terminal; a pipe gets each paragraph on one line."""
    cells = shutil.get_terminal_size().columns if sys.stdout.isatty() else _NO_END
    for line in wrap(paragraphs, cells):
        say_signed("".join(piece.text for piece in line).rstrip())
