"""The lookups of the rules in the indexes of the store: no object is looked at that is not asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Restore
from foretop_core.models.kinds import NAB, NAR
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.lookups import day_of, in_order
from foretop_core.rules.protection.protection_index import ProtectionIndex
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.store.indexes import Indexes


class IndexLookups:
    """Lookups of one cluster, for as long as its revision is that of the snapshot that they were made for."""

    def __init__(
        self,
        context: str,
        indexes: Indexes,
        get: Callable[[ObjectRef], Resource | None],
        protection_of: Callable[[ClusterSnapshot], ProtectionIndex],
        is_unchanged: Callable[[], bool],
    ) -> None:
        self._context = context
        self._indexes = indexes
        self._get = get
        self._protection_of = protection_of
        self._is_unchanged = is_unchanged

    @property
    def is_current(self) -> bool:
        return self._is_unchanged()

    def protection(self, snapshot: ClusterSnapshot) -> ProtectionIndex:
        return self._protection_of(snapshot)

    def open_backups(self) -> tuple[Backup, ...]:
        return in_order(self._indexes.open_backups.get(self._context))

    def open_restores(self) -> tuple[Restore, ...]:
        return in_order(self._indexes.open_restores.get(self._context))

    def faulty_backups(self) -> tuple[Backup, ...]:
        return in_order(self._indexes.faulty_backups.get(self._context))

    def faulty_restores(self) -> tuple[Restore, ...]:
        return in_order(self._indexes.faulty_restores.get(self._context))

    def newest_backups(self, namespace: str) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_creation.newest(self._context, namespace, back=1))

    def last_moved_backups(self, namespace: str) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_last_move.newest(self._context, namespace))

    def backups_expiring_until(self, moment: datetime) -> tuple[Backup, ...]:
        return in_order(self._indexes.backups_by_expiration.until(self._context, day_of(moment)))

    def backup_namespaces(self) -> frozenset[str]:
        return self._indexes.backups_by_namespace.namespaces(self._context)

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

    def nonadmin_named(self, namespace: str, name: str) -> tuple[NonAdmin, ...]:
        found = (self._get(ObjectRef(self._context, kind.name, namespace, name)) for kind in (NAB, NAR))
        return tuple(item for item in found if isinstance(item, NonAdmin))

    def unsettled_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(self._indexes.unsettled_nonadmin.get(self._context))

    def faulty_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(self._indexes.faulty_nonadmin.get(self._context))

    def queued_nonadmin(self) -> tuple[NonAdmin, ...]:
        return in_order(self._indexes.queued_nonadmin.get(self._context))
