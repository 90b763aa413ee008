"""The reflector against a real API server: after every fault the store equals a fresh list."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from foretop_core.clock import SystemClock
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.watching.cluster_watcher import ClusterWatcher, SinkFactory
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import NAB, PRESCALED, SCHEDULE, Kind
from foretop_core.store import Store
from tests.real.cluster import RealCluster
from tests.wire.watching import Noticed

PATIENCE = 300.0
QUICK = WatchTimings(first_delay=0.1, longest_delay=1.0, ask_again=0.5)
PRESCALED_CRD = "prescaledcronjobs.psc.cronprimer.local"


class Watching:
    """One user's view of one kind, kept by foretop's own cluster, reflectors and store."""

    def __init__(self, kubeconfig: Path, kind: Kind, namespaces: tuple[str, ...], chunk: int) -> None:
        connections = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), {}, SystemClock(), read_only=True)
        ((self.context, client),) = connections.clients.items()
        self.kind = kind
        self.store = Store()
        self.lists = 0
        self.states: list[WatchState] = []
        self.progress: list[tuple[int, int | None]] = []
        self._news = asyncio.Event()
        self.on_news: Callable[[], None] = lambda: None
        timing = replace(QUICK, chunk=chunk)
        sinks = SinkFactory(self._open, self.store.drop)
        self.cluster = ClusterWatcher(
            client, sinks, SystemClock(), (kind,), NamespaceSelection(namespaces), timing=timing
        )

    def _open(self, scope: WatchScope) -> Noticed:
        return _Listening(self, self.store.sink(scope, SystemClock()), self._notice)

    def _notice(self) -> None:
        self._news.set()
        self.on_news()

    def heard(self, health: WatchHealth) -> None:
        self.progress.append((health.seen, health.expected))
        if not self.states or self.states[-1] is not health.state:
            self.states.append(health.state)

    def versions(self) -> dict[tuple[str, str], str]:
        rows = self.store.items(self.context, self.kind.name)
        return {(key.namespace, key.name): found.metadata.resource_version for key, found in rows}

    async def until(self, settled: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not settled():
                self._news.clear()
                await self._news.wait()

    async def until_state(self, state: WatchState) -> None:
        await self.until(lambda: bool(self.states) and self.states[-1] is state)

    async def until_equal(self, cluster: RealCluster, namespace: str) -> None:
        """Wait until the store equals an administrator's current list."""
        fresh = await asyncio.to_thread(fresh_list, cluster, self.kind, namespace)
        await self.until(lambda: self.versions() == fresh)


class _Listening(Noticed):
    def __init__(self, watching: Watching, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._watching = watching

    def replace_begin(self) -> None:
        self._watching.lists += 1
        super().replace_begin()

    def health(self, health: WatchHealth) -> None:
        self._watching.heard(health)
        super().health(health)


@asynccontextmanager
async def watching(kubeconfig: Path, kind: Kind, *namespaces: str, chunk: int = QUICK.chunk) -> AsyncIterator[Watching]:
    found = Watching(kubeconfig, kind, namespaces, chunk)
    task = asyncio.create_task(found.cluster.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def fresh_list(cluster: RealCluster, kind: Kind, namespace: str) -> dict[tuple[str, str], str]:
    metas = [item["metadata"] for item in cluster.admin.get(api_paths.collection(kind, namespace)).expect(200)["items"]]
    return {(meta["namespace"], meta["name"]): meta["resourceVersion"] for meta in metas}


def create(cluster: RealCluster, namespace: str, *names: str, kind: Kind = NAB) -> None:
    """Create many objects, several at a time."""
    spec = {"backupSpec": {}} if kind is NAB else {"warmUpTimeMins": 5, "cronJob": {"spec": {"schedule": "0 1 * * *"}}}

    def make(name: str) -> None:
        body = {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}, "spec": spec}
        cluster.admin.post(api_paths.collection(kind, namespace), body).expect(201)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, names))


def touch(cluster: RealCluster, namespace: str, name: str, value: str) -> None:
    change = {"metadata": {"labels": {"touched": value}}}
    cluster.admin.patch(api_paths.item(NAB, namespace, name), change).expect(200)


def remove(cluster: RealCluster, namespace: str, name: str) -> None:
    cluster.admin.delete(api_paths.item(NAB, namespace, name)).expect(200)


async def test_five_thousand_backups_come_at_once_after_a_page_and_are_followed(
    cluster: RealCluster, namespace: str
) -> None:
    await asyncio.to_thread(create, cluster, namespace, *(f"nab-{number:04}" for number in range(5000)))
    async with watching(cluster.kubeconfig("admin"), NAB, namespace) as found:
        await found.until_state(WatchState.LIVE)
        assert len(found.versions()) == 5000
        assert (500, 5000) in found.progress
        assert len([seen for seen, expected in found.progress if 0 < seen < 5000 and expected == 5000]) > 2
        await asyncio.to_thread(touch, cluster, namespace, "nab-0000", "yes")
        await asyncio.to_thread(remove, cluster, namespace, "nab-4999")
        await asyncio.to_thread(create, cluster, namespace, "one-more")
        await found.until_equal(cluster, namespace)


