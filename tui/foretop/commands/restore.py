"""`foretop restore`: from a backup, beside what is there or over it; its log and results."""

from __future__ import annotations

from typing import Any

import click

from foretop.commands.backup_spec_options import TRUTH
from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.object_selection import (
    label_selector,
    listed,
    pairs,
    select_one,
)
from foretop.commands.write_command import (
    CommandSession,
    add_plain_verbs,
    add_verbs_of_rooms,
    verb_of,
    wait_option,
    writing,
)
from foretop_core.actions.planners.restores import (
    RESTORE_FROM,
    RestoreRequest,
    plan_restore,
)
from foretop_core.actions.plans import chosen
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.models import Restore, RestoreSpec, from_builtins
from foretop_core.models.kinds import BACKUP, RESTORE, STORAGE

KINDS = (BACKUP, RESTORE, STORAGE)
_LISTS = (
    ("include_namespaces", "includedNamespaces"),
    ("exclude_namespaces", "excludedNamespaces"),
    ("include_resources", "includedResources"),
    ("exclude_resources", "excludedResources"),
)


@click.group("restore", cls=CommandGroup, epilog=exit_codes_text("restore"))
def command() -> None:
    """Restore from a backup, delete restores, and read the log and results of a restore."""


def _request(name: str | None, from_backup: str, **given: Any) -> dict[str, Any]:
    request = RestoreRequest(
        name or "",
        pairs(given["namespace_mappings"], "--namespace-mappings", ":"),
        given["existing"],
        None if given["volumes"] is None else given["volumes"].lower() == "true",
        _spec(given),
        pairs(given["labels"], "--labels"),
    )
    return {"from_backup": from_backup, "request": request}


def _spec(given: dict[str, Any]) -> RestoreSpec:
    spec: dict[str, Any] = {field: list(names) for flag, field in _LISTS if (names := listed(given[flag]))}
    for flag, field in (("cluster", "includeClusterResources"), ("ports", "preserveNodePorts")):
        if given[flag] is not None:
            spec[field] = given[flag].lower() == "true"
    if given["patience"]:
        spec["itemOperationTimeout"] = given["patience"]
    if labels := label_selector(given["item_labels"]):
        spec["labelSelector"] = labels
    return from_builtins(Restore, {"spec": spec}).spec


@verb_of(command, RESTORE_FROM)
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
@writing(KINDS, _request)
async def create(at: CommandSession, from_backup: str, request: RestoreRequest) -> int:
    """Restore from a backup."""
    backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, from_backup)
    existing = await visible_namespaces(at.executor.client) or None
    return await at.run(chosen(plan_restore, request=request, existing=existing), [backup])


add_plain_verbs(command, KINDS)
add_verbs_of_rooms(command)
