"""The panes of backups and restores."""

from __future__ import annotations

from foretop.panes.queue_pane import progress, waiting_for
from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.models import Backup, Restore
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import Run, owner_of
from foretop_core.rules.phases import FAULTY
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, run_mark
from foretop_core.tables.resources.runs import expiration


def backup_pane(backup: Backup, render: RenderContext) -> tuple[Paragraph, ...]:
    names = backup.spec.included_namespaces
    place = backup.spec.storage_location or "the default location"
    taken = "all namespaces" if not names or "*" in names else humanize.join(names, 6)
    end = expiration(backup)
    ttl = f", kept until {render.time(end, backup)}" if end else ""
    return (*_run(backup, render), paragraph(f"{taken}, to {place}{ttl}", label="Takes"))


def restore_pane(restore: Restore, render: RenderContext) -> tuple[Paragraph, ...]:
    spec = restore.spec
    origin = f"backup {spec.backup_name}" if spec.backup_name else f"the newest backup of {spec.schedule_name}"
    return (*_run(restore, render), paragraph(origin, label="From"))


def _run(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    status = run.status
    counts = [
        humanize.count(number, noun)
        for number, noun in ((status.errors, "error"), (status.warnings, "warning"))
        if number
    ]
    faults = f" with {humanize.join(counts)}" if counts else ""
    tone = run_mark(run.phase).tone
    head = Paragraph((span(run.name, bold=True), span(": "), span(f"{run.phase or 'New'}{faults}", tone)))
    reason = status.failure_reason or "; ".join(status.validation_errors)
    said = [head, paragraph(str(owner_of(run)), label="Made")]
    if reason:
        said.append(paragraph(reason, Tone.BAD, label="Why"))
    elif run.phase in FAULTY and status.errors:
        said.append(paragraph("The reasons are in its results (e) and log (l).", label="Why"))
    return (*said, *_times(run, render), *progress(run, render), *waiting_for(run, render))


def _times(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    start, end = run.status.start_timestamp, run.status.completion_timestamp
    if start is None:
        return ()
    text = f"started {render.time(start, run)}"
    if end is not None:
        text = f"{text}, ended {render.time(end, run)}, took {humanize.duration(end - start)}"
    return (paragraph(text, label="When"),)
