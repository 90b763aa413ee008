"""10,000 claims with 50,000 PodVolumeBackups and DataUploads and 5,000 pods: their memory, and one change of each."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.connection.list_watch_codec import read_object
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import (
    BACKUP,
    CLAIM,
    DATA_UPLOAD,
    NAMESPACE,
    POD_VOLUME_BACKUP,
    SCHEDULE,
    STORAGE,
    VOLUME,
    Kind,
)
from foretop_core.models.sharing import SharedParts
from foretop_core.models.wire import ObjectRef
from foretop_core.store.store import StoreSink
from foretop_core.tables.resources.protection import ProtectionView
from tests.objects import NOW
from tests.tui.fake_source import FilledSource
from trials.bench import Figure

SPACES, CLAIMS, COPIES = 500, 10_000, 5
"""Of each claim a movement in each copy: 50,000."""
_MEGABYTE = 1 << 20
Bodies = Iterator[dict[str, Any]]


def _at(days: int, minutes: int = 0) -> str:
    return (NOW - timedelta(days=days, minutes=minutes)).isoformat()


def _space(number: int) -> str:
    return f"team-{number % SPACES:03}"


def _meta(name: str, namespace: str = "velero", days: int = 90, **more: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace, "uid": f"u-{name}", "creationTimestamp": _at(days)}
    return {**meta, "resourceVersion": "1", **more}


def _owners(_: int) -> Iterator[tuple[Kind, Bodies]]:
    template = {"includedNamespaces": ["*"], "storageLocation": "default", "defaultVolumesToFsBackup": True}
    status = {"phase": "Completed", "expiration": _at(-20)}
    yield NAMESPACE, ({"metadata": _meta(_space(number), "")} for number in range(SPACES))
    yield STORAGE, iter([{"metadata": _meta("default"), "spec": {"default": True}, "status": {"phase": "Available"}}])
    yield SCHEDULE, iter([{"metadata": _meta("nightly"), "spec": {"schedule": "0 2 * * *", "template": template}}])
    yield (
        BACKUP,
        (
            {
                "metadata": _meta(f"nightly-{day}", days=day, labels={"velero.io/schedule-name": "nightly"}),
                "spec": template,
                "status": {**status, "startTimestamp": _at(day)},
            }
            for day in range(COPIES)
        ),
    )


def _volumes(count: int) -> Iterator[tuple[Kind, Bodies]]:
    claims = range(count)
    bound = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"}
    yield (
        CLAIM,
        (
            {
                "metadata": _meta(f"data-{one}", _space(one), labels={"app": f"db-{one % 50}"}),
                "spec": {**bound, "volumeName": f"pvc-{one}", "resources": {"requests": {"storage": "10Gi"}}},
                "status": {"phase": "Bound", "capacity": {"storage": "10Gi"}},
            }
            for one in claims
        ),
    )
    yield (
        VOLUME,
        (
            {
                "metadata": _meta(f"pvc-{one}", ""),
                "spec": {
                    **bound,
                    "capacity": {"storage": "10Gi"},
                    "claimRef": {"namespace": _space(one), "name": f"data-{one}", "uid": f"u-data-{one}"},
                    "csi": {"driver": "csi.example", "volumeHandle": f"vol-{one}"},
                },
                "status": {"phase": "Bound"},
            }
            for one in claims
        ),
    )
    yield POD_VOLUME_BACKUP, (_movement(one, day) for one in claims if one % 2 for day in range(COPIES))
    yield DATA_UPLOAD, (_movement(one, day) for one in claims if not one % 2 for day in range(COPIES))


def _movement(claim: int, day: int) -> dict[str, Any]:
    labels = {"velero.io/backup-name": f"nightly-{day}", "velero.io/pvc-uid": f"u-data-{claim}"}
    owner = {"apiVersion": "velero.io/v1", "kind": "Backup", "name": f"nightly-{day}", "uid": f"u-nightly-{day}"}
    marks = {"annotations": {"velero.io/pvc-name": f"data-{claim}"}} if claim % 2 else {}
    source = {"sourceNamespace": _space(claim), "sourcePVC": f"data-{claim}"}
    return {
        "metadata": _meta(f"nightly-{day}-{claim}", days=day, labels=labels, ownerReferences=[owner]) | marks,
        "spec": {
            "backupStorageLocation": "default",
            "node": f"worker-{claim % 40}",
            "uploaderType": "kopia",
            **({"pod": {"namespace": _space(claim), "name": f"db-{claim}"}, "volume": "v"} if claim % 2 else source),
        },
        "status": {
            "phase": "Completed",
            "snapshotID": f"snap-{claim}-{day}",
            "startTimestamp": _at(day),
            "completionTimestamp": _at(day),
            "progress": {"totalBytes": 1 << 30, "bytesDone": 1 << 30},
        },
    }


class Filled:
    """A store with all of it, as it comes in from the lists, and the table of Protection."""

    def __init__(self, claims: int) -> None:
        source = FilledSource([], ("prod",))
        self.clock, self.store = source.manual, source.store
        self._sinks: dict[str, StoreSink] = {}
        self._version = 1
        for kind, bodies in (*_owners(claims), *_volumes(claims)):
            sink = self._sinks[kind.name] = self.store.sink(WatchScope("prod", kind), self.clock)
            shared = SharedParts()
            sink.replace_begin()
            sink.page(shared.share(read_object(kind, msgspec.Raw(msgspec.json.encode(body)))) for body in bodies)
            sink.replace_end()
            sink.health(WatchHealth(WatchState.LIVE, NOW))
        self.state = DashboardState(source, lambda: 0.0)
        self.model = StoreTableModel(self.state, ProtectionView())
        self.paint()

    def paint(self) -> None:
        self.state.begin_frame()
        self.model.paint(0, 50)

    def change(self, kind: Kind, name: str) -> None:
        """Another version of one object, taken in and shown."""
        held = self.store.get(ObjectRef("prod", kind.name, _space(7) if kind is CLAIM else "velero", name))
        assert held is not None
        self._version += 1
        newer = replace(held, metadata=replace(held.metadata, resource_version=str(self._version)))
        self._sinks[kind.name].apply("MODIFIED", newer)
        self.model.pump()
        self.paint()


def _resident() -> float:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / _MEGABYTE


def _processor(work: Callable[[], object], rounds: int = 15) -> float:
    """Milliseconds; the best of several."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best * 1e3


def measure() -> Iterator[Figure]:
    few = Filled(0)
    before = _resident()
    many = Filled(CLAIMS)
    yield Figure("memory of 10,000 claims, 50,000 movements", _resident() - before, 40, "MB")
    for kind, name in ((CLAIM, "data-7"), (POD_VOLUME_BACKUP, "nightly-0-7"), (DATA_UPLOAD, "nightly-0-8")):
        took = _processor(lambda kind=kind, name=name: many.change(kind, name))  # type: ignore[misc]
        yield Figure(f"one {kind.name} changed beside them", took, 5, "ms")
    alone = _processor(lambda: few.change(BACKUP, "nightly-0"))
    beside = _processor(lambda: many.change(BACKUP, "nightly-0"))
    yield Figure("the newest copy changed, without volumes", alone, 50, "ms")
    yield Figure("the same beside them", beside - alone, 5, "ms more")
