"""Two people who act on one object in the same moment: each is told what became of their own write."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from foretop_core.actions.plan_executor import Outcome
from tests.objects import NOW
from tests.sample_plans import SAMPLES, WORLD
from tests.wire.action_fixtures import Wire, box_with, done, hand_in, wire

__all__ = ["wire"]


@pytest.mark.parametrize("action", SAMPLES)
async def test_one_of_two_equal_actions_is_done_and_the_other_one_is_told_so(
    action: str, tmp_path: Path, wire: Wire
) -> None:
    sample = SAMPLES[action]
    folders = [tmp_path / "anna", tmp_path / "bert"]
    for folder in folders:
        folder.mkdir()
    async with (
        box_with(WORLD) as box,
        hand_in(box, folders[0]) as anna,
        hand_in(box, folders[1]) as bert,
    ):
        snapshot = anna.snapshot()
        plan = sample.plan(snapshot, NOW)
        pairs = await asyncio.gather(done(anna, plan, sample.planner), done(bert, plan, sample.planner))
        for one, other in zip(*pairs, strict=True):
            outcomes = {one.outcome, other.outcome}
            match one.step.write.method:
                case "PATCH":
                    assert outcomes == {Outcome.DONE, Outcome.CHANGED}
                case "DELETE":
                    assert Outcome.DONE in outcomes
                    assert outcomes <= {Outcome.DONE, Outcome.CHANGED}
                case "POST":
                    named = "generateName" not in one.step.write.body["metadata"]
                    assert outcomes == ({Outcome.DONE, Outcome.FAILED} if named else {Outcome.DONE})
        for executor, results in zip((anna, bert), pairs, strict=True):
            told = [entry.result.partition(":")[0] for entry in executor.journal.read()]
            assert sorted(told) == sorted(one.outcome.value for one in results if one.outcome is not Outcome.CHANGED)


async def test_a_key_that_is_pressed_twice_writes_once_and_says_so(tmp_path: Path, wire: Wire) -> None:
    """The same plan of one person, sent again before the first answer has come."""
    sample = SAMPLES["pause"]
    async with box_with(WORLD) as box, hand_in(box, tmp_path) as executor:
        snapshot = executor.snapshot()
        plan = sample.plan(snapshot, NOW)
        wire.hold = asyncio.Event()
        both = [asyncio.create_task(done(executor, plan, sample.planner)) for _ in range(2)]
        async with asyncio.timeout(120):
            while len(wire.writes) < 2:  # noqa: ASYNC110 - the box has no event for it
                await asyncio.sleep(0.01)
        wire.hold.set()
        outcomes = sorted(result.outcome for found in await asyncio.gather(*both) for result in found)
        assert outcomes == [Outcome.CHANGED, Outcome.DONE]
