"""The table of schedules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from statistics import median_low
from typing import ClassVar

from foretop_core.cron import CronError, shown
from foretop_core.foreign_text import without_signs
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE, VERSION_KINDS
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import sentences
from foretop_core.rules.facts.run_facts import run_length, usual_length, waited
from foretop_core.rules.facts.schedule_facts import (
    SEVERITIES,
    Choice,
    LastingFacts,
    ScheduleFacts,
    ScheduleState,
    history,
)
from foretop_core.rules.facts.schedule_runs import (
    RUN_WORDS,
    SHOWN_RUNS,
    ExpectedRun,
    past_runs,
    run_letter,
    runs_since,
)
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.phases import FAULTY
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import Verdicts
from foretop_core.store import Change, Store
from foretop_core.tables.engine.drawings import RunStrip, run_marks
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone, phase_briefs, run_mark
from foretop_core.tables.engine.view import Cell, Column, View, plain
from foretop_core.tables.text import times

_MARKS = {Severity.ERROR: StatusGlyph.BROKEN, Severity.WARNING: StatusGlyph.LOOK}


_WORTH_TELLING = timedelta(seconds=1)
MOST_RUNS = 30
"""So many runs a strip in the table has at most."""


class ScheduleRow(LastingFacts, frozen=True, kw_only=True):
    """A schedule and what holds of it until it changes, with the letters and lengths of its last runs."""

    past: tuple[tuple[str, timedelta | None], ...]
    usual: timedelta | None
    """How long its runs take; None where they are too few to say."""
    wait: timedelta | None
    """How long the half of its last runs that waited least waited for a slot at most; None where none is known."""

    @property
    def letters(self) -> str:
        return "".join([letter for letter, _ in self.past])


class SchedulesView(View[ScheduleRow]):
    name = "schedules"
    kinds = frozenset({SCHEDULE.name})
    watched = frozenset({SCHEDULE.name, BACKUP.name, *VERSION_KINDS})
    context_kinds = frozenset({STORAGE.name})
    order = "name"
    rank = ("next", "last", "at", "namespace", "runs", "cron", "usual", "to", "meaning", "wait")
    least: ClassVar[Mapping[str, int]] = {"name": 20, "namespace": 10, "cron": 18, "runs": 10, "to": 8, "meaning": 16}
    first: ClassVar[Mapping[str, int]] = {"runs": 14}
    order_words = "worst first, then next run"
    is_of_velero = True
    on_request = frozenset({"skip"})
    fields = (*View.fields, "cron", "paused", "outcome")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> ScheduleRow | None:
        if not isinstance(resource, Schedule):
            return None
        labelled = store.indexes.backups_by_schedule.get(key.context, key.namespace, key.name)
        runs = history(resource, labelled)
        readings = store.snapshot(key.context).readings(resource)
        past = past_runs(resource, readings, runs, MOST_RUNS)[-MOST_RUNS:]
        return ScheduleRow(
            resource,
            runs,
            readings,
            past=tuple([(run.letter, run_length(run.backup) if run.backup else None) for run in past]),
            usual=usual_length(runs),
            wait=_usual_wait(runs[:SHOWN_RUNS]),
        )

    def basis(self, store: Store, context: str) -> Verdicts:
        """How the servers read expressions: that is learned from all the objects of a server together."""
        return store.snapshot(context).verdicts

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """A backup shows in the row of the schedule that it belongs to, and of the one it belonged to."""
        if key.kind == SCHEDULE.name:
            return (key,)
        if key.kind != BACKUP.name:
            return ()
        sides = (change.before, change.after)
        names = {side.schedule_name for side in sides if isinstance(side, Backup)}
        return [ObjectRef(key.context, SCHEDULE.name, key.namespace, name) for name in sorted(names) if name]

    def resource(self, entry: ScheduleRow) -> Schedule:
        return entry.schedule

    def then_by(self, entry: ScheduleRow) -> tuple[bool, datetime | None, str]:
        """Orders those without a run to come first, then by the next run."""
        return entry.next_run is not None, entry.next_run, entry.schedule.name

    def phase(self, entry: ScheduleRow) -> str:
        return entry.schedule.phase or "New"

    def details(self, entry: ScheduleRow) -> Mapping[str, str]:
        spec = entry.schedule.spec
        return {
            "cron": spec.schedule,
            "paused": "true" if spec.paused else "false",
            "outcome": entry.last_outcome or "",
        }

    def searched(self, entry: ScheduleRow) -> Iterable[str]:
        spec = entry.schedule.spec
        return spec.schedule, "paused" if spec.paused else "", entry.last_outcome or ""

    def mark(self, entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
        facts = render.schedule_facts(entry)
        if facts.state is ScheduleState.PAUSED:
            return StatusGlyph.PAUSED
        if facts.severity is not None:
            return _MARKS[facts.severity]
        if facts.state is ScheduleState.WAITING:
            return StatusGlyph.WAITING
        return StatusGlyph.RUNNING if entry.unfinished is not None else StatusGlyph.HEALTHY

    def standing(self, entry: ScheduleRow) -> StatusLabel | None:
        if entry.schedule.spec.paused:
            return StatusGlyph.PAUSED, "paused"
        if entry.never_fires:
            return StatusGlyph.BROKEN, "broken"
        last = entry.last_outcome
        return (run_mark(last), "failed last") if last is not None and last in FAULTY else None

    def item(self, entry: ScheduleRow, render: RenderContext) -> Item:
        return schedule_item(render.schedule_facts(entry))


def _meaning(entry: ScheduleRow) -> str:
    if len(entry.readings) > 1:
        return "; ".join(f"{reading.releases}: {reading.meaning}" for reading in entry.readings)
    parsed = entry.readings[0].parsed
    return "" if isinstance(parsed, CronError) else parsed.describe()


def _next(entry: ScheduleRow, render: RenderContext) -> Cell:
    """A run that will not be made, or perhaps not, does not look like one that will; one that is near is bright.

    In brief a countdown or a word: `57s?`, `due`, `overdue`, `resume` (it reads on in AT), `over`, `paused`.
    """
    facts, now = render.schedule_facts(entry), render.now
    run, severity = facts.next_run, SEVERITIES.get(facts.coming_state)
    is_near = run is not None and run - now < times.IN_SECONDS
    tone = _MARKS[severity].tone if severity is not None else Tone.BRIGHT if is_near else Tone.PLAIN
    if facts.stays_invalid:
        brief = "invalid" if facts.is_invalid_cron else "refused"
        why = "too long" if facts.is_too_long else "invalid cron" if facts.is_invalid_cron else brief
        return Cell(f"paused, {why}" if facts.pause is not None else why, tone, (brief,))
    if facts.pause is not None:
        return _paused(facts, facts.pause.until)
    if facts.dialect is None:
        return Cell(f"{len(facts.readings)} readings", tone, ("unclear",))
    if run is None:
        return Cell("every minute", tone, ("always",)) if facts.due else Cell("none", tone, ("never",))
    if facts.overdue is not None:
        return Cell(f"overdue {times.short(now - run)}", tone, ("overdue",))
    doubt = f", {facts.doubt}" if facts.doubt else ""
    return Cell(f"{times.until(run - now)}{doubt}" if now <= run else "due", tone, (counted(facts, run),))


def _paused(facts: ScheduleFacts, until: datetime | None) -> Cell:
    """The effect of unpausing it now: a backup at once, or the next run."""
    is_over = until is not None and until <= facts.now
    brief, tone = "paused" if until is None else "over" if is_over else "resume", Tone.WARN if is_over else Tone.PAUSED
    if facts.invalid:
        return Cell("paused", tone, (brief,))
    forecast, ends = facts.unpausing(Choice.LEAVE), f", {brief}" if until is not None else ""
    if facts.may_be_due:
        return Cell(f"paused, due{', skips' if forecast.skips else ''}{ends}", tone, (brief,))
    then = f", else {times.until(forecast.next_run - facts.now)}" if forecast.next_run else ""
    return Cell(f"paused{then}{ends}", tone, (brief,))


def counted(facts: ScheduleFacts, run: datetime) -> str:
    """How long it is to a run; with a question mark where a silent server does not make it then."""
    return f"{times.countdown(run - facts.now)}{'?' if facts.waits_for and run > facts.now else ''}"


def _at(entry: ScheduleRow, render: RenderContext) -> Cell | str:
    """When the run is due, or the pause should end: `04:30` within a day, `Sun` within six, then `1 Jan`.

    `Sun 04:30`, in brief `Sun`, where that is tomorrow and reads as past.
    """
    facts = render.schedule_facts(entry)
    if facts.pause is not None and not facts.stays_invalid and facts.pause.until is None and facts.may_be_due:
        return "due"
    at = None if facts.stays_invalid else facts.pause.until if facts.pause is not None else facts.next_run
    if at is None:
        return ""
    zone, away = render.zone_of(entry.schedule), abs(at - render.now)
    local = at.astimezone(zone)
    if away < timedelta(days=1):
        reads_as_past = away >= timedelta(hours=12) and local.date() > render.now.astimezone(zone).date()
        return Cell(f"{local:%a %H:%M}", briefs=(f"{local:%a}",)) if reads_as_past else f"{local:%H:%M}"
    if away < timedelta(days=6):
        return f"{local:%a}"
    return Cell(f"{local.day} {local:%b}", briefs=(f"{local.day}{local:%b}",) if local.day > 9 else ())


def _wait(entry: ScheduleRow, render: RenderContext) -> Cell:
    """How long the next run is likely to wait for a slot; where that is not foreseen, how long is usual."""
    due, foreseen = render.waits.get(entry.schedule.namespace, {}).get(entry.schedule.name, (None, None))
    wait = foreseen if due is not None and due == entry.next_run else entry.wait
    return Cell(times.short(wait) if wait is not None and wait >= _WORTH_TELLING else "", Tone.DIM)


def _usual_wait(runs: Iterable[Backup]) -> timedelta | None:
    lengths = [length for run in runs if (length := waited(run)) is not None]
    return median_low(lengths) if lengths else None


def _last(entry: ScheduleRow, render: RenderContext) -> Cell:
    """How long ago it made a backup, and how that went; in brief the letter of an outcome that is not good.

    In the colour of that backup, or of what is wrong with those before it.
    """
    last, age = entry.last_backup, times.age(entry.last_backup_at, render.now) or "never"
    facts, tone = render.schedule_facts(entry), _outcome(entry).tone
    severity = None if entry.schedule.spec.paused or facts.coming_state in SEVERITIES else facts.severity
    if severity is not None and tone is Tone.PLAIN:
        tone = _MARKS[severity].tone
    if last is None:
        return Cell(age, tone, (age,))
    letter = run_letter(last)
    briefs = (f"{age} {letter}", f"{first[0] if (first := _FIRST_UNIT.match(age)) else age} {letter}")
    return Cell(f"{age} {RUN_WORDS[letter]}", tone, briefs if letter in _NOT_GOOD else (age,))


_NOT_GOOD = ("w", "P", "F", "V")
_FIRST_UNIT = re.compile(r"\d+[a-z]")


def _outcome(entry: ScheduleRow) -> Cell:
    """In the colour that the backup's own row has, where it did not go well."""
    last = entry.last_outcome or ""
    return Cell(last, run_mark(last).tone if last in FAULTY else Tone.PLAIN)


