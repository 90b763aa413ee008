"""Laws that hold for every expression, held to a plain look at each minute."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from foretop_core.cron import CronSchedule, parse
from tests.unit.cron.strategies import expressions, moments

ZONES = st.sampled_from(["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Europe/Dublin", "Asia/Tokyo"])
QUICK = settings(max_examples=100, derandomize=True, deadline=None, database=None)


def matches(schedule: CronSchedule, wall: datetime) -> bool:
    """The dialect's own rule, written out."""
    fields = schedule.fields
    by_date = fields.dom >> wall.day & 1
    by_weekday = fields.dow >> wall.isoweekday() % 7 & 1
    starred = fields.dom_star or fields.dow_star
    day = (by_date and by_weekday) if starred else (by_date or by_weekday)
    hour, minute = fields.hour >> wall.hour & 1, fields.minute >> wall.minute & 1
    return bool(fields.month >> wall.month & 1 and day and hour and minute and wall.second == 0)


@QUICK
@given(expressions(), moments())
def test_the_next_run_is_later_and_matches_and_nothing_matches_before_it(text: str, moment: datetime) -> None:
    schedule = parse(text)
    run = schedule.next(moment)
    if run is None:
        assert schedule.never_fires or "29" in text
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


@QUICK
@given(expressions(), moments(), ZONES)
def test_in_a_zone_the_next_run_is_later_and_matches_its_wall_clock(text: str, moment: datetime, zone: str) -> None:
    schedule = parse(f"TZ={zone} {text}")
    run = schedule.next(moment)
    if run is not None:
        assert run > moment
        assert matches(schedule, run.astimezone(ZoneInfo(zone)))


@QUICK
@given(expressions(), moments(), st.sampled_from(["UTC", "America/New_York", "Europe/Berlin"]))
def test_previous_and_next_are_inverse(text: str, moment: datetime, zone: str) -> None:
    schedule = parse(f"TZ={zone} {text}")
    run = schedule.next(moment)
    if run is None:
        return
    assert schedule.previous(run + timedelta(microseconds=1)) == run
    earlier = schedule.previous(run)
    if earlier is not None:
        assert earlier <= moment
        assert schedule.next(earlier) == run


@QUICK
@given(expressions(), moments(), st.integers(0, 2880))
def test_a_window_holds_exactly_the_runs_found_one_by_one(text: str, moment: datetime, minutes: int) -> None:
    schedule = parse(text)
    end = moment + timedelta(minutes=minutes)
    start = moment.replace(second=0, microsecond=0)
    every_minute = (start + timedelta(minutes=step) for step in range(1, minutes + 2))
    assert list(schedule.between(moment, end)) == [
        minute for minute in every_minute if matches(schedule, minute) and minute <= end
    ]


@QUICK
@given(expressions(), moments())
def test_the_same_runs_come_from_utc_by_any_name(text: str, moment: datetime) -> None:
    by_name = moment.astimezone(ZoneInfo("Etc/UTC"))
    found = parse(text).next(by_name)
    assert parse(text).next(moment) == (found and found.astimezone(UTC))
