"""Whose file may be asked for, what is asked, and what is said where no address comes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from foretop_core.actions import run_files
from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import FileUnavailable, file_plan, permitted_file_owner, run_file
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Restore, from_builtins
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.change_log import Change, ChangeType
from tests.objects import backup, condition
from tests.wire.action_fixtures import Answer, Wire, box_with, hand_in, wire
from tests.wire.test_logs import BACK, ONE, TENANT, location, object_store

__all__ = ["wire"]
VELERO_S = backup("vb", labels={"openshift.io/oadp-nab-origin-nacuuid": "u-1"})


def tenant(kind: type[NonAdmin] = NonAdminBackup, name: str = "vb", phase: str = "Completed", **more: Any) -> NonAdmin:
    part = "veleroBackup" if kind is NonAdminBackup else "veleroRestore"
    behind = {"name": name, "namespace": "velero", "nacuuid": "u-1"}
    spec = {"backupSpec": {"storageLocation": more.pop("storage", "")}} if kind is NonAdminBackup else {}
    status = {part: {**behind, **({"status": {"phase": phase}} if phase else {})}, **more}
    return from_builtins(kind, {"metadata": {"name": "orders", "namespace": "team-a"}, "spec": spec, "status": status})


@asynccontextmanager
async def executor_of(folder: Path, user: str = "admin", *backups: Backup) -> AsyncIterator[PlanExecutor]:
    async with box_with([], [TENANT]) as box, hand_in(box, folder, user) as executor:
        yield replace(executor, snapshot=lambda: ClusterSnapshot("minicluster", backups=backups))


LOST = [condition("Accepted", "False", "VeleroBackupNotFound")]
NOT_FOR_TENANTS = "The log of orders is not available to tenants: the backup is in the administrator's storage"


@pytest.mark.parametrize(
    ("item", "backups", "why"),
    [
        (tenant(name=""), (), "orders has no log: it has no Velero backup yet"),
        (tenant(NonAdminRestore, name=""), (), "orders has no log: it has no Velero restore yet"),
        (tenant(conditions=LOST), (), "orders has no log any more: its Velero backup no longer exists"),
        (tenant(conditions=LOST), (VELERO_S,), ""),
        (tenant(phase=""), (), "orders has no log yet: its backup is New (wait until it has ended)"),
        (tenant(phase="InProgress"), (), "orders has no log yet: its backup is InProgress"),
        (tenant(NonAdminRestore, phase="InProgress"), (), "orders has no log yet: its restore is InProgress"),
        (tenant(phase="InProgress"), (VELERO_S,), ""),
        (tenant(phase="FailedValidation"), (), "orders has no log and will never have one: its backup is Failed"),
        (tenant(), (), NOT_FOR_TENANTS),
        (tenant(), (VELERO_S,), ""),
    ],
)
async def test_whose_file_an_administrator_may_ask_for(
    item: NonAdmin, backups: tuple[Backup, ...], why: str, tmp_path: Path
) -> None:
    """What Velero's own object says counts before the copy in the tenant's."""
    async with executor_of(tmp_path, "admin", *backups) as executor:
        if not why:
            assert await permitted_file_owner(executor, item, RunFile.LOG) == VELERO_S
            return
        with pytest.raises(FileUnavailable) as refused:
            await permitted_file_owner(executor, item, RunFile.LOG)
        assert str(refused.value).startswith(why)


async def test_whose_file_a_tenant_may_ask_for(tmp_path: Path) -> None:
    async with executor_of(tmp_path, "tenant", VELERO_S) as executor:
        own = tenant(storage="mine")
        assert await permitted_file_owner(executor, own, RunFile.LOG) == own
        with pytest.raises(FileUnavailable, match=NOT_FOR_TENANTS):
            await permitted_file_owner(executor, tenant(), RunFile.LOG)
        with pytest.raises(FileUnavailable, match="The results of orders are not available to tenants"):
            await permitted_file_owner(executor, tenant(), RunFile.RESULTS)


async def test_the_request_names_the_file_and_the_line_does_the_same(tmp_path: Path) -> None:
    run, back = from_builtins(Backup, ONE), from_builtins(Restore, BACK)
    async with executor_of(tmp_path) as executor:

        def asked(item: Any, file: RunFile) -> tuple[str, str, str, str]:
            (step,) = file_plan(executor, item, file).steps
            target = step.write.body["spec"]["target"]
            assert (
                step.forecast
                == f"Velero signs a URL from which the {file.noun} {'is' if file.is_one else 'are'} fetched"
            )
            assert target["name"] == item.name
            assert step.target.namespace == item.namespace
            return step.target.kind, target["kind"], step.command, step.changes[0]

        line = "velero --kubecontext minicluster -n velero"
        removed = "is created; Velero removes it after ten minutes"
        assert asked(run, RunFile.LOG) == (
            "DownloadRequest",
            "BackupLog",
            f"{line} backup logs one",
            f"a DownloadRequest for the log of one {removed}",
        )
        assert asked(back, RunFile.LOG)[1:3] == ("RestoreLog", f"{line} restore logs back")
        assert asked(run, RunFile.RESOURCES)[1:3] == ("BackupResourceList", f"{line} backup describe one --details")
        kind, target, command, change = asked(tenant(), RunFile.RESULTS)
        assert (kind, target) == ("NonAdminDownloadRequest", "BackupResults")
        assert command.startswith("kubectl --context minicluster create -f -")
        assert change == f"a NonAdminDownloadRequest for the results of orders {removed}"
        assert asked(tenant(NonAdminRestore), RunFile.LOG)[1] == "RestoreLog"
        names = {file_plan(executor, backup("n" * 253), RunFile.LOG).steps[0].target.name for _ in range(2)}
        assert len(names) == 2, "two requests have two names"
        assert max(map(len, names)) <= 253


async def test_a_request_that_the_server_refuses_is_told(tmp_path: Path, wire: Wire) -> None:
    async def refuse(request: web.BaseRequest, box: Answer) -> web.StreamResponse:
        body = {"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid", "message": "no such target"}
        return web.json_response(body, status=422)

    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor:
        wire.misbehave = refuse
        with pytest.raises(FileUnavailable, match=r"The log cannot be requested: .*no such target"):
            await run_file(executor, from_builtins(Backup, ONE), RunFile.LOG, None, None)


@pytest.mark.parametrize(
    ("message", "why"),
    [("no such key in the bucket", "no such key in the bucket"), ("", "its request has failed, and nothing says why")],
)
async def test_a_request_that_velero_calls_failed_is_not_waited_for(
    message: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newer releases say so, and never give an address."""
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor:
        status = box.storage.kind("DownloadRequest").schema["properties"]["status"]["properties"]
        monkeypatch.setitem(status, "phase", {"type": "string"})
        monkeypatch.setitem(status, "message", {"type": "string"})

        def heard(kind: Any, change: Change) -> None:
            if kind.kind == "DownloadRequest" and change.type is ChangeType.ADDED:
                box.storage.patch_status(kind, *change.key, {"phase": "Failed", "message": message})

        stop: Callable[[], None] = box.storage.subscribe(heard)
        try:
            with pytest.raises(FileUnavailable, match=f"Velero cannot sign a URL for the volume info: {why}"):
                await run_file(executor, from_builtins(Backup, ONE), RunFile.VOLUMES, None, None)
        finally:
            stop()


