"""One field of an expression: terms such as `*/15`, `9-17` or `mon-fri`, turned into a set of bits."""

from __future__ import annotations

from dataclasses import dataclass

from foretop_core.cron.golang import GoError, atoi, lower

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a field may hold."""

    low: int
    high: int
    names: dict[str, int]

    @property
    def full(self) -> int:
        return (2 << self.high) - (1 << self.low)


MINUTE = Bounds(0, 59, {})
HOUR = Bounds(0, 23, {})
DOM = Bounds(1, 31, {})
MONTH = Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)})
DOW = Bounds(0, 6, {name: number for number, name in enumerate(_WEEKDAYS)})
ALL_BOUNDS = (MINUTE, HOUR, DOM, MONTH, DOW)


@dataclass(frozen=True, slots=True)
class Fields:
    """The five fields as bit sets (bit n = value n; Sunday is 0), and whether a day field is starred."""

    minute: int
    hour: int
    dom: int
    month: int
    dow: int
    dom_star: bool
    dow_star: bool


class TermError(Exception):
    """A term that does not parse, and how far into its field it begins."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.text = text
        self.offset = offset


def parse_field(text: str, bounds: Bounds) -> tuple[int, bool]:
    """The bits of a field and whether it counts as starred; empty list items are dropped."""
    if text == "*":
        return bounds.full, True
    bits, starred = 0, False
    offset = 0
    for term in text.split(","):
        if term:
            try:
                term_bits, term_starred = _term(term, bounds)
            except GoError as error:
                raise TermError(str(error), offset) from error
            bits |= term_bits
            starred |= term_starred
        offset += len(term) + 1
    return bits, starred


def _term(term: str, bounds: Bounds) -> tuple[int, bool]:
    span, *steps = term.split("/")
    low, *highs = span.split("-")
    starred = low in ("*", "?")
    if starred:
        start, end = bounds.low, bounds.high
    else:
        start, end = _ends(term, low, highs, bounds)
    step = 1
    if len(steps) > 1:
        raise GoError(f"too many slashes: {term}")
    if steps:
        step = _integer(steps[0])
        if not highs:
            end = bounds.high
    _check(term, start, end, step, bounds)
    if step == 1:
        return (2 << end) - (1 << start), starred
    return sum(1 << value for value in range(start, end + 1, step)), False


def _ends(term: str, low: str, highs: list[str], bounds: Bounds) -> tuple[int, int]:
    start = _value(low, bounds)
    if len(highs) > 1:
        raise GoError(f"too many hyphens: {term}")
    return start, _value(highs[0], bounds) if highs else start


def _value(text: str, bounds: Bounds) -> int:
    if bounds.names:
        named = bounds.names.get(lower(text))
        if named is not None:
            return named
    return _integer(text)


def _integer(text: str) -> int:
    try:
        number = atoi(text)
    except GoError as error:
        raise GoError(f"failed to parse int from {text}: {error}") from error
    if number < 0:
        raise GoError(f"negative number ({number}) not allowed: {text}")
    return number


def _check(term: str, start: int, end: int, step: int, bounds: Bounds) -> None:
    if start < bounds.low:
        raise GoError(f"beginning of range ({start}) below minimum ({bounds.low}): {term}")
    if end > bounds.high:
        raise GoError(f"end of range ({end}) above maximum ({bounds.high}): {term}")
    if start > end:
        raise GoError(f"beginning of range ({start}) beyond end of range ({end}): {term}")
    if step == 0:
        raise GoError(f"step of range should be a positive number: {term}")
