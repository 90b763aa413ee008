"""`foretop doctor`: checks of a cluster, one per line, and how to fix what is missing."""

from __future__ import annotations

import asyncio
import os
import re
from typing import Any

import click
import yaml

from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import NOT_JUDGED, judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.output import emit, output_option, say
from foretop_core.actions.action_catalog import told_rights
from foretop_core.actions.roles import SUBJECT, RoleHolder, role_manifests
from foretop_core.clock import SystemClock
from foretop_core.kube.access.doctor_checks import Check, CheckStatus, diagnose
from foretop_core.kube.access.find_velero import USUAL_NAMESPACES
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rules.cron_dialects import NONE_GIVEN
from foretop_core.tables.engine.json_items import as_list

_SIGNS = {CheckStatus.OK: "✓", CheckStatus.NOTE: "·", CheckStatus.MISSING: "✗", CheckStatus.FAILED: "✗"}
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@click.command(
    "doctor",
    cls=OwnOptionsFirst,
    epilog=example("foretop doctor --roles velero-admin --velero-namespace openshift-adp"),
)
@connection_options
@output_option
@click.option(
    "--roles",
    "holder",
    type=click.Choice([holder.value for holder in RoleHolder]),
    help="Print the smallest roles for this person instead, for kubectl apply -f -; asks no cluster.",
)
@judging
def command(session_options: SessionOptions, form: str, holder: str | None) -> int:
    """Check a cluster: what foretop finds in it, and what it lacks.

    With --roles, the permissions that foretop needs, as manifests: a Role in Velero's namespace (--velero-namespace,
    "velero" unless given), in a tenant's (-n), or a ClusterRole, each with a binding for SUBJECT.
    """
    if holder is not None:
        _print_roles(RoleHolder(holder), session_options, form)
        return 0
    return asyncio.run(_examine(session_options, form))


def _print_roles(holder: RoleHolder, session_options: SessionOptions, form: str) -> None:
    velero = session_options.velero_namespace or USUAL_NAMESPACES[0]
    if holder is RoleHolder.OADP_TENANT and not session_options.namespaces:
        raise click.UsageError(f"--roles {holder} needs the tenant's namespace: give it with -n")
    for name in (velero, *session_options.namespaces):
        if not _NAMESPACE.fullmatch(name):
            raise click.UsageError(f"{name!r} is not a valid name of a namespace")
    manifests = role_manifests(holder, velero, session_options.namespaces)
    if form != "text":
        emit({"apiVersion": "v1", **as_list(manifests)}, form)
        return
    say(f"# What {holder} needs for foretop. Replace {SUBJECT} (a user; set kind: Group for a group), then apply it.")
    for manifest in manifests:
        say("---")
        click.echo(yaml.safe_dump(manifest, sort_keys=False, default_flow_style=None, width=120), nl=False)


async def _examine(session_options: SessionOptions, form: str) -> int:
    clock = SystemClock()
    named = NamespaceSelection(session_options.namespaces, session_options.velero_namespace, with_velero=True)
    connections = connect(session_options.connect, os.environ, clock, session_options.read_only)
    versions = session_options.velero_versions or NONE_GIVEN
    versions.check(connections.clients)
    items: list[dict[str, Any]] = []
    verdicts: set[CheckStatus] = set()
    for context, client in connections.clients.items():
        try:
            async for check in diagnose(client, clock, named, told_rights(), versions.of(context)):
                verdicts.add(check.verdict)
                items.append(
                    {
                        "context": context,
                        "about": check.about,
                        "verdict": check.verdict.value,
                        "found": check.found,
                        "remedy": check.remedy,
                    }
                )
                if form == "text":
                    _print(check)
        finally:
            await client.close()
    if form != "text":
        emit(as_list(items), form)
    return 1 if CheckStatus.MISSING in verdicts else NOT_JUDGED if CheckStatus.FAILED in verdicts else 0


def _print(check: Check) -> None:
    say(f"{check.about}: {check.found}", sign=f"{_SIGNS[check.verdict]} ")
    if check.remedy:
        say(f"    {check.remedy}")
