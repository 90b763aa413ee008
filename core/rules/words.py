"""Times and spans as an operator reads them in a sentence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def moment(at: datetime, now: datetime) -> str:
    """`02:30:00Z` today, `12 Nov 02:30Z` on another day, with the year in another year."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    if at.date() == now.date():
        return f"{at:%H:%M:%S}Z"
    day = f"{at.day} {at:%b}"
    return f"{day} {at:%H:%M}Z" if at.year == now.year else f"{day} {at.year} {at:%H:%M}Z"


def rfc3339(at: datetime | None) -> str | None:
    """Whole seconds in UTC, as the API writes them."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(length: timedelta) -> str:
    """`41 minutes`, `2 h 10 min`, `3 days`: as exact as a decision needs."""
    seconds = max(0, int(length.total_seconds()))
    if seconds >= 2 * 86400:
        return _plural(seconds // 86400, "day")
    if seconds >= 7200:
        hours, minutes = divmod(seconds // 60, 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} hours"
    if seconds >= 120:
        return _plural(seconds // 60, "minute")
    return _plural(seconds, "second")


def interval(length: timedelta) -> str:
    """After "every": `minute`, `90 seconds`."""
    names = {timedelta(minutes=1): "minute", timedelta(hours=1): "hour", timedelta(days=1): "day"}
    return names.get(length) or span(length)


def count(number: int, thing: str) -> str:
    """`1 run`, `1,204 runs`."""
    return _plural(number, thing)


def listed(names: list[str] | tuple[str, ...], most: int = 3) -> str:
    """`a, b and c`, or `a, b, c and 4 more`."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _plural(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