def _runs(entry: ScheduleRow, render: RenderContext) -> Cell:
    """A mark for each of its last runs, and for what was expected since; in words where there is none."""
    tone = Tone.BAD if entry.invalid or entry.never_fires else Tone.DIM
    since = [(run.letter, None) for run in runs_since(render.schedule_facts(entry))]
    if marks := run_marks((*entry.past, *since)[-MOST_RUNS:], entry.usual):
        return Cell(marks[-SHOWN_RUNS:], tone, drawing=RunStrip(marks))
    if tone is Tone.BAD:
        return Cell("makes none", tone)
    return Cell("none left" if entry.last_backup_at is not None else "no run yet", tone)


def last_runs(entry: ScheduleRow, render: RenderContext) -> str:
    """The letters of its last runs, and of what was expected since."""
    since = runs_since(render.schedule_facts(entry))
    return f"{entry.letters}{''.join(run.letter for run in since)}"[-MOST_RUNS:]


def expected_runs(entry: ScheduleRow, render: RenderContext, most: int) -> tuple[ExpectedRun, ...]:
    """At most so many of the last runs that were expected, oldest first, with the backups that were made."""
    past = past_runs(entry.schedule, entry.readings, entry.runs, most)
    return (*past, *runs_since(render.schedule_facts(entry)))[-most:]


