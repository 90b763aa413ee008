"""From text to schedule, check by check in the order in which Velero's library makes them."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from foretop_core.cron import golang, zones
from foretop_core.cron.dialect import Dialect
from foretop_core.cron.errors import CronError
from foretop_core.cron.fields import ALL_BOUNDS, Fields, TermError, parse_field
from foretop_core.cron.schedule import CronSchedule

_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_NANOSECONDS = 1_000_000_000


def parse(text: str, dialect: Dialect) -> CronSchedule:
    """Read an expression; raises CronError with the library's own words."""
    if not text:
        raise CronError("empty spec string")
    zone: tzinfo | None = None
    body = text
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, body = _zone_and_rest(text)
    if body.startswith("@"):
        return _descriptor(text, body, zone)
    return CronSchedule(text, zone, None, _fields(text, golang.fields(body)))


def _zone_and_rest(text: str) -> tuple[tzinfo | None, str]:
    begin = text.index("=") + 1
    end = text.find(" ")
    if end < 0:
        # The library slices without looking; Velero catches the panic and reports its text.
        raise CronError("runtime error: slice bounds out of range [:-1]", offset=begin)
    name = text[begin:end]
    try:
        zone = zones.load(name)
    except golang.GoError as error:
        raise CronError(f"provided bad location {name}: {error}", offset=begin) from error
    return zone, golang.trim(text[end:])


def _descriptor(text: str, body: str, zone: tzinfo | None) -> CronSchedule:
    if body in _DESCRIPTORS:
        return CronSchedule(text, zone, None, _fields(text, _DESCRIPTORS[body].split()))
    if not body.startswith(_EVERY):
        raise CronError(f"unrecognized descriptor: {body}", offset=text.index("@"))
    try:
        nanoseconds = golang.parse_duration(body[len(_EVERY) :])
    except golang.GoError as error:
        offset = text.index(_EVERY) + len(_EVERY)
        raise CronError(f"failed to parse duration {body}: {error}", offset=offset) from error
    return CronSchedule(text, zone, timedelta(seconds=max(1, nanoseconds // _NANOSECONDS)), None)


def _fields(text: str, parts: list[str]) -> Fields:
    if len(parts) != len(ALL_BOUNDS):
        listed = " ".join(parts)
        raise CronError(f"expected exactly 5 fields, found {len(parts)}: [{listed}]")
    found: list[tuple[int, bool]] = []
    for index, bounds in enumerate(ALL_BOUNDS):
        try:
            found.append(parse_field(parts[index], bounds))
        except TermError as error:
            # The fields are the last five words, whatever zone stands before them.
            offset = golang.field_offsets(text)[index - len(ALL_BOUNDS)] + error.offset
            raise CronError(error.text, index, offset) from error
    (minute, _), (hour, _), (dom, dom_star), (month, _), (dow, dow_star) = found
    return Fields(minute, hour, dom, month, dow, dom_star, dow_star)
