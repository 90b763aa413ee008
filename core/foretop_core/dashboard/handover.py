"""The hand-over to the next shift as text: what is wrong, known, paused, due to run, and what was written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

import msgspec

from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.journal import Journal, JournalEntry, default_path
from foretop_core.background import in_thread
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.models import Schedule
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import pause_note, pause_windows, window_line
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, schedule_facts
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.coming_back import if_back, if_resumed
from foretop_core.rules.night.night import why_unforeseen
from foretop_core.rules.sentences import Text, render
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import Finding, Thresholds
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.tables.engine.status_glyphs import severity_mark
from foretop_core.tables.resources.findings import subject_and_what
from foretop_core.tables.text.terminal_text import unsigned
from foretop_core.tables.timeline.lanes import next_runs, runs_within, timeline_item

AHEAD = timedelta(hours=12)
"""How far ahead runs are listed, and how far back what was written."""
_DAY = timedelta(days=1)
_MARKUP = re.compile(r"([\\`*_<>\[\]|#])")


class Awaited(msgspec.Struct, frozen=True):
    """The sentences of the calendar on a silent server that comes back, or on the planned end of a pause."""

    context: str
    namespace: str
    unknown: Text = ""
    """Why nothing can be foreseen before."""
    if_back: tuple[Text, ...] = ()
    if_resumed: Text = ""


class Handover(msgspec.Struct, frozen=True):
    """All that the next shift is told, as of one moment of each cluster."""

    clusters: tuple[tuple[ClusterSnapshot, datetime], ...]
    findings: tuple[Finding, ...]
    acknowledged: tuple[Finding, ...]
    unseen: tuple[VisibilityGap, ...]
    journal: tuple[JournalEntry, ...]
    journal_problem: str = ""
    """Why what was written is not known."""
    limits: Thresholds = Thresholds()
    """What counts as late."""
    awaited: tuple[Awaited, ...] = ()


def finding_line(found: Finding, now: datetime, zone: tzinfo, place: str = "") -> str:
    """A finding behind its sign and severity, with since when."""
    since = f", since {humanize.time(found.since, now, zone)}" if found.since else ""
    what = subject_and_what(found, render(found.what, now, zone))
    return f"{severity_mark(found.severity).value} {found.severity.value}: {place}{what}{since}"


class Section(msgspec.Struct, frozen=True):
    """A part of what is read later, as text or Markdown."""

    title: str
    lines: tuple[tuple[str, ...], ...]
    """Each with what stands below it."""
    none: str
    signed: bool = False
    """Each line begins with a sign of foretop's own; no other is let through."""


def handover_text(handover: Handover, zone: tzinfo, *, markdown: bool = False) -> str:
    """The same for the screen and the command line; times in the reader's zone."""
    now = handover.clusters[0][1]
    names = humanize.join([snapshot.context or "a file" for snapshot, _ in handover.clusters], 5)
    title = f"Hand-over at {rfc3339(now)}: {names}"
    sections = tuple(_sections(handover, zone))
    written = as_markdown if markdown else _as_plain
    return "\n".join(written(title, _as_of(now, zone), sections))


def _as_of(now: datetime, zone: tzinfo) -> str:
    """Says as of when it was written: it is read later."""
    local = now.astimezone(zone)
    clock = f"{local:%H:%M:%S}{humanize.zone_name(local)}"
    return f"Times without a date are of {humanize.day(local)}. Durations and what is still to come are as of {clock}."


