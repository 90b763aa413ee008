"""Which schedules start together."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foretop_core.cron import CronSchedule, Dialect
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.collisions import Collision, collisions, meetings, next_together
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, at, schedule

Told = tuple[list[str], str, str, str]
MANY = ["*/7 * * * *", "*/10 3-9 * * *", "0 */2 * * *", "30 4 * * 1", "14 4 * * *"]


def told(found: tuple[Collision, ...]) -> list[Told]:
    return [
        (
            [item.name for item in one.meeting.schedules],
            f"{one.meeting.minutes[0]:%H:%M}",
            f"{one.following:%d %H:%M}" if one.following else "",
            one.rhythm,
        )
        for one in found
    ]


def found(crons: dict[str, str], now: datetime = NOW, slots: int = 1, most: int = 9) -> list[Told]:
    return told(collisions(planned(crons), "velero", now, slots, most))


def planned(crons: dict[str, str]) -> ClusterSnapshot:
    return assemble([schedule(name, cron) for name, cron in crons.items()])


def met(crons: dict[str, str], since: datetime = NOW) -> list[tuple[str, list[str], int]]:
    return [
        (f"{one.minutes[0]:%d %H:%M}", [item.name for item in one.schedules], len(one.minutes))
        for one in meetings(planned(crons), "velero", since)
    ]


def test_the_next_time_is_from_now_on_and_on_another_day_where_today_has_none_left() -> None:
    both = {"a": "0 2,4 * * *", "b": "0 2,4 * * *"}
    assert found(both, at("01:59:59")) == [(["a", "b"], "02:00", "15 02:00", "at 02:00 and 04:00 every day")]
    assert found(both, at("02:00:00"))[0][2] == "15 02:00"
    assert found(both, at("02:00:01"))[0][2] == "15 04:00"
    assert found(both, at("04:00:01"))[0][2] == "16 02:00"


def test_sets_with_different_expressions_are_told_with_how_often_they_meet() -> None:
    assert found({"a": "0 */6 * * *", "b": "0 0,12 * * *"}) == [(["a", "b"], "00:00", "15 12:00", "2 times a day")]
    assert found({"a": "0 5 * * *", "b": "0 5,6 * * *"}) == [(["a", "b"], "05:00", "15 05:00", "")]


def test_only_more_than_velero_takes_at_once_collide() -> None:
    three = dict.fromkeys("abc", "0 5 * * *")
    assert [one[0] for one in found(three, slots=2)] == [["a", "b", "c"]]
    assert found(three, slots=3) == []


def test_paused_wrong_and_drifting_schedules_meet_nobody() -> None:
    items = [
        schedule("paused", "0 5 * * *", paused=True),
        schedule("wrong", "61 5 * * *"),
        schedule("drifting", "@every 1h", last="02:00:00"),
        schedule("never", "0 5 31 2 *"),
        schedule("runs", "0 5 * * *"),
    ]
    assert meetings(assemble(items), "velero", NOW) == []


def test_schedules_of_two_veleros_do_not_meet() -> None:
    there = schedule("b", "0 5 * * *")
    there = replace(there, metadata=replace(there.metadata, namespace="other"))
    apart = assemble([schedule("a", "0 5 * * *"), there])
    assert [meetings(apart, namespace, NOW) for namespace in ("velero", "other")] == [[], []]


def test_every_set_is_told_once_from_its_next_minute_on_with_how_often() -> None:
    crons = {"hourly": "0 * * * *", "hourly-too": "0 * * * *", "six": "0 6 * * *", "alone": "5 4 * * *"}
    assert met(crons, at("05:00")) == [
        ("15 05:00", ["hourly", "hourly-too"], 23),
        ("15 06:00", ["hourly", "hourly-too", "six"], 1),
    ]
    assert met(crons, at("05:00:01")) == [
        ("15 06:00", ["hourly", "hourly-too", "six"], 1),
        ("15 07:00", ["hourly", "hourly-too"], 23),
    ]


def test_a_thousand_schedules_of_one_expression_are_one_set() -> None:
    (crowd,) = met({f"s{place:03}": "0 3 * * *" for place in range(1000)})
    assert (crowd[0], len(crowd[1]), crowd[2]) == ("15 03:00", 1000, 1)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(MANY), min_size=2, max_size=6), st.integers(0, 1440))
def test_a_minute_has_the_same_set_in_whatever_day_it_is_asked_for(crons: list[str], late: int) -> None:
    """As Triage asks from midnight on, and the calendar from now on."""
    plan = planned({f"s{place}": cron for place, cron in enumerate(crons)})
    midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
    later = midnight + timedelta(minutes=late)
    one, other = (
        {
            at: [item.name for item in found.schedules]
            for found in meetings(plan, "velero", since)
            for at in found.minutes
        }
        for since in (midnight, later)
    )
    end = midnight + timedelta(days=1)
    assert {at: names for at, names in one.items() if at >= later} == {
        at: names for at, names in other.items() if at < end
    }


def test_a_set_that_a_larger_one_tells_is_not_told_again() -> None:
    nightly = {"a": "0 5 * * *", "b": "0 5 * * *", "c": "0 5 * * *"}
    assert [one[0] for one in found(nightly)] == [["a", "b", "c"]]
    # Two of them meet more often than all three: both are worth a line.
    often = {"a": "0 5,6,7 * * *", "b": "0 5,6,7 * * *", "c": "0 5 * * *"}
    assert [one[0] for one in found(often)] == [["a", "b", "c"], ["a", "b"]]


def test_the_next_and_those_that_make_most_wait_are_told_in_the_order_of_their_next_minute() -> None:
    crons = {
        "soon-1": "50 2 * * *",
        "soon-2": "50 2 * * *",
        "late-1": "0 9 * * *",
        "late-2": "0 9 * * *",
        "full-1": "0 4 * * *",
        "full-2": "0 4 * * *",
        "full-3": "0 4 * * *",
        "full-4": "0 4 * * *",
    }
    assert [one[1] for one in found(crons)] == ["02:50", "04:00", "09:00"]
    assert [one[1] for one in found(crons, most=2)] == ["02:50", "04:00"]
    assert [one[1] for one in found(crons, most=1)] == ["02:50"]


@pytest.mark.parametrize("often", ["* * * * *", "*/15 * * * *", "*/14 * * * *"])
def test_a_schedule_that_runs_all_the_time_meets_the_others_at_their_times(often: str) -> None:
    assert (["often", "once"], "05:00", "15 05:00", "") in found({"often": often, "once": "0 5 * * *"}, slots=1)


def test_schedules_that_run_often_are_counted_each_time_they_meet() -> None:
    assert found({"a": "*/10 * * * *", "b": "*/5 * * * *"}) == [(["a", "b"], "00:00", "15 02:50", "144 times a day")]


def test_expressions_that_never_meet_have_no_next_time() -> None:
    apart = [parsed("0 2 * * *"), parsed("30 2 * * *")]
    assert next_together(apart, NOW) is None
    assert next_together([parsed("0 2 30 2 *"), parsed("0 2 * * *")], NOW) is None


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(MANY), min_size=1, max_size=3))
def test_the_next_time_together_is_the_first_minute_in_which_all_are_due(crons: list[str]) -> None:
    everyone = [parsed(cron) for cron in crons]
    minutes = (NOW.replace(second=0) + timedelta(minutes=late) for late in range(1, 8 * 24 * 60))
    expected = next((m for m in minutes if all(one.next(m - timedelta(seconds=1)) == m for one in everyone)), None)
    assert next_together(everyone, NOW) == expected or expected is None


def parsed(cron: str) -> CronSchedule:
    read = expression(cron, Dialect.ROBFIG)
    assert isinstance(read, CronSchedule)
    return read
