"""The fields on a clock without changes: which days, hours and minutes match, forwards and backwards."""

from __future__ import annotations

from calendar import isleap
from datetime import date

from foretop_core.cron.fields import DOM, Fields

WallMinute = tuple[int, int, int, int, int]

_LENGTHS = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
"""By the number of the month, in a leap year."""


def month_length(year: int, month: int) -> int:
    """The number of days in a month."""
    return 28 if month == 2 and not isleap(year) else _LENGTHS[month]


def first_weekday(year: int, month: int) -> int:
    """The weekday of a month's first day, Sunday being 0."""
    return date(year, month, 1).toordinal() % 7


def lowest_bit(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def day_masks(fields: Fields) -> tuple[int, ...]:
    """The dates (bits 1 to 31) that match the two day fields, for each weekday on which a month may begin."""
    # Four more copies of the week cover a month, whatever weekday it begins on.
    weeks = sum(fields.dow << (7 * week) for week in range(6))
    masks = []
    for first in range(7):
        by_weekday = (weeks >> first) << 1 & DOM.full
        masks.append(fields.dom | by_weekday if fields.either_day else fields.dom & by_weekday)
    return tuple(masks)


class Calendar:
    """The minutes that match a set of fields, on a wall clock without changes."""

    __slots__ = ("_days", "_first_hour", "_first_minute", "_hours", "_minutes", "_months", "empty")

    def __init__(self, fields: Fields) -> None:
        self._minutes = fields.minute
        self._hours = fields.hour
        self._months = fields.month
        self._days = day_masks(fields)
        self._first_hour = lowest_bit(fields.hour)
        self._first_minute = lowest_bit(fields.minute)
        self.empty = not (fields.minute and fields.hour and self._has_days())

    def _has_days(self) -> bool:
        return any(
            self._months >> month & 1 and days & ((2 << length) - 1)
            for month, length in enumerate(_LENGTHS)
            for days in self._days
        )

    def has_month(self, month: int) -> bool:
        return bool(self._months >> month & 1)

    def has_day(self, year: int, month: int, day: int) -> bool:
        return bool(self._days[first_weekday(year, month)] >> day & 1)

    def has_hour(self, hour: int) -> bool:
        return bool(self._hours >> hour & 1)

    def has_minute(self, minute: int) -> bool:
        return bool(self._minutes >> minute & 1)

    def _dates(self, year: int, month: int) -> int:
        return self._days[first_weekday(year, month)] & ((2 << month_length(year, month)) - 1)

    def first_from(self, year: int, month: int, day: int, hour: int, minute: int, last_year: int) -> WallMinute | None:
        """The first matching minute not before the given one (minute may be 60), up to the end of a year."""
        if self._months >> month & 1:
            dates = self._dates(year, month)
            if dates >> day & 1:
                if self._hours >> hour & 1 and (rest := self._minutes >> minute):
                    return year, month, day, hour, minute + lowest_bit(rest)
                if rest := self._hours >> hour + 1:
                    return year, month, day, hour + 1 + lowest_bit(rest), self._first_minute
            if rest := dates >> day + 1:
                return year, month, day + 1 + lowest_bit(rest), self._first_hour, self._first_minute
        while year <= last_year:
            if rest := self._months >> month + 1:
                month += 1 + lowest_bit(rest)
                if dates := self._dates(year, month):
                    return year, month, lowest_bit(dates), self._first_hour, self._first_minute
            else:
                year, month = year + 1, 0
        return None

    def last_until(self, year: int, month: int, day: int, hour: int, minute: int, first_year: int) -> WallMinute | None:
        """The last matching minute not after the given one (minute may be -1), back to a first year."""
        last_hour, last_minute = self._hours.bit_length() - 1, self._minutes.bit_length() - 1
        if self._months >> month & 1:
            dates = self._dates(year, month)
            if dates >> day & 1:
                if self._hours >> hour & 1 and (rest := self._minutes & ((1 << minute + 1) - 1)):
                    return year, month, day, hour, rest.bit_length() - 1
                if rest := self._hours & ((1 << hour) - 1):
                    return year, month, day, rest.bit_length() - 1, last_minute
            if rest := dates & ((1 << day) - 1):
                return year, month, rest.bit_length() - 1, last_hour, last_minute
        while year >= first_year:
            if rest := self._months & ((1 << month) - 1):
                month = rest.bit_length() - 1
                if dates := self._dates(year, month):
                    return year, month, dates.bit_length() - 1, last_hour, last_minute
            else:
                year, month = year - 1, 13
        return None
