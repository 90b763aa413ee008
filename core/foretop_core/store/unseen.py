"""What the rules would have needed and could not see: the reason why "nothing wrong" may not be said."""

from __future__ import annotations

from typing import assert_never

from foretop_core.kube.sink import Health, Scope, State
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, DPA, EVENT, RELEASE_HINTS, REPOSITORY, SCHEDULE, STORAGE
from foretop_core.rules.world import Unseen
from foretop_core.store.health import HealthBoard

_NOT_NEEDED = frozenset({DEPLOYMENT, DPA, EVENT, REPOSITORY, *RELEASE_HINTS})
_WITHOUT_THEM_NO_VELERO = frozenset({SCHEDULE, BACKUP, STORAGE})


def unseen(context: str, board: HealthBoard) -> tuple[Unseen, ...]:
    """One entry for each kind; or one for the whole cluster where every watch has the same trouble."""
    reasons: dict[str, list[str]] = {}
    needed = [(scope, health) for scope, health in board.watches(context) if scope.kind not in _NOT_NEEDED]
    if not needed:
        return (Unseen(context, "", State.SYNCING.value),)
    for scope, health in needed:
        if reason := _reason(scope, health):
            reasons.setdefault(scope.kind.name, []).append(reason)
    together = {reason for given in reasons.values() for reason in given}
    if len(together) == 1 and sum(map(len, reasons.values())) == len(needed) > 1:
        return (Unseen(context, "", together.pop()),)
    return tuple(Unseen(context, kind, _joined(given)) for kind, given in sorted(reasons.items()))


def _reason(scope: Scope, health: Health) -> str:
    where = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case State.LIVE:
            return ""
        case State.NOT_INSTALLED:
            return str(health.state.value) if scope.kind in _WITHOUT_THEM_NO_VELERO else ""
        case State.FORBIDDEN:
            return f"{health.state.value}{where}"
        case State.NO_NAMESPACE:
            return f"there is no namespace {scope.namespace}"
        case State.STALE:
            return f"stale since {health.since:%H:%M:%SZ}"
        case State.SYNCING if scope.selector:
            return ""
        case State.SYNCING | State.SIGNED_OUT:
            return str(health.state.value)
    assert_never(health.state)


def _joined(reasons: list[str]) -> str:
    return ", ".join(dict.fromkeys(reasons))
