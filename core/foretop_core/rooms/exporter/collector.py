"""Makes the metrics again and again beside the event loop: whoever asks for them gets the last that were finished."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from importlib.metadata import version

from foretop_core.background import beside, in_thread
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.logs import logger
from foretop_core.room_finder import room_modules
from foretop_core.rooms.exporter.exposition import ClusterSample, Exposition, expositions
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.metric_families import Family, FamilyKind, Measure, MeasuredCluster, Sample
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Thresholds
from foretop_core.session import Session

BUILD = Family("build", "The release of foretop.", ("version",), FamilyKind.INFO)
CLUSTER = Family(
    "cluster", "A cluster and the uid of its namespace kube-system, by which it is one.", ("uid",), FamilyKind.INFO
)
UP = Family("up", "1 while news of the cluster come in.")
STALE = Family("stale_seconds", "For how long no news of the cluster have come in.")
VISIBLE = Family("visible", "1 while all objects of the kind that concern Velero can be seen.", ("kind",))
JUDGED = Family("judged_timestamp_seconds", "When these numbers were worked out, by the clock of the exporter.")
UNJUDGED = Family("failed_measures", "Groups of metrics that could not be worked out, by a fault of foretop's own.")
FINDINGS = Family("findings", "Lines of Triage that are not acknowledged.", ("code", "severity"))
OLDEST = Family(
    "finding_oldest_timestamp_seconds", "Since when the oldest of these findings lasts.", ("code", "severity")
)
ACKNOWLEDGED = Family("findings_acknowledged", "Lines of Triage that are acknowledged.", ("code", "severity"))
_SOON = 0.5
"""Seconds, until the first are there."""
_EVERY, _LONGEST = 10.0, 60.0
_SHARE = 100
"""Working them out takes a hundredth of the time at most, and at the latest they are a minute old."""
_ASK_UID_AGAIN = 600.0
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
        self._measures = [measure for module in room_modules("foretop_core", "metrics") for measure in module.MEASURES]
        self._asked: dict[str, float] = {}
        self.expositions: Mapping[str, Exposition] = {}
        """By content type; none before the first were finished."""

    @property
    def is_ready(self) -> bool:
        """True once all lists have come in, of clusters that answer, and were judged."""
        state = self._state
        lists = all(state.health(context).state is not WatchState.SYNCING for context in state.contexts)
        return bool(self.expositions) and lists

    def look(self, *, at_once: bool = False) -> None:
        """Judges what has come in where that is due; volumes are watched wherever a Velero is by now."""
        self._session.watch_on_demand(KINDS_OF_VOLUMES)
        self._state.begin_frame()
        self._state.judge(at_once=at_once)

    async def run(self) -> None:
        """Never ends."""
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
        samples = [ClusterSample("", Sample(BUILD, (version("foretop"),), 1.0)), *await self.samples()]
        self.expositions = await in_thread(partial(expositions, samples, self._most))

    async def samples(self) -> list[ClusterSample]:
        """The samples of all clusters, as they are now."""
        samples: list[ClusterSample] = []
        for context in self._state.contexts:
            name = self._names.get(context, context)
            now, uid = self._state.now(context), await self._uid(context)
            measured = partial(_measured, measures=self._measures, now=now, limits=self._state.thresholds)
            of_objects = await self._state.read_beside(context, measured)
            of_cluster = (*self._health(context, uid), *self._findings(context), *of_objects)
            samples += [ClusterSample(name, sample) for sample in of_cluster]
        return samples

    async def _uid(self, context: str) -> str:
        client = self._session.clusters[context].client
        if not client.identity.uid and time.monotonic() >= self._asked.get(context, 0.0):
            self._asked[context] = time.monotonic() + _ASK_UID_AGAIN
            await client.learn_uid()
        return client.identity.uid

    def _health(self, context: str, uid: str) -> Iterator[Sample]:
        health, clock = self._state.health(context), self._state.clock(context)
        lost = health.lost_at
        yield Sample(CLUSTER, (uid,), 1.0)
        yield Sample(UP, (), float(lost is None and health.state is not WatchState.SYNCING))
        yield Sample(STALE, (), max(0.0, (clock - lost).total_seconds()) if lost is not None else 0.0)
        yield Sample(JUDGED, (), self._session.local_clock.now().timestamp())
        seen: dict[str, bool] = {}
        for scope, watch in self._state.store.health.watches(context):
            if not scope.selector and watch.state is not WatchState.NOT_INSTALLED:
                seen[scope.kind.name] = watch.state is WatchState.LIVE and seen.get(scope.kind.name, True)
        for kind, is_visible in seen.items():
            yield Sample(VISIBLE, (kind,), float(is_visible))

    def _findings(self, context: str) -> Iterator[Sample]:
        findings = [one for one in self._state.findings if one.context == context]
        oldest: dict[tuple[str, str], datetime] = {}
        for one in findings:
            if one.since is not None:
                oldest[_key(one)] = min(one.since, oldest.get(_key(one), one.since))
        for key, count in Counter(map(_key, findings)).items():
            yield Sample(FINDINGS, key, float(count))
        for key, since in oldest.items():
            yield Sample(OLDEST, key, since.timestamp())
        known = (one for one in self._state.acknowledged if one.context == context)
        for key, count in Counter(map(_key, known)).items():
            yield Sample(ACKNOWLEDGED, key, float(count))


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.severity.value


def _measured(
    snapshot: ClusterSnapshot, measures: list[Measure], now: datetime, limits: Thresholds
) -> tuple[Sample, ...]:
    """One that fails costs itself only, and is counted."""
    samples: list[Sample] = []
    failed = 0
    for measure in measures:
        try:
            samples += list(measure(MeasuredCluster(snapshot, now, limits)))
        except Exception:
            _log.exception("%s failed", measure.__name__)
            failed += 1
    return (*samples, Sample(UNJUDGED, (), float(failed)))
