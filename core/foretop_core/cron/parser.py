"""The parser from text to schedule, field by field, with the checks in the library's own order."""

from __future__ import annotations

from datetime import timedelta, tzinfo

from foretop_core.cron import go_stdlib
from foretop_core.cron.dialect_rules import GRAMMARS, LONGEST, ZONE_PREFIXES, CronError, Dialect, Grammar
from foretop_core.cron.fields import ALL_BOUNDS, DOW, Bounds, Fields
from foretop_core.cron.go_stdlib import GoError, atoi, lower
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
    """Parse an expression as a library does; raises CronError with the library's own message.

    One of more than `LONGEST` characters is not looked at: it would hold up everything else for seconds.
    """
    grammar = GRAMMARS[dialect]
    if not text:
        raise grammar.refusal("empty spec string")
    if grammar.longest is not None and (length := go_stdlib.length(text)) > grammar.longest:
        raise CronError(f"spec too long: {length} > {grammar.longest}", is_too_long=True)
    if len(text) > LONGEST:
        what = f"too long: {len(text):,} characters, and foretop reads {LONGEST:,} at most"
        raise CronError(what, is_too_long=True)
    zone: tzinfo | None = None
    body = text
    if grammar.zone is not None and text.startswith(ZONE_PREFIXES):
        zone, body = grammar.zone(text)
    every, fields = None, None
    if not body.startswith("@"):
        fields = _fields(text, body, go_stdlib.fields(body), grammar)
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
        nanoseconds = go_stdlib.parse_duration(body[len(_EVERY) :])
    except go_stdlib.GoError as error:
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
        found_at = f",{part}".find(",H")
        if found_at >= 0:
            what = "h expressions require hash option to be enabled"
            raise grammar.refusal(what, index, _offset(text, index) + found_at)


def _offset(text: str, index: int) -> int:
    """The offset of a field: the fields are the last five words, whatever zone precedes them."""
    return go_stdlib.field_offsets(text)[index - len(ALL_BOUNDS)]


class TermError(Exception):
    """A term that does not parse, with its offset in the field."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.text = text
        self.offset = offset


def parse_field(text: str, bounds: Bounds, grammar: Grammar) -> tuple[int, bool]:
    """The bits of a field and whether it counts as starred; empty list items are ignored."""
    if text == "*":
        return bounds.full, True
    if bounds.reserved:
        _refuse_reserved(text, bounds)
    bits, starred = 0, False
    offset = 0
    for term in text.split(","):
        if term:
            try:
                term_bits, term_starred = _term(term, bounds, grammar)
            except GoError as error:
                raise TermError(str(error), offset) from error
            bits |= term_bits
            starred |= term_starred
        offset += len(term) + 1
    return bits, starred


def _refuse_reserved(text: str, bounds: Bounds) -> None:
    offset = next((index for index, char in enumerate(text) if char in bounds.reserved), None)
    if offset is not None:
        raise TermError(bounds.refusal, offset)


def _term(term: str, bounds: Bounds, grammar: Grammar) -> tuple[int, bool]:
    span, *steps = term.split("/")
    low, *highs = span.split("-")
    starred = low in ("*", "?")
    if starred:
        start, end = bounds.low, bounds.high
    elif len(highs) > 1:
        start, end = _too_many_hyphens(term, low, bounds, grammar)
    else:
        start = _value(low, bounds, grammar)
        end = _value(highs[0], bounds, grammar) if highs else start
    step = 1
    if len(steps) > 1:
        raise GoError(f"too many slashes: {grammar.cited(term)}")
    if steps:
        step = _integer(steps[0], grammar)
        if not highs:
            end = bounds.high
    _check(term, start, end, step, bounds, grammar)
    return _bits(start, end, step, bounds), starred and (step == 1 or grammar.steps_keep_stars)


def _too_many_hyphens(term: str, low: str, bounds: Bounds, grammar: Grammar) -> tuple[int, int]:
    # The text before the first hyphen is parsed, and refused, before the hyphens are counted.
    _value(low, bounds, grammar)
    culprit = term.split("/")[0] if grammar.hyphens_without_step else term
    raise GoError(f"too many hyphens: {grammar.cited(culprit)}")


def _value(text: str, bounds: Bounds, grammar: Grammar) -> int:
    if bounds.names:
        named = bounds.names.get(lower(text))
        if named is not None:
            return named
    return _integer(text, grammar)


def _integer(text: str, grammar: Grammar) -> int:
    try:
        number = atoi(text)
    except GoError as error:
        raise GoError(f"failed to parse int from {grammar.cited(text)}: {error}") from error
    if number < 0:
        raise GoError(f"negative number ({number}) not allowed: {grammar.cited(text)}")
    return number


def _check(term: str, start: int, end: int, step: int, bounds: Bounds, grammar: Grammar) -> None:
    if start < bounds.low:
        raise GoError(f"beginning of range ({start}) below minimum ({bounds.low}): {grammar.cited(term)}")
    if end > bounds.high:
        raise GoError(f"end of range ({end}) above maximum ({bounds.high}): {grammar.cited(term)}")
    if start > end and not grammar.wraps:
        raise GoError(f"beginning of range ({start}) beyond end of range ({end}): {grammar.cited(term)}")
    if step == 0:
        raise GoError(f"step of range {grammar.step_modal} be a positive number: {grammar.cited(term)}")
    if grammar.steps_within_range and step > 1:
        size = _unwrapped(start, end, bounds) - start + 1
        # A range that begins far above the maximum has a negative size, which is huge when unsigned.
        if 0 <= size <= step:
            raise GoError(f"step ({step}) must be less than range size ({size}): {grammar.cited(term)}")


def _bits(start: int, end: int, step: int, bounds: Bounds) -> int:
    around = range(start, _unwrapped(start, end, bounds) + 1, step)
    return sum(1 << (bounds.low + (value - bounds.low) % bounds.size) for value in around)


def _unwrapped(start: int, end: int, bounds: Bounds) -> int:
    """The end of a range as if the field continued: hour 2 in `22-2` is hour 26."""
    return end if start <= end else end + bounds.size
