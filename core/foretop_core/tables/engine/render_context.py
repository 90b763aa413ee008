"""What a row is painted against: one cluster at one moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from functools import cached_property
from typing import assert_never

import msgspec

from foretop_core.models import Backup, Restore, Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import LastingFacts, ScheduleFacts
from foretop_core.rules.heartbeat import Heartbeat, heartbeat
from foretop_core.rules.protection.protection_state import ProtectionJudge
from foretop_core.rules.queue import Owner, OwnerKind, QueueItem, Run, RunHistory, owner_of, queue, run_history
from foretop_core.rules.sentences import Text, render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_refusal import waiting_refusals
from foretop_core.rules.triage import Thresholds
from foretop_core.rules.triage.protection import protection_limits
from foretop_core.store import Store
from foretop_core.tables.text import times
from foretop_core.tables.text.time_zones import IN_UTC, TimeZoneSetting

REFRESH = timedelta(seconds=10)
"""Beats and the usual lengths of runs take a look at everything and move slowly."""
_RECENT = timedelta(days=1)
"""What older backups say of the beat no longer counts."""
_USUAL_LIMITS = Thresholds()


class RenderContext(msgspec.Struct, frozen=True, dict=True):
    """A snapshot and a moment, with what the painters ask of them worked out once."""

    snapshot: ClusterSnapshot
    now: datetime
    zoning: TimeZoneSetting
    beat: Callable[[str], Heartbeat]
    past: Callable[[str], RunHistory]
    unfinished: Callable[[str], tuple[Run, ...]]
    schedule_of: Callable[[Backup], Schedule | None]
    limits: Thresholds = _USUAL_LIMITS

    @cached_property
    def protection(self) -> ProtectionJudge:
        """How well the namespaces are protected now."""
        return ProtectionJudge(self.now, protection_limits(self.limits), self.snapshot.velero_namespaces)

    def schedule(self, schedule: Schedule) -> ScheduleFacts:
        """The facts of a schedule now."""
        return self.facts(LastingFacts(schedule, None, self.snapshot.readings(schedule)))

    def facts(self, known: LastingFacts) -> ScheduleFacts:
        """The facts of a schedule now, with what a table keeps of it from change to change."""
        schedule = known.schedule
        key = (schedule.namespace, schedule.name)
        held = self._schedules.get(key)
        if held is None or held.schedule is not schedule or held.known_runs is not known.known_runs:
            held = self._schedules[key] = ScheduleFacts(
                schedule,
                known.known_runs,
                known.readings,
                snapshot=self.snapshot,
                now=self.now,
                grace=self.limits.overdue,
                known_beat=self.beat(schedule.namespace),
            )
        return held

    @cached_property
    def _schedules(self) -> dict[tuple[str, str], ScheduleFacts]:
        return {}

    def zone_of(self, resource: object) -> tzinfo:
        """In which zone the times of an object are told."""
        return self.zoning.of(resource, self.schedule_of)

    def text(self, text: Text, resource: object = None) -> str:
        """What a person reads now, in the zone of an object."""
        return render(text, self.now, self.zone_of(resource))

    def time(self, at: datetime, resource: object) -> str:
        """A moment within the text of a pane."""
        return humanize.time(at, self.now, self.zone_of(resource))

    def time_of_day(self, at: datetime | None, resource: object) -> str:
        return times.time_of_day(at, self.now, self.zone_of(resource), named=self.zoning.is_named)

    def minute(self, at: datetime, resource: object) -> str:
        return times.minute(at, self.zone_of(resource), named=self.zoning.is_named)

    def queued(self, run: Run) -> QueueItem | None:
        """Its place in the line of its Velero; None where it has ended."""
        line = self._lines.get(run.namespace)
        if line is None:
            line = self._lines[run.namespace] = self._line(run.namespace)
        return line.get((type(run), run.name))

    def running_beside(self, run: Run) -> int:
        """How many of its kind its Velero works on."""
        key = (run.namespace, type(run))
        if key not in self._running:
            others = [self.queued(other) for other in self.unfinished(run.namespace) if type(other) is type(run)]
            self._running[key] = sum(found is not None and not found.waits for found in others)
        return self._running[key]

    def waiting_place(self, run: Run) -> int:
        """Its place among those that wait, which those at work lead; 0 for one that does not wait."""
        found = self.queued(run)
        return found.place - self.running_beside(run) if found is not None and found.waits else 0

    def stands_for(self, run: Run) -> timedelta | None:
        """How long neither its items nor its bytes have moved, where that is too long; None where they move."""
        moved = max((at for key in self._work_of(run) if (at := self.snapshot.seen.moved.get(key))), default=None)
        if moved is None or self.now - moved < self.limits.nothing_moved:
            return None
        return self.now - moved

    def was_seen_moving(self, run: Run) -> bool:
        """Otherwise it has stood for as long as foretop has seen it, and perhaps for longer."""
        seen = self.snapshot.seen
        return any(key in seen.moved and key not in seen.unmoved for key in self._work_of(run))

    def _work_of(self, run: Run) -> list[ObjectRef]:
        return [self.snapshot.ref(item) for item in (run, *self.snapshot.movements_of(run))]

    @cached_property
    def _lines(self) -> dict[str, dict[tuple[type[Run], str], QueueItem]]:
        return {}

    @cached_property
    def _running(self) -> dict[tuple[str, type[Run]], int]:
        return {}

    def _line(self, namespace: str) -> dict[tuple[type[Run], str], QueueItem]:
        runs, past = self.unfinished(namespace), self.past(namespace)
        backups = [run for run in runs if isinstance(run, Backup)]
        restores = [run for run in runs if isinstance(run, Restore)]
        concurrency = self.snapshot.server(namespace).concurrency
        silence = self.beat(namespace).silence(self.now)
        refusals = waiting_refusals(self.snapshot, backups)
        lines = (
            queue(backups, now=self.now, concurrency=concurrency, history=past, silence=silence, refusals=refusals),
            queue(restores, now=self.now, history=past, silence=silence),
        )
        return {(type(item.run), item.run.name): item for line in lines for item in line.items}


class RenderContextFactory:
    """Makes the render contexts of one cluster, and remembers for a while what takes many objects to work out."""

    def __init__(self, store: Store, context: str) -> None:
        self._store = store
        self._context = context
        self._beats: dict[str, Heartbeat] = {}
        self._pasts: dict[str, RunHistory] = {}
        self._worked_out: datetime | None = None

    def render_context(
        self, now: datetime, zoning: TimeZoneSetting = IN_UTC, limits: Thresholds | None = None
    ) -> RenderContext:
        if self._worked_out is None or abs(now - self._worked_out) >= REFRESH:
            self._worked_out = now
            self._beats, self._pasts = {}, {}
        snapshot = self._store.snapshot(self._context)
        return RenderContext(
            snapshot,
            now,
            zoning,
            lambda namespace: self._beat(snapshot, namespace, now),
            self._past,
            self._unfinished,
            self._schedule_of,
            limits or _USUAL_LIMITS,
        )

    def _schedule_of(self, backup: Backup) -> Schedule | None:
        found = self._store.get(ObjectRef(self._context, SCHEDULE.name, backup.namespace, backup.schedule_name))
        return found if isinstance(found, Schedule) else None

    def _beat(self, snapshot: ClusterSnapshot, namespace: str, now: datetime) -> Heartbeat:
        if namespace not in self._beats:
            schedules = [item for item in snapshot.schedules if item.namespace == namespace]
            storage = [item for item in snapshot.storage if item.namespace == namespace]
            recent = [
                run
                for run in snapshot.backups
                if run.created and now - run.created < _RECENT and run.namespace == namespace
            ]
            waiting = self._store.indexes.unfinished_backups.get(self._context, namespace)
            server = snapshot.server(namespace)
            self._beats[namespace] = heartbeat(
                storage,
                schedules,
                (*recent, *waiting),
                is_down=server.is_down,
                started=server.started,
                off_beat=snapshot.seen.syncs_off_beat,
            )
        return self._beats[namespace]

    def _past(self, namespace: str) -> RunHistory:
        """Learned from the runs of those alone who have something in the line."""
        if namespace not in self._pasts:
            owners = {owner_of(run) for run in self._unfinished(namespace)}
            self._pasts[namespace] = run_history(run for owner in owners for run in self._runs_of(owner))
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

    def _unfinished(self, namespace: str) -> tuple[Run, ...]:
        indexes = self._store.indexes
        return (
            *indexes.unfinished_backups.get(self._context, namespace),
            *indexes.unfinished_restores.get(self._context, namespace),
        )
