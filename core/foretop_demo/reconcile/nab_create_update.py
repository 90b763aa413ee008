"""The NonAdminBackup controller: the next writes, given the NAB and the objects around it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.models import (
    Backup,
    BackupSpec,
    BackupStorageLocation,
    Condition,
    DataMovement,
    DataUpload,
    DeleteBackupRequest,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminRestore,
    PodVolumeBackup,
)
from foretop_core.models.kinds import BACKUP, NAB
from foretop_core.models.nonadmin import (
    NAB_FINALIZER,
    NAB_UUID_LABEL,
    NonAdminBackupStatus,
    QueueInfo,
    VeleroBackup,
    VolumeCounts,
)
from foretop_core.models.wire import Metadata
from foretop_core.rules.nonadmin_lifecycle import SYNCED_LABEL
from foretop_core.rules.queue import estimated_position
from foretop_demo.reconcile.conditions import status_patch, volume_counts, with_condition
from foretop_demo.reconcile.naming import led_to, nacuuid, origin_annotations, origin_labels
from foretop_demo.reconcile.specs import (
    backup_fields,
    copied_backup_fields,
    velero_backup_spec,
    zeros_missing,
)
from foretop_demo.reconcile.validation import refuse_backup, velero_location
from foretop_demo.reconcile.writes import Behaviour, Create, Patch, PatchStatus, Reconciled, to_second

NOT_COPIED = frozenset({"Queued", "ReadyToStart"})
"""Phases that the released NAB CRD does not allow: the API server refuses a status with one of them."""

LOST = Condition(
    type="Accepted",
    status="False",
    reason="VeleroBackupNotFound",
    message=(
        "NonAdminBackup is finalized and its associated Velero Backup has been removed. "
        "Please create a new NonAdminBackup to initiate a new backup"
    ),
)
_ACCEPTED = Condition(type="Accepted", status="True", reason="BackupAccepted", message="backup accepted")
_QUEUED = Condition(type="Queued", status="True", reason="BackupScheduled", message="Created Velero Backup object")

_NOTHING = BackupSpec()


class NabContext(msgspec.Struct, frozen=True):
    """The objects that the controller reads for a NAB, from the OADP namespace and from the NAB's own."""

    oadp_namespace: str
    fresh_uuid: str
    backups: Sequence[Backup] = ()
    delete_requests: Sequence[DeleteBackupRequest] = ()
    movements: Sequence[DataMovement] = ()
    storage: Sequence[BackupStorageLocation] = ()
    restores: Sequence[NonAdminRestore] = ()
    locations: Sequence[NonAdminBackupStorageLocation] = ()
    enforced: BackupSpec = _NOTHING

    def backup_of(self, nab: NonAdminBackup) -> Backup | None:
        return led_to(self.backups, NAB_UUID_LABEL, nab.velero.nacuuid)


def create_or_update(nab: NonAdminBackup, around: NabContext, now: datetime, behaviour: Behaviour) -> Reconciled:
    """The chart's first path: New, validated, named, finalizer added, Velero Backup created, status followed."""
    backup = around.backup_of(nab)
    if behaviour is Behaviour.RELEASED and _lost(nab, backup):
        return _status(nab, "BackingOff", LOST, now, problem=LOST.message)
    if not nab.label(SYNCED_LABEL):
        judged = _judge(nab, around, now, behaviour)
        if judged is not None:
            return judged
    if not nab.velero.nacuuid:
        return _name(nab, around)
    if NAB_FINALIZER not in nab.metadata.finalizers:
        return _hold(nab)
    if backup is None:
        return _make(nab, around, now)
    return _follow(nab, backup, around, now, behaviour)


def status_write(nab: NonAdminBackup, wanted: NonAdminBackupStatus) -> tuple[PatchStatus, ...]:
    patch = status_patch(nab.status, wanted)
    return (PatchStatus(NAB, nab.namespace, nab.name, patch),) if patch else ()


def with_phase(nab: NonAdminBackup, phase: str, condition: Condition, now: datetime) -> NonAdminBackupStatus:
    conditions = with_condition(nab.status.conditions, condition, now)
    return msgspec.structs.replace(nab.status, phase=phase, conditions=conditions)


def _status(nab: NonAdminBackup, phase: str, condition: Condition, now: datetime, problem: str = "") -> Reconciled:
    return Reconciled(status_write(nab, with_phase(nab, phase, condition, now)), problem=problem)


