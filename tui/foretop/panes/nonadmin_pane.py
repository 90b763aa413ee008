"""The pane of a tenant's backup or restore: where it is on its path, what it waits for, and what the two queues say."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.bindings import key_name
from foretop.panes.runs_pane import progress, waiting_for
from foretop.widgets.paragraphs import Paragraph, Span, lead, paragraph, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore
from foretop_core.rules import humanize
from foretop_core.rules.facts.nonadmin_facts import LifecycleStep, NonAdminFacts, StepState
from foretop_core.rules.facts.run_facts import Run
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.sentences import with_keys
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, severity_mark
from foretop_core.tables.resources.nonadmin import NonAdminRow

_DEFAULT_TTL = "default (30 days)"
_SIGNS = {
    StepState.DONE: ("✓", Tone.GOOD),
    StepState.CURRENT: ("◐", Tone.RUNNING),
    StepState.AHEAD: ("", Tone.DIM),
    StepState.FAILED: ("✗", Tone.BAD),
}


def nonadmin_overview(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """The same with its way in one line, for its own page."""
    head, *rest = nonadmin_pane(entry, render)
    return head, *nonadmin_path(entry, render), *rest


def nonadmin_path(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    return (path(entry.facts(render).steps),)


def nonadmin_pane(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its state comes first, in the colour of its row where something is wrong; its name is the title of the pane."""
    facts = entry.facts(render)
    tone = severity_mark(facts.severity).tone if facts.severity is not None else Tone.PLAIN
    return (
        lead(render.text(facts.why, entry.item), tone),
        *_overtaken(facts, render),
        *_waiting(entry, render),
        paragraph(render.text(with_keys(facts.next, key_name)), label="Next"),
        *_position(entry, render),
    )


def _overtaken(told: NonAdminFacts, render: RenderContext) -> tuple[Paragraph, ...]:
    """Says why its fault is in no line of Triage."""
    if (moment := told.overtaken_at) is None:
        return ()
    newer = "the backup of the namespace" if isinstance(told.item, NonAdminBackup) else "the restore"
    return (paragraph(f"not listed: {newer} from {render.time(moment, told.item)} is complete", label="Triage"),)


def _waiting(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """Says what it waits for; of one that Velero never saw the first line has said why already."""
    if entry.run is None or not entry.is_in_line or render.facts(entry.run).is_left_alone:
        return ()
    return waiting_for(entry.run, render)


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


def nonadmin_steps(entry: NonAdminRow, render: RenderContext, _cells: int) -> tuple[Paragraph, ...]:
    """Each step on its line with its time, for a pane that stands beside the table."""
    paragraphs, steps = [Paragraph((), label="Steps")], entry.facts(render).steps
    room = max((len(step.name) + 1 for step in steps), default=0)
    for step in steps:
        sign, tone = _SIGNS[step.state]
        when = render.time(step.at, entry.item) if step.at is not None else ""
        style = style_of(tone) + BOLD if step.state is StepState.CURRENT else style_of(tone)
        line = Span(f"  {sign or '·'} {span(step.name).text:<{max(14, room)}}", style), Span(when, style_of(Tone.DIM))
        paragraphs.append(Paragraph(line))
    return tuple(paragraphs) if steps else ()


def tenant_facts(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """The rest of its detail: the Velero object, what was asked for, how far it is."""
    paragraphs: list[Paragraph] = []
    velero, run = entry.item.velero, entry.run
    if velero.name:
        index = run.status.queue_position if isinstance(run, Backup) else None
        where = f", position {index}" if index else ""
        paragraphs.append(
            paragraph(f"{velero.namespace}/{velero.name}  {entry.velero_phase or 'not seen'}{where}", label="Velero")
        )
    paragraphs.append(paragraph(" · ".join(_asked(entry.item)), label="Spec"))
    reported = _estimate(entry, _order(entry, run, render)) if run is not None and entry.is_in_line else ()
    return (*paragraphs, *(progress(run, render) if run is not None else ()), *reported)


def _order(entry: NonAdminRow, run: Run, render: RenderContext) -> str:
    """Velero's own queue beside the controller's estimate."""
    facts = render.facts(run)
    if not facts.waiting_place:
        return "; it runs already"
    return f"; in Velero's order it is {facts.place}" if facts.place != entry.reported else ""


def _asked(item: NonAdmin) -> tuple[str, ...]:
    if isinstance(item, NonAdminBackup):
        spec = item.spec.backup_spec
        names = humanize.join(spec.included_namespaces or (item.namespace,), 6)
        return f"namespaces {names}", f"TTL {_lifetime(spec.ttl)}", f"storage {spec.storage_location or 'default'}"
    if isinstance(item, NonAdminRestore):
        return (f"from {item.spec.restore_spec.backup_name or 'no backup named'}",)
    return ()


def _lifetime(ttl: str) -> str:
    """No TTL and a TTL of nothing are the server's default."""
    length = read_duration(ttl)
    return humanize.duration(length) if length else _DEFAULT_TTL


def _position(entry: NonAdminRow, render: RenderContext) -> tuple[Paragraph, ...]:
    """`3rd waiting, 3 running, starts ~14:59`; the controller's own estimate where Velero's queue is not visible."""
    if entry.run is None:
        return _estimate(entry, "; Velero's queue is not visible")
    facts = render.facts(entry.run)
    if not facts.waiting_place:
        return ()
    moment = facts.expected_start
    starts = f", starts ~{render.estimate(moment, entry.run)}" if moment is not None else ""
    running = render.line(entry.run.namespace).running[type(entry.run)]
    place = humanize.ordinal(facts.waiting_place)
    return (paragraph(f"{place} waiting, {running} running{starts}", label="Queue"),)


def _estimate(entry: NonAdminRow, besides: str) -> tuple[Paragraph, ...]:
    """The controller's report of the queue, and what that is worth."""
    if not entry.reported:
        return ()
    noun = "backup" if isinstance(entry.item, NonAdminBackup) else "restore"
    text = f"The controller reports place ~{entry.reported} in the queue, updated mostly when a {noun} ends{besides}."
    return (paragraph(text, Tone.DIM),)
