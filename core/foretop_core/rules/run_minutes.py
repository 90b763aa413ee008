"""Runs as bits, one for each minute of a stretch of time: a day of any expression is one number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

from msgspec.structs import replace

from foretop_core.cron import CronSchedule, Fields
from foretop_core.cron.wall_clock_calendar import Calendar
from foretop_core.cron.zone_walk import CLEAR_OF_CHANGE
from foretop_core.cron.zones import steady_span, to_local

_MINUTE, _TICK = timedelta(minutes=1), timedelta(microseconds=1)
_DAY = 1440
"""Minutes."""


def run_bits(schedule: CronSchedule, start: datetime, minutes: int, base: datetime | None = None) -> int:
    """The runs within so many minutes from `start`, a whole minute in UTC and bit 0.

    A constant delay counts from `base`, its last run, and has no runs without one.
    """
    if schedule.every is not None:
        return 0 if base is None else _delayed(schedule.every, base, start, minutes)
    if schedule.never_fires:
        return 0
    shift = _steady_offset(schedule.zone or UTC, start, start + minutes * _MINUTE)
    if shift is not None:
        return _on_a_steady_clock(schedule, start + shift, minutes)
    end = start + minutes * _MINUTE
    return _set((run.astimezone(UTC) - start) // _MINUTE for run in schedule.between(start - _TICK, end - _TICK))


def minutes_of(bits: int) -> Iterator[int]:
    """The minutes whose bit is set, in their order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _delayed(every: timedelta, base: datetime, start: datetime, minutes: int) -> int:
    """Velero looks once a minute, so that a shorter delay is a run in each.

    Reckoned from the start, for a run may lie beyond the last year that a time can have.
    """
    if every <= _MINUTE:
        return (1 << minutes) - 1
    run = base - start + max(1, -(-(start - base) // every)) * every
    places = []
    while run < minutes * _MINUTE:
        places.append(run // _MINUTE)
        run += every
    return _set(places)


def _set(places: Iterable[int]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def _steady_offset(zone: tzinfo, start: datetime, end: datetime) -> timedelta | None:
    """How far the wall clock is from UTC, where it stays so from well before the start to well after the end."""
    if zone is UTC:
        return timedelta()
    try:
        begin, change = steady_span(zone, start)
    except OverflowError:
        return None
    offset = to_local(zone, start) - start
    clear = start - CLEAR_OF_CHANGE >= begin and end + CLEAR_OF_CHANGE <= change
    return offset if clear and not offset % _MINUTE else None


def _on_a_steady_clock(schedule: CronSchedule, wall: datetime, minutes: int) -> int:
    fields = schedule.fields
    times = fields.minute * _hours(fields.hour)
    into = wall.hour * 60 + wall.minute
    days = _days(replace(fields, minute=0, hour=0), wall.date().toordinal(), -(-(into + minutes) // _DAY))
    bits = 0
    for day in days:
        bits |= times << day * _DAY
    return bits >> into & ((1 << minutes) - 1)


@lru_cache(maxsize=256)
def _hours(hours: int) -> int:
    """The first minute of each hour that is in the set."""
    return sum(1 << 60 * hour for hour in range(24) if hours >> hour & 1)


@lru_cache(maxsize=1024)
def _days(fields: Fields, first: int, number: int) -> tuple[int, ...]:
    """Which of so many days, from one on, match the day fields."""
    calendar = Calendar(fields)
    dates = ((place, date.fromordinal(first + place)) for place in range(number))
    return tuple(
        place
        for place, day in dates
        if calendar.has_month(day.month) and calendar.has_day(day.year, day.month, day.day)
    )
