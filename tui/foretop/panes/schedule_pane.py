"""The pane of a schedule: its meaning, what holds it, and what unpausing would do now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from foretop.bindings import RESUME, key_name
from foretop.panes.next_volumes_section import volume_paragraphs
from foretop.panes.run_chart_pane import run_chart_lines, signs_in_words
from foretop.widgets.paragraphs import Paragraph, Span, beside, paragraph, span
from foretop.widgets.styles import style_of
from foretop_core.actions.planners.pausing import CHANGE_PAUSE
from foretop_core.cron import quoted
from foretop_core.dashboard.table_models import cells_of
from foretop_core.models import Backup
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import pause_windows
from foretop_core.rules.facts.run_facts import usual_length
from foretop_core.rules.facts.schedule_facts import ScheduleFacts
from foretop_core.rules.facts.schedule_runs import SHOWN_RUNS
from foretop_core.rules.facts.volume_facts import next_volumes
from foretop_core.rules.phases import ENDED, OUTCOMES
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, run_mark, severity_mark
from foretop_core.tables.engine.view import pieces
from foretop_core.tables.resources.runs import RUNS_OF_SCHEDULE, backup_row
from foretop_core.tables.resources.schedules import ScheduleRow, last_runs
from foretop_core.tables.text.terminal_text import pad

_CHART_ROWS, _LAST_RUNS = 5, 14
_RUN_COLUMNS = tuple(
    column for column in RUNS_OF_SCHEDULE if column.name not in ("volumes", "size", "expires", "backup")
)
_KEPT_FREE = paragraph("", yields=True, least=0)
"""An empty line, where there is room for it."""
_PAGE_CHART_ROWS, _WIDE_PAGE_CHART_ROWS = 4, 6
_ROOM_FOR_RUNS = 60
"""Cells from which on a pane lists the last runs too."""


def schedule_pane(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """Says what is wrong first, in the colour of its state; then what happens, then how it is set up."""
    facts = render.schedule_facts(entry)
    body = _unpausing(facts, render) if entry.schedule.spec.paused else _running(facts, render)
    above = (*_statement(facts, render), *_window(facts, render), *body)
    return *above, *_last(facts, render), *_usual(facts), *_set_up(facts)


def schedule_page(
    entry: ScheduleRow, render: RenderContext, cells: int, to_do: Sequence[Paragraph], *, is_wide: bool
) -> tuple[Paragraph, ...]:
    """The sentence, what happens, how it is set up and the chart of its runs; the table of them stands below it.

    `to_do` is what its findings ask for.
    """
    facts = render.schedule_facts(entry)
    head = _statement(facts, render) or _good_ones(facts)
    body = _unpausing(facts, render) if entry.schedule.spec.paused else _running(facts, render)
    happens = (
        *body,
        *volume_paragraphs(next_volumes(render.snapshot, facts.schedule)),
        *_last_in_table(facts, render),
        *to_do,
    )
    if not is_wide:
        chart = run_chart_lines(entry, render, cells, _PAGE_CHART_ROWS, tells_usual=True)
        return *head, *happens, *_set_up_briefly(facts), *chart
    left = (*happens, *_usual(facts), *_last_good(facts, render))
    made = entry.schedule.created
    right = (
        *_set_up(facts),
        *((paragraph(render.time(made, entry.schedule), label="Made"),) if made else ()),
    )
    chart = run_chart_lines(entry, render, cells, _WIDE_PAGE_CHART_ROWS, has_dates=True)
    gap = paragraph("")
    return *head, *((gap,) if head else ()), *beside(left, right, cells), gap, *chart, *((gap,) if chart else ())


def _last_in_table(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """The part of the last run that the table of runs does not tell: why it failed, or why there is none."""
    last = facts.last_backup
    if last is None:
        return _last(facts, render)
    return (paragraph(why, Tone.BAD, label="Why", yields=True),) if (why := _reason(last)) else ()


def _last_good(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """The newest good run, where the last one is not that."""
    good, last = facts.newest_good, facts.last_backup
    if good is None or good is last or good.started is None:
        return ()
    when = f"{render.time(good.started, facts.schedule)}, {humanize.duration(render.now - good.started)} ago"
    return (paragraph(when, label="Good"),)


def _reason(run: Backup) -> str:
    return run.status.failure_reason or "; ".join(run.status.validation_errors)


def _good_ones(facts: ScheduleFacts) -> tuple[Paragraph, ...]:
    """How many of its last runs went well, where nothing else is to be said first."""
    ended = [run.phase for run in facts.runs if run.phase in ENDED]
    good = sum(1 for _ in takewhile("Completed".__eq__, ended))
    if not good or facts.severity is not None:
        return ()
    text = f"Its last {good} runs were good." if good > 1 else "Its last run was good."
    return (paragraph(text, Tone.GOOD, bold=True),)


def schedule_runs(entry: ScheduleRow, render: RenderContext, cells: int) -> tuple[Paragraph, ...]:
    """The chart of its runs for a pane beside the table, and in a wide one the last of them."""
    chart = run_chart_lines(entry, render, cells, _CHART_ROWS)
    if not chart:
        return ()
    # Title, bars and axis; without the line of signs an empty one is kept, so that no chart stands lower than another.
    signs = () if len(chart) > _CHART_ROWS + 2 else (_KEPT_FREE,)
    table = _run_table(entry, render) if cells >= _ROOM_FOR_RUNS else ()
    return (Paragraph((), at_bottom=True), *chart, *signs, *table)


def strip_signs(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """The signs in the strip of its row, where the strip has as many runs as beside a narrow table."""
    return signs_in_words(last_runs(entry, render)[-SHOWN_RUNS:], label="Runs")


def _statement(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """One sentence on what is wrong with it, or that it is paused; none where all is well."""
    faults = len(facts.faults_in_a_row)
    tone = severity_mark(facts.severity).tone if facts.severity is not None else Tone.PAUSED
    if facts.pause is not None:
        return (paragraph(f"Paused{_paused(facts, render)}.", tone, bold=True),)
    if facts.invalid and facts.dialect is not None:
        return (paragraph(f"Velero refuses it and makes no backups: {facts.invalid}.", tone, bold=True),)
    if facts.invalid or facts.overdue is not None or not faults:
        return ()
    outcome = OUTCOMES[facts.faults_in_a_row[0].phase]
    good = sum(run.phase == "Completed" for run in facts.runs)
    after = f", after {humanize.count(good, 'good one')}" if good else ""
    text = f"Its last {faults} runs {outcome.replace('was', 'were')}" if faults > 1 else f"Its last run {outcome}"
    return (Paragraph((span(text, tone, bold=True), span(f"{after}."))),)


def _usual(facts: ScheduleFacts) -> tuple[Paragraph, ...]:
    usual = usual_length(facts.runs)
    return (paragraph(humanize.duration(usual), label="Usual"),) if usual else ()


def _set_up(facts: ScheduleFacts) -> tuple[Paragraph, ...]:
    """How it is set up; what the rows above need goes first where there is no room."""
    skip = facts.schedule.spec.skip_immediately
    place, kept = _kept(facts)
    lines = (
        ("Cron", _cron(facts)),
        ("Takes", _taken(facts)),
        ("Storage", f"{place}, {kept}"),
        ("Skip", "the server's default" if skip is None else "yes" if skip else "no"),
    )
    return tuple(paragraph(text, label=label) for label, text in lines if text)


def _set_up_briefly(facts: ScheduleFacts) -> tuple[Paragraph, ...]:
    """The same in two lines, above a chart that says what is usual."""
    place, kept = _kept(facts)
    return (
        paragraph(_cron(facts), label="Cron"),
        paragraph(f"{_taken(facts)}; to {place}, {kept}", label="Takes"),
    )


def _cron(facts: ScheduleFacts) -> str:
    return f"{facts.schedule.spec.schedule}, {_meaning(facts)}" if facts.parsed else _meaning(facts)


def _taken(facts: ScheduleFacts) -> str:
    names = facts.schedule.spec.template.included_namespaces
    return "all namespaces" if not names or "*" in names else humanize.join(names)


def _kept(facts: ScheduleFacts) -> tuple[str, str]:
    """The place that its backups are written to, and how long they are kept."""
    template = facts.schedule.spec.template
    length = humanize.read_duration(template.ttl)
    kept = (
        f"kept {humanize.duration(length) if length else template.ttl}"
        if template.ttl and length != timedelta()
        else ""
    )
    return template.storage_location or "the default location", kept or "kept for the server's default time"


def _run_table(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its last runs, a line each."""
    runs = entry.runs[:_LAST_RUNS]
    head = "  ".join(pad(column.title, column.cells, right=column.right) for column in _RUN_COLUMNS)
    return (
        paragraph(""),
        paragraph(f"  {head}", Tone.DIM, bold=True),
        *(_run_line(run, render) for run in runs),
        *(_KEPT_FREE for _ in range(_LAST_RUNS - len(runs))),
    )


