"""The essential actions against a real API server, which decides what it refuses and accepts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.actions.journal import Journal
from foretop_core.actions.plan_executor import Outcome, PlanExecutor, Result, whoami
from foretop_core.actions.planners.backups import plan_back_up_now, plan_delete_backup
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.planners.nonadmin import FORCE_FIELD, plan_delete_nab
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause, plan_unpause
from foretop_core.actions.planners.schedules import plan_delete_schedule
from foretop_core.actions.planners.server_default import plan_server_default
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.run_files import file_plan
from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.clock import SystemClock
from foretop_core.errors import ActionRefused
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.connection_errors import WriteRefused
from foretop_core.models import (
    Backup,
    Deployment,
    NonAdmin,
    NonAdminBackup,
    NonAdminRestore,
    Resource,
    Restore,
    from_builtins,
)
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, SCHEDULE, Kind
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import Choice
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.real.cluster import RBAC_PATH, RealCluster
from tests.wire.test_commands import VELERO

LAST = "2026-01-01T00:00:03Z"
SEEN = (SCHEDULE, BACKUP, NAB)


def path_of(kind: Kind, namespace: str, name: str = "") -> str:
    return f"/apis/{kind.group}/{kind.version}/namespaces/{namespace}/{kind.plural}/{name}".rstrip("/")


def make(cluster: RealCluster, namespace: str, name: str, **spec: Any) -> None:
    body = {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": name},
        "spec": {"schedule": "0 * * * *", "template": {"includedNamespaces": ["shop"]}, **spec},
        "status": {"phase": "Enabled", "lastBackup": LAST},
    }
    cluster.admin.post(path_of(SCHEDULE, namespace), body).expect(201)


def spec_of(cluster: RealCluster, namespace: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.admin.get(path_of(SCHEDULE, namespace, name)).expect(200)["spec"]
    return found


def look(cluster: RealCluster, namespace: str, context: str) -> ClusterSnapshot:
    found: list[Resource] = []
    for kind in SEEN:
        items = cluster.admin.get(path_of(kind, namespace)).expect(200)["items"]
        found += [from_builtins(kind.model, item) for item in items]
    return assemble(found, context)


@asynccontextmanager
async def hand_in(
    cluster: RealCluster, namespace: str, folder: Path, user: str = "admin", read_only: bool = False
) -> AsyncIterator[PlanExecutor]:
    clock = SystemClock()
    path = await asyncio.to_thread(cluster.kubeconfig, user)
    ((context, client),) = connect(ConnectionOptions(kubeconfig=str(path)), {}, clock, read_only).clients.items()
    journal = Journal(folder / "journal")

    def snapshot() -> ClusterSnapshot:
        return look(cluster, namespace, context)

    try:
        yield PlanExecutor(client, AccessReviewer(client, clock), clock, journal, user, snapshot, patience=2.0)
    finally:
        await client.close()


async def planned(executor: PlanExecutor, planner: Planner) -> Plan:
    snapshot = await asyncio.to_thread(executor.snapshot)
    return planner(snapshot, sorted(snapshot.schedules, key=lambda item: item.name), executor.clock.now())


async def done(executor: PlanExecutor, plan: Plan, planner: Planner) -> list[Result]:
    return [result async for result in executor.carry_out(plan, planner)]


def pausing(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_pause(snapshot, items, PauseRequest("maria", "w1"), now)


def unpausing(choice: Choice) -> Planner:
    return lambda snapshot, items, now: plan_unpause(snapshot, items, choice, now)


async def test_the_skip_table_as_the_real_server_keeps_it(cluster: RealCluster, namespace: str, tmp_path: Path) -> None:
    fields = {"absent": {}, "yes": {"skipImmediately": True}, "no": {"skipImmediately": False}}
    async with hand_in(cluster, namespace, tmp_path) as executor:
        for choice, (word, field) in product(Choice, fields.items()):
            name = f"{word}-{choice.name.lower().replace('_', '-')}"
            await asyncio.to_thread(make, cluster, namespace, name, paused=True, **field)
            snapshot = await asyncio.to_thread(executor.snapshot)
            item = next(one for one in snapshot.schedules if one.name == name)
            planner = unpausing(choice)
            (result,) = await done(executor, planner(snapshot, [item], executor.clock.now()), planner)
            assert result.outcome is Outcome.DONE
            held = await asyncio.to_thread(spec_of, cluster, namespace, name)
            assert held.get("paused", False) is False
            wanted = {Choice.SKIP: True, Choice.DO_NOT_SKIP: False, Choice.LEAVE: field.get("skipImmediately")}
            assert held.get("skipImmediately") == wanted[choice]


async def test_a_second_writer_is_waited_out_or_asked_about_and_never_overruled(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    async with hand_in(cluster, namespace, tmp_path) as executor:
        for name in ("harmless", "moved"):
            await asyncio.to_thread(make, cluster, namespace, name, paused=True)
        planner = unpausing(Choice.SKIP)
        plan = await planned(executor, planner)
        for name, change in (
            ("harmless", {"metadata": {"labels": {"seen": "yes"}}}),
            ("moved", {"spec": {"schedule": "0 5 * * *"}}),
        ):
            answer = await asyncio.to_thread(cluster.admin.patch, path_of(SCHEDULE, namespace, name), change)
            answer.expect(200)
        results = await done(executor, plan, planner)
        assert [result.outcome for result in results] == [Outcome.DONE, Outcome.CHANGED]
        assert (await asyncio.to_thread(spec_of, cluster, namespace, "moved"))["paused"] is True
        again = results[1].again
        assert again is not None
        (agreed,) = await done(executor, Plan(plan.record, plan.at, (again,)), planner)
        assert agreed.outcome is Outcome.DONE


async def test_a_right_taken_away_in_between(cluster: RealCluster, namespace: str, tmp_path: Path) -> None:
    place = f"{RBAC_PATH}/namespaces/{namespace}"
    rules = [{"apiGroups": ["velero.io"], "resources": ["schedules"], "verbs": ["get", "patch"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "patcher"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}

    def grant() -> None:
        make(cluster, namespace, "nightly")
        cluster.admin.post(f"{place}/roles", {"metadata": {"name": "patcher"}, "rules": rules}).expect(201)
        binding = {"metadata": {"name": "patcher"}, "roleRef": role, "subjects": [subject]}
        cluster.admin.post(f"{place}/rolebindings", binding).expect(201)

    async with hand_in(cluster, namespace, tmp_path, "nobody") as executor:
        await asyncio.to_thread(make, cluster, namespace, "first")
        plan = await planned(executor, pausing)
        with pytest.raises(ActionRefused, match=r"patch on schedules\.velero\.io"):
            await executor.guard(plan)
    async with hand_in(cluster, namespace, tmp_path, "nobody") as executor:
        await asyncio.to_thread(grant)
        plan = await planned(executor, pausing)
        async with asyncio.timeout(120):
            while not await allowed(executor, plan):  # noqa: ASYNC110 - the authorizer's memory has no event
                await asyncio.sleep(0.05)
        await asyncio.to_thread(cluster.admin.delete, f"{place}/rolebindings/patcher")
        async with asyncio.timeout(120):
            while (results := await done(executor, plan, pausing))[0].outcome is Outcome.DONE:
                plan = await planned(executor, unpausing(Choice.LEAVE))
        # The guard asks again before it permits a write, and may know of it before the server refuses.
        assert all(
            result.status == 403 or (result.outcome is Outcome.NOT_SENT and "schedules.velero.io" in result.error)
            for result in results
        )


async def allowed(executor: PlanExecutor, plan: Plan) -> bool:
    try:
        await PlanExecutor(
            executor.client,
            AccessReviewer(executor.client, executor.clock),
            executor.clock,
            executor.journal,
            "x",
            executor.snapshot,
        ).guard(plan)
    except ActionRefused:
        return False
    return True


async def test_two_hundred_with_ten_that_fail(cluster: RealCluster, namespace: str, tmp_path: Path) -> None:
    names = [f"s-{number:03}" for number in range(200)]
    lost = names[5:200:20]

    def make_all() -> None:
        for name in names:
            make(cluster, namespace, name)

    def lose() -> None:
        for name in lost:
            cluster.admin.delete(path_of(SCHEDULE, namespace, name)).expect(200)

    await asyncio.to_thread(make_all)
    async with hand_in(cluster, namespace, tmp_path) as executor:
        plan = await planned(executor, pausing)
        await asyncio.to_thread(lose)
        results = await done(executor, plan, pausing)
        failed = [result.step.target.name for result in results if result.outcome is not Outcome.DONE]
        assert failed == lost
        assert len(list(executor.journal.read())) == 200
        assert cluster.token("admin") not in executor.journal.path.read_text()


async def test_a_server_killed_in_the_middle_leaves_no_doubt_but_about_one(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    names = [f"s-{number:02}" for number in range(30)]

    def make_all() -> None:
        for name in names:
            make(cluster, namespace, name)

    await asyncio.to_thread(make_all)
    async with hand_in(cluster, namespace, tmp_path) as executor:
        plan = await planned(executor, pausing)
        results: list[Result] = []
        async for result in executor.carry_out(plan, pausing):
            results.append(result)
            if len(results) == 10:
                await asyncio.to_thread(cluster.kill_apiserver)
        await asyncio.to_thread(cluster.start_apiserver)
        said = {result.step.target.name for result in results if result.outcome is Outcome.DONE}
        unknown = {result.step.target.name for result in results if result.outcome is Outcome.UNKNOWN}
        really = {name for name in names if (await asyncio.to_thread(spec_of, cluster, namespace, name)).get("paused")}
        assert said == set(names[:10])
        assert said <= really <= said | unknown
        assert len(unknown) <= 1
        left = Plan(plan.record, plan.at, tuple(r.step for r in results if r.outcome is Outcome.NOT_SENT))
        assert {result.outcome for result in await done(executor, left, pausing)} == {Outcome.DONE}


async def test_read_only_changes_nothing_whatever_is_tried(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    await asyncio.to_thread(make, cluster, namespace, "nightly")
    async with hand_in(cluster, namespace, tmp_path, read_only=True) as executor:
        plan = await planned(executor, pausing)
        before = await asyncio.to_thread(executor.snapshot)
        with pytest.raises(ActionRefused, match="read-only is on"):
            await executor.guard(plan)
        for planner in (pausing, plan_delete_schedule, plan_back_up_now):
            (result,) = await done(executor, await planned(executor, planner), planner)
            assert result.outcome is Outcome.NOT_SENT
        with pytest.raises(WriteRefused):
            await executor.client.request("DELETE", path_of(SCHEDULE, namespace, "nightly"))
        assert await asyncio.to_thread(executor.snapshot) == before
        assert list(executor.journal.read()) == []


async def test_the_other_writes_are_taken_as_they_are_planned(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    await asyncio.to_thread(make, cluster, namespace, "nightly")
    async with hand_in(cluster, namespace, tmp_path) as executor:
        (made,) = await done(executor, await planned(executor, plan_back_up_now), plan_back_up_now)
        assert made.outcome is Outcome.DONE
        snapshot = await asyncio.to_thread(executor.snapshot)
        (backup,) = snapshot.backups
        assert (backup.schedule_name, backup.spec.included_namespaces) == ("nightly", ("shop",))
        (asked,) = await done(
            executor, plan_delete_backup(snapshot, snapshot.backups, executor.clock.now()), plan_delete_backup
        )
        assert json.loads(asked.answer)["metadata"]["name"].startswith(f"{backup.name}-")
        (gone,) = await done(executor, await planned(executor, plan_delete_schedule), plan_delete_schedule)
        assert gone.outcome is Outcome.DONE
        assert (await asyncio.to_thread(executor.snapshot)).schedules == ()
        assert await whoami(executor.client, {"LOGNAME": "maria"}) == "maria as admin"


def _same(plan: Plan, _snapshot: object, _items: object, _now: object) -> Plan:
    return plan


async def test_a_request_for_a_file_of_every_kind_is_taken_as_it_is_planned(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    names = {"namespace": namespace, "name": "one"}
    owners: list[Backup | Restore | NonAdmin] = [
        from_builtins(Backup, {"metadata": names}),
        from_builtins(Restore, {"metadata": names}),
        from_builtins(NonAdminBackup, {"metadata": names}),
        from_builtins(NonAdminRestore, {"metadata": names}),
    ]
    async with hand_in(cluster, namespace, tmp_path) as executor:
        snapshot = await asyncio.to_thread(executor.snapshot)
        asking = replace(executor, snapshot=lambda: snapshot)
        for owner, file in product(owners, RunFile):
            if isinstance(owner, NonAdmin) and file is RunFile.RESOURCES:
                continue  # The list of resources is asked of Velero's own objects alone.
            if file is RunFile.VOLUMES and not isinstance(owner, Backup):
                continue  # The volume info is asked of backups alone.
            plan = file_plan(asking, owner, file)
            await asking.guard(plan)
            (made,) = await done(asking, plan, partial(_same, plan))
            assert made.outcome is Outcome.DONE, made.error
            word = "Backup" if isinstance(owner, Backup | NonAdminBackup) else "Restore"
            assert json.loads(made.answer)["spec"]["target"] == {"kind": f"{word}{file.value}", "name": "one"}


async def test_the_server_s_default_is_patched_without_touching_the_rest(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    body = {**VELERO, "metadata": {"name": "velero", "namespace": namespace}}
    raw = (await asyncio.to_thread(cluster.admin.post, path_of(DEPLOYMENT, namespace), body)).expect(201)
    async with hand_in(cluster, namespace, tmp_path) as executor:
        item = from_builtins(Deployment, raw)
        plan = plan_server_default(ClusterSnapshot("x"), [item], False, executor.clock.now())
        (result,) = await done(
            executor, plan, lambda snapshot, items, now: plan_server_default(snapshot, items, False, now)
        )
        assert result.outcome is Outcome.DONE
        (container,) = json.loads(result.answer)["spec"]["template"]["spec"]["containers"]
        assert container["args"] == ["server", "--concurrent-backups=2", "--schedule-skip-immediately=false"]
        assert container["image"] == "velero/velero:v1.18.3"


async def test_a_nab_is_deleted_by_the_field_that_this_cluster_has(
    cluster: RealCluster, namespace: str, tmp_path: Path
) -> None:
    nab = {"apiVersion": NAB.api_version, "kind": NAB.name, "metadata": {"name": "orders"}, "spec": {"backupSpec": {}}}
    await asyncio.to_thread(cluster.admin.post, path_of(NAB, namespace), nab)
    async with hand_in(cluster, namespace, tmp_path) as executor:
        assert await serves_field(executor.client, NAB, ("spec", "deleteBackup")) is True
        assert await serves_field(executor.client, NAB, FORCE_FIELD) is False
        snapshot = await asyncio.to_thread(executor.snapshot)
        forced = plan_delete_nab(snapshot, snapshot.nabs, executor.clock.now(), force=True, serves_force=True)
        (dropped,) = await done(executor, forced, plan_delete_nab)
        assert dropped.outcome is Outcome.FAILED
        assert dropped.error == "the server knows no field spec.forceDeleteBackup"
        (result,) = await done(
            executor, plan_delete_nab(snapshot, snapshot.nabs, executor.clock.now()), plan_delete_nab
        )
        assert result.outcome is Outcome.DONE
        assert json.loads(result.answer)["spec"]["deleteBackup"] is True
