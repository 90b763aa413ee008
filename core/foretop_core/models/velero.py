"""Velero's own kinds, and the requests for the files of a run, which are created when needed and never watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from foretop_core.models.wire import NONE, Condition, Count, FieldManager, Metadata, Resource, Time, Wire

SCHEDULE_LABEL = "velero.io/schedule-name"
BACKUP_LABEL = "velero.io/backup-name"
RESTORE_LABEL = "velero.io/restore-name"
STORAGE_LABEL = "velero.io/storage-location"
DRILL_LABEL = "foretop.io/drill"
"""On everything that a drill makes, with the id of the drill."""
EXCLUDE_LABEL = "velero.io/exclude-from-backup"
"""With the value `true` on any object: no backup takes it; on a namespace, nothing in it."""
GC_FAILURE_LABEL = "velero.io/gc-failure"


class BackupSpec(Wire, frozen=True):
    """All fields of Velero 1.18, so that a template can be written back unchanged."""

    csi_snapshot_timeout: str = ""
    datamover: str = ""
    default_volumes_to_fs_backup: bool | None = None
    default_volumes_to_restic: bool | None = None
    excluded_cluster_scoped_resources: tuple[str, ...] = ()
    excluded_namespace_scoped_resources: tuple[str, ...] = ()
    excluded_namespaces: tuple[str, ...] = ()
    excluded_resources: tuple[str, ...] = ()
    hooks: Mapping[str, Any] = NONE
    include_cluster_resources: bool | None = None
    included_cluster_scoped_resources: tuple[str, ...] = ()
    included_namespace_scoped_resources: tuple[str, ...] = ()
    included_namespaces: tuple[str, ...] = ()
    included_resources: tuple[str, ...] = ()
    item_operation_timeout: str = ""
    label_selector: Mapping[str, Any] | None = None
    """None takes every object; an empty one takes none, because Velero cannot list with it."""
    metadata: Mapping[str, Any] = NONE
    or_label_selectors: tuple[dict[str, Any], ...] = ()
    ordered_resources: Mapping[str, str] = NONE
    resource_policy: Mapping[str, Any] = NONE
    snapshot_move_data: bool | None = None
    snapshot_volumes: bool | None = None
    storage_location: str = ""
    ttl: str = ""
    uploader_config: Mapping[str, Any] = NONE
    volume_group_snapshot_label_key: str = ""
    volume_snapshot_locations: tuple[str, ...] = ()


class RestoreSpec(Wire, frozen=True):
    """All fields of Velero 1.18, for the same reason."""

    backup_name: str = ""
    schedule_name: str = ""
    excluded_namespaces: tuple[str, ...] = ()
    excluded_resources: tuple[str, ...] = ()
    existing_resource_policy: str = ""
    hooks: Mapping[str, Any] = NONE
    include_cluster_resources: bool | None = None
    included_namespaces: tuple[str, ...] = ()
    included_resources: tuple[str, ...] = ()
    item_operation_timeout: str = ""
    label_selector: Mapping[str, Any] = NONE
    namespace_mapping: Mapping[str, str] = NONE
    or_label_selectors: tuple[dict[str, Any], ...] = ()
    preserve_node_ports: bool | None = None
    resource_modifier: Mapping[str, Any] = NONE
    resource_policy: Mapping[str, Any] = NONE
    restore_pvs: bool | None = msgspec.field(default=None, name="restorePVs")
    restore_status: Mapping[str, Any] = NONE
    uploader_config: Mapping[str, Any] = NONE


class OwnedSpec(Wire, frozen=True):
    """The fields of a manager's FieldsV1 that show who paused a schedule and when its expression was written."""

    schedule: dict[str, Any] | None = msgspec.field(default=None, name="f:schedule")
    paused: dict[str, Any] | None = msgspec.field(default=None, name="f:paused")


class OwnedFields(Wire, frozen=True):
    spec: OwnedSpec = msgspec.field(default=OwnedSpec(), name="f:spec")


class ManagedFields(FieldManager, frozen=True):
    time: Time | None = None
    fields: OwnedFields = msgspec.field(default=OwnedFields(), name="fieldsV1")