async def test_a_continue_token_that_compaction_takes_away_costs_nothing(cluster: RealCluster, namespace: str) -> None:
    await asyncio.to_thread(create, cluster, namespace, *(f"nab-{number:02}" for number in range(40)))
    found: Watching
    async with watching(cluster.kubeconfig("admin"), NAB, namespace, chunk=10) as found:

        def compact_after_the_first_chunk() -> None:
            if len(found.versions()) == 10:
                found.on_news = lambda: None
                remove(cluster, namespace, "nab-00")
                remove(cluster, namespace, "nab-39")
                cluster.compact()

        found.on_news = compact_after_the_first_chunk
        await found.until_state(WatchState.LIVE)
        await found.until_equal(cluster, namespace)
        assert len(found.versions()) == 38
        assert found.lists == 2


async def test_a_killed_api_server_is_waited_out(cluster: RealCluster, namespace: str) -> None:
    await asyncio.to_thread(create, cluster, namespace, "a", "b", "c")
    async with watching(cluster.kubeconfig("admin"), NAB, namespace) as found:
        await found.until_state(WatchState.LIVE)
        await asyncio.to_thread(cluster.kill_apiserver)
        await found.until_state(WatchState.STALE)
        assert len(found.versions()) == 3
        await asyncio.to_thread(cluster.start_apiserver)
        await asyncio.to_thread(remove, cluster, namespace, "a")
        await asyncio.to_thread(create, cluster, namespace, "d")
        await found.until_equal(cluster, namespace)
        await found.until_state(WatchState.LIVE)


async def test_a_killed_etcd_is_waited_out(cluster: RealCluster, namespace: str) -> None:
    await asyncio.to_thread(create, cluster, namespace, "a", "b", "c")
    async with watching(cluster.kubeconfig("admin"), NAB, namespace) as found:
        await found.until_state(WatchState.LIVE)
        await asyncio.to_thread(cluster.kill_etcd)
        await asyncio.to_thread(cluster.start_etcd)
        await asyncio.to_thread(remove, cluster, namespace, "b")
        await asyncio.to_thread(create, cluster, namespace, "d")
        await found.until_equal(cluster, namespace)
        await found.until_state(WatchState.LIVE)


async def test_a_kind_that_is_removed_and_installed_again_is_followed(cluster: RealCluster, namespace: str) -> None:
    await asyncio.to_thread(create, cluster, namespace, "friday", kind=PRESCALED)
    async with watching(cluster.kubeconfig("admin"), PRESCALED) as found:
        await found.until(lambda: (namespace, "friday") in found.versions())
        crd = await asyncio.to_thread(cluster.uninstall, PRESCALED_CRD)
        await found.until_state(WatchState.NOT_INSTALLED)
        assert found.versions() == {}
        await asyncio.to_thread(cluster.install, crd)
        await asyncio.to_thread(create, cluster, namespace, "saturday", kind=PRESCALED)
        await found.until_equal(cluster, "")
        await found.until_state(WatchState.LIVE)


async def test_a_tenant_sees_the_namespace_of_the_context_and_no_other(cluster: RealCluster, namespace: str) -> None:
    await asyncio.to_thread(cluster.allow_tenant, namespace)
    await asyncio.to_thread(create, cluster, namespace, "mine")
    await asyncio.to_thread(create, cluster, "team-b", "theirs")
    async with watching(cluster.kubeconfig("tenant", namespace), NAB) as found:
        await found.until_equal(cluster, namespace)
        await found.until_state(WatchState.LIVE)
        assert [scope.namespace for scope, _ in found.store.health.watches()] == [namespace]
    await asyncio.to_thread(remove, cluster, "team-b", "theirs")


async def test_a_user_with_no_rights_is_told_which_and_gets_in_when_allowed(
    cluster: RealCluster, namespace: str
) -> None:
    await asyncio.to_thread(create, cluster, namespace, "mine")
    async with watching(cluster.kubeconfig("tenant", namespace), NAB) as found:
        await found.until_state(WatchState.FORBIDDEN)
        (health,) = [health for _, health in found.store.health.watches()]
        assert health.error.startswith(f"list on nonadminbackups.oadp.openshift.io in {namespace} is not allowed")
        assert found.versions() == {}
        await asyncio.to_thread(cluster.allow_tenant, namespace)
        await found.until_equal(cluster, namespace)


async def test_a_revoked_token_is_signed_out_until_the_kubeconfig_has_a_new_one(cluster: RealCluster) -> None:
    kubeconfig = await asyncio.to_thread(cluster.kubeconfig, "viewer")
    async with watching(kubeconfig, SCHEDULE) as found:
        await found.until_state(WatchState.LIVE)
        await asyncio.to_thread(cluster.revoke, "viewer")
        await found.until_state(WatchState.SIGNED_OUT)
        await asyncio.to_thread(cluster.renew, "viewer")
        renewed = await asyncio.to_thread(cluster.kubeconfig, "viewer")
        await asyncio.to_thread(shutil.copy, renewed, kubeconfig)
        await found.until_state(WatchState.LIVE)
        await found.until_equal(cluster, "")
