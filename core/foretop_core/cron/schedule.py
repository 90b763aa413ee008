"""A parsed expression and its runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone, tzinfo
from functools import cached_property

from foretop_core.cron import english
from foretop_core.cron.dialect_rules import GRAMMARS, Dialect, Grammar
from foretop_core.cron.fields import NO_FIELDS, Fields
from foretop_core.cron.wall_clock_calendar import Calendar, WallMinute
from foretop_core.cron.zone_walk import CLEAR_OF_CHANGE, Walk
from foretop_core.cron.zones import steady_span, to_local

_HORIZON_YEARS = 5
_TICK = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class CronSchedule:
    """A parsed expression: five fields, a constant delay, or neither if it is only started manually.

    The same text in two dialects is two schedules. `zone` is None if the expression names none: it then
    runs in the zone of the time it is asked about.
    """

    expression: str
    dialect: Dialect
    zone: tzinfo | None = field(compare=False)
    every: timedelta | None = field(compare=False)
    _spec: Fields | None = field(compare=False, repr=False)

    @property
    def fields(self) -> Fields:
        """The bit sets of the five fields; a constant delay and a schedule that never fires by itself have none."""
        if self._spec is None:
            kind = "never fires by itself" if self.every is None else "is a constant delay"
            raise ValueError(f"{self.expression} {kind} and has no fields")
        return self._spec

    @cached_property
    def _calendar(self) -> Calendar:
        return Calendar(self._spec or NO_FIELDS)

    @cached_property
    def _grammar(self) -> Grammar:
        return GRAMMARS[self.dialect]

    @cached_property
    def never_fires(self) -> bool:
        """True if no date of any year matches; Velero treats such a schedule as always due."""
        return self.every is None and self._calendar.empty

    def describe(self) -> str:
        """The schedule in plain English."""
        if self.every is not None:
            return english.describe_delay(self.every)
        if self.never_fires:
            return "never"
        return english.describe(self.fields, "" if self.zone is None else str(self.zone))

    def next(self, after: datetime) -> datetime | None:
        """The first run strictly after an aware time, in that time's zone.

        None if there is none up to the end of the fifth year from now, which is as far as Velero searches.
        """
        own = _zone_of(after)
        try:
            if self.every is not None:
                return (after.astimezone(UTC).replace(microsecond=0) + self.every).astimezone(own)
            zone = self.zone or own
            if zone is UTC:
                moment = self._next_in_utc(after if own is UTC else after.astimezone(UTC))
            else:
                moment = self._next_in_zone(zone, after)
            return moment if moment is None or own is UTC else moment.astimezone(own)
        except OverflowError:
            return None

    def _next_in_utc(self, after: datetime) -> datetime | None:
        calendar = self._calendar
        if calendar.empty:
            return None
        wall = calendar.first_from(after.year, after.month, after.day, after.hour, after.minute + 1, _last_year(after))
        return None if wall is None else datetime(*wall, tzinfo=UTC)

    def _next_in_zone(self, zone: tzinfo, after: datetime) -> datetime | None:
        if self._calendar.empty:
            return None
        try:
            return Walk(self._calendar, self._grammar, zone, after.astimezone(UTC), _HORIZON_YEARS).find()
        except (OverflowError, ValueError):
            # Past the last year that a time can have.
            return None

    def previous(self, before: datetime) -> datetime | None:
        """The last run strictly before an aware time, in that time's zone.

        Around a change of the clocks it is the run of a server that has followed the schedule all along.
        None if there is none in this year and the five before it. A constant delay counts from its last
        run, which the expression does not contain: it has no previous run.
        """
        own = _zone_of(before)
        if self._calendar.empty:
            return None
        zone = self.zone or own
        utc = before.astimezone(UTC)
        try:
            first_year = to_local(zone, utc).year - _HORIZON_YEARS
            moment = self._previous_in_zone(zone, utc, first_year)
            return None if moment is None else moment.astimezone(own)
        except (OverflowError, ValueError):
            return None

    def _previous_in_zone(self, zone: tzinfo, utc: datetime, first_year: int) -> datetime | None:
        local = to_local(zone, utc)
        offset = local - utc
        minute = local.minute - (not (local.second or local.microsecond))
        wall = self._calendar.last_until(local.year, local.month, local.day, local.hour, minute, first_year)
        begin, end = steady_span(zone, utc)
        change = begin
        if wall is not None and not offset % _MINUTE:
            moment = datetime(*wall, tzinfo=UTC) - offset
            if moment >= end - CLEAR_OF_CHANGE:
                change = end
            elif self._found_later_than(begin + CLEAR_OF_CHANGE + offset, wall, first_year):
                return moment
        if local.year < first_year:
            return None
        return self._previous_around(zone, utc, change, first_year)

    def _found_later_than(self, settled: datetime, wall: WallMinute, first_year: int) -> bool:
        """True if a change of the clocks, over by a given wall time, had no effect on finding a run."""
        # A search that has left midnight may not return to it, so it must have begun after the change.
        year, month, day, hour, minute = wall
        begun = self._calendar.last_until(year, month, day, hour, minute - 1, first_year)
        return settled.year < first_year if begun is None else datetime(*begun[:3], tzinfo=UTC) >= settled

    def _previous_around(self, zone: tzinfo, utc: datetime, change: datetime, first_year: int) -> datetime | None:
        """The previous run near a change of the clocks, found by going forward run by run from a day before it."""
        start = change - CLEAR_OF_CHANGE - _HOUR
        latest = self._previous_in_zone(zone, start, first_year)
        run = self._later(zone, latest or start)
        while run is not None and run < utc:
            latest = run
            run = self._later(zone, run)
        return latest

    def _later(self, zone: tzinfo, run: datetime) -> datetime | None:
        """The run after another one; where the clocks go back, the library may return the same run again."""
        try:
            moment = self._next_in_zone(zone, run)
            asked = run
            while moment is not None and moment <= run:
                asked += _MINUTE
                moment = self._next_in_zone(zone, asked)
        except OverflowError:
            return None
        return moment

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The runs later than `start` and not later than `end`, each found from the one before it.

        The first is that of a server that has followed the schedule all along, as in `previous`.
        """
        own = _zone_of(start)
        zone = self.zone or own
        # Two times of one zone compare by the wall clock, which is wrong where the clocks go back.
        last = end.astimezone(UTC)
        if self.every is not None or isinstance(zone, timezone):
            run = self.next(start)
            while run is not None and run.astimezone(UTC) <= last:
                yield run
                run = self.next(run)
            return
        run = self._first_followed(zone, start.astimezone(UTC))
        while run is not None and run <= last:
            yield run.astimezone(own)
            run = self._later(zone, run)

    def _first_followed(self, zone: tzinfo, start: datetime) -> datetime | None:
        """The first run after an instant, found from the run before it: a change of the clocks may lie between."""
        earlier = self.previous((start + _TICK).astimezone(zone))
        run = None if earlier is None else self._later(zone, earlier.astimezone(UTC))
        if run is not None and run > start:
            return run
        return self._next_in_zone(zone, start)


def _zone_of(moment: datetime) -> tzinfo:
    if moment.tzinfo is None:
        raise ValueError("runs are asked about in aware datetimes")
    return moment.tzinfo


def _last_year(local: datetime) -> int:
    """The last year that is searched: the fifth from that of the next second."""
    year = local.year + _HORIZON_YEARS
    if local.second == 59 and (local + _SECOND).year > local.year:
        year += 1
    return min(year, MAXYEAR)
