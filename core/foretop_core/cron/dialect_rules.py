"""The differences between the libraries, by name: one engine reads all dialects."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

import msgspec
from msgspec.structs import replace

from foretop_core.cron import zone_prefix
from foretop_core.cron.dialect import Dialect
from foretop_core.cron.errors import CronError
from foretop_core.cron.fields import ALL_BOUNDS, DOM, DOW, HOUR, MINUTE, MONTH, Bounds
from foretop_core.cron.go_compat import quote


class Grammar(msgspec.Struct, frozen=True):
    """How one library reads an expression and searches for its runs; the defaults are those of robfig/cron v3."""

    bounds: tuple[Bounds, ...] = ALL_BOUNDS
    order: tuple[int, ...] = (0, 1, 2, 3, 4)
    """The order in which the fields are checked: the first invalid one is reported."""
    zone: Callable[[str], tuple[tzinfo | None, str]] | None = zone_prefix.parse_robfig_prefix
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
    zone=zone_prefix.parse_netresearch_prefix,
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
