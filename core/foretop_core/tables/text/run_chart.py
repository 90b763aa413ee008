"""A chart of runs: a bar and a gap for each, as high as it took long; an axis with the signs of what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_STEPS = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(2, 4, 10, 20, 30, 60, 120, 240, 360, 600, 1200, 1800, 3600, 7200, 14400, 21600, 36000, 43200),
        *(86400, 172800),
    )
)
"""The heights that a scale may have: half of each is a number that a person reads at once."""
_LONGEST = timedelta(days=99)
SCALE_CELLS = 5
"""The label of the scale and its line."""


class ChartBar(msgspec.Struct, frozen=True):
    """One run: how long it took, None where it was never started, and its sign on the axis, "" for a good one."""

    length: timedelta | None
    sign: str = ""


class ChartPiece(msgspec.Struct, frozen=True):
    """A piece of a line; `run` is the run that it belongs to, None for the scale and the axis."""

    text: str
    run: int | None = None


def bars_that_fit(cells: int) -> int:
    """How many runs have room beside the scale."""
    return max(1, (cells - SCALE_CELLS) // 2)


def run_chart(bars: Sequence[ChartBar], rows: int) -> list[tuple[ChartPiece, ...]]:
    """The lines from the top, the axis last; none where no run has a length."""
    longest = max((min(bar.length, _LONGEST) for bar in bars if bar.length is not None), default=None)
    if longest is None:
        return []
    top = next((step for step in _STEPS if step >= longest), longest)
    heights = [_height(bar.length, top, rows) for bar in bars]
    lines = []
    for row in range(rows):
        below = (rows - 1 - row) * 8
        label = _brief(top) if row == 0 else _brief(top / 2) if row == rows // 2 else ""
        pieces = [ChartPiece(f"{label:>{SCALE_CELLS - 1}}{'┤' if label else '│'}")]
        for run, height in enumerate(heights):
            pieces.append(ChartPiece(f"{_EIGHTHS[max(0, min(8, height - below))]} ", run))
        lines.append(tuple(pieces))
    axis = [ChartPiece(f"{'':>{SCALE_CELLS - 1}}└")]
    axis += [ChartPiece(f"{bar.sign or '─'}─", run if bar.sign else None) for run, bar in enumerate(bars)]
    return [*lines, tuple(axis)]


def _height(length: timedelta | None, top: timedelta, rows: int) -> int:
    """In eighths of a row; a run that was started is never without a bar."""
    return 0 if length is None else max(1, min(rows * 8, round(max(length, timedelta()) / top * rows * 8)))


def _brief(length: timedelta) -> str:
    """`30s`, `2m`, `3h`."""
    seconds = int(length.total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m"
