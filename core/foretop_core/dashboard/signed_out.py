"""Which clusters wait for a person to sign in, and can ask one."""

from __future__ import annotations

from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState


def signed_out(state: DashboardState) -> tuple[str, ...]:
    """The clusters that wait for a person, and whose plugin can ask one."""
    waiting = (name for name in state.contexts if state.health(name).state is WatchState.SIGNED_OUT)
    return tuple(name for name in waiting if state.source.can_sign_in(name))
