"""Times, durations and numbers as text in a sentence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from foretop_core.cron.go_stdlib import GoError, parse_duration

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY = 86400
_MINUTES_FROM, _DAYS_FROM = 120, 2 * _DAY


def time(at: datetime, now: datetime, zone: tzinfo | None = None) -> str:
    """`02:30:00Z` today, `12 Nov 02:30Z` on another day, with the year in another year.

    Without a zone it is that of `now`, the reader's clock.
    """
    local = at.astimezone(zone or now.tzinfo)
    day = _day(local, now.astimezone(zone or now.tzinfo))
    return f"{day}{local:%H:%M}{zone_name(local)}" if day else f"{local:%H:%M:%S}{zone_name(local)}"


def minute(at: datetime, now: datetime, zone: tzinfo | None = None) -> str:
    """`02:30Z` today, otherwise as `time` writes it."""
    local = at.astimezone(zone or now.tzinfo)
    return f"{_day(local, now.astimezone(zone or now.tzinfo))}{local:%H:%M}{zone_name(local)}"


def zone_name(at: datetime) -> str:
    """The text behind a time of day: `Z`, or the abbreviation or offset of its zone."""
    return "Z" if at.tzinfo is UTC else f" {at:%Z}"


def _day(at: datetime, today: datetime) -> str:
    """Nothing for today, `12 Nov ` for another day, with the year in another year."""
    if at.date() == today.date():
        return ""
    return f"{at.day} {_MONTHS[at.month - 1]} " if at.year == today.year else f"{day(at)} "


def day(at: datetime) -> str:
    """`12 Nov 2026`."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def rfc3339(at: datetime | None) -> str | None:
    """Whole seconds in UTC, as the API writes them."""
    return None if at is None else f"{at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def duration(length: timedelta) -> str:
    """`41 minutes`, `2 hours and 10 minutes`, `1 day and 19 hours`, `3 days`: in words, as exact as needed."""
    seconds = int(as_shown(length).total_seconds())
    if seconds >= _DAYS_FROM:
        return count(seconds // 86400, "day")
    if seconds >= _DAY:
        return _two(1, "day", seconds % _DAY // 3600, "hour")
    if seconds >= 3600:
        return _two(seconds // 3600, "hour", seconds // 60 % 60, "minute")
    if seconds >= 60:
        return _two(seconds // 60, "minute", seconds % 60, "second")
    return count(seconds, "second")


def _two(large: int, unit: str, small: int, smaller_unit: str) -> str:
    return f"{count(large, unit)} and {count(small, smaller_unit)}" if small else count(large, unit)


def as_shown(length: timedelta) -> timedelta:
    """The length that `duration` writes: whole days, hours, minutes or seconds, and never less than nothing."""
    seconds = max(0, int(length.total_seconds()))
    unit = _DAY if seconds >= _DAYS_FROM else 3600 if seconds >= _DAY else 60 if seconds >= _MINUTES_FROM else 1
    return timedelta(seconds=seconds - seconds % unit)


def interval(length: timedelta) -> str:
    """After "every": `minute`, `2 hours`."""
    names = {timedelta(minutes=1): "minute", timedelta(hours=1): "hour", timedelta(days=1): "day"}
    return names.get(length) or duration(length)


def count(number: int, thing: str) -> str:
    """`1 run`, `1,204 runs`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def size(number: int) -> str:
    """`3.1 GB`: as the operator's storage counts."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def capitalized(text: str) -> str:
    """The text as the beginning of a sentence; its other letters stay."""
    return f"{text[:1].upper()}{text[1:]}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`, `23rd`."""
    ending = "th" if number % 100 // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def join(names: list[str] | tuple[str, ...], most: int = 3) -> str:
    """`a, b and c`, or `a, b, c and 4 more`."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


_SERVERS_DEFAULT = "the server's default"


def read_duration(text: str) -> timedelta | None:
    """None where there is none or it cannot be read: the API server has let it through, so nobody is told here."""
    try:
        return timedelta(microseconds=parse_duration(text) // 1000)
    except GoError:
        return None


def duration_setting(text: str) -> str:
    """`30 days (720h0m0s)`; a setting that is zero, or not there, leaves it to the server."""
    length = read_duration(text)
    if not text or length == timedelta():
        return _SERVERS_DEFAULT
    return f"{duration(length)} ({text})" if length is not None else text
