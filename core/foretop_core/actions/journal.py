"""The journal: every write to a cluster, when and by whom, with what was before.

One JSON line before a write is sent, and one with its outcome after.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.background import in_thread
from foretop_core.errors import ForetopError
from foretop_core.foreign_text import redacted, redacted_values
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR
from foretop_core.own_files import DISK_LIMIT, LOCK_LIMIT, lock_file, open_own_file, own_folder, why_not

MOST_ENTRY_BYTES = 16 * 1024
KEPT_DAYS = 30
READ_LIMIT = 10.0
"""Seconds in which all of it must be read."""
_DAY_FILE = re.compile(r"(\d{4}-\d\d-\d\d)\.jsonl")
_SHORTENED_TO = (4000, 1000, 250, 60)
"""Characters and members that are left of a value, until the entry is small enough."""
_LONGEST_WORD = 1000
_MOST_WHOLE = 2000
"""Bytes of the change, or of what was before, that stay as they are whatever the other is like."""
_DEEPEST = 30


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

    @property
    def moment(self) -> datetime | None:
        """When; None where the line has no time that can be told in every zone."""
        try:
            moment = datetime.fromisoformat(self.at)
        except ValueError:
            return None
        return moment if moment.tzinfo is not None and FIRST_YEAR <= moment.year <= LAST_YEAR else None


SENDING = "sending"
"""The result before there is one."""
NOT_SENT = "not sent"
CHANGED = "changed"
_NOT_MADE = (NOT_SENT, CHANGED)
"""The server took none of it, and the person is asked again."""
_OPEN = "unknown: foretop ended before the outcome was known, or is sending it now"


def _today() -> date:
    return datetime.now(UTC).date()


class Journal(msgspec.Struct, frozen=True):
    """A folder with a file for each day, which its owner alone can read and every foretop of that owner appends to.

    The days are those of this machine's clock: a cluster must not choose the file, nor when it is removed. What another
    user could have written is neither read nor written to: the journal proves what a drill may delete.
    """

    folder: Path
    today: Callable[[], date] = _today
    lock_limit: float = LOCK_LIMIT

    @property
    def path(self) -> Path:
        """The file of today."""
        return self.folder / f"{self.today()}.jsonl"

    def check(self) -> None:
        """Before a write is sent: what cannot be written down is not done. Blocks until the lock is free."""
        with self._locked(threading.Event()):
            pass

    def append(self, entry: JournalEntry) -> None:
        """Raises ForetopError where it cannot be written. Blocks until the lock is free."""
        self._append(entry, threading.Event())

    async def check_in_thread(self) -> None:
        """As `check`, and the event loop goes on meanwhile."""
        given_up = threading.Event()

        def check() -> None:
            with self._locked(given_up):
                pass

        await self._unblocked(check, given_up)

    async def append_in_thread(self, entry: JournalEntry) -> None:
        """As `append`, and the event loop goes on meanwhile; one that is cancelled writes nothing any more."""
        given_up = threading.Event()
        await self._unblocked(partial(self._append, entry, given_up), given_up)

    async def _unblocked(self, work: Callable[[], None], given_up: threading.Event) -> None:
        try:
            await in_thread(work, self.lock_limit + DISK_LIMIT)
        except TimeoutError:
            raise self._unwritable("the disk does not answer") from None
        finally:
            given_up.set()

    def _append(self, entry: JournalEntry, given_up: threading.Event) -> None:
        line = entry_line(entry)
        with self._locked(given_up) as file:
            _append_line(file.fileno(), line)

    @contextmanager
    def _locked(self, given_up: threading.Event) -> Iterator[FileIO]:
        """Today's file, which nobody else writes to meanwhile."""
        path = self.path
        try:
            while not given_up.is_set():
                with self._opened(path) as file:
                    lock_file(file.fileno(), self.lock_limit, given_up)
                    # Somebody may have removed or replaced the file before it was locked.
                    if _is_same(file, path) and not given_up.is_set():
                        yield file
                        return
            raise self._unwritable("it was given up")
        except OSError as problem:
            raise self._unwritable(why_not(problem)) from None

    @contextmanager
    def _opened(self, path: Path) -> Iterator[FileIO]:
        if not path.exists():
            self._remove_old()
        with FileIO(open_own_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), "r+") as file:
            os.fchmod(file.fileno(), 0o600)
            yield file

    def _unwritable(self, why: str) -> ForetopError:
        return ForetopError(f"The journal {self.path} cannot be written", why, "set XDG_STATE_HOME")

    def _remove_old(self) -> None:
        """With the first write of a day; what cannot be removed is tried again on the next day.

        The last files stay whatever their age: a clock that jumps ahead must not empty the journal.
        """
        with suppress(OSError, OverflowError), own_folder(self.folder, create=True) as folder:
            first = self.today() - timedelta(days=KEPT_DAYS)
            for path in self._day_files()[:-KEPT_DAYS]:
                if (day := _day_of(path)) is not None and day < first:
                    with suppress(OSError):
                        os.unlink(path.name, dir_fd=folder)

    def read(self) -> Iterator[JournalEntry]:
        """Every write that may have been made or was refused, oldest first; a torn line is passed over. Blocks."""
        latest: dict[str, JournalEntry] = {}
        for number, entry in enumerate(self._entries()):
            latest[entry.id or str(number)] = entry
        for entry in latest.values():
            if entry.result == SENDING:
                yield msgspec.structs.replace(entry, result=_OPEN)
            elif entry.result.partition(":")[0] not in _NOT_MADE:
                yield entry

    async def read_in_thread(self) -> tuple[JournalEntry, ...]:
        """As `read`, and the event loop goes on meanwhile."""
        try:
            return await in_thread(lambda: tuple(self.read()), READ_LIMIT)
        except TimeoutError:
            raise ForetopError(f"The journal {self.folder} cannot be read", "the disk does not answer") from None

    def lines_passed_over(self) -> int:
        """How many lines cannot be read: what they tell of is not known. Blocks."""
        # A piece of a line that is longer than an entry has one byte more.
        lines = (line for line in self._all_lines() if line.strip() and len(line) <= MOST_ENTRY_BYTES)
        return sum(_entry_of(line) is None for line in lines)

    def _entries(self) -> Iterator[JournalEntry]:
        return (entry for line in self._all_lines() if (entry := _entry_of(line)) is not None)

    def _all_lines(self) -> Iterator[bytes]:
        return chain.from_iterable(map(self._lines, self._listed()))

    def _listed(self) -> Sequence[Path]:
        try:
            with own_folder(self.folder):
                return self._day_files()
        except FileNotFoundError:
            return ()
        except OSError as problem:
            raise _unreadable(self.folder, problem) from None

    def _day_files(self) -> Sequence[Path]:
        return sorted(path for path in self.folder.iterdir() if _day_of(path) is not None)

    def _lines(self, path: Path) -> Iterator[bytes]:
        """Line by line, because a file has no limit; a line longer than an entry can be is skipped."""
        try:
            with open(open_own_file(path, os.O_RDONLY), "rb") as file:
                while line := file.readline(MOST_ENTRY_BYTES + 1):
                    yield line
        except FileNotFoundError:
            return
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _entry_of(line: bytes) -> JournalEntry | None:
    try:
        return msgspec.json.decode(line, type=JournalEntry)
    except (ValueError, RecursionError):
        return None


