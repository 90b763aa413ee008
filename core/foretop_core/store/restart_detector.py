"""When a Velero server was restarted, told by its storage locations: a server keeps its second for life."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from foretop_core.models import BackupStorageLocation
from foretop_core.models.wire import ObjectRef, Resource

_REMEMBERED = 16
_LONGEST_WAIT = timedelta(minutes=5)
_CREEP = (0, 1, 59)


@dataclass(slots=True)
class _Beat:
    pulses: deque[tuple[datetime, bool]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    second: int | None = None
    restarted: datetime | None = None


class RestartDetector:
    """Believes in a second once two pulses whole minutes apart show it.

    Storage that hangs shifts single pulses, and the checks of a location stay shifted for a while, but its
    syncs do not: so one of the two must be a sync.
    """

    def __init__(self) -> None:
        self._beats: dict[tuple[str, str], _Beat] = {}

    def restarted(self, context: str) -> dict[str, datetime]:
        """By namespace, the first sign of life of a server that was seen to follow another."""
        return {
            namespace: beat.restarted
            for (where, namespace), beat in self._beats.items()
            if where == context and beat.restarted is not None
        }

    def note(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        if not isinstance(after, BackupStorageLocation):
            return
        old = before.status if isinstance(before, BackupStorageLocation) else None
        beat = self._beats.setdefault((key.context, key.namespace), _Beat())
        checked, synced = after.status.last_validation_time, after.status.last_synced_time
        if checked is not None and (old is None or old.last_validation_time != checked):
            _take(beat, checked, is_sync=False)
        if synced is not None and (old is None or old.last_synced_time != synced):
            _take(beat, synced, is_sync=True)


def _take(beat: _Beat, at: datetime, *, is_sync: bool) -> None:
    first = next(
        (earlier for earlier, was_sync in beat.pulses if (is_sync or was_sync) and _in_step(earlier, at)), None
    )
    beat.pulses.append((at, is_sync))
    if first is None:
        return
    if beat.second is not None and (at.second - beat.second) % 60 not in _CREEP:
        beat.restarted = first
    beat.second = at.second


def _in_step(earlier: datetime, later: datetime) -> bool:
    gap = later - earlier
    return timedelta() < gap <= _LONGEST_WAIT and gap.total_seconds() % 60 == 0
