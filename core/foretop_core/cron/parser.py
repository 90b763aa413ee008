"""The parser from text to schedule, with the checks in the library's own order."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from foretop_core.cron import go_compat, zone_prefix
from foretop_core.cron.dialect import Dialect
from foretop_core.cron.dialect_rules import GRAMMARS, Grammar
from foretop_core.cron.errors import LONGEST, CronError
from foretop_core.cron.fields import ALL_BOUNDS, DOW, Fields
from foretop_core.cron.schedule import CronSchedule
from foretop_core.cron.terms import TermError, parse_field

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
    """Parse an expression as a library does; raises CronError with the library's own message.

    One of more than `LONGEST` characters is not looked at: it would hold up everything else for seconds.
    """
    grammar = GRAMMARS[dialect]
    if not text:
        raise grammar.refusal("empty spec string")
    if grammar.longest is not None and (length := go_compat.length(text)) > grammar.longest:
        raise CronError(f"spec too long: {length} > {grammar.longest}", is_too_long=True)
    if len(text) > LONGEST:
        what = f"too long: {len(text):,} characters, and foretop reads {LONGEST:,} at most"
        raise CronError(what, is_too_long=True)
    zone: tzinfo | None = None
    body = text
    if grammar.zone is not None and text.startswith(zone_prefix.NAMES):
        zone, body = grammar.zone(text)
    every, fields = None, None
    if not body.startswith("@"):
        fields = _fields(text, body, go_compat.fields(body), grammar)
    elif body in _DESCRIPTORS:
        fields = _fields(text, body, _DESCRIPTORS[body].split(), grammar)
    elif body not in grammar.never:
        every = _delay(text, body, grammar)
    return CronSchedule(text, dialect, zone, every, fields)


def _delay(text: str, body: str, grammar: Grammar) -> timedelta:
    if not body.startswith(_EVERY):
        raise grammar.refusal(f"unrecognized descriptor: {grammar.cited(body)}", offset=text.index("@"))
    offset = text.index(_EVERY) + len(_EVERY)
    try:
        nanoseconds = go_compat.parse_duration(body[len(_EVERY) :])
    except go_compat.GoError as error:
        raise grammar.refusal(f"failed to parse duration {grammar.cited(body)}: {error}", offset=offset) from error
    if grammar.refuses_short_delays and nanoseconds < _NANOSECONDS:
        raise grammar.refusal(f"@every duration must be at least 1s: {grammar.cited(body)}", offset=offset)
    return timedelta(seconds=max(1, nanoseconds // _NANOSECONDS))


def _fields(text: str, body: str, parts: list[str], grammar: Grammar) -> Fields:
    if len(parts) != len(ALL_BOUNDS):
        cited = body if grammar.counts_as_written else f"[{' '.join(parts)}]"
        raise grammar.refusal(f"expected exactly 5 fields, found {len(parts)}: {cited}")
    if grammar.hashes_reserved and "H" in body:
        _refuse_hashes(text, parts, grammar)
    found: dict[int, tuple[int, bool]] = {}
    for index in grammar.order:
        try:
            found[index] = parse_field(parts[index], grammar.bounds[index], grammar)
        except TermError as error:
            raise grammar.refusal(error.text, index, _offset(text, index) + error.offset) from error
    (minute, _), (hour, _), (dom, dom_star), (month, _), (dow, dow_star) = (found[index] for index in sorted(found))
    either_day = not (grammar.both_days or dom_star or dow_star)
    # Where 7 is also Sunday, it is merged with 0.
    return Fields(minute, hour, dom, month, (dow | dow >> 7) & DOW.full, either_day)


def _refuse_hashes(text: str, parts: list[str], grammar: Grammar) -> None:
    for index, part in enumerate(parts):
        # A comma is put before the text, so that the first item is found like any other.
        place = f",{part}".find(",H")
        if place >= 0:
            what = "h expressions require hash option to be enabled"
            raise grammar.refusal(what, index, _offset(text, index) + place)


def _offset(text: str, index: int) -> int:
    """The offset of a field: the fields are the last five words, whatever zone precedes them."""
    return go_compat.field_offsets(text)[index - len(ALL_BOUNDS)]
