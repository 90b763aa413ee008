"""From one object to those that belong to it: a schedule and its backups, a NAB and its Velero backup."""

from __future__ import annotations

from collections.abc import Iterator

from foretop_core.models import (
    Backup,
    BackupStorageLocation,
    DataMovement,
    NonAdmin,
    NonAdminBackup,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    Restore,
    Schedule,
)
from foretop_core.models.kinds import (
    BACKUP,
    NAB,
    NABSL,
    NAMESPACE,
    NAR,
    RESTORE,
    SCHEDULE,
    STORAGE,
    by_name,
)
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
)
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.schedule_facts import history
from foretop_core.rules.facts.storage_facts import schedules_to
from foretop_core.rules.triage import Finding
from foretop_core.store import Store

_MOST_BACKUPS = 10


def object_of(finding: Finding) -> ObjectRef | None:
    """The object that the finding is about, where it is one that can be opened."""
    return finding.subject if _can_be_opened(finding.subject) else None


def related_to_finding(finding: Finding) -> tuple[ObjectRef, ...]:
    """The object that it blames first, then the culprits and the object that suffers."""
    cause = finding.because
    blamed = (cause.subject,) if cause is not None and not cause.members else ()
    return tuple(dict.fromkeys(filter(_can_be_opened, (*blamed, *finding.related, finding.subject))))


def _can_be_opened(ref: ObjectRef) -> bool:
    return bool(ref.name) and by_name(ref.kind) is not None


def related(store: Store, key: ObjectRef) -> tuple[ObjectRef, ...]:
    """The objects that belong to an object, nearest first; only those that are there."""
    return tuple(dict.fromkeys(other for other in _related(store, key) if store.get(other) is not None))


def _related(store: Store, key: ObjectRef) -> Iterator[ObjectRef]:
    if key.kind == NAMESPACE.name:
        yield from _of_namespace(store, key)
    match store.get(key):
        case Schedule() as schedule:
            labelled = store.indexes.backups_by_schedule.get(key.context, key.namespace, key.name)
            for run in history(schedule, labelled)[:_MOST_BACKUPS]:
                yield ObjectRef(key.context, BACKUP.name, run.namespace, run.name)
        case Backup() as backup:
            yield from _of_backup(store, key, backup)
        case Restore() as restore:
            yield from _origin(key, restore, NAR.name, NAR_NAMESPACE_ANNOTATION, NAR_NAME_ANNOTATION)
            yield ObjectRef(key.context, BACKUP.name, key.namespace, restore.spec.backup_name)
            yield ObjectRef(key.context, SCHEDULE.name, key.namespace, restore.spec.schedule_name)
        case NonAdmin() as item:
            yield from _of_nonadmin(key, item)
        case DataMovement() as movement:
            yield ObjectRef(key.context, BACKUP.name, key.namespace, movement.backup_name)
            yield ObjectRef(key.context, RESTORE.name, key.namespace, movement.restore_name)
        case BackupStorageLocation() as place:
            for name in schedules_to(store.snapshot(key.context), place):
                yield ObjectRef(key.context, SCHEDULE.name, key.namespace, name)
        case NonAdminBackupStorageLocationRequest() as request:
            source = request.status.non_admin_backup_storage_location
            yield ObjectRef(key.context, NABSL.name, source.namespace, source.name)
        case _:
            return


def _of_namespace(store: Store, key: ObjectRef) -> Iterator[ObjectRef]:
    """The copy that a restore would take, and what backs it up; also of a namespace that was deleted."""
    row = store.snapshot(key.context).protection.row(key.name)
    if row is None:
        return
    if (copy := row.copies.usable) is not None:
        yield ObjectRef(key.context, BACKUP.name, copy.namespace, copy.name)
    for cover in row.covers:
        yield ObjectRef(key.context, SCHEDULE.name, cover.schedule.namespace, cover.schedule.name)
    if row.newest_nab is not None:
        yield ObjectRef(key.context, NAB.name, row.newest_nab.namespace, row.newest_nab.name)


def _of_backup(store: Store, key: ObjectRef, backup: Backup) -> Iterator[ObjectRef]:
    yield from _origin(key, backup, NAB.name, NAB_NAMESPACE_ANNOTATION, NAB_NAME_ANNOTATION)
    if backup.schedule_name:
        yield ObjectRef(key.context, SCHEDULE.name, key.namespace, backup.schedule_name)
    yield from store.indexes.restores_by_backup.keys(key.context, key.namespace, key.name)
    yield ObjectRef(key.context, STORAGE.name, key.namespace, backup.spec.storage_location)


def _of_nonadmin(key: ObjectRef, item: NonAdmin) -> Iterator[ObjectRef]:
    kind = BACKUP.name if isinstance(item, NonAdminBackup) else RESTORE.name
    if item.velero.name:
        yield ObjectRef(key.context, kind, item.velero.namespace, item.velero.name)
    if isinstance(item, NonAdminRestore):
        yield ObjectRef(key.context, NAB.name, key.namespace, item.spec.restore_spec.backup_name)


def _origin(key: ObjectRef, run: Backup | Restore, kind: str, namespace: str, name: str) -> Iterator[ObjectRef]:
    if run.annotation(name):
        yield ObjectRef(key.context, kind, run.annotation(namespace), run.annotation(name))
