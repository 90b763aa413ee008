"""`python -m trials.chaos WHAT [NUMBER] [--seed S]`: foretop broken on purpose; what was tried, and what was lost."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.real.build import prepare
from tests.real.cluster import RealCluster
from trials.chaos.crowd import COUNT as CROWD
from trials.chaos.crowd import press_in_a_crowd
from trials.chaos.every_entry import Outcome, try_objects
from trials.chaos.long_run import run_for_long
from trials.chaos.process_deaths import try_death
from trials.chaos.real_faults import try_real_faults
from trials.chaos.soak import soak
from trials.chaos.store_runs import try_store
from trials.chaos.task_faults import try_tasks
from trials.chaos.write_runs import ACTIONS, try_writes

EACH = 250
"""So many mutated objects stand in one cluster, which has a seed of its own."""
_LEAST_HEAVY, _HEAVY_SHARE = 3, 50
"""Three faults and one of so many more end or restore a server, which takes long."""
_MOST_LINES = 20


def _try_objects(seed: int) -> Outcome:
    outcome = Outcome()
    try_objects(EACH, seed, outcome)
    return outcome


def mutate_objects(number: int, seed: int) -> int:
    """Mutated objects at every entry point."""
    outcome = Outcome()
    seeds = range(seed, seed + -(-number // EACH))
    print(f"mutated objects, seeds {seeds[0]} to {seeds[-1]}", flush=True)
    began = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(_try_objects, seeds):
            outcome.add(part)
    lost = len(outcome.escaped) + outcome.false_calm
    print(f"tried {outcome.tried:,} in {time.monotonic() - began:.0f} s, lost {lost}")
    print(f"  refused where they are decoded, and named: {outcome.unreadable:,}")
    print(f"  exceptions that escaped: {len(outcome.escaped)}")
    print(f"  failures that a guard caught and named: {outcome.caught.total()}")
    print(f'  "No problems" while something was not judged: {outcome.false_calm}')
    print(
        f"  the longest that one object kept a processor busy: {outcome.slowest[0] * 1000:.0f} ms, {outcome.slowest[1]}"
    )
    print(f"  memory for {EACH} of them at most: {outcome.grown:.0f} MB")
    _print_lines([*outcome.escaped, *(f"{count} x {what}" for what, count in outcome.caught.most_common())])
    return lost


def _seeded(what: str, one: Callable[[int], list[str]], number: int, seed: int) -> int:
    """So many runs, each with a seed of its own, on all cores."""
    seeds = range(seed, seed + number)
    print(f"{what}, seeds {seeds[0]} to {seeds[-1]}", flush=True)
    began, lost = time.monotonic(), list[str]()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(one, seeds):
            lost += part
    print(f"tried {number:,} in {time.monotonic() - began:.0f} s, lost {len(lost)}")
    _print_lines(lost)
    return len(lost)


def break_real_server(number: int, seed: int) -> int:
    """Faults between foretop and a real API server."""
    print(f"faults over a real API server, seed {seed}", flush=True)
    with RealCluster(prepare(print)) as cluster:
        began = time.monotonic()
        heavy = _LEAST_HEAVY + number // _HEAVY_SHARE
        outcome = asyncio.run(try_real_faults(cluster, number, heavy, seed, partial(print, flush=True)))
    print(f"tried {outcome.tried.total():,} in {time.monotonic() - began:.0f} s, lost {len(outcome.lost)}")
    print(f"  writes meanwhile: {outcome.writes:,}; quiet moments, all equal to a fresh list: {outcome.quiet:,}")
    print(f"  the longest until all was equal again: {outcome.slowest[0]:.1f} s, after {outcome.slowest[1]}")
    _print_lines([f"{count} x {what}" for what, count in outcome.tried.most_common()], most=100)
    _print_lines(outcome.lost)
    return len(outcome.lost)


def watch_for_long(number: int, seed: int) -> int:
    """A dashboard before so many events, which take a month of the cluster's time."""
    print(f"a dashboard for a month, seed {seed}", flush=True)
    began = time.monotonic()
    lost = run_for_long(number, seed, partial(print, flush=True))
    print(f"tried {number:,} events in {time.monotonic() - began:.0f} s, lost {len(lost)}")
    _print_lines(lost)
    return len(lost)


def change_for_long(number: int, seed: int) -> int:
    """A dashboard before many objects that change all the time, for so many seconds."""
    lost = soak(number, partial(print, flush=True))
    print(f"tried {number:,} s, lost {len(lost)}")
    _print_lines(lost)
    return len(lost)


def press_keys_in_a_crowd(number: int, seed: int) -> int:
    """So many keys before ten thousand NABs of one team that come, change and go."""
    print(f"{CROWD:,} NABs of one team that come, change and go, seed {seed}", flush=True)
    began = time.monotonic()
    lost = press_in_a_crowd(number, seed, partial(print, flush=True))
    print(f"tried {number:,} keys in {time.monotonic() - began:.0f} s, lost {len(lost)}")
    _print_lines(lost)
    return len(lost)


def _print_lines(lines: Sequence[str], most: int = _MOST_LINES) -> None:
    for line in lines[:most]:
        print(f"    {line}")


WHAT: dict[str, tuple[Callable[[int, int], int], int]] = {
    "objects": (mutate_objects, 20_000),
    "store": (partial(_seeded, "a store behind a server that misbehaves", try_store), 1_000),
    "tasks": (partial(_seeded, "background tasks and indexes that raise at random", try_tasks), 300),
    "writes": (partial(_seeded, f"{ACTIONS} actions whose writes are answered at random", try_writes), 300),
    "deaths": (partial(_seeded, "foretop killed inside its writes", try_death), 50),
    "real": (break_real_server, 1_000),
    "long": (watch_for_long, 1_000_000),
    "soak": (change_for_long, 600),
    "crowd": (press_keys_in_a_crowd, 200),
}
"""What can be tried, and how often it is in the whole table."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m trials.chaos")
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("number", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    tried, usual = WHAT[wanted.what]
    return 1 if tried(wanted.number or usual, wanted.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
