"""Properties that hold for every expression in every dialect, compared with a check of each minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import strategies as st

from foretop_core.cron import CronSchedule, Dialect
from tests.examples import few_or_many
from tests.unit.cron.strategies import moments, restless_moments, schedules

pytestmark = pytest.mark.long

ZONES = ("America/New_York", "Europe/Berlin", "Asia/Kolkata", "Europe/Dublin", "Asia/Tokyo")
RESTLESS_ZONES = ("America/New_York", "Europe/Berlin", "Africa/Cairo", "America/Havana", "Australia/Lord_Howe")
TICK = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def counts_as_star(day_field: str, dialect: Dialect) -> bool:
    if dialect is Dialect.ROBFIG1:
        return any(term.startswith("*") for term in day_field.split(","))
    return any(term in ("*", "*/1") for term in day_field.split(","))


def matches(schedule: CronSchedule, wall: datetime) -> bool:
    """The dialect's own rule, implemented again."""
    fields = schedule.fields
    by_date = fields.dom >> wall.day & 1
    by_weekday = fields.dow >> wall.isoweekday() % 7 & 1
    _, _, dom, _, dow = schedule.expression.split()
    both = schedule.dialect is Dialect.NETRESEARCH or any(
        counts_as_star(field, schedule.dialect) for field in (dom, dow)
    )
    day = (by_date and by_weekday) if both else (by_date or by_weekday)
    hour, minute = fields.hour >> wall.hour & 1, fields.minute >> wall.minute & 1
    return bool(fields.month >> wall.month & 1 and day and hour and minute and wall.second == 0)


def makes_up_for_a_skipped_hour(schedule: CronSchedule, run: datetime, zone: ZoneInfo) -> bool:
    """Whether a run replaces the wall time an hour before it, which the clocks skipped."""
    wall = run.astimezone(zone)
    an_hour_before = (run.astimezone(UTC) - HOUR).astimezone(zone)
    return (
        schedule.dialect is Dialect.NETRESEARCH
        and wall.hour - an_hour_before.hour == 2
        and matches(schedule, wall.replace(hour=wall.hour - 1))
    )


@few_or_many(15, 100, schedules(), moments())
def test_the_next_run_is_later_and_matches_and_nothing_matches_before_it(
    schedule: CronSchedule, moment: datetime
) -> None:
    run = schedule.next(moment)
    if run is None:
        assert schedule.never_fires or "29" in schedule.expression or schedule.dialect is not Dialect.ROBFIG
        return
    assert run > moment
    assert run.microsecond == 0
    assert matches(schedule, run)
    minute = moment.replace(second=0, microsecond=0)
    for _ in range(3000):
        minute += timedelta(minutes=1)
        if minute >= run:
            break
        assert not matches(schedule, minute)


@few_or_many(15, 100, schedules(), moments(), st.sampled_from(ZONES))
def test_in_a_zone_the_next_run_is_later_and_matches_its_wall_clock(
    schedule: CronSchedule, moment: datetime, name: str
) -> None:
    zone = ZoneInfo(name)
    run = schedule.next(moment.astimezone(zone))
    if run is not None:
        assert run.astimezone(UTC) > moment
        assert matches(schedule, run) or makes_up_for_a_skipped_hour(schedule, run, zone)


@few_or_many(15, 100, schedules(), moments())
def test_previous_and_next_are_inverse(schedule: CronSchedule, moment: datetime) -> None:
    run = schedule.next(moment)
    if run is None:
        return
    assert schedule.previous(run + TICK) == run
    earlier = schedule.previous(run)
    if earlier is not None:
        assert earlier <= moment
        assert schedule.next(earlier) == run


@few_or_many(3, 40, schedules(), restless_moments(RESTLESS_ZONES))
def test_around_a_clock_change_the_runs_do_not_depend_on_the_start(schedule: CronSchedule, start: datetime) -> None:
    instants = [run.astimezone(UTC) for run in islice(schedule.between(start, start + 60 * DAY), 4)]
    for earlier, later in pairwise(instants):
        assert earlier < later
        assert in_utc(schedule.previous(later.astimezone(start.tzinfo))) == earlier
        assert in_utc(next(schedule.between(earlier.astimezone(start.tzinfo), start + 90 * DAY))) == later
    if instants:
        assert in_utc(schedule.previous((instants[0] + TICK).astimezone(start.tzinfo))) == instants[0]
        before = schedule.previous(instants[0].astimezone(start.tzinfo))
        assert before is None or before.astimezone(UTC) <= start.astimezone(UTC)


def in_utc(run: datetime | None) -> datetime | None:
    return run and run.astimezone(UTC)


@few_or_many(15, 100, schedules(), moments(), st.integers(0, 2880))
def test_between_returns_exactly_the_runs_found_one_by_one(
    schedule: CronSchedule, moment: datetime, minutes: int
) -> None:
    end = moment + timedelta(minutes=minutes)
    start = moment.replace(second=0, microsecond=0)
    every_minute = (start + timedelta(minutes=step) for step in range(1, minutes + 2))
    assert list(schedule.between(moment, end)) == [
        minute for minute in every_minute if matches(schedule, minute) and minute <= end
    ]


@few_or_many(15, 100, schedules(), moments())
def test_all_names_of_utc_give_the_same_runs(schedule: CronSchedule, moment: datetime) -> None:
    by_name = moment.astimezone(ZoneInfo("Etc/UTC"))
    found = schedule.next(by_name)
    assert schedule.next(moment) == (found and found.astimezone(UTC))
