"""The non-admin controller in the box: NABs and NARs, and the sync that brings NABs back."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from random import Random

from foretop_core.minicluster.change_log import Key
from foretop_core.minicluster.controllers.controller_client import ControllerClient
from foretop_core.minicluster.controllers.engine import Engine, Process
from foretop_core.minicluster.reconcile import (
    Behaviour,
    NabContext,
    NarContext,
    Reconciled,
    reconcile_nab,
    reconcile_nar,
    sync_nabs,
)
from foretop_core.models import (
    Backup,
    BackupSpec,
    BackupStorageLocation,
    DataMovement,
    DeleteBackupRequest,
    NonAdminBackup,
    NonAdminBackupStorageLocation,
    NonAdminRestore,
    Resource,
    Restore,
    RestoreSpec,
)
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, MOVEMENTS, NAB, NABSL, NAR, RESTORE, STORAGE, Kind
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAB_UUID_LABEL,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
)

_HOP = timedelta(milliseconds=4)
_SYNC = timedelta(minutes=1)
_FIRST_RETRY, _LAST_RETRY = timedelta(seconds=1), timedelta(minutes=2)


class NonAdminController:
    """Looks at a NAB or NAR whenever it, or what it led to, changes; each look starts from the objects as they are."""

    def __init__(
        self,
        engine: Engine,
        namespace: str,
        behaviour: Behaviour = Behaviour.RELEASED,
        seed: int | None = None,
        enforced: BackupSpec | None = None,
        enforced_restore: RestoreSpec | None = None,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._behaviour = behaviour
        self._random = Random(seed)
        self._enforced = enforced or BackupSpec()
        self._enforced_restore = enforced_restore or RestoreSpec()
        self._hand = ControllerClient(engine.storage, "oadp-non-admin-controller")
        self._scope = engine.scope()
        self._retries: dict[tuple[str, Key], int] = {}

    def start(self) -> None:
        scope = self._scope
        scope.hear(NAB, lambda key, old, new: self._look_at_nab(key))
        scope.hear(NAR, self._heard_nar)
        scope.hear(BACKUP, self._heard_backup)
        scope.hear(RESTORE, self._heard_restore)
        scope.hear(DELETE_REQUEST, self._heard_origin)
        for kind in MOVEMENTS:
            scope.hear(kind, self._heard_movement)
        for nab in scope.cabinet.all(NAB, NonAdminBackup):
            if not self._is_done(nab):
                self._look_at_nab((nab.namespace, nab.name))
        for nar in scope.cabinet.all(NAR, NonAdminRestore):
            self._look_at_nar((nar.namespace, nar.name))
        if self._behaviour is Behaviour.RELEASED:
            scope.start(self._sync())

    def kill(self) -> None:
        self._scope.close()
        self._scope = self._engine.scope()

    def _is_done(self, nab: NonAdminBackup) -> bool:
        """A look at it would write nothing: it was accepted and made, has ended, and says so."""
        copied, uuid = nab.velero.status, nab.velero.nacuuid
        if nab.phase != "Created" or copied is None or nab.spec.delete_backup or nab.metadata.deletion_timestamp:
            return False
        backups = self._scope.cabinet.under(BACKUP, "nacuuid", uuid, Backup)
        return bool(copied.completion_timestamp and backups and backups[0].status == copied)

    def _look_at_nab(self, key: Key) -> None:
        self._scope.look(self._nab, key, _HOP)

    def _look_at_nar(self, key: Key) -> None:
        self._scope.look(self._nar, key, _HOP)

    def _nab(self, key: Key) -> None:
        nab = self._scope.cabinet.get(NAB, key, NonAdminBackup)
        if nab is None:
            self._retries.pop((NAB.name, key), None)
        else:
            answer = reconcile_nab(nab, self._around_nab(nab), self._scope.now(), self._behaviour)
            self._do(NAB, key, answer, self._look_at_nab)

    def _nar(self, key: Key) -> None:
        nar = self._scope.cabinet.get(NAR, key, NonAdminRestore)
        if nar is None:
            self._retries.pop((NAR.name, key), None)
        else:
            answer = reconcile_nar(nar, self._around_nar(nar), self._scope.now(), self._behaviour)
            self._do(NAR, key, answer, self._look_at_nar)

    def _do(self, kind: Kind, key: Key, answer: Reconciled, look: Callable[[Key], None]) -> None:
        """Write; what was refused, or asks for another look, is looked at again, later each time."""
        refused = self._hand.apply(answer.writes)
        if not refused and not (answer.requeue and not answer.writes):
            self._retries.pop((kind.name, key), None)
            return
        tries = self._retries.get((kind.name, key), 0)
        self._retries[kind.name, key] = tries + 1
        self._scope.after(min(_FIRST_RETRY * 2 ** min(tries, 10), _LAST_RETRY), lambda: look(key))

    def _around_nab(self, nab: NonAdminBackup) -> NabContext:
        """What matters for this NAB: its own backup and all that have not ended, which make its position."""
        cabinet = self._scope.cabinet
        own = cabinet.under(BACKUP, "nacuuid", nab.velero.nacuuid, Backup) if nab.velero.nacuuid else []
        name = own[0].name if own else nab.velero.name
        ended = [backup for backup in own if backup.status.completion_timestamp is not None]
        return NabContext(
            oadp_namespace=self._namespace,
            fresh_uuid=self._uuid(),
            backups=[*cabinet.under(BACKUP, "open", self._namespace, Backup), *ended],
            delete_requests=cabinet.under(DELETE_REQUEST, "backup", name, DeleteBackupRequest) if name else [],
            movements=self._movements("backup", name),
            storage=cabinet.all(STORAGE, BackupStorageLocation),
            restores=cabinet.under(NAR, "backup", f"{nab.namespace}/{nab.name}", NonAdminRestore),
            locations=cabinet.under(NABSL, "namespace", nab.namespace, NonAdminBackupStorageLocation),
            enforced=self._enforced,
        )

    def _around_nar(self, nar: NonAdminRestore) -> NarContext:
        cabinet = self._scope.cabinet
        own = cabinet.under(RESTORE, "nacuuid", nar.velero.nacuuid, Restore) if nar.velero.nacuuid else []
        ended = [restore for restore in own if restore.status.completion_timestamp is not None]
        wanted = cabinet.get(NAB, (nar.namespace, nar.spec.restore_spec.backup_name), NonAdminBackup)
        return NarContext(
            oadp_namespace=self._namespace,
            fresh_uuid=self._uuid(),
            restores=[*cabinet.under(RESTORE, "open", self._namespace, Restore), *ended],
            movements=self._movements("restore", nar.velero.name),
            backups=[wanted] if wanted is not None else [],
            enforced=self._enforced_restore,
        )

    def _movements(self, pointer: str, name: str) -> list[DataMovement]:
        cabinet = self._scope.cabinet
        return [item for kind in MOVEMENTS for item in cabinet.under(kind, pointer, name, DataMovement)] if name else []

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _sync(self) -> Process:
        """About once a minute: finished Backups whose NAB is gone get it back."""
        namespaces = self._engine.storage.kind("Namespace")
        while True:
            yield _SYNC
            here = {key[1] for key in self._engine.storage.shelves.shelf(namespaces).objects}
            backups = [item for item in self._scope.cabinet.all(BACKUP, Backup) if item.label(NAB_UUID_LABEL)]
            present = self._scope.cabinet.all(NAB, NonAdminBackup)
            self._hand.apply(sync_nabs(backups, present, here).writes)

    def _heard_backup(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        """A backup that ends moves up all who wait behind it."""
        self._heard_origin(key, old, new)
        ended = isinstance(new, Backup) and new.status.completion_timestamp is not None
        was = isinstance(old, Backup) and old.status.completion_timestamp is not None
        if ended and not was and old is not None:
            for other in self._scope.cabinet.under(BACKUP, "open", self._namespace, Backup):
                self._heard_origin(key, None, other)

    def _heard_restore(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        subjects = [new or old]
        ended = isinstance(new, Restore) and new.status.completion_timestamp is not None
        if ended and isinstance(old, Restore) and old.status.completion_timestamp is None:
            subjects += self._scope.cabinet.under(RESTORE, "open", self._namespace, Restore)
        for restore in subjects:
            if restore is not None and (name := restore.annotation(NAR_NAME_ANNOTATION)):
                self._look_at_nar((restore.annotation(NAR_NAMESPACE_ANNOTATION), name))

    def _heard_origin(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        """The NAB that an object was made for, if any."""
        item = new or old
        if item is not None and (name := item.annotation(NAB_NAME_ANNOTATION)):
            self._look_at_nab((item.annotation(NAB_NAMESPACE_ANNOTATION), name))

    def _heard_movement(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        item = new or old
        if isinstance(item, DataMovement) and item.backup_name:
            backup = self._scope.cabinet.get(BACKUP, (key[0], item.backup_name), Backup)
            self._heard_origin(key, None, backup)

    def _heard_nar(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        self._look_at_nar(key)
        if new is None and isinstance(old, NonAdminRestore):
            self._look_at_nab((key[0], old.spec.restore_spec.backup_name))
