"""The number of runs in a period, and the first difference of two readings, without listing all runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from foretop_core.cron import CronSchedule, Fields
from foretop_core.cron.fields import HOUR, minutes_of_day
from foretop_core.cron.wall_clock_calendar import day_masks, first_weekday, lowest_bit, month_length
from foretop_core.cron.zones import clock_changes, to_local, to_utc

HORIZON_YEARS = 5
"""Velero searches for the next run up to the end of the fifth year from now, and so does this search."""
_MINUTE = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)
# Nearer than this to a change of the clocks, runs are only known by asking the engine.
_NEAR = timedelta(hours=27)
_MOST_WALKED = 100


def always_due(parsed: CronSchedule, since: datetime) -> bool:
    """True if Velero finds no next run and treats the schedule as due: a backup every minute.

    Not only what never fires: a 29 February that is a Monday comes every 28 years, and Velero searches five years.
    """
    return parsed.next(since) is None


def runs_within(parsed: CronSchedule, start: datetime, end: datetime) -> int:
    """The runs later than `start` and not later than `end`; one for each minute while it is always due.

    A delay below a minute makes no more runs: Velero checks once a minute.
    """
    if parsed.every is not None:
        return (end - start) // max(parsed.every, _MINUTE)
    return sum(_runs_within_year(parsed, first, last) for first, last in _by_year(start, end))


def _by_year(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The runs year by year: how far Velero searches depends on the year in which it does."""
    while start < end:
        last = min(end, datetime((start + _SECOND).year + 1, 1, 1, tzinfo=UTC) - _SECOND)
        yield start, last
        start = last


def _runs_within_year(parsed: CronSchedule, start: datetime, end: datetime) -> int:
    if parsed.next(end - _SECOND) is not None:
        return _listed(parsed, start, end)
    last = parsed.previous(end)
    if last is None or last <= start:
        return _minutes(start, end)
    return _listed(parsed, start, last) + _minutes(last, end)


