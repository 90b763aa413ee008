"""The time since Velero has had a free slot, as observed in this run: the objects do not record it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from foretop_core.models import Backup
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.phases import HOLDS_SLOT


class SlotTracker:
    """Counts the backups of each Velero that hold a slot, and records when the count fell."""

    def __init__(self) -> None:
        self._holding: dict[tuple[str, str], int] = {}
        self._at_most: dict[tuple[str, str], dict[int, datetime]] = {}

    def free_since(self, context: str, concurrency: Callable[[str], int]) -> dict[str, datetime]:
        """By namespace, since when; missing if no slot is free, or one was free before this run began."""
        return {
            namespace: since[free]
            for (where, namespace), since in self._at_most.items()
            if where == context and (free := concurrency(namespace) - 1) in since
        }

    def note(self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime) -> None:
        held, holds = _holds(before), _holds(after)
        if held == holds:
            return
        velero = (key.context, key.namespace)
        count = self._holding.get(velero, 0)
        since = self._at_most.setdefault(velero, {})
        if holds:
            since.pop(count, None)
            self._holding[velero] = count + 1
        else:
            since[count - 1] = at
            self._holding[velero] = count - 1


def _holds(resource: Resource | None) -> bool:
    return isinstance(resource, Backup) and resource.status.phase in HOLDS_SLOT
