"""The words below the calendar: the night, and what the lane under the cursor does next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from foretop.widgets.paragraphs import LABEL, Paragraph, Span, paragraph, span, wrap
from foretop.widgets.styles import style_of
from foretop_core.cron import CronError
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import PreScaledCronJob, Schedule
from foretop_core.models.kinds import PRESCALED
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import ALWAYS_DUE, Choice, ScheduleFacts
from foretop_core.rules.night.ranges import SURE
from foretop_core.rules.prescaler import is_always_warm
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import cut_end, unsigned, width
from foretop_core.tables.timeline.lanes import TimelineItem, next_runs, warmer
from foretop_core.tables.timeline.night_lanes import TONIGHT, is_shared
from foretop_core.tables.timeline.night_words import LaneWords, Phrase, WordLine, most_telling

_SHOWN = 4
_WHOLE = 4
"""The weight of the lines that answer whether the night is done, and tell what is not made of it."""


def phrases(line: WordLine, room: int | None = None) -> Paragraph:
    """A line of the night's words; cut at its end where it has only so much room."""
    pieces, free = [], None if room is None else room - LABEL
    for phrase in line.phrases:
        text = phrase.text if phrase.is_sign else unsigned(phrase.text)
        if free is not None:
            text = cut_end(text, max(0, free))
            free -= width(text)
        pieces.append(Span(text, style_of(phrase.tone)))
        if free is not None and free <= 0:
            break
    return Paragraph(tuple(pieces), line.label or " ")


def fitted(lines: Sequence[WordLine], cells: int, rows: int) -> list[Paragraph]:
    """The most telling lines in so many rows, as few as leave room for the whole of those that matter most."""
    for count in range(min(rows, len(lines)), 0, -1):
        shown = most_telling(lines, count)
        if sum(len(wrap([phrases(line)], cells)) if line.weight >= _WHOLE else 1 for line in shown) <= rows:
            return folded(shown, cells, rows)
    return folded(most_telling(lines, rows), cells, rows)


def folded(lines: Sequence[WordLine], cells: int, rows: int) -> list[Paragraph]:
    """The lines in so many rows: what matters most goes on in free rows, the others are cut at their end."""
    free, whole = rows - len(lines), set()
    for place in sorted(range(len(lines)), key=lambda place: (-lines[place].weight, place)):
        more = len(wrap([phrases(lines[place])], cells)) - 1
        if more <= free:
            free -= more
            whole.add(place)
    return [phrases(line, None if place in whole else cells) for place, line in enumerate(lines)]


def lane_line(item: TimelineItem, name: str, words: LaneWords | None, state: DashboardState) -> WordLine:
    """The lane under the cursor in one line."""
    if item.problem:
        rest = [
            Phrase(f" {item.problem}" if item.problem == ALWAYS_DUE else f" does not run: {item.problem}", Tone.BAD)
        ]
    elif words is None:
        rest = [Phrase(_next(item, state))]
    else:
        parts = [f"due {words.due}" if words.due else "", _start(words)]
        parts += [f"ends {words.ends}" if words.ends else "", f"{SURE} by {words.by}" if words.by else ""]
        rest = [Phrase(f": {words.run}")] if words.run else []
        rest += [Phrase(f" {words.fate}", Tone.BAD)] if words.fate else []
        rest.append(Phrase(f" {', '.join(part for part in parts if part)}"))
    return WordLine("This", (Phrase(name, Tone.BRIGHT), *rest))


def _next(item: TimelineItem, state: DashboardState) -> str:
    """The next run of a lane of which nothing is foreseen; what keeps it from being made is in the box below."""
    now, zone, facts = state.now(item.key.context), state.zone_of(item.key), _facts(item, state)
    runs = next_runs(item, now, 1) if item.expression else ()
    if not runs:
        return ""
    if item.paused:
        pause = facts.pause if facts is not None else None
        end = f" until {when(pause.until, now, zone)}" if pause is not None and pause.until is not None else ""
        return f" paused{end}; would run {'at once' if _is_kept_back(facts) else when(runs[0], now, zone)}"
    if facts is None or not facts.obstacle:
        return f" next {when(runs[0], now, zone)}"
    late = facts.overdue
    return f" overdue since {when(late.since, now, zone)}" if late is not None else f" due {when(runs[0], now, zone)}"


