"""The non-admin controller's own sync: a finished Backup whose NAB is gone gets a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from foretop_core.minicluster.reconcile.specs import copied_backup_fields
from foretop_core.minicluster.reconcile.writes import Create, Reconciled
from foretop_core.models import Backup, NonAdminBackup
from foretop_core.models.kinds import NAB
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION, NAB_UUID_LABEL
from foretop_core.rules.lifecycle.paths import SYNCED_LABEL


def sync_nabs(backups: Iterable[Backup], nabs: Iterable[NonAdminBackup], namespaces: Collection[str]) -> Reconciled:
    """The NABs to make again; released controllers alone do this, about once a minute.

    A backup whose request for deletion is under way has phase Deleting and is left alone.
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
