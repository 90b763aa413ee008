"""Lanes, load and axis at their limits: the first and the last minute, and the one that has just begun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foretop_core.clock import ManualClock
from foretop_core.cron import Dialect
from foretop_core.models import CronJob, from_builtins
from foretop_core.models.kinds import CRON_JOB, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.run_minutes import run_bits
from foretop_core.store import Store
from foretop_core.tables.timeline.lanes import (
    NO_OBSTACLES,
    LaneObstacles,
    next_runs,
    timeline_item,
    warmer,
)
from foretop_core.tables.timeline.night_chart import lane_cells
from foretop_core.tables.timeline.night_lanes import job_runs, paused_runs
from foretop_core.tables.timeline.time_axis import TimeAxis, axis, axis_over, labels, time_axis
from tests.objects import NOW, at, schedule
from tests.unit.tables.test_timeline import item, key, of_robfig, robfig

_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)


def test_the_next_runs_count_from_now_or_from_the_last_run_of_a_delay() -> None:
    assert next_runs(item("0 * * * *", base=at("01:30")), at("02:30"), 2) == (at("03:00"), at("04:00"))
    delayed = item("@every 2h", base=at("01:30"))
    assert next_runs(delayed, at("03:29"), 2) == (at("03:30"), at("05:30"))
    assert next_runs(delayed, at("03:30"), 2) == (at("03:30"), at("05:30"))
    assert next_runs(delayed, at("03:30:01"), 1) == (at("05:30"),)
    assert next_runs(item("0 * * * *"), at("03:00"), 2) == (at("03:00"), at("04:00"))
    assert next_runs(item("0 * * * *"), at("03:00") + timedelta(microseconds=1), 1) == (at("04:00"),)
    assert next_runs(delayed, at("00:00"), 1) == (at("03:30"),)
    assert next_runs(item("@every 2h"), at("03:29"), 2) == ()
    assert next_runs(item("61 * * * *"), at("03:29"), 2) == ()
    assert next_runs(item("0 0 31 2 *"), at("03:29"), 2) == ()
    assert next_runs(item("0 * * * *"), at("03:29"), 0) == ()


def _cron_job(cron: str, *, last: str = "", created: str = "02:00:00", name: str = "job", **spec: Any) -> CronJob:
    body = {
        "metadata": {"name": name, "namespace": "batch", "creationTimestamp": at(created).isoformat()},
        "spec": {"schedule": cron, **spec},
        "status": {"lastScheduleTime": at(last).isoformat() if last else None},
    }
    return from_builtins(CronJob, body)


def test_a_cron_job_has_a_lane_without_a_warm_up_that_counts_from_its_last_run() -> None:
    place = ObjectRef("prod", CRON_JOB.name, "batch", "job")
    made = timeline_item(place, _cron_job("@every 1h", last="02:30:00"), of_robfig)
    assert made is not None
    assert (made.warm_up, made.base, made.dialect) == (0, at("02:30"), Dialect.ROBFIG)
    new = timeline_item(place, _cron_job("@every 1h"), of_robfig)
    assert new is not None
    assert new.base == at("02:00")
    fixed = timeline_item(place, _cron_job("0 3 * * *", last="02:30:00", suspend=True), of_robfig)
    assert fixed is not None
    assert (fixed.base, fixed.paused, fixed.starts) == (None, True, False)
    planned = timeline_item(key(), schedule(cron="0 3 * * *"), of_robfig)
    assert planned is not None
    assert planned.warm_up == 0


def test_the_cron_job_that_warms_up_is_found_by_its_name() -> None:
    store = Store()
    made = _cron_job("0 3 * * *", name="autogen-orders")
    store.fill("prod", [made, _cron_job("0 3 * * *", name="orders")], ManualClock(NOW))
    assert warmer(store, ObjectRef("prod", "PreScaledCronJob", "batch", "orders")) == made
    assert warmer(store, ObjectRef("prod", SCHEDULE.name, "batch", "others")) is None


def _minutes(bits: int) -> list[int]:
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def test_the_bits_of_a_delay_count_from_the_last_run() -> None:
    start = at("03:00")
    every = robfig("@every 20m")
    assert run_bits(every, start, 60) == 0
    assert _minutes(run_bits(every, start, 60, at("02:40"))) == [0, 20, 40]
    assert _minutes(run_bits(every, start, 61, at("02:40"))) == [0, 20, 40, 60]
    assert _minutes(run_bits(every, start, 60, at("02:39"))) == [19, 39, 59]
    assert _minutes(run_bits(every, start, 60, at("03:00"))) == [20, 40]
    assert _minutes(run_bits(every, start, 60, at("03:10"))) == [30, 50]
    assert _minutes(run_bits(robfig("@every 30s"), start, 3, at("01:00"))) == [0, 1, 2]
    assert _minutes(run_bits(robfig("@every 1m"), start, 3, at("01:00"))) == [0, 1, 2]
    assert _minutes(run_bits(robfig("@every 90s"), start, 5, at("03:00"))) == [1, 3, 4]


def test_the_bits_have_the_first_minute_and_not_the_one_after_the_last() -> None:
    assert _minutes(run_bits(robfig("0 * * * *"), at("03:00"), 60)) == [0]
    assert _minutes(run_bits(robfig("0 * * * *"), at("03:00"), 61)) == [0, 60]
    assert _minutes(run_bits(robfig("0 3 16 11 *"), at("03:00"), 2880)) == [1440]
    assert _minutes(run_bits(robfig("0 0 16 * *"), at("23:59"), 2)) == [1]
    assert run_bits(robfig("0 0 31 2 *"), at("03:00"), 60) == 0
    # Around a change of the clocks too.
    change = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)
    berlin = robfig("TZ=Europe/Berlin 0 * * * *")
    assert _minutes(run_bits(berlin, change, 120)) == [0, 60]
    assert _minutes(run_bits(berlin, change, 121)) == [0, 60, 120]


def test_the_bits_of_a_zone_are_those_of_its_clock() -> None:
    assert _minutes(run_bits(robfig("TZ=Asia/Kolkata 0 9 * * *"), at("03:00"), 60)) == [30]
    assert _minutes(run_bits(robfig("TZ=Europe/Berlin 30 4 * * *"), at("03:00"), 60)) == [30]


def _size(ruler: TimeAxis) -> tuple[int, int]:
    return ruler.step, ruler.cells


def test_an_axis_is_as_fine_as_its_room_allows() -> None:
    assert _size(axis_over(NOW, _HOUR, 61)) == (1, 61)
    assert _size(axis_over(NOW, _HOUR, 60)) == (2, 31)
    assert _size(axis_over(NOW, _HOUR, 31)) == (2, 31)
    assert _size(axis_over(NOW, _HOUR, 30)) == (3, 21)
    assert _size(axis_over(NOW, _HOUR - _SECOND, 61)) == (1, 61)
    assert _size(axis_over(NOW, _HOUR + _SECOND, 62)) == (1, 62)
    assert _size(axis_over(NOW, _HOUR, 0))[1] == 1
    assert _size(axis_over(NOW, timedelta(days=36_500), 10)) == (91 * 1440, 10)


def test_an_axis_with_a_finest_step_leaves_off_what_comes_too_late() -> None:
    week = timedelta(days=7)
    assert _size(time_axis(NOW, 6, week, 50)) == (6, 50)
    assert _size(time_axis(NOW, 7, week, 50)) == (6, 50)
    assert _size(time_axis(NOW, 0, week, 50)) == (1, 50)
    assert _size(time_axis(NOW, 60, _HOUR, 61)) == (1, 61)
    assert _size(time_axis(NOW, 60, _HOUR, 0))[1] == 1


@pytest.mark.parametrize(
    ("step", "start"), [(1, "02:41"), (10, "02:40"), (120, "02:00"), (180, "00:00"), (1440, "00:00"), (2880, "00:00")]
)
def test_cells_begin_with_the_day(step: int, start: str) -> None:
    assert time_axis(NOW, step, step * timedelta(minutes=100), 10).start == at(start)


def test_the_label_of_an_hour_is_at_the_cell_that_holds_it() -> None:
    assert labels(TimeAxis(at("02:05"), 10, 24)) == ((11, "04:00"), (23, "06:00"))
    assert labels(TimeAxis(at("22:00"), 10, 24)) == ((0, "22:00"), (12, "Mon 16"))
    assert len(labels(TimeAxis(at("00:00"), 1440, 28))) == 2
    quarters = TimeAxis(datetime(2024, 1, 1, tzinfo=UTC), 91 * 1440, 9)
    cells = [cell for cell, _ in labels(quarters)]
    assert [later - cell for cell, later in pairwise(cells)] == [4] * (len(cells) - 1)


def test_a_label_that_ends_with_the_axis_is_shown() -> None:
    assert axis(TimeAxis(at("02:00"), 6, 35)).split() == ["02:00", "03:00", "04:00", "05:00"]
    assert axis(TimeAxis(at("02:00"), 6, 34)).split() == ["02:00", "03:00", "04:00"]
    assert axis(TimeAxis(at("01:30"), 6, 20), ZoneInfo("Asia/Kolkata")).split() == ["07:00", "08:00"]


AXIS = TimeAxis(at("03:00"), 10, 6)
"""The hour from three o'clock on, in cells of ten minutes."""


