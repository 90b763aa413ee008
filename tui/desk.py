"""What all pages look at: the store, the moment of each cluster, its scene, and the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo

from core.kube.sink import State
from core.rules.triage import Finding, Settled, Severity, settle, triage
from core.rules.world import Unseen
from core.store import Key, Store
from core.view.focus import Focus
from core.view.scene import Scene, Stage
from core.view.zones import Zoning
from tui.source import Source

_LOOK_AGAIN = timedelta(seconds=10)
_SOONEST = timedelta(seconds=1)
_SHARE, _IDLE_SHARE = 40, 300
"""Judging everything takes its time in a large cluster: it gets a fortieth of it at most, and where nothing
changed and only time has passed, much less."""


_PATIENCE = 20.0
"""Seconds after which what has come in is judged, however much is still to come."""
_NEVER = (datetime.min.replace(tzinfo=UTC), (-1, -1))


class Desk:
    """One beat of the pump sees one moment: everything drawn in it is of the same second."""

    def __init__(self, source: Source, ticks: Callable[[], float]) -> None:
        self.source = source
        self.contexts = source.contexts
        self.zoning = Zoning()
        self.focus = Focus()
        self.findings: tuple[Finding, ...] = ()
        self.unseen: tuple[Unseen, ...] = ()
        self.judgement = 0
        """Moves whenever the findings were judged anew and came out differently."""
        self._ticks = ticks
        self._stages = {context: Stage(source.store, context) for context in source.contexts}
        self._scenes: dict[str, Scene] = {}
        self._nows: dict[str, datetime] = {}
        self._settled: dict[str, Settled] = {}
        self._first_look = set(source.contexts)
        self._judged: dict[str, tuple[datetime, tuple[int, int]]] = {}
        self._began = self._took = 0.0
        self._opened = ticks()

    @property
    def store(self) -> Store:
        return self.source.store

    @property
    def zone(self) -> tzinfo:
        """That of times which belong to no object."""
        return self.zoning.zone

    def beat(self) -> None:
        """A new moment begins."""
        self._nows.clear()
        self._scenes.clear()

    def now(self, context: str = "") -> datetime:
        """The time of a cluster, or of the first one."""
        where = context or self.contexts[0]
        if where not in self._nows:
            self._nows[where] = self.source.clock(where).now()
        return self._nows[where]

    def scene(self, context: str) -> Scene:
        if context not in self._scenes:
            self._scenes[context] = self._stages[context].scene(self.now(context), self.zoning)
        return self._scenes[context]

    def zone_of(self, key: Key | None) -> tzinfo:
        """In which zone the times of an object are told."""
        return self.zone if key is None else self.scene(key.context).zone_of(self.store.get(key))

    def severities(self) -> Mapping[Severity, int]:
        return {grade: sum(finding.severity is grade for finding in self.findings) for grade in Severity}

    def judge(self, *, at_once: bool = False) -> None:
        """Looks for what is wrong, where something changed or time has passed."""
        began = self._ticks()
        changed = any(self._judged.get(context, _NEVER)[1] != self._version(context) for context in self.contexts)
        rest = max(_SOONEST.total_seconds() / 2, self._took * (_SHARE if changed else _IDLE_SHARE))
        if began < self._began + rest and not at_once:
            return
        due = [context for context in self.contexts if at_once or self._is_due(context)]
        for context in due:
            self._judge(context)
        if due:
            self._gather()
            self._began, self._took = began, self._ticks() - began

    @property
    def version(self) -> tuple[object, ...]:
        """Moves whenever there is something new to draw, the passing of time not counted."""
        return self.judgement, *(self._version(context) for context in self.contexts)

    def _version(self, context: str) -> tuple[int, int]:
        return self.store.revision(context), self.store.health.revision

    def _is_due(self, context: str) -> bool:
        if context not in self._judged:
            return True
        at, version = self._judged[context]
        passed = abs(self.now(context) - at)
        return passed >= _LOOK_AGAIN or (passed >= _SOONEST and version != self._version(context))

    def _judge(self, context: str) -> None:
        now = self.now(context)
        self._judged[context] = (now, self._version(context))
        if self._is_coming_in(context):
            return
        found = triage(self.store.world(context), now)
        # What comes in with the first list has not just begun: it is shown at once.
        held = None if context in self._first_look else self._settled.get(context)
        self._settled[context] = settle(held, found.findings, now)
        if self.store.health.context(context).state is not State.SYNCING:
            self._first_look.discard(context)

    def _is_coming_in(self, context: str) -> bool:
        """Half of the objects makes wrong findings: a NAB whose Backup is on the next page is not lost."""
        if context not in self._first_look or self._ticks() - self._opened > _PATIENCE:
            return False
        return self.store.health.context(context).state is State.SYNCING

    def _gather(self) -> None:
        shown = tuple(
            finding for context in self.contexts for finding in self._settled.get(context, Settled()).shown.values()
        )
        unseen = tuple(gap for context in self.contexts for gap in self.store.world(context).unseen)
        if (shown, unseen) != (self.findings, self.unseen):
            self.findings, self.unseen = shown, unseen
            self.judgement += 1
