"""One context put together: its client, and a watch for every kind in every place that rights reach."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import product
from typing import Literal

import msgspec

from foretop_core.background import keep_running
from foretop_core.clock import Clock
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.access.accessible_namespaces import EVERYWHERE, WATCHED_NAMES, AccessibleNamespaces
from foretop_core.kube.access.namespace_resolver import NamespaceResolver, NamespaceSelection
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError, Unauthenticated, Unreachable
from foretop_core.kube.watching.reflector import Reflector
from foretop_core.kube.watching.retry import Backoff, InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import (
    UNSEEN,
    FirstRows,
    MovementSink,
    WatchHealth,
    WatchScope,
    WatchSink,
    WatchState,
    task_scope,
)
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.models.kinds import BESIDE_VELERO, CONFIG_MAP, EVENT, MOVEMENTS_OF, Kind
from foretop_core.models.movement import label_value
from foretop_core.rules.own_failures import failure_line


class MovementOwner(msgspec.Struct, frozen=True):
    """An unfinished Backup or Restore whose data movements are of interest."""

    kind: Literal["Backup", "Restore"]
    namespace: str
    name: str


class SinkFactory:
    """The target of a cluster's watches: one sink for each scope, given back when its watch ends."""

    def __init__(self, open_sink: Callable[[WatchScope], WatchSink], drop: Callable[[WatchScope], None]) -> None:
        self.open = open_sink
        self.drop = drop


