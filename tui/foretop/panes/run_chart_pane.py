"""The chart of a schedule's runs for a pane or page: a bar for each, in the colour of its outcome."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.widgets.paragraphs import Paragraph, Span, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import run_length, usual_length
from foretop_core.rules.facts.schedule_runs import PAUSED, RUN_WORDS
from foretop_core.tables.engine.drawings import RUN_SIGNS, SIGN_TONES
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedules import ScheduleRow, expected_runs
from foretop_core.tables.text.run_chart import ChartBar, ChartPiece, bars_that_fit, run_chart


def run_chart_lines(entry: ScheduleRow, render: RenderContext, cells: int, rows: int) -> tuple[Paragraph, ...]:
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

    usual = usual_length(entry.runs)
    count = humanize.count(sum(run.letter != PAUSED for run in runs), "run")
    told = f"  the last {count}, oldest first{f'; usual {humanize.duration(usual)}' if usual else ''}"
    return (
        Paragraph((Span("RUNS", BOLD), Span(told, DIM))),
        *(Paragraph(tuple(map(painted, line))) for line in lines),
        *signs_in_words(run.letter for run in runs),
    )


def signs_in_words(letters: Iterable[str], label: str = "") -> tuple[Paragraph, ...]:
    """The signs of runs that are not good among these, in one line; nothing where all are good."""
    shown = set(letters)
    spans = [
        part
        for letter, sign in RUN_SIGNS.items()
        if letter in shown
        for part in (span(sign, SIGN_TONES[sign], bold=True), Span(f" {RUN_WORDS[letter]}   ", DIM))
    ]
    return (Paragraph(tuple(spans), label, in_items=True),) if spans else ()
