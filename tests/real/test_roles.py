"""The roles of `foretop doctor --roles` under real RBAC: enough to work, and every permission less is named."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.cli import run
from foretop_core.actions.action_catalog import told_rights
from foretop_core.actions.journal import Journal
from foretop_core.actions.plan_executor import Outcome, PlanExecutor
from foretop_core.actions.planners.backups import (
    plan_cancel_movements,
)
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.roles import SUBJECT, RoleHolder, RoleNeeds, role_needs, role_records, role_rules
from foretop_core.actions.run_files import file_plan
from foretop_core.clock import SystemClock
from foretop_core.errors import ActionRefused
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.access.accessible_namespaces import CLUSTER_READ, WATCHED_NAMES
from foretop_core.kube.access.doctor_checks import Check, CheckStatus, diagnose
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.client_factory import Connections, connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import Backup, Deployment, NonAdminBackup, Resource, Schedule, from_builtins
from foretop_core.models.kinds import (
    BACKUP,
    BESIDE_VELERO,
    DATA_UPLOAD,
    DEPLOYMENT,
    KINDS,
    NAB,
    NABSL_REQUEST,
    NAR,
    POD_VOLUME_BACKUP,
    RESTORE,
    SCHEDULE,
    Kind,
    RequiredPermission,
)
from foretop_core.models.velero import BACKUP_LABEL
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.session import WATCHED, Session
from foretop_core.tables.resources.visibility_findings import visibility_findings
from tests.real.cluster import RBAC_PATH, RealCluster
from tests.real.test_actions import path_of
from tests.sample_plans import SAMPLES, serving_default
from tests.wire.test_commands import VELERO

ACTING = (RoleHolder.CLUSTER_ADMIN, RoleHolder.VELERO_ADMIN, RoleHolder.OADP_TENANT)
READING = (*ACTING, RoleHolder.AUDITOR)
AT_ONCE = 6
"""Doctors at the same time."""


@asynccontextmanager
async def connected(cluster: RealCluster, user: str) -> AsyncIterator[Connections]:
    """The administrator in the place of a user, who needs no token for that."""
    path = await asyncio.to_thread(cluster.kubeconfig, "admin")
    found = connect(ConnectionOptions(kubeconfig=str(path), as_user=user), {}, SystemClock(), read_only=False)
    try:
        yield found
    finally:
        for client in found.clients.values():
            await client.close()


def client_of(connections: Connections) -> ApiClient:
    (client,) = connections.clients.values()
    return client


def selection(holder: RoleHolder, namespace: str) -> NamespaceSelection:
    if holder is RoleHolder.OADP_TENANT:
        return NamespaceSelection((namespace,), with_velero=True)
    return NamespaceSelection(velero=namespace, with_velero=True)


async def let_in(cluster: RealCluster, user: str, needed: RequiredPermission, namespace: str) -> None:
    """Until the authorizer has read the roles."""
    async with connected(cluster, user) as connections, asyncio.timeout(120):
        while not await AccessReviewer(client_of(connections), SystemClock()).may(needed, namespace):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def apply(cluster: RealCluster, holder: RoleHolder, namespace: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The roles as the command prints them, applied by kubectl; the user who has them."""
    user = f"{holder}-{namespace}"
    assert (
        await asyncio.to_thread(
            run, ["doctor", "--roles", holder.value, "-n", namespace, "--velero-namespace", namespace]
        )
        == 0
    )
    manifests = capsys.readouterr().out.replace(SUBJECT, user).replace(f"foretop-{holder}", f"foretop-{user}")
    await asyncio.to_thread(lambda: cluster.kubectl("apply", "-f", "-", stdin=manifests))
    needs = role_needs(holder)
    for part, place in ((needs.everywhere, ""), (needs.beside_velero or needs.in_own_namespaces, namespace)):
        if part:
            await let_in(cluster, user, part[-1], place)
    return user


async def examined(cluster: RealCluster, user: str, named: NamespaceSelection) -> dict[str, Check]:
    """The lines of the doctor by what they are about; with its number too, for several may be about one right."""
    lines: dict[str, Check] = {}
    numbers: Counter[str] = Counter()
    async with connected(cluster, user) as connections:
        async for check in diagnose(client_of(connections), SystemClock(), named, told_rights()):
            numbers[check.about] += 1
            lines[check.about] = lines[f"{check.about} {numbers[check.about]}"] = check
    return lines


