"""What was written to which cluster, when and by whom, with what was before: one JSON line for each write."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from foretop_core.errors import ForetopError

MOST_BYTES = 4 * 1024 * 1024
"""At this size the older half goes: a bastion's home is small."""


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One write and how it ended."""

    at: str
    user: str
    context: str
    kind: str
    namespace: str
    name: str
    method: str
    before: dict[str, Any]
    patch: dict[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class Journal:
    """A file that its owner alone can read, appended to by every foretop of that owner."""

    path: Path

    def check(self) -> None:
        """Before a write is sent: what cannot be written down is not done."""
        with self._opened():
            pass

    def append(self, entry: JournalEntry) -> None:
        line = msgspec.json.encode(entry) + b"\n"
        with self._opened() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size + len(line) > MOST_BYTES:
                _keep_newer_half(file.fileno())
            os.write(file.fileno(), line)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b") as file:
                os.fchmod(descriptor, 0o600)
                yield file
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise ForetopError(f"The journal {self.path} cannot be written", why, "set XDG_STATE_HOME") from None

    def read(self) -> Iterator[JournalEntry]:
        """Oldest first; a line that was cut by a crash is passed over."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        except OSError as problem:
            raise ForetopError(f"The journal {self.path} cannot be read", problem.strerror or str(problem)) from None
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=JournalEntry)
            except msgspec.DecodeError:
                continue


def default_path(environ: Mapping[str, str]) -> Path:
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop" / "journal.jsonl"


def _keep_newer_half(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    kept = os.pread(descriptor, size, size // 2).partition(b"\n")[2]
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept)
