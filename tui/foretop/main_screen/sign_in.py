"""Interactive sign-in: the screen is suspended while the exec plugin prompts in the terminal."""

from __future__ import annotations

from typing import Any

from textual.app import App, SuspendNotSupported

from foretop.bindings import key_name
from foretop.terminal.job_control import plain_terminal
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import ForetopError
from foretop_core.tables.text.terminal_text import clean


def sign_in(app: App[Any], state: DashboardState, context: str) -> None:
    """Nothing else happens meanwhile: the terminal is the plugin's."""
    try:
        with plain_terminal(app):
            print(f"Signing in to {clean(context)}; ctrl+c cancels", flush=True)
            state.source.sign_in(context)
    except SuspendNotSupported:
        app.notify(
            f"This terminal cannot suspend the screen: sign in from another terminal, then press {key_name('relist')}",
            severity="warning",
        )
    except (ForetopError, OSError) as problem:
        app.notify(f"Not signed in to {context}: {problem}", severity="error")
    else:
        app.notify(f"Signed in to {context}")
    app.refresh()