# Enough to work


@pytest.mark.parametrize("holder", READING)
async def test_the_doctor_and_every_watch_find_all_that_the_role_is_for(
    cluster: RealCluster, namespace: str, holder: RoleHolder, capsys: pytest.CaptureFixture[str]
) -> None:
    user = await apply(cluster, holder, namespace, capsys)
    checks = await examined(cluster, user, selection(holder, namespace))
    seen = {kind for kind in KINDS if holder is not RoleHolder.OADP_TENANT or _is_tenants(kind)}
    assert {kind.name for kind in KINDS if checks[api_paths.title(kind)].verdict is CheckStatus.OK} == {
        kind.name for kind in seen
    }
    acting = {str(needed) for record in role_records(holder) for needed in (*record.rights, *record.reads)}
    told = {str(needed) for needed, _, _ in told_rights()}
    # What is watched by its name says nothing of all others of its kind.
    whole = seen - WATCHED_NAMES.keys()
    watched = {f"{verb} {kind.plural}" for verb in ("get", "list", "watch") for kind in whole}
    assert {about for about in told if checks[about].verdict is CheckStatus.OK} == acting | (told & watched)
    assert (checks["namespaces"].verdict is CheckStatus.OK) == (holder is not RoleHolder.OADP_TENANT)
    async with connected(cluster, user) as connections:
        session = Session(connections, selection(holder, namespace))
        session.start()
        try:
            (context,) = session.contexts
            async with asyncio.timeout(120):
                await session.settled(context)
            states = {scope.kind: health.state for scope, health in session.store.health.watches(context)}
            assert {kind.name for kind in WATCHED if states[kind] is not WatchState.FORBIDDEN} == {
                kind.name for kind in seen if kind in WATCHED
            }
            assert {states[kind] for kind in seen if kind in WATCHED} == {WatchState.LIVE}
        finally:
            await session.stop()


def _is_tenants(kind: Kind) -> bool:
    return kind not in BESIDE_VELERO and kind.namespaced


def _objects(namespace: str) -> list[tuple[Kind, dict[str, Any]]]:
    """Something to do for every action."""

    def made(
        kind: Kind, name: str, spec: dict[str, Any], phase: str = "", **labels: str
    ) -> tuple[Kind, dict[str, Any]]:
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
        }
        return kind, {**body, **({"status": {"phase": phase}} if phase else {})}

    moving = {BACKUP_LABEL: "running"}
    volume = {"backupStorageLocation": "default", "node": "n", "pod": {}, "repoIdentifier": "r", "volume": "v"}
    upload = {
        "backupStorageLocation": "default",
        "operationTimeout": "10m",
        "snapshotType": "CSI",
        "sourceNamespace": "shop",
        "sourcePVC": "data",
    }
    return [
        made(SCHEDULE, "on", {"schedule": "0 * * * *", "template": {}}, "Enabled"),
        made(SCHEDULE, "off", {"schedule": "0 * * * *", "template": {}, "paused": True}, "Enabled"),
        made(BACKUP, "done", {"ttl": "24h0m0s"}, "Completed"),
        made(BACKUP, "running", {}, "InProgress"),
        made(RESTORE, "done", {"backupName": "done"}, "Completed"),
        made(POD_VOLUME_BACKUP, "one", volume, "InProgress", **moving),
        made(DATA_UPLOAD, "one", upload, "InProgress", **moving),
        made(NAB, "orders", {"backupSpec": {}}),
        made(NAR, "orders", {"restoreSpec": {"backupName": "orders"}}),
        made(NABSL_REQUEST, "wanted", {"approvalDecision": "pending"}),
        (DEPLOYMENT, {**VELERO, "metadata": {"name": "velero", "namespace": namespace}}),
    ]


Wish = Callable[[ClusterSnapshot], Plan]


