"""The pane of the calendar: what the schedule under the cursor does next, and who starts with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.cron import CronError
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import PreScaledCronJob, Schedule
from foretop_core.models.kinds import PRESCALED, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.primer import PrimerError, warmups
from foretop_core.rules.primer.prescaler_emulation import is_always_warm
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text import times
from foretop_core.tables.timeline.lanes import StartLoad, TimelineItem, next_runs, warmer

_SHOWN = 4
_LOOKED_AT = 60


def lane_pane(item: TimelineItem, load: StartLoad | None, state: DashboardState) -> tuple[Paragraph, ...]:
    parsed = item.parsed
    meaning = "" if isinstance(parsed, CronError) else f", {parsed.describe()}"
    where = f" in {item.key.namespace}, " if item.key.namespace else ": "
    kind = "PreScaledCronJob " if item.key.kind == PRESCALED.name else ""
    head = Paragraph(
        (span(f"{kind}{item.key.name}", bold=True), span(where), span(item.expression, bold=True), span(meaning))
    )
    if item.problem:
        return head, paragraph(_refusal(item, parsed), Tone.BAD)
    return head, *_coming(item, state), *_company(item, load, state), *_warming(item, state)


def _refusal(item: TimelineItem, parsed: object) -> str:
    if isinstance(parsed, CronError):
        return f"It does not run: {item.problem}."
    return f"No runs to show: {item.problem}."


def _coming(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    now, zone = state.now(item.key.context), state.zone_of(item.key)
    runs = next_runs(item, now, _SHOWN)
    if not runs:
        return (paragraph("No upcoming run within the next five years.", Tone.WARN),)
    listed = f"{'  '.join(when(run, now, zone) for run in runs)}{_name(runs[0], item, state)}"
    if item.paused:
        return (paragraph(f"{listed}  if it were not paused", Tone.DIM, label="Would"),)
    said = [paragraph(f"{times.until(runs[0] - now)}: {listed}", label="Next")]
    resource = state.store.get(item.key)
    if isinstance(resource, Schedule):
        render = state.render_context(item.key.context)
        facts = render.schedule(resource)
        late, obstacle = facts.overdue, render.text(facts.obstacle, resource)
        if late is not None:
            since = f"due since {when(late.since, now, zone)}{_name(late.since, item, state)}"
            why = f", {obstacle}." if obstacle else f": {render.text(late.sentence, resource)}."
            said.append(Paragraph((span(since, Tone.BAD), span(why)), "Late"))
        elif obstacle:
            said.append(paragraph(f"{obstacle}.", Tone.WARN, label=" "))
    return tuple(said)


def _company(item: TimelineItem, load: StartLoad | None, state: DashboardState) -> tuple[Paragraph, ...]:
    """Who starts in the minute of its first crowded run, as far as the ruler goes."""
    now, zone = state.now(item.key.context), state.zone_of(item.key)
    if load is None or not item.starts:
        return ()
    runs = [run for run in next_runs(item, now, _LOOKED_AT) if run < load.ruler.end]
    for run in runs:
        others = [key for key in load.together(item.key.context, run) if key != item.key and _shares(key, item.key)]
        if others:
            names = humanize.join([key.name for key in others], 4)
            said = f"{when(run, now, zone)} together with {names}{_slots(item.key, others, state)}"
            return (paragraph(said, label="With"),)
    if not runs:
        return ()
    told = "no other schedule starts in that minute"
    if len(runs) > 1:
        told = f"no collision until {when(runs[-1], now, zone)}"
    return (paragraph(f"none: {told}", Tone.DIM, label="With"),)


def _shares(other: ObjectRef, key: ObjectRef) -> bool:
    """Whether it matters to a lane: backups share the slots of their Velero with each other, and with no job."""
    return key.kind != SCHEDULE.name or (other.kind, other.namespace) == (key.kind, key.namespace)


def _slots(key: ObjectRef, others: Sequence[ObjectRef], state: DashboardState) -> str:
    """How many of those that start together Velero takes; "" where it does not take this one."""
    render = state.render_context(key.context)
    schedules = [one for one in map(state.store.get, (key, *others)) if isinstance(one, Schedule)]
    at_once = render.server(key.namespace).slots if key.kind == SCHEDULE.name else None
    if not at_once or not schedules or render.schedule(schedules[0]).obstacle:
        return ""
    refused = sum(bool(render.schedule(one).refusal) for one in schedules)
    taken = len(schedules) - refused
    every = taken if refused else f"all {taken}"
    takes = f"; Velero takes {at_once} at a time" if taken > at_once else f"; Velero takes {every} at once"
    return f"{takes} and refuses {refused}" if refused else takes


def _warming(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    resource = state.store.get(item.key)
    if not isinstance(resource, PreScaledCronJob):
        return ()
    now, zone = state.now(item.key.context), state.zone_of(item.key)
    try:
        pairs = warmups(item.expression, item.warm_up, item.dialect, now, 2)
    except PrimerError as problem:
        return (paragraph(str(problem), Tone.BAD, label="Warm"),)
    shown = "  ".join(f"{when(pair.warmup, now, zone)} → {pair.run.astimezone(zone):%H:%M}" for pair in pairs)
    job = warmer(state.store, item.key)
    ahead = f"{humanize.count(item.warm_up, 'minute')} before: {shown}"
    told = [
        paragraph(state.render_context_of(one).text(one.evidence), Tone.BAD, label=" ")
        for one in (*state.findings, *state.acknowledged)
        if one.subject == item.key
    ]
    if job is not None:
        by = paragraph(f"by {job.name}, {job.spec.schedule}", label=" ")
        return paragraph(ahead, label="Warm"), by, *told
    if is_always_warm(item.expression):
        return paragraph("it runs every minute and needs no warm-up", label="Warm"), *told
    why = "there is no CronJob of the prescaler"
    return paragraph(f"none is made {ahead}", Tone.WARN, label="Warm"), *(told or [paragraph(why, label=" ")])


def _name(at: datetime, item: TimelineItem, state: DashboardState) -> str:
    """Which zone it is, where that is not Velero's."""
    zone = state.zone_of(item.key)
    return f" {at.astimezone(zone):%Z}" if state.zoning.is_named else ""


def when(at: datetime, now: datetime, zone: tzinfo) -> str:
    """`06:00` today, `Mon 16 06:00` within a week, `1 Dec 06:00` after that, with the year in another one."""
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"{local:%H:%M}"
    if 0 < (local.date() - today.date()).days < 7:
        return f"{local:%a} {local.day} {local:%H:%M}"
    day = f"{local.day} {local:%b}"
    return f"{day} {local:%H:%M}" if local.year == today.year else f"{day} {local.year} {local:%H:%M}"
