"""Tenants' own storage locations in the box: a request to the administrator, and the location once it is granted."""

from __future__ import annotations

import uuid
from datetime import timedelta
from random import Random
from typing import NamedTuple

from foretop_core.minicluster.change_log import Key
from foretop_core.minicluster.controllers.controller_client import ControllerClient
from foretop_core.minicluster.controllers.engine import Engine
from foretop_core.minicluster.kinds import Json
from foretop_core.minicluster.reconcile import Create, Delete, PatchStatus, Write
from foretop_core.minicluster.reconcile.conditions import with_condition
from foretop_core.minicluster.reconcile.naming import nacuuid
from foretop_core.minicluster.reconcile.validation import NABSL_UUID_LABEL
from foretop_core.models import (
    BackupStorageLocation,
    Condition,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
    Resource,
    to_builtins,
)
from foretop_core.models.kinds import NABSL, NABSL_REQUEST, STORAGE

_HOP = timedelta(milliseconds=6)
FINALIZER = "nonadminbackupstoragelocation.oadp.openshift.io/finalizer"


class Verdict(NamedTuple):
    """What a decision makes of the location and of the request."""

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
    """Looks at a location of a tenant when it, its request or the location behind it changes."""

    def __init__(self, engine: Engine, namespace: str, seed: int | None = None) -> None:
        self._scope = engine.scope()
        self._hand = ControllerClient(engine.storage, "oadp-non-admin-controller")
        self._namespace = namespace
        self._random = Random(seed)

    def start(self) -> None:
        self._scope.hear(NABSL, lambda key, old, new: self._later(key))
        self._scope.hear(NABSL_REQUEST, self._heard_request)
        self._scope.hear(STORAGE, self._heard_location)
        for item in self._scope.cabinet.all(NABSL, NonAdminBackupStorageLocation):
            self._later((item.namespace, item.name))

    def _later(self, key: Key) -> None:
        self._scope.look(self._look, key, _HOP)

    def _heard_request(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if isinstance(new, NonAdminBackupStorageLocationRequest):
            source = new.status.non_admin_backup_storage_location
            self._later((source.namespace, source.name))

    def _heard_location(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        item = new or old
        for mine in self._scope.cabinet.all(NABSL, NonAdminBackupStorageLocation):
            if item is not None and item.label(NABSL_UUID_LABEL) == _uuid_of(mine) != "":
                self._later((mine.namespace, mine.name))

    def _look(self, key: Key) -> None:
        location = self._scope.cabinet.get(NABSL, key, NonAdminBackupStorageLocation)
        if location is None:
            return
        if location.metadata.deletion_timestamp is not None:
            self._let_go(location)
        elif not _uuid_of(location):
            self._name(location)
        else:
            self._decide(location)

    def _name(self, location: NonAdminBackupStorageLocation) -> None:
        uid = nacuuid(location.namespace, location.name, str(uuid.UUID(int=self._random.getrandbits(128), version=4)))
        key = (location.namespace, location.name)
        self._hand.patch(NABSL, key, {"metadata": {"finalizers": [*location.metadata.finalizers, FINALIZER]}})
        named = {"nacuuid": uid, "name": uid, "namespace": self._namespace}
        self._hand.apply((PatchStatus(NABSL, *key, {"phase": "New", "veleroBackupStorageLocation": named}),))

    def _decide(self, location: NonAdminBackupStorageLocation) -> None:
        uid = _uuid_of(location)
        place = (self._namespace, uid)
        request = self._scope.cabinet.get(NABSL_REQUEST, place, NonAdminBackupStorageLocationRequest)
        if request is None:
            self._request(location, uid)
            return
        verdict = _VERDICTS.get(request.spec.approval_decision, _PENDING)
        behind = self._scope.cabinet.get(STORAGE, place, BackupStorageLocation)
        writes: list[Write] = []
        if request.phase != verdict.request:
            writes.append(PatchStatus(NABSL_REQUEST, *place, {"phase": verdict.request}))
        if verdict.request == "Approved" and behind is None:
            spec = to_builtins(location.spec.backup_storage_location_spec)
            writes.append(Create(STORAGE, *place, spec, labels={NABSL_UUID_LABEL: uid}))
        if verdict.request == "Rejected" and behind is not None:
            writes.append(Delete(STORAGE, *place))
        self._hand.apply((*writes, *self._say(location, verdict, behind)))

    def _request(self, location: NonAdminBackupStorageLocation, uid: str) -> None:
        wanted = to_builtins(location.spec.backup_storage_location_spec)
        asker = {"nacuuid": uid, "name": location.name, "namespace": location.namespace, "requestedSpec": wanted}
        status: Json = {"phase": "Pending", "nonAdminBackupStorageLocation": asker}
        create = Create(NABSL_REQUEST, self._namespace, uid, {"approvalDecision": "pending"})
        self._hand.apply((create, PatchStatus(NABSL_REQUEST, self._namespace, uid, status)))

    def _say(
        self, location: NonAdminBackupStorageLocation, verdict: Verdict, behind: BackupStorageLocation | None
    ) -> tuple[Write, ...]:
        copied = to_builtins(behind.status) if behind is not None else {}
        said = next((entry for entry in location.status.conditions if entry.type == "ClusterAdminApproved"), None)
        known = location.status.velero_backup_storage_location.status
        same = known == behind.status if behind is not None else known is None or to_builtins(known) == {}
        if said is not None and said.reason == verdict.condition.reason and location.phase == verdict.phase and same:
            return ()
        conditions = location.status.conditions
        for condition in (_ACCEPTED, verdict.condition):
            conditions = with_condition(conditions, condition, self._scope.now())
        patch: Json = {
            "phase": verdict.phase,
            "conditions": [to_builtins(condition) for condition in conditions],
            "veleroBackupStorageLocation": {"status": copied},
        }
        return (PatchStatus(NABSL, location.namespace, location.name, patch),)

    def _let_go(self, location: NonAdminBackupStorageLocation) -> None:
        """The location behind it and the request go first."""
        uid = _uuid_of(location)
        for kind in (STORAGE, NABSL_REQUEST):
            self._hand.delete(kind.name, (self._namespace, uid))
        kept = [entry for entry in location.metadata.finalizers if entry != FINALIZER]
        if len(kept) < len(location.metadata.finalizers):
            self._hand.patch(NABSL, (location.namespace, location.name), {"metadata": {"finalizers": kept}})


def _uuid_of(location: NonAdminBackupStorageLocation) -> str:
    return location.status.velero_backup_storage_location.nacuuid
