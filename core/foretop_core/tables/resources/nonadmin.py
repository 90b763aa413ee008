"""The table of the tenants' own backups and restores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import ClassVar, assert_never

from foretop_core.foreign_text import without_signs
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, Restore
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize
from foretop_core.rules.facts.nonadmin_facts import (
    CONDITIONS,
    LastingNonAdminFacts,
    NonAdminFacts,
    NonAdminState,
    own_run,
)
from foretop_core.rules.facts.run_facts import Run, has_ended, order
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.phases import WAITING
from foretop_core.store import Change, Store
from foretop_core.tables.engine.drawings import Signs
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import (
    StatusGlyph,
    StatusLabel,
    Tone,
    phase_briefs,
    phase_tone,
    run_mark,
    run_standing,
    severity_mark,
)
from foretop_core.tables.engine.view import Cell, Column, View, plain
from foretop_core.tables.resources.runs import items_bar, marked_name, percent, progress_cell, share_done
from foretop_core.tables.text import times

_CONDITION_GLYPHS = {"True": StatusGlyph.TRUE, "False": StatusGlyph.BROKEN}


class NonAdminRow(LastingNonAdminFacts, frozen=True):
    """A NAB or NAR, with its Velero object where that was seen."""

    @property
    def is_in_line(self) -> bool:
        return self.run is not None and not has_ended(self.run)

    @property
    def in_line(self) -> tuple[object, ...] | None:
        """Sorts as Velero's line does. Its place there moves with every other run: it is asked for when it is shown."""
        return order(self.run) if self.run is not None and self.is_in_line else None

    def facts(self, render: RenderContext) -> NonAdminFacts:
        """All that is said of it now."""
        work = render.facts(self.run) if self.run is not None and self.is_in_line else None
        return NonAdminFacts(self.item, self.run, render.now, render.snapshot, render.limits.deleting, work)


class NonAdminView(View[NonAdminRow]):
    name = "nonadmin"
    kinds = frozenset({NAB.name, NAR.name})
    watched = kinds | {BACKUP.name, RESTORE.name}
    context_kinds = frozenset({DEPLOYMENT.name, SCHEDULE.name, STORAGE.name})
    order = "namespace"
    rank = ("namespace", "velero", "age", "conditions", "progress", "phase", "queue")
    least: ClassVar[Mapping[str, int]] = {"name": 17, "namespace": 11, "velero": 10, "progress": 11, "queue": 7}
    first: ClassVar[Mapping[str, int]] = {"velero": 11, "progress": 13}
    on_request = frozenset({"queue"})
    narrow: ClassVar[Mapping[str, int]] = {"namespace": 8, "velero": 9, "name": 12}
    with_velero = True
    fields = (*View.fields, "kind", "velero", "veleroPhase", "object")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> NonAdminRow | None:
        if not isinstance(resource, NonAdmin):
            return None
        return NonAdminRow(resource, _velero_run(store, key.context, resource))

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """A Velero object shows in the row that led to it."""
        if key.kind in self.kinds:
            return (key,)
        sides = (side for side in (change.after, change.before) if isinstance(side, Backup | Restore))
        return {ref for side in sides for ref in _rows_of(store, key.context, side)}

    def resource(self, entry: NonAdminRow) -> NonAdmin:
        return entry.item

    def then_by(self, entry: NonAdminRow) -> tuple[tuple[object, ...], float]:
        """In Velero's order; what is in no line by age, the newest first."""
        created = entry.item.created
        return entry.in_line or (), -created.timestamp() if created is not None else 0.0

    def details(self, entry: NonAdminRow) -> Mapping[str, str]:
        """`velero` is the column: the phase, and `refused` or `lost` where it shows that in its place."""
        kind = "nab" if isinstance(entry.item, NonAdminBackup) else "nar"
        phase = entry.velero_phase
        shown = "\n".join(filter(None, (_without_run(entry), phase)))
        return {"kind": kind, "velero": shown, "veleroPhase": phase, "object": entry.item.velero.name}

    def searched(self, entry: NonAdminRow) -> Iterable[str]:
        kind = "nab" if isinstance(entry.item, NonAdminBackup) else "nar"
        progress = percent(entry.run) if entry.run is not None else ""
        return kind, entry.velero_phase, entry.item.velero.name, _stand(entry), progress

    def phase(self, entry: NonAdminRow) -> str:
        return entry.item.phase or "New"

    def mark(self, entry: NonAdminRow, render: RenderContext) -> StatusGlyph:
        severity = entry.facts(render).severity
        return severity_mark(severity) if severity is not None else _label(entry)[0]

    def standing(self, entry: NonAdminRow) -> StatusLabel | None:
        return run_standing(entry.velero_phase) if entry.state is NonAdminState.VELERO else _label(entry)

    def item(self, entry: NonAdminRow, render: RenderContext) -> Item:
        """`liveQueuePosition` counts those that run, as the controller's estimate does; `waitingPosition` does not."""
        item, facts = entry.item, entry.facts(render)
        severity, work = facts.severity, facts.work
        return {
            **identity(render.snapshot.context, item),
            "phase": item.phase or None,
            "conditions": {
                condition.type: {
                    "status": condition.status,
                    "reason": condition.reason,
                    "message": condition.message,
                    "since": rfc3339(condition.last_transition_time),
                }
                for condition in item.state.conditions
            },
            "veleroName": item.velero.name or None,
            "veleroPhase": entry.velero_phase or None,
            "started": rfc3339(entry.status.start_timestamp) if entry.status is not None else None,
            "ended": rfc3339(entry.status.completion_timestamp) if entry.status is not None else None,
            "queuePosition": item.state.queue_info.estimated_queue_position if item.state.queue_info else None,
            "liveQueuePosition": None if entry.run is None else work.place if work is not None else 0,
            "waitingPosition": (work.waiting_place or None) if work is not None else None,
            "severity": severity.value if severity is not None else None,
        }


