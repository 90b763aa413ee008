"""`foretop restore`: from a backup, beside what is there or over it; its log and results."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from foretop.commands.backup_spec_options import TRUTH
from foretop.commands.connection import connection_options
from foretop.commands.log_output import LogOptions, log_options, show_log
from foretop.commands.object_selection import (
    ObjectSelection,
    choosing_options,
    label_selector,
    listed,
    pairs,
    select_one,
)
from foretop.commands.results_output import add_results
from foretop.commands.write_command import (
    WriteOptions,
    acting_options,
    open_session,
    run_action,
    run_async,
    verb_of,
    wait_option,
    wants_to_wait,
)
from foretop_core.actions import action_catalog, velero_pickup
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.restores import RestoreRequest, plan_delete_restore, plan_restore
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Restore, RestoreSpec, from_builtins
from foretop_core.models.kinds import BACKUP, RESTORE, STORAGE
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (BACKUP, RESTORE, STORAGE)
_LISTS = (
    ("include_namespaces", "includedNamespaces"),
    ("exclude_namespaces", "excludedNamespaces"),
    ("include_resources", "includedResources"),
    ("exclude_resources", "excludedResources"),
)


@click.group("restore")
def command() -> None:
    """Restore from a backup, delete restores, and read the log and results of a restore.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.RESTORE_FROM)
@click.argument("name", required=False)
@click.option("--from-backup", required=True, metavar="BACKUP", help="The backup to restore from.")
@click.option("--namespace-mappings", multiple=True, metavar="FROM:TO", help="Restore into other namespaces.")
@click.option(
    "--existing-resource-policy", "existing", default="", metavar="none|update", help="Policy for existing resources."
)
@click.option("--restore-volumes", "volumes", type=TRUTH, metavar="true|false", help="Also restore volumes.")
@click.option("--include-namespaces", multiple=True, metavar="LIST")
@click.option("--exclude-namespaces", multiple=True, metavar="LIST")
@click.option("--include-resources", multiple=True, metavar="LIST")
@click.option("--exclude-resources", multiple=True, metavar="LIST")
@click.option("--include-cluster-resources", "cluster", type=TRUTH, metavar="true|false")
@click.option("--preserve-nodeports", "ports", type=TRUTH, metavar="true|false")
@click.option("--item-operation-timeout", "patience", default="", metavar="DURATION")
@click.option("-l", "--selector", "item_labels", metavar="LABELS", help="Only objects with these labels.")
@click.option("--labels", multiple=True, metavar="KEY=VALUE", help="Labels of the restore.")
@wait_option
@connection_options
@acting_options
def create(
    name: str | None,
    from_backup: str,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
    **given: Any,
) -> int:
    """Restore from a backup."""
    request = RestoreRequest(
        name or "",
        pairs(given["namespace_mappings"], "--namespace-mappings", ":"),
        given["existing"],
        None if given["volumes"] is None else given["volumes"].lower() == "true",
        _spec(given),
        pairs(given["labels"], "--labels"),
    )
    return run_async(_create(session_options, write_options, from_backup, request, wants_to_wait(wait)))


def _spec(given: dict[str, Any]) -> RestoreSpec:
    spec: dict[str, Any] = {field: list(found) for flag, field in _LISTS if (found := listed(given[flag]))}
    for flag, field in (("cluster", "includeClusterResources"), ("ports", "preserveNodePorts")):
        if given[flag] is not None:
            spec[field] = given[flag].lower() == "true"
    if given["patience"]:
        spec["itemOperationTimeout"] = given["patience"]
    if labels := label_selector(given["item_labels"]):
        spec["labelSelector"] = labels
    return from_builtins(Restore, {"spec": spec}).spec


async def _create(
    session_options: SessionOptions, write_options: WriteOptions, from_backup: str, wanted: RestoreRequest, wait: bool
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.run_probe(Restore, step.target.namespace, step.target.name, to_the_end=True)

    async with open_session(session_options, KINDS) as at:
        backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, from_backup)
        existing = await visible_namespaces(at.executor.client) or None

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_restore(snapshot, some, wanted, now, existing)

        return await run_action(at, planner, [backup], write_options, probe=probe if wait else None, to_the_end=True)


@verb_of(command, action_catalog.DELETE_RESTORE)
@choosing_options
@wait_option
@connection_options
@acting_options
def delete(
    selection: ObjectSelection,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Delete restores with their logs and results; what they have restored stays."""
    return run_async(_delete(session_options, write_options, selection, wants_to_wait(wait)))


async def _delete(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    wait: bool,
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.restore_deletion_probe(step.target.namespace, step.target.name)

    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, RESTORE, at.snapshot.restores)
        return await run_action(at, plan_delete_restore, items, write_options, probe=probe if wait else None)


@command.command("logs")
@click.argument("name")
@log_options
@connection_options
def logs(name: str, wanted: LogOptions, session_options: SessionOptions) -> int:
    """Print the log of a restore, or what Velero's own log has of it where the whole cannot be had."""
    return run_async(_logs(session_options, name, wanted))


async def _logs(session_options: SessionOptions, name: str, wanted: LogOptions) -> int:
    async with open_session(session_options, KINDS) as at:
        return await show_log(at, select_one(at.snapshot, RESTORE, at.snapshot.restores, name), wanted)


add_results(command, RESTORE, lambda snapshot: snapshot.restores, KINDS, "a restore, by namespace and resource")
