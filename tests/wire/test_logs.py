"""Logs: the whole by a DownloadRequest, a part of Velero's own where that cannot work, and the reason always."""

from __future__ import annotations

import gzip
import ssl
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web

from foretop_core.actions import run_files
from foretop_core.actions.run_files import FileUnavailable
from foretop_core.actions.run_logs import log_of
from foretop_core.actions.signed_url_download import TlsTrust
from foretop_core.errors import BadInput
from foretop_core.models import Backup, NonAdminBackup, Restore, from_builtins
from foretop_demo.access import Rule, User
from foretop_demo.change_log import Change, ChangeType
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, box_with, hand_in, wire
from tests.wire.test_commands import obj

__all__ = ["wire"]
TEXT = 'level=info msg="Setting up backup log" backup=velero/one\nlevel=error msg="Disk full" backup=velero/one\n'
ENDED = {"phase": "Completed", "completionTimestamp": "2026-11-15T02:01:00Z"}
ONE = obj("Backup", "one", {"storageLocation": "default"}, status=ENDED)
BACK = obj("Restore", "back", {"backupName": "one"}, status=ENDED)
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "velero-0", "namespace": "velero", "labels": {"deploy": "velero"}},
    "spec": {"containers": [{"name": "velero"}]},
}
POD_LOG = "msg=start backup=velero/one\nmsg=other backup=velero/one-2\nmsg=end name=one\n"


def location(phase: str = "Available", **status: Any) -> dict[str, Any]:
    spec = {"provider": "aws", "default": True, "objectStorage": {"bucket": "b"}}
    return obj("BackupStorageLocation", "default", spec, status={"phase": phase, **status})


@asynccontextmanager
async def object_store(
    box: LocalApiServer, signed: str = "", body: bytes | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[None]:
    """Signs an address for every request, as Velero does, and serves the log there."""

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=body if body is not None else gzip.compress(TEXT.encode()))

    runner = web.ServerRunner(web.Server(serve, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    url = (
        signed or f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}/bucket/one.gz?X-Signature=s3cr3t%2Fx"
    )

    def heard(kind: Any, change: Change) -> None:
        if change.type is not ChangeType.ADDED:
            return
        status = {"phase": "Processed", "downloadURL": url}
        if kind.kind == "DownloadRequest":
            box.storage.patch_status(kind, *change.key, status)
        if kind.kind == "NonAdminDownloadRequest":
            box.storage.patch_status(kind, *change.key, {"phase": "Created", "velero": {"status": status}})

    stop = box.storage.subscribe(heard)
    try:
        yield
    finally:
        stop()
        await runner.cleanup()


def backup(item: dict[str, Any] = ONE) -> Backup:
    return from_builtins(Backup, item)


async def test_the_whole_log_is_fetched_with_progress_searched_and_saved(tmp_path: Path) -> None:
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box):
        came: list[tuple[int, int]] = []
        log = await log_of(executor, backup(), progress=lambda done, total: came.append((done, total)))
        assert tuple(log.lines) == tuple(TEXT.splitlines())
        assert not log.partial
        assert came[-1][0] == came[-1][1] > 0
        assert [number for number, _ in log.search("disk FULL")] == [2]
        log.save(tmp_path / "one.log")
        assert (tmp_path / "one.log").read_text() == TEXT
        assert stat.S_IMODE((tmp_path / "one.log").stat().st_mode) == 0o600
        with pytest.raises(BadInput, match="cannot be written"):
            log.save(tmp_path / "one.log")
        text = executor.journal.path.read_text()
        assert text.count("\n") == 2, "before it is sent, and with its outcome"
        assert "s3cr3t" not in text
        (request,) = box.storage.list(box.storage.kind("DownloadRequest"))
        assert request["spec"]["target"] == {"kind": "BackupLog", "name": "one"}


