"""The indexes of objects that rules and tables look things up in, each updated change by change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from contextlib import suppress
from datetime import datetime
from typing import Any, Generic, TypeVar

from foretop_core.models import (
    Backup,
    DataMovement,
    DataUpload,
    Event,
    NonAdmin,
    NonAdminBackup,
    NonAdminRestore,
    PersistentVolume,
    PersistentVolumeClaim,
    PodVolumeBackup,
    Restore,
)
from foretop_core.models.nonadmin import (
    NAB_NAMESPACE_ANNOTATION,
    NAB_UUID_LABEL,
    NAR_NAMESPACE_ANNOTATION,
    NAR_UUID_LABEL,
)
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.phases import ENDED, FAULTY

M = TypeVar("M", bound=Resource)
Bucket = tuple[Hashable, ...]
Run = Backup | Restore
SETTLED = "Created"
SERVER_STARTING = "during the server starting"
"""In the reason of a backup that a server failed when it was started."""
HOUR, DAY = 3600, 86_400
"""In seconds: the buckets that runs are kept in by time."""


class Index(Generic[M]):
    """Objects of one model by a value in them; an object without the value is not indexed.

    A bucket with one object, as most of those by uuid have, is a pair and not a dictionary.
    """

    def __init__(self, model: type[M], bucket_of: Callable[[M], Bucket | None]) -> None:
        self.model = model
        self._bucket_of = bucket_of
        self._buckets: dict[Bucket, dict[ObjectRef, M] | tuple[ObjectRef, M]] = {}
        self._moves = 0
        """How often a bucket came or went."""
        self._compared: tuple[int, int] = (0, 0)
        self._unmatched: Set[Bucket] = frozenset()

    def get(self, context: str, *bucket: Hashable) -> tuple[M, ...]:
        items = self._buckets.get((context, *bucket), {})
        return (items[1],) if isinstance(items, tuple) else tuple(items.values())

    def keys(self, context: str, *bucket: Hashable) -> tuple[ObjectRef, ...]:
        items = self._buckets.get((context, *bucket), {})
        return (items[0],) if isinstance(items, tuple) else tuple(items)

    def count(self, context: str, *bucket: Hashable) -> int:
        """How many objects are in a bucket, without a look at them."""
        items = self._buckets.get((context, *bucket), {})
        return 1 if isinstance(items, tuple) else len(items)

    def without(self, context: str, other: Index[Any]) -> Iterator[M]:
        """The objects whose bucket the other index does not have; always asked for the same other index.

        Few changes make a bucket or end one: only after these all buckets are compared again.
        """
        if self._compared != (now := (self._moves, other._moves)):
            self._compared, self._unmatched = now, self._buckets.keys() - other._buckets.keys()
        for bucket in self._unmatched:
            if bucket[0] == context:
                yield from self.get(context, *bucket[1:])

    def move(self, key: ObjectRef, before: M | None, after: M | None) -> None:
        """Move the object from its old bucket to the new one. Every change passes here: most of them have neither."""
        old = None if before is None else self._bucket_of(before)
        new = None if after is None else self._bucket_of(after)
        if old is not None and old != new:
            self._take_out((key.context, *old), key)
        if after is not None and new is not None:
            self._put_in((key.context, *new), key, after)

    def discard(self, key: ObjectRef, item: M) -> None:
        """Take the object out of the bucket of this state of it, if it is there."""
        bucket = self._bucket_of(item)
        if bucket is not None and key in self.keys(key.context, *bucket):
            self._take_out((key.context, *bucket), key)

    def _take_out(self, bucket: Bucket, key: ObjectRef) -> None:
        rest = self._buckets[bucket]
        if isinstance(rest, dict):
            del rest[key]
        if isinstance(rest, tuple) or not rest:
            del self._buckets[bucket]
            self._moves += 1

    def _put_in(self, bucket: Bucket, key: ObjectRef, item: M) -> None:
        items = self._buckets.get(bucket)
        self._moves += items is None
        if items is None or (isinstance(items, tuple) and items[0] == key):
            self._buckets[bucket] = (key, item)
        elif isinstance(items, tuple):
            self._buckets[bucket] = {items[0]: items[1], key: item}
        else:
            items[key] = item


class SubsetIndex(Generic[M]):
    """The objects of one model that pass a test, by context."""

    def __init__(self, model: type[M], holds: Callable[[M], bool]) -> None:
        self.model = model
        self._holds = holds
        self._members: dict[str, dict[ObjectRef, M]] = {}

    def get(self, context: str) -> tuple[M, ...]:
        return tuple(self._members.get(context, {}).values())

    def discard(self, key: ObjectRef, _item: M) -> None:
        self._members.get(key.context, {}).pop(key, None)

    def move(self, key: ObjectRef, before: M | None, after: M | None) -> None:
        if after is not None and self._holds(after):
            self._members.setdefault(key.context, {})[key] = after
        elif before is not None and self._holds(before):
            del self._members[key.context][key]


class PeriodIndex(Generic[M]):
    """Objects of one model by namespace and a number of an hour or day; which of them there are can be asked."""

    def __init__(self, model: type[M], period_of: Callable[[M], int | None]) -> None:
        self.model = model
        self._period_of = period_of
        self._periods: dict[tuple[str, str], dict[int, dict[ObjectRef, M]]] = {}

    def newest(self, context: str, namespace: str, back: int = 0) -> tuple[M, ...]:
        """The objects of the last period, and of so many before it."""
        periods = self._periods.get((context, namespace))
        if not periods:
            return ()
        first = max(periods) - back
        return tuple(item for period, members in periods.items() if period >= first for item in members.values())

    def until(self, context: str, last: int) -> tuple[M, ...]:
        """The objects of all namespaces up to a period."""
        return tuple(
            item
            for (where, _), periods in self._periods.items()
            if where == context
            for period, members in periods.items()
            if period <= last
            for item in members.values()
        )

    def move(self, key: ObjectRef, before: M | None, after: M | None) -> None:
        old = None if before is None else self._period_of(before)
        new = None if after is None else self._period_of(after)
        if old is None and new is None:
            return
        periods = self._periods.setdefault((key.context, key.namespace), {})
        if old is not None and old != new:
            members = periods[old]
            del members[key]
            if not members:
                del periods[old]
        if after is not None and new is not None:
            periods.setdefault(new, {})[key] = after
        elif not periods:
            del self._periods[key.context, key.namespace]

    def discard(self, key: ObjectRef, item: M) -> None:
        """Take the object out of the period of this state of it, if it is there."""
        period, place = self._period_of(item), (key.context, key.namespace)
        periods = self._periods.get(place, {})
        if period is None or key not in periods.get(period, {}):
            return
        del periods[period][key]
        if not periods[period]:
            del periods[period]
        if not periods:
            del self._periods[place]


class CountIndex(Generic[M]):
    """In which namespaces there are objects of one model; the objects themselves are not kept."""

    def __init__(self, model: type[M]) -> None:
        self.model = model
        self._counts: dict[tuple[str, str], int] = {}

    def namespaces(self, context: str) -> frozenset[str]:
        return frozenset(namespace for where, namespace in self._counts if where == context)

    def has_any(self, context: str, namespace: str) -> bool:
        return (context, namespace) in self._counts

    def move(self, key: ObjectRef, before: M | None, after: M | None) -> None:
        if before is not None and after is not None:
            return
        if before is None:
            place = (key.context, key.namespace)
            self._counts[place] = self._counts.get(place, 0) + 1
        else:
            self.discard(key, before)

    def discard(self, key: ObjectRef, _item: M) -> None:
        place = (key.context, key.namespace)
        if self._counts[place] > 1:
            self._counts[place] -= 1
        else:
            del self._counts[place]


class SumIndex(Generic[M]):
    """The bytes of objects of one model by bucket, and how many there are; the objects themselves are not kept."""

    def __init__(self, model: type[M], amount_of: Callable[[M], tuple[Bucket, int] | None]) -> None:
        self.model = model
        self._amount_of = amount_of
        self._sums: dict[Bucket, tuple[int, int]] = {}

    def get(self, context: str, *bucket: Hashable) -> tuple[int, int]:
        """The bytes, and of how many objects."""
        return self._sums.get((context, *bucket), (0, 0))

    def move(self, key: ObjectRef, before: M | None, after: M | None) -> None:
        old = None if before is None else self._amount_of(before)
        new = None if after is None else self._amount_of(after)
        if old != new:
            self._add(key, old, -1)
            self._add(key, new, 1)

    def discard(self, key: ObjectRef, item: M) -> None:
        self._add(key, self._amount_of(item), -1)

    def _add(self, key: ObjectRef, amount: tuple[Bucket, int] | None, sign: int) -> None:
        if amount is None:
            return
        bucket = (key.context, *amount[0])
        size, number = self._sums.get(bucket, (0, 0))
        if number + sign:
            self._sums[bucket] = size + sign * amount[1], number + sign
        else:
            del self._sums[bucket]


AnyIndex = Index[Any] | SubsetIndex[Any] | PeriodIndex[Any] | CountIndex[Any] | SumIndex[Any]


class Indexes:
    """All indexes; a bucket with a namespace has the namespace of its objects."""

    def __init__(self) -> None:
        self.backups_by_schedule = Index(Backup, _labelled_in_namespace(SCHEDULE_LABEL))
        self.backups_by_nacuuid = Index(Backup, _labelled(NAB_UUID_LABEL))
        self.restores_by_nacuuid = Index(Restore, _labelled(NAR_UUID_LABEL))
        self.backups_by_team = Index(Backup, _annotated(NAB_NAMESPACE_ANNOTATION))
        self.restores_by_team = Index(Restore, _annotated(NAR_NAMESPACE_ANNOTATION))
        self.restores_by_backup = Index(Restore, lambda item: _named(item.namespace, item.spec.backup_name))
        self.movements_by_backup = Index(DataMovement, lambda item: _named(item.namespace, item.backup_name))
        self.movements_by_restore = Index(DataMovement, lambda item: _named(item.namespace, item.restore_name))
        self.movements_by_backup_and_namespace = Index(DataMovement, backup_and_namespace)
        self.claims_by_namespace = Index(PersistentVolumeClaim, lambda item: _named(item.namespace))
        self.volumes_by_namespace = Index(PersistentVolume, lambda item: (item.spec.claim_ref.namespace,))
        self.events_by_uid = Index(Event, lambda item: _named(item.involved_object.uid))
        self.nabs_by_nacuuid = Index(NonAdminBackup, lambda item: _named(item.velero.nacuuid))
        self.nars_by_nacuuid = Index(NonAdminRestore, lambda item: _named(item.velero.nacuuid))
        self.unfinished_backups_by_phase = Index(Backup, unfinished_phase)
        self.scheduled_backups_by_creation = PeriodIndex(Backup, hour_scheduled)
        self.backups_by_last_move = PeriodIndex(Backup, hour_moved)
        self.backups_by_expiration = PeriodIndex(Backup, day_expiring)
        self.backups_by_namespace = CountIndex(Backup)
        self.moved_to = SumIndex(DataMovement, moved_to)
        self.open_backups = SubsetIndex(Backup, is_open)
        self.open_restores = SubsetIndex(Restore, is_open)
        self.faulty_backups = SubsetIndex(Backup, is_faulty)
        self.faulty_restores = SubsetIndex(Restore, is_faulty)
        self.backups_cut_off = SubsetIndex(Backup, was_cut_off)
        self.unsettled_nonadmin = SubsetIndex(NonAdmin, is_unsettled)
        self.faulty_nonadmin = SubsetIndex(NonAdmin, has_faulty_copy)
        self.queued_nonadmin = SubsetIndex(NonAdmin, reports_place)
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
            self.movements_by_backup_and_namespace,
            self.claims_by_namespace,
            self.volumes_by_namespace,
            self.events_by_uid,
            self.nabs_by_nacuuid,
            self.nars_by_nacuuid,
            self.unfinished_backups_by_phase,
            self.scheduled_backups_by_creation,
            self.backups_by_last_move,
            self.backups_by_expiration,
            self.open_backups,
            self.open_restores,
            self.faulty_backups,
            self.faulty_restores,
            self.backups_cut_off,
            self.unsettled_nonadmin,
            self.faulty_nonadmin,
            self.queued_nonadmin,
            # The last ones, so that they have not counted yet what another could not take in.
            self.backups_by_namespace,
            self.moved_to,
        )

    def fill(self, objects: Iterable[tuple[ObjectRef, Resource]]) -> None:
        """Take in objects that were read at once; of two with the same key the later one counts."""
        latest: dict[ObjectRef, Resource] = {}
        for key, item in objects:
            self.move(key, latest.get(key), item)
            latest[key] = item

    def move(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        """An object that becomes readable or unreadable leaves the indexes of the one and enters those of the other."""
        if before is not None and after is not None and type(before) is not type(after):
            self.move(key, before, None)
            self.move(key, None, after)
            return
        for index in self._of_model(type(before if after is None else after)):
            index.move(key, before, after)

    def discard(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        """Take out an object that could not be moved: some indexes have it as it was, others as it is."""
        for item in (before, after):
            for index in () if item is None else self._of_model(type(item)):
                # What counts does so last, so that it still has what was before.
                if item is before or not isinstance(index, CountIndex | SumIndex):
                    # What cannot tell where the object is has not taken it in.
                    with suppress(Exception):
                        index.discard(key, item)

    def _of_model(self, model: type) -> tuple[AnyIndex, ...]:
        indexes = self._by_model.get(model)
        if indexes is None:
            indexes = self._by_model[model] = tuple(index for index in self._all if issubclass(model, index.model))
        return indexes


def backup_and_namespace(item: DataMovement) -> Bucket | None:
    """The backup whose volumes it moves, and the namespace of those."""
    return (item.namespace, item.backup_name, item.claim[0]) if item.backup_name else None


def is_open(run: Run) -> bool:
    return run.status.phase not in ENDED or run.status.completion_timestamp is None


def is_faulty(run: Run) -> bool:
    return run.status.phase in FAULTY


def was_cut_off(backup: Backup) -> bool:
    """True if it was at work when its server was started anew, which then failed it."""
    return backup.status.phase == "Failed" and SERVER_STARTING in backup.status.failure_reason


def unfinished_phase(backup: Backup) -> Bucket | None:
    phase = backup.status.phase
    return None if phase in ENDED else (backup.metadata.namespace, phase)


def hour_scheduled(backup: Backup) -> int | None:
    """The hour in which it was created, of one with the label of a schedule."""
    moment = backup.metadata.creation_timestamp
    return None if moment is None or not backup.schedule_name else int(moment.timestamp() // HOUR)


def hour_moved(run: Run) -> int | None:
    started, ended = run.status.start_timestamp, run.status.completion_timestamp
    moment = started if ended is None or (started is not None and started > ended) else ended
    return None if moment is None else int(moment.timestamp() // HOUR)


def day_expiring(backup: Backup) -> int | None:
    moment = backup.status.expiration
    return None if moment is None else day_of(moment)


def day_of(moment: datetime) -> int:
    return int(moment.timestamp() // DAY)


def moved_to(movement: DataMovement) -> tuple[Bucket, int] | None:
    """The server and the location that the data of a volume was moved to, and its bytes."""
    place = movement.spec.backup_storage_location
    if not place or movement.phase != "Completed" or not isinstance(movement, PodVolumeBackup | DataUpload):
        return None
    return (movement.namespace, place), movement.size


def is_unsettled(item: NonAdmin) -> bool:
    return item.phase != SETTLED or item.metadata.deletion_timestamp is not None


def has_faulty_copy(item: NonAdmin) -> bool:
    return item.velero.status is not None and item.velero.status.phase in FAULTY


def reports_place(item: NonAdmin) -> bool:
    return item.state.queue_info is not None and bool(item.state.queue_info.estimated_queue_position)


def _named(*bucket: str) -> Bucket | None:
    """One bucket for each name; none for an object that names nothing."""
    return bucket if bucket[-1] else None


def _labelled(label: str) -> Callable[[Resource], Bucket | None]:
    """One bucket for each value of a label."""
    return lambda item: (value,) if (value := item.metadata.labels.get(label)) else None


def _labelled_in_namespace(label: str) -> Callable[[Resource], Bucket | None]:
    return lambda item: (item.metadata.namespace, value) if (value := item.metadata.labels.get(label)) else None


def _annotated(annotation: str) -> Callable[[Resource], Bucket | None]:
    return lambda item: (value,) if (value := item.metadata.annotations.get(annotation)) else None
