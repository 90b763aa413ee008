"""One context as a whole, against the cluster in a box: rights, reach, movements, events, Velero's place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from foretop_core.clock import ManualClock, SystemClock
from foretop_core.kube.access.access_reviewer import AccessReviewer, permission
from foretop_core.kube.access.accessible_namespaces import (
    AccessibleNamespaces,
    accessible_namespaces,
    visible_namespaces,
)
from foretop_core.kube.access.doctor_checks import diagnose
from foretop_core.kube.access.find_velero import FoundVelero, find_velero
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.watching.cluster_watcher import ClusterWatcher, MovementOwner, SinkFactory
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchScope, WatchState
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, EVENT, NAB, POD_VOLUME_BACKUP, SCHEDULE, STORAGE, Kind
from foretop_core.models.movement import label_value
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.velero_deployment import volume_flags
from foretop_core.store import Store
from foretop_demo import LocalApiServer, Rule, User
from tests.wire.faulty_server import RoughServer, serving
from tests.wire.raw_server import raw_server
from tests.wire.watching import PATIENCE, Noticed
from tests.wire.watching import connect as connect_to

READ = ("get", "list", "watch")
TENANT = User("tenant", (Rule(READ, ("oadp.openshift.io",), ("nonadminbackups",), ("team-a",)),))
LOOKER = User(
    "looker",
    (
        Rule(READ, ("",), ("namespaces",)),
        Rule(READ, ("oadp.openshift.io",), ("nonadminbackups",), ("team-a", "team-c")),
    ),
)
NOBODY = User("nobody")
CONTEXT = "minicluster"
EVERYTHING = NamespaceSelection()
QUICK = WatchTimings(ask_again=0.05, first_delay=0.01, longest_delay=0.05)


@asynccontextmanager
async def box() -> AsyncIterator[LocalApiServer]:
    async with LocalApiServer(users=(TENANT, LOOKER, NOBODY)) as running:
        for name in ("velero", "openshift-adp", "team-a", "team-b", "team-c"):
            make(running, "Namespace", {"name": name})
        yield running


def make(running: LocalApiServer, kind: str, meta: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return running.storage.create(running.storage.kind(kind), {"metadata": meta, **fields})


def client_of(running: LocalApiServer, folder: Path, user: str = "admin", namespace: str = "default") -> ApiClient:
    path = running.kubeconfig(folder / f"{user}.yaml", user, namespace)
    return connect(ConnectionOptions(kubeconfig=str(path)), {}, SystemClock(), read_only=True).clients[CONTEXT]


class Watched:
    """A cluster at work, and the store that it fills."""

    def __init__(self, client: ApiClient, kinds: tuple[Kind, ...], named: NamespaceSelection) -> None:
        self.store = Store()
        clock = SystemClock()
        self._news = asyncio.Event()
        sinks = SinkFactory(lambda scope: Noticed(self.store.sink(scope, clock), self._news.set), self._drop)
        self.cluster = ClusterWatcher(client, sinks, clock, kinds, named, timing=QUICK)

    def _drop(self, scope: WatchScope) -> None:
        self.store.drop(scope)
        self._news.set()

    def scopes(self) -> dict[tuple[str, str], WatchState]:
        return {(scope.kind.plural, scope.namespace): health.state for scope, health in self.store.health.watches()}

    def names(self, kind: Kind) -> list[str]:
        return sorted(key.name for key, _ in self.store.items(CONTEXT, kind.name))

    async def until(self, wanted: object, seen: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while seen() != wanted:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def watched(client: ApiClient, *kinds: Kind, named: NamespaceSelection = EVERYTHING) -> AsyncIterator[Watched]:
    found = Watched(client, kinds, named)
    task = asyncio.create_task(found.cluster.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_an_administrator_sees_every_namespace_with_one_watch_for_each_kind(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path), SCHEDULE, NAB) as found:
        make(running, "NonAdminBackup", {"name": "a", "namespace": "team-a"}, spec={"backupSpec": {}})
        make(running, "NonAdminBackup", {"name": "b", "namespace": "team-b"}, spec={"backupSpec": {}})
        await found.until(["a", "b"], lambda: found.names(NAB))
        await found.until(
            {("schedules", ""): WatchState.LIVE, ("nonadminbackups", ""): WatchState.LIVE},
            found.scopes,
        )


async def test_a_tenant_who_may_list_no_namespaces_gets_the_contexts_own(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path, "tenant", "team-a"), NAB) as found:
        make(running, "NonAdminBackup", {"name": "mine", "namespace": "team-a"}, spec={"backupSpec": {}})
        make(running, "NonAdminBackup", {"name": "theirs", "namespace": "team-b"}, spec={"backupSpec": {}})
        await found.until(["mine"], lambda: found.names(NAB))
        await found.until({("nonadminbackups", "team-a"): WatchState.LIVE}, found.scopes)


async def test_one_who_may_list_namespaces_gets_those_that_the_rules_allow(tmp_path: Path) -> None:
    async with box() as running:
        client = client_of(running, tmp_path, "looker")
        assert await accessible_namespaces(
            client, AccessReviewer(client, SystemClock()), NAB, ()
        ) == AccessibleNamespaces(("team-a", "team-c"))
        await client.close()


async def test_the_namespaces_of_the_command_line_come_before_all_else(tmp_path: Path) -> None:
    client = client_of_nowhere(tmp_path)
    assert await accessible_namespaces(
        client, AccessReviewer(client, SystemClock()), NAB, ("x", "y")
    ) == AccessibleNamespaces(("x", "y"), chosen=True)


async def test_a_user_with_no_rights_is_told_which_one_is_missing(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path, "nobody", "team-b"), SCHEDULE) as found:
        await found.until({("schedules", "team-b"): WatchState.FORBIDDEN}, found.scopes)
        health = found.store.health.of(WatchScope(CONTEXT, SCHEDULE, "team-b"))
        assert health is not None
        assert health.error.startswith("list on schedules.velero.io in team-b is not allowed")


async def test_data_movements_are_followed_for_the_runs_that_are_wanted_and_no_longer(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path)) as found:
        for name in ("one", "two"):
            labels = {"velero.io/backup-name": name}
            meta = {"name": f"{name}-upload", "namespace": "velero", "labels": labels}
            make(running, "DataUpload", meta, spec=UPLOAD)
        found.cluster.follow_movements({MovementOwner("Backup", "velero", "one")})
        await found.until(["one-upload"], lambda: found.names(DATA_UPLOAD))
        found.cluster.follow_movements(
            {MovementOwner("Backup", "velero", "one"), MovementOwner("Backup", "velero", "two")}
        )
        await found.until(["one-upload", "two-upload"], lambda: found.names(DATA_UPLOAD))
        found.cluster.follow_movements({MovementOwner("Backup", "velero", "two")})
        assert found.names(DATA_UPLOAD) == ["two-upload"]
        found.cluster.follow_movements(())
        assert found.names(DATA_UPLOAD) == []
        assert found.scopes() == {}
        assert found.names(POD_VOLUME_BACKUP) == []


async def test_the_events_of_the_open_object_are_followed_until_it_is_closed(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path)) as found:
        for name, uid in (("right", "uid-1"), ("wrong", "uid-2")):
            about = {"kind": "NonAdminBackup", "namespace": "team-a", "name": "nab", "uid": uid}
            make(running, "Event", {"name": name, "namespace": "team-a"}, involvedObject=about, reason="X")
        found.cluster.follow_events("uid-1", "team-a")
        await found.until(["right"], lambda: found.names(EVENT))
        found.cluster.follow_events("", "")
        assert found.names(EVENT) == []


async def test_an_answer_from_something_else_than_an_api_server_is_that_kinds_health(tmp_path: Path) -> None:
    async def login_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n<html>")
        await writer.drain()
        writer.close()

    async with (
        raw_server(login_page) as port,
        watched(client_of_nowhere(tmp_path, f"http://127.0.0.1:{port}"), NAB) as found,
    ):
        await found.until({("nonadminbackups", ""): WatchState.STALE}, found.scopes)


async def test_rights_are_asked_for_once_a_minute(tmp_path: Path) -> None:
    async with box() as running:
        client, clock = client_of(running, tmp_path, "tenant"), ManualClock(SystemClock().now())
        access = AccessReviewer(client, clock)
        mine, theirs = permission("list", NAB, "team-a"), permission("patch", SCHEDULE, "velero")
        verdicts = await asyncio.gather(*(access.verdict(wanted) for wanted in (mine, theirs, mine, theirs)))
        assert [verdict.allowed for verdict in verdicts] == [True, False, True, False]
        rules = await access.rules("team-a")
        assert rules.allow("list", NAB.group, NAB.plural)
        assert not rules.allow("list", SCHEDULE.group, SCHEDULE.plural)
        await client.close()
        assert (await access.verdict(mine)).allowed


async def test_every_namespace_is_seen_by_who_may_list_them(tmp_path: Path) -> None:
    async with box() as running:
        for user, seen in (("looker", True), ("tenant", False)):
            client = client_of(running, tmp_path, user)
            assert ("team-b" in await visible_namespaces(client)) is seen
            await client.close()


async def test_velero_is_found_by_its_deployment_with_version_and_flags(tmp_path: Path) -> None:
    args = ["server", "--schedule-skip-immediately=true", "--concurrent-backups", "3", "--uploader-type=kopia"]
    container = {"name": "velero", "image": "registry.test:5000/velero/velero:v1.18.3@sha256:0", "args": args}
    spec = {"template": {"spec": {"containers": [{"name": "sidecar", "image": "x"}, container]}}}
    async with box() as running:
        make(running, "Deployment", {"name": "velero", "namespace": "openshift-adp"}, spec=spec)
        client = client_of(running, tmp_path)
        found = await find_velero(client)
        await client.close()
    (velero,) = found
    started = velero.known.started if velero.known is not None else None
    assert started is not None
    known = VeleroInfo(True, 3, "1.18.3", volume_flags=volume_flags({"uploader-type": "kopia"}), started=started)
    assert velero == FoundVelero("openshift-adp", known)


async def test_where_deployments_may_not_be_read_storage_shows_the_namespace(tmp_path: Path) -> None:
    reader = User("reader", (Rule(READ, ("velero.io",), (STORAGE.plural, BACKUP.plural)),))
    async with LocalApiServer(users=(reader,)) as running:
        make(running, "Namespace", {"name": "backups"})
        location = {"provider": "aws", "objectStorage": {"bucket": "b"}}
        make(running, "BackupStorageLocation", {"name": "default", "namespace": "backups"}, spec=location)
        client = client_of(running, tmp_path, "reader")
        found = await find_velero(client)
        await client.close()
    assert found == (FoundVelero("backups"),)


async def test_where_deployments_are_not_served_the_usual_namespaces_are_searched() -> None:
    async with serving(RoughServer()) as server:
        client = connect_to(server.url)
        assert await find_velero(client) == ()
        await client.close()
    asked = [path for _, path, _ in server.seen]
    assert "/apis/apps/v1/namespaces/velero/deployments/velero" in asked


async def test_a_velero_without_a_deployment_is_told_apart_from_one_that_may_not_be_read(tmp_path: Path) -> None:
    async with LocalApiServer() as running:
        make(running, "Namespace", {"name": "backups"})
        location = {"provider": "aws", "objectStorage": {"bucket": "b"}}
        make(running, "BackupStorageLocation", {"name": "default", "namespace": "backups"}, spec=location)
        client = client_of(running, tmp_path)
        found = await find_velero(client)
        checks = [
            check
            async for check in diagnose(client, SystemClock(), NamespaceSelection(), ())
            if check.about == "Velero"
        ]
        await client.close()
    assert found == (FoundVelero("backups", has_deployment=False),)
    assert [check.found for check in checks] == ["in backups, where no Deployment velero exists: flags not known"]
    assert "ask for" not in checks[0].remedy


def test_a_name_too_long_for_a_label_is_cut_as_velero_cuts_it() -> None:
    assert label_value("short") == "short"
    long = "a" * 80
    assert label_value(long) == "a" * 57 + "0f45e8"


UPLOAD = {
    "backupStorageLocation": "default",
    "operationTimeout": "10m",
    "snapshotType": "CSI",
    "sourceNamespace": "team-a",
    "sourcePVC": "data",
}


def client_of_nowhere(folder: Path, server: str = "https://127.0.0.1:1") -> ApiClient:
    path = folder / "nowhere.yaml"
    path.write_text(
        "{current-context: minicluster, contexts: [{name: minicluster, context: {cluster: k}}],"
        f" clusters: [{{name: k, cluster: {{server: '{server}'}}}}]}}"
    )
    return connect(ConnectionOptions(kubeconfig=str(path)), {}, SystemClock(), read_only=True).clients[CONTEXT]
