"""The table of schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from foretop_core.cron import CronError, Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE, VERSION_KINDS
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.cluster_unpause_forecast import forecast_unpause, is_run_due
from foretop_core.rules.cron_dialects import Reading
from foretop_core.rules.facts.server_facts import PERIOD
from foretop_core.rules.forecast import (
    GRACE,
    Choice,
    invalid,
    never_fires,
    next_run,
    overdue,
)
from foretop_core.rules.phases import FAULTY, WAITING
from foretop_core.rules.schedule_history import history, last_outcome
from foretop_core.rules.snapshot import Verdicts
from foretop_core.rules.storage_refusal import schedule_refusal
from foretop_core.store import Change, Store
from foretop_core.tables.engine.columns import Column, View, plain
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone, phase_briefs, run_mark
from foretop_core.tables.resources.json_items import Item, schedule_item
from foretop_core.tables.resources.schedule_runs import (
    RUN_WORDS,
    SHOWN_RUNS,
    ExpectedRun,
    newest_letters,
    past_runs,
    run_letter,
    runs_since,
    submitted,
)
from foretop_core.tables.text import times

_WORST_FIRST = (StatusGlyph.BROKEN, StatusGlyph.LOOK, StatusGlyph.WAITING, StatusGlyph.HEALTHY)


class ScheduleRow(msgspec.Struct, frozen=True):
    """A schedule, its own backups, newest first, how the last runs went, and how its server may read it."""

    schedule: Schedule
    runs: tuple[Backup, ...]
    letters: str
    readings: tuple[Reading, ...]

    @property
    def dialect(self) -> Dialect | None:
        """That of its server; None where it is open and makes a difference."""
        return self.readings[0].dialect if len(self.readings) == 1 else None

    @property
    def next_run(self) -> datetime | None:
        return None if self.dialect is None else next_run(self.schedule, self.dialect)

    @property
    def never_fires(self) -> bool:
        return self.dialect is not None and never_fires(self.schedule, self.dialect)

    @property
    def is_refused(self) -> bool:
        """Whether Velero refuses it, in every reading that is possible."""
        return all(invalid(self.schedule, reading.dialect) for reading in self.readings)


class SchedulesView(View[ScheduleRow]):
    name = "schedules"
    kinds = frozenset({SCHEDULE.name})
    watched = frozenset({SCHEDULE.name, BACKUP.name, *VERSION_KINDS})
    context_kinds = frozenset({STORAGE.name})
    order = "name"
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
        return ScheduleRow(resource, runs, newest_letters("".join(run.letter for run in past)), readings)

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
        return {"cron": spec.schedule, "paused": "true" if spec.paused else "false", "outcome": _outcome(entry)}

    def mark(self, entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
        return _mark(entry, render)

    def standing(self, entry: ScheduleRow) -> StatusLabel | None:
        if entry.schedule.spec.paused:
            return StatusGlyph.PAUSED, "paused"
        if entry.never_fires:
            return StatusGlyph.BROKEN, "broken"
        return (run_mark(entry.runs[0].phase), "failed last") if _has_failed(entry) else None

    def item(self, entry: ScheduleRow, render: RenderContext) -> Item:
        return schedule_item(render.snapshot, entry.schedule, render.now)


def _mark(entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
    """The worse of what becomes of its next run and how its last one went."""
    if entry.schedule.spec.paused:
        return StatusGlyph.PAUSED
    coming = _coming_mark(entry, render)
    newest = entry.runs[0].phase if entry.runs else "Completed"
    outcome = run_mark(newest) if newest in FAULTY or newest in WAITING else StatusGlyph.HEALTHY
    return next(mark for mark in _WORST_FIRST if mark in (coming, outcome))


def _coming_mark(entry: ScheduleRow, render: RenderContext) -> StatusGlyph:
    """A run that will not be made, or perhaps not, does not look like one that will."""
    schedule = entry.schedule
    beat = render.beat(schedule.namespace)
    late = entry.dialect and overdue(schedule, render.now, entry.dialect, beat, entry.runs)
    if entry.never_fires or late or entry.is_refused:
        return StatusGlyph.BROKEN
    is_open = entry.dialect is None or beat.silent_for(render.now) is not None
    return StatusGlyph.LOOK if is_open or schedule_refusal(render.snapshot, schedule) else StatusGlyph.HEALTHY


def _next_tone(entry: ScheduleRow, render: RenderContext) -> Tone:
    mark = StatusGlyph.HEALTHY if entry.schedule.spec.paused else _coming_mark(entry, render)
    return Tone.PLAIN if mark is StatusGlyph.HEALTHY else mark.tone


def _next(entry: ScheduleRow, render: RenderContext) -> str:
    schedule, now = entry.schedule, render.now
    if schedule.spec.paused:
        return _if_unpaused(entry, render)
    if entry.is_refused:
        return "invalid cron" if isinstance(entry.readings[-1].parsed, CronError) else "refused"
    if entry.dialect is None:
        return f"{len(entry.readings)} readings"
    if entry.never_fires:
        return "never fires"
    run = entry.next_run
    if run is None:
        return "none"
    if now <= run:
        refused = ", refused" if schedule_refusal(render.snapshot, schedule) else ""
        return f"{times.until(run - now)}{refused}"
    return "due" if now - run <= GRACE else f"overdue {times.short(now - run)}"


def _next_briefs(text: str) -> tuple[str, ...]:
    """Less and less of what is told after a comma, but of a run that is refused just that."""
    first, *more = text.split(", ")
    if more == ["refused"]:
        return ("refused",)
    return tuple(", ".join((first, *more[:kept])) for kept in range(len(more) - 1, -1, -1))


def _if_unpaused(entry: ScheduleRow, render: RenderContext) -> str:
    """What unpausing it now would do: a backup at once, or the next run."""
    schedule = entry.schedule
    if entry.is_refused:
        return "paused"
    told = forecast_unpause(render.snapshot, schedule, Choice.LEAVE, render.now, render.beat(schedule.namespace))
    if is_run_due(schedule, entry.readings, render.now):
        return "paused, due, skips" if told.skips else "paused, due"
    return f"paused, {times.until(told.next_run - render.now)}" if told.next_run else "paused"


def _last(entry: ScheduleRow, render: RenderContext) -> str:
    """How long ago it made a backup, and how that went."""
    newest = _newest(entry)
    return f"{_age(entry, render)} {RUN_WORDS[run_letter(newest)]}" if newest else _age(entry, render)


def _age(entry: ScheduleRow, render: RenderContext) -> str:
    return times.age(_last_made(entry), render.now) or "never"


def _last_made(entry: ScheduleRow) -> datetime | None:
    newest = _newest(entry)
    return submitted(newest) if newest else entry.schedule.status.last_backup


def _newest(entry: ScheduleRow) -> Backup | None:
    """Its newest backup, by Velero or by hand; None where Velero has made one since that is not to be seen."""
    newest, made = entry.runs[0] if entry.runs else None, entry.schedule.status.last_backup
    return newest if newest is None or made is None or made - submitted(newest) < PERIOD else None


def _skip(entry: ScheduleRow, render: RenderContext) -> str:
    field = entry.schedule.spec.skip_immediately
    if field is not None:
        return "yes, once" if field else "no"
    default = render.snapshot.server(entry.schedule.namespace).skip_immediately
    return "server: ?" if default is None else "server: yes" if default else "server: no"


def last_runs(entry: ScheduleRow, render: RenderContext) -> str:
    since = runs_since(entry.schedule, entry.readings, entry.runs, render.now)
    return newest_letters(entry.letters + "".join(run.letter for run in since))


def expected_runs(entry: ScheduleRow, render: RenderContext, most: int) -> tuple[ExpectedRun, ...]:
    """At most so many of the last runs that were expected, oldest first, with the backups that were made."""
    past = past_runs(entry.schedule, entry.readings, entry.runs, most)
    return (*past, *runs_since(entry.schedule, entry.readings, entry.runs, render.now))[-most:]


def _meaning(entry: ScheduleRow) -> str:
    if len(entry.readings) > 1:
        return "; ".join(f"{reading.releases}: {reading.meaning}" for reading in entry.readings)
    parsed = entry.readings[0].parsed
    return "" if isinstance(parsed, CronError) else parsed.describe()


def _outcome_tone(entry: ScheduleRow) -> Tone:
    """The colour that the backup's own row has, where it did not go well."""
    return run_mark(entry.runs[0].phase).tone if _has_failed(entry) else Tone.PLAIN


