"""One Velero server of the box: its flags, its controllers and its once-a-minute passes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from foretop_core.cron import Dialect
from foretop_core.rules.cron_dialects import NEWEST_KNOWN, Release, read_release
from foretop_demo.change_log import Change, ChangeType, Key
from foretop_demo.controllers.backups import BackupController
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.deletions import DeletionController
from foretop_demo.controllers.downloads import DownloadController, FileServer
from foretop_demo.controllers.engine import Engine, Process, ProcessGroup
from foretop_demo.controllers.locations import LocationController
from foretop_demo.controllers.movements import LoadConcurrency, Movements
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.queueing import QueueController
from foretop_demo.controllers.restores import RestoreController
from foretop_demo.controllers.schedules import ScheduleController
from foretop_demo.controllers.simulated_runs import Workload
from foretop_demo.controllers.variants import has_queue, keeps_validation_errors
from foretop_demo.kinds import Json
from foretop_demo.reconcile import Behaviour
from foretop_demo.reconcile.writes import wire_time

MINUTE = timedelta(minutes=1)
_CHECK_LOCATIONS = timedelta(seconds=10)
_STATUS = "ServerStatusRequest"


class Flags(msgspec.Struct, frozen=True):
    """The release of the server and its command-line flags."""

    namespace: str = "velero"
    skip_immediately: bool = False
    concurrent_backups: int = 1
    version: str = NEWEST_KNOWN
    behaviour: Behaviour = Behaviour.RELEASED
    collects_every: timedelta = timedelta(hours=1)
    load: LoadConcurrency = LoadConcurrency()

    @property
    def release(self) -> Release:
        return read_release(self.version)

    @property
    def queued(self) -> bool:
        return has_queue(self.release)

    @property
    def dialect(self) -> Dialect:
        """The cron dialect of its schedules; the newest one of a release line whose patches differ."""
        return self.release.dialects[-1]


class VeleroServer:
    """A server that can be started and killed; the bucket and the cluster's objects outlive it."""

    def __init__(
        self, engine: Engine, flags: Flags, storage: ObjectStorage, workload: Workload, file_server: FileServer
    ) -> None:
        self._engine = engine
        self.flags = flags
        self._storage = storage
        self._workload = workload
        self._file_server = file_server
        self._group: ProcessGroup | None = None

    def start(self) -> None:
        """Take up what was left, reconcile everything, and run every pass at this second of the minute."""
        assert self._group is None, "the server is running already"
        group = self._group = self._engine.process_group()
        client = ControllerClient(self._engine.storage, "velero-server")
        flags, home = self.flags, self.flags.namespace
        schedules = ScheduleController(
            group,
            client,
            home,
            flags.dialect,
            flags.skip_immediately,
            flags.behaviour,
            keeps_validation_errors(flags.release),
        )
        movements = Movements(group, client, flags.load)
        backups = BackupController(group, client, home, self._storage, self._workload, flags.release, movements)
        restores = RestoreController(group, client, home, self._storage, self._workload)
        deletions = DeletionController(group, client, home, self._storage, flags.release)
        locations = LocationController(group, client, home, self._storage)
        downloads = DownloadController(group, client, home, self._file_server, flags.release)
        group.listen_raw(_STATUS, lambda change: self._report_version(group, client, change))
        backups.start()
        restores.start()
        deletions.start()
        downloads.start()
        locations.check_all()
        schedules.reconcile_all()
        if flags.queued:
            queue = QueueController(group, client, home, flags.concurrent_backups)
            queue.start()
            group.start(_every(MINUTE, queue.look_again))
        group.start(_every(MINUTE, schedules.reconcile_all, locations.sync_due))
        group.start(_every(_CHECK_LOCATIONS, locations.check_due))
        deletions.collect_expired()
        group.start(_every(flags.collects_every, deletions.collect_expired))

    def kill(self) -> None:
        """Stop at once, with everything that is under way."""
        assert self._group is not None, "the server is not running"
        self._group.close()
        self._group = None

    def restart(self, version: str) -> None:
        """Stop, and start as another release; the CRDs stay, as when only the image is upgraded."""
        self.kill()
        self.flags = replace(self.flags, version=version)
        self.start()

    def _report_version(self, group: ProcessGroup, client: ControllerClient, change: Change) -> None:
        if change.type is not ChangeType.ADDED or change.key[0] != self.flags.namespace:
            return
        status = {
            "phase": "Processed",
            "processedTimestamp": wire_time(group.now()),
            "serverVersion": f"v{self.flags.version}",
        }
        group.start(_report_and_delete(client, change.key, {"status": status}))


def _report_and_delete(client: ControllerClient, key: Key, change: Json) -> Process:
    yield timedelta(milliseconds=20)
    client.patch_raw(_STATUS, key, change)
    yield MINUTE
    client.delete(_STATUS, key)


def _every(period: timedelta, *actions: Callable[[], None]) -> Process:
    while True:
        yield period
        for action in actions:
            action()
