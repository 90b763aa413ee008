"""The lookups that the rules need, each updated change by change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from foretop_core.models import Backup, DataMovement, Event, NonAdmin, NonAdminBackup, NonAdminRestore, Restore
from foretop_core.models.nonadmin import (
    NAB_NAMESPACE_ANNOTATION,
    NAB_UUID_LABEL,
    NAR_NAMESPACE_ANNOTATION,
    NAR_UUID_LABEL,
)
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.queue import has_ended

M = TypeVar("M", bound=Resource)
Bucket = tuple[Hashable, ...]


class Index(Generic[M]):
    """Objects of one model by a value in them; an object without the value is not indexed."""

    def __init__(self, model: type[M], bucket_of: Callable[[M], Bucket]) -> None:
        self.model = model
        self._bucket_of = bucket_of
        self._buckets: dict[Bucket, dict[ObjectRef, M]] = {}

    def get(self, context: str, *bucket: Hashable) -> tuple[M, ...]:
        return tuple(self._buckets.get((context, *bucket), {}).values())

    def keys(self, context: str, *bucket: Hashable) -> tuple[ObjectRef, ...]:
        return tuple(self._buckets.get((context, *bucket), {}))

    def move(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        """Move the object from its old bucket to the new one."""
        old, new = self._bucket(key, before), self._bucket(key, after)
        if old is not None and old != new:
            rest = self._buckets[old]
            del rest[key]
            if not rest:
                del self._buckets[old]
        if new is not None and isinstance(after, self.model):
            self._buckets.setdefault(new, {})[key] = after

    def _bucket(self, key: ObjectRef, resource: Resource | None) -> Bucket | None:
        if not isinstance(resource, self.model):
            return None
        bucket = self._bucket_of(resource)
        return (key.context, *bucket) if bucket[-1] != "" else None


AnyIndex = Index[Any]


class Indexes:
    """All indexes; a bucket with a namespace has the namespace of its objects."""

    def __init__(self) -> None:
        self.backups_by_schedule = Index(Backup, lambda item: (item.namespace, item.schedule_name))
        self.backups_by_nacuuid = Index(Backup, lambda item: (item.label(NAB_UUID_LABEL),))
        self.restores_by_nacuuid = Index(Restore, lambda item: (item.label(NAR_UUID_LABEL),))
        self.backups_by_team = Index(Backup, lambda item: (item.annotation(NAB_NAMESPACE_ANNOTATION),))
        self.restores_by_team = Index(Restore, lambda item: (item.annotation(NAR_NAMESPACE_ANNOTATION),))
        self.restores_by_backup = Index(Restore, lambda item: (item.namespace, item.spec.backup_name))
        self.movements_by_backup = Index(DataMovement, lambda item: (item.namespace, item.backup_name))
        self.movements_by_restore = Index(DataMovement, lambda item: (item.namespace, item.restore_name))
        self.unfinished_backups = Index(Backup, _while_unfinished)
        self.unfinished_restores = Index(Restore, _while_unfinished)
        self.events_by_uid = Index(Event, lambda item: (item.involved_object.uid,))
        self.nabs_by_velero = Index(NonAdminBackup, _velero_name)
        self.nars_by_velero = Index(NonAdminRestore, _velero_name)
        self._by_model: dict[type, tuple[AnyIndex, ...]] = {}
        self._all: tuple[AnyIndex, ...] = (
            self.backups_by_schedule,
            self.backups_by_nacuuid,
            self.restores_by_nacuuid,
            self.backups_by_team,
            self.restores_by_team,
            self.restores_by_backup,
            self.movements_by_backup,
            self.movements_by_restore,
            self.unfinished_backups,
            self.unfinished_restores,
            self.events_by_uid,
            self.nabs_by_velero,
            self.nars_by_velero,
        )

    def move(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        for index in self._concerned(before, after):
            index.move(key, before, after)

    def _concerned(self, before: Resource | None, after: Resource | None) -> tuple[AnyIndex, ...]:
        """The indexes of the object's model; all of them if it becomes readable or unreadable."""
        if before is not None and after is not None and type(before) is not type(after):
            return self._all
        model = type(before if after is None else after)
        if model not in self._by_model:
            self._by_model[model] = tuple(index for index in self._all if issubclass(model, index.model))
        return self._by_model[model]


def _velero_name(item: NonAdmin) -> Bucket:
    return (item.velero.namespace, item.velero.name)


def _while_unfinished(item: Backup | Restore) -> Bucket:
    return ("" if has_ended(item) else item.namespace,)
