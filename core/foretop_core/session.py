"""One run put together: the contexts, their watches, the store they fill, and the clock of each cluster."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec

from foretop_core.background import in_thread, keep_running
from foretop_core.clock import Clock, ShiftedClock, SystemClock
from foretop_core.config.thresholds_from_settings import configured_window, thresholds_of
from foretop_core.errors import BadInput, ForetopError, Unreadable
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.access.node_agents import read_node_limits
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import Connections, connect
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import ListPage, read_object
from foretop_core.kube.watching.cluster_watcher import ClusterWatcher, MovementOwner, SinkFactory
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import SETTLED, FirstRows, WatchHealth, WatchState, task_scope
from foretop_core.models import (
    Backup,
    DataDownload,
    DataUpload,
    Pod,
    PodVolumeBackup,
    PodVolumeRestore,
    Resource,
    Restore,
)
from foretop_core.models.kinds import (
    BACKUP,
    CLAIM,
    CONFIG_MAP,
    DAEMON_SET,
    DATA_UPLOAD,
    DEPLOYMENT,
    KINDS,
    MOVEMENTS,
    ON_DEMAND,
    POD,
    RESTORE,
    SCHEDULE,
    SNAPSHOT_LOCATION,
    STORAGE,
    Kind,
    by_name,
)
from foretop_core.models.kinds import EVENT as EVENTS
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import NONE_GIVEN, GivenVersions
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.queue import has_ended
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Thresholds
from foretop_core.rules.velero_pods import failing_server
from foretop_core.store import Store

if TYPE_CHECKING:
    from foretop_core.actions.journal import Journal
    from foretop_core.actions.plan_executor import PlanExecutor

# Deferred imports: the actions are loaded after the first rows, and rooms where one is asked for.

WATCHED: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind not in (*ON_DEMAND, EVENTS, CONFIG_MAP))
"""Data movements are watched for unfinished runs, events for the open object, acknowledgements where a Velero is, and
the rest while a page shows it."""


_ANSWERS_WITHIN = 15.0
_LOOK_AGAIN, _LOOK_SOON = 60.0, 1.0
"""Seconds, while a server is down or volumes are shown; and at first."""
_MOST_PODS = "200"
_LIMITS_LAST = timedelta(minutes=5)
"""How many volumes a node moves at once is read again after so long, while volumes move."""


class Session:
    """Facts come down through here: whoever shows something reads the store and drains its feed."""

    def __init__(
        self,
        connections: Connections,
        named: NamespaceSelection | None = None,
        clock: Clock | None = None,
        kinds: tuple[Kind, ...] = WATCHED,
        timing: WatchTimings | None = None,
        given_versions: GivenVersions = NONE_GIVEN,
        thresholds: Thresholds | None = None,
        *,
        keeps_last_hour: bool = True,
    ) -> None:
        self.thresholds = thresholds or Thresholds()
        self.store = Store(given_versions, keeps_last_hour=keeps_last_hour)
        self.connections = connections
        self.namespaces = named.namespaces if named else ()
        self.local_clock = clock or SystemClock()
        self._timing = timing or WatchTimings()
        self._clocks = {name: self._clock_of(client) for name, client in connections.clients.items()}

        def watcher(name: str, client: ApiClient) -> ClusterWatcher:
            return ClusterWatcher(
                client,
                SinkFactory(lambda scope: self.store.sink(scope, self._clocks[name]), self.store.drop),
                self._clocks[name],
                kinds,
                named,
                timing=timing,
            )

        self._watcher = watcher
        self._clusters = {name: watcher(name, client) for name, client in connections.clients.items()}
        for name, client in connections.clients.items():
            self.store.health.note(name, client.notes)
            client.leapt = self._observe_anew
        self._crashed = {name: self._crashed_in(name, client) for name, client in connections.clients.items()}
        self._judges = set(WATCHED) <= set(kinds)
        """Findings are judged from all kinds that are watched: without them nobody asks which are known."""
        self._shows_volumes = asyncio.Event()
        """Set while somebody looks at what is known of volumes."""
        self._limits_read: dict[tuple[str, str], datetime] = {}
        self._running: asyncio.Task[None] | None = None
        self._group: asyncio.TaskGroup | None = None

    @property
    def clusters(self) -> Mapping[str, ClusterWatcher]:
        return self._clusters

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(self.clusters)

    def clock(self, context: str) -> Clock:
        """The cluster's own time."""
        return self._clocks[context]

    def skew(self, context: str) -> timedelta | None:
        """How far the cluster's clock is ahead of this machine's; an archive has one of its own."""
        client = self.connections.clients[context]
        return None if client.origin else client.skew

    def snapshot(self, context: str) -> ClusterSnapshot:
        return self.store.snapshot(context)

    def executor(self, context: str, journal: Journal, user: str) -> PlanExecutor:
        """The executor of writes in one context; loaded with the first of them, because the rows come before it."""
        from foretop_core.actions.plan_executor import PlanExecutor

        cluster = self.clusters[context]
        return PlanExecutor(
            cluster.client, cluster.access, self.clock(context), journal, user, lambda: self.snapshot(context)
        )

    async def other_contexts(self) -> tuple[str, ...]:
        """The contexts of the kubeconfig that are not watched."""
        return tuple(name for name in await in_thread(self.connections.known) if name not in self._clusters)

    async def add_context(self, name: str) -> None:
        """Watches another context of the kubeconfig from now on; one that does not answer is not added."""
        if name in self._clusters:
            return
        client = await in_thread(partial(self.connections.open_more, name))
        try:
            await _check_reachable(client)
        except BaseException:
            await client.close()
            raise
        if name in self._clusters:
            await client.close()
            return
        self.connections.clients[name] = client
        self._clocks[name] = self._clock_of(client)
        self._crashed[name] = self._crashed_in(name, client)
        self._clusters[name] = self._watcher(name, client)
        if self._group is not None:
            self._group.create_task(self._clusters[name].run(), name=f"cluster {name}")

    def watch_events(self, context: str, uid: str, namespace: str) -> None:
        """Follows the events of the one object that is open; no uid ends it."""
        for name, cluster in self.clusters.items():
            cluster.follow_events(uid if name == context else "", namespace)

    def watch_namespace(self, namespace: str) -> None:
        """Looks for tenants' objects in this namespace too, where not all are watched anyway; "" for no further one."""
        for cluster in self.clusters.values():
            cluster.look_into(namespace)

    def watch_on_demand(self, kinds: frozenset[str]) -> None:
        """Watches these kinds wherever a Velero server is, and no other kind that is watched on demand."""
        on_demand = tuple(kind for kind in ON_DEMAND if kind.name in kinds)
        if CLAIM.name in kinds:
            self._shows_volumes.set()
        else:
            self._shows_volumes.clear()
        for name, cluster in self.clusters.items():
            cluster.follow_on_demand(on_demand, self.snapshot(name).velero_namespaces if on_demand else ())

    async def fetch_object(self, ref: ObjectRef) -> dict[str, Any]:
        """An object as the server has it, with the fields that foretop does not read."""
        kind = by_name(ref.kind)
        if kind is None:
            raise ForetopError(f"{ref.kind} is not a kind that foretop knows")
        answer = await self.clusters[ref.context].client.request("GET", api_paths.item(kind, ref.namespace, ref.name))
        return answer.read(dict[str, Any])

    def start(self, first: frozenset[str] = frozenset()) -> None:
        """Begins to watch, these kinds before the others; nothing that a cluster does ends it."""
        for cluster in self.clusters.values():
            cluster.list_first(first)
        self._running = asyncio.create_task(self._run(), name="session")

    def to_be_shown(self) -> tuple[FirstRows, ...]:
        """The rows of those kinds that have come and were not shown yet, by cluster: all else waits for that."""
        return tuple(watcher.first_rows for watcher in self.clusters.values() if watcher.first_rows.is_to_be_shown)

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    async def settled(self, context: str) -> None:
        """Returns once every watch of the context has seen what it may see; raises where it cannot be reached."""
        revision, settled = -1, False
        while True:
            if settled or revision != self.store.health.revision:
                revision = self.store.health.revision
                states = [health for _, health in self.store.health.watches(context)]
                failed = [health for health in states if health.state in (WatchState.STALE, WatchState.SIGNED_OUT)]
                if failed:
                    raise ForetopError(f"Cannot look at {context}", failed[0].error)
                kinds = {scope.kind for scope, _ in self.store.health.watches(context)}
                expected = len(self.clusters[context].kinds)
                was_settled, settled = (
                    settled,
                    len(kinds) >= expected and all(watch_health.state in SETTLED for watch_health in states),
                )
                if settled and was_settled:
                    # At the second look, for the first runs that came in have opened watches of their data movements.
                    await self._look_at_crashed(context)
                    await self._look_at_node_limits(self._moving(context))
                    await self._look_at_deciding(context)
                    return
            await asyncio.sleep(0.01)

    def retry_now(self) -> None:
        """Let everything that waits before another try go on now."""
        for cluster in self.clusters.values():
            cluster.pace.hurry()

    def can_sign_in(self, context: str) -> bool:
        """True if a person can help: there is a plugin that can ask them."""
        return self.connections.clients[context].config.identity.plugin is not None

    def sign_in(self, context: str) -> None:
        """Runs the plugin on the plain terminal until it is done; whoever shows a screen puts it aside before."""
        client = self.connections.clients[context]
        if plugin := client.config.identity.plugin:
            self.connections.plugins.sign_in(plugin)
            self.retry_now()

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            for name, cluster in self.clusters.items():
                group.create_task(cluster.run(), name=f"cluster {name}")
            group.create_task(self._kept_running("following data movements", self._follow_movements, DATA_UPLOAD))
            group.create_task(self._kept_running("following crashed servers", self._follow_servers, POD))
            group.create_task(self._kept_running("following node agents", self._follow_node_agents, DAEMON_SET))
            work = self._follow_deciding
            group.create_task(self._kept_running("following what decides about volumes", work, SNAPSHOT_LOCATION))
            if self._judges:
                work = self._follow_acknowledgements
                group.create_task(self._kept_running("following acknowledgements", work, CONFIG_MAP))

    async def _kept_running(self, name: str, work: Callable[[], Awaitable[None]], kind: Kind) -> None:
        """One that fails leaves the watches alone, and is the health of what it follows until it works again."""

        def failed(problem: Exception, delay: float) -> None:
            for context in self.contexts:
                now = self.clock(context).now()
                error, retry_at = failure_line(problem), now + timedelta(seconds=delay)
                health = WatchHealth(WatchState.STALE, now, error, retry_at, is_fault=True)
                self.store.health.report(task_scope(context, kind), health)

        first, longest = self._timing.first_delay, self._timing.longest_delay
        await keep_running(name, work, failed, first=first, longest=longest)

    def _note_working(self, kind: Kind) -> None:
        for context in self.contexts:
            self.store.health.forget(task_scope(context, kind))

    async def _follow_servers(self) -> None:
        """Reads the pods of a server again and again for as long as its Deployment says that none is ready."""
        changed = asyncio.Event()
        feed = self.store.feed.subscribe((DEPLOYMENT.name,), changed.set)
        changed.set()
        down = False
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_AGAIN if down else None):
                        await changed.wait()
                changed.clear()
                feed.drain()
                down = any([await self._look_at_crashed(context) for context in self.contexts])
                self._note_working(POD)
        finally:
            self.store.feed.unsubscribe(feed)

    async def _look_at_crashed(self, context: str) -> bool:
        """Look for crashed servers; true if one of the cluster is down."""
        down = [namespace for namespace, server in self.snapshot(context).servers.items() if server.is_down]
        await self._crashed[context].look(down)
        return bool(down)

    async def _follow_node_agents(self) -> None:
        """Reads the limits of node agents when volumes begin to move, and again while they do."""
        changed = asyncio.Event()
        feed = self.store.feed.subscribe(tuple(kind.name for kind in MOVEMENTS), changed.set)
        try:
            for context in self.contexts:
                await self._look_at_node_limits(self._moving(context))
            while True:
                await changed.wait()
                changed.clear()
                await self._look_at_node_limits(
                    {key for key, change in feed.drain().items() if _is_moving(change.after)}
                )
                self._note_working(DAEMON_SET)
        finally:
            self.store.feed.unsubscribe(feed)

    def _moving(self, context: str) -> set[ObjectRef]:
        """Volumes on their way; costs a look at each movement."""
        return {
            key for kind in MOVEMENTS for key, resource in self.store.items(context, kind.name) if _is_moving(resource)
        }

    async def _look_at_node_limits(self, moving: set[ObjectRef]) -> None:
        """Read those of the servers of these volumes, unless they were read a moment ago."""
        now = self.local_clock.now()
        for context, namespace in {(key.context, key.namespace) for key in moving}:
            read = self._limits_read.get((context, namespace))
            if read is None or now - read >= _LIMITS_LAST:
                self._limits_read[context, namespace] = now
                limits = await read_node_limits(self.clusters[context].client, namespace)
                self.store.note_node_limits(context, namespace, limits)

    async def _follow_deciding(self) -> None:
        """Reads what decides about runs each minute, and at once when somebody looks at what is known of volumes.

        Sooner at first: which servers and policies there are is known only when lists have come in.
        """
        rest = _LOOK_SOON
        while True:
            is_whole = self._shows_volumes.is_set()
            for context in self.contexts:
                await self._look_at_deciding(context)
            self._note_working(SNAPSHOT_LOCATION)
            if is_whole:
                await asyncio.sleep(rest)
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._shows_volumes.wait(), rest)
            rest = min(_LOOK_AGAIN, 2 * rest)

    async def _look_at_deciding(self, context: str) -> None:
        """One read of it for each server that has schedules or backups.

        While nobody looks at volumes, only of what may have a run refused, and only where a template names that.
        """
        snapshot = self.snapshot(context)
        schedules, backups = snapshot.schedules_by_namespace, snapshot.backups_by_namespace
        is_whole = self._shows_volumes.is_set()
        for namespace in dict.fromkeys((*schedules, *backups)):
            templates = [item.spec.template for item in schedules.get(namespace, ())]
            if is_whole or any(one.resource_policy or one.volume_snapshot_locations for one in templates):
                from foretop_core.kube.access.deciding_reads import policy_names, read_deciders
                from foretop_core.rules.volumes.run_plan import Deciders

                client, names = self.clusters[context].client, policy_names(snapshot, namespace)
                known = None if is_whole else snapshot.deciding.get(namespace) or Deciders(namespace)
                found = await read_deciders(client, namespace, names, known)
                self.store.note_deciding(context, namespace, found)

    async def _follow_acknowledgements(self) -> None:
        """Watches them beside each Velero: where objects are that only it works on, which no tenant can make."""
        changed = asyncio.Event()
        homes: defaultdict[str, set[str]] = defaultdict(set)
        kinds = tuple(kind.name for kind in (STORAGE, SCHEDULE, BACKUP))
        feed = self.store.feed.subscribe(kinds, changed.set)
        try:
            for context, kind in product(self.contexts, kinds):
                homes[context] |= {key.namespace for key, _ in self.store.items(context, kind)}
            while True:
                for key in feed.drain():
                    homes[key.context].add(key.namespace)
                for context, namespaces in homes.items():
                    self.clusters[context].follow_acknowledgements(namespaces)
                self._note_working(CONFIG_MAP)
                await changed.wait()
                changed.clear()
        finally:
            self.store.feed.unsubscribe(feed)

    async def _follow_movements(self) -> None:
        """Keeps the watches of data movements to the runs that are not finished."""
        changed = asyncio.Event()
        unfinished: defaultdict[str, dict[ObjectRef, MovementOwner]] = defaultdict(dict)
        feed = self.store.feed.subscribe((BACKUP.name, RESTORE.name), changed.set)
        try:
            for context, kind in product(self.contexts, (BACKUP, RESTORE)):
                runs_read = ((key, _unfinished(item)) for key, item in self.store.items(context, kind.name))
                unfinished[context] |= {key: run for key, run in runs_read if run is not None}
            others = set(self.contexts)
            changed.set()
            while True:
                await changed.wait()
                changed.clear()
                for key, change in feed.drain().items():
                    run, runs = _unfinished(change.after), unfinished[key.context]
                    if run == runs.get(key):
                        continue
                    others.add(key.context)
                    if run is not None:
                        runs[key] = run
                    else:
                        del runs[key]
                # Each of them is looked at: not for every step of one.
                for context in others:
                    self.clusters[context].follow_movements(unfinished[context].values())
                others = set()
                self._note_working(DATA_UPLOAD)
        finally:
            self.store.feed.unsubscribe(feed)

    async def _observe_anew(self) -> None:
        """Forgets what was seen to happen, as if watching had begun at this moment."""
        items = [pair for context in self.contexts for pair in self.store.objects(context)]
        now = self.local_clock.now()
        self.store.use_observations(await in_thread(lambda: self.store.first_observations(items, now)))

    def _crashed_in(self, context: str, client: ApiClient) -> CrashedServers:
        return CrashedServers(client, self.store, self._clocks[context])

    def _clock_of(self, client: ApiClient) -> Clock:
        return ShiftedClock(self.local_clock, lambda: client.skew)


