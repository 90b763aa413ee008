"""Where the kinds are looked for when a person names namespaces, against the cluster in a box."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_demo import LocalApiServer, Rule, User
from tests.wire.test_cluster import READ, client_of, make, watched

NABS = Rule(READ, ("oadp.openshift.io",), ("nonadminbackups",), ("team-a", "team-b"))
TENANT = User("tenant", (NABS,))
LEAD = User("lead", (NABS, Rule(READ, ("velero.io",), ("backups",), ("openshift-adp",))))
DASHBOARD = NamespaceSelection(("team-a",), with_velero=True)


@asynccontextmanager
async def box() -> AsyncIterator[LocalApiServer]:
    """A Velero in openshift-adp, and two teams."""
    async with LocalApiServer(users=(TENANT, LEAD)) as running:
        for name in ("openshift-adp", "second", "team-a", "team-b"):
            make(running, "Namespace", {"name": name})
        for name in ("openshift-adp", "second"):
            make(running, "Deployment", {"name": "velero", "namespace": name}, spec={})
            make(running, "Backup", {"name": f"run-{name}", "namespace": name}, spec={})
        for name in ("team-a", "team-b"):
            make(running, "NonAdminBackup", {"name": f"of-{name}", "namespace": name}, spec={"backupSpec": {}})
        yield running


async def test_a_team_named_on_the_dashboard_comes_with_veleros_own_objects(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path), NAB, BACKUP, named=DASHBOARD) as found:
        await found.until(["of-team-a"], lambda: found.names(NAB))
        await found.until(["run-openshift-adp", "run-second"], lambda: found.names(BACKUP))


async def test_a_velero_named_among_several_is_the_only_one_looked_at(tmp_path: Path) -> None:
    for named in (
        NamespaceSelection(("second", "team-a"), with_velero=True),
        NamespaceSelection(("team-a",), "second", with_velero=True),
    ):
        async with box() as running, watched(client_of(running, tmp_path), NAB, BACKUP, named=named) as found:
            await found.until(["of-team-a"], lambda: found.names(NAB))
            await found.until(["run-second"], lambda: found.names(BACKUP))


async def test_a_command_that_acts_sees_nothing_outside_of_the_namespace_named(tmp_path: Path) -> None:
    for named in (NamespaceSelection(("team-a",)), NamespaceSelection(("team-a",), "second")):
        async with box() as running, watched(client_of(running, tmp_path), BACKUP, named=named) as found:
            await found.until({("backups", "team-a"): WatchState.LIVE}, found.scopes)
            assert found.names(BACKUP) == []


async def test_a_command_is_led_to_the_velero_that_is_named(tmp_path: Path) -> None:
    named = NamespaceSelection(velero="second")
    async with box() as running, watched(client_of(running, tmp_path), NAB, BACKUP, named=named) as found:
        await found.until(["run-second"], lambda: found.names(BACKUP))
        await found.until(["of-team-a", "of-team-b"], lambda: found.names(NAB))


async def test_a_namespace_that_is_not_there_is_told_and_taken_up_when_it_comes(tmp_path: Path) -> None:
    named = NamespaceSelection(("nowhere",), with_velero=True)
    async with box() as running, watched(client_of(running, tmp_path), NAB, named=named) as found:
        await found.until({("nonadminbackups", "nowhere"): WatchState.NO_NAMESPACE}, found.scopes)
        make(running, "Namespace", {"name": "nowhere"})
        make(running, "NonAdminBackup", {"name": "late", "namespace": "nowhere"}, spec={"backupSpec": {}})
        found.cluster.look_into("nowhere")
        await found.until(["late"], lambda: found.names(NAB))


async def test_a_tenant_is_not_told_of_an_empty_queue_where_velero_may_not_be_read(tmp_path: Path) -> None:
    async with box() as running:
        client = client_of(running, tmp_path, "tenant")
        async with watched(client, NAB, BACKUP, named=DASHBOARD) as found:
            expected = {("backups", ""): WatchState.FORBIDDEN, ("nonadminbackups", "team-a"): WatchState.LIVE}
            await found.until(expected, found.scopes)


async def test_a_lead_who_may_read_backups_where_velero_usually_lives_sees_them(tmp_path: Path) -> None:
    async with box() as running:
        for named in (NamespaceSelection(), DASHBOARD):
            async with watched(client_of(running, tmp_path, "lead"), BACKUP, SCHEDULE, named=named) as found:
                await found.until(["run-openshift-adp"], lambda: found.names(BACKUP))


async def test_a_tenant_who_started_elsewhere_looks_into_the_own_namespace(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path, "tenant"), NAB) as found:
        await found.until({("nonadminbackups", "default"): WatchState.FORBIDDEN}, found.scopes)
        found.cluster.look_into("team-b")
        await found.until(["of-team-b"], lambda: found.names(NAB))
        await found.until({("nonadminbackups", "team-b"): WatchState.LIVE}, found.scopes)
        found.cluster.look_into("")
        await found.until(["of-team-b"], lambda: found.names(NAB))


async def test_an_administrator_who_looks_into_a_namespace_that_is_not_there_is_told(tmp_path: Path) -> None:
    async with box() as running, watched(client_of(running, tmp_path), NAB) as found:
        await found.until({("nonadminbackups", ""): WatchState.LIVE}, found.scopes)
        found.cluster.look_into("nowhere")
        await found.until(
            {("nonadminbackups", ""): WatchState.LIVE, ("nonadminbackups", "nowhere"): WatchState.NO_NAMESPACE},
            found.scopes,
        )
        found.cluster.look_into("")
        await found.until({("nonadminbackups", ""): WatchState.LIVE}, found.scopes)
