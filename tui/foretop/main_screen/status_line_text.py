"""The status line: clusters, connection state, state of Velero, and number of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import BOLD, PLAIN, style_of
from foretop_core.config.protection import Protection
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules import humanize
from foretop_core.rules.triage import Severity
from foretop_core.tables.engine.context_names import brief_name
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.resources.connection_status import VeleroServers, status_line, velero_status
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import cut, cut_end
from foretop_core.tables.text.time_zones import TimeZoneMode

SKEWED = timedelta(seconds=5)
_GRADES = ((Severity.ERROR, StatusGlyph.BROKEN), (Severity.WARNING, StatusGlyph.LOOK))
_ROOMY = 60
"""From this width on three spaces stand between two items."""
_LEFT, _RIGHT = ("context", "scope"), ("pauses", "api", "velero", "counts", "read_only", "production", "speed", "skew")
_YIELDING = (
    *("velero", "pauses", "scope", "velero", "production", "speed", "scope", "skew", "velero", "context", "api"),
    *("clock", "api", "scope", "context", "context", "scope", "production", "read_only", "pauses", "skew", "velero"),
    "api",
)
"""Which item is shortened next where there is no room for all: the least important first."""

Forms = tuple[Line, ...]
"""An item in full, then in fewer and fewer words; an empty line leaves it out."""


def status(state: DashboardState, display_options: DisplayOptions, scope: str, cells: int) -> tuple[Line, Line]:
    """Where we look, how well we see, whether Velero works and what is wrong; and on its own the time there.

    The time is all that an idle screen writes.
    """
    if not state.contexts:
        return (Span(" foretop", BOLD), span("   no context to look at")), ()
    gap = 3 if cells >= _ROOMY else 2
    speed = display_options.speed
    clusters = state.source.clusters
    protections = {name: clusters[name].client.protection for name in _looked_at(state) if name in clusters}
    is_read_only = display_options.read_only or any(one.read_only for one in protections.values())
    items = {
        "context": _context(state),
        "scope": _scope(scope, narrowed=bool(state.focus.namespace or state.source.namespaces)),
        "pauses": _pauses(state),
        "api": _api(state),
        "velero": _velero(state),
        "counts": (_gravest(state),),
        "read_only": ((Span("READ-ONLY", BOLD),), (Span("RO", BOLD),)) if is_read_only else ((),),
        "production": ((),) if is_read_only else _production(protections),
        "speed": ((span(f"demo ×{speed:g}", Tone.RUNNING),), ()) if speed != 1.0 else ((),),
        "skew": ((),) if speed != 1.0 else _skew(state),
        "clock": (_time_there(state), ()),
    }
    shown = fitted(items, cells, gap)
    left = _joined([shown[name] for name in _LEFT], gap)
    right = _joined([shown[name] for name in _RIGHT], gap)
    time = (Span(" " * gap), *shown["clock"], Span(" ")) if shown["clock"] else ()
    space = max(1, cells - 1 - line_width(left) - line_width(right) - (line_width(time) or 1))
    return (Span(" "), *left, Span(" " * space), *right), time


def fitted(items: Mapping[str, Forms], cells: int, gap: int) -> dict[str, Line]:
    """Each item in the longest form for which there is room; the least important ones yield first."""
    forms = dict.fromkeys(items, 0)

    def taken() -> int:
        sizes = [size for name, form in forms.items() if (size := line_width(items[name][form]))]
        return sum(sizes) + gap * (len(sizes) - 1) + 2

    for name in _YIELDING:
        if taken() <= cells:
            break
        if name in forms:
            forms[name] = min(forms[name] + 1, len(items[name]) - 1)
    return {name: items[name][form] for name, form in forms.items()}


def _joined(items: Sequence[Line], gap: int) -> Line:
    joined: list[Span] = []
    for item in items:
        if item:
            joined += [Span(" " * gap), *item] if joined else item
    return tuple(joined)


def _context(state: DashboardState) -> Forms:
    """Which cluster it is matters most: its name is shortened, never left out."""
    one = state.contexts[0] if len(state.contexts) == 1 else state.focus.context
    name = span(one or f"{len(state.contexts)} contexts").text
    brief = brief_name(name)
    return tuple((Span(text, BOLD),) for text in (name, brief, cut(brief, 20), cut(brief, 12)))


def _scope(scope: str, *, narrowed: bool) -> Forms:
    text = span(scope).text
    short = text.replace("namespaces", "ns").replace("namespace", "ns")
    texts = (text, short, short, cut_end(short, 12), "") if narrowed else (text, short, "")
    return tuple((Span(one),) if one else () for one in texts)


def _api(state: DashboardState) -> Forms:
    boards = {context: state.health(context) for context in _looked_at(state)}
    unreached = frozenset(context for context in boards if not state.store.revision(context))
    mark, said = status_line(boards, state.clock(state.focus.context), unreached)
    first = said.partition(",")[0]
    brief = "" if mark is StatusGlyph.HEALTHY and len(boards) == 1 else first.removesuffix(" live").replace(" of ", "/")
    return tuple(_labelled("API", (mark, word)) for word in (said, first, brief))


def _pauses(state: DashboardState) -> Forms:
    """Schedules that are paused and overdue, or a window that should have ended; it is never left out."""
    found = [state.pauses(context) for context in _looked_at(state)]
    total, paused, overdue = (sum(getattr(one, name) for one in found) for name in ("total", "paused", "overdue"))
    mark = StatusGlyph.PAUSED.value
    if overdue:
        texts = f"{mark} {paused} of {total} paused, {overdue} overdue", f"{mark} {paused}/{total}, {overdue} over"
        return tuple((span(text, Tone.WARN),) for text in (*texts, f"{mark}{overdue}"))
    over = [one for one in found if one.overrun is not None]
    if not over:
        return ((),)
    late = times.short(max(one.overrun for one in over if one.overrun is not None))
    many = sum(one.in_overrun for one in over)
    texts = f"{mark} {many} paused, {late} over", f"{mark} {many}, {late} over"
    return tuple((span(text, Tone.WARN),) for text in (*texts, f"{mark}{many}"))


def _velero(state: DashboardState) -> Forms:
    contexts = _looked_at(state)
    clusters = [_servers(state, context) for context in contexts]
    versions = {server.version for one in clusters for server in one.servers if server.version}
    release = " ".join([".".join(span(one).text.split(".")[:2]) for one in versions]) if len(versions) == 1 else ""
    found = velero_status(clusters)
    if found is None:
        return ((Span(f"Velero {release}"),), ()) if release else ((),)
    full = _labelled(f"Velero {release}".strip(), found)
    said, alone = _labelled("Velero", found), _labelled("Velero", (found[0], ""))
    return (full, said) if found[0] is StatusGlyph.BROKEN else (full, said, alone, ())


def _production(protections: Mapping[str, Protection]) -> Forms:
    """Whether a name is to be typed before a write; where another context protects the cluster, whose."""
    asked = {name: one for name, one in protections.items() if one.name}
    if not asked:
        return ((),)
    doubt = "?" if all(one.in_doubt for one in asked.values()) else ""
    others = ", ".join(dict.fromkeys(one.name for name, one in asked.items() if one.name != name))
    told = (f"PRODUCTION{doubt} ({cut(others, 20)})" if others else f"PRODUCTION{doubt}", f"PRODUCTION{doubt}", "PROD")
    return tuple((span(one, Tone.WARN),) for one in told)


def _servers(state: DashboardState, context: str) -> VeleroServers:
    render = state.render_context(context)
    servers = [render.server(namespace) for namespace in render.snapshot.velero_namespaces]
    return VeleroServers(state.health(context), servers)


def _labelled(label: str, found: StatusLabel) -> Line:
    """`API ● live`: the word has a colour where it is not as it should be."""
    mark, word = found
    tone = Tone.PLAIN if mark is StatusGlyph.HEALTHY else mark.tone
    glyph = (Span(f"{label} "), Span(mark.value, style_of(mark.tone)))
    return (*glyph, Span(f" {word}", style_of(tone))) if word else glyph


def _looked_at(state: DashboardState) -> tuple[str, ...]:
    return (state.focus.context,) if state.focus.context else state.contexts


def _gravest(state: DashboardState) -> Line:
    counts = state.severities()
    found = [pair for pair in _GRADES if counts[pair[0]]]
    return tuple(
        Span(f"{' ' if place else ''}{mark.value}{counts[grade]}", style_of(mark.tone))
        for place, (grade, mark) in enumerate(found)
    )


def _skew(state: DashboardState) -> Forms:
    skews = [skew for context in state.contexts if (skew := state.source.skew(context)) is not None]
    worst = max(skews, key=abs, default=timedelta())
    if abs(worst) <= SKEWED:
        return ((),)
    said = f"{times.short(abs(worst))} {'slow' if worst > timedelta() else 'fast'}"
    return (span(f"local clock {said}", Tone.WARN),), (span(f"clock {said}", Tone.WARN),), ()


def _time_there(state: DashboardState) -> Line:
    others = " cron" if state.zoning.told is TimeZoneMode.EXPRESSION else ""
    return (Span(f"{clock(state.clock().astimezone(state.zone))}{others}", PLAIN),)


def clock(at: datetime) -> str:
    """`02:41:07Z`, or with the name of the zone."""
    return f"{at:%H:%M:%S}{humanize.zone_name(at)}"
