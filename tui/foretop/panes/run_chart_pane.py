"""The chart of a schedule's runs for a pane or page: a bar for each, in the colour of its outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta, tzinfo

import msgspec

from foretop.widgets.paragraphs import Paragraph, Span, signed
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import run_length, usual_length
from foretop_core.rules.facts.schedule_runs import PAUSED, RUN_WORDS, ExpectedRun
from foretop_core.tables.engine.drawings import RUN_SIGNS, SIGN_TONES
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedules import ScheduleRow, expected_runs
from foretop_core.tables.text.terminal_text import width

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
    for run, bar in enumerate(bars):
        axis += [ChartPiece(bar.sign, run), ChartPiece("─")] if bar.sign else [ChartPiece("──")]
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


def run_chart_lines(
    entry: ScheduleRow,
    render: RenderContext,
    cells: int,
    rows: int,
    *,
    tells_usual: bool = False,
    has_dates: bool = False,
) -> tuple[Paragraph, ...]:
    """As many of its last runs as the line has room for; nothing where none has a length."""
    runs = expected_runs(entry, render, bars_that_fit(cells))
    signs = [RUN_SIGNS.get(run.letter, "") for run in runs]
    lengths = [run_length(run.backup, render.now) if run.backup is not None else None for run in runs]
    lines = run_chart(list(map(ChartBar, lengths, signs)), rows)
    if not lines:
        return ()
    tones = [SIGN_TONES.get(sign, Tone.GOOD) for sign in signs]

    def painted(piece: ChartPiece) -> Span:
        return Span(piece.text, DIM if piece.run is None else style_of(tones[piece.run]))

    usual = usual_length(entry.runs) if tells_usual else None
    count = sum(run.letter != PAUSED for run in runs)
    last = f"last {count}, oldest first" if count > 1 else "the only one"
    heading = f"  {last}{f'; usual {humanize.duration(usual)}' if usual else ''}"
    return (
        Paragraph((Span("RUNS", BOLD), Span(heading, DIM))),
        *(Paragraph(tuple(map(painted, line))) for line in lines),
        *(_dates(runs, render.zone_of(entry.schedule)) if has_dates else ()),
        *signs_in_words(run.letter for run in runs),
    )


def _dates(runs: Sequence[ExpectedRun], zone: tzinfo) -> tuple[Paragraph, ...]:
    """`12 Nov` below the first run of each day, as far as they have room; nothing where all are of one day."""
    line, before = "", None
    days = [run.backup.started.astimezone(zone) if run.backup and run.backup.started else None for run in runs]
    for place, start in enumerate(days):
        if start is None or start.date() == before:
            continue
        before, column = start.date(), SCALE_CELLS + 2 * place
        if not line or column >= width(line) + 2:
            line = f"{line:<{column}}{start.day} {start:%b}"
    return (Paragraph((Span(line, DIM),)),) if len({start.date() for start in days if start}) > 1 else ()


def signs_in_words(letters: Iterable[str], label: str = "") -> tuple[Paragraph, ...]:
    """The signs of runs that are not good among these, in one line; nothing where all are good."""
    shown = set(letters)
    spans = [
        part
        for letter, sign in RUN_SIGNS.items()
        if letter in shown
        for part in (signed(sign, SIGN_TONES[sign], bold=True), Span(f" {RUN_WORDS[letter]}   ", DIM))
    ]
    return (Paragraph(tuple(spans), label, in_items=True),) if spans else ()
