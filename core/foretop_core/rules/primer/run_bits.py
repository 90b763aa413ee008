"""Runs as bits, one for each minute of the eight years 2021 to 2028 in UTC."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from foretop_core.cron import Fields
from foretop_core.cron.wall_clock_calendar import day_masks, first_weekday, month_length

FIRST_DAY = date(2021, 1, 1)
LAST_DAY = date(2028, 12, 31)
MINUTES_A_DAY = 1440
_DAY_BYTES = MINUTES_A_DAY // 8


def minutes_of_day(fields: Fields) -> int:
    """The minutes of a day that match both time fields, as 1440 bits."""
    hours = sum(1 << (60 * hour) for hour in range(24) if fields.hour >> hour & 1)
    return fields.minute * hours


def missed_and_extra(runs: Fields, primed: Iterable[Fields], minutes: int) -> tuple[int, int]:
    """The number of missing warm-ups within the years, and of warm-ups without a run that many minutes later."""
    later_days = -(-minutes // MINUTES_A_DAY)
    wanted = _bits(runs, later_days) >> minutes
    # A run outside the years does not count as missed, and a warm-up for it does not count as extra.
    wanted_within = (_bits(runs, 0)) >> minutes
    made = 0
    for fields in primed:
        made |= _bits(fields, 0)
    return (wanted_within & ~made).bit_count(), (made & ~wanted).bit_count()


def _bits(fields: Fields, days_after: int) -> int:
    """The runs up to the end of the year in which those days after the last one end."""
    busy = minutes_of_day(fields).to_bytes(_DAY_BYTES, "little")
    idle = bytes(_DAY_BYTES)
    masks = day_masks(fields)
    days: list[bytes] = []
    for year in range(FIRST_DAY.year, (LAST_DAY + timedelta(days=days_after)).year + 1):
        for month in range(1, 13):
            dates = masks[first_weekday(year, month)] if fields.month >> month & 1 else 0
            length = month_length(year, month)
            days += [busy if dates >> day & 1 else idle for day in range(1, length + 1)]
    return int.from_bytes(b"".join(days), "little")
