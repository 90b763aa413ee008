"""Who is ahead of whom in Velero's queue, what holds a backup back, and when it should start and end."""

from core.rules.queue.positions import estimated_position, estimated_positions, live_positions

__all__ = [
    "estimated_position",
    "estimated_positions",
    "live_positions",
]
