"""What was written to which cluster, when and by whom, with what was before.

One JSON line before a write is sent, and one with its outcome after.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from foretop_core.errors import ForetopError
from foretop_core.own_files import check_regular, read_own_file, replace_own_file, why_not

MOST_BYTES = 4 * 1024 * 1024
"""At this size the older half goes: a bastion's home is small."""
_MOST_READ = 4 * MOST_BYTES
"""Of a file that somebody else has made so large."""


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One write and how it ended; the lines of one write share an id."""

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
    id: str = ""
    uid: str = ""
    """The uid of the object; of one that is being made, as soon as the server has answered."""
    drill: str = ""
    """The id of the drill that it was written for."""


SENDING = "sending"
"""The result before there is one."""
NOT_SENT = "not sent"
CHANGED = "changed"
_NOT_MADE = (NOT_SENT, CHANGED)
"""The server took none of it, and the person is asked again."""
_OPEN = "unknown: foretop ended before the outcome was known, or is sending it now"


class Journal(msgspec.Struct, frozen=True):
    """A file that its owner alone can read, appended to by every foretop of that owner."""

    path: Path

    def check(self) -> None:
        """Before a write is sent: what cannot be written down is not done."""
        with self._opened():
            pass

    def append(self, entry: JournalEntry) -> None:
        line = msgspec.json.encode(entry) + b"\n"
        while not self._append(line):
            pass

    def _append(self, line: bytes) -> bool:
        """Whether it was written; not where another foretop has replaced the file meanwhile."""
        with self._opened() as file:
            descriptor = file.fileno()
            fcntl.flock(file, fcntl.LOCK_EX)
            if not os.path.samestat(os.fstat(descriptor), self.path.stat()):
                return False
            if os.fstat(descriptor).st_size + len(line) > MOST_BYTES:
                replace_own_file(self.path, _newer_half(descriptor) + line)
            else:
                _append_line(descriptor, line)
        return True

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b") as file:
                check_regular(descriptor)
                os.fchmod(descriptor, 0o600)
                yield file
        except OSError as problem:
            what = f"The journal {self.path} cannot be written"
            raise ForetopError(what, why_not(problem), "set XDG_STATE_HOME") from None

    def read(self) -> Iterator[JournalEntry]:
        """Every write that may have been made or was refused, oldest first; a torn line is passed over."""
        found: dict[str, JournalEntry] = {}
        for number, entry in enumerate(self._entries()):
            found[entry.id or str(number)] = entry
        for entry in found.values():
            if entry.result == SENDING:
                yield msgspec.structs.replace(entry, result=_OPEN)
            elif entry.result.partition(":")[0] not in _NOT_MADE:
                yield entry

    def _entries(self) -> Iterator[JournalEntry]:
        try:
            lines = read_own_file(self.path, _MOST_READ, from_end=True).splitlines()
        except FileNotFoundError:
            return
        except OSError as problem:
            raise ForetopError(f"The journal {self.path} cannot be read", why_not(problem)) from None
        for line in lines:
            try:
                yield msgspec.json.decode(line, type=JournalEntry)
            except (ValueError, RecursionError):
                continue


def default_path(environ: Mapping[str, str]) -> Path:
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop" / "journal.jsonl"


def _append_line(descriptor: int, line: bytes) -> None:
    """A line whose end a crash or a full disk has cut off before is ended first, so that it costs only itself."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    while line:
        line = line[os.write(descriptor, line) :]


def _newer_half(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, size // 2).partition(b"\n")[2]
