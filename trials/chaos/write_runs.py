"""Some actions of a person, each write answered in a way that a seed chooses: none is done falsely or unrecorded."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Awaitable
from pathlib import Path

import pytest
from aiohttp import web

from foretop_core.actions.plan_executor import Outcome, Result
from tests.sample_plans import WORLD
from tests.wire.action_fixtures import Answer, Wire, box_with, done, hand_in, tapped
from tests.wire.test_write_answers import ANSWERS, Tally, another_server, plans

ACTIONS = 5
_MADE = frozenset({Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN})
"""What is in the journal: the others were not sent."""


def try_writes(seed: int) -> list[str]:
    """What was lost in one run."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        try:
            return asyncio.run(_act(random.Random(seed), Path(folder), tapped(patch), seed))
        except Exception as problem:
            return [f"seed {seed}: {type(problem).__name__}: {problem}"]


async def _act(dice: random.Random, folder: Path, wire: Wire, seed: int) -> list[str]:
    lost: list[str] = []
    results: list[Result] = []
    tally = Tally()
    async with box_with(WORLD) as box, hand_in(box, folder, look_for=0.4) as executor, another_server(tally):
        for plan, wish in dice.sample(plans(executor, box), ACTIONS):
            tally.made.clear()
            used: list[str] = []

            def misbehave(
                request: web.BaseRequest, answer: Answer, used: list[str] = used
            ) -> Awaitable[web.StreamResponse]:
                used.append(dice.choice(list(ANSWERS)))
                made: Awaitable[web.StreamResponse] = ANSWERS[used[-1]](tally, request, answer)
                return made

            wire.misbehave = misbehave
            these = await done(executor, plan, wish)
            await asyncio.gather(*tally.later)
            lost += [f"seed {seed}: {plan.record}, {used}: {false}" for one in these if (false := _false(one, tally))]
            results += these
        lines = [(line.kind, line.name, line.result.partition(":")[0]) for line in executor.journal.read()]
    recorded = [
        (one.step.target.kind, one.step.target.name, one.outcome.value) for one in results if one.outcome in _MADE
    ]
    if lines != recorded:
        lost.append(f"seed {seed}: the journal has {lines} of {recorded}")
    if tally.elsewhere:
        lost.append(f"seed {seed}: sent to another server: {tally.elsewhere}")
    return lost


def _false(result: Result, tally: Tally) -> str:
    """What is said of a write and is not so."""
    made = result.step.target.name in tally.made
    if result.outcome is Outcome.DONE and not made:
        return f"{result.step.target.name} counts as done and was not made"
    if result.outcome in (Outcome.FAILED, Outcome.NOT_SENT) and made:
        return f"{result.step.target.name} counts as {result.outcome.value} and was made"
    return ""
