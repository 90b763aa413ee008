"""From one object to those that belong to it: a schedule and its backups, a NAB and its Velero backup."""

from __future__ import annotations

from collections.abc import Iterator

from foretop_core.models import Backup, DataMovement, NonAdmin, NonAdminBackup, NonAdminRestore, Restore, Schedule
from foretop_core.models.kinds import BACKUP, KINDS, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
)
from foretop_core.rules.history import history
from foretop_core.rules.triage import Finding, Subject
from foretop_core.store import Key, Store

_PLURALS = {kind.name: kind.plural for kind in KINDS}
_MOST_BACKUPS = 10
PAGE_OF = {
    SCHEDULE.plural: "schedules",
    BACKUP.plural: "backups",
    RESTORE.plural: "restores",
    NAB.plural: "nonadmin",
    NAR.plural: "nonadmin",
    STORAGE.plural: "storage",
}


def key_of_subject(context: str, subject: Subject) -> Key | None:
    plural = _PLURALS.get(subject.kind)
    return Key(context, plural, subject.namespace, subject.name) if plural and subject.name else None


def related_to_finding(finding: Finding) -> tuple[Key, ...]:
    """The culprits first, then the object that suffers."""
    subjects = (*finding.related, finding.subject)
    keys = (key_of_subject(finding.context, subject) for subject in subjects)
    return tuple(dict.fromkeys(key for key in keys if key is not None))


def related(store: Store, key: Key) -> tuple[Key, ...]:
    """What belongs to an object, nearest first; only what is there."""
    return tuple(dict.fromkeys(other for other in _related(store, key) if store.get(other) is not None))


def _related(store: Store, key: Key) -> Iterator[Key]:
    match store.get(key):
        case Schedule() as schedule:
            labelled = store.indexes.backups_by_schedule.get(key.context, key.namespace, key.name)
            for run in history(schedule, labelled)[:_MOST_BACKUPS]:
                yield Key(key.context, BACKUP.plural, run.namespace, run.name)
        case Backup() as backup:
            yield from _of_backup(store, key, backup)
        case Restore() as restore:
            yield from _origin(key, restore, NAR.plural, NAR_NAMESPACE_ANNOTATION, NAR_NAME_ANNOTATION)
            yield Key(key.context, BACKUP.plural, key.namespace, restore.spec.backup_name)
            yield Key(key.context, SCHEDULE.plural, key.namespace, restore.spec.schedule_name)
        case NonAdmin() as item:
            yield from _of_nonadmin(key, item)
        case DataMovement() as movement:
            yield Key(key.context, BACKUP.plural, key.namespace, movement.backup_name)
            yield Key(key.context, RESTORE.plural, key.namespace, movement.restore_name)
        case _:
            return


def _of_backup(store: Store, key: Key, backup: Backup) -> Iterator[Key]:
    yield from _origin(key, backup, NAB.plural, NAB_NAMESPACE_ANNOTATION, NAB_NAME_ANNOTATION)
    if backup.schedule_name:
        yield Key(key.context, SCHEDULE.plural, key.namespace, backup.schedule_name)
    yield from store.indexes.restores_by_backup.keys(key.context, key.namespace, key.name)
    yield Key(key.context, STORAGE.plural, key.namespace, backup.spec.storage_location)


def _of_nonadmin(key: Key, item: NonAdmin) -> Iterator[Key]:
    plural = BACKUP.plural if isinstance(item, NonAdminBackup) else RESTORE.plural
    if item.velero.name:
        yield Key(key.context, plural, item.velero.namespace, item.velero.name)
    if isinstance(item, NonAdminRestore):
        yield Key(key.context, NAB.plural, key.namespace, item.spec.restore_spec.backup_name)


def _origin(key: Key, run: Backup | Restore, plural: str, namespace: str, name: str) -> Iterator[Key]:
    if run.annotation(name):
        yield Key(key.context, plural, run.annotation(namespace), run.annotation(name))
