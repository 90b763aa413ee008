"""Random expressions and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from foretop_core.cron import CronSchedule, Dialect, parse
from foretop_core.cron.dialect_rules import GRAMMARS, Grammar
from foretop_core.cron.fields import Bounds
from foretop_core.cron.zones import steady_span

_MOST_STEPPED = 20


def moments() -> st.SearchStrategy[datetime]:
    """Any time between 2019 and 2031, with microseconds."""
    return st.datetimes(datetime(2019, 1, 1), datetime(2031, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@st.composite
def restless_moments(draw: st.DrawFn, zones: tuple[str, ...]) -> datetime:
    """A whole minute in a zone, at most two days from a change of its clocks."""
    zone = ZoneInfo(draw(st.sampled_from(zones)))
    _, change = steady_span(zone, draw(moments()))
    return (change + timedelta(minutes=draw(st.integers(-2880, 2880)))).astimezone(zone)


@st.composite
def _term(draw: st.DrawFn, bounds: Bounds, grammar: Grammar) -> str:
    low = draw(st.integers(bounds.low, bounds.high))
    high = draw(st.integers(bounds.low if grammar.wraps else low, bounds.high))
    return draw(
        st.sampled_from(
            [
                f"{low}",
                f"{low}-{high}",
                f"{low}-{high}/{draw(_steps((high - low) % bounds.size + 1, grammar))}",
                f"{low}/{draw(_steps(bounds.high - low + 1, grammar))}",
                f"*/{draw(_steps(bounds.size, grammar))}",
            ]
        )
    )


def _steps(size: int, grammar: Grammar) -> st.SearchStrategy[int]:
    return st.integers(1, max(1, min(_MOST_STEPPED, size - 1)) if grammar.steps_within_range else _MOST_STEPPED)


def _field(bounds: Bounds, grammar: Grammar) -> st.SearchStrategy[str]:
    lists = st.lists(_term(bounds, grammar), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), lists)


def expressions(dialect: Dialect = Dialect.ROBFIG) -> st.SearchStrategy[str]:
    """Five random fields, half of them starred, that a dialect accepts."""
    grammar = GRAMMARS[dialect]
    return st.tuples(*(_field(bounds, grammar) for bounds in grammar.bounds)).map(" ".join)


def schedules() -> st.SearchStrategy[CronSchedule]:
    """Random fields in a random dialect."""
    return st.sampled_from(Dialect).flatmap(lambda dialect: expressions(dialect).map(lambda text: parse(text, dialect)))
