"""The five fields: their allowed values, and the values that an expression sets."""

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
