"""The pane of a schedule: its meaning, what holds it, and what unpausing would do now."""

from __future__ import annotations

from datetime import datetime

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.cron import quoted
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import ScheduleFacts
from foretop_core.rules.facts.schedule_runs import RUN_WORDS
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.schedules import ScheduleRow, last_runs


def schedule_pane(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    return *schedule_text(entry, render), *_legend(entry, render)


def schedule_text(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    facts, schedule = render.schedule_facts(entry), entry.schedule
    head = Paragraph((span(schedule.name, bold=True), span(f", {_meaning(facts)}{_paused(facts, render)}")))
    body = _unpausing(facts, render) if schedule.spec.paused else _running(facts, render)
    return head, *body, *_last(facts, render)


def _legend(entry: ScheduleRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """The signs in its strip of runs that are not good: help has them all."""
    strip = last_runs(entry, render)
    told = [f"{sign} {word}" for sign, word in RUN_WORDS.items() if sign in strip and sign != "."]
    return (paragraph(f"LAST 10 RUNS, oldest first: {', '.join(told)}", Tone.DIM),) if told else ()


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
    return f", paused{since}{who}{why}{until}"


def _unpausing(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    return tuple(
        Paragraph(
            (
                span(f"{words}: ", bold=True),
                span(f"{render.text(told.sentence, facts.schedule)}.", Tone.WARN if told.at_once else Tone.PLAIN),
            )
        )
        for words, told in facts.unpausing_choices
    )


def _running(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    schedule, now = facts.schedule, facts.now
    if facts.dialect is None:
        return _each_reading(facts, render)
    if facts.invalid:
        return (paragraph(f"Velero refuses it and makes no backups: {facts.invalid}.", Tone.BAD),)
    if (late := facts.overdue) is not None:
        since = f"Due since {render.time(late.since, schedule)}, {humanize.duration(now - late.since)} ago: "
        return (Paragraph((span(since, Tone.BAD), span(f"{render.text(late.sentence, schedule)}."))),)
    run = facts.next_run
    if run is None:
        return ()
    ahead = f"Next run {render.time(run, schedule)}, in {humanize.duration(run - now)}"
    due = ahead if run >= now else f"Due since {render.time(run, schedule)}"
    if obstacle := facts.obstacle:
        return (paragraph(f"{due}, {render.text(obstacle, schedule)}.", Tone.WARN),)
    return (paragraph(f"{due}; {_starts(facts, render, run)}."),)


def _starts(facts: ScheduleFacts, render: RenderContext, run: datetime) -> str:
    """On another day a time has no seconds: what is then left of the offset are those."""
    start = facts.expected_start
    if start is None:
        waiting = facts.unfinished
        held = f"; if {waiting.name} still runs then, when it has ended" if waiting is not None else ""
        return f"starts within a minute of that{held}"
    at = render.time(start, facts.schedule)
    if at == render.time(run, facts.schedule):
        return f"starts {humanize.duration(start - run)} later (Velero's reconcile offset)"
    return f"starts {at} (Velero's reconcile offset)"


def _each_reading(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """All answers, each with its releases: it is not known which Velero this is."""
    said = []
    for one in facts.by_reading:
        when = f"; next run {render.time(one.next_run, facts.schedule)}" if one.next_run else ""
        said.append(paragraph(f"{one.reading.releases}: {one.reading.meaning}{when}."))
    hint = "The Velero release is unknown: start foretop with --velero-version to be sure."
    return *said, paragraph(hint, Tone.WARN)


def _last(facts: ScheduleFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    last, made = facts.last_backup, facts.last_backup_at
    if made is None and last is None:
        return (paragraph("It has not made a backup yet."),)
    if last is None:
        assert made is not None
        when = f"{render.time(made, facts.schedule)}, {humanize.duration(render.now - made)} ago"
        return (paragraph(f"Last backup {when}; {facts.why_no_last}."),)
    status = last.status
    faults = f", {humanize.count(status.errors, 'error')}" if status.errors else ""
    warned = f", {humanize.count(status.warnings, 'warning')}" if status.warnings else ""
    reason = status.failure_reason or "; ".join(status.validation_errors)
    why = f": {reason}" if reason else ""
    return (paragraph(f"Last backup {last.name}: {last.phase or 'New'}{faults}{warned}{why}"),)