def _run_line(run: Backup, render: RenderContext) -> Paragraph:
    """The same cells as on the page of the schedule."""
    mark = run_mark(run.phase)
    cells = zip(cells_of(_RUN_COLUMNS, backup_row(run, render), render), _RUN_COLUMNS, strict=True)
    parts = (piece for cell, column in cells for piece in (*pieces(cell, column, column.cells), Piece("  ")))
    sign = Span(f"{mark.value} ", style_of(mark.tone))
    return Paragraph((sign, *(Span(piece.text, style_of(piece.tone)) for piece in parts)))


def _meaning(facts: ScheduleFacts) -> str:
    if facts.dialect is None:
        return f"{facts.schedule.spec.schedule}, which Velero releases read differently"
    if facts.parsed is None:
        why = "too long" if facts.is_too_long else "not a valid cron expression"
        return f"{quoted(facts.schedule.spec.schedule)} is {why}"
    return facts.parsed.describe()


def _paused(facts: ScheduleFacts, render: RenderContext) -> str:
    paused = facts.pause
    if paused is None:
        return ""
    since = f" since {render.time(paused.since, facts.schedule)}" if paused.since else ""
    who = f" {paused.who}" if paused.who else ""
    why = f" ({paused.why})" if paused.why else ""
    until = f"; meant until {render.time(paused.until, facts.schedule)}" if paused.until else ""
    return f"{since}{who}{why}{until}"


