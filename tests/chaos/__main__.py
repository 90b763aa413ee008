"""`python -m tests.chaos [--objects N] [--seed S]`: mutated objects at every entry point, and what was lost."""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.chaos.every_entry import Outcome, try_objects

EACH = 250
"""So many mutated objects stand in one cluster, which has a seed of its own."""


def _try(seed: int) -> Outcome:
    outcome = Outcome()
    try_objects(EACH, seed, outcome)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    seeds = range(wanted.seed, wanted.seed + -(-wanted.objects // EACH))
    print(f"mutated objects, seeds {seeds[0]} to {seeds[-1]}", flush=True)
    outcome, began = Outcome(), time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(_try, seeds):
            outcome.add(part)
    lost = len(outcome.escaped) + outcome.false_calm
    print(f"tried {outcome.tried:,} in {time.monotonic() - began:.0f} s, lost {lost}")
    print(f"  refused where they are decoded, and named: {outcome.unreadable:,}")
    print(f"  exceptions that escaped: {len(outcome.escaped)}")
    print(f"  failures that a guard caught and named: {outcome.caught.total()}")
    print(f'  "No problems" while something was not judged: {outcome.false_calm}')
    for line in [*outcome.escaped[:20], *(f"{count} x {what}" for what, count in outcome.caught.most_common(20))]:
        print(f"    {line}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