def _sections(handover: Handover, zone: tzinfo) -> Iterator[Section]:
    times = {snapshot.context: now for snapshot, now in handover.clusters}
    words = _Told(times, zone, handover.limits)
    wrong = [finding for finding in handover.findings if finding.severity is not Severity.NOTE]
    notes = [finding for finding in handover.findings if finding.severity is Severity.NOTE]
    yield _counted("Wrong now", [words.finding(finding) for finding in wrong], "Nothing.", signed=bool(wrong))
    if notes:
        yield _counted("Notes", [words.finding(finding) for finding in notes], "", signed=True)
    yield _counted("Known", [words.known(finding) for finding in handover.acknowledged], "Nothing is acknowledged.")
    if handover.unseen:
        yield _counted("Not visible", [(words.gap(gap),) for gap in handover.unseen], "")
    paused = [line for snapshot, now in handover.clusters for line in words.paused(snapshot, now)]
    yield _counted("Paused", paused, "No schedule is paused.")
    if handover.awaited:
        yield Section("When it comes back", tuple(words.awaited(backlog) for backlog in handover.awaited), "")
    runs = sorted(run for snapshot, now in handover.clusters for run in words.runs(snapshot, now))
    lines = [line for _, line in runs if line]
    if usual := len(runs) - len(lines):
        usual_runs = f"{humanize.count(usual, 'other' if lines else 'timetable')} {'runs' if usual == 1 else 'run'}"
        lines.append(f"{usual_runs} as in these hours of the day before.")
    hours = int(AHEAD.total_seconds()) // 3600
    yield Section(f"Runs in the next {hours} hours", tuple((line,) for line in lines), "None.")
    writes = [words.write(entry, handover.clusters[0][1]) for entry in handover.journal]
    recent = [line for moment, line in writes if moment is not None and handover.clusters[0][1] - moment <= AHEAD]
    none = handover.journal_problem or "Nothing."
    yield Section(f"Written by foretop in the last {hours} hours", tuple(recent), none)


def _counted(title: str, lines: Sequence[tuple[str, ...]], none: str, *, signed: bool = False) -> Section:
    return Section(f"{title} ({len(lines)})" if lines else title, tuple(lines), none, signed)


class _Told:
    """The lines; with several clusters each names its own."""

    def __init__(self, times: dict[str, datetime], zone: tzinfo, limits: Thresholds) -> None:
        self._times = times
        self._zone = zone
        self._late = limits.overdue

    def _place(self, context: str) -> str:
        return f"{context}: " if len(self._times) > 1 else ""

    def _now(self, context: str) -> datetime:
        return self._times.get(context) or next(iter(self._times.values()))

    def finding(self, found: Finding) -> tuple[str, ...]:
        now = self._now(found.context)
        head = finding_line(found, now, self._zone, self._place(found.context))
        return head, f"Do: {render(found.remedy, now, self._zone)}"

    def known(self, found: Finding) -> tuple[str, ...]:
        now, acknowledgement = self._now(found.context), found.acknowledged
        what = f"{self._place(found.context)}{subject_and_what(found, render(found.what, now, self._zone))}"
        note = render(acknowledgement_text(acknowledgement), now, self._zone) if acknowledgement is not None else ""
        return what, f"acknowledged {note}"

    def gap(self, gap: VisibilityGap) -> str:
        return f"{' '.join(filter(None, (gap.context, gap.kind)))} ({gap.why(self._zone)})"

    def paused(self, snapshot: ClusterSnapshot, now: datetime) -> Iterator[tuple[str, ...]]:
        """The windows, then what was paused without one."""
        place = self._place(snapshot.context)
        windows = pause_windows(snapshot.schedules)
        for window in windows:
            yield (f"{place}window {window_line(window, now, self._zone)}",)
        in_windows = {id(item) for window in windows for item in window.schedules}
        for schedule in snapshot.schedules:
            if not schedule.spec.paused or id(schedule) in in_windows:
                continue
            facts = schedule_facts(snapshot, schedule, now, self._late)
            if facts.pause is not None:
                late = ", overdue" if facts.is_overdue_pause else ""
                note = render(pause_note(facts.pause), now, self._zone)
                yield (f"{place}{schedule.namespace}/{schedule.name} {note}{late}",)

    def awaited(self, one: Awaited) -> tuple[str, ...]:
        now = self._now(one.context)
        place = f"{self._place(one.context)}{one.namespace}"
        if not one.unknown:
            return (f"{place}: if resumed {render(one.if_resumed, now, self._zone)}",)
        backs = (f"If back {render(back, now, self._zone)}" for back in one.if_back)
        return f"{place}: nothing can be foreseen, {render(one.unknown, now, self._zone)}", *backs

    def runs(self, snapshot: ClusterSnapshot, now: datetime) -> Iterator[tuple[datetime, str]]:
        """The first run of each schedule, and of each job that nodes are warmed up for, as the calendar has them.

        A line has what is not as it was a day before: held back, new, or another number of runs.
        """
        for job in (*snapshot.schedules, *snapshot.prescaled):
            item = timeline_item(snapshot.ref(job), job, lambda _, schedule: snapshot.readings(schedule))
            if item is None or not item.starts:
                continue
            times, many = next_runs(item, now, 1), runs_within(item, now, AHEAD)
            before = many if item.base is not None else runs_within(item, now - _DAY, AHEAD)
            if job.created is not None and job.created > now - _DAY:
                before = 0
            if not times or not (many or before):
                continue
            kind = "" if isinstance(job, Schedule) else f"{type(job).__name__} "
            name = f"{self._place(snapshot.context)}{kind}{job.namespace}/{job.name}"
            why = self._obstacle(schedule_facts(snapshot, job, now, self._late)) if isinstance(job, Schedule) else ""
            if many == before and not why:
                yield times[0], ""
                continue
            first = humanize.minute(times[0], now, self._zone)
            more = f", {many or 'no'} runs ({item.expression})" if many != 1 else ""
            usual = "" if many == before else f"; {before or 'none'} the day before"
            yield times[0], f"{first}  {name}{more}{usual}{why}"

    def _obstacle(self, facts: ScheduleFacts) -> str:
        """The reason why its runs are not made, as the calendar tells it; "" for none."""
        obstacle = render(facts.obstacle, facts.now, self._zone)
        if (late := facts.overdue) is None:
            return f"; {obstacle.removeprefix('but ').removeprefix('when ')}" if obstacle else ""
        why = f", {obstacle}" if obstacle else f": {render(late.sentence, facts.now, self._zone)}"
        return f"; due since {humanize.time(late.since, facts.now, self._zone)}{why}"

    def write(self, entry: JournalEntry, now: datetime) -> tuple[datetime | None, tuple[str, ...]]:
        """When, and the lines; no time where the journal has none that can be read."""
        moment = entry.moment
        if moment is None:
            return None, ()
        target = f"{entry.kind.lower()} {entry.namespace}/{entry.name}"
        when = humanize.time(moment, now, self._zone)
        head = f"{when}  {entry.user}: {entry.method} {entry.context} {target}: {entry.result}"
        return moment, (head, *change_lines(entry.method, entry.patch, entry.before))


