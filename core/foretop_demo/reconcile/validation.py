"""The validation errors of the non-admin controller, in its order and its words; None means accepted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from foretop_core.models import (
    BackupSpec,
    BackupStorageLocation,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminRestore,
    RestoreSpec,
)
from foretop_demo.reconcile.specs import given

NABSL_UUID_LABEL = "openshift.io/oadp-nabsl-origin-nacuuid"


def refuse_backup(
    nab: NonAdminBackup,
    enforced: BackupSpec,
    locations: Sequence[NonAdminBackupStorageLocation],
    storage: Sequence[BackupStorageLocation],
) -> str | None:
    spec = nab.spec.backup_spec
    if any(name != nab.namespace for name in spec.included_namespaces):
        return (
            "NonAdminBackup spec.backupSpec.includedNamespaces is restricted, "
            f"can not contain namespaces other than: {nab.namespace}"
        )
    if spec.excluded_namespaces:
        return "NonAdminBackup spec.backupSpec.excludedNamespaces is restricted"
    if spec.include_cluster_resources:
        return "NonAdminBackup spec.backupSpec.includeClusterResources is restricted, can only be set to false"
    if spec.included_cluster_scoped_resources:
        return "NonAdminBackup spec.backupSpec.includedScopedResources is restricted, must remain empty"
    if spec.storage_location:
        refused = _refuse_location(nab, locations, storage)
        if refused is not None:
            return refused
    if spec.volume_snapshot_locations:
        return "NonAdminBackup spec.backupSpec.volumeSnapshotLocations is restricted"
    return _refuse_fixed("spec.backupSpec", spec, enforced)


def refuse_restore(nar: NonAdminRestore, enforced: RestoreSpec, backups: Sequence[NonAdminBackup]) -> str | None:
    spec = nar.spec.restore_spec
    if spec.schedule_name:
        return "NonAdminRestore nonAdminRestore.spec.restoreSpec.scheduleName is restricted"
    if not spec.backup_name:
        return "NonAdminRestore spec.restoreSpec.backupName is not set"
    nab = backup_of(nar, backups)
    if nab is None:
        return (
            "NonAdminRestore spec.restoreSpec.backupName is invalid: "
            f'NonAdminBackup.oadp.openshift.io "{spec.backup_name}" not found'
        )
    if nab.phase != "Created":
        return "NonAdminRestore spec.restoreSpec.backupName is invalid: NonAdminBackup is not ready to be restored"
    for present, field in (
        (spec.included_namespaces, "includedNamespaces"),
        (spec.excluded_namespaces, "excludedNamespaces"),
        (spec.namespace_mapping, "namespaceMapping"),
    ):
        if present:
            return f"NonAdminRestore nonAdminRestore.spec.restoreSpec.{field} is restricted"
    return _refuse_fixed("spec.restoreSpec", spec, enforced)


def backup_of(nar: NonAdminRestore, backups: Sequence[NonAdminBackup]) -> NonAdminBackup | None:
    """The NAB that a NAR restores, in the same namespace."""
    wanted = (nar.namespace, nar.spec.restore_spec.backup_name)
    return next((nab for nab in backups if (nab.namespace, nab.name) == wanted), None)


def velero_location(
    nab: NonAdminBackup,
    locations: Sequence[NonAdminBackupStorageLocation],
    storage: Sequence[BackupStorageLocation],
) -> str:
    """Velero's storage location behind the one that the NAB names; "" means the default."""
    location = _location_of(nab, locations)
    if location is None:
        return ""
    behind = _behind(location, storage)
    return behind.name if behind is not None else ""


def _location_of(
    nab: NonAdminBackup, locations: Sequence[NonAdminBackupStorageLocation]
) -> NonAdminBackupStorageLocation | None:
    wanted = (nab.namespace, nab.spec.backup_spec.storage_location)
    return next((entry for entry in locations if (entry.namespace, entry.name) == wanted), None)


def _behind(
    location: NonAdminBackupStorageLocation, storage: Sequence[BackupStorageLocation]
) -> BackupStorageLocation | None:
    nacuuid = location.status.velero_backup_storage_location.nacuuid
    return next((entry for entry in storage if nacuuid and entry.label(NABSL_UUID_LABEL) == nacuuid), None)


def _refuse_location(
    nab: NonAdminBackup,
    locations: Sequence[NonAdminBackupStorageLocation],
    storage: Sequence[BackupStorageLocation],
) -> str | None:
    location = _location_of(nab, locations)
    if location is None:
        name = nab.spec.backup_spec.storage_location
        return (
            "NonAdminBackupStorageLocation not found in the namespace: "
            f'NonAdminBackupStorageLocation.oadp.openshift.io "{name}" not found'
        )
    nacuuid = location.status.velero_backup_storage_location.nacuuid
    if not nacuuid:
        return "unable to get VeleroBackupStorageLocation UUID from NonAdminBackupStorageLocation Status"
    behind = _behind(location, storage)
    if behind is None:
        return f"VeleroBackupStorageLocation with NACUUID {nacuuid} not found in the OADP namespace"
    if behind.phase != "Available":
        return (
            f"VeleroBackupStorageLocation with NACUUID {nacuuid} is not in available state "
            "and can not be used for the NonAdminBackup"
        )
    return None


def _refuse_fixed(where: str, spec: BackupSpec | RestoreSpec, enforced: BackupSpec | RestoreSpec) -> str | None:
    """A field that the administrator has enforced may be unset or repeated, but not changed."""
    fixed = given(enforced)
    if not fixed:
        return None
    wanted = given(spec)
    for field in msgspec.structs.fields(type(enforced)):
        name = field.name
        if name in fixed and name in wanted and wanted[name] != fixed[name]:
            value = _go_value(fixed[name])
            return f"the administrator has restricted {where}.{field.encode_name} field value to {value}"
    return None


def _go_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{' '.join(_go_value(item) for item in value)}]"
    return str(value)
