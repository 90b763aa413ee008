"""Starts the screen, and leaves the terminal as it was found, however the screen ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping

from foretop.app import Dashboard
from foretop.terminal.probe import TerminalProbe, ask_width, is_ssh, needs_ascii
from foretop.terminal.textual_internals import end_anyway
from foretop_core.config.live_config import LiveConfig
from foretop_core.dashboard.session_protocol import ClusterSession, DisplayOptions

_START = 3.0
"""Seconds until the garbage collector is enabled; by then the modules are loaded and, unless the cluster is slow or
large, the first rows are there. A fixed time, so that a cluster that never answers does not leave it off."""
COLLECTED = 20_000, 5, 40
"""So many new objects before the collector looks at them, so many such looks before one at what those left, and so
many of those before one at everything: all threads stand still meanwhile, 5 ms, 25 ms and a tenth of a second where ten
thousand backups wait, the last about once a minute. What is made for each object is in no circle, and goes without."""
_SWITCH = 0.0005
"""Seconds for which a thread beside the event loop keeps the interpreter from it; a tenth of what Python has."""
_GRACE = 5.0
"""Seconds in which a screen ends that was asked to; a terminal that takes no output would hold it for ever."""


def detect_display(
    environ: Mapping[str, str],
    *,
    ascii: bool = False,
    calm: bool = False,
    flash: bool = False,
    mouse: bool = False,
    read_only: bool = False,
    speed: float = 1.0,
    page: str = "triage",
) -> DisplayOptions:
    """Puts together the flags and what the terminal can do; it is asked only where there is one."""
    plain = ascii or needs_ascii(environ, sys.stdout.encoding)
    heard = TerminalProbe() if plain else ask_width()
    lit = flash or not (calm or is_ssh(environ))
    return DisplayOptions(plain or heard.wide, lit and not calm, mouse, read_only, speed, page, heard.typed)


def run_dashboard(
    open_source: Callable[[], ClusterSession],
    display_options: DisplayOptions,
    config: LiveConfig,
    progress: Callable[[], str],
) -> int:
    """Runs until the person leaves; the exit code is that of the command line."""
    app = Dashboard(open_source, display_options, config, progress)
    answer = asyncio.run(_run(app, display_options))
    if os.name == "posix" and answer == 128 + signal.SIGHUP:
        _let_the_terminal_go()
    return answer if isinstance(answer, int) else app.return_code or 0


async def _run(app: Dashboard, display_options: DisplayOptions) -> int | None:
    """A polite kill and a lost terminal end the screen as a key would."""
    loop = asyncio.get_running_loop()
    loop.call_later(_START, _collect)
    sys.setswitchinterval(_SWITCH)
    ended = threading.Event()

    def end(number: int, _frame: object) -> None:
        """A loop that waits for a terminal which does not read hears nothing, but this is called all the same."""
        threading.Thread(target=end_anyway, args=(app, ended, _GRACE, 128 + number), daemon=True).start()
        loop.call_soon_threadsafe(app.exit, 128 + number)

    ends = (signal.SIGTERM, signal.SIGHUP) if os.name == "posix" else ()
    before = {number: signal.signal(number, end) for number in ends}
    try:
        return await app.run_async(mouse=display_options.mouse)
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def _collect() -> None:
    """Begins to collect; what is there by now, the modules before all, is never looked at again."""
    gc.freeze()
    gc.set_threshold(*COLLECTED)
    gc.enable()


def _let_the_terminal_go() -> None:
    """Sends the rest of the output nowhere: a flush that fails at the end would change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