def _is_kept_back(facts: ScheduleFacts | None) -> bool:
    """True if its pause alone keeps a run back that is due: unpaused, it would be made at once."""
    return facts is not None and facts.pause is not None and facts.unpausing(Choice.LEAVE).at_once


def _start(words: LaneWords) -> str:
    if not words.starts:
        return ""
    wait = f", waits {words.wait}" if words.wait else ""
    return f"runs since {words.starts}" if words.is_running else f"starts {words.starts}{wait}"


def lane_box(
    item: TimelineItem, words: LaneWords | None, usual: str, state: DashboardState, *, below_line: bool = False
) -> tuple[Paragraph, ...]:
    """The lane under the cursor: when it is due, starts and ends, how long it takes and with whom.

    Below its line it does not say again which run that is, when it starts and when it ends.
    """
    if item.problem:
        return (paragraph(_refusal(item, item.parsed), Tone.BAD),)
    paragraphs: list[Paragraph] = []
    if is_shared(item.key):
        hours = TONIGHT // timedelta(hours=1)
        paragraphs.append(
            paragraph(f"backups that wait or run, and those that ended in the last {hours} hours", label="Counts")
        )
    # What waits, runs or is about to be made was due before; what comes next stands below it.
    due_since = words.due_since if words is not None else None
    is_next_below = due_since is not None or (words is not None and bool(words.starts) and not words.due)
    if due_since is not None and not below_line:
        since = when(due_since, state.now(item.key.context), state.zone_of(item.key))
        paragraphs.append(paragraph(f"since {since}{_name(due_since, item, state)}", label="Due"))
    if item.expression and not is_next_below:
        paragraphs += _due(item, state, "Due")
    if words is not None and not below_line:
        if words.run:
            paragraphs.append(paragraph(words.run, label="Backup"))
        if words.fate:
            paragraphs.append(paragraph(words.fate, Tone.BAD, label="Fate"))
        if words.starts:
            wait = f", waits {words.wait}" if words.wait else ""
            since, label = ("since ", "Runs") if words.is_running else ("", "Starts")
            paragraphs.append(Paragraph((span(since), span(words.starts, bold=True), span(wait)), label))
        if words.ends:
            by = f", {SURE} by {words.by}" if words.by else ""
            paragraphs.append(Paragraph((span(words.ends, bold=True), span(by)), "Ends"))
    if item.expression and is_next_below:
        paragraphs += _due(item, state, "Next")
    if usual:
        paragraphs.append(paragraph(usual, label="Usual"))
    if words is not None and words.company:
        paragraphs.append(paragraph(words.company, label="With"))
    return (*paragraphs, *_warming(item, state))


def _due(item: TimelineItem, state: DashboardState, label: str) -> list[Paragraph]:
    now, zone, parsed = state.now(item.key.context), state.zone_of(item.key), item.parsed
    runs = next_runs(item, now, 1)
    meaning = "" if isinstance(parsed, CronError) else parsed.describe()
    if not runs:
        return [paragraph("no upcoming run within the next five years", Tone.WARN, label=label)]
    next_run = f"{when(runs[0], now, zone)}{_name(runs[0], item, state)}"
    if item.paused:
        first = "at once, then " if _is_kept_back(_facts(item, state)) else ""
        return [paragraph(f"{first}{next_run}, {meaning}, if it were not paused", Tone.DIM, label="Would")]
    return [paragraph(f"{next_run}, {meaning}", label=label), *_hindrance(item, state)]


