"""The names, labels and annotations by which the non-admin controller finds the objects that it made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from foretop_core.models import NonAdminBackup, NonAdminRestore, Resource
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAB_UUID_LABEL,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
    NAR_UUID_LABEL,
)

_LONGEST = 63
_MANAGED_LABELS = {"openshift.io/oadp": "True", "app.kubernetes.io/managed-by": "oadp-nac-controller"}

R = TypeVar("R", bound=Resource)


def nacuuid(namespace: str, name: str, uuid: str) -> str:
    """`<namespace>-<name>-<uuid>`, short enough for a label: the name is cut first, then the namespace."""
    budget = _LONGEST - len(uuid) - 2
    if len(namespace) > budget:
        return f"{namespace[:budget]}-{uuid}"
    kept = name[: budget - len(namespace)]
    return "-".join(part for part in (namespace, kept, uuid) if part)


def origin_labels(owner: NonAdminBackup | NonAdminRestore, uuid: str) -> dict[str, str]:
    key = NAB_UUID_LABEL if isinstance(owner, NonAdminBackup) else NAR_UUID_LABEL
    return {**_MANAGED_LABELS, key: uuid}


def origin_annotations(owner: NonAdminBackup | NonAdminRestore) -> dict[str, str]:
    if isinstance(owner, NonAdminBackup):
        return {NAB_NAME_ANNOTATION: owner.name, NAB_NAMESPACE_ANNOTATION: owner.namespace}
    return {NAR_NAME_ANNOTATION: owner.name, NAR_NAMESPACE_ANNOTATION: owner.namespace}


def led_to(objects: Sequence[R], key: str, uuid: str) -> R | None:
    """The Velero object with this NACUUID."""
    return next((entry for entry in objects if uuid and entry.label(key) == uuid), None)