class ScheduleMetadata(Metadata, frozen=True):
    managed_fields: tuple[ManagedFields, ...] = ()


class ScheduleSpec(Wire, frozen=True):
    schedule: str = ""
    template: BackupSpec = BackupSpec()
    paused: bool = False
    skip_immediately: bool | None = None
    use_owner_references_in_backup: bool | None = None


class ScheduleStatus(Wire, frozen=True):
    phase: str = ""
    last_backup: Time | None = None
    last_skipped: Time | None = None
    validation_errors: tuple[str, ...] = ()


class Schedule(Resource, frozen=True):
    metadata: ScheduleMetadata = ScheduleMetadata()
    spec: ScheduleSpec = ScheduleSpec()
    status: ScheduleStatus = ScheduleStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def is_refused(self) -> bool:
        """True if Velero refused it when it last looked at it: it makes no backup of it until it finds it valid."""
        return self.status.phase == "FailedValidation"

    @property
    def paused_field_set(self) -> ManagedFields | None:
        """The last writer of `spec.paused`, and when: the latest time at which the pause can have begun."""
        return _latest(entry for entry in self.metadata.managed_fields if entry.fields.spec.paused is not None)

    @property
    def expression_set(self) -> datetime | None:
        """The latest time at which `spec.schedule` was written; None if the API server does not record it."""
        latest = self.expression_field_set
        return latest.time if latest else None

    @property
    def expression_field_set(self) -> ManagedFields | None:
        """The last writer of `spec.schedule`, and when."""
        return _latest(entry for entry in self.metadata.managed_fields if entry.fields.spec.schedule is not None)


def _latest(entries: Iterable[ManagedFields]) -> ManagedFields | None:
    return max(entries, key=lambda entry: entry.time.timestamp() if entry.time else 0.0, default=None)


class ItemProgress(Wire, frozen=True):
    total_items: Count = 0
    items_backed_up: Count = 0
    items_restored: Count = 0

    @property
    def done(self) -> int:
        return self.items_backed_up or self.items_restored


class HookStatus(Wire, frozen=True):
    hooks_attempted: Count = 0
    hooks_failed: Count = 0


class RunStatus(Wire, frozen=True):
    """The status fields that Backup and Restore share."""

    phase: str = ""
    start_timestamp: Time | None = None
    completion_timestamp: Time | None = None
    errors: Count = 0
    warnings: Count = 0
    failure_reason: str = ""
    validation_errors: tuple[str, ...] = ()
    progress: ItemProgress | None = None
    hook_status: HookStatus | None = None

    @property
    def item_operations(self) -> tuple[int, int]:
        """The numbers of plugin operations after the items, and of the failed ones."""
        return 0, 0


class BackupStatus(RunStatus, frozen=True):
    expiration: Time | None = None
    queue_position: Count | None = None
    format_version: str = ""
    version: Count = 0
    backup_item_operations_attempted: Count = 0
    backup_item_operations_failed: Count = 0
    volume_snapshots_attempted: Count = 0
    volume_snapshots_completed: Count = 0
    csi_volume_snapshots_attempted: Count = 0
    csi_volume_snapshots_completed: Count = 0

    @property
    def item_operations(self) -> tuple[int, int]:
        return self.backup_item_operations_attempted, self.backup_item_operations_failed


class Backup(Resource, frozen=True):
    spec: BackupSpec = BackupSpec()
    status: BackupStatus = BackupStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def schedule_name(self) -> str:
        return self.label(SCHEDULE_LABEL)

    @property
    def started(self) -> datetime | None:
        return self.status.start_timestamp


class RestoreStatus(RunStatus, frozen=True):
    restore_item_operations_attempted: Count = 0
    restore_item_operations_failed: Count = 0

    @property
    def item_operations(self) -> tuple[int, int]:
        return self.restore_item_operations_attempted, self.restore_item_operations_failed


class Restore(Resource, frozen=True):
    spec: RestoreSpec = RestoreSpec()
    status: RestoreStatus = RestoreStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class DeleteBackupRequestSpec(Wire, frozen=True):
    backup_name: str = ""


class DeleteBackupRequestStatus(Wire, frozen=True):
    phase: str = ""
    errors: tuple[str, ...] = ()


