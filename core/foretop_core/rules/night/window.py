"""A stretch of the day that a person wants to keep free, or to keep runs in: `06:00-07:30`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

from foretop_core.errors import BadInput

_WINDOW = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])-([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_DAY = timedelta(days=1)


class Window(msgspec.Struct, frozen=True):
    """A stretch of the day, as a person gives it: by the clocks of a zone."""

    begins: timedelta
    length: timedelta
    zone: tzinfo = UTC

    def after(self, now: datetime) -> tuple[datetime, datetime]:
        """The first of it that has not ended."""
        midnight = now.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        for day in (-1, 0, 1):
            begins = midnight + timedelta(days=day) + self.begins
            if begins + self.length > now:
                return begins, begins + self.length
        raise AssertionError("a window of less than a day ends within a day")

    def has(self, at: datetime) -> bool:
        """True if a moment lies in it, on any day."""
        return self.since(at) < self.length

    def since(self, at: datetime) -> timedelta:
        """How long it has begun at a moment, by the clocks of its zone."""
        local = at.astimezone(self.zone)
        clock = timedelta(hours=local.hour, minutes=local.minute, seconds=local.second)
        return (clock - self.begins) % _DAY

    def __str__(self) -> str:
        return f"{_clock(self.begins)}-{_clock((self.begins + self.length) % _DAY)}"


def _clock(at: timedelta) -> str:
    minutes = at // timedelta(minutes=1)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def read_window(text: str, zone: tzinfo = UTC) -> Window:
    """`06:00-07:30` by the clocks of a zone; one that ends before it begins goes over midnight."""
    match = _WINDOW.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} is not a valid window", "", "use two times of day, such as 06:00-07:30")
    first, second = (timedelta(hours=int(match[group]), minutes=int(match[group + 1])) for group in (1, 3))
    if first == second:
        raise BadInput(f"{text!r} is not a valid window", "it has no length", "use two different times of day")
    return Window(first, (second - first) % _DAY, zone)
