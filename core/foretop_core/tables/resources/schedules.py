"""The table of schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from foretop_core.cron import CronError, shown
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE, VERSION_KINDS
from foretop_core.models.wire import ObjectRef, Resource
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
    newest_letters,
    past_runs,
    run_letter,
    runs_since,
)
from foretop_core.rules.phases import FAULTY
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import Verdicts
from foretop_core.store import Change, Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone, phase_briefs, run_mark
from foretop_core.tables.engine.view import Column, View, plain
from foretop_core.tables.resources.json_items import Item, schedule_item
from foretop_core.tables.text import times

_MARKS = {Severity.ERROR: StatusGlyph.BROKEN, Severity.WARNING: StatusGlyph.LOOK}


class ScheduleRow(LastingFacts, frozen=True, kw_only=True):
    """A schedule and what holds of it until it changes, with a sign for each of its last runs."""

    letters: str


class SchedulesView(View[ScheduleRow]):
    name = "schedules"
    kinds = frozenset({SCHEDULE.name})
    watched = frozenset({SCHEDULE.name, BACKUP.name, *VERSION_KINDS})
    context_kinds = frozenset({STORAGE.name})
    order = "name"
    rank = ("next", "last", "runs", "cron", "skip", "meaning")
    least: ClassVar[Mapping[str, int]] = {"name": 20, "last": 6, "cron": 12, "next": 12}
    fields = (*View.fields, "cron", "paused", "outcome")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> ScheduleRow | None:
        if not isinstance(resource, Schedule):
            return None
        labelled = store.indexes.backups_by_schedule.get(key.context, key.namespace, key.name)
        runs = history(resource, labelled)
        readings = store.snapshot(key.context).readings(resource)
        past = past_runs(resource, readings, runs, SHOWN_RUNS)
        return ScheduleRow(resource, runs, readings, letters=newest_letters("".join(run.letter for run in past)))

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

    def phase(self, entry: ScheduleRow) -> str:
        return entry.schedule.phase or "New"

    def details(self, entry: ScheduleRow) -> Mapping[str, str]:
        spec = entry.schedule.spec
        return {
            "cron": spec.schedule,
            "paused": "true" if spec.paused else "false",
            "outcome": entry.last_outcome or "",
        }

    def mark(self, entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
        return _mark(entry, render)

    def standing(self, entry: ScheduleRow) -> StatusLabel | None:
        if entry.schedule.spec.paused:
            return StatusGlyph.PAUSED, "paused"
        if entry.never_fires:
            return StatusGlyph.BROKEN, "broken"
        last = entry.last_outcome
        return (run_mark(last), "failed last") if last is not None and last in FAULTY else None

    def item(self, entry: ScheduleRow, render: RenderContext) -> Item:
        return schedule_item(render.schedule_facts(entry))


def _mark(entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
    facts = render.schedule_facts(entry)
    if facts.state is ScheduleState.PAUSED:
        return StatusGlyph.PAUSED
    if facts.severity is not None:
        return _MARKS[facts.severity]
    return StatusGlyph.WAITING if facts.state is ScheduleState.WAITING else StatusGlyph.HEALTHY


def _next_tone(entry: ScheduleRow, render: RenderContext) -> Tone:
    """A run that will not be made, or perhaps not, does not look like one that will."""
    found = SEVERITIES.get(render.schedule_facts(entry).coming_state)
    return Tone.PLAIN if found is None else _MARKS[found].tone


def _last_tone(entry: ScheduleRow, render: RenderContext) -> Tone:
    """The colour of the last backup, or of what is wrong with those before it."""
    severity, own = render.schedule_facts(entry).severity, _outcome_tone(entry)
    if severity is None or own is not Tone.PLAIN or entry.schedule.spec.paused:
        return own
    return _MARKS[severity].tone if _next_tone(entry, render) is Tone.PLAIN else own


def _next(entry: ScheduleRow, render: RenderContext) -> str:
    facts, now = render.schedule_facts(entry), render.now
    if entry.schedule.spec.paused:
        return _if_unpaused(facts)
    if facts.invalid:
        return "too long" if facts.is_too_long else "invalid cron" if facts.is_invalid_cron else "refused"
    if facts.dialect is None:
        return f"{len(facts.readings)} readings"
    if facts.never_fires:
        return "never fires"
    run = facts.next_run
    if run is None:
        return "none"
    if now <= run:
        return f"{times.until(run - now)}{', refused' if facts.refusal else ''}"
    return f"overdue {times.short(now - run)}" if facts.overdue is not None else "due"


def _next_briefs(text: str) -> tuple[str, ...]:
    """Less and less of what is told after a comma, but of a run that is refused just that."""
    first, *more = text.split(", ")
    if more == ["refused"]:
        return ("refused",)
    return tuple(", ".join((first, *more[:kept])) for kept in range(len(more) - 1, -1, -1))


def _if_unpaused(facts: ScheduleFacts) -> str:
    """What unpausing it now would do: a backup at once, or the next run."""
    if facts.invalid:
        return "paused"
    told = facts.unpausing(Choice.LEAVE)
    if facts.may_be_due:
        return "paused, due, skips" if told.skips else "paused, due"
    return f"paused, {times.until(told.next_run - facts.now)}" if told.next_run else "paused"


def _last(entry: ScheduleRow, render: RenderContext) -> str:
    """How long ago it made a backup, and how that went."""
    last = entry.last_backup
    return f"{_age(entry, render)} {RUN_WORDS[run_letter(last)]}" if last else _age(entry, render)


def _age(entry: ScheduleRow, render: RenderContext) -> str:
    return times.age(entry.last_backup_at, render.now) or "never"


def _skip(entry: ScheduleRow, render: RenderContext) -> str:
    field = entry.schedule.spec.skip_immediately
    if field is not None:
        return "yes, once" if field else "no"
    default = render.snapshot.server(entry.schedule.namespace).skip_immediately
    return "server: ?" if default is None else "server: yes" if default else "server: no"


def last_runs(entry: ScheduleRow, render: RenderContext) -> str:
    since = runs_since(render.schedule_facts(entry))
    return newest_letters(entry.letters + "".join(run.letter for run in since))


def expected_runs(entry: ScheduleRow, render: RenderContext, most: int) -> tuple[ExpectedRun, ...]:
    """At most so many of the last runs that were expected, oldest first, with the backups that were made."""
    past = past_runs(entry.schedule, entry.readings, entry.runs, most)
    return (*past, *runs_since(render.schedule_facts(entry)))[-most:]


def _meaning(entry: ScheduleRow) -> str:
    if len(entry.readings) > 1:
        return "; ".join(f"{reading.releases}: {reading.meaning}" for reading in entry.readings)
    parsed = entry.readings[0].parsed
    return "" if isinstance(parsed, CronError) else parsed.describe()


def _outcome_tone(entry: ScheduleRow) -> Tone:
    """The colour that the backup's own row has, where it did not go well."""
    last = entry.last_outcome
    return run_mark(last).tone if last is not None and last in FAULTY else Tone.PLAIN


