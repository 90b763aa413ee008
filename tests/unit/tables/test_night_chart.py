"""The cells of the night: bars stay in their row and their time, and every sign has an ASCII form."""

from __future__ import annotations

from datetime import UTC, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretop.terminal.themes import to_ascii
from foretop_core.rules.night.window import Window, read_window
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.timeline.night_chart import (
    ChartCell,
    LaneRun,
    LaneSign,
    SizeClass,
    SlotSpan,
    Zoom,
    cell_loads,
    day_axes,
    day_line,
    hours_line,
    lane_cells,
    night_axis,
    size_class,
    slot_rows,
    slot_scale,
    waiting_cells,
    with_window,
)
from foretop_core.tables.timeline.time_axis import TimeAxis
from tests.objects import at

QUICK = settings(max_examples=80, derandomize=True, deadline=None, database=None)
AXIS = TimeAxis(at("02:00"), 5, 12)
NOW = at("02:30")
MINUTES = st.integers(-300, 300)


@st.composite
def runs(draw: st.DrawFn) -> LaneRun:
    due = NOW + timedelta(minutes=draw(MINUTES))
    start = due + timedelta(minutes=draw(st.integers(0, 90)))
    end = start + timedelta(minutes=draw(st.integers(0, 200)))
    late = end + timedelta(minutes=draw(st.integers(0, 60)))
    sign = draw(st.sampled_from([None, LaneSign.PARTLY, LaneSign.FAILED]))
    return LaneRun(due, start, end, late, draw(st.sampled_from([Tone.GOOD, Tone.DIM, Tone.BAD])), sign)


@QUICK
@given(st.lists(runs(), max_size=12))
def test_a_lane_has_the_cells_of_its_axis_and_only_signs_of_one_cell(many: list[LaneRun]) -> None:
    cells = lane_cells(many, AXIS, NOW, [0, 12])
    assert len(cells) == AXIS.cells
    assert all(len(cell.text) == len(to_ascii(cell.text)) == 1 and to_ascii(cell.text).isascii() for cell in cells)


@QUICK
@given(runs())
def test_a_run_draws_nothing_before_it_is_due_nor_after_its_late_end(run: LaneRun) -> None:
    assert run.late_end is not None
    last = run.late_end + timedelta(minutes=AXIS.step)
    for place, cell in enumerate(lane_cells([run], AXIS, NOW)):
        begins = AXIS.start + timedelta(minutes=place * AXIS.step)
        if begins + timedelta(minutes=AXIS.step) <= run.due or begins > last:
            assert cell.text in " │"


def _text(*many: LaneRun) -> str:
    return "".join(cell.text for cell in lane_cells(many, AXIS, NOW))


def test_a_run_waits_runs_and_may_take_longer_and_one_at_work_is_full_to_now() -> None:
    coming = LaneRun(at("02:35"), at("02:45"), at("02:50"), at("02:57"))
    assert _text(coming) == "      │░░▆╌ "
    running = LaneRun(at("02:20"), at("02:20"), at("02:45"), at("02:55"), Tone.RUNNING, is_running=True)
    assert _text(running) == "    ███▆▆╌╌ "
    assert lane_cells([running], AXIS, NOW)[6].tone is Tone.BRIGHT


def test_a_run_that_waits_still_is_drawn_to_now_and_one_to_come_in_its_cell() -> None:
    assert _text(LaneRun(at("02:20"))) == "    ░░░     "
    assert _text(LaneRun(at("02:40"))) == "      │ ░   "


def test_a_wait_of_seconds_is_not_drawn() -> None:
    assert _text(LaneRun(at("02:34:30"), at("02:35"), at("02:50"))) == "      │▆▆▆  "
    assert _text(LaneRun(at("02:34:00"), at("02:35"), at("02:50"))) == "      ░▆▆▆  "


def test_what_failed_ends_in_its_letter_and_what_is_lost_stands_before_every_bar() -> None:
    failed = LaneRun(at("02:05"), at("02:05"), at("02:20"), None, Tone.BAD, LaneSign.FAILED)
    lost = LaneRun(at("02:10"), tone=Tone.BAD, sign=LaneSign.LOST)
    assert _text(failed) == " ▆▆F  │     "
    assert _text(failed, lost) == _text(lost, failed) == " ▆×F  │     "
    for ended, bar in (("02:42", "▎"), ("02:43", "▎"), ("02:44", "▆")):
        assert _text(LaneRun(at("02:41"), at("02:41"), at(ended))) == f"      │ {bar}   ", "below half a cell is short"


