"""The range of a moment over many courses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from foretop_core.rules.night.course import NEVER
from foretop_core.rules.queue.queue_items import Range

__all__ = ["SURE", "Range", "latest", "range_over"]

SURE = "90% sure"
"""Stands before the moment by which something has come in nine of ten courses."""
_MIDDLE = (0.4, 0.6)
_FURTHEST = 400 * 86400.0


def range_over(
    now: datetime, seconds: Iterable[float], likely: float | None = None, *, is_exact: bool = False
) -> Range | None:
    """None where half of the courses or more never reach it.

    Where the likely course lies in the middle of all, or is exact, it is what is told: draws do not change it.
    """
    ordered = sorted(seconds)
    if not ordered:
        ordered = [NEVER if likely is None else likely]
    if ordered[len(ordered) // 2] == NEVER or (is_exact and likely == NEVER):
        return None

    def found(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def at(moment: float) -> datetime:
        return now + timedelta(seconds=min(moment, _FURTHEST))

    if len(ordered) == 1 and (likely is None or likely == ordered[0]):
        only = at(ordered[0])
        return Range(only, (only, only), (only, only), only)
    middle = found(0.5)
    if likely is not None and (is_exact or found(_MIDDLE[0]) <= likely <= found(_MIDDLE[1])):
        middle = likely
    half = (min(middle, found(0.25)), max(middle, found(0.75)))
    most = (min(middle, found(0.05)), max(middle, found(0.95)))
    by = found(0.9)
    return Range(
        at(middle),
        (at(half[0]), at(half[1])),
        (at(most[0]), at(most[1])),
        None if by == NEVER else at(max(middle, by)),
    )


def latest(found: Range) -> datetime:
    """The moment by which it is reached in nine of ten courses."""
    return found.by or found.most[1]
