"""The three ways to delete a NonAdminBackup."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from foretop_core.models import Backup, Condition, DeleteBackupRequest, NonAdminBackup
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NAR
from foretop_core.models.nonadmin import NAB_FINALIZER, VeleroDeleteBackupRequest
from foretop_core.models.velero import BACKUP_LABEL
from foretop_demo.reconcile.nab_create_update import NabContext, status_write, with_phase
from foretop_demo.reconcile.naming import origin_annotations, origin_labels
from foretop_demo.reconcile.writes import Behaviour, Create, Delete, Patch, Reconciled, Write

BACKUP_UID_LABEL = "velero.io/backup-uid"

_ACCEPTED = "backup accepted for deletion"
_DELETE_HINT = {
    Behaviour.RELEASED: "permanent backup deletion requires setting spec.deleteBackup to true",
    Behaviour.SEED: (
        "backup deletion requires setting spec.deleteBackup or spec.forceDeleteBackup to true or finalizer removal"
    ),
}


def api_delete(nab: NonAdminBackup, around: NabContext, now: datetime, behaviour: Behaviour) -> Reconciled:
    """A plain delete: the seed's controller waits for a decision, a released one deletes the Velero object."""
    marked = _mark(nab, _DELETE_HINT[behaviour], now)
    if marked or behaviour is Behaviour.SEED:
        return Reconciled(marked)
    return _drop_velero_objects(nab, around)


def force_delete(nab: NonAdminBackup, around: NabContext, now: datetime) -> Reconciled:
    """Delete Velero's objects and the NAB, and leave the data in the bucket."""
    begun = _begin(nab, now)
    return begun if begun is not None else _drop_velero_objects(nab, around)


def delete(nab: NonAdminBackup, around: NabContext, now: datetime, behaviour: Behaviour) -> Reconciled:
    """`spec.deleteBackup`: delete the data by a DeleteBackupRequest, then the NAB."""
    begun = _begin(nab, now)
    if begun is not None:
        return begun
    if NAB_FINALIZER not in nab.metadata.finalizers:
        return Reconciled()
    backup = around.backup_of(nab)
    if backup is None:
        return Reconciled((_release(nab),))
    restores = _delete_restores(nab, around) if behaviour is Behaviour.RELEASED else ()
    if restores:
        return Reconciled(restores)
    request = next((entry for entry in around.delete_requests if entry.label(BACKUP_LABEL) == backup.name), None)
    if request is None:
        return Reconciled((_request(nab, backup),), requeue=True)
    return Reconciled(_copy_request(nab, request), requeue=True)


def _mark(nab: NonAdminBackup, message: str, now: datetime) -> tuple[Write, ...]:
    condition = Condition(type="Deleting", status="True", reason="DeletionPending", message=message)
    return status_write(nab, with_phase(nab, "Deleting", condition, now))


def _begin(nab: NonAdminBackup, now: datetime) -> Reconciled | None:
    writes = _mark(nab, _ACCEPTED, now)
    if nab.metadata.deletion_timestamp is None:
        writes = (*writes, Delete(NAB, nab.namespace, nab.name))
    return Reconciled(writes, requeue=True) if writes else None


def _release(nab: NonAdminBackup) -> Patch:
    kept = [entry for entry in nab.metadata.finalizers if entry != NAB_FINALIZER]
    return Patch(NAB, nab.namespace, nab.name, {"metadata": {"finalizers": kept}})


def _drop_velero_objects(nab: NonAdminBackup, around: NabContext) -> Reconciled:
    if NAB_FINALIZER not in nab.metadata.finalizers:
        return Reconciled()
    backup = around.backup_of(nab)
    writes: list[Write] = []
    if backup is not None:
        writes.append(Delete(BACKUP, backup.namespace, backup.name))
    requests = (entry for entry in around.delete_requests if entry.label(BACKUP_LABEL) == nab.velero.name)
    writes.extend(_deletions(requests))
    return Reconciled((*writes, _release(nab)))


def _deletions(requests: Iterable[DeleteBackupRequest]) -> Iterable[Delete]:
    return (Delete(DELETE_REQUEST, entry.namespace, entry.name) for entry in requests)


def _delete_restores(nab: NonAdminBackup, around: NabContext) -> tuple[Write, ...]:
    return tuple(
        Delete(NAR, nar.namespace, nar.name)
        for nar in around.restores
        if (nar.namespace, nar.spec.restore_spec.backup_name) == (nab.namespace, nab.name)
        and nar.metadata.deletion_timestamp is None
    )


def _request(nab: NonAdminBackup, backup: Backup) -> Create:
    return Create(
        DELETE_REQUEST,
        backup.namespace,
        f"{backup.name}-",
        {"backupName": backup.name},
        labels={
            **origin_labels(nab, nab.velero.nacuuid),
            BACKUP_LABEL: backup.name,
            BACKUP_UID_LABEL: backup.metadata.uid,
        },
        annotations=origin_annotations(nab),
        generate_name=True,
    )


def _copy_request(nab: NonAdminBackup, request: DeleteBackupRequest) -> tuple[Write, ...]:
    """The status of the request; nothing before Velero has picked it up."""
    if not request.phase:
        return ()
    present = nab.status.velero_delete_backup_request or VeleroDeleteBackupRequest()
    copied = msgspec.structs.replace(present, status=request.status)
    return status_write(nab, msgspec.structs.replace(nab.status, velero_delete_backup_request=copied))
