"""Nothing that a server has started outlives the tests."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real import kill_guard

PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], sys.argv[2]])"
CHILD = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(600)"
PATIENCE = 60.0


@pytest.mark.share
def test_a_servers_own_children_are_killed_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = [sys.executable, "-I", kill_guard.__file__, sys.executable, "-c", PARENT, CHILD, str(pid_file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as guard:
        _wait(lambda: pid_file.exists() and pid_file.read_text() != "")
        assert _lives(pid_file.read_text())
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait()
    _wait(lambda: not _lives(pid_file.read_text()))


def _lives(pid: str) -> bool:
    stat = Path("/proc", pid, "stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def _wait(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