async def test_a_restore_has_its_own_log(tmp_path: Path) -> None:
    async with box_with([ONE, BACK, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box):
        log = await log_of(executor, from_builtins(Restore, BACK))
        assert tuple(log.lines) == tuple(TEXT.splitlines())
        (request,) = box.storage.list(box.storage.kind("DownloadRequest"))
        assert request["spec"]["target"] == {"kind": "RestoreLog", "name": "back"}


RUNNING = obj("Backup", "one", {}, status={"phase": "InProgress"})


@pytest.mark.parametrize(
    ("item", "store", "read_only", "why"),
    [
        (RUNNING, location(), False, "it is InProgress"),
        (ONE, location("Unavailable", message="access denied"), False, 'default is Unavailable: "access denied"'),
        (ONE, location(), True, "read-only is on"),
    ],
)
async def test_where_the_whole_cannot_be_had_velero_s_own_log_is_told_to_be_partial(
    item: dict[str, Any], store: dict[str, Any], read_only: bool, why: str, tmp_path: Path, wire: Wire
) -> None:
    wire.pages["/pods/velero-0/log"] = POD_LOG
    async with box_with([item, store, POD]) as box, hand_in(box, tmp_path, read_only=read_only) as executor:
        log = await log_of(executor, backup(item))
        assert log.partial
        assert why in log.why
        assert tuple(log.lines) == ("msg=start backup=velero/one", "msg=end name=one")
        assert wire.writes == []


async def test_a_refused_backup_that_nothing_tells_of_has_no_log_and_never_will(tmp_path: Path, wire: Wire) -> None:
    wire.pages["/pods/velero-0/log"] = "msg=start backup=velero/another"
    refused = obj("Backup", "one", {}, status={"phase": "FailedValidation"})
    async with box_with([refused, location(), POD]) as box, hand_in(box, tmp_path) as executor:
        with pytest.raises(
            FileUnavailable,
            match="one has no log and will never have one: it is FailedValidation; the log of Velero's pod does not",
        ):
            await log_of(executor, backup(refused))


async def test_a_signed_host_that_only_the_cluster_knows_is_named_with_its_remedy(tmp_path: Path, wire: Wire) -> None:
    wire.pages["/pods/velero-0/log"] = POD_LOG
    inside = "http://minio.velero.svc:9000/bucket/one.gz?X-Signature=s3cr3t"
    async with (
        box_with([ONE, location(), POD]) as box,
        hand_in(box, tmp_path) as executor,
        object_store(box, signed=inside),
    ):
        log = await log_of(executor, backup())
        assert log.partial
        assert "minio.velero.svc:9000" in log.why
        assert "publicUrl" in log.why
        assert "s3cr3t" not in log.why


async def test_what_is_no_gzip_is_said(tmp_path: Path, wire: Wire) -> None:
    wire.pages["/pods/velero-0/log"] = ""
    async with (
        box_with([ONE, location(), POD]) as box,
        hand_in(box, tmp_path) as executor,
        object_store(box, body=b"<html>login</html>"),
    ):
        with pytest.raises(
            FileUnavailable, match=r"cannot be unpacked.*the log of Velero's pod does not mention it either"
        ):
            await log_of(executor, backup())


@pytest.mark.parametrize(("most", "whole"), [(2, True), (1, False)])
async def test_a_log_with_too_many_lines_is_not_shown_in_part_without_a_word(
    most: int, whole: bool, tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foretop_core.actions.run_logs.MOST_LINES", most)
    wire.pages["/pods/velero-0/log"] = POD_LOG
    async with box_with([ONE, location(), POD]) as box, hand_in(box, tmp_path) as executor, object_store(box):
        log = await log_of(executor, backup())
        assert log.partial is not whole
        assert log.why == ("" if whole else "The log is too long: more than 1 lines (use velero's own command)")


async def test_where_velero_s_own_log_may_not_be_read_either_both_reasons_are_told(tmp_path: Path) -> None:
    reader = User("reader", (Rule(("get", "list", "watch"), ("velero.io",), ("*",)),))
    async with box_with([ONE, location(), POD], [reader]) as box, hand_in(box, tmp_path, "reader") as executor:
        with pytest.raises(FileUnavailable, match=r"downloadrequests.*nor can Velero's own log be read: .*pods"):
            await log_of(executor, backup())


async def test_a_storage_with_its_own_authority_is_trusted_by_it(tmp_path: Path) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box, tls=tls):
        log = await log_of(executor, backup(), TlsTrust(str(tmp_path / "ca.pem")))
        assert tuple(log.lines) == tuple(TEXT.splitlines())


async def test_a_velero_that_does_not_answer_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_files, "URL_WITHIN", 1.0)
    async with box_with([ONE, location()]) as box, hand_in(box, tmp_path) as executor:
        with pytest.raises(FileUnavailable, match="Velero did not return a URL"):
            await log_of(executor, backup())


