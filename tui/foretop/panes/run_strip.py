"""The strip of a schedule's runs: a bar for each, as high as the run took long, in the colour of its outcome."""

from __future__ import annotations

from datetime import timedelta

from foretop.widgets.paragraphs import LABEL, Paragraph, Span, paragraph, span
from foretop.widgets.styles import style_of
from foretop_core.models import Backup
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_runs import NOT_MADE, PAUSED, RUN_WORDS, ExpectedRun
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedules import ScheduleRow, expected_runs

_BARS = "▂▃▄▅▆█"
_NO_LENGTH = " "
_MOST, _MARGIN = 60, 2
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


def run_strip(entry: ScheduleRow, render: RenderContext, cells: int) -> tuple[Paragraph, ...]:
    """As many of its last runs as the line has room for; below the bars stand the signs of those that are not good."""
    runs = expected_runs(entry, render, max(1, min(_MOST, cells - LABEL - _MARGIN)))
    if not runs:
        return ()
    lengths = [_length(run.backup, render) for run in runs]
    longest = max((length for length in lengths if length is not None), default=None)
    bars = tuple(
        Span(_bar(length, longest), style_of(_TONES[run.letter])) for run, length in zip(runs, lengths, strict=True)
    )
    said = [Paragraph(bars, "Runs")]
    if any(run.letter != _GOOD for run in runs):
        said.append(Paragraph(tuple(_sign(run) for run in runs), " "))
    height = f"; the highest bar is {humanize.duration(longest)}" if longest else ""
    count = humanize.count(sum(run.letter != PAUSED for run in runs), "run")
    said.append(paragraph(f"the last {count}, oldest first{height}", Tone.DIM, label=" "))
    words = [
        span(f"{sign} {word}   ", _TONES[sign])
        for sign, word in RUN_WORDS.items()
        if sign != _GOOD and any(run.letter == sign for run in runs)
    ]
    return (*said, Paragraph(tuple(words), " ", in_items=True)) if words else tuple(said)


def _length(backup: Backup | None, render: RenderContext) -> timedelta | None:
    """How long it took, or has run so far; None where it was never started."""
    if backup is None or backup.status.start_timestamp is None:
        return None
    return (backup.status.completion_timestamp or render.now) - backup.status.start_timestamp


def _bar(length: timedelta | None, longest: timedelta | None) -> str:
    if length is None:
        return _NO_LENGTH
    share = length / longest if longest else 0.0
    return _BARS[max(0, min(len(_BARS) - 1, round(share * len(_BARS)) - 1))]


def _sign(run: ExpectedRun) -> Span:
    return Span(" " if run.letter == _GOOD else run.letter, style_of(_TONES[run.letter]))
