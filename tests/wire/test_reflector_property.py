"""For any order of events, faults and new lists, the store ends up with what the server has."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.wire.faulty_server import Script
from tests.wire.store_steps import (
    FAULTS,
    NAMES,
    SCRIPTS,
    Step,
    burst,
    catch_up,
    compact,
    delete,
    fault,
    live_through,
    misbehave,
    put,
    shuffled,
)

WRITES = st.one_of(
    st.builds(put, st.sampled_from(NAMES), st.sampled_from([False, False, True])),
    st.builds(delete, st.sampled_from(NAMES)),
)
STEPS = st.one_of(
    WRITES,
    st.builds(burst, st.lists(WRITES, min_size=2, max_size=8)),
    st.sampled_from([compact, catch_up]),
    st.builds(fault, st.sampled_from(["list", "watch"]), st.sampled_from(FAULTS)),
    st.builds(misbehave, st.sampled_from(SCRIPTS)),
    st.builds(misbehave, st.integers(0, 99).map(lambda seed: lambda: Script(twist=shuffled(seed)))),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, max_size=40))
def test_after_any_history_the_store_equals_the_server(steps: list[Step]) -> None:
    asyncio.run(live_through(steps))