class DeleteBackupRequest(Resource, frozen=True):
    spec: DeleteBackupRequestSpec = DeleteBackupRequestSpec()
    status: DeleteBackupRequestStatus = DeleteBackupRequestStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class ObjectStorage(Wire, frozen=True):
    bucket: str = ""
    prefix: str = ""


class SecretKey(Wire, frozen=True):
    """The name of a Secret and of a key in it; the value is never read."""

    name: str = ""
    key: str = ""


class BackupStorageLocationSpec(Wire, frozen=True):
    provider: str = ""
    default: bool = False
    access_mode: str = ""
    config: Mapping[str, str] = NONE
    object_storage: ObjectStorage = ObjectStorage()
    credential: SecretKey | None = None
    validation_frequency: str = ""
    backup_sync_period: str = ""


class BackupStorageLocationStatus(Wire, frozen=True):
    phase: str = ""
    message: str = ""
    last_validation_time: Time | None = None
    last_synced_time: Time | None = None


class BackupStorageLocation(Resource, frozen=True):
    spec: BackupStorageLocationSpec = BackupStorageLocationSpec()
    status: BackupStorageLocationStatus = BackupStorageLocationStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def refuses(self) -> str:
        """Why Velero refuses a backup to it: `Unavailable` or `read-only`; "" where it does not."""
        if self.phase == "Unavailable":
            return "Unavailable"
        return "read-only" if self.spec.access_mode == "ReadOnly" else ""


class VolumeSnapshotLocationSpec(Wire, frozen=True):
    provider: str = ""


class VolumeSnapshotLocation(Resource, frozen=True):
    spec: VolumeSnapshotLocationSpec = VolumeSnapshotLocationSpec()


class BackupRepositorySpec(Wire, frozen=True):
    volume_namespace: str = ""
    backup_storage_location: str = ""
    repository_type: str = ""


class RepositoryMaintenance(Wire, frozen=True):
    """One maintenance of a repository; Velero keeps the last three."""

    result: str = ""
    message: str = ""
    complete_timestamp: Time | None = None


class BackupRepositoryStatus(Wire, frozen=True):
    phase: str = ""
    message: str = ""
    last_maintenance_time: Time | None = None
    recent_maintenance: tuple[RepositoryMaintenance, ...] = ()


class BackupRepository(Resource, frozen=True):
    """The volume data of one namespace within a storage location."""

    spec: BackupRepositorySpec = BackupRepositorySpec()
    status: BackupRepositoryStatus = BackupRepositoryStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def is_unready(self) -> bool:
        """Velero tried it and failed; one that it has not tried yet is not unready."""
        return self.phase == "NotReady"

    @property
    def failed_maintenances(self) -> tuple[RepositoryMaintenance, ...]:
        """The failed maintenances since the last good one, oldest first, as far as Velero keeps them."""
        recent = self.status.recent_maintenance
        good = [position for position, maintenance in enumerate(recent, 1) if maintenance.result != "Failed"]
        return recent[max(good, default=0) :]

    @property
    def failed_maintenance(self) -> str:
        """Why the latest maintenance failed; "" where it did not."""
        failed = self.failed_maintenances
        return (failed[-1].message or "no reason given") if failed else ""


class ServerStatusRequestStatus(Wire, frozen=True):
    phase: str = ""
    server_version: str = ""
    processed_timestamp: Time | None = None


class ServerStatusRequest(Resource, frozen=True):
    """A query of the server's version; `velero version` creates one, and Velero removes it after a while."""

    status: ServerStatusRequestStatus = ServerStatusRequestStatus()


class DownloadStatus(Wire, frozen=True):
    phase: str = ""
    message: str = ""
    """Why there is no URL, in releases that say so."""
    download_url: str = msgspec.field(default="", name="downloadURL")


class DownloadRequest(Resource, frozen=True):
    status: DownloadStatus = DownloadStatus()


class VeleroDownload(Wire, frozen=True):
    status: DownloadStatus = DownloadStatus()


class NonAdminDownloadStatus(Wire, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    velero: VeleroDownload = VeleroDownload()


class NonAdminDownloadRequest(Resource, frozen=True):
    status: NonAdminDownloadStatus = NonAdminDownloadStatus()
