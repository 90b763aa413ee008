"""Signing in where a plugin needs a person: the screen steps aside, the plugin asks, the screen comes back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.app import SuspendNotSupported

from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.kube.watching.watch_sink import WatchState

if TYPE_CHECKING:
    from foretop.app import Dashboard


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


def sign_in(app: Dashboard, state: DashboardState, context: str) -> None:
    """Nothing else happens meanwhile: the terminal is the plugin's."""
    source = state.source
    assert isinstance(source, SignIn)
    try:
        with app.suspend(), _interrupts_left_to_the_plugin():
            print(f"Signing in to {context}; ctrl+c cancels", flush=True)
            source.sign_in(context)
    except SuspendNotSupported:
        app.notify(
            "This terminal cannot suspend the screen: sign in from another terminal, then press ctrl+r",
            severity="warning",
        )
    except (ForetopError, OSError) as problem:
        app.notify(f"Not signed in to {context}: {problem}", severity="error")
    else:
        app.notify(f"Signed in to {context}")
    app.refresh()


@contextmanager
def _interrupts_left_to_the_plugin() -> Iterator[None]:
    """ctrl+c reaches both; a handler, unlike ignoring, is not passed on to the plugin."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