def test_slots_are_counted_by_the_cell_and_the_top_row_warns_where_somebody_waits() -> None:
    spans = [SlotSpan(at("02:00"), at("02:00"), at("02:10")), SlotSpan(at("02:00"), at("02:10"), at("02:15"))]
    loads = cell_loads(spans, AXIS)
    assert [(load.mean, load.most, load.waiting) for load in loads[:4]] == [(1, 1, 1), (1, 1, 1), (1, 1, 0), (0, 0, 0)]
    (row,) = slot_rows(loads, 1, AXIS, NOW, one_row=False)
    assert "".join(cell.text for cell in row[:4]) == "███ "
    assert [cell.tone for cell in row[:3]] == [Tone.WARN, Tone.WARN, Tone.RUNNING]
    (row,) = slot_rows(loads, 1, AXIS, NOW, one_row=False, in_numbers=True)
    assert "".join(cell.text for cell in row[:4]) == "111 "
    assert "".join(cell.text for cell in waiting_cells(loads)[:3]) == "11 "
    assert slot_scale(3, one_row=False) == ["3", "2", "1"]
    assert slot_scale(8, one_row=False) == ["8", "6", "4", "2"]


def test_a_window_is_drawn_where_no_hour_stands() -> None:
    hours = [ChartCell("02:00", Tone.DIM), ChartCell("       ", Tone.DIM)]
    window = read_window("02:20-02:40")
    assert isinstance(window, Window)
    cells = with_window(hours, AXIS, window, is_free=False)
    assert "".join(cell.text for cell in cells) == "02:00═══    "
    assert [cell.tone for cell in cells] == [Tone.DIM, *3 * [Tone.WARN], *4 * [Tone.DIM]]
    assert with_window(hours, AXIS, None, is_free=True) == tuple(hours)


def test_now_stands_at_a_quarter_in_whole_cells_of_each_zoom() -> None:
    for size, cells in ((SizeClass.NARROW, 53), (SizeClass.WIDE, 87), (SizeClass.HUGE, 165)):
        for zoom in (Zoom.NIGHT, Zoom.DAY):
            axis = night_axis(NOW, zoom, size, cells, UTC)
            assert (axis.cell_of(NOW), axis.cells) == (cells // 4, cells)
            assert 60 % axis.step == 0


def test_a_day_that_is_asked_for_begins_the_axis_and_is_moved_by_quarters() -> None:
    for quarters, start in ((0, "00:00"), (2, "12:00")):
        assert night_axis(NOW, Zoom.DAY, SizeClass.WIDE, 72, UTC, quarters, at("00:00")) == TimeAxis(at(start), 20, 72)


@pytest.mark.parametrize(
    ("start", "now", "short", "line"),
    [
        ("02:00", "02:30", True, "02:00 ▼now  "),
        ("02:00", "02:40", True, "02:00   ▼now"),
        ("02:00", "02:45", True, "02:00    ▼  "),
        ("02:00", "02:30", False, "02:00 ▼     "),
        ("02:00", "02:05", False, " ▼ now 02:05"),
        ("02:00", "02:25", True, "     ▼now   "),
        ("02:00", "02:00", True, "▼now        "),
        ("02:00", "01:59", True, "02:00       "),
        ("02:00", "03:00", True, "02:00       "),
        ("01:25", "01:35", True, "  ▼now 02:00"),
        ("01:25", "01:40", True, "   ▼now     "),
        ("01:20", "01:20", True, "▼now        "),
    ],
)
def test_an_hour_is_left_out_where_it_would_touch_now_and_what_would_be_cut(
    start: str, now: str, short: bool, line: str
) -> None:
    axis = TimeAxis(at(start), 5, 12)
    assert "".join(cell.text for cell in hours_line(axis, at(now), UTC, short=short)) == line


def test_a_terminal_is_wide_from_120_columns_on_and_huge_from_160() -> None:
    classes = [size_class(columns) for columns in (80, 119, 120, 159, 160)]
    assert classes == [SizeClass.NARROW, SizeClass.NARROW, SizeClass.WIDE, SizeClass.WIDE, SizeClass.HUGE]


def test_the_hours_of_a_day_of_the_week_go_from_midnight_on() -> None:
    hours = "".join(cell.text for cell in day_line(day_axes(NOW, SizeClass.NARROW, UTC)[0], UTC))
    assert hours.split() == ["00:00", "04:00", "08:00", "12:00", "16:00", "20:00"]


@pytest.mark.parametrize("cells", [20, 34, 35, 36])
def test_no_hour_of_a_day_is_written_beyond_its_edge(cells: int) -> None:
    line = day_line(TimeAxis(at("00:00"), 30, cells), UTC)
    assert len("".join(cell.text for cell in line)) == cells


def test_a_run_is_as_long_as_it_takes() -> None:
    twenty = LaneRun(at("02:35"), at("02:35"), at("02:55"))
    assert _text(twenty) == "      │▆▆▆▆ "
    beyond = LaneRun(at("02:50"), at("02:50"), at("03:40"))
    assert _text(twenty, beyond) == "      │▆▆▆▆▆"
    paused = LaneRun(at("02:45"), tone=Tone.PAUSED, sign=LaneSign.PAUSED)
    assert _text(twenty, paused) == "      │▆▆‖▆ "
