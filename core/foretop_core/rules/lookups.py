"""What the rules look up in a cluster: the few objects that a rule may find fault with, out of the many.

Each answer may have more objects than its rule needs, never fewer, and is in the order of namespace and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Resource, Restore
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.rules.phases import ENDED, FAULTY

K = TypeVar("K")
R = TypeVar("R", bound=Resource)
Run = Backup | Restore
SETTLED = "Created"
HOUR, DAY = 3600, 86_400
"""In seconds: the buckets that runs are kept in by time."""


class Lookups(Protocol):
    """The lookups of one cluster at one moment."""

    def open_backups(self) -> tuple[Backup, ...]:
        """Those whose phase or end time does not say yet that they have ended."""

    def open_restores(self) -> tuple[Restore, ...]: ...

    def faulty_backups(self) -> tuple[Backup, ...]: ...

    def faulty_restores(self) -> tuple[Restore, ...]: ...

    def newest_backups(self, namespace: str) -> tuple[Backup, ...]:
        """At least those of the hour before the last one was created."""

    def last_moved_backups(self, namespace: str) -> tuple[Backup, ...]:
        """At least the one that was started or has ended last."""

    def backups_expiring_until(self, moment: datetime) -> tuple[Backup, ...]: ...

    def backup_namespaces(self) -> frozenset[str]: ...

    def backups_of_schedule(self, namespace: str, name: str) -> tuple[Backup, ...]: ...

    def backups_of_uuid(self, nacuuid: str) -> tuple[Backup, ...]: ...

    def restores_of_uuid(self, nacuuid: str) -> tuple[Restore, ...]: ...

    def nabs_of_uuid(self, nacuuid: str) -> tuple[NonAdminBackup, ...]: ...

    def nars_of_uuid(self, nacuuid: str) -> tuple[NonAdminRestore, ...]: ...

    def nonadmin_named(self, namespace: str, name: str) -> tuple[NonAdmin, ...]: ...

    def unsettled_nonadmin(self) -> tuple[NonAdmin, ...]:
        """Refused, new or being deleted."""

    def faulty_nonadmin(self) -> tuple[NonAdmin, ...]:
        """Those whose copy of Velero's phase is faulty."""

    def queued_nonadmin(self) -> tuple[NonAdmin, ...]:
        """Those that report a place in the queue."""


class Keyed(Generic[K, R]):
    """A mapping that is looked up key by key."""

    def __init__(self, find: Callable[[K], tuple[R, ...]]) -> None:
        self._find = find

    def get(self, key: K, default: tuple[R, ...] = ()) -> tuple[R, ...]:
        return self._find(key) or default


def own_run(labelled: Iterable[R], name: str) -> R | None:
    """Of the runs with the label of a NAB or NAR the one that it names, else the last by name."""
    return max(labelled, key=lambda run: (run.name == name, run.name), default=None)


def in_order(objects: Iterable[R]) -> tuple[R, ...]:
    return tuple(sorted(objects, key=lambda item: (type(item).__name__, item.namespace, item.name)))


def is_open(run: Run) -> bool:
    return run.status.phase not in ENDED or run.status.completion_timestamp is None


def is_faulty(run: Run) -> bool:
    return run.status.phase in FAULTY


