"""Programs as forks of one interpreter that has foretop loaded: processes of their own, without a second of imports.

`python -m tests.forked_program FD` is that interpreter: it takes its orders from the socket with this number.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import io
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

_PRELOADED = (
    "foretop.cli",
    "foretop.commands.start_dashboard",
    "foretop.app",
    "foretop.main_screen.main_screen",
    "foretop.main_screen.write_actions",
    "foretop.pages.make_page",
    "foretop.dialogs.dialog_registry",
    "foretop_core.session",
    "tests.tui.filled_dashboard",
)
_READ_BY_THE_INTERPRETER = ("LC_", "LANG", "PYTHON", "TEXTUAL")
_LOADED_WITH = {"LC_ALL": "C.UTF-8"}
_LARGEST = 1 << 17


class _Order(msgspec.Struct):
    module: str
    arguments: list[str]
    environ: dict[str, str]
    folder: str


class ForkedProgram:
    """As much of `subprocess.Popen` as a terminal needs."""

    def __init__(self, command: Sequence[str], terminal: int, environ: Mapping[str, str], folder: Path | None) -> None:
        self._told, tells = os.pipe()
        order = _Order(command[2], list(command[3:]), dict(environ), str(folder or Path.cwd()))
        socket.send_fds(_interpreter(), [msgspec.json.encode(order)], [terminal, tells])
        os.close(tells)
        self.pid = int(self._line())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0.0)
            self.returncode = int(self._line())
            os.close(self._told)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(self._told, 1)
            assert piece, "the interpreter that forks has ended"
            line += piece
        return line


def can_fork(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """A module of Python, with nothing in its environment that is read while an interpreter starts."""
    ours = {**os.environ, **_LOADED_WITH}
    read = {name for name in {*environ, *ours} if name.startswith(_READ_BY_THE_INTERPRETER)}
    return tuple(command[:2]) == (sys.executable, "-m") and all(environ.get(name) == ours.get(name) for name in read)


@cache
def _interpreter() -> socket.socket:
    """One for each process that runs tests; it ends with it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", __name__, str(theirs.fileno())]
    started = subprocess.Popen(command, pass_fds=[theirs.fileno()], env={**os.environ, **_LOADED_WITH}, cwd=_ROOT)
    theirs.close()

    def end() -> None:
        ours.close()
        started.wait()

    atexit.register(end)
    return ours


_ROOT = Path(__file__).parents[1]


def _next_order(orders: socket.socket) -> _Order | None:
    """Forks for each order; returns in the fork with it, and in the interpreter itself with nothing at the end."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(orders, _LARGEST, 2)
        if not data:
            return None
        if not os.fork():
            break
        for descriptor in descriptors:
            os.close(descriptor)
    # The first fork waits for the program, as nobody else may, and tells how it ended.
    orders.close()
    terminal, told = descriptors
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if program := os.fork():
        os.close(terminal)
        os.write(told, b"%d\n" % program)
        status = os.waitpid(program, 0)[1]
        os.write(told, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(told)
    _take_terminal(terminal)
    order = msgspec.json.decode(data, type=_Order)
    os.environ.clear()
    os.environ.update(order.environ)
    time.tzset()
    os.chdir(order.folder)
    return order


def _take_terminal(terminal: int) -> None:
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for standard in range(3):
        os.dup2(terminal, standard)
    os.close(terminal)
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=True)


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    if order := _next_order(socket.socket(fileno=int(sys.argv[1]))):
        sys.argv = [order.module, *order.arguments]
        runpy.run_module(order.module, run_name="__main__", alter_sys=True)
