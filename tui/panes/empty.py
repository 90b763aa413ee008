"""Why a table has no rows: still coming, not allowed and by which right, not installed, or out of reach."""

from __future__ import annotations

from collections.abc import Collection

from core.kube.sink import Health, Scope, State
from core.rules import words
from core.view.marks import Mark, Tone
from tui.desk import Desk
from tui.prose import Line, Span, span
from tui.tones import style_of


def why_empty(desk: Desk, kinds: Collection[str]) -> list[Line]:
    """One line for each kind and cluster that could not be seen; none where all was seen."""
    lines: list[Line] = []
    for context in desk.contexts:
        watches = [
            (scope, health) for scope, health in desk.store.health.watches(context) if scope.kind.plural in kinds
        ]
        if kinds and not watches:
            lines.append(_said(Mark.RUNNING, f"{_where(desk, context)}asking for {words.listed(sorted(kinds))}"))
        for scope, health in watches:
            lines += _of(desk, context, scope, health)
    return lines


def _of(desk: Desk, context: str, scope: Scope, health: Health) -> list[Line]:
    where, plural = _where(desk, context), scope.kind.plural
    group = f"{plural}.{scope.kind.group}" if scope.kind.group else plural
    place = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case State.LIVE:
            return []
        case State.SYNCING:
            of = f" of {health.expected:,}" if health.expected else ""
            return [_said(Mark.RUNNING, f"{where}syncing {plural}{place}: {health.seen:,}{of}")]
        case State.FORBIDDEN:
            right = f"the right to list and watch {group}{place} is missing"
            return [_said(Mark.LOOK, f"{where}{plural}: not allowed, {right}")]
        case State.NOT_INSTALLED:
            return [_said(Mark.UNSET, f"{where}{group} is not installed here")]
        case State.STALE | State.SIGNED_OUT:
            since = words.span(desk.now(context) - health.since)
            error = f": {health.error}" if health.error else ""
            return [_said(Mark.LOOK, f"{where}{plural}: {health.state.value} for {since}{error}")]


def _where(desk: Desk, context: str) -> str:
    return f"{context}: " if len(desk.contexts) > 1 else ""


def _said(mark: Mark, text: str) -> Line:
    return (Span(f"{mark.value} ", style_of(mark.tone)), span(text, Tone.PLAIN))
