"""The schedule, NAB or NAR that a backup or restore was made for."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec

from foretop_core.models import Backup
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
)
from foretop_core.rules.queue.positions import Run


class OwnerKind(StrEnum):
    SCHEDULE = "schedule"
    NAB = "nab"
    NAR = "nar"
    HAND = "by hand"


class Owner(msgspec.Struct, frozen=True, gc=False):
    """The schedule, NAB or NAR that a backup or restore was made for."""

    kind: OwnerKind
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        if self.kind is OwnerKind.HAND:
            return "by hand"
        place = f"{self.namespace}/{self.name}" if self.kind is not OwnerKind.SCHEDULE else self.name
        return f"{self.kind} {place}"


def going_on(kinds: Collection[OwnerKind]) -> str:
    """`tenants' backups go on`: those that no pause of a schedule stops; "" where none of the kinds is one."""
    named = ((OwnerKind.NAB, "tenants' backups"), (OwnerKind.HAND, "backups by hand"))
    text = " and ".join(what for kind, what in named if kind in kinds)
    return f"{text} go on" if text else ""


def owner_of(run: Run) -> Owner:
    """The owner of a run; a manual backup from a schedule counts as the schedule's, because it does the same work."""
    if isinstance(run, Backup):
        kind, name_key, namespace_key = OwnerKind.NAB, NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
    else:
        kind, name_key, namespace_key = OwnerKind.NAR, NAR_NAME_ANNOTATION, NAR_NAMESPACE_ANNOTATION
    if run.annotation(namespace_key):
        return Owner(kind, run.annotation(namespace_key), run.annotation(name_key))
    if isinstance(run, Backup) and run.schedule_name:
        return Owner(OwnerKind.SCHEDULE, run.namespace, run.schedule_name)
    return Owner(OwnerKind.HAND)
