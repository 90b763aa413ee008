"""The specs that controllers write: Go fills in zero values, the non-admin controller restricts the rest."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from foretop_core.models import BackupSpec, NonAdminBackup, NonAdminRestore, RestoreSpec
from foretop_core.models.wire import as_json

S = TypeVar("S", BackupSpec, RestoreSpec)

_BACKUP_ZEROS = {
    "csiSnapshotTimeout": "0s",
    "hooks": {},
    "itemOperationTimeout": "0s",
    "metadata": {},
    "ttl": "0s",
}
_RESTORE_ZEROS = {"hooks": {}, "itemOperationTimeout": "0s"}

_ALWAYS_EXCLUDED = ("nonadminbackups", "nonadminrestores", "nonadminbackupstoragelocations")
_ALWAYS_EXCLUDED_CLUSTER = (
    "securitycontextconstraints",
    "clusterroles",
    "clusterrolebindings",
    "priorityclasses",
    "customresourcedefinitions",
    "virtualmachineclusterinstancetypes",
    "virtualmachineclusterpreferences",
)
_NEVER_RESTORED = ("volumesnapshotclasses",)


def backup_fields(spec: BackupSpec) -> dict[str, Any]:
    """A backup's spec as JSON, after a controller has written it."""
    return {**_BACKUP_ZEROS, **as_json(spec)}


def copied_backup_fields(spec: BackupSpec) -> dict[str, Any]:
    """A Backup's spec as the non-admin controller copies it: it predates volume groups and drops their label."""
    return backup_fields(msgspec.structs.replace(spec, volume_group_snapshot_label_key=""))


def restore_fields(spec: RestoreSpec) -> dict[str, Any]:
    return {**_RESTORE_ZEROS, **as_json(spec)}


def given(spec: BackupSpec | RestoreSpec) -> dict[str, object]:
    """The fields with a value; a Go client writes `0s` for a duration that is not set."""
    defaults = type(spec)()
    return {
        name: value
        for name, value in msgspec.structs.asdict(spec).items()
        if value != getattr(defaults, name) and value != "0s"
    }


def zeros_missing(spec: BackupSpec | RestoreSpec) -> dict[str, Any]:
    """The zero values that a controller's update adds to a spec written by a person."""
    zeros = _BACKUP_ZEROS if isinstance(spec, BackupSpec) else _RESTORE_ZEROS
    present = as_json(spec)
    return {key: value for key, value in zeros.items() if key not in present}


def velero_backup_spec(nab: NonAdminBackup, enforced: BackupSpec, storage_location: str) -> BackupSpec:
    """The spec of a NAB's Velero Backup: its own namespace only, and never the controller's kinds."""
    wanted = _enforce(nab.spec.backup_spec, enforced)
    fields: dict[str, Any] = {"included_namespaces": (nab.namespace,), "storage_location": storage_location}
    if _uses_scoped_filters(wanted):
        fields["excluded_namespace_scoped_resources"] = (
            *wanted.excluded_namespace_scoped_resources,
            *_ALWAYS_EXCLUDED,
        )
        fields["excluded_cluster_scoped_resources"] = (
            *wanted.excluded_cluster_scoped_resources,
            *_ALWAYS_EXCLUDED_CLUSTER,
        )
    else:
        fields["excluded_resources"] = (
            *wanted.excluded_resources,
            *_ALWAYS_EXCLUDED,
            *_ALWAYS_EXCLUDED_CLUSTER,
        )
    return msgspec.structs.replace(wanted, **fields)


def velero_restore_spec(nar: NonAdminRestore, nab: NonAdminBackup, enforced: RestoreSpec) -> RestoreSpec:
    """The spec of a NAR's Velero Restore: from the NAB's backup, into its own namespace."""
    wanted = _enforce(nar.spec.restore_spec, enforced)
    return msgspec.structs.replace(
        wanted,
        backup_name=nab.status.velero_backup.name,
        included_namespaces=(nar.namespace,),
        excluded_resources=(*wanted.excluded_resources, *_NEVER_RESTORED),
    )


def _uses_scoped_filters(spec: BackupSpec) -> bool:
    return bool(
        spec.included_namespace_scoped_resources
        or spec.excluded_namespace_scoped_resources
        or spec.included_cluster_scoped_resources
        or spec.excluded_cluster_scoped_resources
    )


def _enforce(spec: S, enforced: S) -> S:
    """The spec with the administrator's value in every enforced field that the user left unset."""
    present = given(spec)
    missing = {name: getattr(enforced, name) for name in given(enforced) if name not in present}
    return msgspec.structs.replace(spec, **missing)
