"""How long parsing, searching and priming take, over expressions as people write them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from core.cron import parse
from tests.bench import Figure, seconds_per_call

EXPRESSIONS = (
    "0 0 * * *",
    "30 2 * * 1-5",
    "*/15 9-17 * * mon-fri",
    "0 3 1,15 * *",
    "5,20,35,50 * * * *",
    "0 0 13 * 5",
    "0 */6 * * *",
    "45 23 28-31 1-12/2 *",
)
_MICRO = 1e6


def measure() -> Iterable[Figure]:
    def parse_all() -> None:
        for _ in range(200):
            for text in EXPRESSIONS:
                parse(text)

    yield Figure("parse", seconds_per_call(parse_all, 200 * len(EXPRESSIONS)) * _MICRO, 40, "µs")
    in_utc = [datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC) + timedelta(hours=41 * step) for step in range(200)]
    yield Figure("next, UTC", _next_over(in_utc), 5, "µs")
    new_york = ZoneInfo("America/New_York")
    yield Figure("next, New York", _next_over([moment.astimezone(new_york) for moment in in_utc]), 20, "µs")


def _next_over(moments: list[datetime]) -> float:
    schedules = [parse(text) for text in EXPRESSIONS]

    def work() -> None:
        for schedule in schedules:
            for moment in moments:
                schedule.next(moment)

    return seconds_per_call(work, len(schedules) * len(moments)) * _MICRO
