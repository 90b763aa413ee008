"""The answer of the primer in words: the expressions, how exact they are, the pairs to come, and the prescaler's."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

from foretop.bindings import key_name
from foretop.panes.calendar_pane import when
from foretop.widgets.paragraphs import Line, Paragraph, Span, paragraph, span, wrap
from foretop.widgets.styles import BOLD, DIM, HEAD, style_of
from foretop_core.rules.primer import Pair, PrescalerVerdict, Primed
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text.terminal_text import cut_end
from foretop_core.tables.text.times import short, until
from foretop_core.tables.timeline.primer_preview import MOST_PAIRS, Preview, coming, pair_axis, pair_cells
from foretop_core.tables.timeline.time_axis import axis, axis_over

INDENT = 12
_DAY = timedelta(days=1)
_WEEK = 7 * _DAY
_WEEK_LINES = 4
_LEAST_ROWS, _MOST_ROWS = 3, 20
_LEAD = 8
_TIME = 20
"""Cells for `Mon 16 Nov 02:50` and what stands between two columns."""
_INTRO = (
    "A warm-up is a cron job of its own that runs some minutes before another one, so that nodes are ready when "
    "the work begins. This page computes its expressions exactly."
)


def introduction() -> tuple[Paragraph, ...]:
    return (
        paragraph(_INTRO),
        paragraph(""),
        _labelled("enter", (Span("type the expression to warm up for"),)),
        _labelled("tab", (Span("type how many minutes before it"),)),
        _labelled(key_name("take"), (Span("use a Schedule, CronJob or PreScaledCronJob of the cluster instead"),)),
    )


def primer_pane(shown: Preview, now: datetime, zone: tzinfo, cells: int, lines: int = 0) -> tuple[Paragraph, ...]:
    """`zone` is that of the times where the expression names none; what `lines` are left show the week and a table."""
    if shown.problem:
        return (_labelled("Cannot", (span(shown.problem, Tone.BAD),)),)
    assert shown.primed is not None
    assert shown.verdict is not None
    own = shown.zone or zone
    pairs = coming(shown, now)
    said = (
        *_primed(shown.primed),
        *_next(pairs, now, own, cells - INDENT),
        *_ruler(pairs, shown.minutes, own, cells - INDENT),
        *_prescaler(shown.verdict),
    )
    left = lines - len(wrap(said, cells))
    week = _week(pairs, now, own, cells - INDENT) if left >= _WEEK_LINES else ()
    return (*said, *week, *_table(pairs, now, own, left - len(week)))


def _week(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    """The lane of the coming week, or of the days that are worked out where there are very many runs."""
    if not pairs or room < 30:
        return ()
    days = min(_WEEK, (pairs[-1].run - now) // _DAY * _DAY if len(pairs) >= MOST_PAIRS else _WEEK)
    if not days:
        return ()
    ruler = axis_over(now, days, room, zone)
    title = "Next week" if days == _WEEK else f"Next {days.days}d"
    return (
        paragraph(""),
        _labelled(title, (Span(axis(ruler, zone).rstrip(), HEAD),)),
        _labelled("", (Span(pair_cells(pairs, ruler).rstrip()),)),
    )


def _table(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, lines: int) -> tuple[Paragraph, ...]:
    """The next pairs, a line each."""
    rows = min(len(pairs), _MOST_ROWS, lines - 2)
    if rows < _LEAST_ROWS:
        return ()
    head = Paragraph((Span(f"{'':<{INDENT}}{'WARM-UP':<{_TIME}}{'RUN':<{_TIME}}{'LEAD':<{_LEAD}}STARTS", HEAD),))
    body = [
        Paragraph(
            (
                Span(f"{'':<{INDENT}}{_day(pair.warmup, zone)}{_day(pair.run, zone)}"),
                Span(f"{short(pair.run - pair.warmup):<{_LEAD}}"),
                Span(until(pair.warmup - now), DIM),
            )
        )
        for pair in pairs[:rows]
    ]
    return (paragraph(""), head, *body)


def _day(at: datetime, zone: tzinfo) -> str:
    local = at.astimezone(zone)
    return f"{f'{local:%a} {local.day} {local:%b %H:%M}':<{_TIME}}"


def _primed(primed: Primed) -> tuple[Paragraph, ...]:
    mark = StatusGlyph.TRUE if primed.exact else StatusGlyph.LOOK
    word = "exact" if primed.exact else "nearly exact"
    verdict = Span(f"   {mark.value} {word}", style_of(mark.tone))
    first, *others = primed.expressions
    said = [_labelled("Primed", (Span(first, BOLD), verdict))]
    said += [_labelled("", (Span(text, BOLD),)) for text in others]
    if primed.note:
        said.append(_labelled("", (span(primed.note, Tone.WARN),)))
    return tuple(said)


def _next(pairs: tuple[Pair, ...], now: datetime, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    if not pairs:
        return (_labelled("Next", (span("no upcoming run within the next five years", Tone.WARN),)),)
    shown: list[str] = []
    told = now.astimezone(zone).date()
    for pair in pairs:
        text = _pair(pair, told, now, zone)
        if shown and len("   ".join([*shown, text])) > room:
            break
        shown.append(text)
        told = pair.run.astimezone(zone).date()
    return (_labelled("Next", (Span("   ".join(shown)),)),)


def _pair(pair: Pair, told: date, now: datetime, zone: tzinfo) -> str:
    """The day is said where it is another than the one told last, and of both ends where it changes between them."""
    begins, ends = pair.warmup.astimezone(zone), pair.run.astimezone(zone)
    if begins.date() != ends.date():
        return f"{when(begins, now, zone)} → {when(ends, now, zone)}"
    first = f"{begins:%H:%M}" if begins.date() == told else when(begins, now, zone)
    return f"{first} → {ends:%H:%M}"


def _ruler(pairs: tuple[Pair, ...], minutes: int, zone: tzinfo, room: int) -> tuple[Paragraph, ...]:
    if not pairs or room < 10:
        return ()
    ruler = pair_axis(pairs, minutes, room, zone)
    name = "UTC" if zone is UTC else str(zone).rpartition("/")[2]
    return (
        _labelled("", (Span(axis(ruler, zone).rstrip(), HEAD),), name),
        _labelled("", (Span(pair_cells(pairs, ruler).rstrip()),)),
    )


def _prescaler(verdict: PrescalerVerdict) -> tuple[Paragraph, ...]:
    if not verdict.supported:
        return (_labelled("Prescaler", (span("refuses it: ", Tone.WARN), span(verdict.reason))),)
    text = Span(verdict.expression or "", BOLD)
    if not (verdict.missed_in_8_years or verdict.extra_in_8_years):
        against = Span("" if verdict.documented else f", though {verdict.reason}")
        return (_labelled("Prescaler", (Span("gives "), text, Span(", which is right"), against)),)
    wrong = f"{verdict.missed_in_8_years:,} warm-ups missed and {verdict.extra_in_8_years:,} unneeded in 8 years"
    said = (Span("gives "), text, Span(", contrary to its documentation, and is wrong: "), span(wrong, Tone.BAD))
    return (_labelled("Prescaler", said),)


def _labelled(label: str, spans: Line, aside: str = "") -> Paragraph:
    head = Span(f"{label:<{INDENT}}", BOLD) if label else Span(f"{cut_end(aside, INDENT - 1):<{INDENT}}", DIM)
    return Paragraph((head, *spans), indent=INDENT)
