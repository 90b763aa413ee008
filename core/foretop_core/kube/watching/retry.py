"""Retry delays and the wait itself. Sleep and randomness are parameters, so tests need neither."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import msgspec

from foretop_core.kube.connection.list_watch_codec import LIST_LIMIT

Sleep = Callable[[float], Awaitable[None]]


class WatchTimings(msgspec.Struct, frozen=True):
    """The numbers of a watch, in seconds unless they say otherwise."""

    chunk: int = 500
    # Of the kind whose rows a person waits for: more than a screen shows, and a fifth of the bytes before the first.
    first_rows: int = 100
    watch: tuple[int, int] = (300, 600)
    # A real server's first bookmark came after 64 seconds for cron jobs, 123 for custom kinds, never for events.
    idle: float = 150.0
    # A server that has sent nothing for so long is asked whether it is there, and is to answer within so long.
    quiet: float = 10.0
    answers_within: float = 5.0
    short_watch: float = 1.0
    first_delay: float = 0.5
    longest_delay: float = 30.0
    ask_again: float = 60.0
    # All of a list: each page or byte of it may come in time, and it may not end all the same.
    list_limit: float = LIST_LIMIT
    # All else, a dozen connections, waits this long at most for the first rows of the page that is open.
    go_ahead: float = 2.0
    # A watch that was cut goes on from where it was; this long after its last list it is listed again all the same.
    list_after_cut: float = 600.0
    # Between two lists of a scope that has no watch, and of all such scopes of a cluster together.
    poll: float = 30.0
    polls_per_second: float = 20.0


class InterruptibleWait:
    """Waits for the watches of one cluster, and can be told not to."""

    def __init__(self, sleep: Sleep = asyncio.sleep, random: Random | None = None) -> None:
        self._sleep = sleep
        self._hurried = asyncio.Event()
        self.random = random or Random()

    async def wait(self, seconds: float) -> None:
        waits = {
            asyncio.ensure_future(self._sleep(seconds)),
            asyncio.ensure_future(self._hurried.wait()),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()

    def hurry(self) -> None:
        """Whoever waits goes on now: somebody has signed in, or asked for another try."""
        self._hurried.set()
        self._hurried = asyncio.Event()


class Backoff:
    """Doubles from the first delay to the longest, with jitter, until something works."""

    def __init__(self, timing: WatchTimings, random: Random) -> None:
        self._timing = timing
        self._random = random
        self._delay = timing.first_delay
        self.failures = 0

    def next(self) -> float:
        delay = min(self._delay, self._timing.longest_delay)
        self._delay = delay * 2
        self.failures += 1
        return delay * self._random.uniform(0.75, 1.25)

    def reset(self) -> None:
        self._delay = self._timing.first_delay
        self.failures = 0
