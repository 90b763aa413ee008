"""Forecasts that a running dashboard has made: read from their file, added to it, and compared with what came."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from foretop_core.actions.forecast_file import ForecastFile
from foretop_core.background import in_thread
from foretop_core.errors import ForetopError
from foretop_core.rules.night.forecast_accuracy import ForecastAccuracy, ToldRun, measure_accuracy, told_runs
from foretop_core.rules.night.outlook import Outlook
from foretop_core.rules.snapshot import ClusterSnapshot

MOST_HELD = 100
"""Forecasts of one schedule that are held, the newest: a dashboard may run for months, and the file has the rest."""


class ToldForecasts:
    """The forecasts of one person; the file is read and written in threads, because it may take its time."""

    def __init__(self, file: ForecastFile) -> None:
        self._file = file
        self._by_schedule: defaultdict[tuple[str, str, str], dict[datetime, ToldRun]] = defaultdict(dict)
        self._accuracies: dict[tuple[str, str], ForecastAccuracy] = {}
        self._has_failed = False

    async def read(self) -> None:
        """Takes up what was told before; of a damaged file the next writing tells."""
        try:
            self._take(await in_thread(self._file.read))
        except ForetopError:
            return

    async def add(self, snapshot: ClusterSnapshot, one: Outlook) -> ForetopError | None:
        """Remembers a night; the answer is why that cannot be kept, the first time only."""
        new = [run for run in told_runs(snapshot.context, one) if run.due not in self._by_schedule[run.key[:3]]]
        self._take(new)
        now, server = one.night.now, (snapshot.context, one.night.namespace)
        if not new and server in self._accuracies:
            return None
        told = [run for place, runs in self._by_schedule.items() if place[:2] == server for run in runs.values()]
        self._accuracies[server] = await in_thread(lambda: measure_accuracy(snapshot, server[1], now, told))
        problem: ForetopError | None = None
        if new:
            try:
                problem = await in_thread(lambda: self._file.add(new, now))
            except ForetopError as unwritable:
                problem = unwritable
        if problem is None or self._has_failed:
            return None
        self._has_failed = True
        return problem

    def of_schedule(self, context: str, namespace: str, name: str) -> Sequence[ToldRun]:
        return tuple(self._by_schedule.get((context, namespace, name), {}).values())

    def warning(self, context: str, namespace: str) -> str:
        """One sentence where the ranges of a server have failed."""
        known = self._accuracies.get((context, namespace))
        return known.warning if known is not None else ""

    def _take(self, told: Iterable[ToldRun]) -> None:
        for run in told:
            runs = self._by_schedule[run.key[:3]]
            runs.setdefault(run.due, run)
            if len(runs) > MOST_HELD:
                del runs[min(runs)]
