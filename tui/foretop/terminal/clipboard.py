"""Copying to the clipboard from a terminal, local or over SSH. Reports the methods tried."""

from __future__ import annotations

import base64
import os
import subprocess
from functools import partial
from typing import Any

from textual.app import App

from foretop.terminal.textual_internals import write_to_terminal
from foretop_core.background import in_thread
from foretop_core.foreign_text import redacted
from foretop_core.process_group import find_program
from foretop_core.tables.text.terminal_text import clean


def copy(app: App[Any], text: str) -> None:
    """OSC 52 reaches the terminal in front of the person; tmux keeps its own buffer besides.

    What is pasted into a shell must not hold control characters, so none is copied.
    """
    text = "\n".join(clean(line) for line in redacted(text).split("\n"))
    app.copy_to_clipboard(text)
    tried = "OSC 52"
    if os.environ.get("STY"):
        _through_screen(app, text)
        tried = "OSC 52, through screen"
    if os.environ.get("TMUX"):
        app.run_worker(_tell_with_tmux(app, text, tried))
    else:
        _tell(app, text, tried)


async def _tell_with_tmux(app: App[Any], text: str, tried: str) -> None:
    taken = await in_thread(partial(_to_tmux, text))
    _tell(app, text, f"{tried} and the tmux buffer" if taken else f"{tried} (tmux refused it)")


def _tell(app: App[Any], text: str, tried: str) -> None:
    first, *others = text.splitlines() or [""]
    more = f" and {len(others)} more lines" if len(others) > 1 else " and one more line" if others else ""
    app.notify(f"Copied by {tried}: {clean(first)}{more}")


def _through_screen(app: App[Any], text: str) -> None:
    """GNU screen drops OSC 52, and passes on what is wrapped for the terminal that it runs in."""
    encoded = base64.b64encode(text.encode()).decode()
    write_to_terminal(app, f"\x1bP\x1b]52;c;{encoded}\x07\x1b\\")


def _to_tmux(text: str) -> bool:
    try:
        command = [find_program("tmux", os.environ), "load-buffer", "-w", "-"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=2, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
