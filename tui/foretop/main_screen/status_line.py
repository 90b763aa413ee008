"""The status line: clusters, connection state, and number of findings."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.dashboard.cluster_session import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.triage import Severity
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.connection_status import status_line
from foretop_core.tables.text import times
from foretop_core.tables.text.cell_text import cut, width
from foretop_core.tables.text.time_zones import TimeZoneMode

SKEWED = timedelta(seconds=5)
_GRADES = ((Severity.ERROR, StatusGlyph.BROKEN), (Severity.WARNING, StatusGlyph.LOOK))


def status(state: DashboardState, looks: DisplayOptions, scope: str, cells: int) -> Line:
    """Where we look, how well we see, what is wrong, and the time there."""
    if not state.contexts:
        return (Span(" foretop", BOLD), span("   no context to look at"))
    right = [*_health(state), *_gravest(state), *_badges(state, looks)]
    room = cells - sum(width(piece.text) for piece in right) - 1
    left = _left(state, scope, room)
    gap = max(1, cells - sum(width(piece.text) for piece in (*left, *right)))
    return (*left, Span(" " * gap), *right)


def _left(state: DashboardState, scope: str, room: int) -> list[Span]:
    """The context in full before the scope in full: which cluster it is matters most."""
    one = state.contexts[0] if len(state.contexts) == 1 else state.focus.context
    name = span(one or f"{len(state.contexts)} contexts").text
    where = span(scope).text
    if width(name) + width(where) + 4 > room:
        where = where.replace("namespaces", "ns").replace("namespace", "ns")
    shown = cut(name, max(8, room - min(width(where), 8) - 4))
    left = room - width(shown) - 4
    return [Span(f" {shown}", BOLD), Span(f"   {cut(where, left)}" if left > 3 else "")]


def _health(state: DashboardState) -> list[Span]:
    versions = sorted(
        {
            server.version
            for context in _looked_at(state)
            for server in state.store.snapshot(context).servers.values()
            if server.version
        }
    )
    release = ".".join(span(versions[0]).text.split(".")[:2]) if len(versions) == 1 else ""
    shown = f"Velero {release} " if release else "Velero " if len(_looked_at(state)) == 1 else ""
    boards = {context: state.health(context) for context in _looked_at(state)}
    mark, said = status_line(boards, state.clock(state.focus.context))
    return [Span(shown), Span(f"{mark.value} ", style_of(mark.tone)), Span(cut(said, 40), style_of(mark.tone))]


def _looked_at(state: DashboardState) -> tuple[str, ...]:
    return (state.focus.context,) if state.focus.context else state.contexts


def _gravest(state: DashboardState) -> list[Span]:
    counts = state.severities()
    return [
        Span(f"   {mark.value}{counts[grade]}" if not place else f" {mark.value}{counts[grade]}", style_of(mark.tone))
        for place, (grade, mark) in enumerate(pair for pair in _GRADES if counts[pair[0]])
    ]


def _badges(state: DashboardState, looks: DisplayOptions) -> list[Span]:
    shown: list[Span] = []
    if looks.read_only:
        shown.append(Span("   READ-ONLY", BOLD))
    skews = [skew for context in state.contexts if (skew := state.source.skew(context)) is not None]
    worst = max(skews, key=abs, default=timedelta())
    if looks.speed != 1.0:
        shown.append(Span(f"   demo ×{looks.speed:g}", style_of(Tone.RUNNING)))
    elif abs(worst) > SKEWED:
        off = "slow" if worst > timedelta() else "fast"
        shown.append(Span(f"   local clock {times.short(abs(worst))} {off}", style_of(Tone.WARN)))
    return shown


def time_there(state: DashboardState) -> Line:
    """On its own, for it is all that an idle screen writes."""
    if not state.contexts:
        return ()
    others = " cron" if state.zoning.told is TimeZoneMode.EXPRESSION else ""
    return (Span(f"   {clock(state.clock().astimezone(state.zone))}{others} "),)


def clock(at: datetime) -> str:
    """`02:41:07Z`, or with the name of the zone."""
    return f"{at:%H:%M:%S}{humanize.zone_name(at)}"
