"""The panes of backups and restores, on their own pages and in the queue."""

from __future__ import annotations

from datetime import timedelta

from foretop.bindings import key_name
from foretop.widgets.paragraphs import Paragraph, Span, paragraph
from foretop.widgets.styles import style_of
from foretop_core.models import Backup, Restore
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import (
    Lessened,
    Run,
    RunVolumes,
    goes_into,
    has_ended,
    owner_of,
    run_length,
    usual_length,
)
from foretop_core.rules.phases import FAULTY
from foretop_core.rules.triage.finding import READ_LOGS, READ_RESULTS
from foretop_core.tables.engine.drawings import ShareBar, large_line
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone, run_mark
from foretop_core.tables.resources.runs import BackupRow, expiration, held_tone, items_bar
from foretop_core.tables.text.terminal_text import width

_BAR = 20
_BESIDE_NAME = 4
"""Cells of a pane's title around a name."""
_USUAL = timedelta(seconds=15)
"""Counts come some seconds apart: until then, unchanged ones mean nothing."""


def queue_pane(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """When it starts or ends comes first; its name is the title of the pane."""
    facts = render.facts(run)
    owner, data = f", created for {facts.item.owner}" if facts.item else "", facts.data
    return (
        *waiting_for(run, render),
        paragraph(f"{run.phase or 'New'}{owner}."),
        *_scope(run),
        *_with_bar(progress(run, render), items_bar(run.status.progress)),
        *_with_bar(_data(run, render), ShareBar(10 * data.percent) if data.percent is not None else None),
        *_usual_length(run, render),
        _totals(run, render),
    )


def whole_name(run: Run, render: RenderContext, cells: int) -> tuple[Paragraph, ...]:
    """Its name, where the title of a pane of so many cells has no room for it and its sign."""
    return (paragraph(run.name, label="Name"),) if width(run.name) > cells - _BESIDE_NAME else ()


def whole_name_of_backup(row: BackupRow, render: RenderContext, cells: int) -> tuple[Paragraph, ...]:
    return whole_name(row.run, render, cells)


def _with_bar(said: tuple[Paragraph, ...], share: ShareBar | None) -> tuple[Paragraph, ...]:
    """The same with a large bar below it, where there is room."""
    if not said or share is None:
        return said
    drawn = (Span(piece.text, style_of(piece.tone)) for piece in large_line(share.permille, _BAR, share.tone))
    return *said, Paragraph((*drawn, Span(f" {share.permille // 10}%")), label=" ", yields=True, least=0)


def waiting_for(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """The runs that must go first, and when its turn comes."""
    facts = render.facts(run)
    item = facts.item
    if item is None:
        return ()
    paragraphs: list[Paragraph] = []
    if item.hold is not None:
        overtaken = "; others may overtake it" if item.may_be_overtaken else ""
        paragraphs.append(paragraph(f"It {item.hold}{overtaken}.", Tone.WAITING))
    if facts.told:
        tone = held_tone(facts) if facts.held_for is not None else run_mark(run.phase).tone
        paragraphs.append(paragraph(render.text(facts.told, run), tone, bold=True))
    return tuple(paragraphs)


def progress(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    done, length = run.status.progress, run_length(run, render.now)
    if done is None or not done.total_items:
        return ()
    during = f" in {humanize.duration(length)}" if length is not None else ""
    return (paragraph(f"{done.done:,} of {done.total_items:,}{during}{_unchanged(run, render)}.", label="Items"),)


def _data(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """The volumes that are still to be moved: its items are done long before."""
    data = render.facts(run).data
    if not data.volumes:
        return ()
    sizes = "nothing moved yet"
    if data.total:
        sizes = f"{humanize.size(data.done)} of {humanize.size(data.total)} moved"
    elif data.done:
        sizes = f"{humanize.size(data.done)} moved"
    more = f", and {humanize.count(data.unknown, 'volume')} of unknown size" if data.unknown else ""
    done = f"; {data.moved} of {humanize.count(data.volumes, 'volume')} done"
    return (paragraph(f"{sizes}{more}{done}.", label="Data"),)


def _usual_length(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """How long the runs of its schedule usually take; nothing for a run of no schedule, or of a new one."""
    owner = (run.namespace, run.schedule_name) if isinstance(run, Backup) else None
    usual = usual_length(render.snapshot.lookups.backups_of_schedule(*owner)) if owner else None
    return (paragraph(humanize.duration(usual), label="Usual"),) if usual else ()


def _unchanged(run: Run, render: RenderContext) -> str:
    done = run.status.progress
    if done is not None and done.done >= done.total_items:
        return ""
    key = render.snapshot.ref(run)
    moved = render.snapshot.seen.moved.get(key)
    if moved is None or has_ended(run) or render.now - moved < _USUAL:
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
    line = render.line(run.namespace)
    sums = line.sums[type(run)]
    slots = line.server.slots if isinstance(run, Backup) else 1
    at_once = f"{slots} at a time, " if slots else ""
    noun = "backup" if isinstance(run, Backup) else "restore"
    running = humanize.count(sums.running, noun)
    ends = f", {sums.finishing} finishing" if sums.finishing else ""
    return paragraph(f"{at_once}{running} running{ends}, {sums.waiting} waiting", Tone.DIM)


def backup_pane(row: BackupRow, render: RenderContext) -> tuple[Paragraph, ...]:
    backup = row.run
    names = backup.spec.included_namespaces
    place = backup.spec.storage_location or "the default location"
    taken = "all namespaces" if not names or "*" in names else humanize.join(names, 6)
    end = expiration(backup)
    ttl = f", kept until {render.time(end, backup)}" if end else ""
    takes = paragraph(f"{taken}, to {place}{ttl}", label="Takes")
    return (*_run(backup, render), *_volumes(row.volumes), *_less(row.less), takes)


def _less(less: Lessened | None) -> tuple[Paragraph, ...]:
    """Says what the newest copy of a schedule lacks against the one before."""
    if less is None:
        return ()
    what = f"{humanize.count(less.fewer, 'volume')} fewer than" if less.fewer else "less than half the bytes of"
    return (paragraph(f"{what} {less.before.name}", Tone.WARN, label="Lacks"),)


def _volumes(volumes: RunVolumes) -> tuple[Paragraph, ...]:
    """How many of its volumes it has, and their bytes; nothing where there is nothing to tell."""
    if not volumes.count_text:
        return ()
    number = f"{volumes.taken} of {volumes.total}" if volumes.total is not None else f"{volumes.taken} taken"
    lacks = f", {volumes.missing} left out" if volumes.missing and volumes.total is None else ""
    size = humanize.size(volumes.size) if volumes.size is not None else f"size not known: {volumes.size_unknown}"
    return (paragraph(f"{number}{lacks}, {size}", Tone.WARN if volumes.missing else Tone.PLAIN, label="Volumes"),)


def restore_pane(restore: Restore, render: RenderContext) -> tuple[Paragraph, ...]:
    spec = restore.spec
    origin = f"backup {spec.backup_name}" if spec.backup_name else f"the newest backup of {spec.schedule_name}"
    into = humanize.join(goes_into(spec), 6) or "the namespaces of the backup"
    head, *rest = _run(restore, render)
    return (head, paragraph(into, label="Into"), *rest, paragraph(origin, label="From"))


def _run(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its outcome comes first; its name is the title of the pane, and of its own page."""
    status = run.status
    counts = [
        humanize.count(number, noun)
        for number, noun in ((status.errors, "error"), (status.warnings, "warning"))
        if number
    ]
    faults = f" with {humanize.join(counts)}" if counts else ""
    tone = run_mark(run.phase).tone
    phase = "FailedValidation (refused)" if run.phase == "FailedValidation" else run.phase or "New"
    head = paragraph(f"{phase}{faults}", tone, bold=True)
    reason = status.failure_reason or "; ".join(status.validation_errors)
    paragraphs = [head, paragraph(str(owner_of(run)), label="Made")]
    if reason:
        paragraphs.append(paragraph(reason, Tone.BAD, label="Why"))
    elif run.phase in FAULTY and status.errors:
        results, logs = ("".join(f" ({key_name(key.action)})" for key in keys) for keys in (READ_RESULTS, READ_LOGS))
        text = f"The reasons are in its results{results} and log{logs}."
        paragraphs.append(paragraph(text, label="Why"))
    return (*paragraphs, *_times(run, render), *progress(run, render), *waiting_for(run, render))


def _times(run: Run, render: RenderContext) -> tuple[Paragraph, ...]:
    start, end = run.status.start_timestamp, run.status.completion_timestamp
    if start is None:
        return (paragraph(f"created {render.time(run.created, run)}", label="When"),) if run.created else ()
    text = f"started {render.time(start, run)}"
    if end is not None:
        text = f"{text}, ended {render.time(end, run)}, took {humanize.duration(end - start)}"
    return (paragraph(text, label="When"),)
