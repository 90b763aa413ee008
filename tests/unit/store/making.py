"""Small objects, and a store to put them into."""

from __future__ import annotations

from datetime import UTC, datetime

from foretop_core.clock import ManualClock
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup, NonAdminBackup, Schedule
from foretop_core.models.kinds import BACKUP, Kind
from foretop_core.models.wire import Metadata, ObjectRef, Resource, from_builtins
from foretop_core.store import Store
from foretop_core.store.store import StoreSink

START = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)


def meta(name: str, namespace: str = "velero", version: int = 1, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
    } | more


def backup(name: str, version: int = 1, labels: dict[str, str] | None = None, **status: object) -> Backup:
    return from_builtins(Backup, {"metadata": meta(name, version=version, labels=labels or {}), "status": status})


def schedule(name: str, version: int = 1, **spec: object) -> Schedule:
    return from_builtins(Schedule, {"metadata": meta(name, version=version), "spec": spec})


def nab(name: str, namespace: str, version: int = 1, **status: object) -> NonAdminBackup:
    return from_builtins(NonAdminBackup, {"metadata": meta(name, namespace, version), "status": status})


def gone(resource: Resource, version: int) -> Resource:
    """The object of a DELETED event, which may no longer decode."""
    return Resource(metadata=Metadata(name=resource.name, namespace=resource.namespace, resource_version=str(version)))


class Watched:
    """A store with one watch and a manual clock."""

    def __init__(self, kind: Kind = BACKUP, context: str = "prod") -> None:
        self.clock = ManualClock(START)
        self.store = Store()
        self.scope = WatchScope(context, kind)
        self.sink: StoreSink = self.store.sink(self.scope, self.clock)

    def key(self, name: str, namespace: str = "velero") -> ObjectRef:
        return ObjectRef(self.scope.context, self.scope.kind.name, namespace, name)

    def list(self, *resources: Resource, sink: StoreSink | None = None) -> None:
        into = sink or self.sink
        into.replace_begin()
        into.page(resources)
        into.replace_end()

    def names(self) -> set[str]:
        return {key.name for key, _ in self.store.items(self.scope.context, self.scope.kind.name)}