def _runs_tone(entry: ScheduleRow, render: RenderContext) -> Tone:
    """Nothing but good runs is muted."""
    return Tone.PLAIN if last_runs(entry, render).strip(".") else Tone.DIM


_COLUMNS: tuple[Column[ScheduleRow], ...] = (
    plain("namespace", "NAMESPACE", lambda entry: entry.schedule.namespace, wide=True),
    plain("name", "NAME", lambda entry: entry.schedule.name, from_middle=True),
    plain("cron", "CRON", lambda entry: shown(entry.schedule.spec.schedule)),
    plain("meaning", "MEANING", _meaning, wide=True),
    Column(
        "next",
        "NEXT",
        _next,
        lambda entry: entry.next_run,
        _next_tone,
        briefs=lambda entry, render: _next_briefs(_next(entry, render)),
        ticks=True,
    ),
    Column(
        "last",
        "LAST",
        _last,
        lambda entry: entry.last_backup_at,
        _last_tone,
        falls=True,
        briefs=lambda entry, render: (_age(entry, render),),
        ticks=True,
    ),
    Column("runs", f"LAST {SHOWN_RUNS} RUNS", last_runs, lambda entry: entry.letters, _runs_tone),
    Column("skip", "SKIP", _skip, lambda entry: entry.schedule.spec.skip_immediately),
    plain(
        "phase",
        "PHASE",
        lambda entry: entry.schedule.phase or "New",
        wide=True,
        briefs=lambda entry: phase_briefs(entry.schedule.phase),
    ),
    plain(
        "outcome",
        "LAST OUTCOME",
        lambda entry: entry.last_outcome or "",
        tone=lambda entry, _: _outcome_tone(entry),
        wide=True,
    ),
)