def default_path(environ: Mapping[str, str]) -> Path:
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "/")) / ".local" / "state"
    return base / "foretop" / "journal"


def entry_line(entry: JournalEntry) -> bytes:
    """An entry as it is written, without secrets, of bounded length: an object's size must not crowd out others."""
    entry = replace(
        entry,
        before=redacted_values(entry.before),
        patch=redacted_values(entry.patch),
        result=redacted(entry.result),
    )
    shorter = (_shortened(entry, partial(_short, longest=longest)) for longest in _SHORTENED_TO)
    lines = (msgspec.json.encode(version) + b"\n" for version in chain((entry,), shorter))
    fitting = (line for line in lines if len(line) <= MOST_ENTRY_BYTES)
    return next(fitting, b"") or msgspec.json.encode(_shortened(entry, _left_out)) + b"\n"


def _shortened(entry: JournalEntry, shorten: Callable[[Any], Any]) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(entry)
    return {
        name: shorten(value) if name in ("before", "patch") else _short(value, _LONGEST_WORD)
        for name, value in fields.items()
    }


def _short(value: Any, longest: int, depth: int = 0) -> Any:
    """The beginning of long texts and large members, each with a mark that says how much is missing."""
    match value:
        case dict() | list() if depth >= _DEEPEST:
            return "… [left out by foretop: nested too deeply]"
        case str() if len(value) > longest:
            return f"{value[:longest]}… [shortened by foretop: {len(value) - longest:,} more characters]"
        case dict():
            some = list(value.items())[:longest]
            kept = {_short(key, longest): _short(part, longest, depth + 1) for key, part in some}
            return kept | _mark(len(value) - longest, "fields")
        case list():
            kept_items = [_short(part, longest, depth + 1) for part in value[:longest]]
            return [*kept_items, *_mark(len(value) - longest, "items").values()]
        case _:
            return value


def _mark(more: int, what: str) -> dict[str, str]:
    return {"…": f"[shortened by foretop: {more:,} more {what}]"} if more > 0 else {}


def _left_out(value: dict[str, Any]) -> dict[str, Any]:
    size = len(msgspec.json.encode(value))
    return value if size <= _MOST_WHOLE else {"…": f"[left out by foretop: {size:,} bytes]"}


def _unreadable(path: Path, problem: OSError) -> ForetopError:
    return ForetopError(f"The journal {path} cannot be read", why_not(problem))


def _day_of(path: Path) -> date | None:
    name = _DAY_FILE.fullmatch(path.name)
    try:
        return date.fromisoformat(name[1]) if name else None
    except ValueError:
        return None


def _is_same(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _append_line(descriptor: int, line: bytes) -> None:
    """A line whose end a crash has cut off before is ended first, so that it costs only itself.

    One that a full disk cuts off is taken back.
    """
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    try:
        while line:
            line = line[os.write(descriptor, line) :]
    except OSError:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
