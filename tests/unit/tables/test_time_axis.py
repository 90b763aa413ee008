"""The cells of the time axis: their span, their start, and their labels."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from foretop_core.tables.timeline.time_axis import TimeAxis, axis, axis_at, axis_over, labels
from tests.objects import NOW, at


@pytest.mark.parametrize("horizon", [timedelta(hours=6), timedelta(hours=24), timedelta(days=7)])
@pytest.mark.parametrize("width", [20, 62, 100, 180, 400])
def test_the_axis_covers_the_horizon_and_starts_with_now(horizon: timedelta, width: int) -> None:
    ruler = axis_over(NOW, horizon, width)
    assert ruler.cells <= width
    assert ruler.cell_of(NOW) == 0
    assert ruler.end >= NOW + horizon


def test_six_hours_at_eighty_columns_are_ten_cells_an_hour() -> None:
    ruler = axis_over(NOW, timedelta(hours=6), 62)
    assert ruler.step == 6
    assert ruler.start == at("02:36")
    assert axis(ruler).split() == ["03:00", "04:00", "05:00", "06:00", "07:00", "08:00"]
    assert axis(ruler).index("03:00") == ruler.cell_of(at("03:00"))


def test_the_cells_begin_with_the_hour_of_the_zone_that_is_shown() -> None:
    kolkata = ZoneInfo("Asia/Kolkata")
    ruler = axis_over(NOW, timedelta(hours=24), 62, kolkata)
    assert all(label.endswith(":00") or label == "Mon 16" for _, label in labels(ruler, kolkata))
    cell, label = labels(ruler, kolkata)[0]
    assert f"{(ruler.start + cell * timedelta(minutes=ruler.step)).astimezone(kolkata):%H:%M}" == label


def test_a_repeated_hour_is_labelled_twice() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    ruler = axis_over(datetime(2026, 10, 24, 23, 0, tzinfo=UTC), timedelta(hours=6), 80, berlin)
    shown = [label for _, label in labels(ruler, berlin)]
    assert shown[:4] == ["01:00", "02:00", "02:00", "03:00"]


def test_every_midnight_of_a_week_is_labelled_across_a_clock_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    ruler = axis_over(datetime(2026, 10, 22, 12, 0, tzinfo=UTC), timedelta(days=7), 62, berlin)
    assert [label for _, label in labels(ruler, berlin)] == [f"{day} Oct" for day in range(23, 30)]


def test_a_label_stands_only_where_a_cell_begins_with_it() -> None:
    """Two hours are no whole number of cells of nine minutes."""
    assert labels(TimeAxis(at("01:03"), 9, 50)) == ((13, "03:00"), (33, "06:00"))


def test_a_label_that_would_be_cut_is_left_out() -> None:
    assert axis(TimeAxis(at("02:00"), 6, 33)) == f"{'02:00':<10}{'03:00':<10}{'04:00':<13}"


@pytest.mark.parametrize(("room", "cells"), [(-1, 1), (0, 1), (1, 1), (2, 2)])
def test_an_axis_has_as_many_cells_as_there_is_room_for_and_one_at_least(room: int, cells: int) -> None:
    assert axis_at(NOW, 10, room).cells == cells


def test_two_days_in_cells_of_an_hour_have_a_label_every_twelve_hours() -> None:
    midnight = datetime(2026, 11, 15, tzinfo=UTC)
    assert labels(axis_at(midnight, 60, 40)) == ((0, "Sun 15"), (12, "12:00"), (24, "Mon 16"), (36, "12:00"))