def _place(entry: ScheduleRow, render: RenderContext) -> Cell:
    place = entry.schedule.spec.template.storage_location or "default"
    return Cell(place, Tone.BAD if render.schedule_facts(entry).refusal else Tone.DIM)


def _skip(entry: ScheduleRow, render: RenderContext) -> str:
    field = entry.schedule.spec.skip_immediately
    if field is not None:
        return "yes, once" if field else "no"
    default = render.snapshot.server(entry.schedule.namespace).skip_immediately
    return "server: ?" if default is None else "server: yes" if default else "server: no"


def _phase(entry: ScheduleRow) -> Cell:
    phase = entry.schedule.phase
    return Cell(without_signs(phase) or "New", briefs=phase_briefs(phase))


_COLUMNS: tuple[Column[ScheduleRow], ...] = (
    plain("namespace", "NAMESPACE", lambda entry: entry.schedule.namespace, wide=True),
    plain("name", "NAME", lambda entry: entry.schedule.name, from_middle=True),
    plain("cron", "CRON", lambda entry: Cell(shown(entry.schedule.spec.schedule), Tone.DIM), cells=18, most=20),
    plain("meaning", "MEANING", _meaning, wide=True),
    Column("next", "NEXT", _next, lambda entry: entry.next_run, right=True, cells=7, most=7, ticks=True),
    Column("at", "AT", _at, lambda entry: entry.next_run, cells=5, most=5),
    Column("wait", "WAIT", _wait, lambda entry: entry.wait, right=True, wide=True, cells=4, most=5),
    Column(
        "last",
        "LAST",
        _last,
        lambda entry: entry.last_backup_at,
        right=True,
        falls=True,
        cells=6,
        most=6,
        ticks=True,
    ),
    Column("runs", "LAST RUNS", _runs, lambda entry: entry.letters, cells=MOST_RUNS, most=MOST_RUNS, signed=True),
    Column(
        "usual",
        "USUAL",
        lambda entry, _: Cell(times.took(entry.usual) if entry.usual is not None else "", Tone.DIM),
        lambda entry: entry.usual,
        right=True,
        cells=5,
        most=6,
        lasts=True,
    ),
    Column(
        "to",
        "TO",
        _place,
        lambda entry: entry.schedule.spec.template.storage_location or "default",
        cells=8,
        most=12,
    ),
    Column("skip", "SKIP", _skip, lambda entry: entry.schedule.spec.skip_immediately),
    plain("phase", "PHASE", _phase, wide=True, signed=True),
    plain("outcome", "LAST OUTCOME", _outcome, wide=True),
)


