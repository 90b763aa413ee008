"""The kinds of OADP's non-admin controller."""

from __future__ import annotations

from foretop_core.models.velero import (
    BackupSpec,
    BackupStatus,
    BackupStorageLocationSpec,
    BackupStorageLocationStatus,
    DeleteBackupRequestStatus,
    RestoreSpec,
    RestoreStatus,
)
from foretop_core.models.wire import Condition, Count, Resource, Wire

NAB_UUID_LABEL = "openshift.io/oadp-nab-origin-nacuuid"
NAR_UUID_LABEL = "openshift.io/oadp-nar-origin-nacuuid"
NAB_NAME_ANNOTATION = "openshift.io/oadp-nab-origin-name"
NAB_NAMESPACE_ANNOTATION = "openshift.io/oadp-nab-origin-namespace"
NAR_NAME_ANNOTATION = "openshift.io/oadp-nar-origin-name"
NAR_NAMESPACE_ANNOTATION = "openshift.io/oadp-nar-origin-namespace"
NAB_FINALIZER = "nonadminbackup.oadp.openshift.io/finalizer"
NAR_FINALIZER = "nonadminrestore.oadp.openshift.io/finalizer"


class QueueInfo(Wire, frozen=True):
    estimated_queue_position: Count = 0


class VolumeCounts(Wire, frozen=True):
    total: Count = 0
    new: Count = 0
    accepted: Count = 0
    prepared: Count = 0
    in_progress: Count = 0
    canceling: Count = 0
    canceled: Count = 0
    completed: Count = 0
    failed: Count = 0


class VeleroObject(Wire, frozen=True):
    """The reference from a non-admin object to its Velero object."""

    nacuuid: str = ""
    name: str = ""
    namespace: str = ""


class VeleroBackup(VeleroObject, frozen=True):
    status: BackupStatus | None = None


class VeleroRestore(VeleroObject, frozen=True):
    status: RestoreStatus | None = None


class VeleroDeleteBackupRequest(VeleroObject, frozen=True):
    status: DeleteBackupRequestStatus | None = None


class NonAdminStatus(Wire, frozen=True):
    """The status fields that all non-admin kinds share."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    queue_info: QueueInfo | None = None


_LOST = frozenset({"VeleroBackupNotFound", "VeleroRestoreNotFound"})


def says_lost(accepted: Condition | None) -> bool:
    """True if this condition `Accepted` says that the Velero object is gone."""
    return accepted is not None and accepted.reason in _LOST


class NonAdmin(Resource, frozen=True):
    """A NonAdminBackup or NonAdminRestore."""

    @property
    def state(self) -> NonAdminStatus:
        raise TypeError(f"{type(self).__name__} reports no status")

    @property
    def velero(self) -> VeleroBackup | VeleroRestore:
        raise TypeError(f"{type(self).__name__} leads to no Velero object")

    @property
    def phase(self) -> str:
        return self.state.phase

    def condition(self, kind: str) -> Condition | None:
        for entry in self.state.conditions:
            if entry.type == kind:
                return entry
        return None

    @property
    def is_lost(self) -> bool:
        """True if the controller has reported that the Velero object it made is gone."""
        return says_lost(self.condition("Accepted"))


class NonAdminBackupSpec(Wire, frozen=True):
    backup_spec: BackupSpec = BackupSpec()
    delete_backup: bool = False
    force_delete_backup: bool = False


class NonAdminBackupStatus(NonAdminStatus, frozen=True):
    velero_backup: VeleroBackup = VeleroBackup()
    velero_delete_backup_request: VeleroDeleteBackupRequest | None = None
    data_mover_data_uploads: VolumeCounts | None = None
    file_system_pod_volume_backups: VolumeCounts | None = None


class NonAdminBackup(NonAdmin, frozen=True):
    spec: NonAdminBackupSpec = NonAdminBackupSpec()
    status: NonAdminBackupStatus = NonAdminBackupStatus()

    @property
    def state(self) -> NonAdminBackupStatus:
        return self.status

    @property
    def velero(self) -> VeleroBackup:
        return self.status.velero_backup


class NonAdminRestoreSpec(Wire, frozen=True):
    restore_spec: RestoreSpec = RestoreSpec()


class NonAdminRestoreStatus(NonAdminStatus, frozen=True):
    velero_restore: VeleroRestore = VeleroRestore()
    data_mover_data_downloads: VolumeCounts | None = None
    file_system_pod_volume_restores: VolumeCounts | None = None


class NonAdminRestore(NonAdmin, frozen=True):
    spec: NonAdminRestoreSpec = NonAdminRestoreSpec()
    status: NonAdminRestoreStatus = NonAdminRestoreStatus()

    @property
    def state(self) -> NonAdminRestoreStatus:
        return self.status

    @property
    def velero(self) -> VeleroRestore:
        return self.status.velero_restore


class VeleroStorageLocation(VeleroObject, frozen=True):
    status: BackupStorageLocationStatus | None = None


class NonAdminBackupStorageLocationSpec(Wire, frozen=True):
    backup_storage_location_spec: BackupStorageLocationSpec = BackupStorageLocationSpec()


class NonAdminBackupStorageLocationStatus(Wire, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    velero_backup_storage_location: VeleroStorageLocation = VeleroStorageLocation()


class NonAdminBackupStorageLocation(Resource, frozen=True):
    spec: NonAdminBackupStorageLocationSpec = NonAdminBackupStorageLocationSpec()
    status: NonAdminBackupStorageLocationStatus = NonAdminBackupStorageLocationStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class StorageRequestSpec(Wire, frozen=True):
    approval_decision: str = ""


class StorageRequestSource(Wire, frozen=True):
    nacuuid: str = ""
    name: str = ""
    namespace: str = ""
    requested_spec: BackupStorageLocationSpec = BackupStorageLocationSpec()


class StorageRequestStatus(Wire, frozen=True):
    phase: str = ""
    non_admin_backup_storage_location: StorageRequestSource = StorageRequestSource()


class NonAdminBackupStorageLocationRequest(Resource, frozen=True):
    spec: StorageRequestSpec = StorageRequestSpec()
    status: StorageRequestStatus = StorageRequestStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class DataProtectionApplication(Resource, frozen=True):
    """The configuration of the OADP operator; it owns the Velero Deployment that the operator creates."""
