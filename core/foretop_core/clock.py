"""The source of "now", the time zone of this machine, and how far an API server's clock is from ours.

Nothing else in foretop asks the system for the time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo

# Deferred imports: email.utils reads what a cluster answers; commands without one start faster.

_LOCALTIME = "/etc/localtime"
_ZONES = "zoneinfo/"
_SECOND = timedelta(seconds=1)
_STEP = timedelta(seconds=2)
"""Less is what a clock is put right by while it runs."""
_YEARS = range(2000, 3000)
"""A proxy may write any date: others than these are nobody's clock, and rules cannot look ahead from them."""
_JUMP = timedelta(minutes=1)
_BELIEVED = 3
"""So many answers in a row must agree on a jump: one of several servers, or of several proxies, may be wrong."""
_Bounds = tuple[timedelta, timedelta]


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


class ClockSkew:
    """The difference between the API server's clock and ours, narrowed with the `Date` header of every answer.

    The header is cut to whole seconds and was written between our sending and our receiving, so each answer
    bounds the skew from both sides; what all of them allow is soon a few milliseconds wide.
    """

    def __init__(self, ticks: Callable[[], float] | None = None) -> None:
        self._ticks = ticks
        self._learnt: tuple[datetime, float] | None = None
        self._bounds: _Bounds | None = None
        self._jump: _Bounds | None = None
        self._jumps = 0

    def at(self, now: datetime) -> timedelta | None:
        """How far the server is ahead of our clock, which says this now; nothing before the first answer.

        A clock that was set since the last answer, which steady ticks tell, has not changed the server's.
        """
        if self._bounds is None:
            return None
        least, most = self._bounds
        return (least + most) / 2 - self._step(now)

    def _step(self, now: datetime) -> timedelta:
        if self._ticks is None or self._learnt is None:
            return timedelta()
        then, ticks = self._learnt
        step = now - then - timedelta(seconds=self._ticks() - ticks)
        return step if abs(step) > _STEP else timedelta()

    def learn(self, header: str, sent: datetime, received: datetime) -> None:
        from email.utils import parsedate_to_datetime

        try:
            date = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return
        # The library reads the year 1 as 2001.
        if date.tzinfo is None or date.year not in _YEARS or f" {date.year} " not in header or received < sent:
            return
        bounds = None if self._step(received) else self._bounds
        self._learnt = (received, self._ticks()) if self._ticks is not None else None
        least, most = date - received, date + _SECOND - sent
        if bounds is None or least > bounds[1] or most < bounds[0]:
            # The first answer, or a clock that was set meanwhile: what was known no longer holds.
            if bounds is None or _distance(bounds, (least, most)) <= _JUMP or self._is_believed((least, most)):
                self._bounds, self._jumps = (least, most), 0
        else:
            self._bounds, self._jumps = (max(bounds[0], least), min(bounds[1], most)), 0

    def _is_believed(self, jump: _Bounds) -> bool:
        """True if enough answers in a row say the same."""
        agrees = self._jump is not None and _distance(self._jump, jump) <= _JUMP
        self._jump, self._jumps = jump, self._jumps + 1 if agrees else 1
        return self._jumps >= _BELIEVED


def _distance(one: _Bounds, other: _Bounds) -> timedelta:
    return max(one[0] - other[1], other[0] - one[1], timedelta())


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
