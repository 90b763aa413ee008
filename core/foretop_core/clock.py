"""The source of "now" and the time zone of this machine; nothing else in foretop asks the system for the time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

_LOCALTIME = "/etc/localtime"
_ZONES = "zoneinfo/"


class Clock(Protocol):
    """The time of one cluster, always in UTC."""

    def now(self) -> datetime: ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def steady_seconds() -> float:
    """Seconds that no setting of the clock touches; where the system can tell, the time asleep counts."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class ShiftedClock:
    """A clock corrected by its known error: a bastion's clock may be wrong, the API server's time counts."""

    def __init__(self, clock: Clock, skew: Callable[[], timedelta | None]) -> None:
        self._clock = clock
        self._skew = skew

    def now(self) -> datetime:
        return self._clock.now() + (self._skew() or timedelta())


class FastClock:
    """A clock that starts at a given time and runs at a multiple of real time: the demo's clock."""

    def __init__(self, start: datetime, speed: float = 1.0) -> None:
        self._start = start.astimezone(UTC)
        self._began = time.monotonic()
        self.speed = speed

    def now(self) -> datetime:
        return self._start + timedelta(seconds=(time.monotonic() - self._began) * self.speed)


class ManualClock:
    """A clock that stands still until it is set: for tests and recordings."""

    def __init__(self, start: datetime) -> None:
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def set(self, moment: datetime) -> None:
        self._now = moment.astimezone(UTC)

    def advance(self, by: timedelta) -> None:
        self._now += by


def local_zone(environ: Mapping[str, str], localtime: str = _LOCALTIME) -> tzinfo:
    """The zone of this machine, by name if it has one, because today's offset may not be that of last month."""
    name = environ.get("TZ", "").removeprefix(":") or os.path.realpath(localtime).partition(_ZONES)[2]
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return datetime.now(UTC).astimezone().tzinfo or UTC


def display_zone(name: str, environ: Mapping[str, str]) -> tzinfo:
    """The zone of times that belong to no object, by the configured word: UTC, local, expression or a name."""
    return UTC if name in ("UTC", "expression") else named_zone(name) or local_zone(environ)


def named_zone(name: str) -> tzinfo | None:
    """The zone of this name, such as Europe/Berlin; None for the words that name no place, and for unknown ones."""
    if "/" not in name:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