def _facts(item: TimelineItem, state: DashboardState) -> ScheduleFacts | None:
    resource = state.store.get(item.key)
    return state.render_context(item.key.context).schedule(resource) if isinstance(resource, Schedule) else None


def lane_pane(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    """The next runs of a schedule or job, and what keeps them."""
    parsed = item.parsed
    meaning = "" if isinstance(parsed, CronError) else f", {parsed.describe()}"
    where = f" in {item.key.namespace}, " if item.key.namespace else ": "
    kind = "PreScaledCronJob " if item.key.kind == PRESCALED.name else ""
    head = Paragraph(
        (span(f"{kind}{item.key.name}", bold=True), span(where), span(item.expression, bold=True), span(meaning))
    )
    if item.problem:
        return head, paragraph(_refusal(item, parsed), Tone.BAD)
    return head, *_coming(item, state), *_warming(item, state)


def _refusal(item: TimelineItem, parsed: object) -> str:
    if isinstance(parsed, CronError):
        return f"It does not run: {item.problem}."
    if item.problem == ALWAYS_DUE:
        return "No date fits: Velero takes it for always due and starts a backup almost every minute."
    return f"No runs to show: {item.problem}."


def _coming(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    now, zone = state.now(item.key.context), state.zone_of(item.key)
    runs = next_runs(item, now, _SHOWN)
    if not runs:
        return (paragraph("No upcoming run within the next five years.", Tone.WARN),)
    listed = f"{'  '.join(when(run, now, zone) for run in runs)}{_name(runs[0], item, state)}"
    if item.paused:
        listed = f"at once  {listed}" if _is_kept_back(_facts(item, state)) else listed
        return (paragraph(f"{listed}  if it were not paused", Tone.DIM, label="Would"),)
    return (paragraph(f"{times.until(runs[0] - now)}: {listed}", label="Next"), *_hindrance(item, state))


def _hindrance(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    """Why its next run is late, or may not be made."""
    now, zone, facts = state.now(item.key.context), state.zone_of(item.key), _facts(item, state)
    if facts is None:
        return ()
    render = state.render_context(item.key.context)
    late, obstacle = facts.overdue, render.text(facts.obstacle, facts.schedule)
    if late is not None:
        since = f"since {when(late.since, now, zone)}{_name(late.since, item, state)}"
        why = f", {obstacle}." if obstacle else f": {render.text(late.sentence, facts.schedule)}."
        return (Paragraph((span(since, Tone.BAD), span(why)), "Overdue"),)
    return (paragraph(f"{obstacle}.", Tone.WARN, label=" "),) if obstacle else ()


def _warming(item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
    resource = state.store.get(item.key)
    if not isinstance(resource, PreScaledCronJob):
        return ()
    now, zone = state.now(item.key.context), state.zone_of(item.key)
    lead = timedelta(minutes=item.warm_up)
    runs = next_runs(item, now + lead, 2)
    shown = "  ".join(f"{when(run - lead, now, zone)} → {run.astimezone(zone):%H:%M}" for run in runs)
    job = warmer(state.store, item.key)
    ahead = f"{humanize.count(item.warm_up, 'minute')} before: {shown}"
    paragraphs = [
        paragraph(state.render_context_of(finding).text(finding.evidence), Tone.BAD, label=" ")
        for finding in (*state.findings, *state.acknowledged)
        if finding.subject == item.key
    ]
    if job is not None:
        by = paragraph(f"by {job.name}, {job.spec.schedule}", label=" ")
        return paragraph(ahead, label="Warm"), by, *paragraphs
    if is_always_warm(item.expression):
        return paragraph("it runs every minute and needs no warm-up", label="Warm"), *paragraphs
    why = "there is no CronJob of the prescaler"
    return paragraph(f"none is made {ahead}", Tone.WARN, label="Warm"), *(paragraphs or [paragraph(why, label=" ")])


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
