"""A world out of objects that were read once, from a file: there it is all there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from core.models import (
    Backup,
    BackupStorageLocation,
    CronJob,
    DataDownload,
    DataUpload,
    DeleteBackupRequest,
    Deployment,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    PodVolumeBackup,
    PodVolumeRestore,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
)
from core.rules.servers import server
from core.rules.world import Unseen, World

R = TypeVar("R", bound=Resource)


def assemble(objects: Iterable[Resource], context: str = "", unseen: tuple[Unseen, ...] = ()) -> World:
    by_type: defaultdict[type[Resource], list[Resource]] = defaultdict(list)
    for item in objects:
        by_type[type(item)].append(item)

    def only(model: type[R]) -> tuple[R, ...]:
        return tuple(by_type[model])  # type: ignore[arg-type]  # grouped by exactly that type

    servers = {item.namespace: known for item in only(Deployment) if (known := server(item)) is not None}
    movements = (PodVolumeBackup, PodVolumeRestore, DataUpload, DataDownload)
    return World(
        context=context,
        schedules=only(Schedule),
        backups=only(Backup),
        restores=only(Restore),
        delete_requests=only(DeleteBackupRequest),
        storage=only(BackupStorageLocation),
        movements=tuple(item for model in movements for item in only(model)),
        nabs=only(NonAdminBackup),
        nars=only(NonAdminRestore),
        nabsls=only(NonAdminBackupStorageLocation),
        storage_requests=only(NonAdminBackupStorageLocationRequest),
        prescaled=only(PreScaledCronJob),
        cron_jobs=only(CronJob),
        servers=servers,
        unseen=unseen,
    )
