"""Volume transfers: pod volume backups and data uploads that move, wait for their node, and fail."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.engine import Process
from foretop_demo.controllers.movements import LoadConcurrency, NodeLimit
from foretop_demo.controllers.simulated_runs import SimulatedRun, VolumeTransfer
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_SNAPSHOT = "DataUpload"
_FILES = "PodVolumeBackup"
_SCHEDULES = {
    "postgres": (
        VolumeTransfer(_SNAPSHOT, "pgdata", 84, "worker-1", 22),
        VolumeTransfer(_SNAPSHOT, "pgwal", 12, "worker-1", 5),
    ),
    "media": (
        VolumeTransfer(_FILES, "videos", 340, "worker-2", 48),
        VolumeTransfer(_FILES, "thumbs", 9, "worker-2", 4),
    ),
    "mongo": (
        VolumeTransfer(_SNAPSHOT, "mongo-0", 40, "worker-3", 12),
        VolumeTransfer(_SNAPSHOT, "mongo-1", 41, "worker-3", 12),
    ),
    "kafka": (
        VolumeTransfer(_SNAPSHOT, "log-0", 60, "worker-1", 9, fails="error uploading to repository: connection reset"),
    ),
    "elastic": (VolumeTransfer(_SNAPSHOT, "index", 120, "worker-4", 30, waits=True),),
}


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, "team-data", "team-media")
    builder.location()
    server = builder.velero(concurrent=6, load=LoadConcurrency(1, (NodeLimit("worker-3", 2),)))
    for name, moves in _SCHEDULES.items():
        builder.work[name] = SimulatedRun(timedelta(seconds=70), 420, moves=moves)
        builder.schedule(name, f"{(builder.start.minute - 6) % 60} * * * *", [name], ttl=timedelta(days=2))
    builder.work["team-data"] = SimulatedRun(
        timedelta(seconds=50), 130, moves=(VolumeTransfer(_SNAPSHOT, "lake", 25, "worker-2", 8),)
    )
    builder.work["team-media"] = SimulatedRun(
        timedelta(seconds=40), 90, moves=(VolumeTransfer(_FILES, "cuts", 18, "worker-4", 6),)
    )
    _repository(builder, "mongo", timedelta(minutes=40))
    _repository(builder, "kafka", timedelta(days=3), "error to prune: repository is locked by another client")
    server.start()
    builder.non_admin().start()
    builder.start_process(_teams(builder))


def _repository(builder: ScenarioBuilder, of: str, maintained: timedelta, failure: str = "") -> None:
    """The volume data of a namespace; one whose maintenance fails keeps growing."""
    done = wire_time(builder.now - maintained)
    recent: list[Json] = [{"result": "Succeeded", "startTimestamp": done, "completeTimestamp": done}]
    if failure:
        at = wire_time(builder.now - timedelta(minutes=20))
        recent.append({"result": "Failed", "message": failure, "startTimestamp": at, "completeTimestamp": at})
    spec = {
        "backupStorageLocation": "default",
        "maintenanceFrequency": "1h0m0s",
        "repositoryType": "kopia",
        "resticIdentifier": "",
        "volumeNamespace": of,
    }
    status = {"phase": "Ready", "lastMaintenanceTime": done, "recentMaintenance": recent}
    meta = {"name": f"{of}-default-kopia", "namespace": HOME}
    body = {"metadata": meta, "spec": spec, "status": status}
    builder.history.put("BackupRepository", body, builder.start - timedelta(days=30))


def _teams(builder: ScenarioBuilder) -> Process:
    number = 0
    while True:
        number += 1
        builder.create("NonAdminBackup", "team-data", f"lake-{number}", {"backupSpec": {"snapshotMoveData": True}})
        builder.create(
            "NonAdminBackup", "team-media", f"cuts-{number}", {"backupSpec": {"defaultVolumesToFsBackup": True}}
        )
        yield timedelta(minutes=15)
