"""Logs in an archive: of a tenant's backup, and what Velero's pod tells of a run without one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from foretop_core.actions.journal import Journal
from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.run_logs import log_of
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.session import Session, open_session
from tests.rooms.archives.packing import listed, tree

_MADE = {"creationTimestamp": "2026-11-19T02:00:00Z"}
_NAB = {
    "apiVersion": "oadp.openshift.io/v1alpha1",
    "kind": "NonAdminBackup",
    "metadata": {"name": "orders", "namespace": "shop", **_MADE},
    "spec": {"backupSpec": {}},
    "status": {"phase": "Created", "veleroBackup": {"name": "shop-orders-1", "namespace": "velero", "nacuuid": "u-1"}},
}
_BACKUP = {
    "apiVersion": "velero.io/v1",
    "kind": "Backup",
    "metadata": {
        "name": "shop-orders-1",
        "namespace": "velero",
        "labels": {"openshift.io/oadp-nab-origin-nacuuid": "u-1"},
        **_MADE,
    },
    "spec": {},
    "status": {"phase": "Completed"},
}


@asynccontextmanager
async def opened(folder: Path, files: dict[str, bytes]) -> AsyncIterator[tuple[Session, PlanExecutor]]:
    session = open_session(SessionOptions(files=(str(tree(folder / "sent", files)),)), os.environ)
    session.start()
    await session.settled("sent")
    yield session, session.executor("sent", Journal(folder / "journal"), "me")
    await session.stop()


async def test_the_log_of_a_tenants_backup_is_that_of_veleros(tmp_path: Path) -> None:
    backups = "must-gather/namespaces/velero/velero.io/backups"
    files = {
        f"{backups}/backups.json": listed(_BACKUP),
        f"{backups}/shop-orders-1.log": b"level=info msg=one\nlevel=error msg=two\n",
        "must-gather/namespaces/shop/oadp.openshift.io/nonadminbackups/nonadminbackups.json": listed(_NAB),
    }
    async with opened(tmp_path, files) as (session, executor):
        (nab,) = session.snapshot("sent").nabs
        log = await log_of(executor, nab)
        assert list(log.lines) == ["level=info msg=one", "level=error msg=two"]
        assert not log.partial


@pytest.mark.parametrize(
    "place",
    [
        "kubecapture/core_v1/velero/velero-1/velero/velero.log",
        "namespaces/velero/pods/velero-1/velero/velero/logs/current.log",
    ],
)
async def test_where_a_log_is_missing_that_of_veleros_pod_is_read(place: str, tmp_path: Path) -> None:
    text = b"level=info msg=one backup=velero/shop-orders-1\nlevel=info msg=other backup=velero/daily-1\n"
    files = {"kubecapture/velero.io_v1/velero/backups-1.json": listed(_BACKUP), place: text}
    async with opened(tmp_path, files) as (session, executor):
        log = await log_of(executor, session.snapshot("sent").backups[0])
        assert list(log.lines) == ["level=info msg=one backup=velero/shop-orders-1"]
        assert log.partial
        assert "is not in the archive" in log.why
