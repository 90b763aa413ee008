"""Starts the dashboard; the screen is imported here, and only when it is wanted."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from foretop.commands.connection import config_of
from foretop_core.config.allowed_names import BUILT_IN_THEMES, PAGE_NAMES
from foretop_core.config.config_file import read_config
from foretop_core.config.live_config import LiveConfig
from foretop_core.config.settings import PrometheusSettings
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.kube.connection.config import SessionOptions

# Deferred imports: the screen is painted before the session is loaded.

_OPTIONS = (
    click.option("--ascii", "ascii_only", is_flag=True, help="Use ASCII characters only."),
    click.option("--calm", is_flag=True, help="Do not flash changed cells (the default over SSH)."),
    click.option("--flash", is_flag=True, help="Flash changed cells, even over SSH."),
    click.option("--mouse", is_flag=True, help="Enable the mouse; this disables the terminal's own selection."),
    click.option("--page", type=click.Choice(PAGE_NAMES), help="The page to start on."),
    click.option("--bell", is_flag=True, help="Ring the terminal's bell on a new error."),
    click.option("--title", is_flag=True, help="Show the number of findings in the window title."),
    click.option(
        "--desktop", type=click.Choice(["osc9", "osc777"]), help="Send desktop notifications of new errors this way."
    ),
    click.option("--theme", metavar="NAME", help=f"Colours: {', '.join(BUILT_IN_THEMES)}, or a skin of the file."),
)
_NAMES = ("ascii_only", "calm", "flash", "mouse", "page", "theme", "bell", "title", "desktop")


class DisplayFlags(msgspec.Struct, frozen=True):
    """The flags of the screen, as given."""

    ascii_only: bool = False
    calm: bool = False
    flash: bool = False
    mouse: bool = False
    page: str = ""
    theme: str = ""
    bell: bool = False
    title: bool = False
    desktop: str = ""
    prometheus: PrometheusSettings | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that go over those of the configuration file."""
        notify = {"notify.bell": self.bell, "notify.title": self.title, "notify.desktop": self.desktop}
        shown = {"page": self.page, "theme": self.theme, "mouse": self.mouse}
        flags = {**shown, "prometheus": self.prometheus, **notify}
        return {name: value for name, value in flags.items() if value}


def display_flags_of(context: click.Context) -> DisplayFlags:
    """The flags given so far."""
    flags: DisplayFlags = context.meta.get(__name__, DisplayFlags())
    return flags


def screen_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which gets `display_flags`: those given before it as well as its own."""

    @functools.wraps(command)
    def with_tastes(*arguments: Any, **options: Any) -> Any:
        context = click.get_current_context()
        before = display_flags_of(context)
        flags = {name: options.pop(name) or getattr(before, name) for name in _NAMES}
        _check_theme(flags["theme"], context)
        display_flags = context.meta[__name__] = DisplayFlags(**flags)
        return command(*arguments, display_flags=display_flags, **options)

    for option in reversed(_OPTIONS):
        with_tastes = option(with_tastes)
    return with_tastes


def _check_theme(name: str, context: click.Context) -> None:
    if name and name not in BUILT_IN_THEMES:
        # Only for a name of the person's own: the built-in ones are known without the parser.
        from foretop_core.config.config_reader import theme_problem

        if problem := theme_problem(config_of(context).settings, name):
            raise click.UsageError(f"--theme: {problem}")


def has_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def show_dashboard(
    open_source: Callable[[], ClusterSession],
    display_flags: DisplayFlags,
    *,
    read_only: bool = False,
    speed: float = 1.0,
    progress: Callable[[], str] = str,
) -> int:
    """Runs the dashboard to its end; `progress` tells how far the session is that is being opened."""
    # It would look twice through all that is being loaded; `run_dashboard` enables it some seconds later.
    gc.disable()
    from foretop.startup import detect_display, run_dashboard

    context = click.get_current_context(silent=True)
    file = config_of(context) if context is not None else read_config(os.environ)
    config = LiveConfig(file, os.environ, display_flags.settings)
    display_options = detect_display(
        os.environ,
        ascii=display_flags.ascii_only,
        calm=display_flags.calm,
        flash=display_flags.flash,
        mouse=config.settings.mouse,
        read_only=read_only,
        speed=speed,
        page=config.settings.page,
    )
    return run_dashboard(open_source, display_options, config, progress)


def watch_clusters(session_options: SessionOptions, display_flags: DisplayFlags) -> int:
    told = [""]

    def note(progress: str) -> None:
        told[0] = progress

    def open_source() -> ClusterSession:
        from foretop_core.session import open_session

        return open_session(replace(session_options, with_velero=True), os.environ, progress=note)

    return show_dashboard(open_source, display_flags, read_only=session_options.read_only, progress=lambda: told[0])
