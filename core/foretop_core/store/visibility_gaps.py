"""The data that the rules need and cannot see: the reason not to report "no problems"."""

from __future__ import annotations

from typing import assert_never

from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import (
    BACKUP,
    DEPLOYMENT,
    DPA,
    EVENT,
    NAMESPACE,
    RELEASE_HINTS,
    REPOSITORY,
    SCHEDULE,
    STORAGE,
)
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, join_sentences, sentence
from foretop_core.rules.snapshot import VisibilityGap
from foretop_core.store.health import WatchHealthRegistry

_NOT_NEEDED = frozenset({DEPLOYMENT, DPA, EVENT, NAMESPACE, REPOSITORY, *RELEASE_HINTS})
_WITHOUT_THEM_NO_VELERO = frozenset({SCHEDULE, BACKUP, STORAGE})


def visibility_gaps(context: str, board: WatchHealthRegistry) -> tuple[VisibilityGap, ...]:
    """One entry for each kind, or one for the whole cluster if every watch fails for the same reason."""
    reasons: dict[str, list[Text]] = {}
    watches = [(scope, health) for scope, health in board.watches(context) if scope.kind is not EVENT]
    # Where somebody asks for nothing but such kinds, they are what is needed.
    needed = [(scope, health) for scope, health in watches if scope.kind not in _NOT_NEEDED] or watches
    if not needed:
        return (VisibilityGap(context, "", WatchState.SYNCING.value, is_loading=True),)
    loading = {scope.kind.name for scope, _ in needed if not scope.selector and board.is_first_list(scope)}
    for scope, health in needed:
        if reason := _reason(scope, health) or _unreadable(board.lost_lines(scope)):
            reasons.setdefault(scope.kind.name, []).append(reason)
    together = {reason for given in reasons.values() for reason in given}
    if len(together) == 1 and sum(map(len, reasons.values())) == len(needed) > 1:
        return (VisibilityGap(context, "", together.pop(), is_loading=bool(loading)),)
    return tuple(
        VisibilityGap(context, kind, _joined(given), is_loading=kind in loading)
        for kind, given in sorted(reasons.items())
    )


def _reason(scope: WatchScope, health: WatchHealth) -> Text:
    where = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case WatchState.LIVE:
            return ""
        case WatchState.NOT_INSTALLED:
            return str(health.state.value) if scope.kind in _WITHOUT_THEM_NO_VELERO else ""
        case WatchState.FORBIDDEN:
            return f"{health.state.value}{where}"
        case WatchState.NO_NAMESPACE:
            return f"namespace {scope.namespace} does not exist"
        case WatchState.STALE:
            return sentence("stale since ", health.since)
        case WatchState.SYNCING if scope.selector:
            return ""
        case WatchState.SYNCING | WatchState.SIGNED_OUT:
            return str(health.state.value)
    assert_never(health.state)


def _unreadable(lines: int) -> str:
    return f"{humanize.count(lines, 'message')} of the API server cannot be read" if lines else ""


def _joined(reasons: list[Text]) -> Text:
    return join_sentences(dict.fromkeys(reasons), ", ")
