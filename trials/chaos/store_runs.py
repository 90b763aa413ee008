"""A store behind a server that misbehaves, from a seed: in the end it has what the server has."""

from __future__ import annotations

import asyncio
import random

from tests.wire.faulty_server import Script
from tests.wire.store_steps import (
    FAULTS,
    NAMES,
    SCRIPTS,
    Step,
    burst,
    catch_up,
    compact,
    delete,
    fault,
    live_through,
    misbehave,
    put,
    shuffled,
)

_STEPS = 40


def try_store(seed: int) -> list[str]:
    """What was lost in one run."""
    dice = random.Random(seed)
    try:
        asyncio.run(live_through([_step(dice) for _ in range(dice.randint(5, _STEPS))]))
    except Exception as problem:
        return [f"seed {seed}: {type(problem).__name__}: {problem}"]
    return []


def _step(dice: random.Random) -> Step:
    match dice.randrange(6):
        case 0 | 1:
            return _write(dice)
        case 2:
            return burst([_write(dice) for _ in range(dice.randint(2, 8))])
        case 3:
            return dice.choice((compact, catch_up))
        case 4:
            return fault(dice.choice(("list", "watch")), dice.choice(FAULTS))
    twisted = dice.randrange(100)
    return misbehave(dice.choice([*SCRIPTS, lambda: Script(twist=shuffled(twisted))]))


def _write(dice: random.Random) -> Step:
    name = dice.choice(NAMES)
    return delete(name) if dice.random() < 0.3 else put(name, dice.random() < 0.3)
