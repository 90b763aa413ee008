"""The flags by which Velero's own commands describe a backup, in its spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from foretop.commands.object_selection import label_selector, listed
from foretop_core.models import BackupSpec, from_builtins
from foretop_core.models.velero import Backup

TRUTH = click.Choice(["true", "false"], case_sensitive=False)
_LISTS = (
    ("--include-namespaces", "includedNamespaces"),
    ("--exclude-namespaces", "excludedNamespaces"),
    ("--include-resources", "includedResources"),
    ("--exclude-resources", "excludedResources"),
    ("--include-cluster-scoped-resources", "includedClusterScopedResources"),
    ("--exclude-cluster-scoped-resources", "excludedClusterScopedResources"),
    ("--include-namespace-scoped-resources", "includedNamespaceScopedResources"),
    ("--exclude-namespace-scoped-resources", "excludedNamespaceScopedResources"),
    ("--volume-snapshot-locations", "volumeSnapshotLocations"),
)
_TEXTS = (
    ("--ttl", "ttl"),
    ("--storage-location", "storageLocation"),
    ("--csi-snapshot-timeout", "csiSnapshotTimeout"),
    ("--item-operation-timeout", "itemOperationTimeout"),
    ("--data-mover", "datamover"),
)
_TRUTHS = (
    ("--include-cluster-resources", "includeClusterResources"),
    ("--snapshot-volumes", "snapshotVolumes"),
    ("--snapshot-move-data", "snapshotMoveData"),
    ("--default-volumes-to-fs-backup", "defaultVolumesToFsBackup"),
)


def template_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for flag, name in reversed(_LISTS):
        command = click.option(flag, name.lower(), multiple=True, metavar="LIST")(command)
    for flag, name in reversed(_TEXTS):
        command = click.option(flag, name.lower())(command)
    for flag, name in reversed(_TRUTHS):
        command = click.option(flag, name.lower(), type=TRUTH, metavar="true|false")(command)
    return click.option(
        "-l", "--selector", "template_labels", metavar="LABELS", help="Only objects with these labels."
    )(command)


def template_from(given: dict[str, Any]) -> BackupSpec:
    """The spec that the flags describe; as in Velero, no namespaces means all of them."""
    spec: dict[str, Any] = {name: list(names) for _, name in _LISTS if (names := listed(given[name.lower()]))}
    spec |= {name: text for _, name in _TEXTS if (text := given[name.lower()])}
    spec |= {name: text.lower() == "true" for _, name in _TRUTHS if (text := given[name.lower()])}
    if labels := label_selector(given["template_labels"]):
        spec["labelSelector"] = labels
    spec.setdefault("includedNamespaces", ["*"])
    return from_builtins(Backup, {"spec": spec}).spec
