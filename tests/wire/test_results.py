"""Results: fetched by the same kind of request as logs, within the same limits, and refused for the same reasons."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import FileUnavailable, refusal, results_of
from foretop_core.actions.signed_url_download import DownloadFailed
from foretop_core.errors import ActionRefused, Unreadable
from foretop_core.models import Backup, NonAdminBackup, NonAdminRestore, Restore, from_builtins
from foretop_core.rules.results import ResultScope, parse
from foretop_demo.access import Rule, User
from foretop_demo.change_log import Change, ChangeType
from foretop_demo.scenarios.scenario_builder import HOME
from tests.demo.conformance.client import VELERO, Api
from tests.demo.test_live_box import DOWNLOADS, opened
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire
from tests.wire.test_commands import obj
from tests.wire.test_logs import BACK, ONE, TENANT, location, nab, object_store

__all__ = ["wire"]
TOLD = {"errors": {"namespaces": {"shop": [" resource: /pods name: /web-0 message: /Error error: /full"]}}}
PACKED = gzip.compress(json.dumps(TOLD).encode())
READER = User("reader", (Rule(("get", "list", "watch"), ("*",), ("*",)),))


def nar() -> dict[str, Any]:
    item = obj("NonAdminRestore", "orders-back", {"restoreSpec": {"backupName": "orders"}})
    item["metadata"]["namespace"] = "team-a"
    velero = {"name": "r-1", "namespace": "velero", "nacuuid": "u-2", "status": {"phase": "PartiallyFailed"}}
    return {**item, "status": {"phase": "Created", "veleroRestore": velero}}


@pytest.mark.parametrize(
    ("item", "model", "target"),
    [
        (ONE, Backup, {"kind": "BackupResults", "name": "one"}),
        (BACK, Restore, {"kind": "RestoreResults", "name": "back"}),
    ],
)
async def test_the_results_come_from_the_storage_and_the_request_is_in_the_journal(
    item: dict[str, Any], model: type[Backup | Restore], target: dict[str, str], tmp_path: Path
) -> None:
    async with (
        box_with([ONE, BACK, location()]) as box,
        hand_in(box, tmp_path) as executor,
        object_store(box, body=PACKED),
    ):
        found = await results_of(executor, from_builtins(model, item))
        (group,) = found.errors
        assert (group.namespace, group.problems[0].subject) == ("shop", "pods/web-0")
        (request,) = box.storage.list(box.storage.kind("DownloadRequest"))
        assert request["spec"]["target"] == target
        lines = executor.journal.path.read_text().splitlines()
        assert len(lines) == 2, "before it is sent, and with its outcome"
        assert all(target["kind"] in line and "s3cr3t" not in line for line in lines)


async def test_a_tenant_s_own_storage_gives_the_results_of_backup_and_restore(tmp_path: Path) -> None:
    items = [nab(storageLocation="mine"), nar()]
    async with (
        box_with(items, [TENANT]) as box,
        hand_in(box, tmp_path, "tenant") as executor,
        object_store(box, body=PACKED),
    ):
        for asked in (from_builtins(NonAdminBackup, items[0]), from_builtins(NonAdminRestore, items[1])):
            assert await refusal(executor, asked, RunFile.RESULTS) == ""
            assert (await results_of(executor, asked)).error_count == 1
        made = box.storage.list(box.storage.kind("NonAdminDownloadRequest"))
        assert {request["metadata"]["namespace"] for request in made} == {"team-a"}
        assert sorted((one["spec"]["target"]["kind"], one["spec"]["target"]["name"]) for one in made) == [
            ("BackupResults", "orders"),
            ("RestoreResults", "orders-back"),
        ]


async def test_the_administrator_s_storage_gives_a_tenant_none_and_says_why(tmp_path: Path, wire: Wire) -> None:
    async with box_with([nab(), nar()], [TENANT]) as box, hand_in(box, tmp_path, "tenant") as executor:
        asked = from_builtins(NonAdminRestore, nar())
        with pytest.raises(FileUnavailable, match="The results of orders-back are not available to tenants"):
            await results_of(executor, asked)
        assert "ask the administrator" in await refusal(executor, asked, RunFile.RESULTS)
        assert wire.writes == []


async def test_a_controller_that_refuses_as_the_released_one_does_is_quoted_at_once(tmp_path: Path) -> None:
    """It marks the refusal by a condition that is True, with Error as its reason."""
    item = nab(storageLocation="mine")
    condition = {
        "type": "NonAdminBackupStorageLocationNotUsed",
        "status": "True",
        "reason": "Error",
        "message": "backup does not use nonadminbackupstoragelocation",
        "lastTransitionTime": "2026-11-15T02:41:07Z",
    }
    async with box_with([item]) as box, hand_in(box, tmp_path) as executor:

        def heard(kind: Any, change: Change) -> None:
            if kind.kind == "NonAdminDownloadRequest" and change.type is ChangeType.ADDED:
                box.storage.patch_status(kind, *change.key, {"phase": "Created", "conditions": [condition]})

        box.storage.subscribe(heard)
        with pytest.raises(FileUnavailable, match="backup does not use nonadminbackupstoragelocation"):
            await results_of(executor, from_builtins(NonAdminBackup, item))


RUNNING = obj("Backup", "one", {}, status={"phase": "InProgress"})
REFUSED = obj("Backup", "one", {}, status={"phase": "FailedValidation"})


@pytest.mark.parametrize(
    ("item", "store", "user", "read_only", "why"),
    [
        (RUNNING, location(), "admin", False, "one has no results yet: it is InProgress (wait until it has ended)"),
        (REFUSED, location(), "admin", False, "one has no results and will never have any: it is FailedValidation"),
        (ONE, location("Unavailable", message="denied"), "admin", False, 'default is Unavailable: "denied"'),
        (ONE, location(), "admin", True, "Cannot fetch its results: read-only is on"),
        (ONE, location(), "reader", False, "create on downloadrequests.velero.io in velero is not allowed"),
    ],
)
async def test_what_stands_against_it_is_told_and_nothing_is_written(
    item: dict[str, Any], store: dict[str, Any], user: str, read_only: bool, why: str, tmp_path: Path, wire: Wire
) -> None:
    async with (
        box_with([item, store], [READER]) as box,
        hand_in(box, tmp_path, user, read_only=read_only) as executor,
    ):
        asked = from_builtins(Backup, item)
        assert why in await refusal(executor, asked, RunFile.RESULTS)
        with pytest.raises((FileUnavailable, ActionRefused)) as told:
            await results_of(executor, asked)
        assert why in str(told.value)
        assert wire.writes == []


@pytest.mark.parametrize(
    ("body", "problem", "why"),
    [
        (b"<html>login</html>", DownloadFailed, "it is not gzip data"),
        (gzip.compress(b"<html>login</html>"), Unreadable, "not valid JSON"),
        (PACKED[:40], DownloadFailed, "The file is not whole"),
    ],
    ids=["not gzip data", "no results", "cut off"],
)
async def test_what_is_no_results_is_refused(body: bytes, problem: type[Exception], why: str, tmp_path: Path) -> None:
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box, body=body):
        with pytest.raises(problem, match=why):
            await results_of(executor, from_builtins(Backup, ONE))


@pytest.mark.sweep
async def test_a_small_file_that_unpacks_into_a_flood_is_not_unpacked_to_the_end(tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(65 * 2**20), 1)
    assert len(bomb) < 2**20
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box, body=bomb):
        with pytest.raises(DownloadFailed, match="more than 16 MiB"):
            await results_of(executor, from_builtins(Backup, ONE))


@pytest.mark.sweep
async def test_the_box_tells_of_as_many_troubles_as_its_backups_count_and_always_the_same() -> None:
    async with opened("default", 1) as api:
        backups = (await api.get(f"{VELERO}/namespaces/{HOME}/backups")).expect(200)["items"]
        faulty = next(one for one in backups if one["metadata"]["name"].startswith("metrics-hourly") and _errors(one))
        first, again = [await _fetched(api, faulty["metadata"]["name"], f"r-{number}") for number in range(2)]
        assert first == again
        found = parse(first)
        assert (found.error_count, found.warning_count) == (faulty["status"]["errors"], faulty["status"]["warnings"])
        assert {group.scope for group in found.errors} == {ResultScope.CLUSTER, ResultScope.NAMESPACE}
        assert all(problem.subject for group in found.errors for problem in group.problems)


def _errors(backup: dict[str, Any]) -> int:
    return int(backup.get("status", {}).get("errors", 0))


async def _fetched(api: Api, backup: str, name: str) -> bytes:
    spec = {"target": {"kind": "BackupResults", "name": backup}}
    body = {"apiVersion": "velero.io/v1", "kind": "DownloadRequest", "metadata": {"name": name}, "spec": spec}
    made = (await api.create(DOWNLOADS, body)).expect(201)
    async with api.watching(DOWNLOADS, resourceVersion=made["metadata"]["resourceVersion"]) as watch:
        url = (await watch.next())["object"]["status"]["downloadURL"]
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return gzip.decompress(await answer.read())
