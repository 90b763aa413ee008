"""The pane of Triage: evidence and remedy of a finding; and the all-clear text."""

from __future__ import annotations

from datetime import datetime, timedelta
from heapq import nlargest

from foretop.bindings import key_name, page_key
from foretop.panes.empty_state import coming_in, coming_run, why_lost
from foretop.widgets.paragraphs import Line, Paragraph, Span, lead, paragraph, signed, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import Run, has_ended, run_length, usual_length
from foretop_core.rules.facts.schedule_runs import run_letter
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET
from foretop_core.rules.sentences import ScheduleName, Sentence, sentence, with_keys
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, ungathered
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.tables.engine.drawings import RunStrip, run_marks
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, severity_mark
from foretop_core.tables.resources.findings import subject_and_what
from foretop_core.tables.resources.visibility_findings import visibility_findings

_DAY = timedelta(days=1)
_LAST_BACKUPS = 60
_LABEL = 11
"""Cells for the label of a line, where nothing is wrong."""
_RETRY = ("relist", "retries now")
_KEYS_FOR = {
    "velero-signed-out": (("sign_in", "signs in in the terminal, if your exec plugin can prompt you"), _RETRY),
    "velero-out-of-reach": (_RETRY,),
    "velero-stale": (_RETRY,),
}
"""What a key does about a finding; the remedy itself is also printed by commands, which have no keys."""


def finding_pane(finding: Finding, render: RenderContext) -> tuple[Paragraph, ...]:
    """The fault in the colour of its state, then what to do; a text that does not fit gives up its end."""
    cause = finding.because if finding.because is not None and not finding.because.members else None
    because = (
        (paragraph(f"{subject_and_what(cause, render.text(cause.what))}", label="Cause"),) if cause is not None else ()
    )
    acknowledgement = finding.acknowledged
    acknowledged = (
        (paragraph(f"acknowledged {render.text(acknowledgement_text(acknowledgement))}", label="Known"),)
        if acknowledgement is not None
        else ()
    )
    return (
        _statement(finding, render),
        *acknowledged,
        *because,
        lead(render.text(with_keys(finding.remedy, key_name)), Tone.PLAIN, label="Do"),
        *(
            Paragraph((Span(key_name(key), BOLD), span(f" {does}")), label=" ")
            for key, does in _KEYS_FOR.get(finding.code, ())
        ),
        *_since(finding, render),
        *_hits(finding, render),
        *_raw(finding),
    )


def _statement(finding: Finding, render: RenderContext) -> Paragraph:
    tone = severity_mark(finding.severity).tone if finding.acknowledged is None else Tone.DIM
    return lead(render.text(finding.evidence), tone)


def _since(finding: Finding, render: RenderContext) -> tuple[Paragraph, ...]:
    if finding.since is None:
        return ()
    since = render.text(sentence(finding.since, ", for ", render.now - finding.since))
    return (paragraph(since, label="Since", yields=True, least=0),)


def _hits(finding: Finding, render: RenderContext) -> tuple[Paragraph, ...]:
    """The harm that it does; the name of a schedule that is not well has the colour of its row."""
    if not finding.hits:
        return ()
    schedules = {item.name: item for item in render.snapshot.schedules_by_namespace.get(finding.subject.namespace, ())}
    spans = []
    for part in finding.hits.parts if isinstance(finding.hits, Sentence) else (finding.hits,):
        named = schedules.get(part.name) if isinstance(part, ScheduleName) else None
        severity = render.schedule(named).severity if named is not None else None
        tone = severity_mark(severity).tone if severity is not None else Tone.PLAIN
        spans.append(span(render.text(sentence(part)), tone))
    return (Paragraph(tuple(spans), "Hits", yields=True, least=1),)


def _raw(finding: Finding) -> tuple[Paragraph, ...]:
    """One line, cut; the key that describes the object shows the whole."""
    if not finding.raw:
        return ()
    raw = Span(span(" ".join(finding.raw.split())).text, DIM)
    return (Paragraph((raw,), label="Raw", one_line=f"{key_name('describe')} shows it whole"),)


def calm(state: DashboardState) -> list[Line]:
    """The healthy parts and the next runs, said only where all of it was seen."""
    lost = [why_lost(state, context) for context in state.contexts]
    if all(lost):
        return [line for lines in lost for line in lines]
    if coming := coming_in(state):
        return coming
    if state.findings:
        return []
    if not state.has_judged:
        mark = Span(f"{StatusGlyph.RUNNING.value} ", style_of(Tone.RUNNING))
        return [(mark, span(f"{NOT_KNOWN_YET.capitalize()}.", bold=True))]
    if state.acknowledged:
        number = sum(1 for _ in ungathered(state.acknowledged))
        them = "it" if number == 1 else "them"
        return [
            (
                Span(f"{StatusGlyph.TRUE.value} ", style_of(Tone.WAITING)),
                span("No problems that are not known.", bold=True),
            ),
            (span(f"  {humanize.count(number, 'finding')} acknowledged; {key_name('acknowledged')} shows {them}."),),
            *_not_visible(state),
        ]
    if state.unseen:
        return [
            (
                Span(f"{StatusGlyph.WAITING.value} ", style_of(Tone.WAITING)),
                span("No problems in what is visible.", bold=True),
            ),
            *_not_visible(state),
        ]
    if not any(_is_in_use(state.render_context(context).snapshot) for context in state.contexts):
        return [
            (
                Span(f"{StatusGlyph.WAITING.value} ", style_of(Tone.WAITING)),
                span("Nothing to monitor yet.", bold=True),
            ),
            (span("  There are no schedules, no backups and no storage locations here."),),
        ]
    asleep = all(_is_asleep(state.render_context(context).snapshot) for context in state.contexts)
    head = (
        (StatusGlyph.PAUSED, "No problems, but no upcoming run:") if asleep else (StatusGlyph.HEALTHY, "No problems.")
    )
    if any(state.pauses(context).needs_attention for context in state.contexts):
        head = (StatusGlyph.PAUSED, "Paused and overdue:")
    lines: list[Line] = [(Span(f"{head[0].value} ", style_of(head[0].tone)), span(head[1], head[0].tone, bold=True))]
    for context in state.contexts:
        lines += [(), *([(span(context, bold=True),)] if len(state.contexts) > 1 else ())]
        lines += [(Span(f"{label:<{_LABEL}}", DIM), span(text)) for label, text in _healthy(state, context)]
        lines += _last_backups(state.render_context(context).snapshot)
        besides = visibility_findings(context, state.health(context), state.clock(context))
        lines += [(span(state.render_context_of(gap).text(gap.evidence), Tone.WARN),) for gap in besides]
    keys = ((page_key("calendar"), "the night ahead"), (key_name("handover"), "hand-over"))
    return [*lines, (), tuple(part for key, word in keys for part in (Span(key, BOLD), Span(f" {word}   ", DIM)))]


