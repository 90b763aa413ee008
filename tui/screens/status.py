"""The words of the frame: status line, tabs and footer, as spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from rich.style import Style

from core.errors import ForetopError
from core.rules.triage import Severity
from core.view.marks import Mark, Tone
from core.view.status import status_line
from core.view.text import cut, width
from tui.desk import Desk
from tui.prose import Line, Span, span
from tui.registry import Action
from tui.screens.pages import Tab
from tui.source import Looks
from tui.tones import BOLD, CURSOR, DIM, PLAIN, style_of

SKEWED = timedelta(seconds=5)
_GRADES = ((Severity.ERROR, Mark.BROKEN), (Severity.WARNING, Mark.LOOK))


def status(desk: Desk | None, looks: Looks, scope: str, cells: int) -> Line:
    """Where we look, how well we see, what is wrong, and the time there."""
    if desk is None or not desk.contexts:
        return (Span(" foretop", BOLD), span("   connecting"))
    right = [*_health(desk), *_gravest(desk), *_badges(desk, looks)]
    room = cells - sum(width(piece.text) for piece in right) - 1
    left = _left(desk, scope, room)
    gap = max(1, cells - sum(width(piece.text) for piece in (*left, *right)))
    return (*left, Span(" " * gap), *right)


def cannot_start(trouble: ForetopError, cells: int) -> Line:
    """What keeps foretop from a cluster; the page below has it whole."""
    mark = Mark.LOOK
    said = span(f"{mark.value} {trouble.what}", mark.tone)
    return (Span(" foretop   ", BOLD), Span(cut(said.text, max(10, cells - 12)), said.style))


def _left(desk: Desk, scope: str, room: int) -> list[Span]:
    """The context in full before the scope in full: which cluster it is matters most."""
    name = span(desk.contexts[0] if len(desk.contexts) == 1 else f"{len(desk.contexts)} contexts").text
    where = span(scope).text
    if width(name) + width(where) + 4 > room:
        where = where.replace("namespaces", "ns").replace("namespace", "ns")
    shown = cut(name, max(8, room - min(width(where), 8) - 4))
    left = room - width(shown) - 4
    return [Span(f" {shown}", BOLD), Span(f"   {cut(where, left)}" if left > 3 else "")]


def _health(desk: Desk) -> list[Span]:
    versions = sorted(
        {
            server.version
            for context in desk.contexts
            for server in desk.store.world(context).servers.values()
            if server.version
        }
    )
    release = ".".join(span(versions[0]).text.split(".")[:2]) if len(versions) == 1 else ""
    shown = f"Velero {release} " if release else "Velero " if len(desk.contexts) == 1 else ""
    boards = {context: desk.store.health.context(context) for context in desk.contexts}
    mark, words = status_line(boards, desk.now())
    return [Span(shown), Span(f"{mark.value} ", style_of(mark.tone)), Span(cut(words, 40), style_of(mark.tone))]


def _gravest(desk: Desk) -> list[Span]:
    counts = desk.severities()
    return [
        Span(f"   {mark.value}{counts[grade]}" if not place else f" {mark.value}{counts[grade]}", style_of(mark.tone))
        for place, (grade, mark) in enumerate(pair for pair in _GRADES if counts[pair[0]])
    ]


def _badges(desk: Desk, looks: Looks) -> list[Span]:
    shown: list[Span] = []
    if looks.read_only:
        shown.append(Span("   READ-ONLY", BOLD))
    skews = [skew for context in desk.contexts if (skew := desk.source.skew(context)) is not None]
    worst = max(skews, key=abs, default=timedelta())
    if looks.speed != 1.0:
        shown.append(Span(f"   demo ×{looks.speed:g}", style_of(Tone.RUNNING)))
    elif abs(worst) > SKEWED:
        shown.append(Span(f"   skew {worst.total_seconds():+.0f}s", style_of(Tone.WARN)))
    return shown


def time_there(desk: Desk | None) -> Line:
    """On its own, for it is all that an idle screen writes."""
    return () if desk is None or not desk.contexts else (Span(f"   {clock(desk.now().astimezone(desk.zone))} "),)


def clock(at: datetime) -> str:
    """`02:41:07Z`, or with the name of the zone."""
    zone = "Z" if not at.utcoffset() else f" {at:%Z}"
    return f"{at:%H:%M:%S}{zone}"


def tabs(pages: Sequence[Tab], current: str, cells: int) -> Line:
    """The tabs; short words at 80 columns."""
    long = sum(len(tab.short) + 4 for tab in pages) < cells
    pieces: list[Span] = [Span(" ")]
    for tab in pages:
        style = CURSOR + BOLD if tab.id == current else PLAIN
        pieces += [Span(f"{tab.digit}", style + BOLD), Span(f"{' ' if long else ''}{tab.short}", style)]
        pieces.append(Span("  " if long else " "))
    return tuple(pieces)


def footer(actions: Iterable[Action], cells: int) -> Line:
    """As many keys as there is room for, the important ones first."""
    pieces: list[Span] = [Span(" ")]
    used = 1
    for action in actions:
        word = action.short or action.title
        size = width(action.shown) + width(word) + 3
        if used + size > cells:
            continue
        pieces += [Span(action.shown, BOLD), Span(f" {word}  ", DIM)]
        used += size
    return tuple(pieces)


def rule(text: str, style: Style = PLAIN) -> Line:
    return (Span("─ "), Span(f"{text} ", style)) if text else ()