def nab(**spec: Any) -> dict[str, Any]:
    item = obj("NonAdminBackup", "orders", {"backupSpec": spec})
    item["metadata"]["namespace"] = "team-a"
    velero = {"name": "one", "namespace": "velero", "nacuuid": "u-1", "status": {"phase": "Completed"}}
    return {**item, "status": {"phase": "Created", "veleroBackup": velero}}


TENANT = User("tenant", (Rule(("*",), ("oadp.openshift.io",), ("*",), ("team-a",)),))


async def test_a_tenant_s_own_storage_gives_its_log_to_the_tenant(tmp_path: Path) -> None:
    item = nab(storageLocation="mine")
    async with box_with([item], [TENANT]) as box, hand_in(box, tmp_path, "tenant") as executor, object_store(box):
        log = await log_of(executor, from_builtins(NonAdminBackup, item))
        assert tuple(log.lines) == tuple(TEXT.splitlines())
        (request,) = box.storage.list(box.storage.kind("NonAdminDownloadRequest"))
        assert request["metadata"]["namespace"] == "team-a"
        assert request["spec"]["target"] == {"kind": "BackupLog", "name": "orders"}


async def test_the_administrator_s_storage_does_not_and_the_reason_is_told(tmp_path: Path, wire: Wire) -> None:
    item = nab()
    async with box_with([item], [TENANT]) as box, hand_in(box, tmp_path, "tenant") as executor:
        with pytest.raises(FileUnavailable, match="NonAdminBackupStorageLocation"):
            await log_of(executor, from_builtins(NonAdminBackup, item))
        assert wire.writes == []


async def test_who_may_ask_velero_itself_gets_the_log_of_a_nab_there(tmp_path: Path) -> None:
    item = nab()
    marked = obj("Backup", "one", {"storageLocation": "default"}, status=ENDED)
    marked["metadata"]["labels"] = {"openshift.io/oadp-nab-origin-nacuuid": "u-1"}
    async with box_with([item, marked, location()]) as box, hand_in(box, tmp_path) as executor, object_store(box):
        log = await log_of(executor, from_builtins(NonAdminBackup, item))
        assert tuple(log.lines) == tuple(TEXT.splitlines())


async def test_a_controller_that_refuses_is_quoted(tmp_path: Path) -> None:
    item = nab(storageLocation="mine")
    async with box_with([item]) as box, hand_in(box, tmp_path) as executor:
        condition = {
            "type": "Processed",
            "status": "False",
            "reason": "NotUsed",
            "message": "not your own storage",
            "lastTransitionTime": "2026-11-15T02:41:07Z",
        }

        def heard(kind: Any, change: Change) -> None:
            if kind.kind == "NonAdminDownloadRequest" and change.type is ChangeType.ADDED:
                status = {"phase": "BackingOff", "conditions": [condition]}
                box.storage.patch_status(kind, *change.key, status)

        box.storage.subscribe(heard)
        with pytest.raises(FileUnavailable, match="not your own storage"):
            await log_of(executor, from_builtins(NonAdminBackup, item))
