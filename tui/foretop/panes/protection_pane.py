"""The pane of a namespace: from what it could be brought back, and what its schedules promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foretop.bindings import key_name
from foretop.widgets.paragraphs import Paragraph, paragraph
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.models import BackupRepository
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import (
    NamespaceCover,
    NamespaceFacts,
    NamespaceProtection,
    ProtectionState,
    TakenVolume,
)
from foretop_core.rules.facts.pause_facts import pause_note
from foretop_core.rules.sentences import sentence
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.protection import ProtectionRow, protection_mark
from foretop_core.tables.resources.repositories import repository_mark

if TYPE_CHECKING:
    from foretop_core.rules.facts.namespace_facts import ForetoldVolumes

_MOST_SCHEDULES = 4
_MOST_VOLUMES = 3
_MOST_LISTED = 200


def protection_pane(row: ProtectionRow, render: RenderContext) -> tuple[Paragraph, ...]:
    protection, facts = row.protection, render.namespace(row.protection)
    tone = protection_mark(facts).tone
    paragraphs = [paragraph(f"{humanize.capitalized(facts.why)}.", tone, bold=True)]
    if protection.exists is None:
        unseen = "Namespaces cannot be listed: one without a copy or a schedule that names it is not shown."
        paragraphs.append(paragraph(unseen, Tone.WARN, yields=True, least=1))
    paragraphs += _why_lines(facts, render)
    paragraphs += _coming_lines(facts, render)
    paragraphs += _newest_lines(facts, render)
    paragraphs += _volume_lines(facts)
    paragraphs += _copies_lines(facts, render)
    paragraphs += _grown_lines(facts)
    paragraphs += _cover_lines(facts, render)
    paragraphs += _next_lines(facts)
    if protection.unavailable:
        paragraphs.append(paragraph(f"{humanize.join(protection.unavailable)}: unavailable", Tone.BAD, label="Storage"))
    paragraphs += [_repository_line(repository, render) for repository in protection.repositories[:2]]
    paragraphs.append(paragraph(_tried(protection, render), label="Tried"))
    return tuple(paragraphs)


def _repository_line(repository: BackupRepository, render: RenderContext) -> Paragraph:
    mark = repository_mark(repository)
    failed = ", its latest maintenance failed" if repository.failed_maintenance else ""
    maintained = (
        f"{humanize.duration(render.now - repository.status.last_maintenance_time)} ago"
        if repository.status.last_maintenance_time is not None
        else "never"
    )
    return paragraph(
        f"{repository.name}: {repository.phase or 'New'}, maintained {maintained}{failed}",
        Tone.PLAIN if mark is StatusGlyph.HEALTHY else mark.tone,
        label="Repo",
    )


def _why_lines(facts: NamespaceFacts, render: RenderContext) -> list[Paragraph]:
    """The promise of its schedules, or what keeps them from it."""
    promise, lines = facts.promise, []
    if facts.state is ProtectionState.LATE and promise.since is not None and promise.by is not None:
        by = render.schedule(promise.by.schedule)
        why = render.text(by.why_not_taken(facts.protection.namespace), by.schedule)
        since = render.time(promise.since, by.schedule)
        lines.append(why or f"{by.schedule.name} promises a copy from {since} or later")
    if facts.outage and (facts.is_copy_due or facts.state is ProtectionState.NO_COPY):
        lines.append(f"No run can make one while {facts.outage}")
    if facts.is_copy_due and facts.late_from is not None:
        unless = "" if facts.outage else ", unless a run makes a copy before"
        lines.append(f"Late from {render.time(facts.late_from, facts.newest_copy)} on{unless}")
    for cover in facts.protection.covers:
        pause = render.schedule(cover.schedule).pause
        if pause is not None:
            lines.append(render.text(sentence(f"{cover.schedule.name} is paused ", pause_note(pause)), cover.schedule))
    return [paragraph(f"{line}.", label=" " if place else "Why") for place, line in enumerate(lines[:_MOST_SCHEDULES])]


def _coming_lines(namespace: NamespaceFacts, render: RenderContext) -> list[Paragraph]:
    """The backup that will be the next copy, its place in the queue, and when it starts or ends."""
    run = namespace.copy_on_its_way
    if run is None:
        return []
    facts, nab = render.facts(run), namespace.protection.newest_nab
    name = f"NAB {nab.name}" if nab is not None and nab.velero.name == run.name else run.name
    place = f", {humanize.ordinal(facts.waiting_place)} in the queue" if facts.waiting_place else ""
    detail = f": {render.text(facts.told, run)}" if facts.told else ""
    return [paragraph(f"{name}{place}{detail}", label="Coming")]


def _newest_lines(facts: NamespaceFacts, render: RenderContext) -> list[Paragraph]:
    usable = facts.newest_copy
    if usable is None:
        # Of one that should have a copy the sentence above says so.
        return [] if facts.state is ProtectionState.LATE else [paragraph("none", Tone.DIM, label="Copies")]
    started = usable.started
    age = f", {humanize.duration(render.now - started)} old" if started is not None else ""
    lacks = f", {facts.lack}" if facts.lack else ""
    return [paragraph(f"{usable.name}{age}{lacks}", label="Newest")]


def _copies_lines(facts: NamespaceFacts, render: RenderContext) -> list[Paragraph]:
    copies, usable = facts.protection.copies, facts.newest_copy
    if usable is None:
        return []
    ends = f"; the next expires {render.time(copies.next_expiry, usable)}" if copies.next_expiry is not None else ""
    rest = f", {facts.left_after_next_expiry} left after it" if ends else ""
    if facts.protection.exists is False and facts.left_after_next_expiry and copies.last_expiry is not None:
        # None is made any more: after the last one nothing brings it back.
        rest = f", the last {render.time(copies.last_expiry, usable)}"
    return [paragraph(f"{facts.copies_text}{ends}{rest}", label="Copies")]


def _cover_lines(facts: NamespaceFacts, render: RenderContext) -> list[Paragraph]:
    protection = facts.protection
    lines = []
    for place, cover in enumerate(protection.covers[:_MOST_SCHEDULES]):
        state = ", refused" if cover.is_refused else ", paused" if cover.schedule.spec.paused else ""
        run = _next(cover, render) if cover.is_active and protection.exists is not False else ""
        cluster = facts.cluster_scoped(cover)
        coverage = facts.next_coverage(cover)
        text = f"{cover.schedule.name} ({coverage}){state}{run}; cluster-scoped: {cluster}"
        lines.append(paragraph(text, label=" " if place else "Covered"))
        refusal = render.schedule(cover.schedule).refusal if run and not protection.unavailable else ""
        if refusal:
            lines.append(paragraph(f"{humanize.capitalized(refusal)}.", label=" ", yields=True, least=0))
    if len(protection.covers) > _MOST_SCHEDULES:
        lines.append(paragraph(f"and {len(protection.covers) - _MOST_SCHEDULES} more schedules", label=" "))
    if protection.nabs:
        newest = f", the newest {protection.newest_nab.name}" if protection.newest_nab is not None else ""
        text = f"{humanize.count(protection.nabs, 'NAB')} of its own{newest}"
        lines.append(paragraph(text, label=" " if lines else "Covered"))
    return lines


def _volume_lines(facts: NamespaceFacts) -> list[Paragraph]:
    """Which of its volumes the newest copy has, those first that it lacks."""
    volumes = facts.volumes
    if not volumes.expected:
        if volumes.newer:
            text = f"none in the newest copy, {len(volumes.newer)} newer than it"
            return [paragraph(text, Tone.WARN, label="Volumes")]
        return [paragraph(f"not known: {volumes.unknown}", Tone.DIM, label="Volumes")] if volumes.unknown else []
    counted = sum(volume.is_by_count for volume in volumes.taken)
    informed = sum(volume.is_by_info for volume in volumes.taken)
    by_count = f" ({counted} by the number of snapshots)" if counted else ""
    by_count = f" ({informed} by volume info)" if informed else by_count
    size = f", {humanize.size(volumes.size)}" if volumes.size is not None else ""
    newer = f", {len(volumes.newer)} newer than it" if volumes.newer else ""
    names = f"{', known are' if volumes.open else ''}: {_named(volumes.taken)}" if volumes.taken else ""
    held = "?" if volumes.open else str(len(volumes.taken))
    text = f"{held} of {volumes.expected} in the newest copy{by_count}{size}{newer}{names}"
    lines = [paragraph(text, Tone.WARN if volumes.missing else Tone.PLAIN, label="Volumes")]
    lacked = [f"{volume.name}: {volume.why}" for volume in volumes.missing]
    lacked += [f"{volume.name} left out by policy: {volume.why}" for volume in volumes.chosen]
    lacking = lacked[:_MOST_VOLUMES]
    if len(volumes.left_out) > _MOST_VOLUMES:
        lacking.append(f"and {len(volumes.left_out) - _MOST_VOLUMES} more volumes")
    if volumes.open:
        lacking.append(f"{humanize.join(volumes.open)}: not known, {volumes.unknown}")
    return [*lines, *(paragraph(f"{text}.", label=" ") for text in lacking)]


def _named(taken: Sequence[TakenVolume]) -> str:
    """The largest of them with their size; those of which nothing tells it come last."""
    largest = sorted(taken, key=lambda one: (1 if one.size is None else -one.size, one.name))
    texts = [f"{one.name}{f' {humanize.size(one.size)}' if one.size is not None else ''}" for one in largest]
    return humanize.join(texts, _MOST_VOLUMES)


def volume_list(facts: NamespaceFacts) -> list[Paragraph]:
    """Each volume in its newest copy with its method and size, then those that it lacks, a line each."""
    volumes = facts.volumes
    lines = [
        paragraph(f"{one.name}  {one.method.value}{f', {humanize.size(one.size)}' if one.size is not None else ''}")
        for one in volumes.taken[:_MOST_LISTED]
    ]
    lines += [
        paragraph(f"{one.name}  left out: {one.why}", Tone.PLAIN if one.is_chosen else Tone.WARN)
        for one in (*volumes.missing, *volumes.chosen)[:_MOST_LISTED]
    ]
    more = len(volumes.taken[_MOST_LISTED:]) + len(volumes.left_out[_MOST_LISTED:])
    if more:
        lines.append(paragraph(f"and {humanize.count(more, 'more volume')}", Tone.DIM))
    return [paragraph(""), paragraph("Volumes", bold=True), *lines] if lines else []


def _grown_lines(facts: NamespaceFacts) -> list[Paragraph]:
    """The volumes that grew most since the copy before."""
    grown = facts.grown
    if not grown:
        return []
    texts = [one.text for one in grown]
    return [paragraph(f"{humanize.join(texts, _MOST_VOLUMES)}, since the copy before", label="Grew")]


def _next_lines(facts: NamespaceFacts) -> list[Paragraph]:
    """The volumes that the next runs of its schedules leave out, and those of which that is not known."""
    if facts.protection.exists is False:
        return []
    lines = []
    for cover in facts.protection.covers[:_MOST_SCHEDULES]:
        if not cover.is_refused:
            told = next_run_lines(facts.next_volumes(cover))
            lines += [(tone, f"{cover.schedule.name} {text}") for tone, text in told]
    return [
        paragraph(f"{text}.", tone, label=" " if place else "Next run")
        for place, (tone, text) in enumerate(lines[:_MOST_SCHEDULES])
    ]


def next_run_lines(foretold: ForetoldVolumes) -> list[tuple[Tone, str]]:
    """The fate of the volumes of a namespace in one run, those first that are left out; none where all are taken."""
    lines = []
    by_why: dict[str, list[str]] = {}
    for one in foretold.left_out:
        by_why.setdefault(one.why, []).append(one.name)
    chosen = {one.why for one in foretold.left_out if one.is_chosen}
    for why, names in by_why.items():
        tone = Tone.PLAIN if why in chosen else Tone.WARN
        lines.append((tone, f"leaves out {humanize.join(names, _MOST_VOLUMES)}: {why}"))
    if foretold.open:
        names = [one.name for one in foretold.open]
        lines.append((Tone.DIM, f"may take {humanize.join(names, _MOST_VOLUMES)}: {foretold.open[0].why}"))
    return lines


def _next(cover: NamespaceCover, render: RenderContext) -> str:
    """Its next run, and in two words why that is perhaps no copy."""
    if cover.next_run is None:
        return ""
    schedule = cover.schedule
    doubt = render.schedule(schedule).doubt
    return f", next {render.time(cover.next_run, schedule)}{f', {doubt}' if doubt else ''}"


def _tried(found: NamespaceProtection, render: RenderContext) -> str:
    parts = []
    if found.drill is not None:
        took = humanize.duration(found.drill.took)
        outcome = f"; it failed: {found.drill.failed}" if found.drill.failed else ""
        parts.append(f"drilled {humanize.duration(render.now - found.drill.at)} ago, it took {took}{outcome}")
    if found.restored is not None:
        parts.append(f"last restored {humanize.duration(render.now - found.restored)} ago")
    if not parts and found.copies.total:
        trials = [f"; a {record.id} tries it ({key_name(record.id)})" for record in RECORDS if record.tries_copies]
        return "".join(("never, as far as Velero's objects tell", *(trials if found.reachable else ())))
    return "; ".join(parts) or "never"
