"""`python -m trials.bench.crowded_dashboard COUNT RATE FILE`: the dashboard here, before so many NABs of one team.

So many times a second one comes, changes or goes. FILE gets the longest time for which the event loop did nothing else.
"""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import timedelta
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from foretop.commands.start_dashboard import DisplayFlags, show_dashboard
from foretop_core.kube.watching.watch_sink import EventType, WatchScope
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, NAB
from foretop_core.models.wire import Metadata
from tests.crowds import nabs_of_one_team, waiting
from tests.objects import NOW
from tests.tui.fake_source import CONTEXT, FilledSource

TICK = 0.005


class Crowded(FilledSource):
    """Its NABs come, change and go."""

    def __init__(self, number: int, rate: float, report: Path) -> None:
        super().__init__(nabs_of_one_team(number))
        self._number, self._rate, self._report = number, rate, report
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, first: frozenset[str] = frozenset()) -> None:
        super().start(first)
        self._tasks = [asyncio.create_task(self._change()), asyncio.create_task(self._measure())]

    async def _change(self) -> None:
        begun = time.monotonic()
        for number in count():
            await asyncio.sleep(1 / self._rate if self._rate else 1.0)
            self.manual.set(NOW + timedelta(seconds=time.monotonic() - begun))
            if not self._rate:
                continue
            if number % 3 == 0:
                self._apply("ADDED", *waiting(self._number + number, "team-a"))
            elif number % 3 == 1:
                nab, backup = waiting(number, "team-a")
                self._apply("MODIFIED", *(replace(one, metadata=_touched(one, number)) for one in (nab, backup)))
            else:
                self._apply("DELETED", *waiting(number, "team-a"))

    def _apply(self, what: EventType, nab: Resource, backup: Resource) -> None:
        for kind, item in ((NAB, nab), (BACKUP, backup)):
            self.store.sink(WatchScope(CONTEXT, kind), self.manual).apply(what, item)

    async def _measure(self) -> None:
        """Whoever removes the file asks for the longest stay from then on."""
        longest, busiest = 0.0, 0.0
        while True:
            begun, used = time.monotonic(), time.thread_time()
            await asyncio.sleep(TICK)
            longest = max(longest, time.monotonic() - begun - TICK)
            busiest = max(busiest, time.thread_time() - used)
            if not self._report.exists():
                longest = busiest = 0.0
            self._report.write_text(f"{longest * 1000:.0f} {busiest * 1000:.0f}")


def _touched(item: Resource, number: int) -> Metadata:
    return replace(
        item.metadata, labels={**item.metadata.labels, "touched": str(number)}, resource_version=f"{number + 2}"
    )


if __name__ == "__main__":
    size, changes, file = sys.argv[1:]
    sys.exit(show_dashboard(lambda: Crowded(int(size), float(changes), Path(file)), DisplayFlags()))
