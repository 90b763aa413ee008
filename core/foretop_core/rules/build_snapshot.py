"""The snapshot that the rules read, built from objects kept by type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupStorageLocation,
    CronJob,
    CustomResourceDefinition,
    DataDownload,
    DataUpload,
    DeleteBackupRequest,
    Deployment,
    Namespace,
    NonAdminBackup,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodVolumeBackup,
    PodVolumeRestore,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
    ServerStatusRequest,
)
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules.snapshot import ClusterSnapshot, ObservedChanges, VeleroInfo, VisibilityGap
from foretop_core.rules.velero_deployment import oadp_release, server
from foretop_core.rules.volumes.evidence import VolumesSeen

R = TypeVar("R", bound=Resource)
BACKUP_DEFINITION = "backups.velero.io"


class ListObjects(Protocol):
    """All objects of one model, wherever they are kept."""

    def __call__(self, model: type[R], /) -> tuple[R, ...]: ...


def snapshot_of(
    context: str,
    every: ListObjects,
    unseen: tuple[VisibilityGap, ...] = (),
    seen: ObservedChanges | None = None,
    given_versions: Mapping[str, str] | None = None,
    *,
    namespaces_seen: bool = False,
    volumes_seen: VolumesSeen | None = None,
) -> ClusterSnapshot:
    return ClusterSnapshot(
        context=context,
        schedules=every(Schedule),
        backups=every(Backup),
        restores=every(Restore),
        delete_requests=every(DeleteBackupRequest),
        storage=every(BackupStorageLocation),
        movements=(*every(PodVolumeBackup), *every(PodVolumeRestore), *every(DataUpload), *every(DataDownload)),
        nabs=every(NonAdminBackup),
        nars=every(NonAdminRestore),
        storage_requests=every(NonAdminBackupStorageLocationRequest),
        prescaled=every(PreScaledCronJob),
        cron_jobs=every(CronJob),
        repositories=every(BackupRepository),
        pods=every(Pod),
        claims=every(PersistentVolumeClaim),
        volumes=every(PersistentVolume),
        volumes_seen=volumes_seen or VolumesSeen(),
        namespaces=every(Namespace) if namespaces_seen else None,
        config_maps=every(ConfigMap),
        servers=servers_of(every(Deployment)),
        server_status=every(ServerStatusRequest),
        oadp_releases={item.namespace: release for item in every(Deployment) if (release := oadp_release(item))},
        backup_status_fields=frozenset(
            field
            for definition in every(CustomResourceDefinition)
            if definition.name == BACKUP_DEFINITION
            for field in definition.status_fields
        ),
        given_versions=given_versions or {},
        unseen=unseen,
        seen=seen or ObservedChanges(),
    )


def servers_of(deployments: Iterable[Deployment]) -> dict[str, VeleroInfo]:
    """By namespace, the Velero servers among them."""
    return {item.namespace: info for item in deployments if (info := server(item)) is not None}


def assemble(
    objects: Iterable[Resource],
    context: str = "",
    unseen: tuple[VisibilityGap, ...] = (),
    given_versions: Mapping[str, str] | None = None,
) -> ClusterSnapshot:
    """A snapshot out of objects that were read once, from a file: there it is all there is."""
    by_type: defaultdict[type[Resource], list[Resource]] = defaultdict(list)
    for item in objects:
        by_type[type(item)].append(item)

    def only(model: type[R], /) -> tuple[R, ...]:
        return tuple(by_type[model])  # type: ignore[arg-type]  # grouped by exactly that type

    listed = bool(by_type[Namespace])
    everywhere = frozenset({""})
    volumes_seen = VolumesSeen(
        everywhere if by_type[PersistentVolumeClaim] else frozenset(),
        movements_in=everywhere if by_type[PodVolumeBackup] or by_type[DataUpload] else frozenset(),
    )
    return snapshot_of(
        context, only, unseen, given_versions=given_versions, namespaces_seen=listed, volumes_seen=volumes_seen
    )
