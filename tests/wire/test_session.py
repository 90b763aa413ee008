"""A whole run against the cluster in a box: from its API server to snapshots and findings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from foretop_core.clock import ManualClock
from foretop_core.errors import ForetopError
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import Backup, DataUpload
from foretop_core.rules.triage import triage
from foretop_core.session import Session, open_session
from foretop_demo.local_api_server import LocalApiServer
from tests.objects import NOW
from tests.wire.watching import fails_once

META = {"namespace": "default"}


async def until(true: Callable[[], object]) -> None:
    """Waits for the thing itself; the suite's own limit ends a wait that is in vain."""
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(0.01)


def session_of(box: LocalApiServer, folder: Path, **wishes: object) -> Session:
    path = box.kubeconfig(folder / "kubeconfig")
    return open_session(SessionOptions(ConnectionOptions(kubeconfig=str(path)), **wishes), {}, ManualClock(NOW))  # type: ignore[arg-type]


async def test_what_is_in_the_cluster_is_judged(tmp_path: Path) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        broken = {
            "apiVersion": "velero.io/v1",
            "kind": "Schedule",
            "metadata": {**META, "name": "broken"},
            "spec": {"schedule": "0 0 * * 8", "template": {}},
        }
        await box_create(box, "schedules", broken)
        session = session_of(box, tmp_path)
        session.start()
        try:
            (context,) = session.contexts
            await session.settled(context)
            assert [
                finding.code for finding in triage(session.snapshot(context), session.clock(context).now()).findings
            ] == ["schedule-invalid"]
            assert session.store.health.context(context).state is WatchState.LIVE
        finally:
            await session.stop()


async def test_the_rows_of_the_open_page_come_before_those_of_all_other_kinds(tmp_path: Path) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        for number in range(5):
            await box_create(box, "backups", _object("Backup", f"run-{number}"))
        asked_for = {"metadata": {"name": "asked-for"}, "spec": {"backupSpec": {}}}
        box.storage.create(box.storage.kind("NonAdminBackup"), asked_for, META["namespace"])
        session = session_of(box, tmp_path)
        changes = session.store.feed.subscribe()
        session.start(first=frozenset({"NonAdminBackup"}))
        try:
            await session.settled(session.contexts[0])
            kinds = [key.kind for key in changes.drain()]
            assert kinds[0] == "NonAdminBackup"
            assert kinds.count("Backup") == 5
        finally:
            await session.stop()


async def test_the_other_kinds_come_where_the_open_page_has_nothing_to_show(tmp_path: Path) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        await box_create(box, "backups", _object("Backup", "run"))
        session = session_of(box, tmp_path)
        session.start(first=frozenset({"NonAdminBackup"}))
        try:
            await until(lambda: session.store.all(session.contexts[0], Backup))
        finally:
            await session.stop()


async def test_the_movements_of_a_running_backup_are_watched_and_no_others(tmp_path: Path) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        for name in ("running", "waiting"):
            await box_create(box, "backups", _object("Backup", name))
            await box_create(box, "datauploads", _upload(f"up-{name}", name))
        session = session_of(box, tmp_path)
        session.start()
        try:
            (context,) = session.contexts
            await session.settled(context)
            assert session.store.all(context, DataUpload) == ()
            await box_patch(box, "backups", "running", {"status": {"phase": "InProgress"}})
            await until(lambda: [item.name for item in session.store.all(context, DataUpload)] == ["up-running"])
            await box_patch(box, "backups", "running", {"status": {"phase": "Completed"}})
            await until(lambda: session.store.all(context, DataUpload) == ())
            assert {item.name for item in session.store.all(context, Backup)} == {"running", "waiting"}
        finally:
            await session.stop()


async def test_a_follower_that_fails_is_health_costs_no_watch_and_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        await box_create(box, "backups", _object("Backup", "running"))
        await box_create(box, "datauploads", _upload("up-running", "running"))
        session = session_of(box, tmp_path)
        seen: list[tuple[WatchState, tuple[str, ...]]] = []

        def look() -> None:
            health = session.store.health.context(context)
            seen.append((health.state, health.faulty_kinds))

        (context,) = session.contexts
        monkeypatch.setattr(session.store, "snapshot", fails_once(session.store.snapshot))
        session.store.listen(look)
        session.start()
        try:
            await until(lambda: (WatchState.STALE, ("Pod",)) in seen)
            await until(lambda: session.store.health.context(context).state is WatchState.LIVE)
            await box_patch(box, "backups", "running", {"status": {"phase": "InProgress"}})
            await until(lambda: [item.name for item in session.store.all(context, DataUpload)] == ["up-running"])
        finally:
            await session.stop()


async def test_a_follower_that_fails_among_running_backups_finds_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        await box_create(box, "backups", _object("Backup", "running"))
        await box_create(box, "datauploads", _upload("up-running", "running"))
        session = session_of(box, tmp_path)
        session.start()
        try:
            (context,) = session.contexts
            await session.settled(context)
            cluster = session.clusters[context]
            monkeypatch.setattr(cluster, "follow_movements", fails_once(cluster.follow_movements))
            await box_patch(box, "backups", "running", {"status": {"phase": "InProgress"}})
            await until(lambda: session.store.health.context(context).faults)
            await until(lambda: [item.name for item in session.store.all(context, DataUpload)] == ["up-running"])
            assert session.store.health.context(context).faults == ()
        finally:
            await session.stop()


async def test_a_cluster_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        session = session_of(box, tmp_path)
    session.start()
    try:
        with pytest.raises(ForetopError, match="Cannot look at"):
            await session.settled(session.contexts[0])
    finally:
        await session.stop()


def _object(kind: str, name: str) -> dict[str, object]:
    return {"apiVersion": "velero.io/v1", "kind": kind, "metadata": {**META, "name": name}, "spec": {}}


def _upload(name: str, backup: str) -> dict[str, object]:
    return {
        "apiVersion": "velero.io/v2alpha1",
        "kind": "DataUpload",
        "metadata": {**META, "name": name, "labels": {"velero.io/backup-name": backup}},
        "spec": {
            "snapshotType": "CSI",
            "sourceNamespace": "team-a",
            "sourcePVC": "data-0",
            "backupStorageLocation": "default",
            "operationTimeout": "10m",
        },
    }


async def box_create(box: LocalApiServer, plural: str, body: Mapping[str, object]) -> None:
    await _send(box, "POST", plural, "", body)


async def box_patch(box: LocalApiServer, plural: str, name: str, body: Mapping[str, object]) -> None:
    await _send(box, "PATCH", plural, f"/{name}", body)


async def _send(box: LocalApiServer, method: str, plural: str, rest: str, body: Mapping[str, object]) -> None:
    import aiohttp

    version = "v2alpha1" if plural.startswith("data") else "v1"
    url = f"{box.url}/apis/velero.io/{version}/namespaces/default/{plural}{rest}"
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    head = {"Authorization": f"Bearer {box.token()}", "Content-Type": kind}
    async with aiohttp.ClientSession() as http, http.request(method, url, json=body, headers=head) as answer:
        assert answer.status < 300, await answer.text()
