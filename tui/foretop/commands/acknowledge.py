"""`foretop acknowledge` and `unacknowledge`: findings that are known, for oneself or for everybody."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.connection import config_of, connection_options
from foretop.commands.output import emit, say
from foretop.commands.write_command import (
    DONE,
    CommandSession,
    WriteOptions,
    open_session,
    run_async,
    unchecked_acting_options,
    verb_of,
)
from foretop_core.actions.acknowledgement_file import acknowledgements_of
from foretop_core.actions.planners.acknowledging import (
    ACKNOWLEDGE,
    SHIFT,
    UNACKNOWLEDGE,
    AcknowledgeRequest,
    acknowledgement_end,
    plan_acknowledge,
    plan_unacknowledge,
    shared_subjects,
)
from foretop_core.actions.plans import Plan
from foretop_core.background import in_thread
from foretop_core.clock import display_zone
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules import humanize
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, triage, with_acknowledgements
from foretop_core.session import WATCHED
from foretop_core.tables.engine.json_items import as_list
from foretop_core.tables.resources.findings import finding_item, subject_and_what
from foretop_core.tables.resources.ticket_text import DESCRIBED


@verb_of(None, ACKNOWLEDGE)
@click.argument("names", nargs=-1, required=True, metavar="FINDING|KIND/NAME...")
@click.option(
    "--for", "how_long", metavar="DURATION|shift|change", default=SHIFT, show_default=True, help="Until when."
)
@click.option("--reason", required=True, metavar="TEXT", help="Why it may wait, for whoever reads it.")
@click.option("--shared", is_flag=True, help="As an annotation on the object, which everybody sees.")
@connection_options
@unchecked_acting_options
def acknowledge(
    names: tuple[str, ...],
    how_long: str,
    reason: str,
    shared: bool,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Acknowledge findings: they are known, and no longer count.

    FINDING is the id of a finding (foretop get findings -o json), KIND/NAME all findings of an object. An
    acknowledgement ends after a duration such as 1h, at the end of the shift, or when the finding says something else;
    one that gets worse is shown again at once. Without --shared nothing is written to the cluster.
    """
    if shared:
        write_options.check()
    settings = config_of(click.get_current_context()).settings
    zone = display_zone(settings.time_zone, os.environ)

    def request(by: str, now: datetime) -> AcknowledgeRequest:
        return AcknowledgeRequest(by, reason, acknowledgement_end(how_long, now, settings.shift_ends, zone))

    return run_async(_acknowledge(session_options, write_options, names, request, shared))


async def _acknowledge(
    session_options: SessionOptions,
    write_options: WriteOptions,
    names: tuple[str, ...],
    make_request: Callable[[str, datetime], AcknowledgeRequest],
    shared: bool,
) -> int:
    async with open_session(replace(session_options, with_velero=True), WATCHED, write_options) as at:
        found = select_findings(findings_in(at), names)
        request = make_request(await at.introduce(), at.now)
        if shared:
            return await _share(at, found, request)
        new = [request.of(finding, at.now, at.context) for finding in found]
        if not write_options.dry_run:
            await acknowledgements_of(os.environ).add_in_thread(new, at.now)
        marked = [replace(finding, acknowledged=one) for finding, one in zip(found, new, strict=True)]
        _print(marked, at.now, write_options)
        return DONE


def findings_in(at: CommandSession) -> tuple[Finding, ...]:
    """The findings in the cluster of a command."""
    more_rules = BackgroundReads(os.environ, waits=True).rules(at.snapshot)
    return triage(at.snapshot, at.now, at.session.thresholds, more_rules=more_rules).findings


async def _share(at: CommandSession, found: Sequence[Finding], request: AcknowledgeRequest) -> int:
    objects, refused = shared_subjects(found)

    def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
        return replace(plan_acknowledge(snapshot, some, found, request, now), refused=refused)

    items = [item for ref in objects if (item := at.snapshot.find(ref)) is not None]
    return await at.run(planner, items)


def _print(findings: Sequence[Finding], now: datetime, write_options: WriteOptions) -> None:
    if write_options.form != "text":
        emit(as_list(finding_item(finding, now) for finding in findings), write_options.form)
        return
    word = "would be acknowledged" if write_options.dry_run else "acknowledged"
    for finding in findings:
        known = finding.acknowledged
        until = f"until {humanize.time(known.until, now)}" if known and known.until else "until it changes"
        say(f"✓ {subject_and_what(finding, render(finding.what, now))}: {word} {until}, for you only")


_HINT = "foretop get findings -o json has their ids"


def select_findings(findings: Sequence[Finding], names: Iterable[str]) -> tuple[Finding, ...]:
    """The named ones among the findings, each once; a name that fits none is refused."""
    chosen: dict[str, Finding] = {}
    for name in names:
        fitting = [finding for finding in findings if name == finding.id or _is_about(finding, name)]
        if not fitting:
            raise BadInput(f"There is no finding {name}", "", _HINT)
        chosen |= {finding.id: finding for finding in fitting}
    return tuple(chosen.values())


def _is_about(finding: Finding, name: str) -> bool:
    """`schedule/daily`, `schedule/velero/daily`, and the kind as the API spells it."""
    kind, slash, rest = name.partition("/")
    if not slash or not rest:
        return False
    word = DESCRIBED.get(kind.lower())
    wanted = word.name if word is not None else kind
    subject = finding.subject
    if subject.kind.lower() != wanted.lower():
        return False
    return rest in (subject.name, f"{subject.namespace}/{subject.name}")


@verb_of(None, UNACKNOWLEDGE)
@click.argument("names", nargs=-1, required=True, metavar="FINDING|KIND/NAME...")
@connection_options
@unchecked_acting_options
def unacknowledge(names: tuple[str, ...], session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Let findings count again, that you or somebody else has acknowledged."""
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
                say(f"✓ {subject_and_what(finding, render(finding.what, at.now))}: {word}")
        if not shared and write_options.form == "text":
            return DONE

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_unacknowledge(snapshot, some, shared, now)

        objects = dict.fromkeys(finding.subject for finding in shared)
        items = [item for ref in objects if (item := at.snapshot.find(ref)) is not None]
        return await at.run(planner, items)
