"""Starts the dashboard; the screen is imported here, and only when it is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from core.kube.config import Wishes
from tui.source import Looks, Source


def has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def looks_of(wishes: Wishes, *, ascii_only: bool, calm: bool, flash: bool, mouse: bool) -> Looks:
    """Over SSH nothing flashes unless it is asked for: every cell that does crosses the line."""
    over_ssh = bool(os.environ.get("SSH_CONNECTION"))
    return Looks(ascii=ascii_only, flash=flash or not (calm or over_ssh), mouse=mouse, read_only=wishes.read_only)


def show(open_source: Callable[[], Source], looks: Looks) -> int:
    """Runs the dashboard to its end; what kept it from starting is one line after the terminal is as it was."""
    from tui.app import Dashboard

    app = Dashboard(open_source, looks)
    code = app.run(mouse=looks.mouse)
    if app.problem:
        from core.errors import ForetopError

        raise ForetopError(app.problem)
    return code if code is not None else app.return_code or 0


def watch_clusters(wishes: Wishes, looks: Looks) -> int:
    def open_source() -> Source:
        from core.session import open_session

        return open_session(wishes, os.environ)

    return show(open_source, looks)
