"""Tenants' own storage locations in the box: the request to the administrator, and the location once it is approved."""

from __future__ import annotations

import uuid
from datetime import timedelta
from random import Random
from typing import NamedTuple

from foretop_core.models import (
    BackupStorageLocation,
    Condition,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    Resource,
    to_builtins,
)
from foretop_core.models.kinds import NABSL, NABSL_REQUEST, STORAGE
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Engine
from foretop_demo.kinds import Json
from foretop_demo.reconcile import Create, Delete, PatchStatus, Write
from foretop_demo.reconcile.conditions import with_condition
from foretop_demo.reconcile.naming import nacuuid
from foretop_demo.reconcile.validation import NABSL_UUID_LABEL

_HOP = timedelta(milliseconds=6)
FINALIZER = "nonadminbackupstoragelocation.oadp.openshift.io/finalizer"


class Verdict(NamedTuple):
    """The phases and the condition that follow from one approval decision."""

    phase: str
    request: str
    condition: Condition


def _approved(status: str, reason: str, message: str) -> Condition:
    return Condition(type="ClusterAdminApproved", status=status, reason=reason, message=message)


_ACCEPTED = Condition(type="Accepted", status="True", reason="BslSpecValidation", message="spec validated")
_VERDICTS = {
    "approve": Verdict("Created", "Approved", _approved("True", "BslSpecApproved", "approved by the administrator")),
    "reject": Verdict("BackingOff", "Rejected", _approved("False", "BslSpecRejected", "rejected by the administrator")),
}
_PENDING = Verdict("New", "Pending", _approved("False", "BslSpecApprovalPending", "waits for the administrator"))


class TenantStorageController:
    """Reconciles a tenant's location when it, its request or the Velero location behind it changes."""

    def __init__(self, engine: Engine, namespace: str, seed: int | None = None) -> None:
        self._group = engine.process_group()
        self._client = ControllerClient(engine.storage, "oadp-non-admin-controller")
        self._namespace = namespace
        self._random = Random(seed)

    def start(self) -> None:
        self._group.listen(NABSL, lambda key, old, new: self._enqueue(key))
        self._group.listen(NABSL_REQUEST, self._on_request)
        self._group.listen(STORAGE, self._on_location)
        for item in self._group.cache.all(NABSL, NonAdminBackupStorageLocation):
            self._enqueue((item.namespace, item.name))

    def _enqueue(self, key: Key) -> None:
        self._group.enqueue(self._reconcile, key, _HOP)

    def _on_request(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if isinstance(new, NonAdminBackupStorageLocationRequest):
            source = new.status.non_admin_backup_storage_location
            self._enqueue((source.namespace, source.name))

    def _on_location(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        item = new or old
        for mine in self._group.cache.all(NABSL, NonAdminBackupStorageLocation):
            if item is not None and item.label(NABSL_UUID_LABEL) == _uuid_of(mine) != "":
                self._enqueue((mine.namespace, mine.name))

    def _reconcile(self, key: Key) -> None:
        location = self._group.cache.get(NABSL, key, NonAdminBackupStorageLocation)
        if location is None:
            return
        if location.metadata.deletion_timestamp is not None:
            self._release(location)
        elif not _uuid_of(location):
            self._name(location)
        else:
            self._decide(location)

    def _name(self, location: NonAdminBackupStorageLocation) -> None:
        uid = nacuuid(location.namespace, location.name, str(uuid.UUID(int=self._random.getrandbits(128), version=4)))
        key = (location.namespace, location.name)
        self._client.patch(NABSL, key, {"metadata": {"finalizers": [*location.metadata.finalizers, FINALIZER]}})
        named = {"nacuuid": uid, "name": uid, "namespace": self._namespace}
        self._client.apply((PatchStatus(NABSL, *key, {"phase": "New", "veleroBackupStorageLocation": named}),))

    def _decide(self, location: NonAdminBackupStorageLocation) -> None:
        uid = _uuid_of(location)
        place = (self._namespace, uid)
        request = self._group.cache.get(NABSL_REQUEST, place, NonAdminBackupStorageLocationRequest)
        if request is None:
            self._request(location, uid)
            return
        verdict = _VERDICTS.get(request.spec.approval_decision, _PENDING)
        behind = self._group.cache.get(STORAGE, place, BackupStorageLocation)
        writes: list[Write] = []
        if request.phase != verdict.request:
            writes.append(PatchStatus(NABSL_REQUEST, *place, {"phase": verdict.request}))
        if verdict.request == "Approved" and behind is None:
            spec = to_builtins(location.spec.backup_storage_location_spec)
            writes.append(Create(STORAGE, *place, spec, labels={NABSL_UUID_LABEL: uid}))
        if verdict.request == "Rejected" and behind is not None:
            writes.append(Delete(STORAGE, *place))
        self._client.apply((*writes, *self._status_writes(location, verdict, behind)))

    def _request(self, location: NonAdminBackupStorageLocation, uid: str) -> None:
        wanted = to_builtins(location.spec.backup_storage_location_spec)
        asker = {"nacuuid": uid, "name": location.name, "namespace": location.namespace, "requestedSpec": wanted}
        status: Json = {"phase": "Pending", "nonAdminBackupStorageLocation": asker}
        create = Create(NABSL_REQUEST, self._namespace, uid, {"approvalDecision": "pending"})
        self._client.apply((create, PatchStatus(NABSL_REQUEST, self._namespace, uid, status)))

    def _status_writes(
        self, location: NonAdminBackupStorageLocation, verdict: Verdict, behind: BackupStorageLocation | None
    ) -> tuple[Write, ...]:
        copied = to_builtins(behind.status) if behind is not None else {}
        approval = next((entry for entry in location.status.conditions if entry.type == "ClusterAdminApproved"), None)
        known = location.status.velero_backup_storage_location.status
        same = known == behind.status if behind is not None else known is None or to_builtins(known) == {}
        if (
            approval is not None
            and approval.reason == verdict.condition.reason
            and location.phase == verdict.phase
            and same
        ):
            return ()
        conditions = location.status.conditions
        for condition in (_ACCEPTED, verdict.condition):
            conditions = with_condition(conditions, condition, self._group.now())
        patch: Json = {
            "phase": verdict.phase,
            "conditions": [to_builtins(condition) for condition in conditions],
            "veleroBackupStorageLocation": {"status": copied},
        }
        return (PatchStatus(NABSL, location.namespace, location.name, patch),)

    def _release(self, location: NonAdminBackupStorageLocation) -> None:
        """Delete the Velero location and the request first, then remove the finalizer."""
        uid = _uuid_of(location)
        for kind in (STORAGE, NABSL_REQUEST):
            self._client.delete(kind.name, (self._namespace, uid))
        kept = [entry for entry in location.metadata.finalizers if entry != FINALIZER]
        if len(kept) < len(location.metadata.finalizers):
            self._client.patch(NABSL, (location.namespace, location.name), {"metadata": {"finalizers": kept}})


def _uuid_of(location: NonAdminBackupStorageLocation) -> str:
    return location.status.velero_backup_storage_location.nacuuid
