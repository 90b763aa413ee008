"""Why a table has no rows: still coming, not allowed and by which right, not installed, or out of reach."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import assert_never

from core.errors import ForetopError
from core.kube.sink import Health, Scope, State
from core.rules import words
from core.view.marks import Mark, Tone
from tui.desk import Desk
from tui.prose import Line, Span, span
from tui.signing import signed_out
from tui.tones import BOLD, style_of

_LOST = frozenset({State.STALE, State.SIGNED_OUT})


def why_closed(trouble: ForetopError) -> list[Line]:
    """What keeps foretop from looking at any cluster, and what a person can do about it."""
    lines = [_said(Mark.LOOK, f"{trouble.what}: {trouble.why}" if trouble.why else trouble.what)]
    if trouble.hint:
        lines.append((span(f"  {trouble.hint[0].upper()}{trouble.hint[1:]}."),))
    return [*lines, (), (span("  foretop tries again every few seconds; "), Span("ctrl+r", BOLD), span(" tries now."))]


def why_empty(desk: Desk, kinds: Collection[str]) -> list[Line]:
    """What could not be seen, kind by kind, or once for a cluster out of reach; nothing where all was seen."""
    return [line for context in desk.contexts for line in why_lost(desk, context) or _of(desk, context, kinds)]


def why_lost(desk: Desk, context: str) -> list[Line]:
    """The whole cluster is out of reach, or only now coming in; nothing where some of it is seen."""
    states = {health.state for _, health in desk.store.health.watches(context)}
    health = desk.store.health.context(context)
    where = _where(desk, context)
    if not states or states == {State.SYNCING}:
        return [_said(Mark.RUNNING, f"{where}Asking the cluster what there is")]
    if not states <= _LOST or health.since is None:
        return []
    error = f": {health.error}" if health.error else ""
    said = _said(
        Mark.LOOK, f"{where}{health.state.value.capitalize()} for {_since(desk, context, health.since)}{error}"
    )
    if context in signed_out(desk):
        how: Line = (Span("  "), Span("i", BOLD), span(" signs in on the plain terminal and comes back here."))
        return [said, how]
    when = f"in {words.span(health.retry_at - desk.now(context))}" if health.retry_at else "by itself"
    return [said, (span(f"  foretop tries again {when}; "), Span("ctrl+r", BOLD), span(" tries now."))]


def _of(desk: Desk, context: str, kinds: Collection[str]) -> Iterable[Line]:
    """Watches that fare alike are told together."""
    alike: dict[str, list[str]] = {}
    marks: dict[str, Mark] = {}
    for scope, health in desk.store.health.watches(context):
        if scope.kind.plural in kinds and health.state is not State.LIVE:
            mark, text = _told(desk, scope, health)
            alike.setdefault(text, []).append(_full_name(scope))
            marks[text] = mark
    for text, names in alike.items():
        yield _said(marks[text], f"{_where(desk, context)}{text.format(words.listed(list(dict.fromkeys(names)), 6))}")
    if any(mark is not Mark.RUNNING for mark in marks.values()):
        yield (span("  foretop looks again every minute; "), Span("ctrl+r", BOLD), span(" looks now."))


def _told(desk: Desk, scope: Scope, health: Health) -> tuple[Mark, str]:
    """What is said of a kind, with a place for its name."""
    place = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case State.LIVE:
            return Mark.HEALTHY, "{} is live"
        case State.SYNCING:
            of = f" of {health.expected:,}" if health.expected else ""
            return Mark.RUNNING, f"Syncing {{}}{place}: {health.seen:,}{of}"
        case State.FORBIDDEN:
            return Mark.LOOK, f"Not allowed: you need the right to list and watch {{}}{place or ' in all namespaces'}."
        case State.NOT_INSTALLED:
            return Mark.UNSET, "Not installed in this cluster: {}."
        case State.STALE | State.SIGNED_OUT:
            error = f": {_plain(health.error)}" if health.error else ""
            since = _since(desk, scope.context, health.since)
            return Mark.LOOK, f"{{}}{place}: {health.state.value} for {since}{error}"
    assert_never(health.state)


def _since(desk: Desk, context: str, since: datetime) -> str:
    return words.span(desk.now(context) - since)


def _full_name(scope: Scope) -> str:
    return f"{scope.kind.plural}.{scope.kind.group}" if scope.kind.group else scope.kind.plural


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _where(desk: Desk, context: str) -> str:
    return f"{context}: " if len(desk.contexts) > 1 else ""


def _said(mark: Mark, text: str) -> Line:
    return (Span(f"{mark.value} ", style_of(mark.tone)), span(text, Tone.PLAIN))