def _as_plain(title: str, as_of: str, sections: Iterable[Section]) -> Iterator[str]:
    yield unsigned(title)
    yield as_of
    for section in sections:
        yield ""
        yield unsigned(section.title)
        for head, *below in section.lines or ((section.none,),):
            sign, words = _parted(section, head)
            yield f"  {sign}{unsigned(words)}"
            yield from (f"      {unsigned(line)}" for line in below)


def as_markdown(title: str, as_of: str, sections: Iterable[Section]) -> Iterator[str]:
    """The lines of it; nothing that comes from a cluster makes markup."""
    yield f"# {_escaped(title)}"
    yield ""
    yield _escaped(as_of)
    for section in sections:
        yield ""
        yield f"## {_escaped(section.title)}"
        yield ""
        for head, *below in section.lines or ((section.none,),):
            sign, words = _parted(section, head)
            yield f"- {sign}{_escaped(words)}"
            yield from (f"  - {_escaped(line)}" for line in below)


def _parted(section: Section, line: str) -> tuple[str, str]:
    """The sign that a line begins with, and its words."""
    sign, blank, words = line.partition(" ") if section.signed else ("", "", line)
    return f"{sign}{blank}", words


def _escaped(text: str) -> str:
    """Names come from the cluster: none of them makes markup."""
    return _MARKUP.sub(r"\\\1", unsigned(text))


async def handover_of(state: DashboardState, environ: Mapping[str, str]) -> Handover:
    """As of now; a journal that cannot be read costs its own part only."""
    journal: tuple[JournalEntry, ...] = ()
    problem = ""
    try:
        journal = await Journal(default_path(environ)).read_in_thread()
    except ForetopError as found:
        problem = str(found)
    clusters = tuple((state.store.snapshot(context), state.now(context)) for context in state.contexts)
    return Handover(
        clusters,
        state.findings,
        state.acknowledged,
        state.unseen,
        tuple(entry for entry in journal if entry.context in state.contexts),
        problem,
        state.thresholds,
        await in_thread(lambda: tuple(_awaited(clusters, state.zone))),
    )


def _awaited(clusters: Iterable[tuple[ClusterSnapshot, datetime]], zone: tzinfo) -> Iterator[Awaited]:
    for snapshot, now in clusters:
        for namespace in snapshot.velero_namespaces:
            if unknown := why_unforeseen(snapshot, namespace, now):
                yield Awaited(snapshot.context, namespace, unknown, if_back(snapshot, namespace, now, zone))
            elif resumed := if_resumed(snapshot, namespace, now, zone):
                yield Awaited(snapshot.context, namespace, if_resumed=resumed)
