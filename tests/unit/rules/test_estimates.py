"""An estimate: the minute that it names, and the minutes until then, agree with the clock."""

from __future__ import annotations

from datetime import datetime

import pytest

from foretop_core.rules.sentences import about, render


@pytest.mark.parametrize(
    ("now", "at", "told"),
    [
        ("02:41:54", "02:46:35", "about 02:47Z, in 5 minutes"),
        ("02:41:54", "02:46:29", "about 02:46Z, in 4 minutes"),
        ("02:41:07", "02:46:10", "about 02:46Z, in 5 minutes"),
        ("02:41:07", "03:00:00", "about 03:00Z, in 19 minutes"),
        ("02:41:07", "02:41:47", "about 02:42Z, in 40 seconds"),
        ("02:41:07", "02:41:10", "about 02:41Z, in 3 seconds"),
        ("02:41:07", "02:40:00", "about 02:40Z, in 0 seconds"),
        ("02:41:07", "04:10:20", "about 04:10Z, in 1 hour and 29 minutes"),
    ],
)
def test_the_length_is_that_until_the_minute_that_is_told(now: str, at: str, told: str) -> None:
    """It said "about 02:47, in 4 minutes" at 02:41:54."""
    moments = [datetime.fromisoformat(f"2026-11-15T{clock}Z") for clock in (now, at)]
    assert render(about(moments[1], moments[0]), moments[0]) == told
