"""The person who must act on a NAB or NAR that the controller refuses: its owner, or an administrator."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from foretop_core.models import NonAdmin, NonAdminBackup, NonAdminBackupStorageLocationRequest
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot


class Actor(StrEnum):
    OWNER = "owner"
    ADMINISTRATOR = "administrator"


class NeededAction(msgspec.Struct, frozen=True):
    """The person who must act on a refused object, and the thing to change."""

    who: Actor
    waits: Text
    """What it waits for, as a sentence."""
    next: Text
    """The step that comes next, in a few words."""
    remedy: Text
    request: NonAdminBackupStorageLocationRequest | None = None
    """The administrator's decision that is missing."""


def who_must_act(snapshot: ClusterSnapshot, item: NonAdmin) -> NeededAction:
    """For an object that is refused; its storage location may only lack an approval, and then its spec is right."""
    is_backup = isinstance(item, NonAdminBackup)
    meanwhile = "no backup is made" if is_backup else "nothing is restored"
    request = _request_for_storage(snapshot, item)
    accepted = item.condition("Accepted")
    is_for_storage = accepted is not None and "StorageLocation" in accepted.message
    if request is not None and is_for_storage and _is_approved(request):
        name = request.status.non_admin_backup_storage_location.name
        return NeededAction(
            Actor.OWNER,
            f"Its storage location {name} is approved; the controller looks at a refused one again when it changes.",
            "the owner changes it or creates it again",
            f"Ask the owner in {item.namespace} to change it or create it again; until then, {meanwhile}.",
        )
    if request is None or is_decided(request):
        return NeededAction(
            Actor.OWNER,
            "It stays refused until its owner changes it.",
            f"the owner corrects spec.{'backup' if is_backup else 'restore'}Spec",
            f"Ask the owner in {item.namespace} to change it; until then, {meanwhile}.",
        )
    name = request.status.non_admin_backup_storage_location.name
    asked = sentence(" since ", request.created) if request.created else ""
    return NeededAction(
        Actor.ADMINISTRATOR,
        sentence(
            f"Its storage location {name} waits for an administrator's decision",
            asked,
            "; after that the owner must change it or create it again.",
        ),
        sentence("an administrator decides about its storage request", Key("decide-storage")),
        sentence(
            f"Decide about the request {request.name}",
            Key("decide-storage"),
            f", then ask the owner in {item.namespace} to change it or create it again; until then, {meanwhile}.",
        ),
        request,
    )


def _request_for_storage(snapshot: ClusterSnapshot, item: NonAdmin) -> NonAdminBackupStorageLocationRequest | None:
    """The request for the storage location that it uses."""
    location = item.spec.backup_spec.storage_location if isinstance(item, NonAdminBackup) else ""
    sources = ((request, request.status.non_admin_backup_storage_location) for request in snapshot.storage_requests)
    mine = (request for request, source in sources if (source.namespace, source.name) == (item.namespace, location))
    return next((request for request in mine if location), None)


def _is_approved(request: NonAdminBackupStorageLocationRequest) -> bool:
    return request.spec.approval_decision == "approve" or request.phase == "Approved"


def is_decided(request: NonAdminBackupStorageLocationRequest) -> bool:
    return request.spec.approval_decision in {"approve", "reject"} or request.phase in {"Approved", "Rejected"}