def hour_created(run: Run) -> int | None:
    moment = run.metadata.creation_timestamp
    return None if moment is None else int(moment.timestamp() // HOUR)


def hour_moved(run: Run) -> int | None:
    started, ended = run.status.start_timestamp, run.status.completion_timestamp
    moment = started if ended is None or (started is not None and started > ended) else ended
    return None if moment is None else int(moment.timestamp() // HOUR)


def day_expiring(backup: Backup) -> int | None:
    moment = backup.status.expiration
    return None if moment is None else day_of(moment)


def day_of(moment: datetime) -> int:
    return int(moment.timestamp() // DAY)


def is_unsettled(item: NonAdmin) -> bool:
    return item.phase != SETTLED or item.metadata.deletion_timestamp is not None


def has_faulty_copy(item: NonAdmin) -> bool:
    return item.velero.status is not None and item.velero.status.phase in FAULTY


def reports_place(item: NonAdmin) -> bool:
    return item.state.queue_info is not None and bool(item.state.queue_info.estimated_queue_position)


class Runs(Protocol):
    """The part of a snapshot that is looked through."""

    @property
    def backups(self) -> tuple[Backup, ...]: ...

    @property
    def restores(self) -> tuple[Restore, ...]: ...

    @property
    def nabs(self) -> tuple[NonAdminBackup, ...]: ...

    @property
    def nars(self) -> tuple[NonAdminRestore, ...]: ...


class ScannedLookups:
    """Lookups in the objects of a snapshot, each of which is looked at: for files, and for a moment that has passed."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._groups: dict[str, dict[object, list[Any]]] = {}

    def open_backups(self) -> tuple[Backup, ...]:
        return in_order(filter(is_open, self._runs.backups))

    def open_restores(self) -> tuple[Restore, ...]:
        return in_order(filter(is_open, self._runs.restores))

    def faulty_backups(self) -> tuple[Backup, ...]:
        return in_order(filter(is_faulty, self._runs.backups))

    def faulty_restores(self) -> tuple[Restore, ...]:
        return in_order(filter(is_faulty, self._runs.restores))

    def newest_backups(self, namespace: str) -> tuple[Backup, ...]:
        return self._group("namespace", self._runs.backups, lambda item: item.namespace, namespace)

    def last_moved_backups(self, namespace: str) -> tuple[Backup, ...]:
        return self.newest_backups(namespace)

    def backups_expiring_until(self, moment: datetime) -> tuple[Backup, ...]:
        last = day_of(moment)
        days = ((item, day_expiring(item)) for item in self._runs.backups)
        return in_order(item for item, day in days if day is not None and day <= last)

    def backup_namespaces(self) -> frozenset[str]:
        return frozenset(item.namespace for item in self._runs.backups)

    def backups_of_schedule(self, namespace: str, name: str) -> tuple[Backup, ...]:
        return self._group(
            "schedule", self._runs.backups, lambda item: (item.namespace, item.schedule_name), (namespace, name)
        )

    def backups_of_uuid(self, nacuuid: str) -> tuple[Backup, ...]:
        return self._group("backup", self._runs.backups, lambda item: item.label(NAB_UUID_LABEL), nacuuid)

    def restores_of_uuid(self, nacuuid: str) -> tuple[Restore, ...]:
        return self._group("restore", self._runs.restores, lambda item: item.label(NAR_UUID_LABEL), nacuuid)

    def nabs_of_uuid(self, nacuuid: str) -> tuple[NonAdminBackup, ...]:
        return self._group("nab", self._runs.nabs, lambda item: item.velero.nacuuid, nacuuid)

    def nars_of_uuid(self, nacuuid: str) -> tuple[NonAdminRestore, ...]:
        return self._group("nar", self._runs.nars, lambda item: item.velero.nacuuid, nacuuid)

    def nonadmin_named(self, namespace: str, name: str) -> tuple[NonAdmin, ...]:
        return self._group("name", tuple(self._nonadmin()), lambda item: (item.namespace, item.name), (namespace, name))

    def unsettled_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(filter(is_unsettled, self._nonadmin()))

    def faulty_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(filter(has_faulty_copy, self._nonadmin()))

    def queued_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(filter(reports_place, self._nonadmin()))

    def _nonadmin(self) -> Iterator[NonAdmin]:
        yield from self._runs.nabs
        yield from self._runs.nars

    def _group(self, name: str, objects: tuple[R, ...], key_of: Callable[[R], object], key: object) -> tuple[R, ...]:
        """The objects with this key; all are grouped at the first question."""
        groups = self._groups.get(name)
        if groups is None:
            groups = self._groups[name] = {}
            for item in objects:
                groups.setdefault(key_of(item), []).append(item)
        found: list[R] = groups.get(key, [])
        return in_order(found)