def _lost(nab: NonAdminBackup, backup: Backup | None) -> bool:
    """The Velero Backup existed and is gone. Once that is reported, its return changes nothing."""
    accepted, queued = nab.condition("Accepted"), nab.condition("Queued")
    if accepted is not None and accepted.reason == LOST.reason:
        return True
    return backup is None and queued is not None and queued.status == "True"


def _judge(nab: NonAdminBackup, around: NabContext, now: datetime, behaviour: Behaviour) -> Reconciled | None:
    if not nab.phase:
        return Reconciled(status_write(nab, msgspec.structs.replace(nab.status, phase="New")))
    refused = refuse_backup(nab, around.enforced, around.locations, around.storage)
    if refused is None:
        accepted = _status(nab, nab.phase, _ACCEPTED, now)
        return accepted if accepted.writes else None
    stays = behaviour is Behaviour.SEED and nab.phase == "Created"
    condition = Condition(type="Accepted", status="False", reason="InvalidBackupSpec", message=refused)
    return _status(nab, nab.phase if stays else "BackingOff", condition, now, problem=refused)


def _name(nab: NonAdminBackup, around: NabContext) -> Reconciled:
    uuid = nab.label(SYNCED_LABEL) or nacuuid(nab.namespace, nab.name, around.fresh_uuid)
    reference = VeleroBackup(nacuuid=uuid, name=uuid, namespace=around.oadp_namespace)
    return Reconciled(status_write(nab, msgspec.structs.replace(nab.status, velero_backup=reference)))


def _hold(nab: NonAdminBackup) -> Reconciled:
    patch: dict[str, Any] = {"metadata": {"finalizers": [*nab.metadata.finalizers, NAB_FINALIZER]}}
    zeros = zeros_missing(nab.spec.backup_spec)
    if zeros:
        patch["spec"] = {"backupSpec": zeros}
    return Reconciled((Patch(NAB, nab.namespace, nab.name, patch),))


def _make(nab: NonAdminBackup, around: NabContext, now: datetime) -> Reconciled:
    """Create the Velero Backup and report it at once, from the object just made: Velero has not changed it yet."""
    location = velero_location(nab, around.locations, around.storage)
    spec = velero_backup_spec(nab, around.enforced, location)
    made = Backup(
        metadata=Metadata(
            name=nab.velero.name,
            namespace=around.oadp_namespace,
            creation_timestamp=to_second(now),
            labels=origin_labels(nab, nab.velero.nacuuid),
            annotations=origin_annotations(nab),
        ),
        spec=spec,
    )
    create = Create(
        BACKUP,
        made.namespace,
        made.name,
        backup_fields(spec),
        labels=made.metadata.labels,
        annotations=made.metadata.annotations,
    )
    return Reconciled((create, *_copy(nab, made, around, now)))


def _follow(nab: NonAdminBackup, backup: Backup, around: NabContext, now: datetime, behaviour: Behaviour) -> Reconciled:
    """Copy Velero's status; the released CRD refuses the queue phases, and the controller retries."""
    writes = _copy(nab, backup, around, now)
    if writes and behaviour is Behaviour.RELEASED and backup.phase in NOT_COPIED:
        return Reconciled(
            requeue=True, problem=f'status.veleroBackup.status.phase: Unsupported value: "{backup.phase}"'
        )
    return Reconciled(writes)


def _copy(nab: NonAdminBackup, backup: Backup, around: NabContext, now: datetime) -> tuple[PatchStatus, ...]:
    mine = [entry for entry in around.movements if entry.backup_name == backup.name]
    position = estimated_position(backup, around.backups)
    wanted = msgspec.structs.replace(
        with_phase(nab, "Created", _QUEUED, now),
        queue_info=QueueInfo(estimated_queue_position=position),
        velero_backup=msgspec.structs.replace(nab.velero, status=backup.status),
        data_mover_data_uploads=_counts(mine, DataUpload),
        file_system_pod_volume_backups=_counts(mine, PodVolumeBackup),
    )
    writes = status_write(nab, wanted)
    if writes and nab.velero.status != backup.status:
        patch = {**writes[0].patch}
        patch["veleroBackup"] = {**patch.get("veleroBackup", {}), "spec": copied_backup_fields(backup.spec)}
        return (PatchStatus(NAB, nab.namespace, nab.name, patch),)
    return writes


def _counts(movements: Sequence[DataMovement], kind: type[DataMovement]) -> VolumeCounts:
    return volume_counts(tuple(entry for entry in movements if isinstance(entry, kind)))
