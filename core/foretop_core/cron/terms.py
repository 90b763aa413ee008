"""The parser of one field: terms such as `*/15`, `9-17` or `mon-fri`, turned into a bit set."""

from __future__ import annotations

from foretop_core.cron.dialect_rules import Grammar
from foretop_core.cron.fields import Bounds
from foretop_core.cron.go_compat import GoError, atoi, lower


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
    offset = next((place for place, char in enumerate(text) if char in bounds.reserved), None)
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
    return sum(1 << _wrapped(value, bounds) for value in around)


def _unwrapped(start: int, end: int, bounds: Bounds) -> int:
    """The end of a range as if the field continued: hour 2 in `22-2` is hour 26."""
    return end if start <= end else end + bounds.size


def _wrapped(value: int, bounds: Bounds) -> int:
    return bounds.low + (value - bounds.low) % bounds.size
