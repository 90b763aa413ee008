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
from foretop_core.rules.lookups import (
    day_expiring,
    has_faulty_copy,
    hour_created,
    hour_moved,
    is_faulty,
    is_open,
    is_unsettled,
    reports_place,
)
from foretop_core.rules.queue import has_ended

M = TypeVar("M", bound=Resource)
Bucket = tuple[Hashable, ...]


class Index(Generic[M]):
    """Objects of one model by a value in them; an object without the value is not indexed.

    A bucket with one object, as most of those by uuid have, is a pair and not a dictionary.
    """

    def __init__(self, model: type[M], bucket_of: Callable[[M], Bucket]) -> None:
        self.model = model
        self._bucket_of = bucket_of
        self._buckets: dict[Bucket, dict[ObjectRef, M] | tuple[ObjectRef, M]] = {}

    def get(self, context: str, *bucket: Hashable) -> tuple[M, ...]:
        found = self._buckets.get((context, *bucket), {})
        return (found[1],) if isinstance(found, tuple) else tuple(found.values())

    def keys(self, context: str, *bucket: Hashable) -> tuple[ObjectRef, ...]:
        found = self._buckets.get((context, *bucket), {})
        return (found[0],) if isinstance(found, tuple) else tuple(found)

    def move(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        """Move the object from its old bucket to the new one."""
        old, new = self._bucket(key, before), self._bucket(key, after)
        if old is not None and old != new:
            self._take_out(old, key)
        if new is not None and isinstance(after, self.model):
            self._put_in(new, key, after)

    def _take_out(self, bucket: Bucket, key: ObjectRef) -> None:
        rest = self._buckets[bucket]
        if isinstance(rest, dict):
            del rest[key]
        if isinstance(rest, tuple) or not rest:
            del self._buckets[bucket]

    def _put_in(self, bucket: Bucket, key: ObjectRef, item: M) -> None:
        held = self._buckets.get(bucket)
        if held is None or (isinstance(held, tuple) and held[0] == key):
            self._buckets[bucket] = (key, item)
        elif isinstance(held, tuple):
            self._buckets[bucket] = {held[0]: held[1], key: item}
        else:
            held[key] = item

    def _bucket(self, key: ObjectRef, resource: Resource | None) -> Bucket | None:
        if not isinstance(resource, self.model):
            return None
        bucket = self._bucket_of(resource)
        return (key.context, *bucket) if bucket[-1] != "" else None


class PeriodIndex(Index[M]):
    """Objects of one model by namespace and a number of an hour or day; which of them there are can be asked."""

    def __init__(self, model: type[M], period_of: Callable[[M], int | None]) -> None:
        super().__init__(model, lambda item: (item.namespace, "" if (at := period_of(item)) is None else at))
        self._periods: dict[tuple[Hashable, Hashable], set[int]] = {}

    def newest(self, context: str, namespace: str, back: int = 0) -> tuple[M, ...]:
        """Those of the last period, and of so many before it."""
        periods = self._periods.get((context, namespace), set())
        last = max(periods, default=0)
        return tuple(
            item
            for period in range(last - back, last + 1)
            if period in periods
            for item in self.get(context, namespace, period)
        )

    def until(self, context: str, last: int) -> tuple[M, ...]:
        """Those of all namespaces up to a period."""
        return tuple(
            item
            for (where, namespace), periods in self._periods.items()
            if where == context
            for period in periods
            if period <= last
            for item in self.get(context, namespace, period)
        )

    def _put_in(self, bucket: Bucket, key: ObjectRef, item: M) -> None:
        super()._put_in(bucket, key, item)
        context, namespace, period = bucket
        if isinstance(period, int):
            self._periods.setdefault((context, namespace), set()).add(period)

    def _take_out(self, bucket: Bucket, key: ObjectRef) -> None:
        super()._take_out(bucket, key)
        context, namespace, period = bucket
        if bucket not in self._buckets and isinstance(period, int):
            periods = self._periods[context, namespace]
            periods.discard(period)
            if not periods:
                del self._periods[context, namespace]


class CountIndex(Index[M]):
    """In which namespaces there are objects of one model; the objects themselves are not kept."""

    def __init__(self, model: type[M]) -> None:
        super().__init__(model, lambda item: (item.namespace,))
        self._counts: dict[tuple[str, str], int] = {}

    def namespaces(self, context: str) -> frozenset[str]:
        return frozenset(namespace for where, namespace in self._counts if where == context)

    def move(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        place = (key.context, key.namespace)
        count = self._counts.get(place, 0) + isinstance(after, self.model) - isinstance(before, self.model)
        if count:
            self._counts[place] = count
        else:
            self._counts.pop(place, None)


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
        self.nabs_by_nacuuid = Index(NonAdminBackup, lambda item: (item.velero.nacuuid,))
        self.nars_by_nacuuid = Index(NonAdminRestore, lambda item: (item.velero.nacuuid,))
        self.backups_by_creation = PeriodIndex(Backup, hour_created)
        self.backups_by_last_move = PeriodIndex(Backup, hour_moved)
        self.backups_by_expiration = PeriodIndex(Backup, day_expiring)
        self.backups_by_namespace = CountIndex(Backup)
        self.open_backups = Index(Backup, _where(is_open))
        self.open_restores = Index(Restore, _where(is_open))
        self.faulty_backups = Index(Backup, _where(is_faulty))
        self.faulty_restores = Index(Restore, _where(is_faulty))
        self.unsettled_nonadmin = Index(NonAdmin, _where(is_unsettled))
        self.faulty_nonadmin = Index(NonAdmin, _where(has_faulty_copy))
        self.queued_nonadmin = Index(NonAdmin, _where(reports_place))
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
            self.nabs_by_nacuuid,
            self.nars_by_nacuuid,
            self.backups_by_creation,
            self.backups_by_last_move,
            self.backups_by_expiration,
            self.backups_by_namespace,
            self.open_backups,
            self.open_restores,
            self.faulty_backups,
            self.faulty_restores,
            self.unsettled_nonadmin,
            self.faulty_nonadmin,
            self.queued_nonadmin,
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


def _where(is_so: Callable[[Any], bool]) -> Callable[[Any], Bucket]:
    """One bucket for all those of which it holds."""
    return lambda item: (True,) if is_so(item) else ("",)


def _velero_name(item: NonAdmin) -> Bucket:
    return (item.velero.namespace, item.velero.name)


def _while_unfinished(item: Backup | Restore) -> Bucket:
    return ("" if has_ended(item) else item.namespace,)
