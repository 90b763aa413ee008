"""A terminal of a given size with a program in it, read by an emulator: what a person would see, and when."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import pyte


class Terminal:
    """Runs a program until the end of the block."""

    def __init__(self, command: Sequence[str], columns: int = 120, lines: int = 40) -> None:
        self._command = command
        self._size = (lines, columns)
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Condition()
        self.written = 0
        self.pid = 0

    def __enter__(self) -> Self:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="", LC_ALL="C.UTF-8")
            os.environ.pop("SSH_CONNECTION", None)
            os.execvp(self._command[0], list(self._command))
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size, 0, 0))
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def until(self, seen: Callable[[list[str]], object], limit: float = 30.0) -> float:
        """Seconds until the screen is so; infinite where that never comes."""
        begin = time.perf_counter()
        with self._lock:
            while not seen(self._screen.display):
                left = limit - (time.perf_counter() - begin)
                if left <= 0 or not self._lock.wait(left):
                    return float("inf")
        return time.perf_counter() - begin

    def text(self) -> list[str]:
        with self._lock:
            return list(self._screen.display)

    def cursor_line(self) -> int:
        """The line that is shown in reverse video."""
        with self._lock:
            for number in range(3, self._size[0]):
                cells = self._screen.buffer[number]
                if sum(cells[column].reverse for column in range(self._size[1])) > self._size[1] // 2:
                    return number
        return -1

    def changed(self, limit: float) -> bool:
        """Waits for the next output."""
        with self._lock:
            return self._lock.wait(limit)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._terminal, 65536)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                self.written += len(data)
                self._stream.feed(data)
                self._lock.notify_all()


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    with open(f"/proc/{pid}/status") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
