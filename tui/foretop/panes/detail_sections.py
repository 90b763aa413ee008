"""The sections of the detail of one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import Any

import yaml
from msgspec import to_builtins

from foretop.panes.nonadmin_pane import nonadmin_overview, path, tenant_facts
from foretop.panes.page_records import TABLE_PAGES, DetailSection, remedy_lines
from foretop.panes.protection_pane import protection_pane, volume_list
from foretop.panes.run_chart_pane import run_chart_lines
from foretop.panes.runs_pane import backup_pane, restore_pane
from foretop.panes.schedule_pane import schedule_page, schedule_pane
from foretop.panes.spec_section import spec_section
from foretop.panes.volumes_section import movements_of, volumes
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.dashboard.related_objects import related
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import cells_of
from foretop_core.foreign_text import redacted_values
from foretop_core.models import (
    Backup,
    Condition,
    NonAdmin,
    NonAdminBackupStorageLocation,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
)
from foretop_core.models.kinds import BACKUP, HAVE_RESULTS, NAB, NABSL, NAMESPACE, NAR, by_name
from foretop_core.models.wire import LAST_APPLIED, ObjectRef
from foretop_core.pages import PAGE_OF, PAGES
from foretop_core.room_finder import room_modules
from foretop_core.rules import humanize
from foretop_core.rules.facts.nonadmin_facts import run_steps
from foretop_core.rules.facts.schedule_facts import history
from foretop_core.store import UnreadableObject
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import Row, View, table_view
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.runs import RUNS_OF_SCHEDULE, backup_row, mark_of
from foretop_core.tables.resources.schedules import SchedulesView
from foretop_core.tables.text.terminal_text import LONGEST
from foretop_core.tables.timeline.lanes import timeline_item

# Deferred imports: the first row waits for no calendar.

SECTIONS_OF_ROOMS: Mapping[str, DetailSection] = {
    module.SECTION.name: module.SECTION for module in room_modules("foretop", "section")
}
_OF_THE_CORE = ("overview", "conditions", "volumes", "events", "changes", "describe", "yaml")
SECTIONS = tuple(
    name
    for section in _OF_THE_CORE
    for name in (section, *(room.name for room in SECTIONS_OF_ROOMS.values() if room.after == section))
)
_ONLY = {
    "conditions": frozenset((NAB.name, NAR.name, NABSL.name)),
    "volumes": HAVE_RESULTS,
    **{room.name: room.kinds for room in SECTIONS_OF_ROOMS.values()},
}
"""Sections that not every kind has."""
_OF_PROTECTION = ("overview", "describe")
"""Of a namespace these tell of its copies, whether it is still there or not."""
_USUAL_CELLS = 80
_CHART_ROWS = 4
_TWO_COLUMNS = 116
"""Cells from which on the facts of a schedule stand in two columns."""
_MOST_RUNS = 500
"""So many runs of a schedule are listed on its page."""
_DATE = 20
"""Cells for `12 Nov 02:30Z`, or a longer name of a zone."""


def sections_of(kind: str) -> tuple[str, ...]:
    """The sections that an object of this kind has."""
    return tuple(section for section in SECTIONS if _has_section(kind, section))


def _has_section(kind: str, section: str) -> bool:
    return kind in _ONLY.get(section, (kind,))


def heading(key: ObjectRef) -> str:
    kind = by_name(key.kind)
    word = (kind.short[0] if kind.short else kind.name.lower()) if kind else key.kind
    return span(f"{word} {key.namespace}/{key.name}" if key.namespace else f"{word} {key.name}").text


def describe_object(
    state: DashboardState, key: ObjectRef, section: str, cells: int = _USUAL_CELLS
) -> Sequence[Paragraph]:
    resource = state.store.get(key)
    if key.kind == NAMESPACE.name and (row := state.protection(key)) is not None and section in _OF_PROTECTION:
        to_do = remedy_lines(state, key) if section == "overview" else ()
        render = state.render_context(key.context)
        fault, *facts = protection_pane(row, render)
        return fault, *to_do, *facts, *volume_list(render.namespace(row.protection))
    if resource is None:
        return [paragraph("It no longer exists or is no longer visible.", Tone.WARN)]
    if isinstance(resource, UnreadableObject):
        return [paragraph(f"It cannot be read: {resource.problem}", Tone.BAD)]
    sections: dict[str, Callable[[DashboardState, ObjectRef, Resource], Sequence[Paragraph]]] = {
        "overview": partial(overview, cells=cells),
        "conditions": conditions,
        "volumes": volumes,
        **{room.name: room.known for room in SECTIONS_OF_ROOMS.values()},
        "events": events,
        "changes": changes,
        "describe": partial(describe, cells=cells),
    }
    return sections[section](state, key, resource)


def overview(
    state: DashboardState, key: ObjectRef, resource: Resource, *, cells: int = _USUAL_CELLS
) -> Sequence[Paragraph]:
    if isinstance(resource, Schedule) and (entry := SchedulesView().entry(state.store, key, resource)) is not None:
        # The runs are not among the related objects here: they have a table below.
        render, wide = state.render_context(key.context), cells >= _TWO_COLUMNS
        return schedule_page(entry, render, cells - 2, remedy_lines(state, key), is_wide=wide)
    paragraphs = [*_told(state, key, resource, cells), *remedy_lines(state, key)]
    states = _conditions(state, key, resource)[:4]
    near = related(state.store, key)
    paragraphs += [paragraph(""), *states] if states else []
    paragraphs += _tenant_facts(state, key, resource)
    paragraphs += [paragraph("")] if near else []
    paragraphs += [
        paragraph(_relative(state, other), label="Related" if not place else " ")
        for place, other in enumerate(near[:6])
    ]
    paragraphs += [paragraph(f"and {len(near) - 6} more", label=" ")] if len(near) > 6 else []
    return paragraphs


def _told(state: DashboardState, key: ObjectRef, resource: Resource, cells: int) -> tuple[Paragraph, ...]:
    render = state.render_context(key.context)
    match resource:
        case Schedule():
            entry = SchedulesView().entry(state.store, key, resource)
            if entry is None:
                return ()
            chart = run_chart_lines(entry, render, cells - 2, _CHART_ROWS)
            return *schedule_pane(entry, render), paragraph(""), *chart
        case NonAdmin():
            tenant = NonAdminView().entry(state.store, key, resource)
            return nonadmin_overview(tenant, render) if tenant else ()
        case Backup():
            head, *rest = backup_pane(backup_row(resource, render), render)
            return head, path(run_steps(resource)), *rest
        case Restore():
            head, *rest = restore_pane(resource, render)
            return head, path(run_steps(resource)), *rest
        case PreScaledCronJob():
            return _prescaled(state, key, resource)
        case _:
            return _as_on_its_page(state, key, resource)


def _as_on_its_page(state: DashboardState, key: ObjectRef, resource: Resource) -> tuple[Paragraph, ...]:
    """The pane of the page that shows its kind; its name and phase where none does."""
    home = TABLE_PAGES.get(PAGE_OF.get(key.kind, ""))
    for page in (home,) if home else TABLE_PAGES.values():
        view = page.view
        if isinstance(view, View) and key.kind in view.kinds and page.tells is not None:
            entry = view.entry(state.store, key, resource)
            return page.tells(entry, state.render_context(key.context)) if entry is not None else ()
    phase = getattr(resource, "phase", "")
    return (Paragraph((span(resource.name, bold=True), span(f": {phase}" if phase else ""))),)


def _prescaled(state: DashboardState, key: ObjectRef, job: PreScaledCronJob) -> tuple[Paragraph, ...]:
    """As in the calendar."""
    from foretop.panes.calendar_pane import lane_pane

    lane = timeline_item(key, job, lambda context, schedule: state.store.snapshot(context).readings(schedule))
    return tuple(lane_pane(lane, state)) if lane is not None else ()


def run_rows(state: DashboardState, key: ObjectRef) -> list[Row]:
    """The runs of a schedule as rows of the table on its page, the newest first; none for another object."""
    resource = state.store.get(key)
    if not isinstance(resource, Schedule):
        return []
    labelled = state.store.indexes.backups_by_schedule.get(key.context, key.namespace, key.name)
    render = state.render_context(key.context)
    return [
        Row(
            ObjectRef(key.context, BACKUP.name, run.namespace, run.name),
            mark_of(row),
            tuple(cells_of(RUNS_OF_SCHEDULE, row, render)),
        )
        for run in history(resource, labelled)[:_MOST_RUNS]
        for row in (backup_row(run, render),)
    ]


def state_of(state: DashboardState, key: ObjectRef) -> StatusGlyph | None:
    """The glyph that the row of an object has in its table; None where it has no row."""
    page, resource = PAGES.get(PAGE_OF.get(key.kind, "")), state.store.get(key)
    view = table_view(page) if page is not None and page.view else None
    if not isinstance(view, View) or resource is None or isinstance(resource, UnreadableObject):
        return None
    entry = view.entry(state.store, key, resource)
    return None if entry is None else view.mark(entry, state.render_context(key.context))


def _tenant_facts(state: DashboardState, key: ObjectRef, resource: Resource) -> tuple[Paragraph, ...]:
    entry = NonAdminView().entry(state.store, key, resource)
    return tenant_facts(entry, state.render_context(key.context)) if entry else ()


def _relative(state: DashboardState, key: ObjectRef) -> str:
    phase = getattr(state.store.get(key), "phase", "")
    return f"{heading(key)}{f'  {phase}' if phase else ''}"


def relatives(state: DashboardState, key: ObjectRef) -> list[Paragraph]:
    """All that belongs to it, a line each."""
    return [paragraph(_relative(state, other)) for other in related(state.store, key)]


def conditions(state: DashboardState, key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    return _conditions(state, key, resource) or [paragraph("It has no conditions.", Tone.DIM)]


def _conditions(state: DashboardState, key: ObjectRef, resource: Resource) -> list[Paragraph]:
    entries: tuple[Condition, ...] = ()
    if isinstance(resource, NonAdmin):
        entries = resource.state.conditions
    elif isinstance(resource, NonAdminBackupStorageLocation):
        entries = resource.status.conditions
    now, zone = state.now(key.context), state.zone_of(key)
    return [_condition(entry, now, zone) for entry in entries]


def _condition(entry: Condition, now: datetime, zone: tzinfo) -> Paragraph:
    mark = {"True": StatusGlyph.TRUE, "False": StatusGlyph.BROKEN}.get(entry.status, StatusGlyph.UNSET)
    since = f"  {humanize.time(entry.last_transition_time, now, zone)}" if entry.last_transition_time else ""
    return Paragraph(
        (
            Span(f"{span(entry.type).text:<10}", BOLD),
            Span(f"{mark.value} {span(entry.status).text}", style_of(mark.tone)),
            span(f"  {entry.reason}  {entry.message}"),
            Span(since, DIM),
        ),
        indent=10,
    )


def events(state: DashboardState, key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    recorded = state.store.indexes.events_by_uid.get(key.context, resource.metadata.uid)
    now, zone = state.now(key.context), state.zone_of(key)
    dated = sorted(recorded, key=lambda event: event.seen.timestamp() if event.seen else 0.0, reverse=True)
    if not dated:
        return [paragraph("No events.", Tone.DIM)]
    return [
        Paragraph(
            (
                _date(event.seen, now, zone),
                span(f"{event.type} {event.reason}", Tone.WARN if event.type == "Warning" else Tone.PLAIN, bold=True),
                span(f"{f' ×{event.count}' if event.count > 1 else ''}: {event.message}"),
            ),
            indent=_DATE,
        )
        for event in dated
    ]


def _date(at: datetime | None, now: datetime, zone: tzinfo) -> Span:
    """As wide as the others of a list."""
    return Span(f"{humanize.time(at, now, zone) if at else '':<{_DATE}}", DIM)


def changes(state: DashboardState, key: ObjectRef, _resource: Resource) -> Sequence[Paragraph]:
    now, zone = state.now(key.context), state.zone_of(key)
    transitions = state.store.history.of(key)
    if not transitions:
        return [paragraph("No changes since foretop started.", Tone.DIM)]
    return [
        Paragraph(
            (
                _date(step.at, now, zone),
                span(" ".join(filter(None, (step.text, step.by)))),
            )
        )
        for step in reversed(transitions)
    ]


def describe(
    state: DashboardState, key: ObjectRef, resource: Resource, *, once: bool = False, cells: int = _USUAL_CELLS
) -> Sequence[Paragraph]:
    """Everything in one piece, as kubectl would tell it; `once` leaves out what has nothing to tell."""
    meta, render = resource.metadata, state.render_context(key.context)
    paragraphs = [*_told(state, key, resource, cells), paragraph("")]
    facts = (
        ("Name", meta.name),
        ("Namespace", meta.namespace),
        ("Context", key.context),
        ("Created", render.time(meta.creation_timestamp, resource) if meta.creation_timestamp else ""),
        ("Deleted", render.time(meta.deletion_timestamp, resource) if meta.deletion_timestamp else ""),
        ("Labels", ", ".join(f"{name}={value}" for name, value in sorted(meta.labels.items()))),
        ("Finalizers", ", ".join(meta.finalizers)),
    )
    paragraphs += [Paragraph((Span(f"{name:<11}", BOLD), span(value)), indent=11) for name, value in facts if value]
    parts = {"spec": spec_section, "conditions": conditions, "volumes": volumes, "events": events, "changes": changes}
    parts |= {room.name: room.known for room in SECTIONS_OF_ROOMS.values()}
    for name in ("spec", *(section for section in SECTIONS if section in parts)):
        title, part = name.capitalize(), parts[name]
        if not _has_section(key.kind, name) or (once and not _has_more(state, key, resource, name)):
            continue
        paragraphs += [paragraph(""), paragraph(title, bold=True), *part(state, key, resource)]
    if not once:
        paragraphs += [line for room in SECTIONS_OF_ROOMS.values() for line in room.last_words(resource)]
    return paragraphs


def _has_more(state: DashboardState, key: ObjectRef, resource: Resource, section: str) -> bool:
    match section:
        case "conditions":
            return bool(_conditions(state, key, resource))
        case "volumes":
            return bool(movements_of(state, key, resource))
        case "changes":
            return bool(state.store.history.of(key))
        case _ if section in SECTIONS_OF_ROOMS:
            return SECTIONS_OF_ROOMS[section].has_more(state, key, resource)
        case _:
            return True


# YAML, with what is long and seldom wanted folded into one line each


def read_part(key: ObjectRef, resource: Resource) -> Mapping[str, Any]:
    """The part of the object that foretop has read."""
    kind = by_name(key.kind)
    head = {"apiVersion": kind.api_version, "kind": kind.name} if kind else {}
    return {**head, **to_builtins(resource)}


def as_yaml(plain: Mapping[str, Any], *, whole: bool, folded: bool) -> Sequence[Paragraph]:
    parts = "The whole object" if whole else "The fields that foretop reads"
    how = "status and managedFields are folded, space unfolds them" if folded else "space folds it"
    lines = [line for name, value in _without_manifest(plain).items() for line in _field(name, value, folded)]
    return [
        paragraph(f"{parts}; {how}.", Tone.DIM),
        *(Paragraph((span(line),), indent=len(line) - len(line.lstrip(" ")) + 2) for line in lines),
    ]


def _without_manifest(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object without the text of kubectl's copy of its manifest, which may hold what its author took out since."""
    meta = plain.get("metadata")
    notes = meta.get("annotations") if isinstance(meta, Mapping) else None
    if not isinstance(meta, Mapping) or not isinstance(notes, Mapping) or LAST_APPLIED not in notes:
        return plain
    text = f"… {len(str(notes[LAST_APPLIED])):,} characters, not shown"
    return {**plain, "metadata": {**meta, "annotations": {**notes, LAST_APPLIED: text}}}


def _field(name: str, value: Any, folded: bool) -> list[str]:
    if folded and name == "status":
        return _folded(name, value, "")
    if folded and name == "metadata" and isinstance(value, Mapping) and "managedFields" in value:
        rest = {key: part for key, part in value.items() if key != "managedFields"}
        return [*_dumped({name: rest}), *_folded("managedFields", value["managedFields"], "  ")]
    return _dumped({name: value})


def _folded(name: str, value: Any, indent: str) -> list[str]:
    return [f"{indent}{name}: … {len(_dumped(value))} lines"] if value else []


def _dumped(value: Any) -> list[str]:
    # Before it is in lines: what a line tells of a secret is not all of it.
    return yaml.safe_dump(
        redacted_values(_bounded(value)), sort_keys=False, allow_unicode=True, width=1000
    ).splitlines()


def _bounded(value: Any) -> Any:
    """With no more of a long text than is shown, for writing it as YAML takes time."""
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… ({len(value) - LONGEST:,} more characters)"
        case Mapping():
            return {key: _bounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_bounded(inner) for inner in value]
        case _:
            return value
