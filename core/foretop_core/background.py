"""Work beside the event loop: calls that may block, in threads, and tasks that are started again when they fail."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from foretop_core.errors import ForetopError
from foretop_core.logs import logger

T = TypeVar("T")
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""Seconds."""
_log = logger(__name__)


async def in_thread(work: Callable[[], T], limit: float | None = None) -> T:
    """The answer of a call that may block: a file, a lock, a resolver. TimeoutError after so many seconds.

    Each has a daemon thread of its own, so that one which never returns holds up neither the others nor the exit.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not answer.done():
            outcome()

    def run() -> None:
        try:
            outcome = partial(answer.set_result, work())
        except BaseException as problem:
            outcome = partial(answer.set_exception, problem)
        # The loop may have ended meanwhile: then nobody waits for it.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=run, name="foretop-blocking-call", daemon=True).start()
    async with asyncio.timeout(limit):
        return await answer


def beside(work: Callable[[], None]) -> None:
    """Does some work in a daemon thread, whose end nobody waits for."""
    threading.Thread(target=work, name="foretop-work-beside", daemon=True).start()


async def when_changed(stamp: Callable[[], object], every: float) -> AsyncGenerator[None, None]:
    """Comes at once, and again whenever `stamp` gives another answer than before.

    A thread asks every so many seconds; the event loop sleeps until something has changed.
    """
    loop, changed, ended = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def watch() -> None:
        before = stamp()
        # The loop may have ended meanwhile: then nobody waits for it.
        with suppress(RuntimeError):
            while not ended.wait(every):
                if (latest := stamp()) != before:
                    before = latest
                    loop.call_soon_threadsafe(changed.set)

    threading.Thread(target=watch, name="foretop-file-watch", daemon=True).start()
    try:
        while True:
            changed.clear()
            yield
            await changed.wait()
    finally:
        ended.set()


def is_cancelled() -> bool:
    """True if somebody has asked the running task to end.

    aiohttp raises CancelledError also in others: where a pool is closed while a name is looked up for it.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def keep_running(
    name: str,
    work: Callable[[], Awaitable[None]],
    failed: Callable[[Exception, float], None],
    wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    first: float = FIRST_DELAY,
    longest: float = LONGEST_DELAY,
) -> None:
    """Runs a task that has no end until it is cancelled: one that fails, or ends, is started again after a while.

    `failed` shows it, with the seconds until then; they double from the first delay to the longest, and begin anew
    once the task has run for longer than that.
    """
    loop, delay = asyncio.get_running_loop(), first
    while True:
        begun = loop.time()
        try:
            await work()
            problem: Exception = ForetopError(f"{name} ended", "it should not end")
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            problem = ForetopError(f"{name} was cancelled", "nobody asked for it")
        except Exception as found:
            problem = found
        if loop.time() - begun > longest:
            delay = first
        _log.error("%s failed and starts again in %.1f s", name, delay, exc_info=problem)
        failed(problem, delay)
        await wait(delay)
        delay = min(2 * delay, longest)