def _has_failed(entry: ScheduleRow) -> bool:
    return bool(entry.runs) and entry.runs[0].phase in FAULTY


def _runs_tone(entry: ScheduleRow, render: RenderContext) -> Tone:
    """Nothing but good runs is muted."""
    return Tone.PLAIN if last_runs(entry, render).strip(".") else Tone.DIM


def _outcome(entry: ScheduleRow) -> str:
    return last_outcome(entry.runs) or ""


_COLUMNS: tuple[Column[ScheduleRow], ...] = (
    plain("namespace", "NAMESPACE", lambda entry: entry.schedule.namespace, wide=True),
    plain("name", "NAME", lambda entry: entry.schedule.name, from_middle=True),
    plain("cron", "CRON", lambda entry: entry.schedule.spec.schedule),
    plain("meaning", "MEANING", _meaning, wide=True),
    Column(
        "next",
        "NEXT",
        _next,
        lambda entry: entry.next_run,
        _next_tone,
        briefs=lambda entry, render: _next_briefs(_next(entry, render)),
    ),
    Column(
        "last",
        "LAST",
        _last,
        _last_made,
        lambda entry, _: _outcome_tone(entry),
        falls=True,
        briefs=lambda entry, render: (_age(entry, render),),
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
        _outcome,
        tone=lambda entry, _: _outcome_tone(entry),
        wide=True,
    ),
)
