"""`python -m trials.mutants [--count N] [--seed S]`: how many changes to the core the tests notice."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue

import pytest

from trials.mutants.called_map import KEPT, ROOT, CalledMap, measure, read_map
from trials.mutants.equivalent_mutants import is_same
from trials.mutants.forked_trials import ForkedTrials
from trials.mutants.mutations import Mutant, mutants
from trials.mutants.trial import CopyOfCore, MutantFate, Tried

PARTS = ("rules", "cron", "actions", "store", "tables", "kube")
GOAL = 0.9
_CAUGHT = frozenset({MutantFate.CAUGHT, MutantFate.NEVER_ENDED})


def chosen(parts: tuple[str, ...], count: int, seed: int, text: str = "") -> list[Mutant]:
    """So many mutants, each part of the core in turn.

    Each has its place by its own words, so a seed draws the same ones again where only other lines have changed.
    """
    pools = []
    for part in parts:
        pool: dict[bytes, Mutant] = {}
        for file in sorted((ROOT / "core" / "foretop_core" / part).rglob("*.py")):
            seen: Counter[str] = Counter()
            for one in mutants(ROOT, file):
                words = f"{seed} {one.path} {one.function} {one.text} {one.change}"
                seen[words] += 1
                if not is_same(one) and text in str(one):
                    pool[sha256(f"{words} {seen[words]}".encode()).digest()] = one
        pools.append([pool[place] for place in sorted(pool)])
    return list(_in_turn(pools, count))


def _in_turn(pools: list[list[Mutant]], count: int) -> Iterator[Mutant]:
    while count and any(pools):
        for pool in pools:
            if pool and count:
                yield pool.pop()
                count -= 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.mutants")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part of the core; may be repeated")
    parser.add_argument("--match", default="", help="only mutants that are printed with this text in them")
    parser.add_argument(
        "--seconds",
        type=float,
        default=60,
        help="of the tests that call what was changed, the quickest that take so long together: what only slower ones "
        "notice counts as survived",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--measure", action="store_true", help="find out again which tests call what")
    wanted = parser.parse_args()
    if wanted.measure or not KEPT.exists():
        measure(wanted.jobs)
    called = read_map()
    picked = chosen(tuple(wanted.only or PARTS), wanted.count, wanted.seed, wanted.match)
    print(f"{len(picked)} mutants, seed {wanted.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="foretop-mutants-") as folder:
        tried = list(_try_all(picked, called, Path(folder), wanted.jobs, wanted.seconds))
    counts = Counter(one.fate for one in tried)
    caught = sum(counts[fate] for fate in _CAUGHT)
    for fate, number in counts.most_common():
        print(f"{number:5} {fate}")
    share = caught / len(picked) if picked else 1.0
    print(f"{caught} of {len(picked)} caught ({share:.0%}) in {(time.monotonic() - began) / 60:.0f} min")
    return 0 if share >= GOAL else 1


def _try_all(picked: list[Mutant], called: CalledMap, folder: Path, jobs: int, seconds: float) -> Iterator[Tried]:
    os.environ["CI"] = "1"
    forked = ForkedTrials(picked, called, folder, jobs, seconds)
    pytest.main(["-m", "not sweep", "-s"], plugins=[forked])
    yield from forked.tried
    copies: SimpleQueue[CopyOfCore] = SimpleQueue()
    for number in range(jobs):
        copy = CopyOfCore(folder / f"copy-{number}")
        copy.make()
        copies.put(copy)

    def attempt(mutant: Mutant) -> Tried:
        copy = copies.get()
        try:
            tried = Tried(mutant, copy.run(mutant, called.tests_for(mutant, seconds), called))
        finally:
            copies.put(copy)
        print(tried, flush=True)
        return tried

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(attempt, forked.not_tried)


if __name__ == "__main__":
    sys.exit(main())