def _label(entry: NonAdminRow) -> StatusLabel:
    """Its sign, and a word for it; of what Velero works on or has worked on those of its run."""
    state, phase = entry.state_and_phase
    match state:
        case NonAdminState.VELERO:
            return run_mark(phase), phase
        case NonAdminState.WAITING:
            return StatusGlyph.WAITING, "waiting"
        case NonAdminState.DELETING:
            return StatusGlyph.RUNNING, state.value
        case NonAdminState.LOST | NonAdminState.REFUSED:
            return StatusGlyph.LOOK, state.value
    assert_never(state)


def _velero_run(store: Store, context: str, item: NonAdmin) -> Run | None:
    uuid = item.velero.nacuuid
    if not uuid:
        return None
    if isinstance(item, NonAdminBackup):
        return own_run(store.indexes.backups_by_nacuuid.get(context, uuid), item.velero.name)
    return own_run(store.indexes.restores_by_nacuuid.get(context, uuid), item.velero.name)


def _rows_of(store: Store, context: str, run: Run) -> tuple[ObjectRef, ...]:
    """The rows that show it: by its label, as those find it."""
    if isinstance(run, Backup):
        return store.indexes.nabs_by_nacuuid.keys(context, run.label(NAB_UUID_LABEL))
    return store.indexes.nars_by_nacuuid.keys(context, run.label(NAR_UUID_LABEL))


def _phase(entry: NonAdminRow, render: RenderContext) -> Cell:
    """Refused and stuck ones stand out."""
    is_own = entry.state in (NonAdminState.DELETING, NonAdminState.LOST, NonAdminState.REFUSED)
    tone = Tone.WARN if is_own and entry.facts(render).severity is not None else Tone.PLAIN
    return Cell(entry.item.phase or "New", tone)


def _conditions(entry: NonAdminRow) -> Cell:
    statuses = {condition.type: condition.status for condition in entry.item.state.conditions}
    glyphs = tuple(_CONDITION_GLYPHS.get(statuses.get(kind, ""), StatusGlyph.UNSET) for kind in CONDITIONS)
    return Cell("".join(glyph.value for glyph in glyphs), drawing=Signs(glyphs))


def _stand(entry: NonAdminRow) -> str:
    """Empty where it is in no line; a dash here would make the texts of a filter slow to bring to lower case."""
    if entry.run is None or not entry.is_in_line:
        return ""
    return "waiting" if entry.run.phase in WAITING else "running"