def schedule_item(facts: ScheduleFacts) -> Item:
    """The item of a schedule; what is not known is null, and the field beside it that ends in Unknown says why."""
    schedule = facts.schedule
    last, last_ended = facts.last_backup, facts.last_ended
    return {
        **identity(facts.snapshot.context, schedule),
        "phase": schedule.phase or None,
        "state": facts.state.value,
        "schedule": schedule.spec.schedule,
        "paused": schedule.spec.paused,
        "skipImmediately": schedule.spec.skip_immediately,
        "lastBackup": rfc3339(facts.last_backup_at),
        "lastBackupName": last.name if last is not None else None,
        "lastBackupPhase": (last.phase or "New") if last is not None else None,
        "lastBackupUnknown": facts.why_no_last or None,
        "lastSkipped": rfc3339(schedule.status.last_skipped),
        **_coming(facts),
        "lastOutcome": facts.last_outcome,
        "lastEndedName": last_ended.name if last_ended is not None else None,
        "lastEndedPhase": last_ended.phase if last_ended is not None else None,
        "lastEndedAt": rfc3339(facts.last_ended_at),
    }


def _coming(facts: ScheduleFacts) -> Item:
    """The next run; where it is open how the server reads the expression, that is null and the readings have it."""
    coming: Item = {
        "nextRun": rfc3339(facts.next_run),
        "nextRunUnknown": facts.why_no_next or None,
        "due": facts.due,
        "expectedStart": rfc3339(facts.expected_start),
        "expectedStartUnknown": sentences.render(facts.why_no_start, facts.now) or None,
        "refusal": facts.refusal or None,
        "waitsFor": facts.waits_for or None,
    }
    if facts.dialect is None:
        coming["readings"] = [
            {
                "releases": reading.reading.releases,
                "meaning": reading.reading.meaning,
                "nextRun": rfc3339(reading.next_run),
                "due": reading.due,
            }
            for reading in facts.by_reading
        ]
    return coming
