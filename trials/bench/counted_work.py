"""`python -m trials.bench.counted_work [COUNT ...]`: the functions that each step calls before NABs of one team."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from foretop_core.rules.build_snapshot import assemble
from tests.counted_work import calls
from tests.crowds import nabs_of_one_team
from tests.unit.rules.test_many_objects import STEPS
from tests.unit.store.test_background_reader import calls_on_the_loop
from tests.unit.tables.test_many_rows import grouped_steps, steps_of_page, work_of_a_change_in_groups

COUNTS = (1_000, 10_000, 50_000)
_ON_THE_LOOP: Mapping[str, Callable[[int], int]] = {
    "one change, with two pages": calls_on_the_loop,
    "one change, with NABs of a tenth as many teams in groups": work_of_a_change_in_groups,
    "a step in which rows of a page are made, at most": lambda count: max(steps_of_page(count)),
    "a step in which rows are counted in groups, at most": lambda count: max(grouped_steps(count)),
}


def main(counts: tuple[int, ...]) -> None:
    for name, work in _ON_THE_LOOP.items():
        print(f"on the loop: {name}", *(f"{work(count):,}" for count in counts), sep=" | ", flush=True)
    STEPS["triage"](assemble(nabs_of_one_team(100)))
    for name, step in STEPS.items():
        each = []
        for count in counts:
            snapshot = assemble(nabs_of_one_team(count))
            each.append(calls(lambda step=step, snapshot=snapshot: step(snapshot)))  # type: ignore[misc]
        print(f"beside it: {name}", *(f"{one:,}" for one in each), sep=" | ", flush=True)


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or COUNTS)
