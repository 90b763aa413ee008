"""Velero's queue: the order of backups, what blocks each, and when it should start and end."""

from foretop_core.rules.queue.owners import Owner, OwnerKind, owner_of
from foretop_core.rules.queue.positions import (
    Run,
    estimated_position,
    estimated_positions,
    has_ended,
    live_positions,
)
from foretop_core.rules.queue.queue_items import (
    Blocker,
    BlockerKind,
    Disagreement,
    Positions,
    Queue,
    QueueItem,
    Range,
    RunForecast,
    Stall,
    disagreement,
    queue,
    queue_stalled,
)
from foretop_core.rules.queue.volumes import (
    NOT_MOVING_YET,
    WaitingVolume,
    moved_before,
    waiting_since,
    waiting_volume,
)

__all__ = [
    "NOT_MOVING_YET",
    "Blocker",
    "BlockerKind",
    "Disagreement",
    "Owner",
    "OwnerKind",
    "Positions",
    "Queue",
    "QueueItem",
    "Range",
    "Run",
    "RunForecast",
    "Stall",
    "WaitingVolume",
    "disagreement",
    "estimated_position",
    "estimated_positions",
    "has_ended",
    "live_positions",
    "moved_before",
    "owner_of",
    "queue",
    "queue_stalled",
    "waiting_since",
    "waiting_volume",
]
