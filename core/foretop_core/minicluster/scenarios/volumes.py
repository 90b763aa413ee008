"""Volumes on their way: pod volume backups and data uploads that move, wait for their node, and fail."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.minicluster.controllers.engine import Process
from foretop_core.minicluster.controllers.simulated_runs import SimulatedRun, VolumeTransfer
from foretop_core.minicluster.scenarios.scenario_builder import HOME, ScenarioBuilder

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


def set_up(stage: ScenarioBuilder) -> None:
    stage.namespace(HOME, "team-data", "team-media")
    stage.location()
    server = stage.velero(concurrent=6)
    for name, moves in _SCHEDULES.items():
        stage.work[name] = SimulatedRun(timedelta(seconds=70), 420, moves=moves)
        stage.schedule(name, f"{(stage.start.minute - 6) % 60} * * * *", [name], ttl=timedelta(days=2))
    stage.work["team-data"] = SimulatedRun(
        timedelta(seconds=50), 130, moves=(VolumeTransfer(_SNAPSHOT, "lake", 25, "worker-2", 8),)
    )
    stage.work["team-media"] = SimulatedRun(
        timedelta(seconds=40), 90, moves=(VolumeTransfer(_FILES, "cuts", 18, "worker-4", 6),)
    )
    server.start()
    stage.non_admin().start()
    stage.play(_teams(stage))


def _teams(stage: ScenarioBuilder) -> Process:
    turn = 0
    while True:
        turn += 1
        stage.ask("NonAdminBackup", "team-data", f"lake-{turn}", {"backupSpec": {"snapshotMoveData": True}})
        stage.ask("NonAdminBackup", "team-media", f"cuts-{turn}", {"backupSpec": {"defaultVolumesToFsBackup": True}})
        yield timedelta(minutes=15)
