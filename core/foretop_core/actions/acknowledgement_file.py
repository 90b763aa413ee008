"""The acknowledgements of one person for themselves: a file that all their running foretops share."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import msgspec

from foretop_core.actions.journal import default_path
from foretop_core.background import in_thread
from foretop_core.errors import ForetopError
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR
from foretop_core.own_files import DISK_LIMIT, LOCK_LIMIT, lock_file, read_own_file, replace_own_file, why_not
from foretop_core.rules.triage.acknowledging import LONGEST, OwnAcknowledgements
from foretop_core.rules.triage.finding import Acknowledgement

_MOST_BYTES = 16 * 1024 * 1024
_SPARE = timedelta(days=1)
"""What has ended is kept for so long: another cluster's clock may be behind."""


class AcknowledgementFile:
    """One JSON line for each; a line that cannot be read is passed over, and a file that cannot be read is empty.

    Methods that are not `async` block.
    """

    def __init__(self, path: Path, lock_limit: float = LOCK_LIMIT) -> None:
        self.path = path
        self._lock_limit = lock_limit
        self._reading = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._held: OwnAcknowledgements = {}

    def read(self) -> OwnAcknowledgements:
        """All of them, by context and finding; the very same value as long as the file, or its absence, is the same."""
        with self._reading:
            try:
                found = self.path.stat()
            except OSError:
                if self._stamp is not None:
                    self._stamp, self._held = None, {}
                return self._held
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            if stamp != self._stamp:
                self._stamp, self._held = stamp, {(one.context, one.finding): one for one in self._lines()}
            return self._held

    def add(self, new: Iterable[Acknowledgement], now: datetime) -> None:
        """Raises ForetopError where it cannot be written."""
        added = {(one.context, one.finding): one for one in new}
        self._change(lambda held: {**held, **added}, now)

    def remove(self, keys: Iterable[tuple[str, str]], now: datetime) -> None:
        gone = frozenset(keys)
        self._change(lambda held: {key: one for key, one in held.items() if key not in gone}, now)

    async def add_in_thread(self, new: Iterable[Acknowledgement], now: datetime) -> None:
        """As `add`, and the event loop goes on meanwhile."""
        await self._unblocked(partial(self.add, tuple(new), now))

    async def remove_in_thread(self, keys: Iterable[tuple[str, str]], now: datetime) -> None:
        """As `remove`, and the event loop goes on meanwhile."""
        await self._unblocked(partial(self.remove, tuple(keys), now))

    async def _unblocked(self, work: Callable[[], None]) -> None:
        try:
            await in_thread(work, self._lock_limit + DISK_LIMIT)
        except TimeoutError:
            raise self._unwritable("the disk does not answer") from None

    def _unwritable(self, why: str) -> ForetopError:
        return ForetopError(f"{self.path} cannot be written", why, "set XDG_STATE_HOME")

    def _change(self, change: Callable[[OwnAcknowledgements], OwnAcknowledgements], now: datetime) -> None:
        """Another foretop waits meanwhile; whoever reads sees the old file or the new one, never a half of it."""
        try:
            with self._locked():
                kept = {key: one for key, one in change(self.read()).items() if not _is_over(one, now)}
                text = b"".join(msgspec.json.encode(one) + b"\n" for one in kept.values())
                replace_own_file(self.path, text)
        except OSError as problem:
            raise self._unwritable(why_not(problem)) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = self.path.with_name(f"{self.path.name}.lock")
        with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as file:
            lock_file(file.fileno(), self._lock_limit)
            yield

    def _lines(self) -> Iterator[Acknowledgement]:
        try:
            lines = read_own_file(self.path, _MOST_BYTES).splitlines()
        except OSError:
            return
        for line in lines:
            try:
                found = msgspec.json.decode(line, type=Acknowledgement)
            except (ValueError, RecursionError):
                continue
            moments = (found.at, found.until or found.at)
            if found.context and all(FIRST_YEAR <= moment.year <= LAST_YEAR for moment in moments):
                yield found


def acknowledgements_of(environ: Mapping[str, str]) -> AcknowledgementFile:
    """Beside the journal."""
    return AcknowledgementFile(default_path(environ).with_name("acknowledged.jsonl"))


def _is_over(found: Acknowledgement, now: datetime) -> bool:
    return now - _SPARE > (found.until or found.at + LONGEST)
