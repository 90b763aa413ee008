"""The pane of a tenant's backup or restore: where it is on its path, what it waits for, and what the two queues say."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.panes.queue_pane import progress, waiting_for
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore
from foretop_core.rules import humanize
from foretop_core.rules.lifecycle import LifecycleStep, StepState, lifecycle
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.nonadmin import NonAdminRow

_SIGNS = {
    StepState.DONE: ("✓", Tone.GOOD),
    StepState.CURRENT: ("◐", Tone.RUNNING),
    StepState.AHEAD: ("", Tone.DIM),
    StepState.FAILED: ("✗", Tone.BAD),
}


def nonadmin_pane(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    told = lifecycle(entry.item, entry.run, render.now)
    head = Paragraph((span(f"{entry.item.namespace}/{entry.item.name}", bold=True), span(f": {told.why}")))
    return (
        head,
        *(() if entry.run is None or not entry.place else waiting_for(entry.run, render)),
        path(told.steps),
        paragraph(told.next, label="Next"),
        *_positions(entry),
    )


def path(steps: Iterable[LifecycleStep]) -> Paragraph:
    """The lifecycle as a way: steps done, the current one, those to come."""
    spans: list[Span] = []
    for step in steps:
        sign, tone = _SIGNS[step.state]
        if spans:
            spans.append(Span(" ─ "))
        style = style_of(tone) + BOLD if step.state is StepState.CURRENT else style_of(tone)
        spans.append(Span(f"{span(step.name).text} {sign}".rstrip(), style))
    return Paragraph(tuple(spans))


def tenant_facts(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """What its detail tells besides: the Velero object, what was asked for, how far it is."""
    said: list[Paragraph] = []
    velero, run = entry.item.velero, entry.run
    if velero.name:
        at = run.status.queue_position if isinstance(run, Backup) else None
        where = f", position {at}" if at else ""
        said.append(
            paragraph(f"{velero.namespace}/{velero.name}  {entry.velero_phase or 'not seen'}{where}", label="Velero")
        )
    said.append(paragraph(" · ".join(_asked(entry.item)), label="Spec"))
    return (*said, *(progress(run, render) if run is not None else ()))


def _asked(item: NonAdmin) -> tuple[str, ...]:
    if isinstance(item, NonAdminBackup):
        spec = item.spec.backup_spec
        names = humanize.join(spec.included_namespaces or (item.namespace,), 6)
        return f"namespaces {names}", f"TTL {spec.ttl or 'default'}", f"storage {spec.storage_location or 'default'}"
    if isinstance(item, NonAdminRestore):
        return (f"from {item.spec.restore_spec.backup_name or 'no backup named'}",)
    return ()


def _positions(entry: NonAdminRow) -> tuple[Paragraph, ...]:
    """What the two counts say, where there are two, and what one alone is worth."""
    noun = "backup" if isinstance(entry.item, NonAdminBackup) else "restore"
    estimate = f"mostly updated when a {noun} ends"
    if entry.place is None and entry.reported:
        return (
            paragraph(f"~{entry.reported} is the controller's estimate, {estimate}; Velero's queue is not visible."),
        )
    if not entry.place:
        return ()
    line = f"Number {entry.place} of {humanize.count(entry.line, f'unfinished {noun}')} in Velero's queue, counted now"
    if not entry.reports_another_place:
        return (paragraph(f"{line}.", Tone.DIM),)
    return (paragraph(f"{line}; the controller estimates ~{entry.reported}, {estimate}.", Tone.DIM),)
