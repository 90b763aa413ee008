"""`python -m tests.agreement [--comparisons N] [--seed N]`: compares so many pairs of statements."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.agreement.comparison import Tally, situations


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.agreement")
    options.add_argument("--comparisons", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    tally, chance, began = Tally(), random.Random(asked.seed), time.monotonic()
    for _, situation in situations(asked.seed):
        tally.ask(situation, chance)
        if tally.situations % 200 == 0:
            print(f"{tally.comparisons:,} in {time.monotonic() - began:.0f} s", file=sys.stderr)
        if tally.comparisons >= asked.comparisons:
            break
    print("\n".join((*tally.table(), *tally.failures())))
    return 1 if tally.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
