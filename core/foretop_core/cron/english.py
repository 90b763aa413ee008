"""Schedules in plain English."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise

from foretop_core.cron.fields import DOM, DOW, HOUR, MINUTE, MONTH, Fields

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# The week starts on Monday, so that a weekend stays together.
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MOST_TIMES_LISTED = 6
_SHORTEST_SERIES = 4


@lru_cache(1000)
def describe(fields: Fields, zone: str = "") -> str:
    """When five fields fire; `zone` is included if the expression names one. A table asks for it every second."""
    where = f", {zone} time" if zone else ""
    return _time(fields) + _days(fields) + where


def describe_delay(delay: timedelta) -> str:
    """`every 90 seconds`, `every 2 hours and 5 minutes`."""
    seconds = int(delay.total_seconds())
    for size, unit in ((3600, "hour"), (60, "minute"), (1, "second")):
        if seconds == size:
            return f"every {unit}"
        if seconds % size == 0 and seconds <= 120 * size:
            return f"every {seconds // size} {unit}s"
    hours, rest = divmod(seconds, 3600)
    parts = [(hours, "hour"), (rest // 60, "minute"), (rest % 60, "second")]
    return "every " + _joined([_count(count, unit) for count, unit in parts if count])


def _time(fields: Fields) -> str:
    minutes, hours = _values(fields.minute), _values(fields.hour)
    if fields.hour == HOUR.full:
        return _within_the_hour(minutes)
    if len(minutes) * len(hours) <= _MOST_TIMES_LISTED and not _is_stretch(minutes, hours):
        return "at " + _joined([_clock(hour, minute) for hour in hours for minute in minutes])
    first, last = _clock(hours[0], minutes[0]), _clock(hours[-1], minutes[-1])
    if _is_stretch(minutes, hours):
        return f"{_interval(_step(minutes), 'minute')} from {first} to {last}"
    if len(minutes) == 1 and _step(hours):
        return f"{_interval(_step(hours), 'hour')} from {first} to {last}"
    return f"{_some_minutes(minutes)} of the hours {_joined(_ranges(hours, lambda hour: f'{hour:02}'))}"


def _is_stretch(minutes: Sequence[int], hours: Sequence[int]) -> bool:
    """True if the minutes are evenly spaced from the first hour to the last, and too many to list."""
    if len(minutes) * len(hours) < _SHORTEST_SERIES:
        return False
    if len(hours) == 1:
        return _step(minutes) == 1 or _fills_the_hour(minutes)
    return _step(hours) == 1 and _fills_the_hour(minutes)


def _within_the_hour(minutes: Sequence[int]) -> str:
    if len(minutes) == 1:
        minute = minutes[0]
        return f"at {_count(minute, 'minute')} past every hour" if minute else "every hour on the hour"
    if _fills_the_hour(minutes):
        begin = f", from minute {minutes[0]} of the hour" if minutes[0] else ""
        return _interval(_step(minutes), "minute") + begin
    return f"{_some_minutes(minutes)} of every hour"


def _some_minutes(minutes: Sequence[int]) -> str:
    if len(minutes) == 60:
        return "every minute"
    word = "minute" if len(minutes) == 1 else "minutes"
    return f"at {word} {_joined(_ranges(minutes, str))}"


def _days(fields: Fields) -> str:
    by_date, by_weekday = _restrictions(fields)
    months = "" if fields.month == MONTH.full else _joined(_ranges(_values(fields.month), _month))
    in_months = f" in {months}" if months else ""
    weekdays = _joined(_ranges(_from_monday(fields.dow), _WEEK.__getitem__))
    if by_date and by_weekday:
        if not fields.either_day:
            return f" on {_dates(fields)} if it is {_one_of(fields.dow)}{in_months}"
        of_month = "" if months else " of the month"
        also = "also on" if fields.dow.bit_count() > 1 else "on every"
        return f" on {_dates(fields)}{of_month} and {also} {weekdays}{in_months}"
    if by_date:
        return f" on {_dates(fields)} of {months or 'the month'}"
    if by_weekday:
        return f" on {weekdays}{in_months}"
    if fields.hour == HOUR.full:
        return in_months
    listed = _time(fields).startswith("at ")
    return f"{'' if listed else ','} every day{in_months}"


def _restrictions(fields: Fields) -> tuple[bool, bool]:
    """True if dates and weekdays restrict the days; they do not if either is enough and one is complete."""
    some_dates, some_weekdays = fields.dom != DOM.full, fields.dow != DOW.full
    if not fields.either_day:
        return some_dates, some_weekdays
    either = some_dates and some_weekdays
    return either and bool(fields.dom), either and bool(fields.dow)


def _from_monday(weekdays: int) -> list[int]:
    return sorted((day - 1) % 7 for day in _values(weekdays))


def _one_of(weekdays: int) -> str:
    """`a Monday or Tuesday`, `a day from Monday to Friday`."""
    days = _from_monday(weekdays)
    if len(days) >= _SHORTEST_SERIES and _step(days) == 1:
        return f"a day from {_WEEK[days[0]]} to {_WEEK[days[-1]]}"
    return f"a {_joined([_WEEK[day] for day in days], 'or')}"


def _dates(fields: Fields) -> str:
    dates = _values(fields.dom)
    step = _step(dates)
    if step > 1 and len(dates) >= _SHORTEST_SERIES:
        return f"every {_ordinal(step)} day from the {_ordinal(dates[0])} to the {_ordinal(dates[-1])}"
    return "the " + _joined(_ranges(dates, _ordinal))


def _values(bits: int) -> list[int]:
    return [value for value in range(bits.bit_length()) if bits >> value & 1]


def _step(values: Sequence[int]) -> int:
    """The distance between neighbours if it is the same throughout; 0 otherwise."""
    distances = {later - earlier for earlier, later in pairwise(values)}
    return distances.pop() if len(distances) == 1 else 0


def _fills_the_hour(minutes: Sequence[int]) -> bool:
    return _step(minutes) * len(minutes) == MINUTE.high + 1


def _ranges(values: Sequence[int], name: Callable[[int], str]) -> list[str]:
    """Each value by name, three or more in a row as `first to last`."""
    rows: list[list[int]] = []
    for value in sorted(values):
        if rows and rows[-1][-1] == value - 1:
            rows[-1].append(value)
        else:
            rows.append([value])
    named = []
    for row in rows:
        named += [f"{name(row[0])} to {name(row[-1])}"] if len(row) > 2 else [name(value) for value in row]
    return named


def _joined(parts: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _interval(step: int, unit: str) -> str:
    return f"every {unit}" if step == 1 else f"every {step} {unit}s"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _clock(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def _month(number: int) -> str:
    return _MONTHS[number - 1]


def _ordinal(number: int) -> str:
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
