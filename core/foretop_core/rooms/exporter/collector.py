"""Makes the metrics again and again beside the event loop: whoever asks for them gets the last that were finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from importlib.metadata import version

from foretop_core.background import beside, in_thread
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.logs import logger
from foretop_core.rooms.exporter.exposition import ClusterSample, Exposition, expositions
from foretop_core.rooms.exporter.measurement import Measurement
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.metric_families import Family, FamilyKind, Sample
from foretop_core.session import Session

BUILD = Family("build", "The release of foretop.", ("version",), FamilyKind.INFO)
_SOON = 0.5
"""Seconds, until the first are there."""
_PATIENCE = 20.0
"""Seconds after which the first are worked out though lists are still to come."""
_EVERY, _LONGEST = 10.0, 60.0
_SHARE = 100
"""Working them out takes a hundredth of the time at most, and at the latest they are a minute old."""
_log = logger(__name__)


class Collector:
    """The metrics of all contexts of a session, by the names that their clusters are to have."""

    def __init__(
        self, session: Session, names: Mapping[str, str], most: int, environ: Mapping[str, str], *, waits: bool
    ) -> None:
        """`waits` is for who prints them once and has nothing else to do meanwhile."""
        reads, elsewhere = BackgroundReads(environ, waits=waits), None if waits else beside
        self._session, self._names, self._most = session, names, most
        self._state = DashboardState(session, time.monotonic, reads, elsewhere, thresholds=session.thresholds)
        self._measurement = Measurement(self._state)
        self.expositions: Mapping[str, Exposition] = {}
        """By content type; none before the first were finished."""
        self._tells_all = False

    @property
    def is_ready(self) -> bool:
        """True once what is served was worked out from all lists, of clusters that answer."""
        return self._tells_all and self._has_all_lists()

    def _has_all_lists(self) -> bool:
        state = self._state
        return all(state.health(context).state is not WatchState.SYNCING for context in state.contexts)

    def look(self, *, at_once: bool = False) -> None:
        """Judges what has come in where that is due; volumes are watched wherever a Velero is by now."""
        self._session.watch_on_demand(KINDS_OF_VOLUMES)
        self._state.begin_frame()
        self._state.judge(at_once=at_once)

    async def settle(self) -> None:
        """Returns once all has come in, of volumes too; a cluster that does not answer keeps nobody waiting."""
        for _ in range(2):
            # Where the volumes are is known only after the first.
            settling = (self._session.settled(name) for name in self._session.contexts)
            await asyncio.gather(*settling, return_exceptions=True)
            self.look(at_once=True)

    async def run(self) -> None:
        """Never ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self.settle()
        while True:
            self.look()
            rest = _SOON
            if self._state.has_judged:
                began = time.monotonic()
                try:
                    await self.collect()
                except Exception:
                    # The last ones stay, and say when they were worked out.
                    _log.exception("working out the metrics failed")
                rest = min(_LONGEST, max(_EVERY, (time.monotonic() - began) * _SHARE))
            await asyncio.sleep(rest)

    async def collect(self) -> None:
        """Once, of what is known by now."""
        tells_all = self._has_all_lists()
        samples = [ClusterSample("", Sample(BUILD, (version("foretop"),), 1.0)), *await self.samples()]
        self.expositions = await in_thread(partial(expositions, samples, self._most))
        self._tells_all = tells_all

    async def samples(self) -> list[ClusterSample]:
        """The samples of all clusters, as they are now."""
        samples: list[ClusterSample] = []
        await self._measurement.learn_uids()
        for context in self._state.contexts:
            named = partial(_named, self._names.get(context, context))
            samples += await self._measurement.read(context, named)
        return samples


def _named(cluster: str, samples: Iterable[Sample]) -> list[ClusterSample]:
    return [ClusterSample(cluster, sample) for sample in samples]
