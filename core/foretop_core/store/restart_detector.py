"""Detection of Velero restarts by its storage locations: a server works at the same second of every minute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from foretop_core.models import BackupStorageLocation
from foretop_core.models.wire import ObjectRef, Resource

_REMEMBERED = 16
_LONGEST_WAIT = timedelta(minutes=5)
_SECOND_DRIFT = (0, 1, 59)


@dataclass(slots=True)
class _PulseRecord:
    pulses: deque[tuple[datetime, bool]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    second: int | None = None
    restarted: datetime | None = None


class RestartDetector:
    """Accepts a second once two pulses whole minutes apart show it.

    Slow storage shifts single pulses, and a location's checks stay shifted for a while, but its syncs do not: so one
    of the two pulses must be a sync.
    """

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], _PulseRecord] = {}

    def restarted(self, context: str) -> dict[str, datetime]:
        """By namespace, the first sign of activity of a server that replaced another one during this run."""
        return {
            namespace: record.restarted
            for (cluster, namespace), record in self._records.items()
            if cluster == context and record.restarted is not None
        }

    def note(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        if not isinstance(after, BackupStorageLocation):
            return
        old = before.status if isinstance(before, BackupStorageLocation) else None
        record = self._records.setdefault((key.context, key.namespace), _PulseRecord())
        checked, synced = after.status.last_validation_time, after.status.last_synced_time
        if checked is not None and (old is None or old.last_validation_time != checked):
            _add_pulse(record, checked, is_sync=False)
        if synced is not None and (old is None or old.last_synced_time != synced):
            _add_pulse(record, synced, is_sync=True)


def _add_pulse(record: _PulseRecord, at: datetime, *, is_sync: bool) -> None:
    first = next(
        (earlier for earlier, was_sync in record.pulses if (is_sync or was_sync) and _whole_minutes_apart(earlier, at)),
        None,
    )
    record.pulses.append((at, is_sync))
    if first is None:
        return
    if record.second is not None and (at.second - record.second) % 60 not in _SECOND_DRIFT:
        record.restarted = first
    record.second = at.second


def _whole_minutes_apart(earlier: datetime, later: datetime) -> bool:
    gap = later - earlier
    return timedelta() < gap <= _LONGEST_WAIT and gap.total_seconds() % 60 == 0
