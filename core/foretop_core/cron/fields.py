"""The five fields: their allowed values, those that an expression sets, and lists that all libraries read alike."""

from __future__ import annotations

import msgspec

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


class Bounds(msgspec.Struct, frozen=True):
    """The allowed values of a field; `reserved` characters are refused anywhere, with their own message."""

    low: int
    high: int
    names: dict[str, int]
    reserved: str = ""
    refusal: str = ""

    @property
    def full(self) -> int:
        return (2 << self.high) - (1 << self.low)

    @property
    def size(self) -> int:
        return self.high - self.low + 1


MINUTE = Bounds(0, 59, {})
HOUR = Bounds(0, 23, {})
DOM = Bounds(1, 31, {})
MONTH = Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)})
DOW = Bounds(0, 6, {name: number for number, name in enumerate(_WEEKDAYS)})
ALL_BOUNDS = (MINUTE, HOUR, DOM, MONTH, DOW)


class Fields(msgspec.Struct, frozen=True):
    """The five fields as bit sets (bit n = value n; Sunday is 0, never 7).

    With `either_day` a day matches if one of its two fields does, otherwise both must.
    """

    minute: int
    hour: int
    dom: int
    month: int
    dow: int
    either_day: bool


NO_FIELDS = Fields(0, 0, 0, 0, 0, either_day=False)


_MANY = 6
"""Fewer values are easier to read as a list."""


def listed(bits: int, bounds: Bounds) -> str:
    """`*`, or numbers with three or more in a row as a range."""
    if bits & bounds.full == bounds.full:
        return "*"
    rows: list[list[int]] = []
    for value in range(bounds.low, bounds.high + 1):
        if bits >> value & 1:
            if rows and rows[-1][-1] == value - 1:
                rows[-1].append(value)
            else:
                rows.append([value])
    parts: list[str] = []
    for row in rows:
        parts += [f"{row[0]}-{row[-1]}"] if len(row) > 2 else [str(value) for value in row]
    return ",".join(parts)


def minutes_of_day(fields: Fields) -> int:
    """The minutes of a day that match both time fields, as 1440 bits."""
    return fields.minute * sum(1 << (60 * hour) for hour in range(24) if fields.hour >> hour & 1)


def time_fields(times: int) -> list[str]:
    """Minute and hour fields that together cover a set of minutes of the day (1440 bits), without overlap."""
    by_hour = [(times >> (60 * hour)) & MINUTE.full for hour in range(24)]
    minutes_with_hours: dict[int, int] = {}
    for minute in range(60):
        hours = sum(1 << hour for hour in range(24) if by_hour[hour] >> minute & 1)
        if hours:
            minutes_with_hours[hours] = minutes_with_hours.get(hours, 0) | 1 << minute
    hours_with_minutes: dict[int, int] = {}
    for hour, minutes in enumerate(by_hour):
        if minutes:
            hours_with_minutes[minutes] = hours_with_minutes.get(minutes, 0) | 1 << hour
    if len(minutes_with_hours) <= len(hours_with_minutes):
        pairs = [(minutes, hours) for hours, minutes in minutes_with_hours.items()]
    else:
        pairs = list(hours_with_minutes.items())
    return [f"{_stepped(minutes, MINUTE)} {_stepped(hours, HOUR)}" for minutes, hours in pairs]


def _stepped(bits: int, bounds: Bounds) -> str:
    """`*/5` or `2-59/5` for many values at even distances; not for days, of which a star says more than the values."""
    values = [value for value in range(bounds.high + 1) if bits >> value & 1]
    step = values[1] - values[0] if len(values) >= _MANY else 1
    if step == 1 or step * len(values) != bounds.high + 1 or values != list(range(values[0], bounds.high + 1, step)):
        return listed(bits, bounds)
    return f"*/{step}" if not values[0] else f"{values[0]}-{bounds.high}/{step}"
