"""Runs as bits, a minute each, of the years 2021 to 2028 in UTC; the answers of the published prescaler operator."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect, Fields, go_stdlib, parse
from foretop_core.cron.wall_clock_calendar import day_masks, first_weekday, month_length
from foretop_core.errors import BadInput

FIRST_DAY = date(2021, 1, 1)
LAST_DAY = date(2028, 12, 31)
MINUTES_A_DAY = 1440
_DAY_BYTES = MINUTES_A_DAY // 8


def minutes_of_day(fields: Fields) -> int:
    """The minutes of a day that match both time fields, as 1440 bits."""
    hours = sum(1 << (60 * hour) for hour in range(24) if fields.hour >> hour & 1)
    return fields.minute * hours


def missed_and_extra(runs: Fields, primed: Iterable[Fields], minutes: int) -> tuple[int, int]:
    """The number of missing warm-ups within the years, and of warm-ups without a run that many minutes later."""
    later_days = -(-minutes // MINUTES_A_DAY)
    wanted = _bits(runs, later_days) >> minutes
    # A run outside the years does not count as missed, and a warm-up for it does not count as extra.
    wanted_within = (_bits(runs, 0)) >> minutes
    made = 0
    for fields in primed:
        made |= _bits(fields, 0)
    return (wanted_within & ~made).bit_count(), (made & ~wanted).bit_count()


def _bits(fields: Fields, days_after: int) -> int:
    """The runs up to the end of the year in which those days after the last one end."""
    busy = minutes_of_day(fields).to_bytes(_DAY_BYTES, "little")
    idle = bytes(_DAY_BYTES)
    masks = day_masks(fields)
    days: list[bytes] = []
    for year in range(FIRST_DAY.year, (LAST_DAY + timedelta(days=days_after)).year + 1):
        for month in range(1, 13):
            dates = masks[first_weekday(year, month)] if fields.month >> month & 1 else 0
            length = month_length(year, month)
            days += [busy if dates >> day & 1 else idle for day in range(1, length + 1)]
    return int.from_bytes(b"".join(days), "little")


class PrimerError(BadInput):
    """A schedule without a primed schedule."""


_STEPPED = re.compile(r"(\*|[^*,/-]+)/([^,/-]+)")
_RANGE = re.compile(r"([^,/-]+)-([^,/-]+)")
_UNTOUCHED = ["*", "*", "*"]


class PrescalerVerdict(msgspec.Struct, frozen=True):
    """The operator's answer to a schedule, that of its own document, and the cost."""

    supported: bool
    documented: bool
    expression: str | None
    reason: str
    missed_in_8_years: int = 0
    extra_in_8_years: int = 0


class _Answer(msgspec.Struct, frozen=True):
    expression: str
    negative: bool
    several: bool
    parts: list[str]


def prescaler(text: str, minutes: int) -> str:
    """The operator's primed schedule; raises PrimerError for everything that it refuses."""
    return _answer(text, minutes).expression


def prescaler_verdict(text: str, minutes: int, dialect: Dialect) -> PrescalerVerdict:
    """The operator's answer, compared with its own document and with the runs of a server of this dialect."""
    try:
        answer = _answer(text, minutes)
    except PrimerError as error:
        return PrescalerVerdict(supported=False, documented=False, expression=None, reason=str(error))
    against = _against_the_server(text, dialect) or _against_the_document(answer)
    if not against:
        return PrescalerVerdict(supported=True, documented=True, expression=answer.expression, reason="")
    missed, extra = missed_and_extra(parse(text, dialect).fields, [_read(answer.expression).fields], minutes)
    reason = f"{against}; in eight years it misses {missed} warm-ups and makes {extra} unneeded ones"
    return PrescalerVerdict(True, False, answer.expression, reason, missed, extra)


def _against_the_server(text: str, dialect: Dialect) -> str:
    """The operator reads a schedule as Kubernetes reads a CronJob, whatever server the schedule is for."""
    if day_masks(parse(text, dialect).fields) == day_masks(_read(text).fields):
        return ""
    return "the operator reads the two day fields as Kubernetes does, but this Velero does not"


def _against_the_document(answer: _Answer) -> str:
    if not answer.negative:
        return ""
    if answer.several and answer.parts[1:5] != ["*", *_UNTOUCHED]:
        return "a list of minutes that goes below zero is documented only for x * * * *"
    if answer.parts[2:5] != _UNTOUCHED:
        return "minutes that go below zero are documented only where day, month and weekday are not set"
    return ""


def _answer(text: str, minutes: int) -> _Answer:
    _check(text, "the schedule does not parse")
    parts = text.split(" ")
    if is_always_warm(text):
        raise PrimerError("a schedule that runs every minute is always warm")
    starts = [_minute(value) for value in _listed_minutes(parts[0])]
    warm = [start - minutes if start >= minutes else start - minutes + 60 for start in starts]
    negative = any(start < minutes for start in starts)
    several = len(starts) > 1
    if negative and several and parts[1] != "*":
        raise PrimerError("the prescaler cannot shift an hour when there are several minutes")
    if negative and not several:
        parts[1] = _hour_before(parts)
    primed = " ".join([",".join(map(str, warm)), *parts[1:]])
    _check(primed, f"the prescaler's own answer ({primed}) does not parse")
    return _Answer(primed, negative, several, text.split(" "))


def is_always_warm(text: str) -> bool:
    """True if the operator takes it for a schedule that runs every minute."""
    return text.split(" ")[0] == "*"


def _hour_before(parts: list[str]) -> str:
    hour = parts[1]
    if hour != "*":
        try:
            number = go_stdlib.atoi(hour)
        except go_stdlib.GoError as error:
            raise PrimerError("the prescaler can only shift a plain hour") from error
        if number > 0:
            return str(number - 1)
    if parts[2:5] != _UNTOUCHED:
        raise PrimerError("the prescaler cannot shift day, month or weekday")
    return hour if hour == "*" else "23"


def _listed_minutes(field: str) -> list[str]:
    """The minute field as a list; the operator expands a step or a range only if it is the whole field."""
    if "/" in field:
        stepped = _STEPPED.fullmatch(field)
        if stepped is None:
            raise PrimerError("the prescaler cannot split a step inside a list or a range")
        start = 0 if stepped[1] == "*" else _minute(stepped[1])
        return [str(value) for value in range(start, 60, _minute(stepped[2]))]
    if "-" in field:
        spanned = _RANGE.fullmatch(field)
        if spanned is None:
            raise PrimerError("the prescaler cannot split a range inside a list")
        return [str(value) for value in range(_minute(spanned[1]), _minute(spanned[2]) + 1)]
    return field.split(",")


def _minute(text: str) -> int:
    try:
        return go_stdlib.atoi(text)
    except go_stdlib.GoError as error:
        raise PrimerError("the prescaler reads only plain numbers in the minute field") from error


def _read(text: str) -> CronSchedule:
    """The expression as the operator and its CronJobs read it."""
    return parse(text, Dialect.ROBFIG)


def _check(text: str, what: str) -> None:
    try:
        _read(text)
    except CronError as error:
        raise PrimerError(what, str(error)) from error
