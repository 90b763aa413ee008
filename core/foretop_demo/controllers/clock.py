"""The clock of the box, which is held at an event's time while the controllers handle that event."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from foretop_core.clock import Clock


class BoxClock:
    """A clock that is held while an event is handled, so that results do not depend on how busy the machine is."""

    def __init__(self, base: Clock) -> None:
        self.base = base
        self._held: datetime | None = None

    def now(self) -> datetime:
        return self._held or self.base.now()

    @contextmanager
    def held(self, moment: datetime) -> Iterator[None]:
        before, self._held = self._held, moment
        try:
            yield
        finally:
            self._held = before
