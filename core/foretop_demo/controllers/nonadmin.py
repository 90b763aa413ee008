"""The non-admin controller in the box: NABs, NARs, and the sync that creates missing NABs again."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from random import Random

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
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Engine, Process
from foretop_demo.reconcile import (
    Behaviour,
    NabContext,
    NarContext,
    Reconciled,
    reconcile_nab,
    reconcile_nar,
    sync_nabs,
)

_HOP = timedelta(milliseconds=4)
_SYNC = timedelta(minutes=1)
_FIRST_RETRY, _LAST_RETRY = timedelta(seconds=1), timedelta(minutes=2)


class NonAdminController:
    """Reconciles a NAB or NAR whenever it, or its Velero object, changes; each pass reads the current objects."""

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
        self._client = ControllerClient(engine.storage, "oadp-non-admin-controller")
        self._group = engine.process_group()
        self._retries: dict[tuple[str, Key], int] = {}

    def start(self) -> None:
        group = self._group
        group.listen(NAB, lambda key, old, new: self._enqueue_nab(key))
        group.listen(NAR, self._on_nar)
        group.listen(BACKUP, self._on_backup)
        group.listen(RESTORE, self._on_restore)
        group.listen(DELETE_REQUEST, self._on_velero_object)
        for kind in MOVEMENTS:
            group.listen(kind, self._on_movement)
        for nab in group.cache.all(NAB, NonAdminBackup):
            if not self._is_done(nab):
                self._enqueue_nab((nab.namespace, nab.name))
        for nar in group.cache.all(NAR, NonAdminRestore):
            self._enqueue_nar((nar.namespace, nar.name))
        if self._behaviour is Behaviour.RELEASED:
            group.start(self._sync())

    def kill(self) -> None:
        self._group.close()
        self._group = self._engine.process_group()

    def _is_done(self, nab: NonAdminBackup) -> bool:
        """True if a reconcile would write nothing: accepted, created, ended, and its status says so."""
        copied, uuid = nab.velero.status, nab.velero.nacuuid
        if nab.phase != "Created" or copied is None or nab.spec.delete_backup or nab.metadata.deletion_timestamp:
            return False
        backups = self._group.cache.under(BACKUP, "nacuuid", uuid, Backup)
        return bool(copied.completion_timestamp and backups and backups[0].status == copied)

    def _enqueue_nab(self, key: Key) -> None:
        self._group.enqueue(self._reconcile_nab, key, _HOP)

    def _enqueue_nar(self, key: Key) -> None:
        self._group.enqueue(self._reconcile_nar, key, _HOP)

    def _reconcile_nab(self, key: Key) -> None:
        nab = self._group.cache.get(NAB, key, NonAdminBackup)
        if nab is None:
            self._retries.pop((NAB.name, key), None)
        else:
            answer = reconcile_nab(nab, self._around_nab(nab), self._group.now(), self._behaviour)
            self._apply(NAB, key, answer, self._enqueue_nab)

    def _reconcile_nar(self, key: Key) -> None:
        nar = self._group.cache.get(NAR, key, NonAdminRestore)
        if nar is None:
            self._retries.pop((NAR.name, key), None)
        else:
            answer = reconcile_nar(nar, self._around_nar(nar), self._group.now(), self._behaviour)
            self._apply(NAR, key, answer, self._enqueue_nar)

    def _apply(self, kind: Kind, key: Key, answer: Reconciled, reconcile: Callable[[Key], None]) -> None:
        """Write; a refused or requeued object is reconciled again, with a growing delay."""
        refused = self._client.apply(answer.writes)
        if not refused and not (answer.requeue and not answer.writes):
            self._retries.pop((kind.name, key), None)
            return
        tries = self._retries.get((kind.name, key), 0)
        self._retries[kind.name, key] = tries + 1
        self._group.after(min(_FIRST_RETRY * 2 ** min(tries, 10), _LAST_RETRY), lambda: reconcile(key))

    def _around_nab(self, nab: NonAdminBackup) -> NabContext:
        """The backups that matter for a NAB: its own, and all unfinished ones, which determine its position."""
        cache = self._group.cache
        own = cache.under(BACKUP, "nacuuid", nab.velero.nacuuid, Backup) if nab.velero.nacuuid else []
        name = own[0].name if own else nab.velero.name
        ended = [backup for backup in own if backup.status.completion_timestamp is not None]
        return NabContext(
            oadp_namespace=self._namespace,
            fresh_uuid=self._uuid(),
            backups=[*cache.under(BACKUP, "open", self._namespace, Backup), *ended],
            delete_requests=cache.under(DELETE_REQUEST, "backup", name, DeleteBackupRequest) if name else [],
            movements=self._movements("backup", name),
            storage=cache.all(STORAGE, BackupStorageLocation),
            restores=cache.under(NAR, "backup", f"{nab.namespace}/{nab.name}", NonAdminRestore),
            locations=cache.under(NABSL, "namespace", nab.namespace, NonAdminBackupStorageLocation),
            enforced=self._enforced,
        )

    def _around_nar(self, nar: NonAdminRestore) -> NarContext:
        cache = self._group.cache
        own = cache.under(RESTORE, "nacuuid", nar.velero.nacuuid, Restore) if nar.velero.nacuuid else []
        ended = [restore for restore in own if restore.status.completion_timestamp is not None]
        wanted = cache.get(NAB, (nar.namespace, nar.spec.restore_spec.backup_name), NonAdminBackup)
        return NarContext(
            oadp_namespace=self._namespace,
            fresh_uuid=self._uuid(),
            restores=[*cache.under(RESTORE, "open", self._namespace, Restore), *ended],
            movements=self._movements("restore", nar.velero.name),
            backups=[wanted] if wanted is not None else [],
            enforced=self._enforced_restore,
        )

    def _movements(self, pointer: str, name: str) -> list[DataMovement]:
        cache = self._group.cache
        return [item for kind in MOVEMENTS for item in cache.under(kind, pointer, name, DataMovement)] if name else []

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def _sync(self) -> Process:
        """About once a minute: create the NAB again for finished Backups whose NAB is gone."""
        namespaces = self._engine.storage.kind("Namespace")
        while True:
            yield _SYNC
            namespace_names = {key[1] for key in self._engine.storage.object_store.kind_store(namespaces).objects}
            backups = [item for item in self._group.cache.all(BACKUP, Backup) if item.label(NAB_UUID_LABEL)]
            present = self._group.cache.all(NAB, NonAdminBackup)
            self._client.apply(sync_nabs(backups, present, namespace_names).writes)

    def _on_backup(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        """A backup that ends moves up all that wait behind it."""
        self._on_velero_object(key, old, new)
        ended = isinstance(new, Backup) and new.status.completion_timestamp is not None
        was = isinstance(old, Backup) and old.status.completion_timestamp is not None
        if ended and not was and old is not None:
            for other in self._group.cache.under(BACKUP, "open", self._namespace, Backup):
                self._on_velero_object(key, None, other)

    def _on_restore(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        subjects = [new or old]
        ended = isinstance(new, Restore) and new.status.completion_timestamp is not None
        if ended and isinstance(old, Restore) and old.status.completion_timestamp is None:
            subjects += self._group.cache.under(RESTORE, "open", self._namespace, Restore)
        for restore in subjects:
            if restore is not None and (name := restore.annotation(NAR_NAME_ANNOTATION)):
                self._enqueue_nar((restore.annotation(NAR_NAMESPACE_ANNOTATION), name))

    def _on_velero_object(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        """Reconcile the NAB that an object was made for, if any."""
        item = new or old
        if item is not None and (name := item.annotation(NAB_NAME_ANNOTATION)):
            self._enqueue_nab((item.annotation(NAB_NAMESPACE_ANNOTATION), name))

    def _on_movement(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        item = new or old
        if isinstance(item, DataMovement) and item.backup_name:
            backup = self._group.cache.get(BACKUP, (key[0], item.backup_name), Backup)
            self._on_velero_object(key, None, backup)

    def _on_nar(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        self._enqueue_nar(key)
        if new is None and isinstance(old, NonAdminRestore):
            self._enqueue_nab((key[0], old.spec.restore_spec.backup_name))