def _minutes(start: datetime, end: datetime) -> int:
    """The minutes that begin after one instant, up to another."""
    return int(end.timestamp() // 60 - start.timestamp() // 60)


def _listed(parsed: CronSchedule, start: datetime, end: datetime) -> int:
    """The runs that the fields name: by arithmetic while the clocks are constant, one by one near a change.

    Above some forty runs a day, the few that a library gets wrong on the day of a change are ignored.
    """
    zone, fields = parsed.zone or UTC, parsed.fields
    total = 0
    for change in clock_changes(zone, range(start.year - 1, end.year + 2)):
        near, far = max(start, change - _NEAR), min(end, change + _NEAR)
        if near >= far:
            continue
        total += _on_the_wall(fields, zone, start, near)
        plain = _on_the_wall(fields, zone, near, min(change - _SECOND, far))
        plain += _on_the_wall(fields, zone, max(change - _SECOND, near), far)
        total += plain if plain > _MOST_WALKED else sum(1 for _ in parsed.between(near, far))
        start = far
    return total + _on_the_wall(fields, zone, start, end)


def _on_the_wall(fields: Fields, zone: tzinfo, start: datetime, end: datetime) -> int:
    """The matching minutes after one instant up to another, with the offset of the second after the first."""
    if end <= start:
        return 0
    first, last = to_local(zone, start + _SECOND) - _SECOND, to_local(zone, end)
    return _up_to(fields, last, first.year) - _up_to(fields, first, first.year)


def _up_to(fields: Fields, wall: datetime, first_year: int) -> int:
    """The matching minutes from the beginning of a year up to a wall time."""
    masks = day_masks(fields)
    a_day = fields.hour.bit_count() * fields.minute.bit_count()
    days = 0
    for year in range(first_year, wall.year + 1):
        for month in range(1, 13 if year < wall.year else wall.month):
            days += _dates(fields, masks, year, month).bit_count()
    dates = _dates(fields, masks, wall.year, wall.month)
    days += (dates & ((1 << wall.day) - 1)).bit_count()
    today = _minutes_up_to(fields, wall) if dates >> wall.day & 1 else 0
    return days * a_day + today


def _minutes_up_to(fields: Fields, wall: datetime) -> int:
    hours = (fields.hour & ((1 << wall.hour) - 1)).bit_count() * fields.minute.bit_count()
    if not fields.hour >> wall.hour & 1:
        return hours
    return hours + (fields.minute & ((2 << wall.minute) - 1)).bit_count()


def _dates(fields: Fields, masks: tuple[int, ...], year: int, month: int) -> int:
    if not fields.month >> month & 1:
        return 0
    return masks[first_weekday(year, month)] & ((2 << month_length(year, month)) - 1)


def looked_until(now: datetime) -> datetime:
    """The end of the search for a difference: as far as Velero itself searches."""
    return datetime(now.year + HORIZON_YEARS, 12, 31, 23, 59, 59, tzinfo=UTC)


def first_difference(one: CronSchedule, other: CronSchedule, now: datetime) -> datetime | None:
    """The first time after now at which only one of them makes a backup; None if there is none within the horizon.

    Both expressions must parse. Two different delays, or a delay and fields, differ from the next run on.
    """
    if one.every is not None or other.every is not None:
        return None if one.every == other.every else _sooner(one.next(now), other.next(now))
    if always_due(one, now) or always_due(other, now):
        return (
            None if always_due(one, now) and always_due(other, now) else now.replace(second=0, microsecond=0) + _MINUTE
        )
    end = looked_until(now)
    on_the_wall = _first_on_the_wall(one, other, now, end)
    near_a_change = _first_near_a_change(one, other, now, on_the_wall or end)
    return _sooner(on_the_wall, near_a_change)


def _sooner(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((moment for moment in (one, other) if moment is not None), default=None)


def _first_on_the_wall(one: CronSchedule, other: CronSchedule, now: datetime, end: datetime) -> datetime | None:
    zone = one.zone or UTC
    if zone != (other.zone or UTC):
        return _sooner(one.next(now), other.next(now))
    start, last = to_local(zone, now), to_local(zone, end)
    for day, minutes in _different_days(one.fields, other.fields, start, last):
        gone = max(0, (start - day) // _MINUTE + 1)
        if coming := minutes >> gone << gone:
            return to_utc(zone, day + lowest_bit(coming) * _MINUTE)
    return None


def _different_days(one: Fields, other: Fields, start: datetime, end: datetime) -> Iterator[tuple[datetime, int]]:
    """The days on which two sets of fields differ, each with the minutes that only one of them names."""
    masks, others = day_masks(one), day_masks(other)
    minutes, other_minutes = minutes_of_day(one), minutes_of_day(other)
    year, month = start.year, start.month
    while (year, month) <= (end.year, end.month):
        mine, theirs = _dates(one, masks, year, month), _dates(other, others, year, month)
        different = mine ^ theirs if minutes == other_minutes else mine | theirs
        for date in range(start.day if (year, month) == (start.year, start.month) else 1, 32):
            if different >> date & 1:
                day = datetime(year, month, date, tzinfo=UTC)
                yield day, (minutes if mine >> date & 1 else 0) ^ (other_minutes if theirs >> date & 1 else 0)
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)


def _first_near_a_change(one: CronSchedule, other: CronSchedule, now: datetime, end: datetime) -> datetime | None:
    if one.fields.hour == other.fields.hour == HOUR.full:
        return None  # There the clocks skip no hour whose runs one of them could make later.
    for change in clock_changes(one.zone or UTC, range(now.year, end.year + 1)):
        near, far = max(now, change - _NEAR), min(end, change + _NEAR)
        if near < far:
            different = set(one.between(near, far)) ^ set(other.between(near, far))
            if different:
                return min(different).astimezone(UTC)
    return None
