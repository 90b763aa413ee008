"""The clock of the box, which stands still at an event's own moment while the controllers deal with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from foretop_core.clock import Clock


class BoxClock:
    """Another clock, held while an event is dealt with: what happens does not depend on how busy the machine is."""

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