def open_session(
    options: SessionOptions,
    environ: Mapping[str, str],
    clock: Clock | None = None,
    kinds: tuple[Kind, ...] = WATCHED,
    progress: Callable[[str], None] = lambda _: None,
) -> Session:
    """Reads the configuration, which may fail in one line; connects to nothing yet. Archives are read here."""
    named = NamespaceSelection(options.namespaces, options.velero_namespace, options.with_velero)
    if options.files:
        connections, local = _open_files(options, progress)
    else:
        local = clock or SystemClock()
        connections = connect(options.connect, environ, local, options.read_only)
    versions = options.velero_versions or NONE_GIVEN
    versions.check(connections.clients)
    limits = thresholds_of(options.thresholds, configured_window(options.window, options.time_zone, environ))
    return Session(
        connections,
        named,
        local,
        kinds,
        given_versions=versions,
        thresholds=limits,
        keeps_last_hour=options.keeps_last_hour,
    )


def _open_files(options: SessionOptions, progress: Callable[[str], None]) -> tuple[Connections, Clock]:
    """By the room that can open archives."""
    from foretop_core.room_finder import room_modules

    for room in room_modules("foretop_core", "sources"):
        opened: tuple[Connections, Clock] = room.open_files(options.files, options.files_at, progress)
        return opened
    raise BadInput(f"{options.files[0]} cannot be opened", "this foretop reads no archives")


