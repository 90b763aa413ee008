"""What a row is painted against: one cluster at one moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property

from core.models import Backup, Restore
from core.rules.heartbeat import Heartbeat
from core.rules.queue import History, QueueItem, Run, learn, queue
from core.rules.triage import Thresholds
from core.rules.world import World
from core.store import Store

REFRESH = timedelta(seconds=10)
"""Beats and the usual lengths of runs take a look at everything and move slowly."""
_TOO_LONG = Thresholds().nothing_moved


@dataclass(frozen=True)
class Scene:
    """A World and a moment, with what the painters ask of them worked out once."""

    world: World
    now: datetime
    zone: tzinfo
    beats: Mapping[str, Heartbeat]
    pasts: Mapping[str, History]
    unfinished: Callable[[str], tuple[Run, ...]]

    def beat(self, namespace: str) -> Heartbeat:
        return self.beats.get(namespace, Heartbeat())

    def queued(self, run: Run) -> QueueItem | None:
        """Its place in the line of its Velero; None where it has ended."""
        line = self._lines.get(run.namespace)
        if line is None:
            line = self._lines[run.namespace] = self._line(run.namespace)
        return line.get((type(run), run.name))

    def ahead_of_the_waiting(self, run: Run) -> int:
        """How many of its kind are at work, and so have no place among those that wait."""
        self.queued(run)
        line = self._lines[run.namespace]
        return sum(kind is type(run) and not item.waits for (kind, _), item in line.items())

    def stands_for(self, run: Run) -> timedelta | None:
        """How long neither its items nor its bytes have moved, where that is too long; None where they move."""
        keys = [(type(run).__name__, run.namespace, run.name)]
        if isinstance(run, Backup):
            movements = self.world.movements_by_backup.get((run.namespace, run.name), ())
            keys += [(type(item).__name__, item.namespace, item.name) for item in movements]
        moved = max((at for key in keys if (at := self.world.seen.moved.get(key))), default=None)
        if moved is None or self.now - moved < _TOO_LONG:
            return None
        return self.now - moved

    @cached_property
    def _lines(self) -> dict[str, dict[tuple[type[Run], str], QueueItem]]:
        return {}

    def _line(self, namespace: str) -> dict[tuple[type[Run], str], QueueItem]:
        runs, past = self.unfinished(namespace), self.pasts.get(namespace)
        backups = [run for run in runs if isinstance(run, Backup)]
        restores = [run for run in runs if isinstance(run, Restore)]
        concurrency = self.world.server(namespace).concurrency
        lines = (
            queue(backups, now=self.now, concurrency=concurrency, history=past),
            queue(restores, now=self.now, history=past),
        )
        return {(type(item.run), item.run.name): item for line in lines for item in line.items}


class Stage:
    """Makes the scenes of one cluster, and remembers between them what is dear to work out."""

    def __init__(self, store: Store, context: str) -> None:
        self._store = store
        self._context = context
        self._worked_out: datetime | None = None
        self._beats: Mapping[str, Heartbeat] = {}
        self._pasts: Mapping[str, History] = {}

    def scene(self, now: datetime, zone: tzinfo = UTC) -> Scene:
        world = self._store.world(self._context)
        if self._worked_out is None or abs(now - self._worked_out) >= REFRESH:
            self._worked_out = now
            self._beats = world.heartbeats
            self._pasts = _pasts(world)
        return Scene(world, now, zone, self._beats, self._pasts, self._unfinished)

    def _unfinished(self, namespace: str) -> tuple[Run, ...]:
        indexes = self._store.indexes
        return (
            *indexes.unfinished_backups.get(self._context, namespace),
            *indexes.unfinished_restores.get(self._context, namespace),
        )


def _pasts(world: World) -> dict[str, History]:
    runs: dict[str, list[Run]] = {}
    everyone: tuple[Run, ...] = (*world.backups, *world.restores)
    for run in everyone:
        runs.setdefault(run.namespace, []).append(run)
    return {namespace: learn(members) for namespace, members in runs.items()}
