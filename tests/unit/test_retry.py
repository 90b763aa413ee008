"""Delays between tries: they double with jitter up to the longest, and start over after a success."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from foretop_core.background import keep_running
from foretop_core.kube.watching.retry import Backoff, InterruptibleWait, WatchTimings

TIMING = WatchTimings(first_delay=1.0, longest_delay=10.0)


@pytest.mark.parametrize(("failures", "delay"), [(0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (30, 10.0)])
def test_a_delay_doubles_up_to_the_longest_give_or_take_a_quarter(failures: int, delay: float) -> None:
    random, drawn = Random(1), []
    for _ in range(200):
        backoff = Backoff(TIMING, random)
        for _ in range(failures):
            backoff.next()
        drawn.append(backoff.next() / delay)
        assert backoff.failures == failures + 1
    assert 0.75 <= min(drawn) < 0.8
    assert 1.2 < max(drawn) <= 1.25


def test_after_a_success_delays_start_over() -> None:
    backoff = Backoff(TIMING, Random(1))
    assert backoff.failures == 0
    for _ in range(5):
        backoff.next()
    backoff.reset()
    assert backoff.failures == 0
    assert backoff.next() <= 1.25


def test_the_randomness_that_is_given_is_used() -> None:
    given = Random(1)
    assert InterruptibleWait(random=given).random is given
    assert 0 <= InterruptibleWait().random.random() < 1


async def test_a_task_that_ends_as_cancelled_though_nobody_cancelled_it_is_told_and_started_again() -> None:
    begun, told, goes_on = 0, [], asyncio.Event()

    async def work() -> None:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise asyncio.CancelledError
        goes_on.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(
        keep_running("watch backups", work, lambda problem, _: told.append(str(problem)), first=0.0)
    )
    await asyncio.wait([task, asyncio.ensure_future(goes_on.wait())], return_when=asyncio.FIRST_COMPLETED)
    assert (begun, told) == (2, ["watch backups was cancelled: nobody asked for it"])
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