def _drawn(cron: str, now: str = "02:30", **more: Any) -> str:
    cells = lane_cells(job_runs(item(cron, **more), NO_OBSTACLES, AXIS, at(now)), AXIS, at(now))
    return "".join(cell.text for cell in cells).replace("│", " ")


def test_a_lane_has_a_sign_in_the_cell_of_each_run_to_come() -> None:
    assert _drawn("0 3 * * *") == "▎     "
    assert _drawn("9 3 * * *") == "▎     "
    assert _drawn("10 3 * * *") == " ▎    "
    assert _drawn("59 3 * * *") == "     ▎"
    assert _drawn("0 4 * * *") == "      "
    assert _drawn("30 3 * * *", paused=True) == "   ‖  "
    assert _drawn("30 3 * * *", problem="odd") == "      "
    assert _drawn("61 3 * * *") == "      "


@pytest.mark.parametrize(
    ("now", "drawn"),
    [("02:59:59", "▎     "), ("03:00:00", "▎     "), ("03:00:01", "      "), ("03:01:00", "      ")],
)
def test_a_run_is_to_come_until_its_second_is_over(now: str, drawn: str) -> None:
    assert _drawn("0 3 * * *", now) == drawn
    assert _drawn("1 3 * * *", "03:00:59") == "▎     "
    assert _drawn("2 3 * * *", "03:01:00") == "▎     "


def test_a_warm_up_is_drawn_before_its_run_also_where_that_is_beyond_the_axis() -> None:
    assert _drawn("40 3 * * *", warm_up=20) == "  ▒▒▎ "
    assert _drawn("40 3 * * *", warm_up=20, paused=True) == "    ‖ "
    assert _drawn("10 4 * * *", warm_up=20) == "     ▒"
    assert _drawn("10 4 * * *", warm_up=10) == "      "
    assert _drawn("0 3 * * *", warm_up=20) == "▎     "


def test_a_pause_keeps_the_runs_after_its_planned_end_too() -> None:
    """Nothing resumes by itself: somebody has to unpause it."""
    obstacles = LaneObstacles(paused_since=at("03:05"), paused_until=at("03:25"))
    runs = paused_runs(item("*/10 * * * *", paused=True), obstacles, AXIS, at("02:30"))
    assert "".join(cell.text for cell in lane_cells(runs, AXIS, at("02:30"))) == " ‖‖‖‖‖"