def _wishes(executor: PlanExecutor, server: Deployment) -> dict[str, Wish]:
    """A plan for every action, by its id."""
    now = executor.clock.now()

    def first(items: Iterable[Any], name: str) -> list[Any]:
        return [item for item in items if item.name == name]

    def file(of: Callable[[ClusterSnapshot], list[Any]], kind: RunFile) -> Wish:
        return lambda snap: file_plan(replace(executor, snapshot=lambda: snap), of(snap)[0], kind)

    def done(snap: ClusterSnapshot) -> list[Backup]:
        return first(snap.backups, "done")

    def nabs(snap: ClusterSnapshot) -> list[NonAdminBackup]:
        return list(snap.nabs)

    def sample(action: str, items: Callable[[ClusterSnapshot], Iterable[Any]]) -> Wish:
        return lambda snap: SAMPLES[action].planner(snap, list(items(snap)), now)

    def on(snap: ClusterSnapshot) -> list[Schedule]:
        return first(snap.schedules, "on")

    chosen: dict[str, Callable[[ClusterSnapshot], Iterable[Any]]] = {
        **dict.fromkeys(("pause", "back-up-now", "create-schedule", "delete-schedule"), on),
        "unpause": lambda snap: first(snap.schedules, "off"),
        **dict.fromkeys(("run-again", "restore", "delete-backup", "extend-backup"), done),
        "delete-restore": lambda snap: snap.restores,
        "delete-nab": nabs,
        "delete-nar": lambda snap: snap.nars,
        "decide-storage": lambda snap: snap.storage_requests,
    }
    return {
        **{action: sample(action, items) for action, items in chosen.items()},
        "logs": file(done, RunFile.LOG),
        "nonadmin-logs": file(nabs, RunFile.LOG),
        "fetch-results": file(done, RunFile.RESULTS),
        "fetch-nonadmin-results": file(nabs, RunFile.RESULTS),
        "cancel-movements": lambda snap: plan_cancel_movements(snap, first(snap.backups, "running"), now),
        "server-default": lambda snap: serving_default(snap, [server], now),
    }