def _queue(entry: NonAdminRow, render: RenderContext) -> Cell | str:
    """Its place among those that wait; the controller's estimate where nothing can be counted."""
    if entry.run is None:
        return f"~{entry.reported}" if entry.reported else "–"
    facts = render.facts(entry.run)
    if facts.is_left_alone:
        return Cell("not picked up", Tone.WARN, ("not yet",))
    if facts.waiting_place:
        place = humanize.ordinal(facts.waiting_place)
        return Cell(f"{place} waiting", briefs=(place,))
    return _stand(entry) or "–"


def _velero(entry: NonAdminRow, render: RenderContext) -> Cell:
    """The phase of its Velero object; in brief place and start of one that waits, or why there is no such object."""
    phase = entry.velero_phase
    text, tone = without_signs(phase) or "–", phase_tone(phase) if phase else Tone.DIM
    if word := _without_run(entry):
        severity = entry.facts(render).severity
        return Cell(text, severity_mark(severity).tone if severity is not None else Tone.WARN, (word,))
    facts = render.facts(entry.run) if entry.run is not None and entry.is_in_line else None
    if facts is None or not facts.waiting_place:
        return Cell(text, tone, phase_briefs(phase))
    place, start = humanize.ordinal(facts.waiting_place), facts.expected_start
    return Cell(
        text, tone, (f"{place}, {render.estimate(start, facts.run)}" if start is not None else f"{place} waiting",)
    )


def _without_run(entry: NonAdminRow) -> str:
    """Why it has no Velero object: `refused`, `lost`; "" for any other."""
    return str(entry.state.value) if entry.state in (NonAdminState.REFUSED, NonAdminState.LOST) else ""


def _progress(entry: NonAdminRow, render: RenderContext) -> Cell | str:
    """How far it is; of one that does not get on, for how long; of what ended with errors, how many."""
    run, status = entry.run, entry.status
    if run is not None and not has_ended(run):
        return progress_cell(render.facts(run))
    if status is None:
        return ""
    if status.errors:
        return Cell(humanize.count(status.errors, "error"), phase_tone(entry.velero_phase))
    bar = items_bar(status.progress) if run is None and status.completion_timestamp is None else None
    return Cell(f"{bar.permille // 10}%", drawing=bar) if bar is not None else ""


def _start(entry: NonAdminRow) -> datetime | None:
    return entry.status.start_timestamp if entry.status is not None else None


def _started(entry: NonAdminRow, render: RenderContext) -> str:
    start = _start(entry)
    local = start.astimezone(render.zone_of(entry.item)) if start is not None else None
    return "" if local is None else f"{local.day:>2} {local:%b %H:%M}"


_COLUMNS: tuple[Column[NonAdminRow], ...] = (
    plain("namespace", "NAMESPACE", lambda entry: entry.item.namespace, from_middle=True),
    Column(
        "name",
        "NAME",
        lambda entry, _: marked_name(entry.item),
        lambda entry: entry.item.name,
        from_middle=True,
        signed=True,
    ),
    Column("phase", "PHASE", _phase, lambda entry: entry.item.phase or "New", cells=10),
    plain("conditions", "COND", _conditions, cells=4, signed=True),
    Column("velero", "VELERO", _velero, lambda entry: entry.velero_phase or None, cells=11, most=11, signed=True),
    Column("queue", "QUEUE", _queue, lambda entry: entry.in_line, cells=7),
    Column(
        "progress",
        "PROGRESS",
        _progress,
        lambda entry: share_done(entry.status.progress) if entry.status is not None else None,
        cells=20,
        most=20,
        ticks=True,
    ),
    Column(
        "age",
        "AGE",
        lambda entry, render: times.age(entry.item.created, render.now),
        lambda entry: -entry.item.created.timestamp() if entry.item.created else None,
        right=True,
        cells=6,
        ticks=True,
    ),
    Column(
        "started",
        "STARTED",
        _started,
        lambda entry: -start.timestamp() if (start := _start(entry)) is not None else None,
        cells=12,
    ),
    plain("object", "VELERO OBJECT", lambda entry: entry.item.velero.name, wide=True, from_middle=True),
)
