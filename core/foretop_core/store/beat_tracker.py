"""Trackers of a Velero server over time: its last write, the second of its beat, and its free slots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import Backup, BackupStorageLocation, DataMovement
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.heartbeat import PERIOD, SERVER_WRITES, LifeSign, signs_in
from foretop_core.rules.phases import HOLDS_SLOT

_REMEMBERED = 16
_LONGEST_WAIT = timedelta(minutes=5)
_SECOND_DRIFT = (0, 1, 59)
_SYNC_DRIFT = (0, 1, 2, 58, 59)
_FIRST_SYNC_WITHIN = timedelta(seconds=62)


class _PulseRecord(msgspec.Struct):
    pulses: deque[tuple[datetime, bool]] = msgspec.field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    second: int | None = None
    restarted: datetime | None = None


class BeatTracker:
    """Accepts a second once two pulses whole minutes apart show it.

    Slow storage shifts single pulses, and a location's checks stay shifted for a while, but its syncs do not: so one
    of the two pulses must be a sync.
    """

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], _PulseRecord] = {}
        self._off_beat: dict[ObjectRef, datetime] = {}

    def restarted(self, context: str) -> dict[str, datetime]:
        """By namespace, the first sign of activity of a server that replaced another one during this run."""
        return {
            namespace: record.restarted
            for (cluster, namespace), record in self._records.items()
            if cluster == context and record.restarted is not None
        }

    def off_beat(self, context: str) -> frozenset[datetime]:
        """The last syncs that did not come whole minutes after those before: of slow storage, or of a new server."""
        return frozenset(at for key, at in self._off_beat.items() if key.context == context)

    def note(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        if not isinstance(after, BackupStorageLocation):
            self._off_beat.pop(key, None)
            return
        old = before.status if isinstance(before, BackupStorageLocation) else None
        record = self._records.setdefault((key.context, key.namespace), _PulseRecord())
        checked, synced = after.status.last_validation_time, after.status.last_synced_time
        if checked is not None and (old is None or old.last_validation_time != checked):
            _add_pulse(record, checked, is_sync=False)
        if synced is not None and (old is None or old.last_synced_time != synced):
            _add_pulse(record, synced, is_sync=True)
            self._off_beat.pop(key, None)
            if old is not None and _is_off_beat(after, old.last_synced_time, synced):
                self._off_beat[key] = synced


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


def _is_off_beat(location: BackupStorageLocation, earlier: datetime | None, synced: datetime) -> bool:
    if earlier is None:
        return location.created is not None and synced - location.created > _FIRST_SYNC_WITHIN
    return int((synced - earlier).total_seconds()) % 60 not in _SYNC_DRIFT


def _whole_minutes_apart(earlier: datetime, later: datetime) -> bool:
    gap = later - earlier
    return timedelta() < gap <= _LONGEST_WAIT and gap.total_seconds() % 60 == 0


class ActivityTracker:
    """By cluster and namespace, the newest write that only the Velero server makes, besides its checks of storage.

    A status that a watch shows to change was written just now; of an object in a list only its own times count.
    """

    def __init__(self) -> None:
        self._newest: dict[tuple[str, str], LifeSign] = {}
        self._ahead: dict[tuple[str, str], deque[LifeSign]] = {}
        """Times that lie in the future: they hide no true sign, and count when they have come."""

    def worked(self, context: str) -> dict[str, tuple[LifeSign, ...]]:
        """By namespace, the newest sign first."""
        places = [place for place in {*self._newest, *self._ahead} if place[0] == context]
        return {place[1]: self._signs(place) for place in places}

    def _signs(self, place: tuple[str, str]) -> tuple[LifeSign, ...]:
        newest = self._newest.get(place)
        found = [*self._ahead.get(place, ()), *((newest,) if newest is not None else ())]
        return tuple(sorted(found, key=lambda sign: sign.at, reverse=True))

    def note(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, listed: bool
    ) -> None:
        if not isinstance(after, SERVER_WRITES):
            return
        place = (key.context, key.namespace)
        newest = self._newest.get(place)
        # The status of a data movement is written by the node agents.
        seen = not listed and isinstance(before, SERVER_WRITES) and not isinstance(after, DataMovement)
        if seen and getattr(before, "status", None) != after.status:
            # Nothing that the object tells of the past is newer than this.
            if newest is None or newest.at < at:
                self._newest[place] = LifeSign(at, key.kind, key.name, _did(before, after))
            return
        for sign in signs_in(after):
            if sign.at > at + PERIOD:
                self._ahead.setdefault(place, deque(maxlen=_REMEMBERED)).append(sign)
            elif newest is None or newest.at < sign.at:
                newest = self._newest[place] = sign


def _did(before: Resource | None, after: Resource) -> str:
    phase = getattr(after, "phase", "")
    return f"is {phase}" if phase and phase != getattr(before, "phase", "") else "has changed"


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
