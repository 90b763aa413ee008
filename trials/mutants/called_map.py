"""Which tests call which function: measured once by a run of all tests, kept in build/."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from trials.mutants.called_functions import OUT
from trials.mutants.mutations import Mutant, functions_that_name

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "mutants" / "called.json"
_READ_AS_DATA = {
    "core/foretop_core/actions/planners/": ("tests/unit/actions/test_records.py::",),
    "core/foretop_core/tables/resources/": ("tests/unit/tables/test_views.py::", "tests/tui/test_column_layout.py::"),
}
"""The records of actions and the columns of views are data: the tests that read them call nothing of their modules."""


@dataclass(frozen=True, slots=True)
class CalledMap:
    """The tests by the functions that they call."""

    seconds: dict[str, float]
    by_function: dict[str, tuple[str, ...]]
    by_file: dict[str, tuple[str, ...]]

    def tests_for(self, mutant: Mutant, seconds: float) -> tuple[str, ...]:
        """The quickest tests that can notice and take so long together.

        Of a constant these are all of its file; those come first that read it as data or call a function that names it.
        """
        if mutant.function:
            first, found = frozenset[str](), self.by_function.get(f"{mutant.path}::{mutant.function}", ())
        else:
            first, found = frozenset(self._readers(mutant)), self.by_file.get(mutant.path, ())
        ordered = sorted({*first, *found}, key=lambda test: (test not in first, self.seconds[test]))
        until = accumulate(self.seconds[test] for test in ordered)
        return tuple(test for test, taken in zip(ordered, until, strict=True) if taken <= seconds) or tuple(ordered[:1])

    def _readers(self, mutant: Mutant) -> Iterator[str]:
        for function in functions_that_name((ROOT / mutant.path).read_text(), mutant.line):
            yield from self.by_function.get(f"{mutant.path}::{function}", ())
        for folder, tests in _READ_AS_DATA.items():
            if mutant.path.startswith(folder):
                yield from (test for test in self.seconds if test.startswith(tests))


def measure(jobs: int, *paths: str) -> None:
    """Runs all tests once, or those of some paths, and writes the map; what it holds of other tests stays."""
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-p", "trials.mutants.called_functions", "-n", str(jobs)]
        environ = {**os.environ, OUT: folder, "CI": "1"}
        done = subprocess.run(
            [*command, "--dist", "worksteal", "-m", "not sweep", *paths], cwd=ROOT, env=environ, check=False
        )
        if done.returncode:
            print("not every test passed while they were measured: a mutant that only these notice is not sure")
        tests: dict[str, dict[str, object]] = json.loads(KEPT.read_text()) if paths and KEPT.exists() else {}
        for part in Path(folder).glob("*.jsonl"):
            tests.update(json.loads(line) for line in part.read_text().splitlines())
    KEPT.write_text(json.dumps(tests, indent=0))


def read_map() -> CalledMap:
    tests = json.loads(KEPT.read_text())
    by_function: dict[str, list[str]] = {}
    by_file: dict[str, set[str]] = {}
    for name, seen in tests.items():
        for function in seen["called"]:
            by_function.setdefault(function, []).append(name)
            by_file.setdefault(function.partition("::")[0], set()).add(name)
    return CalledMap(
        {name: seen["seconds"] for name, seen in tests.items()},
        {name: tuple(found) for name, found in by_function.items()},
        {name: tuple(sorted(found)) for name, found in by_file.items()},
    )
