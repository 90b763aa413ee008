"""Validation of user input before anything is planned. Each error says what is wrong and where."""

from __future__ import annotations

import re
from collections.abc import Iterable

from foretop_core.cron import CronError, CronSchedule, Dialect, parse, quoted
from foretop_core.cron.go_stdlib import GoError, parse_duration
from foretop_core.errors import BadInput

_FIELDS = ("minute", "hour", "day of month", "month", "day of week")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DAYS = re.compile(r"([0-9]{1,6})d")
_LONGEST_NAME, _LONGEST_LABEL = 253, 63


def cron(text: str, dialect: Dialect) -> CronSchedule:
    try:
        return parse(text, dialect)
    except CronError as problem:
        where = "" if problem.field is None else f" in the field {_FIELDS[problem.field]}"
        place = "" if problem.offset is None else f", at character {problem.offset + 1}"
        raise BadInput(f"{quoted(text)} is not a valid schedule{where}{place}", str(problem)) from None


def comma_separated(text: str) -> tuple[str, ...]:
    """`orders, ledger`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def go_duration(text: str, what: str) -> str:
    """A duration as Go reads it, such as `720h` or `1h30m`; handed on as it was written."""
    try:
        length = parse_duration(text)
    except GoError as problem:
        raise BadInput(f"{what} {text!r} is not a valid duration", str(problem), "write it as 720h or 1h30m") from None
    if length < 0:
        raise BadInput(f"{what} {text!r} is not a valid duration", "it is negative", "write it as 720h or 1h30m")
    return text


def days_in_hours(text: str) -> str:
    """`30d` as `720h`: people count in days, and Go's durations have none."""
    days = _DAYS.match(text)
    return text if days is None else f"{24 * int(days[1])}h{text[days.end() :]}"


def name(text: str, what: str) -> str:
    if len(text) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(text):
        return text
    raise BadInput(f"{text!r} is not a valid name for a {what}", "lowercase letters, digits, - and . only, 253 at most")


def namespaces(names: Iterable[str]) -> tuple[str, ...]:
    """Names of namespaces; Velero also takes patterns."""
    chosen = tuple(names)
    for namespace in chosen:
        plain = namespace.replace("*", "x").replace("?", "x")
        if len(namespace) > _LONGEST_LABEL or not _LABEL.fullmatch(plain):
            raise BadInput(
                f"{namespace!r} is not a valid namespace name", "lowercase letters, digits and - only, 63 at most"
            )
    return chosen
