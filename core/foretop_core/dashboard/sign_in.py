"""Which clusters wait for a person to sign in, and can ask one."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState


@runtime_checkable
class SignIn(Protocol):
    """A source whose clusters may ask who we are."""

    def can_sign_in(self, context: str) -> bool: ...

    def sign_in(self, context: str) -> None: ...


def signed_out(state: DashboardState) -> tuple[str, ...]:
    """The clusters that wait for a person, and whose plugin can ask one."""
    source = state.source
    if not isinstance(source, SignIn):
        return ()
    waiting = (name for name in state.contexts if state.health(name).state is WatchState.SIGNED_OUT)
    return tuple(name for name in waiting if source.can_sign_in(name))
