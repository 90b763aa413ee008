"""The lookups of the rules: the few objects that a rule may find fault with, out of the many.

Each answer may have more objects than its rule needs, never fewer, and is in the order of namespace and name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from foretop_core.models import (
    Backup,
    DataMovement,
    NonAdmin,
    NonAdminBackup,
    NonAdminRestore,
    PersistentVolume,
    PersistentVolumeClaim,
    Resource,
    Restore,
)
from foretop_core.models.kinds import NAB, NAR, VOLUME
from foretop_core.models.movement import label_value
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.indexes import Indexes, day_of

R = TypeVar("R", bound=Resource)


class Lookups:
    """The lookups of one cluster, in indexes that watches keep up or that objects were read into at once."""

    def __init__(self, context: str, indexes: Indexes, get: Callable[[ObjectRef], Resource | None]) -> None:
        self._context = context
        self._indexes = indexes
        self._get = get

    def open_backups(self) -> tuple[Backup, ...]:
        """The backups whose phase or end time does not say yet that they have ended."""
        return in_order(self._indexes.open_backups.get(self._context))

    def open_restores(self) -> tuple[Restore, ...]:
        return in_order(self._indexes.open_restores.get(self._context))

    def faulty_backups(self) -> tuple[Backup, ...]:
        return in_order(self._indexes.faulty_backups.get(self._context))

    def faulty_restores(self) -> tuple[Restore, ...]:
        return in_order(self._indexes.faulty_restores.get(self._context))

    def unfinished_backups(self, namespace: str, phases: Iterable[str]) -> int:
        """How many backups of a server are in these phases, of those in which it is not done with one."""
        counted = self._indexes.unfinished_backups_by_phase
        return sum(counted.count(self._context, namespace, phase) for phase in phases)

    def newest_scheduled_backups(self, namespace: str) -> tuple[Backup, ...]:
        """At least the backups of schedules of the hour before the last one was created."""
        return in_order(self._indexes.scheduled_backups_by_creation.newest(self._context, namespace, back=1))

    def backups_cut_off(self) -> tuple[Backup, ...]:
        """The backups that a server failed when it was started."""
        return in_order(self._indexes.backups_cut_off.get(self._context))

    def last_moved_backups(self, namespace: str) -> tuple[Backup, ...]:
        """At least the backup that was started or has ended last."""
        return in_order(self._indexes.backups_by_last_move.newest(self._context, namespace))

    def backups_expiring_until(self, moment: datetime) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_expiration.until(self._context, day_of(moment)))

    def backup_namespaces(self) -> frozenset[str]:
        return self._indexes.backups_by_namespace.namespaces(self._context)

    def has_backups_in(self, namespace: str) -> bool:
        """The same of one namespace, without the others."""
        return self._indexes.backups_by_namespace.has_any(self._context, namespace)

    def backups_of_schedule(self, namespace: str, name: str) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_schedule.get(self._context, namespace, name))

    def backups_of_uuid(self, nacuuid: str) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_nacuuid.get(self._context, nacuuid))

    def restores_of_uuid(self, nacuuid: str) -> tuple[Restore, ...]:
        return in_order(self._indexes.restores_by_nacuuid.get(self._context, nacuuid))

    def nabs_of_uuid(self, nacuuid: str) -> tuple[NonAdminBackup, ...]:
        return in_order(self._indexes.nabs_by_nacuuid.get(self._context, nacuuid))

    def nars_of_uuid(self, nacuuid: str) -> tuple[NonAdminRestore, ...]:
        return in_order(self._indexes.nars_by_nacuuid.get(self._context, nacuuid))

    def movements_of(self, run: Backup | Restore) -> tuple[DataMovement, ...]:
        """The data movements of a run, by the label that Velero cuts its name down to."""
        indexes = self._indexes
        index = indexes.movements_by_backup if isinstance(run, Backup) else indexes.movements_by_restore
        return in_order(index.get(self._context, run.namespace, label_value(run.name)))

    def moved_to(self, namespace: str, location: str) -> tuple[int, int]:
        """The bytes that the volumes of backups have in a location of a server, and of how many volumes."""
        return self._indexes.moved_to.get(self._context, namespace, location)

    def movements_in(self, backup: Backup, namespace: str) -> tuple[DataMovement, ...]:
        """The data movements of the volumes of one namespace in a backup."""
        index = self._indexes.movements_by_backup_and_namespace
        return in_order(index.get(self._context, backup.namespace, label_value(backup.name), namespace))

    def volumes_in(self, namespace: str) -> tuple[PersistentVolume, ...]:
        """The volumes of the claims of a namespace, of those too that are gone; of "" those of no claim."""
        return in_order(self._indexes.volumes_by_namespace.get(self._context, namespace))

    def claims_in(self, namespace: str) -> tuple[PersistentVolumeClaim, ...]:
        return in_order(self._indexes.claims_by_namespace.get(self._context, namespace))

    def volume_of(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """None where it was not read."""
        volume = self._get(ObjectRef(self._context, VOLUME.name, "", claim.spec.volume_name))
        return volume if isinstance(volume, PersistentVolume) else None

    def nonadmin_named(self, namespace: str, name: str) -> tuple[NonAdmin, ...]:
        objects = (self._get(ObjectRef(self._context, kind.name, namespace, name)) for kind in (NAB, NAR))
        return tuple(item for item in objects if isinstance(item, NonAdmin))

    def unsettled_nonadmin(self) -> tuple[NonAdmin, ...]:
        """NABs and NARs that are refused, new or being deleted."""
        return in_order(self._indexes.unsettled_nonadmin.get(self._context))

    def faulty_nonadmin(self) -> tuple[NonAdmin, ...]:
        """NABs and NARs whose copy of Velero's phase is faulty."""
        return in_order(self._indexes.faulty_nonadmin.get(self._context))

    def nabs_without_backup(self) -> tuple[NonAdminBackup, ...]:
        """NABs that lead to a Velero backup which is not there."""
        return in_order(self._indexes.nabs_by_nacuuid.without(self._context, self._indexes.backups_by_nacuuid))

    def queued_nonadmin(self) -> tuple[NonAdmin, ...]:
        """NABs and NARs that report a position in the queue."""
        return in_order(self._indexes.queued_nonadmin.get(self._context))


def own_run(labelled: Iterable[R], name: str) -> R | None:
    """The one that a NAB or NAR names among the runs with its label, else the last by name."""
    return max(labelled, key=lambda run: (run.name == name, run.name), default=None)


def in_order(objects: Iterable[R]) -> tuple[R, ...]:
    return tuple(sorted(objects, key=lambda item: (type(item).__name__, item.namespace, item.name)))
