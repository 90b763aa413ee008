"""Faults of the queue: stalled with a free slot, or a wrong reported position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import NonAdmin
from foretop_core.rules import phases
from foretop_core.rules.queue.positions import Run, estimated_positions, live_positions
from foretop_core.rules.queue.queue_items import Queue, QueueItem

STALLED_AFTER = timedelta(minutes=2)
"""Velero fills a slot at the latest in its once-a-minute pass; at twice that time something is wrong."""


class Stall(msgspec.Struct, frozen=True):
    """A slot that has been free for too long, and the runs that could have had it."""

    since: datetime
    free_slots: int
    startable: tuple[QueueItem, ...]


def queue_stalled(
    line: Queue,
    now: datetime,
    *,
    slot_free_since: datetime | None = None,
    after: timedelta = STALLED_AFTER,
) -> Stall | None:
    """The stall of the queue, if it is stalled with a free slot.

    The objects do not record when a finishing backup released its slot. A caller that has watched it can pass that
    time; otherwise a queue with such a backup is not judged, to avoid a false alarm at every handover.
    """
    startable = tuple(item for item in line.waiting if item.hold is None and item.run.created is not None)
    free_since = slot_free_since or line.last_moved
    if not startable or (slot_free_since is None and _slot_given_up_at_unknown_time(line)):
        return None
    made = min(item.run.created for item in startable if item.run.created is not None)
    since = max(made, free_since) if free_since else made
    return Stall(since, line.free_slots, startable) if now - since > after else None


def _slot_given_up_at_unknown_time(line: Queue) -> bool:
    finishing = [item.run for item in line.items if item.phase in phases.FINISHING]
    if line.concurrency > 1:
        return bool(finishing)
    return any(run.status.start_timestamp == line.last_moved for run in finishing)


class Positions(msgspec.Struct, frozen=True):
    """The positions of all backups, or of all restores, by namespace and name: by the formula, and live."""

    estimated: Mapping[tuple[str, str], int]
    live: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, runs: Iterable[Run]) -> Positions:
        by_namespace: defaultdict[str, list[Run]] = defaultdict(list)
        for run in runs:
            by_namespace[run.namespace].append(run)
        return cls(
            estimated=estimated_positions(run for group in by_namespace.values() for run in group),
            live={
                (namespace, name): place
                for namespace, group in by_namespace.items()
                for name, place in live_positions(group).items()
            },
        )


class Disagreement(msgspec.Struct, frozen=True):
    """The position that a NAB or NAR reports, what its controller would write now, and Velero's own order."""

    reported: int
    recomputed: int
    live: int

    @property
    def is_stale(self) -> bool:
        """Whether the controller has not updated it since; otherwise it counts differently."""
        return self.reported != self.recomputed


def disagreement(nonadmin: NonAdmin, positions: Positions) -> Disagreement | None:
    """None if all agree, nothing is reported yet, or the Velero object is not visible."""
    info, key = nonadmin.state.queue_info, (nonadmin.velero.namespace, nonadmin.velero.name)
    if info is None or key not in positions.live:
        return None
    found = Disagreement(info.estimated_queue_position, positions.estimated[key], positions.live[key])
    return None if found.reported == found.recomputed == found.live else found
