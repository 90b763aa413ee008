"""Mutants tried in forks of one pytest process that has collected all tests: a fork replaces the changed function.

A mutant costs its tests alone then, not the start of pytest.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest

from trials.mutants.called_map import CalledMap
from trials.mutants.listed_tests_plugin import one_counterexample_is_enough
from trials.mutants.live_functions import FunctionPatch, LiveFunctions
from trials.mutants.mutations import Mutant
from trials.mutants.trial import MutantFate, Tried

LONGEST = 90.0
"""Seconds for one test: a mutant may never end, and then counts as noticed."""


@dataclass(slots=True)
class _Fork:
    mutant: Mutant
    process: int
    folder: Path
    ends_by: float


class ForkedTrials:
    """A pytest plugin: in the place of running the tests, it tries mutants with them.

    A change that is not in the code of a function, such as that of a constant, is left to others: `not_tried`.
    """

    def __init__(self, picked: Sequence[Mutant], called: CalledMap, folder: Path, jobs: int, seconds: float) -> None:
        self._picked = picked
        self._called = called
        self._folder = folder
        self._jobs = jobs
        self._seconds = seconds
        self._fork_notes: Path | None = None
        self.tried: list[Tried] = []
        self.not_tried: list[Mutant] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        one_counterexample_is_enough()
        items = {item.nodeid: item for item in session.items}
        unknown = [item for item in session.items if item.nodeid not in self._called.seconds]
        functions = LiveFunctions({mutant.path for mutant in self._picked})
        gc.collect()
        gc.freeze()
        running: list[_Fork] = []
        for number, mutant in enumerate(self._picked):
            if not (patches := functions.patches(mutant)):
                self.not_tried.append(mutant)
                continue
            names = self._called.tests_for(mutant, self._seconds)
            chosen = [*unknown, *(items[name] for name in names if name in items)]
            if not chosen:
                self._note(Tried(mutant, MutantFate.NOT_CALLED))
                continue
            while len(running) >= self._jobs:
                running = list(self._still(running))
            running.append(self._start(number, mutant, patches, chosen))
        while running:
            running = list(self._still(running))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._fork_notes is not None:
            self._fork_notes.write_text(report.nodeid)
            os._exit(1)

    def _start(
        self, number: int, mutant: Mutant, patches: tuple[FunctionPatch, ...], chosen: list[pytest.Item]
    ) -> _Fork:
        folder = self._folder / str(number)
        folder.mkdir()
        until = time.monotonic() + LONGEST + 5 * sum(self._called.seconds.get(item.nodeid, 1.0) for item in chosen)
        if process := os.fork():
            return _Fork(mutant, process, folder, until)
        try:
            self._in_fork(folder, patches, chosen)
        finally:
            os._exit(70)

    def _in_fork(self, folder: Path, patches: tuple[FunctionPatch, ...], chosen: list[pytest.Item]) -> None:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(quiet, descriptor)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        self._fork_notes = folder / "caught-by"
        for patch in patches:
            patch.apply()
        for item, following in zip_longest(chosen, chosen[1:]):
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            faulthandler.cancel_dump_traceback_later()
        os._exit(0)

    def _still(self, running: list[_Fork]) -> Iterator[_Fork]:
        """Those that go on, after a short wait; the others are noted."""
        time.sleep(0.02)
        for fork in running:
            ended, status = os.waitpid(fork.process, os.WNOHANG)
            if not ended and time.monotonic() < fork.ends_by:
                yield fork
                continue
            with suppress(ProcessLookupError):
                os.killpg(fork.process, signal.SIGKILL)
            if not ended:
                os.waitpid(fork.process, 0)
            self._note(_judged(fork, os.waitstatus_to_exitcode(status) if ended else None))
            shutil.rmtree(fork.folder, ignore_errors=True)

    def _note(self, tried: Tried) -> None:
        self.tried.append(tried)
        print(tried, flush=True)


def _judged(fork: _Fork, code: int | None) -> Tried:
    notes = fork.folder / "caught-by"
    if notes.exists():
        return Tried(fork.mutant, MutantFate.CAUGHT, notes.read_text())
    if code == 0:
        return Tried(fork.mutant, MutantFate.SURVIVED)
    return Tried(fork.mutant, MutantFate.BROKEN if code == 70 else MutantFate.NEVER_ENDED)
