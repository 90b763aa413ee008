"""A server process that a test may start, kill and start again on the same port."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.real import kill_guard

START_LIMIT_SECONDS = 300.0
PAUSE_SECONDS = 0.05


class ServerError(Exception):
    """A server of the test cluster did not come up; the message has the end of its log."""


def free_port() -> int:
    """A loopback port that nobody listens on, below those the system service out to clients.

    A client that keeps trying one of those while its server is down can end up connected to itself, and then
    the server cannot come back.
    """
    while True:
        port = random.randint(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Server:
    """One server under the kill guard, with its log in a file; `environ` is added to our own environment."""

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        is_ready: Callable[[], bool],
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._command = [str(word) for word in command]
        self._log = log
        self._environ = {**os.environ, **(environ or {})}
        self._is_ready = is_ready
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and come back when it is ready."""
        if self._process is not None:
            raise RuntimeError(f"{self._command[0]} runs already")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", kill_guard.__file__, *self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=self._environ,
                start_new_session=True,
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_LIMIT_SECONDS
        while not self._is_ready():
            if not self.runs:
                self._give_up("ended while starting")
            if time.monotonic() > deadline:
                self._give_up(f"was not ready after {START_LIMIT_SECONDS:.0f} s")
            time.sleep(PAUSE_SECONDS)

    def kill(self) -> None:
        """End it as `kill -9` does, and come back when it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        process.wait()

    def freeze(self) -> None:
        """Let it answer nobody until `thaw`; its port stays open, so its clients wait."""
        self._tell(kill_guard.FREEZE)

    def thaw(self) -> None:
        self._tell(kill_guard.THAW)

    def _tell(self, what: signal.Signals) -> None:
        if self._process is None:
            raise RuntimeError(f"{self._command[0]} is not running")
        self._process.send_signal(what)

    def _give_up(self, what: str) -> None:
        last_lines = self._log.read_text(errors="replace").splitlines()[-15:]
        self.kill()
        raise ServerError("\n".join([f"{Path(self._command[0]).name} {what}; its log ends:", *last_lines]))
