"""Benchmarks of parsing and searching, over typical expressions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from statistics import fmean
from zoneinfo import ZoneInfo

from foretop_core.cron import CronSchedule, Dialect, parse
from trials.bench import Figure, seconds_per_call

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
    def parse_often(text: str) -> float:
        return seconds_per_call(lambda: [parse(text, Dialect.ROBFIG) for _ in range(100)], 100)

    yield Figure("parse", fmean(map(parse_often, EXPRESSIONS)) * _MICRO, 40, "µs")
    in_utc = [datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC) + timedelta(hours=41 * step) for step in range(200)]
    yield Figure("next, UTC", _next_over(in_utc), 5, "µs")
    new_york = ZoneInfo("America/New_York")
    yield Figure("next, New York", _next_over([moment.astimezone(new_york) for moment in in_utc]), 20, "µs")


def _next_over(moments: list[datetime]) -> float:
    def search(schedule: CronSchedule) -> float:
        return seconds_per_call(lambda: [schedule.next(moment) for moment in moments], len(moments))

    return fmean(search(parse(text, Dialect.ROBFIG)) for text in EXPRESSIONS) * _MICRO
