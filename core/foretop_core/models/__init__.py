"""Typed models of the API objects that foretop reads; only this package handles raw dicts."""

from foretop_core.models.builtin_kinds import (
    CronJob,
    CustomResourceDefinition,
    Deployment,
    Event,
    Namespace,
    PersistentVolumeClaim,
    Pod,
    PreScaledCronJob,
)
from foretop_core.models.movement import DataDownload, DataMovement, DataUpload, PodVolumeBackup, PodVolumeRestore
from foretop_core.models.nonadmin import (
    DataProtectionApplication,
    NonAdmin,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
)
from foretop_core.models.velero import (
    Backup,
    BackupRepository,
    BackupSpec,
    BackupStorageLocation,
    DeleteBackupRequest,
    Restore,
    RestoreSpec,
    Schedule,
    ServerStatusRequest,
)
from foretop_core.models.wire import Condition, Resource, decode, from_builtins, to_builtins

__all__ = [
    "Backup",
    "BackupRepository",
    "BackupSpec",
    "BackupStorageLocation",
    "Condition",
    "CronJob",
    "CustomResourceDefinition",
    "DataDownload",
    "DataMovement",
    "DataProtectionApplication",
    "DataUpload",
    "DeleteBackupRequest",
    "Deployment",
    "Event",
    "Namespace",
    "NonAdmin",
    "NonAdminBackup",
    "NonAdminBackupStorageLocation",
    "NonAdminBackupStorageLocationRequest",
    "NonAdminRestore",
    "PersistentVolumeClaim",
    "Pod",
    "PodVolumeBackup",
    "PodVolumeRestore",
    "PreScaledCronJob",
    "Resource",
    "Restore",
    "RestoreSpec",
    "Schedule",
    "ServerStatusRequest",
    "decode",
    "from_builtins",
    "to_builtins",
]
