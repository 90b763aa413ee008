"""The metrics of the clusters of a dashboard's state: of their objects and findings, and of how they are watched."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from foretop_core.clock import SystemClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.logs import logger
from foretop_core.room_finder import room_modules
from foretop_core.rules.metric_families import Family, FamilyKind, Measure, MeasuredCluster, Sample
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Thresholds, rank

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
WORST = Family(
    "worst_finding", "The finding that Triage puts first, where there is one.", ("code", "severity"), FamilyKind.INFO
)
ACKNOWLEDGED = Family("findings_acknowledged", "Lines of Triage that are acknowledged.", ("code", "severity"))
_ASK_UID_AGAIN = 600.0
T = TypeVar("T")
_log = logger(__name__)


class Measurement:
    """Works the metrics of a cluster out beside the event loop, again whenever it is asked."""

    def __init__(self, state: DashboardState) -> None:
        self._state = state
        self._measures = [measure for module in room_modules("foretop_core", "metrics") for measure in module.MEASURES]
        self._asked: dict[str, float] = {}
        """By context, from when on its uid is asked for again."""

    async def learn_uids(self) -> None:
        """Asks all clusters together that answer and have not told it; one that is lost keeps nobody waiting."""
        now = time.monotonic()
        asked = [
            client
            for context, cluster in self._state.source.clusters.items()
            if not (client := cluster.client).identity.uid
            and self._state.health(context).lost_at is None
            and now >= self._asked.get(context, 0.0)
        ]
        self._asked.update((client.config.name, now + _ASK_UID_AGAIN) for client in asked)
        await asyncio.gather(*(client.learn_uid() for client in asked))

    async def read(self, context: str, make: Callable[[Sequence[Sample]], T]) -> T:
        """Tells what is made of the samples of a cluster as it is now; that is made beside the event loop too."""
        state = self._state
        watching = (*self._health(context), Sample(CLUSTER, (self._uid(context),), 1.0))
        look = partial(
            _measured,
            make=make,
            watching=watching,
            findings=state.findings,
            acknowledged=state.acknowledged,
            measures=self._measures,
            now=state.now(context),
            limits=state.thresholds,
        )
        return await state.read_beside(context, look)

    def _uid(self, context: str) -> str:
        clusters = self._state.source.clusters
        return clusters[context].client.identity.uid if context in clusters else ""

    def _health(self, context: str) -> Iterator[Sample]:
        health, clock = self._state.health(context), self._state.clock(context)
        lost = health.lost_at
        yield Sample(UP, (), float(lost is None and health.state is not WatchState.SYNCING))
        yield Sample(STALE, (), max(0.0, (clock - lost).total_seconds()) if lost is not None else 0.0)
        yield Sample(JUDGED, (), SystemClock().now().timestamp())
        seen: dict[str, bool] = {}
        for scope, watch in self._state.store.health.watches(context):
            if not scope.selector and watch.state is not WatchState.NOT_INSTALLED:
                seen[scope.kind.name] = watch.state is WatchState.LIVE and seen.get(scope.kind.name, True)
        for kind, is_visible in seen.items():
            yield Sample(VISIBLE, (kind,), float(is_visible))


def _measured(
    snapshot: ClusterSnapshot,
    make: Callable[[Sequence[Sample]], T],
    watching: Sequence[Sample],
    findings: Iterable[Finding],
    acknowledged: Iterable[Finding],
    measures: Iterable[Measure],
    now: datetime,
    limits: Thresholds,
) -> T:
    """A measure that fails costs itself only, and is counted."""
    samples = [*watching, *_counted(snapshot.context, findings, acknowledged)]
    failed = 0
    for measure in measures:
        try:
            samples += list(measure(MeasuredCluster(snapshot, now, limits)))
        except Exception:
            _log.exception("%s failed", measure.__name__)
            failed += 1
    return make((*samples, Sample(UNJUDGED, (), float(failed))))


def _counted(context: str, findings: Iterable[Finding], acknowledged: Iterable[Finding]) -> Iterator[Sample]:
    own = [finding for finding in findings if finding.context == context]
    counts = Counter(map(_key, own))
    oldest: dict[tuple[str, str], datetime] = {}
    for finding in own:
        if finding.since is not None:
            oldest[_key(finding)] = min(finding.since, oldest.get(_key(finding), finding.since))
    if own:
        yield Sample(WORST, _key(min(own, key=rank)), 1.0)
    for key, count in counts.items():
        yield Sample(FINDINGS, key, float(count))
    for key, since in oldest.items():
        yield Sample(OLDEST, key, since.timestamp())
    for key, count in Counter(_key(finding) for finding in acknowledged if finding.context == context).items():
        yield Sample(ACKNOWLEDGED, key, float(count))


def _key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.severity.value
