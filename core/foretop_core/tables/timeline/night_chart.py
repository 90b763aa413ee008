"""The night as cells: a lane for each schedule, the slots in use and who waits for one, each cell a sign and a tone.

Times are laid out by a `TimeAxis`. Nothing here knows a screen: what is drawn in which cell is data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import Enum
from itertools import pairwise

import msgspec

from foretop_core.rules.night.outlook import LEAST_WAIT
from foretop_core.rules.night.window import Window
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.timeline.time_axis import MINUTE, TimeAxis, axis_at, labels

NOW_SHARE = 4
"""Now stands at one part in so many of the width, and a step in time is as wide."""
_ROWS_OF_SLOTS = 4
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_MOST_DIGIT, MANY = 9, "+"


class LaneSign(Enum):
    """The sign of a cell."""

    EMPTY = " "
    HOUR = "┊"
    NOW = "│"
    RANGE = "╌"
    WAIT = "░"
    WARM = "▒"
    UNWARMED = "·"
    RUN = "▆"
    DONE = "█"
    SHORT = "▎"
    UNKNOWN = "?"
    PAUSED = "‖"
    PARTLY = "P"
    FAILED = "F"
    LOST = "×"


class ChartCell(msgspec.Struct, frozen=True):
    """One cell of the chart: a sign of a lane, or a piece of text such as a number."""

    text: str
    tone: Tone = Tone.PLAIN


def cell(sign: LaneSign, tone: Tone) -> ChartCell:
    return _CELLS[sign, tone]


_CELLS = {(sign, tone): ChartCell(sign.value, tone) for sign in LaneSign for tone in Tone}
EMPTY = cell(LaneSign.EMPTY, Tone.PLAIN)
Cells = tuple[ChartCell, ...]


class Zoom(Enum):
    """How much of the time ahead is in sight, with the minutes of a cell in a narrow, wide and huge terminal."""

    NIGHT = (15, 10, 6)
    DAY = (30, 20, 10)
    WEEK = (30, 15, 15)
    HOURS = (6, 5, 3)

    def minutes(self, size: SizeClass) -> int:
        return self.value[size.value]

    @property
    def following(self) -> Zoom:
        order = list(Zoom)
        return order[(order.index(self) + 1) % len(order)]


class SizeClass(Enum):
    """The classes of terminals by their columns."""

    NARROW, WIDE, HUGE = range(3)


def size_class(columns: int) -> SizeClass:
    return SizeClass.NARROW if columns < 120 else SizeClass.WIDE if columns < 160 else SizeClass.HUGE


class LaneRun(msgspec.Struct, frozen=True, gc=False):
    """One run as its lane draws it: it waits from `due` to `start`, and runs to `end`."""

    due: datetime
    start: datetime | None = None
    """None for one that never starts: its sign stands at `due`."""
    end: datetime | None = None
    """Its end, or the likely one; None where nobody can tell."""
    late_end: datetime | None = None
    """It has ended by then in nine of ten courses."""
    tone: Tone = Tone.DIM
    sign: LaneSign | None = None
    """Instead of a bar where it never starts, else in the last cell of the bar."""
    wait: LaneSign = LaneSign.WAIT
    is_running: bool = False


_BARS = (LaneSign.RANGE, LaneSign.WAIT, LaneSign.WARM, LaneSign.UNWARMED, LaneSign.RUN, LaneSign.SHORT, LaneSign.DONE)
_LAYER = {
    sign: place
    for place, sign in enumerate(
        (*_BARS, LaneSign.UNKNOWN, LaneSign.PAUSED, LaneSign.PARTLY, LaneSign.FAILED, LaneSign.LOST)
    )
}
_WEIGHT: dict[Tone, int] = {
    tone: place for place, tone in enumerate((Tone.DIM, Tone.GOOD, Tone.RUNNING, Tone.WARN, Tone.BAD))
}


def night_axis(
    now: datetime, zoom: Zoom, size: SizeClass, cells: int, zone: tzinfo, quarters: int = 0, day: datetime | None = None
) -> TimeAxis:
    """The cells in sight: now stands at a quarter, or the axis begins with a `day`; moved by so many quarters."""
    step, quarter = zoom.minutes(size), max(1, cells // NOW_SHARE)
    if day is not None:
        return axis_at(day + quarters * quarter * step * MINUTE, step, cells, zone)
    return axis_at(now + (quarters - 1) * quarter * step * MINUTE, step, cells, zone)


def hour_labels(axis: TimeAxis, zone: tzinfo) -> tuple[tuple[int, str], ...]:
    """The cells that begin with a full hour that is told, and its time: the grid stands at them."""
    return labels(axis, zone, least=60)


def lane_cells(runs: Iterable[LaneRun], axis: TimeAxis, now: datetime, hours: Iterable[int] = ()) -> Cells:
    """One lane: its runs before the line of now and the grid of hours.

    Where two runs meet in a cell, the one whose sign tells more stays: lost before failed before paused before not
    known before running before expected before waiting, and of two alike the worse.
    """
    marks: list[tuple[int, int, LaneSign, Tone] | None] = [None] * axis.cells
    at_now = axis.cell_of(now)

    def put(first: int, stop: int, sign: LaneSign, tone: Tone) -> None:
        mine = (_LAYER[sign], _WEIGHT.get(tone, 0), sign, tone)
        for place in range(max(0, first), min(axis.cells, stop)):
            mark = marks[place]
            if mark is None or mark[:2] < mine[:2]:
                marks[place] = mine

    for run in runs:
        _put_run(run, axis, at_now, put)
    cells = [EMPTY if mark is None else cell(mark[2], mark[3]) for mark in marks]
    for place in (*hours, at_now):
        if 0 <= place < axis.cells and marks[place] is None:
            cells[place] = cell(LaneSign.NOW, Tone.BRIGHT) if place == at_now else cell(LaneSign.HOUR, Tone.FAINT)
    return tuple(cells)


def _put_run(run: LaneRun, axis: TimeAxis, at_now: int, put: Callable[[int, int, LaneSign, Tone], None]) -> None:
    due = axis.cell_of(run.due)
    if run.start is None:
        if run.sign is not None:
            put(due, due + 1, run.sign, run.tone)
        else:
            # It waits still: nobody can tell for how long.
            put(due, max(due, at_now) + 1, run.wait, Tone.WAITING)
        return
    first = axis.cell_of(run.start)
    if run.wait is not LaneSign.WAIT or run.start - run.due >= LEAST_WAIT:
        put(due, first, run.wait, _WAIT_TONES.get(run.wait, Tone.DIM))
    stop = first + 1
    if run.end is not None:
        stop = max(stop, round((run.end - axis.start) / (axis.step * MINUTE)))
    if run.late_end is not None:
        put(stop, round((run.late_end - axis.start) / (axis.step * MINUTE)), LaneSign.RANGE, Tone.DIM)
    if run.is_running:
        put(first, at_now, LaneSign.DONE, Tone.RUNNING)
        put(max(first, at_now), at_now + 1, LaneSign.DONE, Tone.BRIGHT)
        if run.end is not None:
            put(at_now + 1, stop, LaneSign.RUN, Tone.RUNNING)
        return
    is_short = run.end is None or run.end - run.start < axis.step * MINUTE / 2
    put(first, stop, LaneSign.SHORT if is_short else LaneSign.RUN, run.tone)
    if run.sign is not None:
        put(stop - 1, stop, run.sign, run.tone)


_WAIT_TONES = {LaneSign.WAIT: Tone.WAITING, LaneSign.WARM: Tone.DIM, LaneSign.UNWARMED: Tone.WARN}


class SlotSpan(msgspec.Struct, frozen=True, gc=False):
    """One run as slots and queue see it."""

    submitted: datetime
    start: datetime | None
    end: datetime | None


class CellLoad(msgspec.Struct, frozen=True):
    """One cell: the slots that are in use on average, the most at one moment, and the most that wait."""

    mean: float = 0.0
    most: int = 0
    waiting: int = 0


def cell_loads(spans: Iterable[SlotSpan], axis: TimeAxis) -> tuple[CellLoad, ...]:
    """For each cell of the axis, how many are at work and how many wait; waits below a minute are none."""
    at_work, queued = [], []
    for span in spans:
        if span.start is not None and span.end is not None:
            at_work.append((span.start, span.end))
        until = span.start or span.end
        if until is not None and until - span.submitted >= LEAST_WAIT:
            queued.append((span.submitted, until))
    means, most = _levels(at_work, axis)
    _, waiting = _levels(queued, axis)
    return tuple(map(CellLoad, means, most, waiting))


def _levels(stretches: Iterable[tuple[datetime, datetime]], axis: TimeAxis) -> tuple[list[float], list[int]]:
    """The average and the largest number at one time in each cell."""
    step, cells = axis.step * 60.0, axis.cells
    moves: list[tuple[float, int]] = []
    for begins, ends in stretches:
        first = max(0.0, (begins - axis.start).total_seconds())
        last = min(step * cells, (ends - axis.start).total_seconds())
        if last > first:
            moves += [(first, 1), (last, -1)]
    moves.sort()
    means, most = [0.0] * cells, [0] * cells
    reached, count = 0.0, 0
    for moment, change in (*moves, (step * cells, 0)):
        while reached < moment:
            place = min(cells - 1, int(reached / step))
            upto = min(moment, (place + 1) * step)
            means[place] += count * (upto - reached) / step
            most[place] = max(most[place], count)
            reached = upto
        count += change
    return means, most


def slot_rows(
    loads: Sequence[CellLoad], limit: int, axis: TimeAxis, now: datetime, *, one_row: bool, in_numbers: bool = False
) -> list[Cells]:
    """The slots in use as bars, the top row first: a row for each slot to four, or one whose full height is the limit.

    The top row warns where all are taken and somebody waits; `in_numbers` it has a number in the place of each bar.
    """
    rows = 1 if one_row else max(1, min(limit, _ROWS_OF_SLOTS))
    at_now = axis.cell_of(now)
    drawn: list[Cells] = []
    for row in range(rows, 0, -1):
        line = []
        for place, load in enumerate(loads):
            height = min(load.mean, limit) / limit * rows
            eighths = math.ceil(8 * min(1.0, max(0.0, height - row + 1)) - 1e-9)
            full = row == rows and load.waiting > 0 and load.most >= limit
            tone = Tone.WARN if full else Tone.RUNNING if place <= at_now else Tone.DIM
            number = _digit(math.ceil(load.mean - 1e-9)) if row == rows else " "
            line.append(ChartCell(number if in_numbers else _EIGHTHS[eighths], tone))
        drawn.append(tuple(line))
    return drawn


def slot_scale(limit: int, *, one_row: bool) -> list[str]:
    """The numbers beside the rows of `slot_rows`; "" where a row stands between two numbers."""
    rows = 1 if one_row else max(1, min(limit, _ROWS_OF_SLOTS))
    return [str(limit * row // rows) if limit * row % rows == 0 else "" for row in range(rows, 0, -1)]


def waiting_cells(loads: Sequence[CellLoad]) -> Cells:
    """How many wait at most in each cell, `MANY` above nine."""
    return tuple(ChartCell(_digit(load.waiting), Tone.WAITING) for load in loads)


def _digit(number: int) -> str:
    return " " if number <= 0 else str(number) if number <= _MOST_DIGIT else MANY


def with_window(
    hours: Iterable[ChartCell], axis: TimeAxis, window: Window | None, *, is_free: bool
) -> tuple[ChartCell, ...]:
    """The line of hours with a stretch that is to be kept free drawn where no word stands."""
    if window is None:
        return tuple(hours)
    tone = Tone.DIM if is_free else Tone.WARN
    cells: list[ChartCell] = []
    place = 0
    for cell in hours:
        begins, step = axis.start + place * axis.step * MINUTE, axis.step * MINUTE
        if cell.text.isspace():
            cells += [
                ChartCell("═", tone) if window.has(begins + number * step) else ChartCell(" ", cell.tone)
                for number in range(len(cell.text))
            ]
        else:
            cells.append(cell)
        place += len(cell.text)
    return tuple(cells)


def hours_line(axis: TimeAxis, now: datetime, zone: tzinfo, *, short: bool) -> tuple[ChartCell, ...]:
    """The labels of the hours in one line, with now, as pieces that are as wide as their text.

    A label is left out where it would touch that of now, or be cut.
    """
    at_now, local = axis.cell_of(now), now.astimezone(zone)
    word = ("▼now" if short else f"▼ now {local:%H:%M}") if 0 <= at_now < axis.cells else ""
    if at_now + len(word) > axis.cells:
        word = "▼" if word else ""
    placed: list[tuple[int, ChartCell]] = [(at_now, ChartCell(word, Tone.BRIGHT))] if word else []
    for place, text in hour_labels(axis, zone):
        touches = word and place <= at_now + len(word) and place + len(text) >= at_now
        if not touches and place + len(text) <= axis.cells:
            placed.append((place, ChartCell(text, Tone.DIM)))
    return _line_of(placed, axis.cells)


def day_line(axis: TimeAxis, zone: tzinfo) -> tuple[ChartCell, ...]:
    """The labels of the hours of any day, as `hours_line`."""
    placed = []
    for place, _ in hour_labels(axis, zone):
        text = f"{(axis.start + place * axis.step * MINUTE).astimezone(zone):%H:%M}"
        if place + len(text) <= axis.cells:
            placed.append((place, ChartCell(text, Tone.DIM)))
    return _line_of(placed, axis.cells)


def _line_of(placed: Iterable[tuple[int, ChartCell]], cells: int) -> tuple[ChartCell, ...]:
    pieces: list[ChartCell] = []
    used = 0
    for place, piece in sorted(placed, key=lambda one: one[0]):
        pieces += [_gap(place - used), piece]
        used = place + len(piece.text)
    return (*pieces, _gap(cells - used))


def _gap(cells: int) -> ChartCell:
    return ChartCell(" " * cells)


_DAYS = 7


def day_axes(now: datetime, size: SizeClass, zone: tzinfo) -> tuple[TimeAxis, ...]:
    """An axis for each of the coming days, from its midnight on; one of 23 or 25 hours has as many."""
    step = Zoom.WEEK.minutes(size)
    today = now.astimezone(zone).date()
    coming = (today + timedelta(days=ahead) for ahead in range(_DAYS + 1))
    # Subtracted in UTC: two times of one zone differ by what its clock shows.
    midnights = [datetime.combine(day, time(), zone).astimezone(UTC) for day in coming]
    return tuple(
        axis_at(first, step, max(1, round((last - first) / (step * MINUTE))), zone)
        for first, last in pairwise(midnights)
    )
