"""The terminal's signals: suspend, resume and a new size, and the terminal lent to another program.

SIGCONT restarts the screen only after a suspend. A shell, tmux and a terminal that hangs up also send SIGCONT to a
program that was never suspended. Textual would then start a second input thread, which outlives the screen and spins
on a terminal that is gone.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from textual.app import App


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


def resize_in_the_loop() -> None:
    """Wraps the handler that Textual's driver sets each time it starts: many signals, one look at the size.

    Textual looks from inside the signal's handler. A window that is dragged sends the next signal before that is
    through, and handler upon handler the stack would overflow.
    """
    resize = getattr(signal, "SIGWINCH", None)
    look = signal.getsignal(resize) if resize is not None else None
    if resize is None or not callable(look):
        return
    loop, is_due = asyncio.get_running_loop(), False

    def on_loop() -> None:
        nonlocal is_due
        is_due = False
        look(resize, None)

    def on_resize(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_due
        if not is_due:
            is_due = True
            loop.call_soon_threadsafe(on_loop)

    signal.signal(resize, on_resize)


@contextmanager
def plain_terminal(app: App[Any]) -> Iterator[None]:
    """Nothing else happens meanwhile; raises SuspendNotSupported where the terminal cannot be lent."""
    with app.suspend(), signals_left_to_the_child():
        yield


@contextmanager
def signals_left_to_the_child() -> Iterator[None]:
    """ctrl+c and ctrl+z reach both: the child acts on them, and the screen is not brought back over it.

    A handler, unlike ignoring, is not passed on to the child.
    """
    before = {number: signal.signal(number, _leave) for number in (signal.SIGINT, signal.SIGCONT)}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(_number: int, _frame: FrameType | None) -> None:
    """The child has it."""
