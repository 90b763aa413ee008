"""The changes observed in this run, bounded: phases, conditions, pauses and progress, and what servers did."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from foretop_core.models import (
    Backup,
    BackupStorageLocation,
    DataMovement,
    Restore,
)
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.heartbeat import PERIOD, SERVER_WRITES, SILENT_PERIODS, LifeSign, signs_in
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_core.rules.snapshot import ObservedChanges, PhaseChange, VeleroInfo

if TYPE_CHECKING:
    from foretop_core.rules.changes import ObservedTransition

# Deferred imports: the first rows wait for no comparison of two versions.

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
        return frozenset(moment for key, moment in self._off_beat.items() if key.context == context)

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
        servers = [server for server in {*self._newest, *self._ahead} if server[0] == context]
        return {server[1]: self._signs(server) for server in servers}

    def _signs(self, server: tuple[str, str]) -> tuple[LifeSign, ...]:
        newest = self._newest.get(server)
        found = [*self._ahead.get(server, ()), *((newest,) if newest is not None else ())]
        return tuple(sorted(found, key=lambda sign: sign.at, reverse=True))

    def note(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, listed: bool
    ) -> None:
        if not isinstance(after, SERVER_WRITES):
            return
        server = (key.context, key.namespace)
        newest = self._newest.get(server)
        # The status of a data movement is written by the node agents.
        seen = not listed and isinstance(before, SERVER_WRITES) and not isinstance(after, DataMovement)
        if seen and getattr(before, "status", None) != after.status:
            # Nothing that the object tells of the past is newer than this.
            if newest is None or newest.at < at:
                self._newest[server] = LifeSign(at, key.kind, key.name, _did(before, after))
            return
        for sign in signs_in(after):
            if sign.at > at + PERIOD:
                self._ahead.setdefault(server, deque(maxlen=_REMEMBERED)).append(sign)
            elif newest is None or newest.at < sign.at:
                newest = self._newest[server] = sign


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


PER_OBJECT = 32
OVERALL = 5000
KEPT_FOR = timedelta(hours=1)
"""So many of the last changes of all objects together are kept, and for so long."""
IN_TOTAL = 20_000
"""The changes kept of all objects together: thousands of objects may change all the time."""
_PHASE_ORDER = {"": 0, "New": 0, "BackingOff": 1, "Created": 2, "Deleting": 3}
"""The order of a non-admin object's phases; a step to a smaller number is backwards."""


class ProgressRecord(msgspec.Struct, frozen=True):
    """The progress of work, in items or bytes, and since when it has not changed.

    Until a change was observed, `since` is the time of the first observation: it may be unchanged for longer.
    """

    phase: str
    done: int
    total: int
    since: datetime
    seen_moving: bool = False


