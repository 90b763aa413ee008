"""The cron libraries that servers are built with, and by name what each does differently: one engine reads them all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from enum import Enum

import msgspec
from msgspec.structs import replace

from foretop_core.cron import go_stdlib, zones
from foretop_core.cron.fields import ALL_BOUNDS, DOM, DOW, HOUR, MINUTE, MONTH, Bounds
from foretop_core.cron.go_stdlib import quote
from foretop_core.errors import BadInput
from foretop_core.foreign_text import without_signs


class Dialect(Enum):
    """One library's reading of expressions; the value is the library and the measured version."""

    ROBFIG1 = "robfig/cron v1.1.0"
    ROBFIG = "robfig/cron v3.0.1"
    NETRESEARCH = "netresearch/go-cron v0.15.0"


class CronError(BadInput):
    """An expression that does not parse; `str()` is the library's own text, including its blanks.

    `field` (0 to 4) and `offset` (characters into the expression) locate the error where there is one; `is_too_long`
    tells that nobody has looked at more than its length, a library or foretop itself.
    """

    def __init__(
        self, text: str, field: int | None = None, offset: int | None = None, *, is_too_long: bool = False
    ) -> None:
        super().__init__(text)
        self.is_too_long = is_too_long
        self.field = field
        self.offset = offset

    def __str__(self) -> str:
        return self.what


LONGEST = 4096
"""Characters of an expression that are read; one with every value of every field written out has 400."""
_SHOWN = 40


def shown(text: str) -> str:
    """An expression for a column or a line; of one that is too long the beginning, and that it is."""
    return text if len(text) <= LONGEST else f"{text[:_SHOWN]}… (too long: {len(text):,} characters)"


def quoted(text: str) -> str:
    """An expression for a sentence; of one that is too long the beginning, so that the sentence can be read."""
    shown = without_signs(repr(text if len(text) <= LONGEST else text[:_SHOWN]))
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters)"


ZONE_PREFIXES = ("TZ=", "CRON_TZ=")

_LONGEST_NAME = 64
_NAME_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_-+:")


def parse_robfig_prefix(text: str) -> tuple[tzinfo | None, str]:
    """The zone, up to the first space, and the rest."""
    begin = text.index("=") + 1
    name, space, rest = text[begin:].partition(" ")
    if not space:
        # The library slices without a check; Velero catches the panic and reports its message.
        raise CronError("runtime error: slice bounds out of range [:-1]", offset=begin)
    try:
        zone = zones.load(name)
    except go_stdlib.GoError as error:
        raise CronError(f"provided bad location {name}: {error}", offset=begin) from error
    return zone, go_stdlib.trim(rest)


def parse_netresearch_prefix(text: str) -> tuple[tzinfo | None, str]:
    """The zone, which may be quoted, and the rest, which must not be empty."""
    begin = text.index("=") + 1
    written, space, fields = text[begin:].partition(" ")
    if not space:
        raise CronError(f"missing fields after timezone in spec {go_stdlib.quote(text)}", offset=begin)
    quoted = len(written) > 1 and written[0] == written[-1] and written[0] in "\"'"
    name = written[1:-1] if quoted else written
    if problem := _name_error(name):
        raise CronError(f"invalid timezone {go_stdlib.quote(name)}: {problem}", offset=begin)
    try:
        zone = zones.load(name)
    except go_stdlib.GoError as error:
        raise CronError(f"unknown time zone {go_stdlib.quote(name)}: {error}", offset=begin) from error
    rest = go_stdlib.trim(fields)
    if not rest:
        raise CronError(f"missing fields after timezone {go_stdlib.quote(name)}", offset=begin)
    return zone, rest


def _name_error(name: str) -> str:
    if not name:
        return "empty timezone string"
    if go_stdlib.length(name) > _LONGEST_NAME:
        return f"timezone string too long (max {_LONGEST_NAME} chars)"
    for index, char in enumerate(name):
        if char not in _NAME_CHARACTERS:
            position = go_stdlib.length(name[:index])
            return f"invalid character {go_stdlib.quote_rune(char)} at position {position} in timezone"
    return ""


