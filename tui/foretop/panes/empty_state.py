"""The reason why a table has no rows: loading, not allowed, not installed, or unreachable."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import assert_never

from foretop.bindings import key_name
from foretop.widgets.paragraphs import Line, Span, signed, span
from foretop.widgets.styles import BOLD, DIM, style_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.foreign_text import without_signs
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import BACKUP, BESIDE_VELERO, SCHEDULE, STORAGE
from foretop_core.rules import humanize
from foretop_core.tables.engine.drawings import bar
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, run_mark
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.resources.queue import ended_lately
from foretop_core.tables.resources.runs import took
from foretop_core.tables.text.terminal_text import cut, pad, unsigned

_VELERO = (SCHEDULE, BACKUP, STORAGE)
_BAR, _MOST_LINES, _NAME = 12, 8, 40
NO_SCHEDULES = "No schedules. :create-schedule makes one, as does velero schedule create."


def opening(progress: str) -> list[Line]:
    """Nothing is known yet, not even which clusters there are."""
    return [(Span(f"{StatusGlyph.RUNNING.value} ", style_of(Tone.RUNNING)), span(f"{progress or 'Connecting'}…"))]


CONNECTING = opening("")


def why_closed(trouble: ForetopError) -> list[Line]:
    """The reason why foretop can look at no cluster, and what a person can do about it."""
    lines = [_said(StatusGlyph.LOOK, without_signs(f"{trouble.what}: {trouble.why}" if trouble.why else trouble.what))]
    if trouble.hint:
        lines.append((span(f"  {humanize.capitalized(trouble.hint)}."),))
    return [
        *lines,
        (),
        (span("  foretop retries every few seconds; "), Span(key_name("relist"), BOLD), span(" retries now.")),
    ]


def why_empty(state: DashboardState, kinds: Collection[str]) -> list[Line]:
    """The kinds that could not be seen, or once for a cluster out of reach; nothing where all was seen."""
    contexts = (state.focus.context,) if state.focus.context else state.contexts
    return [line for context in contexts for line in _out_of_reach(state, context) or _of(state, context, kinds)]


def nothing_fits(focus: ViewScope, filter_text: str, rows: int, values: Collection[str] = ()) -> list[Line]:
    """The rows are there, and the filter hides them; without one, that only those with problems are wanted.

    `values` are some of those that the field has which the filter asks for.
    """
    text = (
        f'No row {"has" if filter_text.isalnum() else "fits"} "{filter_text}".'
        if filter_text
        else "No row has a problem."
    )
    shown = (span(f"{text}  "), Span(key_name("escape"), BOLD), span(f" shows all {rows:,}."))
    examples = [(span(f"Rows have, for example: {', '.join(values)}.", Tone.DIM),)] if values else []
    return [shown, *examples, *ways_out(focus)]


def empty_queue(state: DashboardState) -> list[Line]:
    """Says that nothing runs or waits, which schedule is next, and what has ended in the last hour."""
    lines: list[Line] = [(span("The queue is empty. A run is listed from its creation until it ends.", Tone.DIM),)]
    for context in state.contexts:
        if coming := coming_run(state.render_context(context)):
            lines.append((span(f"Next: {_where(state, context)}{coming}", Tone.DIM),))
    for context in state.contexts:
        lines += _ended_lately(state, context)
    return lines


def _ended_lately(state: DashboardState, context: str) -> list[Line]:
    """A line for each, as below a table of those that are open."""
    render = state.render_context(context)
    title, runs = ended_lately(render)
    if not runs:
        return []
    lines: list[Line] = [(), (Span(f"{_where(state, context)}{title}", DIM),)]
    for run in runs[:_MOST_LINES]:
        mark, ended_at = run_mark(run.phase), render.time_of_day(run.status.completion_timestamp, run)
        text = f"{pad(cut(unsigned(run.name), _NAME), _NAME)}  {took(run, render.now):>6}  {ended_at:>9}"
        lines.append((Span(f"{mark.value} ", style_of(mark.tone)), span(text)))
    rest = len(render.ended_lately) - _MOST_LINES
    return [*lines, (span(f"  {rest} more: :backups", Tone.DIM),)] if rest > 0 else lines


def coming_run(render: RenderContext) -> str:
    """`etcd in 19 minutes`: which schedule runs next; "" where none will."""
    active = [render.schedule(item) for item, _ in render.snapshot.read_schedules if not item.spec.paused]
    runs = (
        (run, facts.schedule.name)
        for facts in active
        if not facts.invalid and (run := facts.next_run) is not None and not facts.due
    )
    run, name = min(runs, default=(None, ""))
    return f"{name} in {humanize.duration(run - render.now)}" if run is not None else ""


def ways_out(focus: ViewScope) -> list[Line]:
    if not focus:
        return []
    narrowed = " and ".join(
        [
            *([f"namespace {focus.namespace}"] * bool(focus.namespace)),
            *([f"context {focus.context}"] * bool(focus.context)),
        ]
    )
    return [(span(f"  Only {narrowed} is shown: "), Span(key_name("all_namespaces"), BOLD), span(" shows all."))]


def why_lost(state: DashboardState, context: str) -> list[Line]:
    """Nothing of Velero can be seen: out of reach, only now coming in, not allowed, or not there at all."""
    return _out_of_reach(state, context) or _nothing_to_see(state, context)


def coming_in(state: DashboardState) -> list[Line]:
    """Which kinds are still being listed, and how far those have come of which the server tells how many there are."""
    watches = [watch for watch in state.store.health.watches() if watch[1].state is WatchState.SYNCING]
    if not watches:
        return []
    names = [f"{_where(state, scope.context)}{scope.kind.plural}" for scope, _ in watches]
    cells = max(map(len, names))
    head = (Span(f"{StatusGlyph.RUNNING.value} ", style_of(Tone.RUNNING)), span("Loading…", bold=True))
    lines = {f"  {name:<{cells}}  {_come(health)}": None for name, (_, health) in zip(names, watches, strict=True)}
    return [head, *((signed(line),) for line in list(lines)[:_MOST_LINES])]


def how_far(state: DashboardState, kinds: Collection[str]) -> str:
    """How much has come of these kinds while their first lists are long enough to come in pieces."""
    watches = [health for scope, health in state.store.health.watches() if scope.kind.name in kinds]
    lists = [health for health in watches if health.state is WatchState.SYNCING and health.expected]
    listed, expected = sum(health.seen for health in lists), sum(health.expected or 0 for health in lists)
    return f"{bar(listed, expected, _BAR)} {listed:,} of {expected:,}" if expected else ""


def _come(health: WatchHealth) -> str:
    if not health.expected:
        return f"{health.seen:,}" if health.seen else "…"
    return f"{bar(health.seen, health.expected, _BAR)} {health.seen:,} of {health.expected:,}"


def _out_of_reach(state: DashboardState, context: str) -> list[Line]:
    """Says once what goes for every kind of a cluster."""
    states = {health.state for _, health in state.store.health.watches(context)}
    health = state.health(context)
    where = _where(state, context)
    if not states or states == {WatchState.SYNCING}:
        return [_said(StatusGlyph.RUNNING, f"{where}Discovering resources…")]
    if health.lost_at is None:
        return []
    error = f": {without_signs(health.error)}" if health.error else ""
    how = health.state.value.capitalize()
    if health.state is WatchState.STALE and not state.store.revision(context):
        how = "Cannot connect"
    spans = _said(StatusGlyph.LOOK, f"{where}{how} for {_since(state, context, health.lost_at)}{error}")
    if context in state.signed_out():
        return [
            spans,
            (Span("  "), Span(key_name("sign_in"), BOLD), span(" signs in in the terminal and returns here.")),
        ]
    wait = health.retry_at - state.clock(context) if health.retry_at else None
    when = f"in {humanize.duration(wait)}" if wait is not None and wait.total_seconds() >= 1 else "automatically"
    return [spans, (span(f"  foretop retries {when}; "), Span(key_name("relist"), BOLD), span(" retries now."))]


def _nothing_to_see(state: DashboardState, context: str) -> list[Line]:
    """Nothing may be listed at all, or of the kinds without which there is no Velero none is installed."""
    fares = {scope.kind: health.state for scope, health in state.store.health.watches(context)}
    states = {fares.get(kind) for kind in _VELERO}
    where = _where(state, context)
    doctor: Line = (span("  "), Span("foretop doctor", BOLD), span(" lists every permission and resource."))
    if states == {WatchState.FORBIDDEN} and set(fares.values()) <= {WatchState.FORBIDDEN, WatchState.NOT_INSTALLED}:
        kinds = humanize.join([f"{kind.plural}.{kind.group}" for kind in _VELERO])
        return [_said(StatusGlyph.LOOK, f"{where}Not allowed: you need permission to list and watch {kinds}."), doctor]
    if states == {WatchState.NOT_INSTALLED}:
        kinds = humanize.join([f"{kind.plural}.{kind.group}" for kind in _VELERO])
        return [_said(StatusGlyph.LOOK, f"{where}Velero is not installed in this cluster: it has no {kinds}."), doctor]
    return []


def _of(state: DashboardState, context: str, kinds: Collection[str]) -> Iterable[Line]:
    """Watches that fare alike are told together; what is not installed, only where nothing else is there."""
    alike: dict[str, list[str]] = {}
    marks: dict[str, StatusGlyph] = {}
    watches = [watch for watch in state.store.health.watches(context) if _concerns(state.focus, watch[0], kinds)]
    passed_over = {WatchState.LIVE}
    if any(health.state is WatchState.LIVE for _, health in watches):
        passed_over.add(WatchState.NOT_INSTALLED)
    for scope, health in watches:
        if health.state not in passed_over:
            mark, text = _told(state, scope, health)
            alike.setdefault(text, []).append(
                f"{scope.kind.plural}.{scope.kind.group}" if scope.kind.group else scope.kind.plural
            )
            marks[text] = mark
    for text, names in alike.items():
        yield _said(marks[text], f"{_where(state, context)}{text.format(humanize.join(list(dict.fromkeys(names)), 6))}")
    yield from _elsewhere(watches)
    if any(mark is not StatusGlyph.RUNNING for mark in marks.values()) and not state.origins((context,)):
        yield (span("  foretop checks again every minute; "), Span(key_name("relist"), BOLD), span(" checks now."))


def _concerns(focus: ViewScope, scope: WatchScope, kinds: Collection[str]) -> bool:
    """True if a page with these kinds shows what this watch sees."""
    if scope.kind.name not in kinds:
        return False
    return not scope.namespace or focus.keeps(scope.context, scope.kind.name, scope.namespace)


def _elsewhere(watches: Collection[tuple[WatchScope, WatchHealth]]) -> Iterable[Line]:
    """Tells a person who may not read here where they may."""
    refused = [scope for scope, health in watches if health.state is WatchState.FORBIDDEN]
    if any(scope.kind not in BESIDE_VELERO for scope in refused):
        yield (
            span("  "),
            Span(":ns NAME", BOLD),
            span(" opens a namespace that you can read; "),
            Span("foretop -n NAME", BOLD),
            span(" starts there."),
        )
    elif refused:
        yield (
            span("  If you have access to one namespace: "),
            Span("foretop --velero-namespace NAME", BOLD),
            span("."),
        )


def _told(state: DashboardState, scope: WatchScope, health: WatchHealth) -> tuple[StatusGlyph, str]:
    """The sentence on a kind, with a place for its name."""
    place = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case WatchState.LIVE:
            return StatusGlyph.HEALTHY, "{} is live"
        case WatchState.SYNCING:
            return StatusGlyph.RUNNING, f"Syncing {{}}{place}: {_come(health)}"
        case WatchState.FORBIDDEN:
            return (
                StatusGlyph.LOOK,
                f"Not allowed: you need permission to list and watch {{}}{place or ' in all namespaces'}.",
            )
        case WatchState.NOT_IN_ARCHIVE:
            return StatusGlyph.UNSET, f"Not in the archive: {{}}{place}."
        case WatchState.NO_NAMESPACE:
            return (
                StatusGlyph.LOOK,
                f"Namespace {_plain(scope.namespace)} does not exist in this cluster, so there are no {{}}.",
            )
        case WatchState.NOT_INSTALLED:
            return StatusGlyph.UNSET, "Not installed in this cluster: {}."
        case WatchState.STALE | WatchState.SIGNED_OUT:
            error = f": {_plain(health.error)}" if health.error else ""
            since = _since(state, scope.context, health.since)
            return StatusGlyph.LOOK, f"{{}}{place}: {health.state.value} for {since}{error}"
    assert_never(health.state)


def _since(state: DashboardState, context: str, since: datetime) -> str:
    return humanize.duration(state.clock(context) - since)


def _plain(text: str) -> str:
    """Another's text, to stand in a sentence with a place in it."""
    return without_signs(text).replace("{", "{{").replace("}", "}}")


def _where(state: DashboardState, context: str) -> str:
    return f"{context}: " if len(state.contexts) > 1 else ""


def _said(mark: StatusGlyph, text: str) -> Line:
    return (Span(f"{mark.value} ", style_of(mark.tone)), signed(text))
