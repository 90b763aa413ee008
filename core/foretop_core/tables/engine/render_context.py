"""The context that a row is painted against: one cluster at one moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from functools import cached_property, partial
from typing import assert_never

import msgspec

from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import NamespaceFacts, NamespaceProtection, ProtectionJudge
from foretop_core.rules.facts.run_facts import (
    Forecasts,
    Owner,
    OwnerKind,
    QueueForecasts,
    QueueLine,
    Run,
    RunFacts,
    RunHistory,
    ended_facts,
    has_ended,
    history_of,
    queue_line,
    run_facts,
    unknown_line,
)
from foretop_core.rules.facts.schedule_facts import LastingFacts, ScheduleFacts
from foretop_core.rules.facts.server_facts import Heartbeat, ServerFacts, server_facts
from foretop_core.rules.remembered import remembered
from foretop_core.rules.sentences import Text, estimate, render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Thresholds
from foretop_core.store import Store
from foretop_core.store.background_reader import BackgroundReader, LatestAnswer
from foretop_core.tables.text import times
from foretop_core.tables.text.times import IN_UTC, TimeZoneSetting

REFRESH = timedelta(seconds=10)
"""The second of a beat and the usual lengths of runs take a look at everything and move slowly."""
PLAYED_AGAIN = timedelta(seconds=20)
"""A queue that has not moved is played forward again after this: estimates are told in minutes."""
_USUAL_LIMITS = Thresholds()
_LATELY = timedelta(hours=1)
NextWaits = Mapping[str, Mapping[str, tuple[datetime, timedelta]]]
"""By namespace and schedule, when the next run falls due and how long it is likely to wait, where that was foreseen."""


class RenderContext(msgspec.Struct, frozen=True, dict=True):
    """A snapshot and a moment, with what the painters ask of them worked out once."""

    snapshot: ClusterSnapshot
    now: datetime
    zoning: TimeZoneSetting
    beat: Callable[[str], Heartbeat]
    queue: Callable[[ServerFacts], QueueLine]
    """The unfinished runs of a server; where the cluster is large, as they were a moment ago."""
    ended: Callable[[], tuple[Run, ...]]
    """The runs that ended in the last hour; where the cluster is large, as they were a moment ago."""
    schedule_of: Callable[[Backup], Schedule | None]
    limits: Thresholds = _USUAL_LIMITS
    waits: NextWaits = msgspec.field(default_factory=dict)

    @cached_property
    def protection(self) -> ProtectionJudge:
        """How well the namespaces are protected now."""
        # Not a method of this one: the circle would keep each moment's snapshot until the next, rare, collection.
        return ProtectionJudge(self.snapshot, self.now, self.limits.protection, self._schedules.facts_of)

    @remembered
    def namespace(self, protection: NamespaceProtection) -> NamespaceFacts:
        """The facts of a namespace now."""
        return self.protection.facts(protection)

    def schedule(self, schedule: Schedule) -> ScheduleFacts:
        """The facts of a schedule now."""
        return self._schedules.facts_of(schedule)

    def schedule_facts(self, known: LastingFacts) -> ScheduleFacts:
        """The facts of a schedule now, with what a table keeps of it from change to change."""
        return self._schedules.facts(known)

    @cached_property
    def _schedules(self) -> _SchedulesNow:
        return _SchedulesNow(self.snapshot, self.now, self.limits.overdue, self.beat)

    def zone_of(self, resource: object) -> tzinfo:
        """In which zone the times of an object are told."""
        return self.zoning.of(resource, self.schedule_of)

    def text(self, text: Text, resource: object = None) -> str:
        """The text that a person reads now, in the zone of an object."""
        return render(text, self.now, self.zone_of(resource))

    def time(self, at: datetime, resource: object) -> str:
        """A moment within the text of a pane."""
        return humanize.time(at, self.now, self.zone_of(resource))

    def time_of_day(self, at: datetime | None, resource: object) -> str:
        return times.time_of_day(at, self.now, self.zone_of(resource), named=self.zoning.is_named)

    def minute(self, at: datetime, resource: object) -> str:
        return times.minute(at, self.zone_of(resource), named=self.zoning.is_named)

    def estimate(self, at: datetime, resource: object) -> str:
        """The minute that is nearest: an estimate has no seconds to be cut."""
        return self.minute(estimate(at).at, resource)

    @remembered
    def server(self, namespace: str) -> ServerFacts:
        """The Velero server of a namespace as it is now."""
        return server_facts(self.snapshot, namespace, self.now, self.beat(namespace))

    @remembered
    def line(self, namespace: str) -> QueueLine:
        """The line of a namespace's server: what it works on and what waits."""
        return self.queue(self.server(namespace))

    @remembered
    def queue_axis(self, namespace: str) -> timedelta:
        """From now to the end of the last backup that waits: all of them are drawn on it. Nothing where none ends."""
        return max(timedelta(), (self.line(namespace).last_end or self.now) - self.now)

    @cached_property
    def ended_lately(self) -> tuple[Run, ...]:
        """Runs that ended in the last hour: those that did not end well, then the rest, the newest first."""
        return self.ended()

    @remembered
    def facts(self, run: Run) -> RunFacts:
        """A backup or restore as it is now."""
        if has_ended(run):
            return ended_facts(self.snapshot, run, self.server(run.namespace))
        return run_facts(self.snapshot, run, self.now, self.line(run.namespace), self.limits.nothing_moved)


