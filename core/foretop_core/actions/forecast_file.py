"""The forecasts that foretop has made: a file in its state folder that all running foretops of a person share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from foretop_core.actions.journal import default_path
from foretop_core.errors import ForetopError
from foretop_core.own_files import LOCK_LIMIT, lock_file, read_own_file, replace_own_file, why_not
from foretop_core.rules.night.forecast_accuracy import ToldRun

MOST_BYTES = 5 * 1024 * 1024
KEPT = timedelta(days=30)


class DamagedForecasts(ForetopError):
    """The file holds something else than forecasts."""


class ForecastFile:
    """One JSON line for each run that was foretold, as it was told first."""

    def __init__(self, path: Path, lock_limit: float = LOCK_LIMIT) -> None:
        self.path = path
        self._lock_limit = lock_limit

    def read(self) -> tuple[ToldRun, ...]:
        """All of them; raises ForetopError where the file is damaged or cannot be read."""
        try:
            lines = read_own_file(self.path, MOST_BYTES + 1).splitlines()
        except FileNotFoundError:
            return ()
        except OSError as problem:
            raise ForetopError(f"{self.path} cannot be read", why_not(problem)) from None
        try:
            return tuple(msgspec.json.decode(line, type=ToldRun) for line in lines)
        except (ValueError, RecursionError):
            raise DamagedForecasts(f"{self.path} is damaged", "what was foretold before is not known") from None

    def add(self, new: Iterable[ToldRun], now: datetime) -> ForetopError | None:
        """Remembers more; a damaged file is a new beginning, and the answer says so.

        Raises ForetopError where it cannot be read or written: what it holds then stays.
        """
        damaged: ForetopError | None = None
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = self.path.with_name(f"{self.path.name}.lock")
            with os.fdopen(os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as file:
                lock_file(file.fileno(), self._lock_limit)
                try:
                    held = self.read()
                except DamagedForecasts as problem:
                    held, damaged = (), problem
                replace_own_file(self.path, _text({one.key: one for one in (*new, *held)}.values(), now))
        except OSError as problem:
            raise ForetopError(f"{self.path} cannot be written", why_not(problem), "set XDG_STATE_HOME") from None
        return damaged


def _text(told: Iterable[ToldRun], now: datetime) -> bytes:
    """The newest, as many as there is room for, the oldest first."""
    kept, room = list[bytes](), MOST_BYTES
    for one in sorted(told, key=lambda run: run.due, reverse=True):
        line = msgspec.json.encode(one) + b"\n"
        room -= len(line)
        if room < 0 or one.due < now - KEPT:
            break
        kept.append(line)
    return b"".join(reversed(kept))


def forecasts_of(environ: Mapping[str, str]) -> ForecastFile:
    """Beside the journal."""
    return ForecastFile(default_path(environ).with_name("forecasts.jsonl"))
