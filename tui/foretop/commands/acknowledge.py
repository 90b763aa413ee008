"""`foretop acknowledge` and `unacknowledge`: findings that are known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.connection import config_of, connection_options
from foretop.commands.write_command import (
    CommandSession,
    WriteOptions,
    acting_options,
    open_session,
    run_async,
    verb_of,
)
from foretop_core.actions.planners.acknowledging import (
    ACKNOWLEDGE,
    SHIFT,
    UNACKNOWLEDGE,
    AcknowledgeRequest,
    acknowledgement_end,
    plan_acknowledge,
    plan_unacknowledge,
)
from foretop_core.actions.plans import Plan
from foretop_core.clock import display_zone
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, triage, with_acknowledgements
from foretop_core.session import WATCHED
from foretop_core.tables.resources.ticket_text import DESCRIBED


@verb_of(None, ACKNOWLEDGE)
@click.argument("names", nargs=-1, required=True, metavar="FINDING|KIND/NAME...")
@click.option(
    "--for", "how_long", metavar="DURATION|shift|change", default=SHIFT, show_default=True, help="Until when."
)
@click.option("--reason", required=True, metavar="TEXT", help="Why it may wait, for whoever reads it.")
@connection_options
@acting_options
def acknowledge(
    names: tuple[str, ...], how_long: str, reason: str, session_options: SessionOptions, write_options: WriteOptions
) -> int:
    """Acknowledge findings: they are known to everybody, and no longer count.

    FINDING is the id of a finding (foretop get findings -o json), KIND/NAME all findings of an object. An
    acknowledgement ends after a duration such as 1h, at the end of the shift, or when the finding says something else;
    one that gets worse is shown again at once. It is an entry of the ConfigMap foretop-acknowledgements beside Velero.
    """
    settings = config_of(click.get_current_context()).settings
    zone = display_zone(settings.time_zone, os.environ)

    def request(by: str, now: datetime) -> AcknowledgeRequest:
        return AcknowledgeRequest(by, reason, acknowledgement_end(how_long, now, settings.shift_ends, zone))

    return run_async(_acknowledge(session_options, write_options, names, request))


async def _acknowledge(
    session_options: SessionOptions,
    write_options: WriteOptions,
    names: tuple[str, ...],
    make_request: Callable[[str, datetime], AcknowledgeRequest],
) -> int:
    async with open_session(replace(session_options, with_velero=True), WATCHED, write_options) as session:
        chosen = select_findings(findings_in(session), names)
        request = make_request(await session.introduce(), session.now)

        def planner(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
            return plan_acknowledge(snapshot, items, chosen, request, now)

        return await session.run(planner, ())


def findings_in(at: CommandSession) -> tuple[Finding, ...]:
    """The findings in the cluster of a command."""
    more_rules = BackgroundReads(os.environ, waits=True).rules(at.snapshot)
    return triage(at.snapshot, at.now, at.session.thresholds, more_rules=more_rules).findings


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
    kind_name = word.name if word is not None else kind
    subject = finding.subject
    if subject.kind.lower() != kind_name.lower():
        return False
    return rest in (subject.name, f"{subject.namespace}/{subject.name}")


@verb_of(None, UNACKNOWLEDGE)
@click.argument("names", nargs=-1, required=True, metavar="FINDING|KIND/NAME...")
@connection_options
@acting_options
def unacknowledge(names: tuple[str, ...], session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Let findings count again, that you or somebody else has acknowledged."""
    return run_async(_unacknowledge(session_options, write_options, names))


async def _unacknowledge(session_options: SessionOptions, write_options: WriteOptions, names: tuple[str, ...]) -> int:
    async with open_session(replace(session_options, with_velero=True), WATCHED, write_options) as session:
        chosen = select_findings(findings_in(session), names)
        marked = with_acknowledgements(chosen, lambda _: session.snapshot, lambda _: session.now)
        findings = [finding for finding in marked if finding.acknowledged is not None]
        if not findings:
            raise BadInput("None of these findings is acknowledged")

        def planner(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
            return plan_unacknowledge(snapshot, items, findings, now)

        return await session.run(planner, ())
