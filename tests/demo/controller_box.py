"""A box without an HTTP server, for tests: storage, engine and object storage on a manual clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from foretop_core.clock import ManualClock
from foretop_core.models import Backup, Restore
from foretop_demo.controllers import (
    BoxClock,
    Engine,
    Flags,
    NonAdminController,
    ObjectStorage,
    SimulatedRun,
    VeleroServer,
)
from foretop_demo.controllers.downloads import FileServer
from foretop_demo.controllers.variants import catalog_for
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.local_api_server import seed_defaults

Raw = dict[str, Any]
WorkOf = Callable[[Backup | Restore], SimulatedRun]
QUICK = SimulatedRun(timedelta(milliseconds=300), 2, steps=1)


@dataclass(frozen=True)
class GivenWork:
    """The work of each run, as given by a test."""

    work_of: WorkOf = lambda run: QUICK

    def of(self, run: Backup | Restore) -> SimulatedRun:
        return self.work_of(run)


class ControllerBox:
    """A small cluster: tests write to `storage`, and `pass_time` runs the controllers."""

    def __init__(
        self,
        start: datetime,
        flags: Flags | None = None,
        work_of: WorkOf | None = None,
        namespaces: tuple[str, ...] = ("velero", "team-a", "team-b"),
    ) -> None:
        self.flags = flags or Flags()
        self.manual = ManualClock(start)
        clock = BoxClock(self.manual)
        self.storage = InProcessApi(clock, catalog_for(self.flags.behaviour, self.flags.version), seed=1)
        seed_defaults(self.storage)
        self.engine = Engine(self.storage, clock)
        self.buckets = ObjectStorage()
        self.buckets.make("backups")
        workload = GivenWork(work_of) if work_of else GivenWork()
        self.velero = VeleroServer(self.engine, self.flags, self.buckets, workload, FileServer())
        self.non_admin = NonAdminController(self.engine, "velero", self.flags.behaviour, seed=1)
        for name in namespaces:
            self.storage.create(self.storage.kind("Namespace"), {"metadata": {"name": name}})

    def add_location(self, name: str = "default", bucket: str = "backups", **spec: Any) -> None:
        whole = {"provider": "aws", "objectStorage": {"bucket": bucket}, "default": name == "default", **spec}
        self.create("BackupStorageLocation", "velero", name, whole)

    def create(self, kind: str, namespace: str, name: str, spec: Raw, **meta: Any) -> Raw:
        body = {"metadata": {"name": name, "namespace": namespace, **meta}, "spec": spec}
        return self.storage.create(self.storage.kind(kind), body)

    def get(self, kind: str, namespace: str, name: str) -> Raw:
        return self.storage.get(self.storage.kind(kind), namespace, name)

    def find(self, kind: str, namespace: str, name: str) -> Raw | None:
        return self.storage.find(self.storage.kind(kind), namespace, name)

    def all(self, kind: str) -> list[Raw]:
        return self.storage.list(self.storage.kind(kind))

    def patch(self, kind: str, namespace: str, name: str, change: Raw) -> Raw:
        return self.storage.patch(self.storage.kind(kind), namespace, name, change)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self.storage.delete(self.storage.kind(kind), namespace, name)

    def pass_time(self, seconds: float = 5.0) -> None:
        self.engine.advance(timedelta(seconds=seconds))
