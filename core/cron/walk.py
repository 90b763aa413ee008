"""The search through a zone whose clocks change, step by step as Velero's library makes it.

Wherever the clocks change, the library's answer comes from how it steps, not from a rule: a date may be lost,
a minute of the following day may be taken for the right one. So the steps are repeated here as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo

from core.cron.calendar import Calendar
from core.cron.zones import to_local, to_utc

_YEARS_AHEAD = 5
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)
# No search that ends needs as many; one that meets a missing date can go on for ever.
_MOST_STEPS = 10_000


class Walk:
    """One search, from the second after an instant (in UTC) to the first match."""

    def __init__(self, calendar: Calendar, zone: tzinfo, after: datetime) -> None:
        self._calendar = calendar
        self._zone = zone
        self._reset = False
        self._steps = 0
        self._go(after.replace(microsecond=0) + _SECOND)

    def _go(self, utc: datetime) -> None:
        self._utc = utc
        self._local = to_local(self._zone, utc)
        self._steps += 1

    def _set_wall(self, local: datetime) -> None:
        self._go(to_utc(self._zone, local))

    def _first_reset(self, local: datetime) -> None:
        """Before the first step of a search the smaller fields go to their start, and never again."""
        if not self._reset:
            self._reset = True
            self._set_wall(local)

    def find(self) -> datetime | None:
        """The instant found; None past the library's horizon, or where it would go on for ever."""
        last_year = self._local.year + _YEARS_AHEAD
        stages: tuple[Callable[[], bool], ...] = (
            self._reach_month,
            self._reach_day,
            self._reach_hour,
            self._reach_minute,
            self._reach_second,
        )
        while self._local.year <= last_year and self._steps < _MOST_STEPS:
            if all(reached() for reached in stages):
                return self._utc
        return None

    def _reach_month(self) -> bool:
        while not self._calendar.has_month(self._local.month):
            self._first_reset(self._local.replace(day=1, hour=0, minute=0, second=0))
            here = self._local
            year, month = (here.year, here.month + 1) if here.month < 12 else (here.year + 1, 1)
            # A 31st carries over into the month after a short one.
            self._set_wall(here.replace(year=year, month=month, day=1) + timedelta(days=here.day - 1))
            if self._local.month == 1:
                return False
        return True

    def _reach_day(self) -> bool:
        while not self._calendar.has_day(self._local.year, self._local.month, self._local.day):
            self._first_reset(self._local.replace(hour=0, minute=0, second=0))
            self._set_wall(self._local + timedelta(days=1))
            if hour := self._local.hour:
                self._go(self._utc + (24 - hour if hour > 12 else -hour) * _HOUR)
            if self._local.day == 1 or self._steps > _MOST_STEPS:
                return False
        return True

    def _reach_hour(self) -> bool:
        while not self._calendar.has_hour(self._local.hour):
            self._first_reset(self._local.replace(minute=0, second=0))
            self._go(self._utc + _HOUR)
            if self._local.hour == 0:
                return False
        return True

    def _reach_minute(self) -> bool:
        while not self._calendar.has_minute(self._local.minute):
            if not self._reset:
                self._reset = True
                self._go(self._utc.replace(second=0))
            self._go(self._utc + _MINUTE)
            if self._local.minute == 0:
                return False
        return True

    def _reach_second(self) -> bool:
        while self._local.second:
            self._reset = True
            self._go(self._utc + _SECOND)
            if self._local.second == 0:
                return False
        return True
