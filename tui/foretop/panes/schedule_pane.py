"""The pane of a schedule: its meaning, what holds it, and what unpausing would do now."""

from __future__ import annotations

from datetime import datetime

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.cron import CronError, quoted
from foretop_core.rules import humanize
from foretop_core.rules.cluster_unpause_forecast import forecast_choices
from foretop_core.rules.coming_runs import coming_run_obstacle
from foretop_core.rules.forecast import expected_start, invalid, next_run, overdue
from foretop_core.rules.pauses import pause_info
from foretop_core.rules.phases import ENDED
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedule_runs import RUN_WORDS
from foretop_core.tables.resources.schedules import ScheduleRow, last_runs


def schedule_pane(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    return *schedule_facts(entry, render), *_legend(entry, render)


def schedule_facts(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    schedule = entry.schedule
    meaning = _meaning(entry)
    head = Paragraph((span(schedule.name, bold=True), span(f", {meaning}{_paused(entry, render)}")))
    body = _unpausing(entry, render) if schedule.spec.paused else _running(entry, render)
    return head, *body, *_last(entry, render)


def _legend(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """The signs in its strip of runs that are not good: help has them all."""
    strip = last_runs(entry, render)
    told = [f"{sign} {word}" for sign, word in RUN_WORDS.items() if sign in strip and sign != "."]
    return (paragraph(f"LAST 10 RUNS, oldest first: {', '.join(told)}", Tone.DIM),) if told else ()


def _meaning(entry: ScheduleRow) -> str:
    if entry.dialect is None:
        return f"{entry.schedule.spec.schedule}, which Velero releases read differently"
    parsed = entry.readings[0].parsed
    if isinstance(parsed, CronError):
        why = "too long" if parsed.is_too_long else "not a valid cron expression"
        return f"{quoted(entry.schedule.spec.schedule)} is {why}"
    return parsed.describe()


def _paused(entry: ScheduleRow, render: RenderContext) -> str:
    if not entry.schedule.spec.paused:
        return ""
    paused = pause_info(entry.schedule)
    since = f" since {render.time(paused.since, entry.schedule)}" if paused.since else ""
    who = f" {paused.who}" if paused.who else ""
    why = f" ({paused.why})" if paused.why else ""
    until = f"; meant until {render.time(paused.until, entry.schedule)}" if paused.until else ""
    return f", paused{since}{who}{why}{until}"


def _unpausing(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    schedule = entry.schedule
    choices = forecast_choices(render.snapshot, schedule, render.now, render.beat(schedule.namespace))
    return tuple(
        Paragraph(
            (
                span(f"{words}: ", bold=True),
                span(f"{render.text(told.sentence, schedule)}.", Tone.WARN if told.at_once else Tone.PLAIN),
            )
        )
        for words, told in choices
    )


def _running(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    schedule, now = entry.schedule, render.now
    beat, dialect = render.beat(schedule.namespace), entry.dialect
    if dialect is None:
        return _each_reading(entry, render)
    if problem := invalid(schedule, dialect):
        return (paragraph(f"Velero refuses it and makes no backups: {problem}.", Tone.BAD),)
    late = overdue(schedule, now, dialect, beat, entry.runs)
    if late is not None:
        since = f"Due since {render.time(late.since, schedule)}, {humanize.duration(now - late.since)} ago: "
        return (Paragraph((span(since, Tone.BAD), span(f"{render.text(late.sentence, schedule)}."))),)
    run = next_run(schedule, dialect)
    if run is None:
        return ()
    ahead = f"Next run {render.time(run, schedule)}, in {humanize.duration(run - now)}"
    due = ahead if run > now else f"Due since {render.time(run, schedule)}"
    if obstacle := coming_run_obstacle(render.snapshot, schedule, now, beat):
        return (paragraph(f"{due}, {render.text(obstacle, schedule)}.", Tone.WARN),)
    start = expected_start(schedule, now, dialect, beat, entry.runs)
    return (paragraph(f"{due}; {_starts(entry, render, run, start)}."),)


def _starts(entry: ScheduleRow, render: RenderContext, run: datetime, start: datetime | None) -> str:
    """On another day a time has no seconds: what is then left of the offset are those."""
    if start is None:
        waiting = next((one.name for one in entry.runs if one.phase not in ENDED), "")
        held = f", or when {waiting} has ended if that is running then" if waiting else ""
        return f"starts within a minute after that{held}"
    at = render.time(start, entry.schedule)
    if at == render.time(run, entry.schedule):
        return f"starts {humanize.duration(start - run)} later (Velero's reconcile offset)"
    return f"starts {at} (Velero's reconcile offset)"


def _each_reading(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """All answers, each with its releases: it is not known which Velero this is."""
    said = []
    for reading in entry.readings:
        run = next_run(entry.schedule, reading.dialect)
        when = f"; next run {render.time(run, entry.schedule)}" if run else ""
        said.append(paragraph(f"{reading.releases}: {reading.meaning}{when}."))
    hint = "The Velero release is unknown: start foretop with --velero-version to be sure."
    return *said, paragraph(hint, Tone.WARN)


def _last(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    if not entry.runs:
        made = entry.schedule.status.last_backup
        if made is None:
            return (paragraph("It has not made a backup yet."),)
        when = f"{render.time(made, entry.schedule)}, {humanize.duration(render.now - made)} ago"
        return (paragraph(f"Last backup {when}; it is not visible here."),)
    newest = entry.runs[0]
    status = newest.status
    faults = f", {humanize.count(status.errors, 'error')}" if status.errors else ""
    warned = f", {humanize.count(status.warnings, 'warning')}" if status.warnings else ""
    reason = status.failure_reason or "; ".join(status.validation_errors)
    why = f": {reason}" if reason else ""
    return (paragraph(f"Last backup {newest.name}: {newest.phase or 'waiting'}{faults}{warned}{why}"),)