def _not_visible(state: DashboardState) -> list[Line]:
    """The kinds that could not be seen, in one line; none where all were."""
    alike: dict[str, list[str]] = {}
    for gap in state.unseen:
        alike.setdefault(gap.why(state.zone), []).append(gap.kind or gap.context)
    gaps = [f"{humanize.join(names, 6)} ({reason})" for reason, names in alike.items()]
    return [(span(f"Not visible: {humanize.join(gaps, 6)}."),)] if gaps else []


def _is_in_use(snapshot: ClusterSnapshot) -> bool:
    return bool(snapshot.schedules or snapshot.backups or snapshot.storage or snapshot.nabs or snapshot.nars)


def _is_asleep(snapshot: ClusterSnapshot) -> bool:
    return bool(snapshot.schedules) and all(schedule.spec.paused for schedule in snapshot.schedules)


def _healthy(state: DashboardState, context: str) -> list[tuple[str, str]]:
    """The healthy parts and the next runs of one cluster, each with its label."""
    render = state.render_context(context)
    snapshot, now, pauses = render.snapshot, render.now, state.pauses(context)
    active = sum(not item.spec.paused and not render.schedule(item).invalid for item, _ in snapshot.read_schedules)
    late = f", {pauses.overdue} overdue" if pauses.overdue else ""
    schedules = f"{active:,} healthy{f', {pauses.paused} paused{late}' if pauses.paused else ''}"
    if _is_asleep(snapshot):
        schedules = f"all schedules are paused ({pauses.paused}{late})"
        schedules = f"{schedules}; {page_key('schedules')} opens them"
    runs: tuple[Run, ...] = (*snapshot.backups, *snapshot.restores)
    waiting = sum(not has_ended(run) for run in runs)
    queue = "empty" if not waiting else humanize.count(waiting, "run")
    signs = [sign.at for namespace in snapshot.velero_namespaces if (sign := render.server(namespace).sign) is not None]
    pulse = (
        f"Velero was last active {humanize.duration(max(timedelta(), now - max(signs)))} ago"
        if signs
        else "no sign of activity from Velero"
    )
    coming = coming_run(render)
    return [
        ("Schedules", schedules),
        *([("Next", coming)] if coming else []),
        ("Last 24h", _last_day(snapshot, now)),
        *([("Copies", "none is older than its schedules promise")] if active and not pauses.paused else []),
        ("Queue", f"{queue}; {pulse}"),
        ("Checked", _checked(snapshot)),
    ]


def _last_day(snapshot: ClusterSnapshot, now: datetime) -> str:
    ends = [run.phase for run in snapshot.backups if (end := run.status.completion_timestamp) and now - end < _DAY]
    good = ends.count("Completed")
    if not ends:
        return "no backup has ended"
    return f"{humanize.count(len(ends), 'backup')}, {'all good' if good == len(ends) else f'{good:,} good'}"


def _last_backups(snapshot: ClusterSnapshot) -> list[Line]:
    """A mark for each, oldest first, against what is usual for its schedule."""
    ends = ((end, run) for run in snapshot.backups if (end := run.status.completion_timestamp) is not None)
    last = [run for _, run in nlargest(_LAST_BACKUPS, ends, key=lambda found: found[0])][::-1]
    owners = {(run.namespace, run.schedule_name) for run in last}
    usual = {owner: usual_length(snapshot.lookups.backups_of_schedule(*owner)) for owner in owners}
    marks = "".join(
        run_marks(((run_letter(run), run_length(run)),), usual[run.namespace, run.schedule_name]) for run in last
    )
    if not marks:
        return []
    strip = RunStrip(marks).pieces("", Tone.PLAIN, len(marks), ascii=False)
    title = f"LAST {len(last)} BACKUPS" if len(last) > 1 else "LAST BACKUP"
    return [(), (Span(title, DIM),), tuple(signed(piece.text, piece.tone, bold=piece.bold) for piece in strip)]


def _checked(snapshot: ClusterSnapshot) -> str:
    tenants = len(snapshot.nabs) + len(snapshot.nars)
    counts = (
        humanize.count(len(snapshot.backups), "backup"),
        humanize.count(len(snapshot.restores), "restore") if snapshot.restores else "",
        f"{tenants:,} NAB and NAR" if tenants else "",
        humanize.count(len(snapshot.storage), "storage location"),
    )
    return ", ".join(filter(None, counts))
