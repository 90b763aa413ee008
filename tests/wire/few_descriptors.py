"""A session under a small limit of open files, in a process of its own; prints what it saw as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import Callable

from foretop_core.clock import SystemClock
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, DATA_DOWNLOAD, NAB, RESTORE
from foretop_core.models.wire import ObjectRef
from foretop_core.session import Session
from tests.wire.watching import permit

CONTEXT = "minicluster"
DOWNLOAD = {"backupStorageLocation": "default", "operationTimeout": "10m", "snapshotID": "x", "sourceNamespace": "a"}


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(240):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(0.05)


async def _look(tenant: str, admin: str, namespaces: int) -> dict[str, object]:
    writer = connect(ConnectionOptions(kubeconfig=admin), {}, SystemClock(), read_only=False).clients[CONTEXT]
    connections = connect(ConnectionOptions(kubeconfig=tenant), {}, SystemClock(), read_only=True)
    timing = WatchTimings(poll=1.0, polls_per_second=200.0)
    session = Session(connections, kinds=(BACKUP, RESTORE, NAB), timing=timing)
    most = 0

    async def count() -> None:
        nonlocal most
        while True:
            most = max(most, len(os.listdir("/proc/self/fd")))
            await asyncio.sleep(0.01)

    counting = asyncio.create_task(count())
    session.start()
    board = session.store.health

    def all_live() -> bool:
        states = [health.state for scope, health in board.watches(CONTEXT)]
        return len(states) >= namespaces and set(states) == {WatchState.LIVE}

    await _until(all_live)
    await _until(lambda: len(list(session.store.items(CONTEXT, "Restore"))) == 2000)
    health = board.context(CONTEXT)
    polled = [scope.namespace for scope, one in board.watches(CONTEXT) if one.polled_every and scope.kind is NAB]
    for namespace, looked_at in ((polled[0], True), (polled[-1], False)):
        made = {"apiVersion": NAB.api_version, "kind": "NonAdminBackup", "spec": {"backupSpec": {}}}
        meta: dict[str, object] = {"name": "new", "namespace": namespace}
        path = api_paths.collection(NAB, namespace)
        await writer.write(permit(writer, "POST", path), "POST", path, {}, {**made, "metadata": meta})
        if looked_at:
            session.watch_namespace(namespace)
        key = ObjectRef(CONTEXT, "NonAdminBackup", namespace, "new")
        await _until(lambda key=key: session.store.get(key) is not None)  # type: ignore[misc]
    for owner in ("r-1999", "somebody-elses"):
        meta = {"name": owner, "namespace": "velero", "labels": {"velero.io/restore-name": owner}}
        made = {"apiVersion": DATA_DOWNLOAD.api_version, "kind": "DataDownload", "spec": {**DOWNLOAD}, "metadata": meta}
        made["spec"]["targetVolume"] = {"namespace": "a", "pvc": "b", "pv": ""}  # type: ignore[index]
        path = api_paths.collection(DATA_DOWNLOAD, "velero")
        await writer.write(permit(writer, "POST", path), "POST", path, {}, made)
    await _until(lambda: [key.name for key, _ in session.store.items(CONTEXT, "DataDownload")] == ["r-1999"])
    await _until(all_live)
    counting.cancel()
    await session.stop()
    await writer.close()
    return {"most": most, "watches": health.watches, "polled": health.polled, "every": health.polled_every}


def main() -> None:
    limit = int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    print(json.dumps(asyncio.run(_look(sys.argv[1], sys.argv[2], int(sys.argv[3])))))


if __name__ == "__main__":
    main()
