"""When the shift ends."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo


def next_shift_end(ends: Sequence[str], now: datetime, zone: tzinfo) -> datetime:
    """The first of these times of day after now, as the clocks of the zone show them; `ends` has at least one."""
    today = now.astimezone(zone).date()
    moments = [
        datetime.combine(today + timedelta(days=day), time.fromisoformat(end), zone).astimezone(UTC)
        for day in (0, 1)
        for end in ends
    ]
    return min(moment for moment in moments if moment > now)
