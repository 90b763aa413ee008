"""`python -m tests.chaos [--objects N] [--seed S]`: mutated objects at every entry point, and what was lost."""

from __future__ import annotations

import argparse
import sys
import time

from tests.chaos.every_entry import Outcome, try_objects

EACH = 250
"""So many mutated objects stand in one cluster."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--objects", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    outcome, began, seed = Outcome(), time.monotonic(), wanted.seed
    print(f"mutated objects: {wanted.objects:,} from seed {seed}", flush=True)
    while outcome.tried < wanted.objects:
        try_objects(min(EACH, wanted.objects - outcome.tried), seed, outcome)
        seed += 1
    took = time.monotonic() - began
    print(f"tried {outcome.tried:,}, unreadable and named {outcome.unreadable:,}, in {took:.0f} s")
    print(f"escaped {len(outcome.escaped)}, caught by a guard {sum(outcome.caught.values())}, ", end="")
    print(f'"No problems" while something was not judged {outcome.false_calm}')
    for line in [*outcome.escaped[:20], *(f"{count} x {what}" for what, count in outcome.caught.most_common(20))]:
        print(f"  {line}")
    return 1 if outcome.escaped or outcome.caught or outcome.false_calm else 0


if __name__ == "__main__":
    sys.exit(main())
