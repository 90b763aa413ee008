"""The status line: each cluster with its findings, pause windows, slots, connection, Velero and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import assert_never

import msgspec

from foretop.pages.page import HUGE, WIDE
from foretop.widgets.line_widgets import line_width
from foretop.widgets.paragraphs import Line, Span, signed, span
from foretop.widgets.styles import BOLD, DIM, FAINT, PLAIN, style_of
from foretop_core.config.protection import Protection
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, SCHEDULE, STORAGE
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import PauseSummary
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET, ServerFacts, ServerState
from foretop_core.rules.triage import Severity
from foretop_core.store import ContextHealth
from foretop_core.store.health import LOST
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.engine.view_scope import brief_name, short_names
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import cut, cut_end
from foretop_core.tables.text.times import TimeZoneMode

SKEWED = timedelta(seconds=5)
_GRADES = ((Severity.ERROR, StatusGlyph.BROKEN), (Severity.WARNING, StatusGlyph.LOOK))
_MOST_CLUSTERS = 3
"""More than so many are counted together."""
_MOST_BLOCKS = 6
"""More slots than this are numbers alone."""
_REASON = 24
"""Cells of the reason of a pause window, which a person has written."""
_SEEING = frozenset({WatchState.LIVE, WatchState.FORBIDDEN, WatchState.NO_NAMESPACE, WatchState.NOT_IN_ARCHIVE})
_VELERO = frozenset({SCHEDULE.name, BACKUP.name, STORAGE.name})
"""Without these kinds there is no Velero."""
_LEFT = ("context", "scope")
_RIGHT = ("pauses", "slots", "api", "velero", "read_only", "production", "skew", "speed")
_FIRST = (
    *(("velero", 1), ("scope", 1), ("context", 1), ("pauses", 1), ("slots", 1), ("scope", 2), ("velero", 3)),
    *(("production", 1), ("pauses", 2)),
)
_SLOTS, _SPEED = (("slots", 2), ("slots", 3)), (("speed", 1),)
_THEN = (
    *(("skew", 1), ("api", 1), ("api", 2), ("context", 2), ("pauses", 3), ("scope", 3)),
    *(("production", 2), ("context", 3), ("read_only", 1), ("api", 3)),
)
_LAST = (
    *(("pauses", 4), ("context", 4), ("skew", 2), ("scope", 4), ("clock", 1), ("velero", 4)),
    *(("clock", 2), ("context", 5)),
)
_YIELDING = (*_FIRST, *_SLOTS, *_SPEED, *_THEN, *_LAST)
"""Which item is shortened next to which form where there is no room for all: the least important first."""
_YIELDING_IN_A_PAUSE = (*_FIRST, *_THEN, *_SPEED, *_SLOTS, *_LAST)
"""Who has paused schedules waits for the slots to become free."""

Forms = tuple[Line, ...]
"""An item in full, then in fewer and fewer words; an empty line leaves it out."""


def status(state: DashboardState, display_options: DisplayOptions, scope: str, cells: int) -> tuple[Line, Line]:
    """The clusters, what is wrong there, how well we see and whether Velero works; and on its own the time there.

    The time is all that an idle screen writes.
    """
    if not state.contexts:
        return (Span(" foretop", BOLD), span("   no context to look at")), ()
    gap = 3 if cells >= WIDE else 2
    speed = display_options.speed
    clusters = state.source.clusters
    origins = state.origins(_looked_at(state))
    protections = {name: clusters[name].client.protection for name in _looked_at(state) if name in clusters}
    is_read_only = display_options.read_only or any(protection.read_only for protection in protections.values())
    items = {
        "context": _clusters(state),
        "scope": _scope(scope, narrowed=bool(state.focus.namespace or state.source.namespaces)),
        "pauses": _pauses(state),
        "slots": _slots(state, display_options.ascii),
        "api": _api(state),
        "velero": _velero(state),
        "read_only": _read_only(origins) if is_read_only else ((),),
        "production": ((),) if is_read_only else _production(protections),
        "speed": tuple((span(text, Tone.RUNNING),) for text in (f"demo ×{speed:g}", f"×{speed:g}"))
        if speed != 1.0
        else ((),),
        "skew": ((),) if speed != 1.0 else _skew(state),
        "clock": _time_there(state),
    }
    in_a_pause = any(state.pauses(context).windows for context in _looked_at(state))
    shown = fitted(items, cells, gap, _YIELDING_IN_A_PAUSE if in_a_pause else _YIELDING)
    left = _joined([shown[name] for name in _LEFT], gap)
    right = _joined([shown[name] for name in _RIGHT], gap)
    time = (Span(" " * gap), *shown["clock"], Span(" ")) if shown["clock"] else ()
    space = max(1, cells - 1 - line_width(left) - line_width(right) - (line_width(time) or 1))
    return (Span(" "), *left, Span(" " * space), *right), time


def fitted(items: Mapping[str, Forms], cells: int, gap: int, yielding: Sequence[tuple[str, int]]) -> dict[str, Line]:
    """Each item in the longest form for which there is room; the least important ones yield first.

    A narrow terminal begins with short forms, so that the line does not change with every number in it. Room that the
    last one to yield has left goes back to the most important of those that have yielded before.
    """
    begun = () if cells >= HUGE else ("scope",) if cells >= WIDE else ("context", "scope", "velero", "pauses", "slots")
    forms = {name: min(name in begun, len(items[name]) - 1) for name in items}
    yielded: list[tuple[str, int]] = []

    def fits(**tried: int) -> bool:
        sizes = [size for name, form in (forms | tried).items() if (size := line_width(items[name][form]))]
        return sum(sizes) + gap * (len(sizes) - 1) + 2 <= cells

    for name, form in yielding:
        if fits():
            break
        yielded.append((name, forms[name]))
        forms[name] = max(forms[name], min(form, len(items[name]) - 1))
    for name, before in reversed(yielded):
        if fits(**{name: before}):
            forms[name] = before
    return {name: items[name][form] for name, form in forms.items()}


def _joined(items: Sequence[Line], gap: int) -> Line:
    joined: list[Span] = []
    for item in items:
        if item:
            joined += [Span(" " * gap), *item] if joined else item
    return tuple(joined)


def _clusters(state: DashboardState) -> Forms:
    """Each cluster with what is wrong in it; its name and its counts are shortened, never left out."""
    contexts = _looked_at(state)
    if len(contexts) > _MOST_CLUSTERS:
        return (_all_clusters(state),)
    standings = {context: _standing(state, context) for context in contexts}
    full = {context: span(context).text for context in contexts}
    brief = {context: brief_name(name) for context, name in full.items()}
    parts = short_names(brief.values())
    short = {context: parts[name] for context, name in brief.items()}
    forms = [_named(names, standings) for names in (full, brief)]
    if len(contexts) > 1:
        return (*forms, _named(short, standings), _named(short, standings, brief=True), _all_clusters(state))
    cuts = [{context: cut(name, cells) for context, name in brief.items()} for cells in (20, 12)]
    return (*forms, _named(cuts[0], standings), *(_named(names, standings, brief=True) for names in cuts))


def _named(names: Mapping[str, str], found: Mapping[str, tuple[Line, Line]], *, brief: bool = False) -> Line:
    pieces: list[Span] = []
    for context, name in names.items():
        pieces += [Span(" · ", DIM)] if pieces else []
        pieces += [Span(name, BOLD), Span(" "), *found[context][brief]]
    return tuple(pieces)


def _all_clusters(state: DashboardState) -> Line:
    counts = _counts(state.severities()) or _calm(state, _looked_at(state))
    return (Span(f"{len(_looked_at(state))} clusters", BOLD), Span(" "), *counts)


def _standing(state: DashboardState, context: str) -> tuple[Line, Line]:
    """The number of findings, or the sign that there are none; why nothing new comes in, where that is so.

    The second form is the shorter one.
    """
    health = state.health(context)
    if health.lost_at is None:
        counts = _counts(state.severities(context)) or _calm(state, (context,))
        return counts, counts
    why = health.state.value if health.state is WatchState.SIGNED_OUT else "unreachable"
    age = f", seen {times.age(health.lost_at, state.clock(context))} ago" if state.store.revision(context) else ""
    lost = f"{StatusGlyph.BROKEN.value} {why}"
    return (signed(f"{lost}{age}", Tone.BAD),), (signed(lost, Tone.BAD),)


def _counts(found: Mapping[Severity, int]) -> Line:
    counted = [(mark, found[grade]) for grade, mark in _GRADES if found[grade]]
    return tuple(
        Span(f"{' ' if place else ''}{mark.value}{count}", style_of(mark.tone))
        for place, (mark, count) in enumerate(counted)
    )


def _calm(state: DashboardState, contexts: Sequence[str]) -> Line:
    """The sign of a cluster without errors and warnings: good only where everything was seen and judged."""
    if not all(map(state.was_judged, contexts)):
        mark = StatusGlyph.RUNNING
    else:
        mark = StatusGlyph.WAITING if any(gap.context in contexts for gap in state.unseen) else StatusGlyph.HEALTHY
    return (Span(mark.value, style_of(mark.tone)),)


def _scope(scope: str, *, narrowed: bool) -> Forms:
    text = span(scope).text
    short = text.replace("namespaces", "ns").replace("namespace", "ns")
    texts = (text, short, short, cut_end(short, 12), "") if narrowed else (text, short, "")
    return tuple((Span(text),) if text else () for text in texts)


def _api(state: DashboardState) -> Forms:
    """The connection; one that is well needs no word."""
    boards = {context: state.health(context) for context in _looked_at(state)}
    unreached = frozenset(context for context in boards if not state.store.revision(context))
    mark, words = status_line(boards, state.clock(state.focus.context), unreached)
    if mark is StatusGlyph.HEALTHY:
        well = () if state.origins(_looked_at(state)) else _labelled("API", (mark, ""))
        return well, well, well, ()
    if len(boards) == 1 and not unreached and any(health.lost_at for health in boards.values()):
        # Since when it is lost stands beside the name of the cluster.
        words = words.partition(", ")[2] or words
    brief = words.partition(",")[0].removesuffix(" live")
    # A number would not tell which.
    lost = [name for name, health in boards.items() if health.state in LOST]
    unseen = lost or [name for name, health in boards.items() if health.state not in _SEEING]
    names = [cut(span(name).text, 20) for name in unseen]
    if len(boards) > 1 and names:
        words, brief = humanize.join(names, 2), f"{names[0]} +{len(names) - 1}" if len(names) > 1 else names[0]
    label = "archive" if state.origins(boards) else "API"
    return tuple(_labelled(label, (mark, word)) for word in (words.removesuffix(" live"), brief, ""))


def _read_only(origins: Sequence[str]) -> Forms:
    """Nothing can be written; where an archive is why, it says of when it is."""
    if not origins:
        return (Span("READ-ONLY", BOLD),), (Span("RO", BOLD),)
    full = span(origins[0].upper() if len(origins) == 1 else f"{len(origins)} ARCHIVES", bold=True)
    return (full,), (Span("ARCHIVE", BOLD),)


def _pauses(state: DashboardState) -> Forms:
    """Schedules that are paused and overdue, windows that should have ended, and open ones with their ends."""
    pauses = [(context, state.pauses(context)) for context in _looked_at(state)]
    late = _overdue(pauses)
    shown = [forms for forms in (late, _ended(pauses), _windows(state, pauses, is_counted=bool(late))) if forms]
    if not shown:
        return ((),)
    return (*(_joined([forms[place] for forms in shown], 2) for place in range(4)), shown[0][4])


def _overdue(found: Sequence[tuple[str, PauseSummary]]) -> Forms:
    """Pauses that are overdue though no window tells of them, of all that are in none."""
    total, without, late = (
        sum(getattr(pauses, name) for _, pauses in found) for name in ("total", "without_window", "outside")
    )
    mark = StatusGlyph.PAUSED.value
    if not late:
        return ()
    # One that is overdue may be in a window without an end.
    paused = max(without, late)
    texts = f"{mark} {paused} of {total} paused, {late} overdue", f"{mark} {paused} paused, {late} overdue"
    brief = f"{mark} {late} overdue"
    return tuple((signed(text, Tone.WARN),) for text in (*texts, brief, brief, f"{mark}{late}"))


def _ended(found: Sequence[tuple[str, PauseSummary]]) -> Forms:
    """Windows that should have ended, and how long ago."""
    over = [(pauses.overrun, pauses.in_overrun) for _, pauses in found if pauses.overrun is not None]
    if not over:
        return ()
    mark = StatusGlyph.PAUSED.value
    longest, many = times.short(max(by for by, _ in over)), sum(count for _, count in over)
    full = f"{mark} {many} paused, {longest} past the end"
    brief = f"{mark} {many} paused, {longest} over"
    return tuple((signed(text, Tone.WARN),) for text in (full, brief, brief, brief, f"{mark}{many}"))


def _windows(state: DashboardState, found: Sequence[tuple[str, PauseSummary]], *, is_counted: bool) -> Forms:
    """The pause windows that are open: how many schedules they hold, until when and why.

    Where all that is paused is counted already, windows without an end and a reason have no more to say.
    """
    windows = [(context, window) for context, pauses in found for window in pauses.windows]
    if not windows:
        return ()
    many = sum(len(window.schedules) for _, window in windows)
    ends = [(window.pause.until, context) for context, window in windows if window.pause.until is not None]
    until = _end(state, *min(ends)) if ends else ""
    if is_counted and not until and not any(window.pause.why for _, window in windows):
        return ()
    mark, waits = StatusGlyph.PAUSED.value, sum(pauses.due_in_windows for _, pauses in found)
    due = f", {waits} due" if waits else ""
    # Nothing resumes by itself: `until` would read so.
    end = "" if not until else f"first to resume {until}" if len(windows) > 1 else f"to resume {until}"
    then, brief = f", {end}" if end else "", f"{many} paused"
    if len(windows) > 1:
        full = f"{len(windows)} windows, {brief}"
    else:
        why = cut_end(span(windows[0][1].pause.why).text, _REASON)
        full = f"{f'{why}: ' if why else ''}{brief}"
    style = style_of(Tone.PAUSED) + BOLD
    texts = f"{full}{due}{then}", f"{brief}{due}{then}", f"{brief}{then}", brief, f"{many}"
    return tuple((Span(f"{mark} {text}", style),) for text in texts)


def _end(state: DashboardState, until: datetime, context: str) -> str:
    """`04:30`, and with its day where that is another."""
    now, zone = state.now(context), state.zone
    if until.astimezone(zone).date() == now.astimezone(zone).date():
        return times.minute(until, zone, named=state.zoning.is_named)
    return times.time_of_day(until, now, zone, named=state.zoning.is_named)


def _slots(state: DashboardState, ascii: bool) -> Forms:
    """How many backups Velero works on, of how many at a time; a question mark for a cluster that is not seen."""
    used: list[tuple[int, int] | None] = []
    for context in _looked_at(state):
        if state.health(context).lost_at is not None:
            used.append(None)
            continue
        servers = _servers(state, context).servers
        used += [(server.busy, server.slots) for server in servers if server.slots is not None]
    if not any(used):
        return ((),)
    numbers: list[Span] = []
    for pair in used:
        numbers += [Span(" · ", DIM)] if numbers else []
        numbers += [Span(f"{pair[0]}", style_of(Tone.RUNNING)), Span(f"/{pair[1]}")] if pair else [Span("?", DIM)]
    if len(used) > _MOST_CLUSTERS:
        pairs = [pair for pair in used if pair]
        numbers = [Span(f"{sum(pair[0] for pair in pairs)}", style_of(Tone.RUNNING))]
        numbers.append(Span(f"/{sum(pair[1] for pair in pairs)}"))
    brief = (Span("slots "), *numbers)
    if len(used) > 1:
        return brief, brief, tuple(numbers), ()
    busy, limit = used[0] or (0, 0)
    if limit > _MOST_BLOCKS or busy > limit:
        return brief, brief, ()
    taken, free = ("#", ".") if ascii else ("█", "▁")
    blocks = (Span(taken * busy, style_of(Tone.RUNNING)), Span(free * (limit - busy), FAINT), Span(" "))
    return (Span("slots "), *blocks, *numbers), brief, ()


def _velero(state: DashboardState) -> Forms:
    contexts = _looked_at(state)
    clusters = [_servers(state, context) for context in contexts]
    versions = {server.version for cluster in clusters for server in cluster.servers if server.version}
    release = " ".join([".".join(span(text).text.split(".")[:2]) for text in versions]) if len(versions) == 1 else ""
    velero = velero_status(clusters)
    if velero is None:
        return ((Span(f"Velero {release}"),), ()) if release else ((),)
    label = (velero[0], "") if velero[0] is StatusGlyph.HEALTHY else velero
    full, brief = _labelled(f"Velero {release}".strip(), label), _labelled("Velero", label)
    alone = _labelled("Velero", (velero[0], ""))
    return (full, brief, brief, brief, alone) if velero[0] is StatusGlyph.BROKEN else (full, brief, alone, ())


def _production(protections: Mapping[str, Protection]) -> Forms:
    """The sign that a name is to be typed before a write; where another context protects the cluster, whose."""
    asked = {name: protection for name, protection in protections.items() if protection.name}
    if not asked:
        return ((),)
    doubt = "?" if all(protection.in_doubt for protection in asked.values()) else ""
    others = ", ".join(dict.fromkeys(protection.name for name, protection in asked.items() if protection.name != name))
    texts = (f"PRODUCTION{doubt} ({cut(others, 20)})" if others else f"PRODUCTION{doubt}", f"PRODUCTION{doubt}", "PROD")
    return tuple((span(text, Tone.WARN),) for text in texts)


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


def _skew(state: DashboardState) -> Forms:
    skews = [skew for context in state.contexts if (skew := state.source.skew(context)) is not None]
    worst = max(skews, key=abs, default=timedelta())
    if abs(worst) <= SKEWED:
        return ((),)
    offset = f"{times.short(abs(worst))} {'slow' if worst > timedelta() else 'fast'}"
    return (span(f"local clock {offset}", Tone.WARN),), (span(f"clock {offset}", Tone.WARN),), ()


def _time_there(state: DashboardState) -> Forms:
    others = " cron" if state.zoning.told is TimeZoneMode.EXPRESSION else ""
    now = state.clock().astimezone(state.zone)
    return (Span(f"{clock(now)}{others}", PLAIN),), (Span(f"{now:%H:%M:%S}", PLAIN),), ()


def clock(at: datetime) -> str:
    """`02:41:07Z`, or with the name of the zone."""
    return f"{at:%H:%M:%S}{humanize.zone_name(at)}"


# The connection and the servers, in a few words


def status_line(
    contexts: Mapping[str, ContextHealth], now: datetime, unreached: frozenset[str] = frozenset()
) -> StatusLabel:
    """One cluster in its own words; of several, how many are seen as they are now.

    Of the `unreached` ones nothing was ever seen.
    """
    if len(contexts) == 1:
        name, health = next(iter(contexts.items()))
        return one_context(health, now, reached=name not in unreached)
    live = sum(health.state in _SEEING for health in contexts.values())
    mark = StatusGlyph.HEALTHY if live == len(contexts) else StatusGlyph.LOOK
    if any(health.state in LOST for health in contexts.values()):
        mark = StatusGlyph.BROKEN
    return mark, f"{live} of {len(contexts)} live"


def one_context(health: ContextHealth, now: datetime, *, reached: bool) -> StatusLabel:
    match health.state:
        case WatchState.LIVE | WatchState.NOT_INSTALLED:
            return StatusGlyph.HEALTHY, "live"
        case WatchState.SYNCING:
            return StatusGlyph.RUNNING, f"syncing {health.synced}/{health.watches}"
        case WatchState.STALE:
            since = f"stale {times.age(health.since, now)}" if reached else "cannot connect"
            if health.retry_at is None:
                return StatusGlyph.LOOK, since
            waits = int((health.retry_at - now).total_seconds()) > 0
            return (
                StatusGlyph.LOOK,
                f"{since}, again {times.until(health.retry_at - now)}" if waits else f"{since}, trying",
            )
        case WatchState.FORBIDDEN:
            kinds = len(health.forbidden)
            return StatusGlyph.LOOK, f"{kinds} kind{'' if kinds == 1 else 's'} not allowed"
        case WatchState.NOT_IN_ARCHIVE:
            kinds = len(health.not_in_archive)
            return StatusGlyph.UNSET, f"{kinds} kind{'' if kinds == 1 else 's'} not in it" if kinds else "whole"
        case WatchState.NO_NAMESPACE | WatchState.SIGNED_OUT:
            return StatusGlyph.LOOK, health.state.value
    assert_never(health.state)


class VeleroServers(msgspec.Struct, frozen=True):
    """The Velero servers of one cluster, as far as the cluster shows them."""

    health: ContextHealth
    servers: Sequence[ServerFacts]


def velero_status(clusters: Sequence[VeleroServers]) -> StatusLabel | None:
    """The state of Velero, told by its own traces; None where nobody can tell."""
    followed = [
        cluster for cluster in clusters if not (cluster.health.state in LOST and cluster.health.lost_at is not None)
    ]
    missing = [cluster for cluster in followed if set(cluster.health.not_installed) >= _VELERO]
    if followed and len(missing) == len(followed) == len(clusters):
        return StatusGlyph.BROKEN, "not installed"
    servers = [server for cluster in followed if STORAGE.name not in cluster.health.stale for server in cluster.servers]
    silent = [(server.silent_for, server.word) for server in servers if server.silent_for is not None]
    if silent:
        some = f"{len(silent)} of {len(servers)} " if len(servers) > 1 else ""
        longest, word = max(silent)
        return StatusGlyph.BROKEN, f"{some}{word} {times.short(longest)}"
    if any(cluster.health.state is WatchState.SYNCING for cluster in followed):
        return StatusGlyph.UNSET, NOT_KNOWN_YET
    if not_judged := [server for server in servers if server.judged_at is not None]:
        return StatusGlyph.UNSET, not_judged[0].word
    if any(server.state is ServerState.ACTIVE for server in servers):
        return StatusGlyph.HEALTHY, ServerState.ACTIVE.value
    if servers:
        return StatusGlyph.UNSET, servers[0].word
    unseen = any(STORAGE.name in (*cluster.health.forbidden, *cluster.health.stale) for cluster in followed)
    return (StatusGlyph.UNSET, "not found") if followed and not unseen else None
