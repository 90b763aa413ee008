"""The chart of a schedule's runs for a pane or page: a bar for each, in the colour of its outcome."""

from __future__ import annotations

from datetime import timedelta

from foretop.widgets.paragraphs import Paragraph, Span, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.models import Backup
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import usual_length
from foretop_core.rules.facts.schedule_runs import NOT_MADE, PAUSED, RUN_WORDS
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedules import ScheduleRow, expected_runs
from foretop_core.tables.text.run_chart import ChartBar, ChartPiece, bars_that_fit, run_chart

_TONES = {
    ".": Tone.GOOD,
    "w": Tone.WARN,
    "P": Tone.WARN,
    "F": Tone.BAD,
    "V": Tone.BAD,
    NOT_MADE: Tone.BAD,
    "o": Tone.WAITING,
    "~": Tone.RUNNING,
    PAUSED: Tone.PAUSED,
}
_GOOD = "."
_SIGNS = {_GOOD: "", NOT_MADE: "×", "o": "○", "~": "◐"}
"""On the axis of a chart, where they are not the letter itself."""


def run_chart_lines(entry: ScheduleRow, render: RenderContext, cells: int, rows: int) -> tuple[Paragraph, ...]:
    """As many of its last runs as the line has room for; nothing where none has a length."""
    runs = expected_runs(entry, render, bars_that_fit(cells))
    bars = [ChartBar(_length(run.backup, render), _SIGNS.get(run.letter, run.letter)) for run in runs]
    lines = run_chart(bars, rows)
    if not lines:
        return ()
    tones = [_TONES[run.letter] for run in runs]

    def painted(piece: ChartPiece) -> Span:
        return Span(piece.text, DIM if piece.run is None else style_of(tones[piece.run]))

    usual = usual_length(entry.runs)
    count = humanize.count(sum(run.letter != PAUSED for run in runs), "run")
    told = f"  the last {count}, oldest first{f'; usual {humanize.duration(usual)}' if usual else ''}"
    words = [
        span(f"{_SIGNS.get(sign, sign)} {word}   ", _TONES[sign])
        for sign, word in RUN_WORDS.items()
        if sign != _GOOD and any(run.letter == sign for run in runs)
    ]
    return (
        Paragraph((Span("RUNS", BOLD), Span(told, DIM))),
        *(Paragraph(tuple(map(painted, line))) for line in lines),
        *((Paragraph(tuple(words), in_items=True),) if words else ()),
    )


def _length(backup: Backup | None, render: RenderContext) -> timedelta | None:
    """How long it took, or has run so far; None where it was never started."""
    if backup is None or backup.status.start_timestamp is None:
        return None
    return (backup.status.completion_timestamp or render.now) - backup.status.start_timestamp
