"""Time laid out in cells: where a stretch of it begins, how much one cell holds, and which cells have a label."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

import msgspec

MINUTE = timedelta(minutes=1)
_DAY = 1440
_STEPS = (
    *(size for size in range(1, _DAY + 1) if _DAY % size == 0),
    *(_DAY * days for days in (2, 7, 28, 91)),
)
"""Minutes that one cell may hold: cells then begin with the day."""
_INTERVALS = (
    10,
    15,
    30,
    60,
    120,
    180,
    240,
    360,
    720,
    *(_DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 364)),
)
_LABEL_ROOM = 8

WARM_UP, RUN = "▒", "|"
"""The signs of a warm-up and of its run."""


class TimeAxis(msgspec.Struct, frozen=True):
    """`cells` cells of `step` minutes each, from `start` (UTC, a whole minute) on."""

    start: datetime
    step: int
    cells: int

    @property
    def minutes(self) -> int:
        return self.step * self.cells

    @property
    def end(self) -> datetime:
        return self.start + self.minutes * MINUTE

    def holds(self, at: datetime) -> bool:
        return self.start <= at < self.end

    def minute_of(self, at: datetime) -> int:
        """How many whole minutes after the start; negative before it."""
        return (at - self.start) // MINUTE

    def cell_of(self, at: datetime) -> int:
        return self.minute_of(at) // self.step


def axis_over(now: datetime, horizon: timedelta, room: int, zone: tzinfo = UTC) -> TimeAxis:
    """The finest ruler that has all of the coming `horizon` in so many cells; the first cell holds `now`."""
    minutes = -(-horizon // MINUTE)
    step = next((size for size in _STEPS if -(-minutes // size) + 1 <= room), _STEPS[-1])
    return _from(now, step, max(1, min(room, -(-minutes // step) + 1)), zone)


def time_axis(now: datetime, most_step: int, horizon: timedelta, room: int, zone: tzinfo = UTC) -> TimeAxis:
    """As `ruler_over`, but no cell holds more than `most_step` minutes: what comes too late for that is left off."""
    whole = axis_over(now, horizon, room, zone)
    step = max(size for size in _STEPS if size <= max(1, min(most_step, whole.step)))
    return _from(now, step, max(1, room), zone)


def axis_at(at: datetime, step: int, cells: int, zone: tzinfo = UTC) -> TimeAxis:
    """So many cells from the one that holds a moment; cells begin with the day."""
    return _from(at, step, max(1, cells), zone)


def _from(now: datetime, step: int, cells: int, zone: tzinfo) -> TimeAxis:
    local = now.astimezone(zone)
    into = (local.hour * 60 + local.minute) % min(step, _DAY)
    return TimeAxis(now.astimezone(UTC).replace(second=0, microsecond=0) - into * MINUTE, step, cells)


def labels(ruler: TimeAxis, zone: tzinfo = UTC, least: int = 0) -> tuple[tuple[int, str], ...]:
    """Cells and the time that they hold, `least` minutes apart or more: hours with the date at midnight, or dates."""
    fitting = (size for size in _INTERVALS if size >= least and size % ruler.step == 0)
    interval = next((size for size in fitting if size // ruler.step >= _LABEL_ROOM), _INTERVALS[-1])
    labelled = []
    for cell in range(ruler.cells):
        local = (ruler.start + cell * ruler.step * MINUTE).astimezone(zone)
        # Where the clocks have changed no cell need begin with the hour: the one that holds it has the label.
        ahead = -(local.toordinal() * _DAY + local.hour * 60 + local.minute) % interval
        if ahead < ruler.step:
            labelled.append((cell, _label(local + ahead * MINUTE, interval)))
    return tuple(labelled)


def _label(local: datetime, interval: int) -> str:
    if interval >= _DAY:
        return f"{local.day} {local:%b}"
    return f"{local:%H:%M}" if local.hour or local.minute else f"{local:%a} {local.day}"


def axis(ruler: TimeAxis, zone: tzinfo = UTC) -> str:
    """The labels in one line, each above the cell that it belongs to; one that would be cut is left out."""
    line = ""
    for cell, label in labels(ruler, zone):
        if (cell == 0 or cell > len(line)) and cell + len(label) <= ruler.cells:
            line = f"{line:<{cell}}{label}"
    return f"{line:<{ruler.cells}}"
