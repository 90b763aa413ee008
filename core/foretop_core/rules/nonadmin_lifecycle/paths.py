"""The four paths of the chart, and its phases and conditions."""

from __future__ import annotations

from enum import Enum

from foretop_core.models import Condition, NonAdmin, NonAdminBackup

SYNCED_LABEL = "openshift.io/oadp-nab-synced-from-nacuuid"

CONDITIONS = ("Accepted", "Queued", "Deleting")
DELETING = frozenset({"Deleting", "Deletion"})
"""The seed's table says Deletion; its chart and every controller say Deleting."""


class Path(Enum):
    CREATE_UPDATE = "create/update"
    API_DELETE = "api delete"
    FORCE_DELETE = "force delete"
    DELETE = "delete"


def path_of(obj: NonAdmin, forced: bool = True) -> Path:
    """The path of an object; `forced` is whether the controller supports `spec.forceDeleteBackup`."""
    if isinstance(obj, NonAdminBackup):
        if forced and obj.spec.force_delete_backup:
            return Path.FORCE_DELETE
        if obj.spec.delete_backup:
            return Path.DELETE
    return Path.CREATE_UPDATE if obj.metadata.deletion_timestamp is None else Path.API_DELETE


def is_true(condition: Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def is_synced(obj: NonAdmin) -> bool:
    """Whether the sync made it from a backup in the bucket; it was never validated and has no Accepted condition."""
    if obj.label(SYNCED_LABEL):
        return True
    return obj.phase == "Created" and obj.condition("Accepted") is None
