"""Suspend and resume: SIGCONT restarts the screen only after a suspend.

A shell, tmux and a terminal that hangs up also send SIGCONT to a program that was never suspended. Textual would then
start a second input thread, which outlives the screen and spins on a terminal that is gone.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType


def resume_only_after_suspend(redraw: Callable[[], object]) -> None:
    """Wraps the handlers of Textual's driver; a SIGCONT without a suspend only draws the screen again."""
    if not hasattr(signal, "SIGTSTP"):
        return
    suspend, resume = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
    if not callable(suspend) or not callable(resume):
        return
    suspended = False

    def on_suspend(number: int, frame: FrameType | None) -> None:
        nonlocal suspended
        suspended = True
        suspend(number, frame)

    def on_resume(number: int, frame: FrameType | None) -> None:
        nonlocal suspended
        if suspended:
            suspended = False
            resume(number, frame)
        else:
            redraw()

    signal.signal(signal.SIGTSTP, on_suspend)
    signal.signal(signal.SIGCONT, on_resume)
