"""Random expressions and moments."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from foretop_core.cron.fields import ALL_BOUNDS, Bounds


def moments() -> st.SearchStrategy[datetime]:
    """Any moment between 2019 and 2031, with microseconds."""
    return st.datetimes(datetime(2019, 1, 1), datetime(2031, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@st.composite
def _term(draw: st.DrawFn, bounds: Bounds) -> str:
    low = draw(st.integers(bounds.low, bounds.high))
    high = draw(st.integers(low, bounds.high))
    step = draw(st.integers(1, 20))
    shapes = [f"{low}", f"{low}-{high}", f"{low}-{high}/{step}", f"{low}/{step}", f"*/{step}"]
    return draw(st.sampled_from(shapes))


def _field(bounds: Bounds) -> st.SearchStrategy[str]:
    lists = st.lists(_term(bounds), min_size=1, max_size=3).map(",".join)
    return st.one_of(st.just("*"), lists)


def expressions() -> st.SearchStrategy[str]:
    """Five random fields, half of them starred."""
    return st.tuples(*map(_field, ALL_BOUNDS)).map(" ".join)
