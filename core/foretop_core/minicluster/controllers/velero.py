"""One Velero server of the box: its flags, its controllers and its beat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from foretop_core.cron import Dialect
from foretop_core.minicluster.change_log import Change, ChangeType, Key
from foretop_core.minicluster.controllers.backups import BackupController
from foretop_core.minicluster.controllers.controller_client import ControllerClient
from foretop_core.minicluster.controllers.deletions import DeletionController
from foretop_core.minicluster.controllers.downloads import DownloadController, FileServer
from foretop_core.minicluster.controllers.engine import Engine, Process, ProcessGroup
from foretop_core.minicluster.controllers.locations import LocationController
from foretop_core.minicluster.controllers.movements import Movements
from foretop_core.minicluster.controllers.object_storage import ObjectStorage
from foretop_core.minicluster.controllers.queueing import QueueController
from foretop_core.minicluster.controllers.restores import RestoreController
from foretop_core.minicluster.controllers.schedules import ScheduleController
from foretop_core.minicluster.controllers.simulated_runs import Workload
from foretop_core.minicluster.controllers.variants import has_queue
from foretop_core.minicluster.kinds import Json
from foretop_core.minicluster.reconcile import Behaviour
from foretop_core.minicluster.reconcile.writes import wire_time
from foretop_core.rules.dialects import NEWEST_KNOWN, Release, read_release

MINUTE = timedelta(minutes=1)
_CHECK_LOCATIONS = timedelta(seconds=10)
_STATUS = "ServerStatusRequest"


@dataclass(frozen=True, slots=True)
class Flags:
    """Which release of the server was started, and how."""

    namespace: str = "velero"
    skip_immediately: bool = False
    concurrent_backups: int = 1
    version: str = NEWEST_KNOWN
    behaviour: Behaviour = Behaviour.RELEASED
    collects_every: timedelta = timedelta(hours=1)

    @property
    def release(self) -> Release:
        return read_release(self.version)

    @property
    def queued(self) -> bool:
        return has_queue(self.release)

    @property
    def dialect(self) -> Dialect:
        """How its schedules are read; of a line whose patches differ, as by the newest."""
        return self.release.dialects[-1]


class VeleroServer:
    """Started and killed at will; what lies in the bucket and in the cluster outlives it."""

    def __init__(
        self, engine: Engine, flags: Flags, storage: ObjectStorage, workload: Workload, shelf: FileServer
    ) -> None:
        self._engine = engine
        self.flags = flags
        self._storage = storage
        self._workload = workload
        self._shelf = shelf
        self._scope: ProcessGroup | None = None

    def start(self) -> None:
        """Take up what was left, look at everything, and keep this second as the beat."""
        assert self._scope is None, "the server is running already"
        scope = self._scope = self._engine.scope()
        hand = ControllerClient(self._engine.storage, "velero-server")
        flags, home = self.flags, self.flags.namespace
        schedules = ScheduleController(scope, hand, home, flags.dialect, flags.skip_immediately, flags.behaviour)
        movements = Movements(scope, hand)
        backups = BackupController(scope, hand, home, self._storage, self._workload, flags.queued, movements)
        restores = RestoreController(scope, hand, home, self._storage, self._workload)
        deletions = DeletionController(scope, hand, home, self._storage, flags.release)
        locations = LocationController(scope, hand, home, self._storage)
        downloads = DownloadController(scope, hand, home, self._shelf)
        scope.hear_raw(_STATUS, lambda change: self._tell_version(scope, hand, change))
        backups.start()
        restores.start()
        deletions.start()
        downloads.start()
        locations.check_all()
        schedules.look_at_all()
        if flags.queued:
            QueueController(scope, hand, home, flags.concurrent_backups).start()
        scope.start(_every(MINUTE, schedules.look_at_all, locations.sync_due))
        scope.start(_every(_CHECK_LOCATIONS, locations.check_due))
        deletions.collect_expired()
        scope.start(_every(flags.collects_every, deletions.collect_expired))

    def kill(self) -> None:
        """End at once, with everything that was under way."""
        assert self._scope is not None, "the server is not running"
        self._scope.close()
        self._scope = None

    def restart(self, version: str) -> None:
        """End, and start as another release; the definitions stay, as an upgrade of the image alone leaves them."""
        self.kill()
        self.flags = replace(self.flags, version=version)
        self.start()

    def _tell_version(self, scope: ProcessGroup, hand: ControllerClient, change: Change) -> None:
        if change.type is not ChangeType.ADDED or change.key[0] != self.flags.namespace:
            return
        status = {
            "phase": "Processed",
            "processedTimestamp": wire_time(scope.now()),
            "serverVersion": f"v{self.flags.version}",
        }
        scope.start(_answer_and_forget(hand, change.key, {"status": status}))


def _answer_and_forget(hand: ControllerClient, key: Key, change: Json) -> Process:
    yield timedelta(milliseconds=20)
    hand.patch_raw(_STATUS, key, change)
    yield MINUTE
    hand.delete(_STATUS, key)


def _every(period: timedelta, *actions: Callable[[], None]) -> Process:
    while True:
        yield period
        for action in actions:
            action()
