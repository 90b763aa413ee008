"""The NonAdminRestore controller: the next writes, given the NAR and the objects around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.models import (
    Condition,
    DataDownload,
    DataMovement,
    NonAdminBackup,
    NonAdminRestore,
    PodVolumeRestore,
    Restore,
    RestoreSpec,
)
from foretop_core.models.kinds import NAR, RESTORE
from foretop_core.models.nonadmin import (
    NAR_FINALIZER,
    NAR_UUID_LABEL,
    NonAdminRestoreStatus,
    QueueInfo,
    VeleroRestore,
    VolumeCounts,
)
from foretop_core.models.wire import Metadata
from foretop_core.rules.queue import estimated_position
from foretop_demo.reconcile.conditions import status_patch, volume_counts, with_condition
from foretop_demo.reconcile.naming import led_to, nacuuid, origin_annotations, origin_labels
from foretop_demo.reconcile.specs import restore_fields, velero_restore_spec, zeros_missing
from foretop_demo.reconcile.validation import backup_of, refuse_restore
from foretop_demo.reconcile.writes import (
    Behaviour,
    Create,
    Delete,
    Patch,
    PatchStatus,
    Reconciled,
    to_second,
)

_ACCEPTED = Condition(type="Accepted", status="True", reason="RestoreAccepted", message="restore accepted")
_QUEUED = Condition(type="Queued", status="True", reason="RestoreScheduled", message="Created Velero Restore object")
_DELETING = Condition(type="Deleting", status="True", reason="DeletionPending", message="restore accepted for deletion")

_NOTHING = RestoreSpec()


class NarContext(msgspec.Struct, frozen=True):
    """The objects that the controller reads for a NAR: the OADP namespace's restores, and the NABs beside it."""

    oadp_namespace: str
    fresh_uuid: str
    restores: Sequence[Restore] = ()
    movements: Sequence[DataMovement] = ()
    backups: Sequence[NonAdminBackup] = ()
    enforced: RestoreSpec = _NOTHING

    def restore_of(self, nar: NonAdminRestore) -> Restore | None:
        return led_to(self.restores, NAR_UUID_LABEL, nar.velero.nacuuid)


def reconcile_nar(
    nar: NonAdminRestore,
    around: NarContext,
    now: datetime,
    behaviour: Behaviour = Behaviour.RELEASED,
) -> Reconciled:
    """The next step of a NAR. A lost Velero Restore is created again, unlike a lost Backup."""
    if nar.metadata.deletion_timestamp is not None:
        return _delete(nar, around, now)
    judged = _judge(nar, around, now, behaviour)
    if judged is not None:
        return judged
    if not nar.velero.nacuuid:
        return _name(nar, around)
    if NAR_FINALIZER not in nar.metadata.finalizers:
        return _hold(nar)
    restore = around.restore_of(nar)
    if restore is None:
        return _make(nar, around, now)
    return Reconciled(_copy(nar, restore, around, now))


def _status_write(nar: NonAdminRestore, wanted: NonAdminRestoreStatus) -> tuple[PatchStatus, ...]:
    patch = status_patch(nar.status, wanted)
    return (PatchStatus(NAR, nar.namespace, nar.name, patch),) if patch else ()


def _with_phase(nar: NonAdminRestore, phase: str, condition: Condition, now: datetime) -> NonAdminRestoreStatus:
    conditions = with_condition(nar.status.conditions, condition, now)
    return msgspec.structs.replace(nar.status, phase=phase, conditions=conditions)


def _delete(nar: NonAdminRestore, around: NarContext, now: datetime) -> Reconciled:
    marked = _status_write(nar, _with_phase(nar, "Deleting", _DELETING, now))
    if marked:
        return Reconciled(marked, requeue=True)
    if NAR_FINALIZER not in nar.metadata.finalizers:
        return Reconciled()
    restore = around.restore_of(nar)
    if restore is None:
        kept = [entry for entry in nar.metadata.finalizers if entry != NAR_FINALIZER]
        return Reconciled((Patch(NAR, nar.namespace, nar.name, {"metadata": {"finalizers": kept}}),))
    if restore.metadata.deletion_timestamp is None:
        return Reconciled((Delete(RESTORE, restore.namespace, restore.name),), requeue=True)
    return Reconciled(requeue=True)


def _judge(nar: NonAdminRestore, around: NarContext, now: datetime, behaviour: Behaviour) -> Reconciled | None:
    if not nar.phase:
        return Reconciled(_status_write(nar, msgspec.structs.replace(nar.status, phase="New")))
    refused = refuse_restore(nar, around.enforced, around.backups)
    if refused is None:
        accepted = _status_write(nar, _with_phase(nar, nar.phase, _ACCEPTED, now))
        return Reconciled(accepted) if accepted else None
    stays = behaviour is Behaviour.SEED and nar.phase == "Created"
    condition = Condition(type="Accepted", status="False", reason="InvalidRestoreSpec", message=refused)
    wanted = _with_phase(nar, nar.phase if stays else "BackingOff", condition, now)
    return Reconciled(_status_write(nar, wanted), problem=refused)


def _name(nar: NonAdminRestore, around: NarContext) -> Reconciled:
    uuid = nacuuid(nar.namespace, nar.name, around.fresh_uuid)
    reference = VeleroRestore(nacuuid=uuid, name=uuid, namespace=around.oadp_namespace)
    return Reconciled(_status_write(nar, msgspec.structs.replace(nar.status, velero_restore=reference)))


def _hold(nar: NonAdminRestore) -> Reconciled:
    patch: dict[str, Any] = {"metadata": {"finalizers": [*nar.metadata.finalizers, NAR_FINALIZER]}}
    zeros = zeros_missing(nar.spec.restore_spec)
    if zeros:
        patch["spec"] = {"restoreSpec": zeros}
    return Reconciled((Patch(NAR, nar.namespace, nar.name, patch),))


def _make(nar: NonAdminRestore, around: NarContext, now: datetime) -> Reconciled:
    nab = backup_of(nar, around.backups)
    if nab is None:
        return Reconciled(problem=f"NonAdminBackup {nar.spec.restore_spec.backup_name} is gone")
    spec = velero_restore_spec(nar, nab, around.enforced)
    made = Restore(
        metadata=Metadata(
            name=nar.velero.name,
            namespace=around.oadp_namespace,
            creation_timestamp=to_second(now),
            labels=origin_labels(nar, nar.velero.nacuuid),
            annotations=origin_annotations(nar),
        ),
        spec=spec,
    )
    create = Create(
        RESTORE,
        made.namespace,
        made.name,
        restore_fields(spec),
        labels=made.metadata.labels,
        annotations=made.metadata.annotations,
    )
    return Reconciled((create, *_copy(nar, made, around, now)))


def _copy(nar: NonAdminRestore, restore: Restore, around: NarContext, now: datetime) -> tuple[PatchStatus, ...]:
    mine = [entry for entry in around.movements if entry.restore_name == restore.name]
    wanted = msgspec.structs.replace(
        _with_phase(nar, "Created", _QUEUED, now),
        queue_info=QueueInfo(estimated_queue_position=estimated_position(restore, around.restores)),
        velero_restore=msgspec.structs.replace(nar.velero, status=restore.status),
        data_mover_data_downloads=_counts(mine, DataDownload),
        file_system_pod_volume_restores=_counts(mine, PodVolumeRestore),
    )
    return _status_write(nar, wanted)


def _counts(movements: Sequence[DataMovement], kind: type[DataMovement]) -> VolumeCounts:
    return volume_counts(tuple(entry for entry in movements if isinstance(entry, kind)))