@pytest.mark.parametrize("holder", RoleHolder)
async def test_every_action_of_the_role_is_let_through_and_no_other(
    cluster: RealCluster, namespace: str, holder: RoleHolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user = await apply(cluster, holder, namespace, capsys)
    found: list[Resource] = []
    for kind, body in _objects(namespace):
        made = await asyncio.to_thread(cluster.admin.post, path_of(kind, namespace), body)
        found.append(from_builtins(kind.model, made.expect(201)))
    async with connected(cluster, user) as connections:
        client, clock = client_of(connections), SystemClock()
        snapshot = assemble(found, client.config.name)
        journal = Journal(tmp_path / "journal")
        executor = PlanExecutor(client, AccessReviewer(client, clock), clock, journal, user, lambda: snapshot)
        allowed = {record.id for record in role_records(holder)}
        (server,) = [one for one in found if isinstance(one, Deployment)]
        for name, wish in _wishes(executor, server).items():
            plan = wish(snapshot)
            assert plan.steps, name
            if name not in allowed:
                with pytest.raises(ActionRefused, match="is not allowed"):
                    await executor.guard(plan)
                continue
            await executor.guard(plan)
            results = [result async for result in executor.carry_out(plan, _always(plan), dry_run=True)]
            assert {(name, result.outcome, result.error) for result in results} == {(name, Outcome.DONE, "")}
            assert len(results) == len(plan.steps)
        for record in role_records(holder):
            for needed in record.reads:
                assert await _status(client, needed, namespace) != 403, str(needed)


def _always(plan: Plan) -> Planner:
    return lambda _snapshot, _items, _now: plan


async def _status(client: ApiClient, needed: RequiredPermission, namespace: str) -> int:
    """What the API server answers to a read, of an object that need not be there."""
    path = api_paths.collection(needed.kind, namespace)
    params = {"watch": "1", "timeoutSeconds": "1", "fieldSelector": "metadata.name=x"}
    if needed.verb == "get":
        path, params = f"{path}/x{f'/{needed.subresource}' if needed.subresource else ''}", {}
    elif needed.verb == "list":
        params = {"limit": "1"}
    try:
        await client.request("GET", path, params)
    except ApiError as problem:
        return problem.status
    return 200


# One permission less


def _without(needs: RoleNeeds, lost: RequiredPermission) -> RoleNeeds:
    def kept(part: tuple[RequiredPermission, ...]) -> tuple[RequiredPermission, ...]:
        return tuple(one for one in part if one != lost)

    return RoleNeeds(kept(needs.everywhere), kept(needs.beside_velero), kept(needs.in_own_namespaces))


def _grant(cluster: RealCluster, user: str, needs: RoleNeeds, namespace: str) -> None:
    group = "rbac.authorization.k8s.io"
    subjects = [{"apiGroup": group, "kind": "User", "name": user}]
    within = (*needs.beside_velero, *needs.in_own_namespaces)
    for kind, place, part in (("ClusterRole", "", needs.everywhere), ("Role", f"/namespaces/{namespace}", within)):
        base, ref = f"{RBAC_PATH}{place}/{kind.lower()}", {"apiGroup": group, "kind": kind, "name": user}
        if part:
            cluster.admin.post(f"{base}s", {"metadata": {"name": user}, "rules": role_rules(part)}).expect(201)
            binding = {"metadata": {"name": user}, "roleRef": ref, "subjects": subjects}
            cluster.admin.post(f"{base}bindings", binding).expect(201)


def _revoke(cluster: RealCluster, user: str) -> None:
    for kind in ("clusterrolebindings", "clusterroles"):
        cluster.admin.delete(f"{RBAC_PATH}/{kind}/{user}").expect(200, 404)


@pytest.mark.parametrize("holder", ACTING)
async def test_the_doctor_names_every_permission_that_is_missing(
    cluster: RealCluster, namespace: str, holder: RoleHolder
) -> None:
    needs, named = role_needs(holder), selection(holder, namespace)
    every = dict.fromkeys((*needs.everywhere, *needs.beside_velero, *needs.in_own_namespaces))
    # One for some names is not missing where the same is there for all.
    all_of_them = [one for one in every if not one.names or replace(one, names=()) not in every]
    users = {f"less-{number}-{holder}-{namespace}": lost for number, lost in enumerate(all_of_them)}
    whole = f"whole-{holder}-{namespace}"

    def grant() -> None:
        for user, lost in users.items():
            _grant(cluster, user, _without(needs, lost), namespace)
        _grant(cluster, whole, needs, namespace)

    def revoke() -> None:
        for user in (*users, whole):
            _revoke(cluster, user)

    await asyncio.to_thread(grant)
    try:
        for part, place in ((needs.everywhere, ""), (needs.beside_velero or needs.in_own_namespaces, namespace)):
            if part:
                await let_in(cluster, whole, part[0], place)
        before = await examined(cluster, whole, named)
        turns = asyncio.Semaphore(AT_ONCE)

        async def loss(user: str) -> dict[str, Check]:
            async with turns:
                return await examined(cluster, user, named)

        found = await asyncio.gather(*(loss(user) for user in users))
    finally:
        await asyncio.to_thread(revoke)
    silent = [
        str(lost) for lost, checks in zip(users.values(), found, strict=True) if not _is_named(lost, before, checks)
    ]
    assert silent == []


def _is_named(lost: RequiredPermission, before: dict[str, Check], after: dict[str, Check]) -> bool:
    """Whether a line that was well is not any more, and names the verb and the resource."""
    if lost == CLUSTER_READ:
        known = before["cluster"].verdict is CheckStatus.OK and after["cluster"].verdict is not CheckStatus.OK
        return known and "get on the namespace kube-system" in after["cluster"].remedy
    right = str(lost)
    numbered = (about for about in before if about.rpartition(" ")[0] == right)
    for about in (*numbered, api_paths.title(lost.kind)):
        was, now = before.get(about), after.get(about)
        if was is not None and now is not None and was.verdict is CheckStatus.OK and now.verdict is not CheckStatus.OK:
            return about.startswith(right) or lost.verb in now.found
    return False


@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_triage_names_a_kind_that_cannot_be_watched(cluster: RealCluster, namespace: str, verb: str) -> None:
    user, needs = f"less-{verb}-{namespace}", role_needs(RoleHolder.AUDITOR)
    await asyncio.to_thread(_grant, cluster, user, _without(needs, RequiredPermission(verb, SCHEDULE)), namespace)
    try:
        await let_in(cluster, user, needs.everywhere[0], "")
        async with connected(cluster, user) as connections:
            session = Session(connections, selection(RoleHolder.AUDITOR, namespace))
            session.start()
            try:
                (context,) = session.contexts
                async with asyncio.timeout(120):
                    while session.store.health.context(context).forbidden != ("Schedule",):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                now = session.clock(context).now()
                told = [
                    finding.evidence
                    for finding in visibility_findings(context, session.store.health.context(context), now)
                ]
                assert any("not allowed to list and watch schedules.velero.io" in str(one) for one in told)
            finally:
                await session.stop()
    finally:
        await asyncio.to_thread(_revoke, cluster, user)