class Grammar(msgspec.Struct, frozen=True):
    """How one library reads an expression and searches for its runs; the defaults are those of robfig/cron v3."""

    bounds: tuple[Bounds, ...] = ALL_BOUNDS
    order: tuple[int, ...] = (0, 1, 2, 3, 4)
    """The order in which the fields are checked: the first invalid one is reported."""
    zone: Callable[[str], tuple[tzinfo | None, str]] | None = parse_robfig_prefix
    """The parser of `TZ=` and `CRON_TZ=`, if the library has one."""
    longest: int | None = None
    """The maximum number of bytes of an expression."""
    never: frozenset[str] = frozenset()
    """Descriptors of schedules that are only started manually."""
    hashes_reserved: bool = False
    """Whether a list item that begins with `H` is refused with its own message."""
    refuses_short_delays: bool = False
    """Whether `@every` below a second is refused; otherwise it becomes a second."""

    both_days: bool = False
    """Whether a day must always match both of its fields."""
    steps_keep_stars: bool = False
    """Whether `*/2` still counts as a star."""
    wraps: bool = False
    """Whether a range may wrap around the end of its field."""
    steps_within_range: bool = False
    """Whether a step must be smaller than its range."""

    capitals: bool = False
    """Whether errors begin with a capital letter."""
    quotes: bool = False
    """Whether errors quote what they cite."""
    step_modal: str = "should"
    hyphens_without_step: bool = False
    """Whether the error about hyphens omits the step behind them."""
    counts_as_written: bool = False
    """Whether the error about the number of fields quotes the text itself, and not the list of its fields."""

    resets_after_missing_midnight: bool = True
    """Whether a search by day returns to midnight after a midnight that the clocks skipped."""
    seconds_begin_search: bool = True
    """Whether a search that has advanced to a whole minute counts as begun, so that no field is reset any more."""
    runs_skipped_hours: bool = False
    """Whether the runs of a skipped hour are made in the hour after it."""

    def cited(self, text: str) -> str:
        return quote(text) if self.quotes else text

    def refusal(self, text: str, field: int | None = None, offset: int | None = None) -> CronError:
        """The error with this meaning, in the library's own style."""
        return CronError(text[:1].upper() + text[1:] if self.capitals else text, field, offset)


_ROBFIG = Grammar()
_ROBFIG1 = replace(
    _ROBFIG,
    zone=None,
    steps_keep_stars=True,
    capitals=True,
    counts_as_written=True,
    resets_after_missing_midnight=False,
)
_NETRESEARCH = replace(
    _ROBFIG,
    bounds=(
        MINUTE,
        HOUR,
        replace(
            DOM,
            reserved="LlWw",
            refusal="extended day-of-month syntax requires DomL option (for L, L-n) or DomW option (for nW, LW) "
            "to be enabled",
        ),
        MONTH,
        # 7 is Sunday again, so a whole week has eight values.
        replace(DOW, high=7, reserved="#", refusal="#n/#L syntax requires DowNth or DowLast option to be enabled"),
    ),
    order=(0, 1, 3, 2, 4),
    zone=parse_netresearch_prefix,
    longest=1024,
    never=frozenset(("@triggered", "@manual", "@none")),
    hashes_reserved=True,
    refuses_short_delays=True,
    both_days=True,
    wraps=True,
    steps_within_range=True,
    quotes=True,
    step_modal="must",
    hyphens_without_step=True,
    seconds_begin_search=False,
    runs_skipped_hours=True,
)
GRAMMARS = {Dialect.ROBFIG1: _ROBFIG1, Dialect.ROBFIG: _ROBFIG, Dialect.NETRESEARCH: _NETRESEARCH}
