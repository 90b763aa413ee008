"""A terminal of a given size with a program in it, read by an emulator: what a person would see, and when."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

from tests.forked_program import ForkedProgram, can_fork

_ENVIRONMENT = {"TERM": "xterm-256color", "COLORTERM": "", "LC_ALL": "C.UTF-8"}
_NOT_INHERITED = (
    "COLUMNS",
    "LINES",
    "SSH_CONNECTION",
    "SSH_TTY",
    "NO_COLOR",
    "TMUX",
    "STY",
    "TERM_PROGRAM",
    "KUBECONFIG",
    "FORETOP_READ_ONLY",
)
_TAKES_THE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
PATIENCE = 120.0
LIT_BLANK = "▮"
_UNKNOWN_TO_THE_EMULATOR = b"\x1b[<u"


class _Screen(pyte.Screen):
    """Of pyte, which takes the shape of the pointer (OSC 22) for a title."""

    def set_title(self, param: str) -> None:
        if not param.startswith(";"):
            super().set_title(param)


class Terminal:
    """Runs a program until the end of the block, or until it ends by itself."""

    def __init__(
        self,
        command: Sequence[str],
        columns: int = 120,
        lines: int = 40,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
        *,
        anew: bool = False,
    ) -> None:
        """`anew`: with an interpreter of its own, for whoever looks at its start or its costs."""
        self._anew = anew
        self._folder = folder
        self._command = command
        self._environ = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        self._environ |= {**_ENVIRONMENT, **(environ or {})}
        self._size = (lines, columns)
        self._screen = _Screen(columns, lines)
        self._screen.write_process_input = self._answer  # type: ignore[method-assign]
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Condition()
        self._looked: list[tuple[str, str]] = []
        self._reads = threading.Event()
        self._reads.set()
        self._bytes_a_second = 0
        self.output = bytearray()

    def __enter__(self) -> Self:
        # The far side stays open here, so that what the program leaves behind can still be asked for.
        self._terminal, self._far_side = pty.openpty()
        fcntl.ioctl(self._far_side, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size, 0, 0))
        self.modes_before, self.settings_before = self.modes(), self.settings()
        self._program = self._start()
        self._stopping = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._program.poll() is None:
            self._program.terminate()
        try:
            self._program.wait(20)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        os.close(self._stopping[1])
        self._reads.set()
        self._reader.join()
        for descriptor in (self._stopping[0], self._terminal, self._far_side):
            os.close(descriptor)

    def _start(self) -> subprocess.Popen[bytes] | ForkedProgram:
        if not self._anew and can_fork(self._command, self._environ):
            return ForkedProgram(self._command, self._far_side, self._environ, self._folder)
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TAKES_THE_TERMINAL, *self._command],
            stdin=self._far_side,
            stdout=self._far_side,
            stderr=self._far_side,
            env=self._environ,
            cwd=self._folder,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._program.pid

    @property
    def written(self) -> int:
        return len(self.output)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def press_bytes(self, keys: bytes) -> None:
        """What a terminal sends that is no text."""
        os.write(self._terminal, keys)

    @property
    def is_running(self) -> bool:
        return self._program.poll() is None

    def signal(self, number: signal.Signals) -> None:
        self._program.send_signal(number)

    def resize(self, columns: int, lines: int) -> None:
        """Another size, which the system tells the program of; the emulator keeps the largest it began with."""
        fcntl.ioctl(self._far_side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def stop_reading(self) -> None:
        """From now on it takes nothing more than the system's own buffer holds, as a frozen SSH client does."""
        self._reads.clear()

    def read_again(self) -> None:
        self._reads.set()

    def unread(self) -> int:
        """How many bytes wait to be read."""
        return int(struct.unpack("i", fcntl.ioctl(self._terminal, termios.FIONREAD, b"\0" * 4))[0])

    def slow_down(self, baud: int) -> None:
        """It takes no more than a serial line of this speed."""
        self._bytes_a_second = baud // 10

    def ended_unread(self, limit: float = PATIENCE) -> int:
        """Waits for the program to end though nobody reads what it writes; its exit code."""
        try:
            return self._program.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError("it waits for a terminal that does not read") from None

    def hang_up(self) -> int:
        """Takes the terminal away, as a lost connection does; the program's exit code."""
        os.write(self._stopping[1], b"-")
        self._reader.join()
        for descriptor in (self._terminal, self._far_side):
            os.close(descriptor)
        self._terminal, self._far_side = pty.openpty()
        try:
            return self._program.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError("it still runs without a terminal") from None

    def ended(self, limit: float = PATIENCE) -> int:
        """Waits for the program to end by itself; its exit code."""
        try:
            code = self._program.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it has not ended; the screen:\n{self}") from None
        # What it wrote last is in the terminal by now, and is read up to here.
        os.write(self._far_side, b"\x1b[5n")
        self.shows(lambda _: self._answered)
        return code

    def until(self, seen: Callable[[list[str]], object], limit: float = PATIENCE) -> float:
        """Seconds until the screen is so; infinite where that never comes."""
        begin = time.perf_counter()
        with self._lock:
            while not seen(self._look()[0]):
                left = limit - (time.perf_counter() - begin)
                if left <= 0 or not self._lock.wait(left):
                    return float("inf")
        return time.perf_counter() - begin

    def shows(self, wanted: str | Callable[[list[str]], object], limit: float = PATIENCE) -> None:
        """Waits for words, or for a look of the screen; fails with what is there instead."""
        seen = wanted if callable(wanted) else lambda lines: wanted in "\n".join(lines)
        assert self.until(seen, limit) < limit, f"{wanted} never came; the screen:\n{self}"

    def text(self) -> list[str]:
        with self._lock:
            return self._look()[0]

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self.text())

    def look(self) -> tuple[list[str], list[str]]:
        """The lines, and what of them stands in reverse video; only lines that were written to are read again."""
        with self._lock:
            return self._look()

    def _look(self) -> tuple[list[str], list[str]]:
        if not self._looked:
            self._looked = [("", "")] * self._size[0]
        for y in self._screen.dirty:
            cells = [self._screen.buffer[y][x] for x in range(self._size[1])]
            lit = "".join((cell.data if cell.data != " " else LIT_BLANK) if cell.reverse else " " for cell in cells)
            self._looked[y] = ("".join(cell.data for cell in cells), lit)
        self._screen.dirty.clear()
        return [line for line, _ in self._looked], [lit for _, lit in self._looked]

    def cells(self) -> list[Any]:
        """Every cell of the screen, with its colours."""
        with self._lock:
            lines, columns = self._size
            return [self._screen.buffer[y][x] for y in range(lines) for x in range(columns)]

    @property
    def title(self) -> str:
        with self._lock:
            return self._screen.title

    def titled(self, is_so: Callable[[str], bool]) -> None:
        """Waits for a title; looking at no more than that is cheap."""
        with self._lock:
            if not self._lock.wait_for(lambda: is_so(self._screen.title), PATIENCE):
                raise AssertionError(f"its title is still {self._screen.title}")

    def cursor_line(self) -> int:
        """The line that is shown in reverse video."""
        with self._lock:
            for number in range(3, self._size[0]):
                cells = self._screen.buffer[number]
                if sum(cells[column].reverse for column in range(self._size[1])) > self._size[1] // 2:
                    return number
        return -1

    def modes(self) -> frozenset[int]:
        """What is switched on in the emulator: cursor, line wrap, alternate screen, mouse, paste, focus."""
        with self._lock:
            return frozenset(self._screen.mode)

    def settings(self) -> list[Any]:
        """What `stty` shows."""
        return termios.tcgetattr(self._far_side)

    def settled(self) -> None:
        """Waits for the rest of what is being drawn, which may come in several pieces."""
        while self.changed(0.5):
            pass

    def changed(self, limit: float) -> bool:
        """Waits for the next output."""
        with self._lock:
            return self._lock.wait(limit)

    _answered = False

    def _answer(self, data: str) -> None:
        """A terminal answers what it is asked."""
        if data.endswith("0n"):
            self._answered = True
        else:
            os.write(self._terminal, data.encode())

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._terminal, select.POLLIN)
        poll.register(self._stopping[0], select.POLLIN)
        while all(descriptor == self._terminal for descriptor, _ in poll.poll()):
            self._reads.wait()
            data = os.read(self._terminal, self._bytes_a_second // 20 or 65536)
            if self._bytes_a_second:
                time.sleep(len(data) / self._bytes_a_second)
            with self._lock:
                self.output += data
                self._stream.feed(data.replace(_UNKNOWN_TO_THE_EMULATOR, b""))
                # A picture comes in several pieces; whoever waits for it looks at it once, when no more has come.
                if self._bytes_a_second or not poll.poll(0):
                    self._lock.notify_all()


def cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    with open(f"/proc/{pid}/status") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