class ChangeHistory:
    """The last changes of every object that still exists, and those of the last hour overall.

    Where all of them are too many, the oldest of an object that has the most goes first.
    """

    def __init__(self, *, keeps_last_hour: bool = True) -> None:
        # Lists, because an empty deque takes as much memory as eight changes.
        self._of: dict[ObjectRef, list[ObservedTransition]] = {}
        self._having: list[dict[ObjectRef, None]] = [{} for _ in range(PER_OBJECT + 1)]
        """The objects by how many changes of them are kept, so that one with the most is found at once."""
        self._total = 0
        self._all: deque[ObservedTransition] = deque(maxlen=OVERALL if keeps_last_hour else 0)
        self._begun: dict[str, datetime] = {}
        """Since when each cluster is watched."""
        self._dropped: datetime | None = None
        """When the last of the changes happened that are not kept any more."""
        self._progress: dict[ObjectRef, ProgressRecord] = {}

    def of(self, key: ObjectRef) -> tuple[ObservedTransition, ...]:
        """The changes of one object, oldest first."""
        return tuple(self._of.get(key, ()))

    def recent(self) -> tuple[ObservedTransition, ...]:
        """The changes of the last hour of all objects, including deleted ones, oldest first."""
        return tuple(self._all)

    def kept_since(self, context: str) -> datetime | None:
        """Since when each change of a cluster is among the recent ones; None where none are kept."""
        begun = self._begun.get(context) if self._all.maxlen else None
        return begun if begun is None or self._dropped is None else max(begun, self._dropped)

    def all_progress(self, context: str) -> Iterator[tuple[ObjectRef, ProgressRecord]]:
        """The progress of all work under way in one cluster."""
        return ((key, record) for key, record in self._progress.items() if key.context == context)

    def phases(self, context: str) -> Iterator[ObservedTransition]:
        """The phase changes of the objects of one cluster that still exist, oldest first for each of them."""
        for key, steps in self._of.items():
            if key.context == context:
                yield from (step for step in steps if step.what == "phase")

    def note(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, seen: bool = False
    ) -> None:
        """Record the difference of two versions; a deleted object, or a new one of the same name, starts over.

        That an object came or went is a change only where it was `seen`: a list shows what was there all along.
        """
        self._begun.setdefault(key.context, at)
        is_same = before is not None and after is not None and before.metadata.uid == after.metadata.uid
        if not is_same:
            self._forget(key)
            self._progress.pop(key, None)
        if is_same or seen:
            self._compare(key, before, after, at, keeps=is_same)
        if after is not None:
            self._measure(key, after, at)

    def _compare(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, keeps: bool
    ) -> None:
        from foretop_core.rules.changes import changes_between

        for transition in changes_between(key, before, after, at):
            while self._all and (at - self._all[0].at > KEPT_FOR or len(self._all) == self._all.maxlen):
                self._dropped = self._all.popleft().at
            self._all.append(transition)
            if keeps:
                self._keep(transition)

    def _keep(self, seen: ObservedTransition) -> None:
        steps = self._of.setdefault(seen.key, [])
        self._having[len(steps)].pop(seen.key, None)
        if len(steps) == PER_OBJECT:
            del steps[0]
            self._total -= 1
        steps.append(seen)
        self._having[len(steps)][seen.key] = None
        self._total += 1
        if self._total > IN_TOTAL:
            self._drop_one()

    def _drop_one(self) -> None:
        most = max(number for number, keys in enumerate(self._having) if keys)
        key = next(iter(self._having[most]))
        if most == 1:
            self._forget(key)
            return
        del self._having[most][key]
        self._having[most - 1][key] = None
        del self._of[key][0]
        self._total -= 1

    def _forget(self, key: ObjectRef) -> None:
        if steps := self._of.pop(key, None):
            del self._having[len(steps)][key]
            self._total -= len(steps)

    def _measure(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        amount = _work_amount(resource)
        if amount is None:
            self._progress.pop(key, None)
            return
        phase, done, total = amount
        record = self._progress.get(key)
        if record is None:
            # A volume that had ended before tells itself when that was: tens of thousands may come with one list.
            if not isinstance(resource, DataMovement) or resource.status.completion_timestamp is None:
                self._progress[key] = ProgressRecord(phase, done, total, at)
        elif (record.phase, record.done) != (phase, done):
            self._progress[key] = ProgressRecord(phase, done, total, at, seen_moving=True)
        elif record.total != total:
            self._progress[key] = ProgressRecord(phase, done, total, record.since, record.seen_moving)


def _work_amount(resource: Resource) -> tuple[str, int, int] | None:
    """Phase, and items or bytes done and in total, for work under way.

    An ended volume still counts: its end is the last progress of the backup that it belongs to.
    """
    if isinstance(resource, Backup | Restore):
        status = resource.status
        if status.start_timestamp is None or status.completion_timestamp is not None:
            return None
        progress = status.progress
        return (status.phase, progress.done, progress.total_items) if progress else (status.phase, 0, 0)
    if isinstance(resource, DataMovement):
        progress_in_bytes = resource.status.progress
        return resource.status.phase, progress_in_bytes.bytes_done, progress_in_bytes.total_bytes
    return None


class Observations:
    """All that was seen to happen in this run, as the objects themselves do not record it."""

    def __init__(self, *, keeps_last_hour: bool = True) -> None:
        self.history = ChangeHistory(keeps_last_hour=keeps_last_hour)
        self._slots = SlotTracker()
        self._beats = BeatTracker()
        self._activity = ActivityTracker()
        self._checks: dict[tuple[str, str], datetime] = {}
        self._looks: dict[str, datetime] = {}
        self._jumps: dict[str, datetime] = {}

    def look(self, context: str, now: datetime) -> bool:
        """Take a look at a cluster in; True where its clock has jumped since the last one.

        A machine that slept, or a correction: what has come in before is old by a clock that it was not measured with.
        """
        last = self._looks.get(context)
        self._looks[context] = now
        if last is None or abs(now - last) <= SILENT_PERIODS * PERIOD:
            return False
        self._jumps[context] = now
        return True

    def note(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, listed: bool
    ) -> None:
        """Take one change of an object in; one that comes with a list may have happened long ago."""
        self.history.note(key, before, after, at, seen=not listed)
        self._slots.note(key, before, after, at)
        self._beats.note(key, before, after)
        self._activity.note(key, before, after, at, listed=listed)
        if not listed and _checks_of(before) != _checks_of(after) != ():
            self._checks[key.context, key.namespace] = at

    def of(self, context: str, servers: Mapping[str, VeleroInfo]) -> ObservedChanges:
        """The changes of one cluster as the rules read them."""
        since: dict[ObjectRef, datetime] = {}
        back: dict[ObjectRef, PhaseChange] = {}
        for step in self.history.phases(context):
            since[step.key] = step.at
            if _PHASE_ORDER.get(step.after, len(_PHASE_ORDER)) < _PHASE_ORDER.get(step.before, 0):
                back[step.key] = PhaseChange(step.before, step.after, step.at)
        progress = list(self.history.all_progress(context))
        return ObservedChanges(
            phase_since=since,
            moved={key: record.since for key, record in progress},
            unmoved=frozenset(key for key, record in progress if not record.seen_moving),
            went_back=back,
            restarted=self._beats.restarted(context),
            worked=self._activity.worked(context),
            syncs_off_beat=self._beats.off_beat(context),
            free_slot_since=self._slots.free_since(context, lambda namespace: _slots(servers.get(namespace))),
            checks_seen={where[1]: at for where, at in self._checks.items() if where[0] == context},
            clock_jumped=self._jumps.get(context),
        )


def _checks_of(item: Resource | None) -> tuple[datetime | None, ...]:
    """The times that a check of a storage location moves; none of any other object."""
    if not isinstance(item, BackupStorageLocation):
        return ()
    return item.status.last_validation_time, item.status.last_synced_time


def _slots(server: VeleroInfo | None) -> int:
    return server.concurrency if server and server.concurrency else 1