def _window(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """Tells one key for this schedule from the other for all that were paused with it."""
    mine = [window for window in pause_windows(render.snapshot.schedules) if facts.schedule in window.schedules]
    if not mine or (count := len(mine[0].schedules)) == 1:
        return ()
    keys = f"{CHANGE_PAUSE.key} changes this one, :windows all; {key_name(RESUME)} resumes all"
    return (paragraph(f"1 of {count:,} in this window: {keys}.", Tone.DIM),)


def _unpausing(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    return tuple(
        Paragraph(
            (
                span(f"{words}: ", bold=True),
                span(f"{render.text(outcome.sentence, facts.schedule)}.", Tone.WARN if outcome.at_once else Tone.PLAIN),
            )
        )
        for words, outcome in facts.unpausing_choices
    )


def _running(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    schedule, now = facts.schedule, facts.now
    if facts.dialect is None:
        return _each_reading(facts, render)
    if facts.invalid:
        return ()
    if (late := facts.overdue) is not None:
        since = f"since {render.time(late.since, schedule)}, {humanize.duration(now - late.since)} ago: "
        return (Paragraph((span(since, Tone.BAD), span(render.text(late.sentence, schedule))), "Due"),)
    run = facts.next_run
    if run is None:
        return ()
    due = render.time(run, schedule)
    label, when = ("Next", f"{due}, in {humanize.duration(run - now)}") if run >= now else ("Due", f"since {due}")
    if obstacle := facts.obstacle:
        return (paragraph(f"{when}, {render.text(obstacle, schedule)}", Tone.WARN, label=label),)
    return (paragraph(f"{when}; {_is_created(facts, render, run)}", label=label),)


def _is_created(facts: ScheduleFacts, render: RenderContext, run: datetime) -> str:
    """When Velero makes its backup, which may then wait for a slot: when it starts, the calendar tells.

    On another day a time has no seconds: what is then left of the offset are those.
    """
    start = facts.expected_start
    if start is None:
        before = facts.unfinished
        item = render.facts(before).item if before is not None else None
        may_hold = before is not None and (item is None or item.holds_schedule_at(max(run, facts.now)))
        suffix = f", or when {before.name} has ended" if before is not None and may_hold else ""
        return f"created within a minute of it{suffix}"
    created = render.time(start, facts.schedule)
    if created == render.time(run, facts.schedule):
        return f"created {humanize.duration(start - run)} later"
    return f"created {created}"


def _each_reading(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """All answers, each with its releases: it is not known which Velero this is."""
    lines = []
    for reading in facts.by_reading:
        when = f"; next run {render.time(reading.next_run, facts.schedule)}" if reading.next_run else ""
        lines.append(paragraph(f"{reading.reading.releases}: {reading.reading.meaning}{when}."))
    hint = "The Velero release is unknown: start foretop with --velero-version to be sure."
    return *lines, paragraph(hint, Tone.WARN)


def _last(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    last, made = facts.last_backup, facts.last_backup_at
    if made is None and last is None:
        return (paragraph("no backup yet", label="Last"),)
    if last is None:
        assert made is not None
        when = f"{render.time(made, facts.schedule)}, {humanize.duration(render.now - made)} ago"
        return (paragraph(f"{when}; {facts.why_no_last}", label="Last"),)
    status = last.status
    faults = f", {humanize.count(status.errors, 'error')}" if status.errors else ""
    warned = f", {humanize.count(status.warnings, 'warning')}" if status.warnings else ""
    why = f": {reason}" if (reason := _reason(last)) else ""
    server = render.server(last.namespace)
    fate = f"; {server.fate_of_running()}" if server.is_silent and last.phase == "InProgress" else ""
    return (paragraph(f"{last.name}: {last.phase or 'New'}{faults}{warned}{why}{fate}", label="Last"),)
