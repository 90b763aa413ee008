"""Time zones as the server loads them, and the periods in which their offset is constant."""

from __future__ import annotations

import zoneinfo
from bisect import bisect_right
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from foretop_core.cron.go_stdlib import GoError

Span = tuple[datetime, datetime]

_ALL_TIME: Span = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
_PROBE = timedelta(hours=12)
_SECOND = timedelta(seconds=1)
# Wall clocks ahead of UTC and behind it must both stay within the range of datetime.
_FIRST_YEAR = 2
# Files beside the zones that configure one machine and are not zones themselves.
_NOT_ZONES = {"localtime", "posixrules"}
_LONGEST_NAME = 255


def load(name: str) -> tzinfo | None:
    """The zone that an expression names; None for `Local`, which means the zone of the time asked about."""
    if name in ("", "UTC"):
        return UTC
    if name == "Local":
        return None
    if ".." in name or name[0] in "/\\":
        raise GoError("time: invalid location name")
    resolved = _resolve(name)
    if resolved in _names():
        return zoneinfo.ZoneInfo(resolved)
    raise GoError("is a directory" if resolved in _folders() else f"unknown time zone {name}")


def _resolve(path: str) -> str:
    """The file that a path resolves to, or the error of Linux: Go uses a zone's name as a file name.

    Resolved against the list of zones, because file systems that ignore case would accept `america/new_york`.
    """
    if "\0" in path:
        raise GoError("invalid argument")
    resolved = ""
    for step in path.split("/"):
        if resolved in _names():
            raise GoError("not a directory")
        if resolved in _folders() and len(step.encode()) > _LONGEST_NAME:
            raise GoError("file name too long")
        if step not in ("", "."):
            resolved = f"{resolved}/{step}" if resolved else step
    return resolved


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones() - _NOT_ZONES)


@lru_cache(maxsize=1)
def _folders() -> frozenset[str]:
    return frozenset(name.rpartition("/")[0] for name in _names())


def has_daylight_saving(zone: tzinfo, year: int) -> bool:
    """True if the clocks of that zone change in that year."""
    return not isinstance(zone, timezone) and bool(_changes_within(zone, year))


def clock_changes(zone: tzinfo, years: range) -> tuple[datetime, ...]:
    """The instants at which the clocks of a zone change in these years."""
    if isinstance(zone, timezone):
        return ()
    return tuple(change for year in years for change in _changes_within(zone, year))


def to_local(zone: tzinfo, utc: datetime) -> datetime:
    """The wall time at an instant; wall times are carried as if they were UTC."""
    return zone.fromutc(utc.replace(tzinfo=zone)).replace(tzinfo=UTC)


def to_utc(zone: tzinfo, local: datetime) -> datetime:
    """Go's conversion of a wall time to an instant, also for wall times that do not exist or occur twice."""
    guess = local - (to_local(zone, local) - local)
    return local - (to_local(zone, guess) - guess)


def steady_span(zone: tzinfo, utc: datetime) -> Span:
    """The period around an instant in which the offset is constant, up to the neighbouring years.

    OverflowError in the first and the last year of all: no zone tells what follows them.
    """
    if isinstance(zone, timezone):
        return _ALL_TIME
    changes = _changes(zone, utc.year)
    place = bisect_right(changes, utc)
    if not 0 < place < len(changes):
        raise OverflowError(f"the clocks of {zone} are not known in {utc.year}")
    return changes[place - 1], changes[place]


@lru_cache(maxsize=4096)
def _changes(zone: tzinfo, year: int) -> tuple[datetime, ...]:
    """The changes of the clocks in a year and its neighbours, between the two ends of that period."""
    years = range(max(year - 1, _FIRST_YEAR), min(year + 2, MAXYEAR))
    inner = (change for each in years for change in _changes_within(zone, each))
    return (_new_year(years.start), *inner, _new_year(years.stop))


@lru_cache(maxsize=4096)
def _changes_within(zone: tzinfo, year: int) -> tuple[datetime, ...]:
    moments = []
    earlier, end = _new_year(year), _new_year(year + 1)
    offset = _offset(zone, earlier)
    while earlier < end:
        later = min(earlier + _PROBE, end)
        offset_later = _offset(zone, later)
        if offset_later != offset:
            moments.append(_first_change(zone, earlier, later))
        earlier, offset = later, offset_later
    return tuple(moments)


def _new_year(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def _first_change(zone: tzinfo, earlier: datetime, later: datetime) -> datetime:
    before = _offset(zone, earlier)
    while later - earlier > _SECOND:
        middle = (earlier + (later - earlier) // 2).replace(microsecond=0)
        if _offset(zone, middle) == before:
            earlier = middle
        else:
            later = middle
    return later


def _offset(zone: tzinfo, utc: datetime) -> timedelta:
    return to_local(zone, utc) - utc
