"""The search through a zone whose clocks change, step by step as the library does it.

Near a change of the clocks, the library's result comes from how it steps, not from a rule: it may skip a date,
or return a minute of the following day. So near a change the steps are repeated exactly; far from one, where
every search finds the same run, the walk jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from foretop_core.cron.dialect_rules import Grammar
from foretop_core.cron.wall_clock_calendar import Calendar
from foretop_core.cron.zones import steady_span, to_local, to_utc

# Nearer than this to a change of the clocks, wall times may be missing or occur twice.
CLEAR_OF_CHANGE = timedelta(hours=26)
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_SECOND = timedelta(seconds=1)
# No search that ends needs this many steps; one that hits a missing date can go on for ever.
_MOST_STEPS = 10_000


class Walk:
    """One search, from the second after an instant (in UTC) to the first match, up to the end of a year."""

    __slots__ = ("_calendar", "_grammar", "_last_year", "_local", "_reset", "_steps", "_utc", "_zone")

    def __init__(self, calendar: Calendar, grammar: Grammar, zone: tzinfo, after: datetime, years_ahead: int) -> None:
        self._calendar = calendar
        self._grammar = grammar
        self._zone = zone
        self._reset = False
        self._steps = 0
        self._go(after.replace(microsecond=0) + _SECOND)
        self._last_year = self._local.year + years_ahead

    def _go(self, utc: datetime) -> None:
        self._utc = utc
        self._local = to_local(self._zone, utc)
        self._steps += 1

    def _set_wall(self, local: datetime) -> None:
        self._go(to_utc(self._zone, local))

    def _first_reset(self, local: datetime) -> None:
        """Reset the smaller fields to their start before the first step of a search, and never again."""
        if not self._reset:
            self._reset = True
            self._set_wall(local)

    def find(self) -> datetime | None:
        """The instant found; None past the last year, or if the library would search for ever."""
        stages: tuple[Callable[[], bool], ...] = (
            self._reach_month,
            self._reach_day,
            self._reach_hour,
            self._reach_minute,
            self._reach_second,
        )
        while self._local.year <= self._last_year and self._steps < _MOST_STEPS:
            moment = self._leap()
            if moment is not None:
                return moment
            if all(reached() for reached in stages):
                return self._utc
        return None

    def _leap(self) -> datetime | None:
        """The result, if no change comes before it; else None, after moving as close to the change as is safe."""
        local = self._local
        offset = local - self._utc
        begin, end = steady_span(self._zone, self._utc)
        # A search that has not been reset yet returns to the start of the day or of the month.
        day = local.day if self._calendar.has_month(local.month) else 1
        earliest = datetime(local.year, local.month, day, tzinfo=UTC)
        safe_end = end - CLEAR_OF_CHANGE
        if (
            self._utc >= safe_end
            or earliest - offset < begin + CLEAR_OF_CHANGE
            or offset % _MINUTE
            or (self._reset and local != earliest)
        ):
            return None
        minute = local.minute + bool(local.second)
        wall = self._calendar.first_from(local.year, local.month, local.day, local.hour, minute, self._last_year)
        if wall is None:
            return None
        moment = datetime(*wall, tzinfo=UTC) - offset
        if moment < safe_end:
            return moment
        target = (safe_end + offset).replace(hour=0, minute=0, second=0, microsecond=0)
        if not self._calendar.has_month(target.month):
            target = target.replace(day=1)
        if target > local:
            self._reset = True
            self._go(target - offset)
        return None

    def _reach_month(self) -> bool:
        while not self._calendar.has_month(self._local.month):
            self._first_reset(self._local.replace(day=1, hour=0, minute=0, second=0))
            here = self._local
            year, month = (here.year, here.month + 1) if here.month < 12 else (here.year + 1, 1)
            # A 31st overflows into the month after a short one.
            self._set_wall(here.replace(year=year, month=month, day=1) + timedelta(days=here.day - 1))
            if self._local.month == 1:
                return False
        return True

    def _reach_day(self) -> bool:
        while not self._calendar.has_day(self._local.year, self._local.month, self._local.day):
            self._first_reset(self._local.replace(hour=0, minute=0, second=0))
            self._set_wall(self._local + timedelta(days=1))
            if self._grammar.resets_after_missing_midnight and (hour := self._local.hour):
                self._go(self._utc + (24 - hour if hour > 12 else -hour) * _HOUR)
            if self._local.day == 1 or self._past_change() or self._steps > _MOST_STEPS:
                return False
        return True

    def _past_change(self) -> bool:
        """True if the walk may jump again: at a midnight of a matching month with no change near."""
        begin, end = steady_span(self._zone, self._utc)
        return (
            begin + CLEAR_OF_CHANGE <= self._utc < end - CLEAR_OF_CHANGE
            and self._local.hour == self._local.minute == self._local.second == 0
            and self._calendar.has_month(self._local.month)
        )

    def _reach_hour(self) -> bool:
        while not self._calendar.has_hour(self._local.hour):
            self._first_reset(self._local.replace(minute=0, second=0))
            before = self._local.hour
            self._go(self._utc + _HOUR)
            if self._grammar.runs_skipped_hours and self._skipped_since(before):
                return True
            if self._local.hour == 0:
                return False
        return True

    def _skipped_since(self, hour: int) -> bool:
        """True if the clocks skipped the hour between that one and this, together with its runs."""
        return self._local.hour - hour == 2 and self._calendar.has_hour(self._local.hour - 1)

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
            self._reset |= self._grammar.seconds_begin_search
            rest = (60 - self._local.second) * _SECOND
            _, end = steady_span(self._zone, self._utc)
            self._go(self._utc + (rest if self._utc + rest < end else _SECOND))
            if self._local.second == 0:
                return False
        return True
