"""How fast a volume moves, and how long it still takes at that rate."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_core.models import DataMovement

_SHORTEST = 1.0
"""Seconds that a movement must have run before its rate says anything."""

_LONGEST = 366 * 24 * 3600
"""Seconds; a movement that would take longer does not move."""


def rate(movement: DataMovement, now: datetime) -> float | None:
    """Bytes a second since it started; None before there is anything to tell."""
    status = movement.status
    if status.start_timestamp is None or not status.progress.bytes_done:
        return None
    length = ((status.completion_timestamp or now) - status.start_timestamp).total_seconds()
    return status.progress.bytes_done / length if length >= _SHORTEST else None


def time_left(movement: DataMovement, now: datetime) -> timedelta | None:
    """At the rate so far; None for what has ended, does not move, or has no known size."""
    progress, speed = movement.status.progress, rate(movement, now)
    if movement.status.completion_timestamp is not None or movement.phase != "InProgress" or not speed:
        return None
    if progress.total_bytes <= progress.bytes_done:
        return None
    seconds = (progress.total_bytes - progress.bytes_done) / speed
    return timedelta(seconds=seconds) if seconds <= _LONGEST else None