class ClusterWatcher:
    """Runs the watches of one context; what they find goes to the sinks, what fails becomes their health."""

    def __init__(
        self,
        client: ApiClient,
        sinks: SinkFactory,
        clock: Clock,
        kinds: Iterable[Kind],
        named: NamespaceSelection | None = None,
        pace: InterruptibleWait | None = None,
        timing: WatchTimings | None = None,
    ) -> None:
        self.client = client
        self.access = AccessReviewer(client, clock)
        self.pace = pace or InterruptibleWait()
        self._sinks = sinks
        self._clock = clock
        self.kinds = tuple(kinds)
        self.namespaces = NamespaceResolver(client, self.access, clock, named or NamespaceSelection())
        self._timing = timing or WatchTimings()
        self._held: dict[Kind, frozenset[WatchScope]] = {}
        self._absent: dict[Kind, frozenset[WatchScope]] = {}
        self._failed: set[WatchScope] = set()
        self._watches: dict[WatchScope, asyncio.Task[None]] = {}
        self._reflectors: dict[WatchScope, Reflector] = {}
        self._slots = WatchSlots(client.budget.watches)
        self._movements: dict[WatchScope, MovementSink] = {}
        self._events: frozenset[WatchScope] = frozenset()
        self._on_demand: frozenset[WatchScope] = frozenset()
        self._acknowledgements: frozenset[WatchScope] = frozenset()
        self._followed: dict[Kind, asyncio.Task[None]] = {}
        """The tenants' kinds that a person looks at, each with the task that decides where it is watched."""
        self._elsewhere = asyncio.Event()
        self.first_rows = FirstRows()

    @property
    def name(self) -> str:
        return self.client.config.name

    def list_first(self, kinds: frozenset[str]) -> None:
        """The kinds that a person waits for: the others are listed once the first rows of these are shown."""
        self.first_rows = FirstRows(kinds & {kind.name for kind in self.kinds}, self._timing.go_ahead)

    async def run(self) -> None:
        """Follows every kind until it is cancelled; then ends all watches and the connection."""
        try:
            async with asyncio.TaskGroup() as group:
                for kind in self.kinds:
                    group.create_task(self._followed_for_good(kind))
                group.create_task(self._learn_cluster())
                group.create_task(self._listen())
                await asyncio.Event().wait()
        finally:
            self._follow_tenants(())
            await self._end(tuple(self._watches))
            await self.client.close()

    def follow_movements(self, runs: Iterable[MovementOwner]) -> None:
        """Watches the data movements of these runs, and of no others any more: one watch a kind and namespace."""
        by_scope: dict[WatchScope, set[str]] = {}
        for run in runs:
            for scope in self._scopes_of(run):
                by_scope.setdefault(scope, set()).add(label_value(run.name))
        for scope in self._movements.keys() - by_scope.keys():
            del self._movements[scope]
            self._stop(scope)
        for scope, names in by_scope.items():
            if scope in self._movements:
                self._movements[scope].want(frozenset(names))
            else:
                self._movements[scope] = MovementSink(self._sinks.open(scope), scope.selector, frozenset(names))
                self._start(scope)

    def follow_events(self, uid: str, namespace: str) -> None:
        """Watches the events of one object, the one that is open; an empty uid ends it."""
        fields = f"involvedObject.uid={uid}"
        scopes = frozenset({WatchScope(self.name, EVENT, namespace, fields=fields)} if uid else ())
        self._change(self._events, scopes)
        self._events = scopes

    def follow_acknowledgements(self, namespaces: Iterable[str]) -> None:
        """Watches the ConfigMap with acknowledgements in each of these namespaces."""
        scopes = frozenset(scope for namespace in namespaces for scope in self._scopes(CONFIG_MAP, namespace))
        self._open_at_once(scopes - self._acknowledgements)
        self._change(self._acknowledgements, scopes)
        self._acknowledgements = scopes

    def follow_on_demand(self, kinds: Iterable[Kind], namespaces: Iterable[str]) -> None:
        """Watches these kinds while a person looks at them, and lets the others go; Velero's in these namespaces."""
        kinds = tuple(kinds)
        beside = [kind for kind in kinds if kind in BESIDE_VELERO]
        self._follow_tenants([kind for kind in kinds if kind not in BESIDE_VELERO])
        scopes = frozenset(WatchScope(self.name, kind, namespace) for kind, namespace in product(beside, namespaces))
        self._open_at_once(scopes - self._on_demand)
        self._change(self._on_demand, scopes)
        self._on_demand = scopes

    def _follow_tenants(self, kinds: Collection[Kind]) -> None:
        for kind in self._followed.keys() - set(kinds):
            self._followed.pop(kind).cancel()
            self._change(self._held.pop(kind, frozenset()), frozenset())
            self._tell_absent(self._absent.pop(kind, frozenset()), frozenset())
            self._sinks.drop(self._scope(kind))
        for kind in set(kinds) - self._followed.keys():
            self._open_at_once(self._scopes(kind, ""))
            self._followed[kind] = asyncio.create_task(self._followed_for_good(kind), name=f"following {kind.plural}")

    def _open_at_once(self, scopes: Iterable[WatchScope]) -> None:
        """Whoever waits for all lists waits for these too."""
        for scope in scopes:
            self._sinks.open(scope).health(WatchHealth(WatchState.SYNCING, self._clock.now()))

    def look_into(self, namespace: str) -> None:
        """Tenants' objects are looked for in this namespace too, at once; "" lets go what was looked into in vain."""
        self.namespaces.look_into(namespace)
        self._slots.prefer(namespace)
        self._elsewhere.set()
        self._elsewhere = asyncio.Event()

    async def _followed_for_good(self, kind: Kind) -> None:
        failed = partial(self._tell_failed, task_scope(self.name, kind))
        await self._kept_running(f"following {kind.plural}", partial(self._follow, kind), failed)

    async def _follow(self, kind: Kind) -> None:
        """Watches one kind wherever it may be listed; where that is not everywhere, looks again each minute.

        One that was started again after a failure goes on with the watches that are there.
        """
        if not self._held.get(kind):
            self._sinks.open(self._scope(kind)).health(WatchHealth(WatchState.SYNCING, self._clock.now()))
            if not self.first_rows.awaits(kind.name):
                await self.first_rows.until_shown()
        while True:
            elsewhere = self._elsewhere
            places = await self._reach(kind, quiet=bool(self._held.get(kind)))
            scopes = frozenset(scope for namespace in places.namespaces for scope in self._scopes(kind, namespace))
            stand_in = self._scope(kind)
            if stand_in not in scopes and stand_in not in self._watches:
                self._sinks.drop(stand_in)
            self._change(self._held.get(kind, frozenset()), scopes)
            self._held[kind] = scopes
            missing = frozenset(scope for namespace in places.missing for scope in self._scopes(kind, namespace))
            self._absent[kind] = self._tell_absent(self._absent.get(kind, frozenset()), missing)
            self._note_working(kind)
            await self._until_next_look(kind, places, elsewhere)

    async def _learn_cluster(self) -> None:
        """Which cluster it is, where that decides about its protection; the guard asks again before every write."""
        if self.client.rules.protects_clusters:
            await self.first_rows.until_shown()
            # Whatever goes wrong, a cluster that is not known is protected the more.
            with suppress(Exception):
                await self.client.learn_uid()

    async def _listen(self) -> None:
        """Asks a server that has sent nothing for a while whether it is there: where nothing happens it is as quiet."""
        while True:
            await asyncio.sleep(max(self._timing.quiet / 5, self._timing.quiet - self.client.silent_for))
            if self.client.silent_for >= self._timing.quiet:
                # Whatever else goes wrong is told by the watches.
                with suppress(Exception):
                    try:
                        await self.client.knock(self._timing.answers_within)
                    except Unreachable as problem:
                        self._doubt(problem)
            if self.client.silent_for < self._timing.quiet:
                for reflector in self._reflectors.values():
                    reflector.believe()

    def _doubt(self, problem: Unreachable) -> None:
        """All is as old as the last word of the server; of a kind that is not watched yet nothing has come in."""
        since = self._clock.now() - timedelta(seconds=self.client.silent_for)
        for reflector in self._reflectors.values():
            reflector.doubt(problem, since)
        for kind in {*self.kinds, *self._followed} - {kind for kind, scopes in self._held.items() if scopes}:
            self._sinks.open(self._scope(kind)).health(WatchHealth(WatchState.STALE, since, str(problem)))

    async def _kept_running(
        self, name: str, work: Callable[[], Awaitable[None]], failed: Callable[[Exception, float], None]
    ) -> None:
        await keep_running(
            f"{name} in {self.name}", work, failed, self.pace.wait, self._timing.first_delay, self._timing.longest_delay
        )

    def _note_working(self, kind: Kind) -> None:
        if (scope := task_scope(self.name, kind)) in self._failed:
            self._failed.discard(scope)
            self._sinks.drop(scope)

    def _tell_failed(self, scope: WatchScope, problem: Exception, delay: float) -> None:
        now = self._clock.now()
        self._failed.add(scope)
        error, retry_at = failure_line(problem), now + timedelta(seconds=delay)
        self._sinks.open(scope).health(WatchHealth(WatchState.STALE, now, error, retry_at, is_fault=True))

    def _tell_absent(self, before: frozenset[WatchScope], absent: frozenset[WatchScope]) -> frozenset[WatchScope]:
        """A namespace that is not there is told in the place of a watch: an empty list would say that all is well."""
        for scope in before - absent - self._watches.keys():
            self._sinks.drop(scope)
        for scope in absent - before:
            self._sinks.open(scope).health(WatchHealth(WatchState.NO_NAMESPACE, self._clock.now()))
        return absent

    async def _until_next_look(self, kind: Kind, found: AccessibleNamespaces, elsewhere: asyncio.Event) -> None:
        """Until it is time, or a person wants to look elsewhere too."""
        waits = {asyncio.ensure_future(elsewhere.wait()), asyncio.ensure_future(self._patience(kind, found))}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _patience(self, kind: Kind, found: AccessibleNamespaces) -> None:
        """A watch of everything that works needs no second look; one that lost its right does."""
        if found.chosen:
            await asyncio.Event().wait()
        await self.pace.wait(self._timing.ask_again)
        while found.namespaces == EVERYWHERE and not found.missing and not self._is_forbidden(self._scope(kind)):
            await self.pace.wait(self._timing.ask_again)

    def _is_forbidden(self, scope: WatchScope) -> bool:
        reflector = self._reflectors.get(scope)
        return reflector is not None and reflector.state in UNSEEN

    async def _reach(self, kind: Kind, quiet: bool) -> AccessibleNamespaces:
        """Asks until there is an answer; before the first one the kind has no watch that could say how it is."""
        backoff, lost, answered = Backoff(self._timing, self.pace.random), self._clock.now(), False
        while True:
            try:
                return await self.namespaces.of(kind)
            except Exception as problem:
                delay = backoff.next()
                if not answered and isinstance(problem, Unauthenticated | ApiError):
                    # Only its first answer tells how far this machine's clock is from the server's.
                    lost, answered = self._clock.now(), True
                if not quiet:
                    state = WatchState.SIGNED_OUT if isinstance(problem, Unauthenticated) else WatchState.STALE
                    retry_at = self._clock.now() + timedelta(seconds=delay)
                    health = WatchHealth(state, lost, failure_line(problem), retry_at)
                    self._sinks.open(self._scope(kind)).health(health)
            await self.pace.wait(delay)

    def _scope(self, kind: Kind) -> WatchScope:
        """The kind everywhere; of several chosen names the first."""
        return self._scopes(kind, "")[0]

    def _scopes(self, kind: Kind, namespace: str) -> tuple[WatchScope, ...]:
        names = WATCHED_NAMES.get(kind)
        if names is None:
            return (WatchScope(self.name, kind, namespace),)
        return tuple(WatchScope(self.name, kind, namespace, fields=f"metadata.name={name}") for name in names)

    def _scopes_of(self, run: MovementOwner) -> Iterable[WatchScope]:
        label, kinds = MOVEMENTS_OF[run.kind]
        for kind in kinds:
            yield WatchScope(self.name, kind, run.namespace, label)

    def _change(self, held: frozenset[WatchScope], wanted: frozenset[WatchScope]) -> None:
        for scope in (held - wanted) & self._watches.keys():
            self._stop(scope)
        for scope in wanted - held - self._watches.keys():
            self._start(scope)

    def _start(self, scope: WatchScope) -> None:
        name, failed = f"watch {scope.kind.plural}", partial(self._tell_failed, scope)
        watching = self._kept_running(name, partial(self._watch, scope), failed)
        self._watches[scope] = asyncio.create_task(watching, name=name)

    async def _watch(self, scope: WatchScope) -> None:
        """A fault of our own costs this one watch a while and shows in its health; the others go on."""
        sink = self._movements.get(scope) or self._sinks.open(scope)
        first, timing = self.first_rows, self._timing
        reflector = Reflector(self.client, scope, sink, self._clock, self.pace, timing, self._slots, first)
        self._reflectors[scope] = reflector
        await reflector.run()

    def _stop(self, scope: WatchScope) -> None:
        self._watches.pop(scope).cancel()
        self._reflectors.pop(scope, None)
        self._sinks.drop(scope)
        self._slots.note(scope, filled=False)

    async def _end(self, scopes: tuple[WatchScope, ...]) -> None:
        tasks = [self._watches.pop(scope) for scope in scopes]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