class _SchedulesNow:
    """The facts of the schedules of a snapshot at a moment, each worked out once."""

    def __init__(
        self, snapshot: ClusterSnapshot, now: datetime, grace: timedelta, beat: Callable[[str], Heartbeat]
    ) -> None:
        self._snapshot = snapshot
        self._now = now
        self._grace = grace
        self._beat = beat
        self._held: dict[tuple[str, str], ScheduleFacts] = {}

    def facts_of(self, schedule: Schedule) -> ScheduleFacts:
        return self.facts(LastingFacts(schedule, None, self._snapshot.readings(schedule)))

    def facts(self, known: LastingFacts) -> ScheduleFacts:
        schedule = known.schedule
        key = (schedule.namespace, schedule.name)
        facts = self._held.get(key)
        if facts is None or facts.schedule is not schedule or facts.known_runs is not known.known_runs:
            facts = self._held[key] = ScheduleFacts(
                schedule,
                known.known_runs,
                known.readings,
                snapshot=self._snapshot,
                now=self._now,
                grace=self._grace,
                known_beat=self._beat(schedule.namespace),
            )
        return facts


def _ended_lately(snapshot: ClusterSnapshot, now: datetime) -> tuple[Run, ...]:
    runs: Iterable[Run] = (*snapshot.backups, *snapshot.restores)
    lately = [
        (end, run)
        for run in runs
        if (end := run.status.completion_timestamp) and now - end < _LATELY and has_ended(run)
    ]
    lately.sort(key=lambda found: (found[1].phase != "Completed", found[0]), reverse=True)
    return tuple(run for _, run in lately)


class _LongLine:
    """The line of a server in a large cluster: worked out beside the event loop, where the last one holds meanwhile."""

    def __init__(self) -> None:
        self._line: LatestAnswer[QueueLine] = LatestAnswer(REFRESH)
        self._played: LatestAnswer[Forecasts] = LatestAnswer(PLAYED_AGAIN)

    def of(self, reader: BackgroundReader, revision: int, now: datetime, server: ServerFacts) -> QueueLine:
        """The last one, with the server as it is now; the queue is played forward once there is one."""
        told: Forecasts = {}
        if self._line.number and not server.silence:
            told = self._played.get(reader, None, now, partial(_played, server.namespace, now), told)
        basis, work = (revision, self._played.number), partial(_worked_out, now, server, told)
        return self._line.get(reader, basis, now, work, unknown_line(server))


def _worked_out(now: datetime, server: ServerFacts, told: Forecasts, snapshot: ClusterSnapshot) -> QueueLine:
    line = queue_line(snapshot, server.namespace, now, server, told)
    return msgspec.structs.replace(line, is_older=True).summed_up()


def _played(namespace: str, now: datetime, snapshot: ClusterSnapshot) -> Forecasts:
    return QueueForecasts().of(snapshot, namespace, now)


