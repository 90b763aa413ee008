"""Statements read back from the text of a surface: a span of times or numbers, or the words that it may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WORDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_SLACK = 1.0
"""Places cut a moment to whole seconds, some the moment and some what is left until then."""
_FAR = float("inf")
CLOCK = r"(?:\d{1,2} [A-Z][a-z]{2} (?:\d{4} )?)?\d\d:\d\d(?::\d\d)?Z"
"""A moment in a sentence: `02:30:00Z`, `12 Nov 02:30Z`, `12 Nov 2025 02:30Z`."""
SHORT = r"(?:\d+[smhd])+"
"""A length in a cell: `20s`, `1h41m`, `3d`."""
LONG = r"\d[\d,]* (?:second|minute|hour|day)s?(?: and \d+ (?:second|minute|hour)s?)?"
"""A length in a sentence: `2 hours and 10 minutes`."""
_CLOCK_PARTS = re.compile(r"(?:(\d{1,2}) ([A-Z][a-z]{2}) (?:(\d{4}) )?)?(\d\d):(\d\d)(?::(\d\d))?Z")


class Span(msgspec.Struct, frozen=True):
    """A number, or a moment in seconds, that lies between two values."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{_told(self.low)} … {_told(self.high)}"


Statement = Span | frozenset[str]


def contradict(one: Statement, other: Statement) -> bool:
    """Whether both cannot be true; a span and a word are about different things, which is a fault of a reader."""
    if isinstance(one, Span) and isinstance(other, Span):
        return one.low > other.high + _SLACK or other.low > one.high + _SLACK
    if isinstance(one, Span) or isinstance(other, Span):
        raise TypeError(f"{one} and {other} cannot be compared")
    return one.isdisjoint(other)


def word(*any_of: object) -> Statement:
    return frozenset(map(str, any_of))


def number(value: float) -> Span:
    return Span(value * 10, value * 10)


def share(percent: float) -> Span:
    """A percentage that was cut to whole ones."""
    return Span(percent, percent + 1)


_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SIZE = r"\d+(?:\.\d)? (?:B|kB|MB|GB|TB)"
"""Bytes in a cell or a sentence: `96.0 GB`, `108 GB`."""


def size(text: str) -> Span:
    """Rounded bytes."""
    count, unit = text.split()
    least = _BYTES[unit] * (0.05 if "." in count else 0.5)
    return Span(float(count) * _BYTES[unit] - least, float(count) * _BYTES[unit] + least)


def exactly(amount: float) -> Span:
    return Span(amount, amount)


def at(moment: datetime | str) -> Span:
    """A moment that JSON or a metric has to the second."""
    found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return Span(found.timestamp(), found.timestamp())


def not_before(moment: datetime) -> Span:
    return Span(moment.timestamp(), _FAR)


def clock(text: str, now: datetime) -> Span:
    """A moment from a sentence; without a day it is one of today."""
    parts = _CLOCK_PARTS.fullmatch(text)
    assert parts is not None, text
    day, month, year, hour, minute, second = parts.groups()
    found = now.replace(hour=int(hour), minute=int(minute), second=int(second or 0), microsecond=0)
    if day:
        found = found.replace(year=int(year or now.year), month=_MONTHS.index(month) + 1, day=int(day))
    return Span(found.timestamp(), found.timestamp() + (0 if second else 59))


def estimated(text: str, now: datetime) -> Span:
    """An estimate from a sentence, to the nearest minute."""
    found = clock(text, now).low
    return Span(found - 30, found + 30)


def rounded_minute(text: str, now: datetime) -> Span:
    """An estimate to the minute, `02:33`: the nearest moment of that time of day."""
    hour, minute = map(int, text.split(":"))
    found = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    near = min((found + timedelta(days=days) for days in (-1, 0, 1)), key=lambda one: abs(one - now))
    return Span(near.timestamp() - 30, near.timestamp() + 30)


def length(text: str) -> tuple[float, float]:
    """The shortest and the longest length that a cell means."""
    parts = [(int(count), _UNITS[unit]) for count, unit in re.findall(r"(\d+)([smhd])", text)]
    seconds = float(sum(count * unit for count, unit in parts))
    unit = 1 if seconds < 60 else 60 if seconds < 86400 else 3600 if seconds < 2 * 86400 else 86400
    return seconds or -_FAR, seconds + unit


def long_length(text: str) -> tuple[float, float]:
    parts = re.findall(r"(\d[\d,]*) (second|minute|hour|day)", text)
    seconds = float(sum(int(count.replace(",", "")) * _WORDS[unit] for count, unit in parts))
    unit = 1 if seconds < 120 else 60 if seconds < 86400 else 3600 if seconds < 2 * 86400 else 86400
    return seconds or -_FAR, seconds + unit


def until(text: str, now: datetime) -> Span:
    low, high = length(text) if re.fullmatch(SHORT, text) else long_length(text)
    return Span(now.timestamp() + low, now.timestamp() + high)


def ago(text: str, now: datetime) -> Span:
    low, high = length(text) if re.fullmatch(SHORT, text) else long_length(text)
    return Span(now.timestamp() - high, now.timestamp() - low)


def find(pattern: str, text: str) -> str | None:
    """The first group of the first match."""
    found = re.search(pattern, text)
    return found[1] if found else None


def find_all(pattern: str, text: str) -> Iterable[re.Match[str]]:
    return re.finditer(pattern, text, re.MULTILINE)


def _told(value: float) -> str:
    if abs(value) == _FAR:
        return "any"
    return f"{datetime.fromtimestamp(value).astimezone():%d %b %H:%M:%S}" if value > 1e8 else f"{value:g}"
