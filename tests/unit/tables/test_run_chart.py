"""The chart of runs: scale, heights and the signs on its axis."""

from __future__ import annotations

from datetime import timedelta

from foretop.panes.run_chart_pane import ChartBar, bars_that_fit, run_chart
from foretop_core.tables.text.terminal_text import width

MINUTE = timedelta(minutes=1)


def drawn(*bars: ChartBar, rows: int = 4) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in run_chart(bars, rows)]


def test_a_bar_and_a_gap_for_each_run_over_a_scale_with_two_labels() -> None:
    assert drawn(ChartBar(MINUTE), ChartBar(2 * MINUTE), ChartBar(MINUTE / 2, "P"), ChartBar(None, "×")) == [
        "  2m┤  █",
        "    │  █",
        "  1m┤█ █",
        "    │█ █ █",
        "    └────P─×─",
    ]


def test_every_line_of_a_chart_is_as_wide_and_has_room() -> None:
    for cells in (20, 42, 68, 196):
        bars = [ChartBar(timedelta(seconds=7 * number)) for number in range(bars_that_fit(cells))]
        widths = {sum(width(piece.text) for piece in line) for line in run_chart(bars, 6)}
        assert len(widths) == 1
        assert widths.pop() <= cells


def test_runs_that_were_never_started_make_no_chart() -> None:
    assert run_chart([ChartBar(None, "×")], 4) == []
    assert run_chart([], 4) == []


def test_odd_lengths_stay_in_the_chart() -> None:
    for length in (timedelta(days=-3), timedelta(), timedelta(days=4000)):
        lines = drawn(ChartBar(length), ChartBar(MINUTE), rows=5)
        assert len(lines) == 6
        assert len(lines[0].split("┤")[0]) == 4


def test_half_of_the_scale_stands_in_the_row_that_holds_it() -> None:
    for rows in (4, 5, 6):
        lines = drawn(ChartBar(2 * MINUTE), rows=rows)
        assert [place for place, line in enumerate(lines) if "┤" in line] == [0, rows // 2]
