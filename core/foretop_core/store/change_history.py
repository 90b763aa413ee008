"""The changes observed in this run, bounded: phases, conditions, pauses and progress, and what servers did."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from foretop_core.models import Backup, DataMovement, NonAdmin, NonAdminBackupStorageLocation, Restore, Schedule
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.snapshot import ObservedChanges, PhaseChange, VeleroInfo
from foretop_core.store.beat_tracker import ActivityTracker, BeatTracker, SlotTracker

PER_OBJECT = 32
OVERALL = 1000
IN_TOTAL = 20_000
"""The changes kept of all objects together: thousands of objects may change all the time."""
_PHASE_ORDER = {"": 0, "New": 0, "BackingOff": 1, "Created": 2, "Deleting": 3}
"""The order of a non-admin object's phases; a step to a smaller number is backwards."""
_LONGEST = 64
"""Letters of a phase or a condition; anybody may write a megabyte into them."""


class ObservedTransition(msgspec.Struct, frozen=True, gc=False):
    """One observed change; `what` is `phase`, `Velero phase`, `paused` or the name of a condition."""

    at: datetime
    key: ObjectRef
    what: str
    before: str
    after: str


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
    """The last changes of every object that still exists, and the last ones overall.

    Where all of them are too many, the oldest of an object that has the most goes first.
    """

    def __init__(self) -> None:
        # Lists, because an empty deque takes as much memory as eight changes.
        self._of: dict[ObjectRef, list[ObservedTransition]] = {}
        self._having: list[dict[ObjectRef, None]] = [{} for _ in range(PER_OBJECT + 1)]
        """The objects by how many changes of them are kept, so that one with the most is found at once."""
        self._total = 0
        self._all: deque[ObservedTransition] = deque(maxlen=OVERALL)
        self._progress: dict[ObjectRef, ProgressRecord] = {}

    def of(self, key: ObjectRef) -> tuple[ObservedTransition, ...]:
        """The changes of one object, oldest first."""
        return tuple(self._of.get(key, ()))

    def recent(self) -> tuple[ObservedTransition, ...]:
        """The last changes of all objects, including deleted ones, oldest first."""
        return tuple(self._all)

    def all_progress(self, context: str) -> Iterator[tuple[ObjectRef, ProgressRecord]]:
        """The progress of all work under way in one cluster."""
        return ((key, record) for key, record in self._progress.items() if key.context == context)

    def phases(self, context: str) -> Iterator[ObservedTransition]:
        """The phase changes of the objects of one cluster that still exist, oldest first for each of them."""
        for key, steps in self._of.items():
            if key.context == context:
                yield from (step for step in steps if step.what == "phase")

    def note(self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime) -> None:
        """Record the difference of two versions; a deleted object, or a new one of the same name, starts over."""
        if before is None or after is None or before.metadata.uid != after.metadata.uid:
            self._forget(key)
            self._progress.pop(key, None)
        else:
            self._compare(key, before, after, at)
        if after is not None:
            self._measure(key, after, at)

    def _compare(self, key: ObjectRef, before: Resource, after: Resource, at: datetime) -> None:
        old, new = _tracked_values(before), _tracked_values(after)
        if old == new:
            return
        for what in {**old, **new}:
            was, now = old.get(what, ""), new.get(what, "")
            if was != now:
                seen = ObservedTransition(at, key, what[:_LONGEST], was[:_LONGEST], now[:_LONGEST])
                self._all.append(seen)
                self._keep(seen)

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
        held = self._progress.get(key)
        if held is None:
            self._progress[key] = ProgressRecord(phase, done, total, _ended(resource) or at)
        elif (held.phase, held.done) != (phase, done):
            self._progress[key] = ProgressRecord(phase, done, total, at, seen_moving=True)
        elif held.total != total:
            self._progress[key] = ProgressRecord(phase, done, total, held.since, held.seen_moving)


def _tracked_values(resource: Resource) -> dict[str, str]:
    """The values whose changes are recorded."""
    phase = getattr(resource, "phase", None)
    facts = {"phase": phase} if isinstance(phase, str) else {}
    if isinstance(resource, Schedule):
        facts["paused"] = "true" if resource.spec.paused else "false"
    elif isinstance(resource, NonAdmin):
        facts |= {entry.type: entry.status for entry in resource.state.conditions}
        if (velero := resource.velero.status) is not None and velero.phase:
            facts["Velero phase"] = velero.phase
    elif isinstance(resource, NonAdminBackupStorageLocation):
        facts |= {entry.type: entry.status for entry in resource.status.conditions}
    return facts


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


def _ended(resource: Resource) -> datetime | None:
    return resource.status.completion_timestamp if isinstance(resource, DataMovement) else None


class Observations:
    """All that was seen to happen in this run, as the objects themselves do not record it."""

    def __init__(self) -> None:
        self.history = ChangeHistory()
        self._slots = SlotTracker()
        self._beats = BeatTracker()
        self._activity = ActivityTracker()

    def note(
        self, key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime, *, listed: bool
    ) -> None:
        """Take one change of an object in; one that comes with a list may have happened long ago."""
        self.history.note(key, before, after, at)
        self._slots.note(key, before, after, at)
        self._beats.note(key, before, after)
        self._activity.note(key, before, after, at, listed=listed)

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
        )


def _slots(server: VeleroInfo | None) -> int:
    return server.concurrency if server and server.concurrency else 1
