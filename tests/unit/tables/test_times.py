from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from foretop_core.tables.text import times

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "short", "until"),
    [
        (-5, "0s", "in 0s"),
        (20, "20s", "in 20s"),
        (60, "1m", "in 1m"),
        (41 * 60 + 59, "41m", "in 41m"),
        (3600, "1h", "in 1h"),
        (6060, "1h41m", "in 1h41m"),
        (85_680, "23h48m", "in 23h48m"),
        (97_200, "1d3h", "in 1d3h"),
        (86_400 * 29 + 5, "29d", "in 29d"),
    ],
)
def test_durations_are_short(seconds: int, short: str, until: str) -> None:
    assert times.short(timedelta(seconds=seconds)) == short
    assert times.until(timedelta(seconds=seconds)) == until


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-5, "0s"), (42, "42s"), (242, "4m2s"), (240, "4m"), (720, "12m"), (601, "10m")]
)
def test_durations_of_minutes_include_seconds(seconds: int, shown: str) -> None:
    assert times.took(timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, ""),
        (datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC), "02:30:03"),
        (datetime(2026, 11, 14, 22, 0, 3, tzinfo=UTC), "Sat 22:00"),
        (datetime(2026, 11, 12, 2, 30, tzinfo=UTC), "12 Nov"),
        (datetime(2025, 3, 1, 2, 30, tzinfo=UTC), "2025-03-01"),
    ],
)
def test_a_time_is_as_precise_as_its_age_allows(at: datetime | None, shown: str) -> None:
    assert times.time_of_day(at, NOW) == shown


def test_an_age_without_a_start_is_empty() -> None:
    assert times.age(None, NOW) == ""
    assert times.age(NOW - timedelta(minutes=3), NOW) == "3m"
