"""One mutant tried: a copy of the core with the change, and the tests that call what was changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from trials.mutants.called_map import ROOT, CalledMap
from trials.mutants.listed_tests_plugin import LIST
from trials.mutants.mutations import Mutant, mutated


class MutantFate(StrEnum):
    CAUGHT = "caught"
    NEVER_ENDED = "caught, it never ended"
    SURVIVED = "survived"
    NOT_CALLED = "survived, no test calls it"
    BROKEN = "the tests could not be run"


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant and what became of it."""

    mutant: Mutant
    fate: MutantFate
    by: str = ""
    """The test that caught it, where that is known."""

    def __str__(self) -> str:
        return f"{self.fate:24} {self.mutant}{self.by and f'    by {self.by}'}"


@dataclass(frozen=True, slots=True)
class CopyOfCore:
    """The core in a folder of its own, in front of the checkout's on the import path."""

    folder: Path

    def make(self) -> None:
        shutil.copytree(ROOT / "core", self.folder / "core")

    def run(self, mutant: Mutant, tests: tuple[str, ...], called: CalledMap) -> MutantFate:
        if not tests:
            return MutantFate.NOT_CALLED
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps({"chosen": tests, "known": sorted(called.seconds)}))
        place, original = self.folder / mutant.path, ROOT / mutant.path
        try:
            place.write_text(mutated(original.read_text(), mutant.number))
            return self._pytest(tests, called, chosen)
        finally:
            shutil.copy2(original, place)

    def _pytest(self, tests: tuple[str, ...], called: CalledMap, chosen: Path) -> MutantFate:
        files = dict.fromkeys(name.partition("::")[0] for name in tests)
        environ = {
            **os.environ,
            LIST: str(chosen),
            "CI": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join((str(self.folder / "core"), str(ROOT / "tui"), str(ROOT))),
        }
        patience = 120 + 5 * sum(called.seconds[name] for name in tests)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-m",
            "not sweep",
            "-p",
            "trials.mutants.listed_tests_plugin",
            "--no-header",
            *files,
        ]
        with (self.folder / "pytest.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environ, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
            try:
                code = process.wait(patience)
            except subprocess.TimeoutExpired:
                return MutantFate.NEVER_ENDED
            finally:
                _end(process)
        # Collecting fails (2, 4) where the module that was changed no longer imports.
        return {0: MutantFate.SURVIVED, 1: MutantFate.CAUGHT, 2: MutantFate.CAUGHT, 4: MutantFate.CAUGHT}.get(
            code, MutantFate.BROKEN
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """With all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