async def _check_reachable(client: ApiClient) -> None:
    """Raises where nothing answers or nobody is signed in; what may be seen there is found out by watching."""
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN):
            await client.request("GET", "/version")
    except TimeoutError:
        raise ForetopError("no answer", f"within {_ANSWERS_WITHIN:.0f} seconds") from None
    except ApiError as problem:
        if problem.status == 401:
            raise


def _is_moving(found: Resource | None) -> bool:
    """True for a volume on its way."""
    movements = PodVolumeBackup | PodVolumeRestore | DataUpload | DataDownload
    return isinstance(found, movements) and found.status.completion_timestamp is None


def _unfinished(found: Resource | None) -> MovementOwner | None:
    """A run that may be moving data, or None."""
    match found:
        case Backup() if not has_ended(found) and found.phase not in ("", "Queued"):
            return MovementOwner("Backup", found.namespace, found.name)
        case Restore() if not has_ended(found):
            return MovementOwner("Restore", found.namespace, found.name)
    return None


class CrashedServers:
    """The failing pods of one cluster's servers; none, without a word, where pods may not be listed.

    They are read once and again, not watched, and only until the server is back.
    """

    def __init__(self, client: ApiClient, store: Store, clock: Clock) -> None:
        self._client = client
        self._store = store
        self._clock = clock
        self._held: dict[ObjectRef, Pod] = {}

    async def look(self, namespaces: Iterable[str]) -> None:
        """One list for each server that is down; the pods of those that are back are let go."""
        pods: dict[ObjectRef, Pod] = {}
        for namespace in namespaces:
            if (pod := failing_server(await self._pods(namespace), namespace)) is not None:
                pods[ObjectRef(self._client.config.name, POD.name, namespace, pod.name)] = pod
        now = self._clock.now()
        for key in self._held.keys() - pods.keys():
            self._store.release(key, now)
        for key in pods.keys() - self._held.keys():
            self._store.hold(key)
        self._held = pods
        for key, pod in pods.items():
            self._store.put(key, pod, now, listed=True)

    async def _pods(self, namespace: str) -> list[Pod]:
        try:
            answer = await self._client.request("GET", api_paths.collection(POD, namespace), {"limit": _MOST_PODS})
            return [pod for raw in answer.read(ListPage).items or () if isinstance(pod := _readable(raw), Pod)]
        except ForetopError:
            return []


def _readable(raw: msgspec.Raw) -> Resource | None:
    try:
        return read_object(POD, raw)
    except Unreadable:
        return None
