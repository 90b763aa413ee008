"""Volumes on their way: pod volume backups and data uploads that move, wait for their node, and fail."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.minicluster.controllers.engine import Process
from foretop_core.minicluster.controllers.work import Move, Work
from foretop_core.minicluster.scenes.stage import HOME, Stage

_SNAPSHOT = "DataUpload"
_FILES = "PodVolumeBackup"
_SCHEDULES = {
    "postgres": (Move(_SNAPSHOT, "pgdata", 84, "worker-1", 22), Move(_SNAPSHOT, "pgwal", 12, "worker-1", 5)),
    "media": (Move(_FILES, "videos", 340, "worker-2", 48), Move(_FILES, "thumbs", 9, "worker-2", 4)),
    "mongo": (Move(_SNAPSHOT, "mongo-0", 40, "worker-3", 12), Move(_SNAPSHOT, "mongo-1", 41, "worker-3", 12)),
    "kafka": (Move(_SNAPSHOT, "log-0", 60, "worker-1", 9, fails="error uploading to repository: connection reset"),),
    "elastic": (Move(_SNAPSHOT, "index", 120, "worker-4", 30, waits=True),),
}


def set_up(stage: Stage) -> None:
    stage.namespace(HOME, "team-data", "team-media")
    stage.location()
    server = stage.velero(concurrent=6)
    for name, moves in _SCHEDULES.items():
        stage.work[name] = Work(timedelta(seconds=70), 420, moves=moves)
        stage.schedule(name, f"{(stage.start.minute - 6) % 60} * * * *", [name], ttl=timedelta(days=2))
    stage.work["team-data"] = Work(timedelta(seconds=50), 130, moves=(Move(_SNAPSHOT, "lake", 25, "worker-2", 8),))
    stage.work["team-media"] = Work(timedelta(seconds=40), 90, moves=(Move(_FILES, "cuts", 18, "worker-4", 6),))
    server.start()
    stage.non_admin().start()
    stage.play(_teams(stage))


def _teams(stage: Stage) -> Process:
    turn = 0
    while True:
        turn += 1
        stage.ask("NonAdminBackup", "team-data", f"lake-{turn}", {"backupSpec": {"snapshotMoveData": True}})
        stage.ask("NonAdminBackup", "team-media", f"cuts-{turn}", {"backupSpec": {"defaultVolumesToFsBackup": True}})
        yield timedelta(minutes=15)
