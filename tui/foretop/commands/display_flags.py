"""Starts the dashboard; the screen is imported here, and only when it is wanted."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from foretop_core.dashboard.cluster_session import ClusterSession
from foretop_core.kube.connection.config import SessionOptions

# Deferred imports: the screen is painted before the session is loaded.

_OPTIONS = (
    click.option("--ascii", "ascii_only", is_flag=True, help="Use ASCII characters only."),
    click.option("--calm", is_flag=True, help="Do not flash changed cells (the default over SSH)."),
    click.option("--flash", is_flag=True, help="Flash changed cells, even over SSH."),
    click.option("--mouse", is_flag=True, help="Enable the mouse; this disables the terminal's own selection."),
)
_NAMES = ("ascii_only", "calm", "flash", "mouse")
_SELDOM = 50_000
"""So many new objects before the collector looks: what is made here stays, first the modules and then the cluster's."""


@dataclass(frozen=True, slots=True)
class DisplayFlags:
    """The flags of the screen, as given."""

    ascii_only: bool = False
    calm: bool = False
    flash: bool = False
    mouse: bool = False


def screen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which is handed `tastes`: those given before it as well as its own."""

    @functools.wraps(command)
    def with_tastes(*arguments: Any, **options: Any) -> Any:
        context = click.get_current_context()
        before: DisplayFlags = context.meta.get(__name__, DisplayFlags())
        given = {name: options.pop(name) or getattr(before, name) for name in _NAMES}
        display_flags = context.meta[__name__] = DisplayFlags(**given)
        return command(*arguments, display_flags=display_flags, **options)

    for option in reversed(_OPTIONS):
        with_tastes = option(with_tastes)
    return with_tastes


def has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def show_dashboard(
    open_source: Callable[[], ClusterSession],
    display_flags: DisplayFlags,
    *,
    read_only: bool = False,
    speed: float = 1.0,
) -> int:
    """Runs the dashboard to its end."""
    gc.set_threshold(_SELDOM)
    from foretop.startup import detect_display, run_dashboard

    display_options = detect_display(
        os.environ,
        ascii=display_flags.ascii_only,
        calm=display_flags.calm,
        flash=display_flags.flash,
        mouse=display_flags.mouse,
        read_only=read_only,
        speed=speed,
    )
    return run_dashboard(open_source, display_options)


def watch_clusters(session_options: SessionOptions, display_flags: DisplayFlags) -> int:
    def open_source() -> ClusterSession:
        from foretop_core.session import open_session

        return open_session(replace(session_options, with_velero=True), os.environ)

    return show_dashboard(open_source, display_flags, read_only=session_options.read_only)
