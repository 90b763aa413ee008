"""The answers of the published prescaler operator, which makes the warm-up CronJobs of PreScaledCronJobs."""

from __future__ import annotations

import re

import msgspec

from foretop_core.cron import CronError, Dialect, go_stdlib, parse
from foretop_core.errors import BadInput


class PrescalerError(BadInput):
    """A schedule that the operator refuses."""


_STEPPED = re.compile(r"(\*|[^*,/-]+)/([^,/-]+)")
_RANGE = re.compile(r"([^,/-]+)-([^,/-]+)")
_UNTOUCHED = ["*", "*", "*"]


class PrescalerAnswer(msgspec.Struct, frozen=True):
    """The operator's primed schedule."""

    expression: str
    undocumented: str = ""
    """Why its own document promises no such answer; "" where it does."""


def prescaler(text: str, minutes: int) -> PrescalerAnswer:
    """Primes as the operator does; raises PrescalerError for everything that it refuses."""
    _check(text, "the schedule does not parse")
    parts = text.split(" ")
    if is_always_warm(text):
        raise PrescalerError("a schedule that runs every minute is always warm")
    starts = [_minute(value) for value in _listed_minutes(parts[0])]
    warm = [start - minutes if start >= minutes else start - minutes + 60 for start in starts]
    negative = any(start < minutes for start in starts)
    several = len(starts) > 1
    if negative and several and parts[1] != "*":
        raise PrescalerError("the prescaler cannot shift an hour when there are several minutes")
    if negative and not several:
        parts[1] = _hour_before(parts)
    primed = " ".join([",".join(map(str, warm)), *parts[1:]])
    _check(primed, f"the prescaler's own answer ({primed}) does not parse")
    return PrescalerAnswer(primed, _undocumented(text.split(" "), several) if negative else "")


def _undocumented(parts: list[str], several: bool) -> str:
    if several and parts[1:5] != ["*", *_UNTOUCHED]:
        return "a list of minutes that goes below zero is documented only for x * * * *"
    if parts[2:5] != _UNTOUCHED:
        return "minutes that go below zero are documented only where day, month and weekday are not set"
    return ""


def is_always_warm(text: str) -> bool:
    """True if the operator takes it for a schedule that runs every minute."""
    return text.split(" ")[0] == "*"


def _hour_before(parts: list[str]) -> str:
    hour = parts[1]
    if hour != "*":
        try:
            number = go_stdlib.atoi(hour)
        except go_stdlib.GoError as error:
            raise PrescalerError("the prescaler can only shift a plain hour") from error
        if number > 0:
            return str(number - 1)
    if parts[2:5] != _UNTOUCHED:
        raise PrescalerError("the prescaler cannot shift day, month or weekday")
    return hour if hour == "*" else "23"


def _listed_minutes(field: str) -> list[str]:
    """The minute field as a list; the operator expands a step or a range only if it is the whole field."""
    if "/" in field:
        stepped = _STEPPED.fullmatch(field)
        if stepped is None:
            raise PrescalerError("the prescaler cannot split a step inside a list or a range")
        start = 0 if stepped[1] == "*" else _minute(stepped[1])
        return [str(value) for value in range(start, 60, _minute(stepped[2]))]
    if "-" in field:
        spanned = _RANGE.fullmatch(field)
        if spanned is None:
            raise PrescalerError("the prescaler cannot split a range inside a list")
        return [str(value) for value in range(_minute(spanned[1]), _minute(spanned[2]) + 1)]
    return field.split(",")


def _minute(text: str) -> int:
    try:
        return go_stdlib.atoi(text)
    except go_stdlib.GoError as error:
        raise PrescalerError("the prescaler reads only plain numbers in the minute field") from error


def _check(text: str, what: str) -> None:
    try:
        parse(text, Dialect.ROBFIG)
    except CronError as error:
        raise PrescalerError(what, str(error)) from error