class RenderContextFactory:
    """Makes the render contexts of one cluster, and remembers for a while what takes many objects to work out."""

    def __init__(self, store: Store, context: str, reader: BackgroundReader | None = None) -> None:
        """`reader` works beside the event loop; without it, all is waited for."""
        self._store = store
        self._context = context
        self.waits: NextWaits = {}
        """As the last judgement has foreseen them."""
        self._seconds: dict[str, int | None] = {}
        self._pasts: dict[str, RunHistory] = {}
        beside = None if reader is None else reader.beside
        self._reader = reader
        self._forecasts: defaultdict[str, QueueForecasts] = defaultdict(lambda: QueueForecasts(PLAYED_AGAIN, beside))
        self._long_lines: defaultdict[str, _LongLine] = defaultdict(_LongLine)
        self._ended: LatestAnswer[tuple[Run, ...]] = LatestAnswer(REFRESH)
        self._worked_out: tuple[datetime, int, ClusterSnapshot] | None = None

    def render_context(
        self, now: datetime, zoning: TimeZoneSetting = IN_UTC, limits: Thresholds | None = None
    ) -> RenderContext:
        # Lists that have come in since show more of both than the passing of time, which alone shows nothing.
        before, revision = self._worked_out, self._store.health.revision_of(self._context)
        snapshot = self._store.snapshot(self._context)
        if before is None or before[1] != revision or (abs(now - before[0]) >= REFRESH and before[2] is not snapshot):
            self._worked_out = (now, revision, snapshot)
            self._seconds, self._pasts = {}, {}
        return RenderContext(
            snapshot,
            now,
            zoning,
            lambda namespace: self._beat(snapshot, namespace),
            lambda server: self._line(snapshot, now, server),
            lambda: self._ended_lately(snapshot, now),
            self._schedule_of,
            limits or _USUAL_LIMITS,
            self.waits,
        )

    def _line(self, snapshot: ClusterSnapshot, now: datetime, server: ServerFacts) -> QueueLine:
        namespace, reader = server.namespace, self._reader
        if reader is not None and reader.is_large:
            return self._long_lines[namespace].of(reader, self._store.revision(self._context), now, server)
        forecasts = self._forecasts[namespace]
        by_run = {} if server.silence else forecasts.of(snapshot, namespace, now, self._past(snapshot, namespace))
        return queue_line(snapshot, namespace, now, server, by_run)

    def _ended_lately(self, snapshot: ClusterSnapshot, now: datetime) -> tuple[Run, ...]:
        reader = self._reader
        if reader is not None and reader.is_large:
            revision = self._store.revision(self._context)
            return self._ended.get(reader, revision, now, lambda seen: _ended_lately(seen, now), ())
        return _ended_lately(snapshot, now)

    def _schedule_of(self, backup: Backup) -> Schedule | None:
        schedule = self._store.get(ObjectRef(self._context, SCHEDULE.name, backup.namespace, backup.schedule_name))
        return schedule if isinstance(schedule, Schedule) else None

    def _beat(self, snapshot: ClusterSnapshot, namespace: str) -> Heartbeat:
        if namespace not in self._seconds:
            self._seconds[namespace] = snapshot.beat_second(namespace)
        return snapshot.heartbeat_at(namespace, self._seconds[namespace])

    def _past(self, snapshot: ClusterSnapshot, namespace: str) -> RunHistory:
        """Whose runs tell is asked of the indexes; all runs of a server only where that does not help."""
        if namespace not in self._pasts:
            self._pasts[namespace] = history_of(
                snapshot,
                namespace,
                lambda owner: (run for run in self._runs_of(owner) if run.namespace == namespace),
            )
        return self._pasts[namespace]

    def _runs_of(self, owner: Owner) -> tuple[Run, ...]:
        indexes = self._store.indexes
        match owner.kind:
            case OwnerKind.SCHEDULE:
                return indexes.backups_by_schedule.get(self._context, owner.namespace, owner.name)
            case OwnerKind.NAB:
                return indexes.backups_by_team.get(self._context, owner.namespace)
            case OwnerKind.NAR:
                return indexes.restores_by_team.get(self._context, owner.namespace)
            case OwnerKind.HAND:
                return ()
        assert_never(owner.kind)
