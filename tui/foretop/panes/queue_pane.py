"""The pane of the queue: what holds a run, when it should start or end, and how that is known."""

from __future__ import annotations

from datetime import timedelta

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.models import Backup
from foretop_core.rules import humanize
from foretop_core.rules.phases import FINISHING
from foretop_core.rules.queue import Run
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.run_eta import run_eta

_USUAL = timedelta(seconds=15)
"""Counts come some seconds apart: until then, unchanged ones mean nothing."""


def queue_pane(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    found = render.queued(run)
    owner = f", created for {found.owner}" if found else ""
    head = Paragraph((span(run.name, bold=True), span(f": {run.phase or 'waiting'}{owner}")))
    return (
        head,
        *waiting_for(run, render),
        *_scope(run),
        *progress(run, render),
        *_data(run, render),
        _totals(run, render),
    )


def waiting_for(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """Who must go first, and when its turn comes."""
    found = render.queued(run)
    if found is None:
        return ()
    said: list[Paragraph] = []
    if found.hold is not None:
        overtaken = "; others may overtake it" if found.may_be_overtaken else ""
        said.append(paragraph(f"It {found.hold}{overtaken}.", Tone.WAITING))
    if sentence := run_eta(run, render).sentence:
        said.append(paragraph(render.text(sentence, run)))
    return tuple(said)


def progress(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    done, started = run.status.progress, run.status.start_timestamp
    if done is None or not done.total_items:
        return ()
    length = f" in {humanize.duration((run.status.completion_timestamp or render.now) - started)}" if started else ""
    return (paragraph(f"{done.done:,} of {done.total_items:,}{length}{_unchanged(run, render)}.", label="Items"),)


def _data(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """What of its volumes is still to be moved: its items are done long before."""
    volumes = render.snapshot.movements_of(run)
    if not volumes:
        return ()
    under_way = [one for one in volumes if one.status.completion_timestamp is None]
    moved = sum(one.status.progress.bytes_done for one in volumes)
    total = sum(one.status.progress.total_bytes for one in volumes)
    unknown = sum(not one.status.progress.total_bytes for one in under_way)
    sizes = f"{humanize.size(moved)} of {humanize.size(total)} moved" if total else "nothing moved yet"
    more = f", and {humanize.count(unknown, 'volume')} of unknown size" if unknown else ""
    done = f"; {len(volumes) - len(under_way)} of {humanize.count(len(volumes), 'volume')} done"
    return (paragraph(f"{sizes}{more}{done}.", label="Data"),)


def _unchanged(run: Run, render: RenderContext) -> str:
    done = run.status.progress
    if done is not None and done.done >= done.total_items:
        return ""
    key = render.snapshot.ref(run)
    moved = render.snapshot.seen.moved.get(key)
    if moved is None or run.status.completion_timestamp is not None or render.now - moved < _USUAL:
        return ""
    if key in render.snapshot.seen.unmoved:
        return f"; unchanged since foretop first saw it, {humanize.duration(render.now - moved)} ago"
    return f"; unchanged for {humanize.duration(render.now - moved)}"


def _scope(run: Run) -> tuple[Paragraph, ...]:
    if not isinstance(run, Backup):
        return (paragraph(run.spec.backup_name or run.spec.schedule_name or "not set", label="From"),)
    names = run.spec.included_namespaces
    return (paragraph("all namespaces" if not names or "*" in names else humanize.join(names, 6), label="Takes"),)


def _totals(run: Run, render: RenderContext) -> Paragraph:
    """How many are at work, finish and wait, of the same kind on the same server; one that finishes holds no slot."""
    others = [item for item in render.unfinished(run.namespace) if type(item) is type(run)]
    items = [found for other in others if (found := render.queued(other)) is not None]
    waiting = sum(item.waits for item in items)
    finishing = sum(item.phase in FINISHING for item in items)
    slots = render.snapshot.server(run.namespace).concurrency if isinstance(run, Backup) else 1
    at_once = f"{slots} at a time, " if slots else ""
    noun = "backup" if isinstance(run, Backup) else "restore"
    running = humanize.count(len(items) - waiting - finishing, noun)
    ends = f", {finishing} finishing" if finishing else ""
    return paragraph(f"{at_once}{running} running{ends}, {waiting} waiting", Tone.DIM)
