"""A world out of objects that were read once, from a file: there it is all there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from core.models import (
    Backup,
    BackupStorageLocation,
    CronJob,
    DataMovement,
    DeleteBackupRequest,
    Deployment,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
)
from core.rules.servers import server
from core.rules.world import Unseen, World

R = TypeVar("R", bound=Resource)


def assemble(objects: Iterable[Resource], context: str = "", unseen: tuple[Unseen, ...] = ()) -> World:
    everything = tuple(objects)

    def only(model: type[R]) -> tuple[R, ...]:
        return tuple(item for item in everything if isinstance(item, model))

    servers = {item.namespace: known for item in only(Deployment) if (known := server(item)) is not None}
    return World(
        context=context,
        schedules=only(Schedule),
        backups=only(Backup),
        restores=only(Restore),
        delete_requests=only(DeleteBackupRequest),
        storage=only(BackupStorageLocation),
        movements=only(DataMovement),
        nabs=only(NonAdminBackup),
        nars=only(NonAdminRestore),
        nabsls=only(NonAdminBackupStorageLocation),
        storage_requests=only(NonAdminBackupStorageLocationRequest),
        prescaled=only(PreScaledCronJob),
        cron_jobs=only(CronJob),
        servers=servers,
        unseen=unseen,
    )
