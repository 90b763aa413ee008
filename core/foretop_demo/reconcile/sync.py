"""The non-admin controller's sync: a new NAB for every finished Backup whose NAB is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from foretop_core.models import Backup, NonAdminBackup
from foretop_core.models.kinds import NAB
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION, NAB_UUID_LABEL
from foretop_core.rules.nonadmin_lifecycle import SYNCED_LABEL
from foretop_demo.reconcile.specs import copied_backup_fields
from foretop_demo.reconcile.writes import Create, Reconciled


def sync_nabs(backups: Iterable[Backup], nabs: Iterable[NonAdminBackup], namespaces: Collection[str]) -> Reconciled:
    """The NABs to create again; only released controllers do this, about once a minute.

    A backup that is being deleted has phase Deleting and is skipped.
    """
    present = {(nab.namespace, nab.name) for nab in nabs}
    writes = tuple(
        _bring_back(backup)
        for backup in backups
        if backup.label(NAB_UUID_LABEL)
        and backup.status.completion_timestamp is not None
        and backup.phase != "Deleting"
        and backup.annotation(NAB_NAMESPACE_ANNOTATION) in namespaces
        and _origin(backup) not in present
    )
    return Reconciled(writes)


def _origin(backup: Backup) -> tuple[str, str]:
    return backup.annotation(NAB_NAMESPACE_ANNOTATION), backup.annotation(NAB_NAME_ANNOTATION)


def _bring_back(backup: Backup) -> Create:
    namespace, name = _origin(backup)
    spec = msgspec.structs.replace(backup.spec, storage_location="")
    return Create(
        NAB,
        namespace,
        name,
        {"backupSpec": copied_backup_fields(spec)},
        labels={SYNCED_LABEL: backup.label(NAB_UUID_LABEL)},
    )
