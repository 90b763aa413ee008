"""A terminal to which only what differs was written shows the same as one to which everything was."""

from __future__ import annotations

import pyte
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from foretop.terminal.cell_diff import CellDiff
from tests.examples import few_or_many

COLUMNS, LINES, CUT = 24, 3, 9
_CONSOLE = Console(force_terminal=True, color_system="standard", width=COLUMNS)
_STYLES = (Style(), Style(bold=True), Style(color="red"), Style(reverse=True))
_letters = st.sampled_from("abc  ●─バ")
_pieces = st.lists(st.tuples(st.text(_letters, min_size=1, max_size=8), st.sampled_from(_STYLES)), max_size=6)
_lines = st.lists(_pieces, min_size=LINES, max_size=LINES)
_touched = st.sets(st.integers(0, LINES - 1), min_size=1)


def _strip(pieces: list[tuple[str, Style]]) -> Strip:
    return Strip([Segment(text, style) for text, style in pieces]).adjust_cell_length(COLUMNS, Style())


def _part(strips: list[Strip], spans: list[tuple[int, int, int]]) -> ChopsUpdate:
    """As the compositor makes it where two widgets stand side by side."""
    halves = [strip.divide([CUT, COLUMNS]) for strip in strips]
    chops = [dict(zip((0, CUT), pair, strict=True)) for pair in halves]
    return ChopsUpdate(chops, sorted(spans), [[CUT, COLUMNS]] * LINES)


class Twins:
    """Two terminals; only the first is written to sparingly."""

    def __init__(self) -> None:
        self.canvas = CellDiff()
        self.screens = [pyte.Screen(COLUMNS, LINES) for _ in range(2)]
        self.sizes = [0, 0]

    def show(self, update: CompositorUpdate) -> None:
        sparing = self.canvas.sparing(update)  # type: ignore[arg-type]
        assert isinstance(sparing, CompositorUpdate)
        for place, each in enumerate((sparing, update)):
            written = each.render_segments(_CONSOLE)
            self.sizes[place] = len(written.encode())
            pyte.Stream(self.screens[place]).feed(written)

    def assert_alike(self) -> None:
        for y in range(LINES):
            spare, full = (dict(screen.buffer[y]) for screen in self.screens)
            blank = self.screens[0].default_char
            for x in range(COLUMNS):
                assert spare.get(x, blank) == full.get(x, blank), (y, x)


def _whole(strips: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[strip] for strip in strips], Region(0, 0, COLUMNS, LINES))


@few_or_many(10, 100, _lines, st.lists(st.tuples(_lines, _touched), max_size=4))
def test_whatever_is_shown_one_after_the_other_looks_as_if_written_in_full(
    first: list[list[tuple[str, Style]]],
    then: list[tuple[list[list[tuple[str, Style]]], set[int]]],
) -> None:
    twins = Twins()
    shown = [_strip(pieces) for pieces in first]
    twins.show(_whole(shown))
    for lines, touched in then:
        shown = [_strip(pieces) if y in touched else shown[y] for y, pieces in enumerate(lines)]
        is_laid_out = len(touched) == LINES
        twins.show(_whole(shown) if is_laid_out else _part(shown, [(y, 0, COLUMNS) for y in touched]))
        twins.assert_alike()


def test_of_a_clock_only_the_digit_that_turned_is_written() -> None:
    twins = Twins()
    twins.show(_whole([_strip([("prod   live   02:41:07Z", Style(bold=True))])] * LINES))
    twins.show(_part([_strip([("prod   live   02:41:08Z", Style(bold=True))])] * LINES, [(0, 0, COLUMNS)]))
    assert twins.screens[0].display[0].rstrip() == "prod   live   02:41:08Z"
    assert twins.sizes[0] <= 20 < twins.sizes[1]


def test_a_line_that_is_the_same_again_costs_nothing() -> None:
    twins = Twins()
    strips = [_strip([("the same", Style())])] * LINES
    twins.show(_whole(strips))
    twins.show(_part(strips, [(1, 0, COLUMNS)]))
    assert twins.sizes[0] == 0


def test_a_screen_that_is_laid_out_anew_and_looks_the_same_costs_nothing() -> None:
    twins = Twins()
    strips = [_strip([("the same", Style())])] * LINES
    twins.show(_whole(strips))
    twins.show(_whole(strips))
    assert twins.sizes[0] == 0


def test_a_screen_that_the_terminal_may_have_lost_is_written_whole() -> None:
    twins = Twins()
    strips = [_strip([("the same", Style())])] * LINES
    twins.show(_whole(strips))
    twins.screens[0].erase_in_display(2)
    twins.canvas.forget()
    twins.show(_whole(strips))
    twins.assert_alike()