@asynccontextmanager
async def controller(box: Any, *told: dict[str, Any]) -> AsyncIterator[None]:
    """Writes these into the status of every tenant's request, one after the other."""

    def heard(kind: Any, change: Change) -> None:
        if kind.kind == "NonAdminDownloadRequest" and change.type is ChangeType.ADDED:
            for status in told:
                box.storage.patch_status(kind, *change.key, status)

    stop: Callable[[], None] = box.storage.subscribe(heard)
    try:
        yield
    finally:
        stop()


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"phase": "BackingOff"}, "the non-admin controller refuses it"),
        ({"phase": "Created", "conditions": [condition("Processed", "False", "NotUsed")]}, "NotUsed"),
        ({"phase": "Created", "conditions": [condition("Used", "True", "Error", "not yours")]}, "not yours"),
        (
            {"phase": "BackingOff", "conditions": [condition("Accepted", "True", "Accepted", "well")]},
            "the non-admin controller refuses it",
        ),
    ],
)
async def test_a_refusal_of_the_controller_is_told_at_once(told: dict[str, Any], why: str, tmp_path: Path) -> None:
    async with box_with([]) as box, hand_in(box, tmp_path) as executor, controller(box, told):
        with pytest.raises(FileUnavailable) as refused:
            await run_files.tenant_file(executor, tenant(storage="mine"), RunFile.LOG, None, None)
    assert str(refused.value) == f"The request for the log is refused: {why} (ask the administrator)"


async def test_a_tenants_request_that_velero_calls_failed_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"phase": "Created", "velero": {"status": {"phase": "Failed", "message": "no such key"}}}
    async with box_with([]) as box, hand_in(box, tmp_path) as executor, controller(box, told):
        behind = box.storage.kind("NonAdminDownloadRequest").schema["properties"]["status"]["properties"]["velero"]
        status = behind["properties"]["status"]["properties"]
        monkeypatch.setitem(status, "phase", {"type": "string"})
        monkeypatch.setitem(status, "message", {"type": "string"})
        with pytest.raises(FileUnavailable, match="Velero cannot sign a URL for the log: no such key"):
            await run_files.tenant_file(executor, tenant(storage="mine"), RunFile.LOG, None, None)


async def test_a_request_that_is_accepted_first_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = {"phase": "Created", "conditions": [condition("Accepted", "True", "Accepted", "well")]}
    async with box_with([]) as box, hand_in(box, tmp_path) as executor, controller(box, accepted), object_store(box):
        assert await run_files.tenant_file(executor, tenant(storage="mine"), RunFile.LOG, None, None)
    monkeypatch.setattr(run_files, "URL_WITHIN", 1.0)
    folder = tmp_path / "alone"
    folder.mkdir()
    async with box_with([]) as box, hand_in(box, folder) as executor, controller(box, accepted):
        with pytest.raises(FileUnavailable) as waited:
            await run_files.tenant_file(executor, tenant(storage="mine"), RunFile.LOG, None, None)
    assert str(waited.value).startswith("Velero did not return a URL for the log: requested 1 s ago")
