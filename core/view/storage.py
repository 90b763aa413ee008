"""The table of storage locations."""

from __future__ import annotations

from collections.abc import Mapping

from core.models import BackupStorageLocation
from core.models.kinds import STORAGE
from core.models.wire import Resource
from core.rules.words import rfc3339
from core.store import Key, Store
from core.view import times
from core.view.columns import Column, View, plain
from core.view.items import Item, identity
from core.view.marks import Mark
from core.view.scene import Scene

_MARKS = {"Available": Mark.HEALTHY, "Unavailable": Mark.BROKEN, "": Mark.WAITING}


class Storage(View[BackupStorageLocation]):
    name = "storage"
    kinds = watched = frozenset({STORAGE.plural})
    order = "name"
    fields = (*View.fields, "provider", "bucket", "mode")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: Key, resource: Resource) -> BackupStorageLocation | None:
        return resource if isinstance(resource, BackupStorageLocation) else None

    def resource(self, entry: BackupStorageLocation) -> BackupStorageLocation:
        return entry

    def details(self, entry: BackupStorageLocation) -> Mapping[str, str]:
        return {"provider": entry.spec.provider, "bucket": entry.spec.object_storage.bucket, "mode": _mode(entry)}

    def mark(self, entry: BackupStorageLocation, scene: Scene) -> Mark:
        return _MARKS.get(entry.phase, Mark.UNSET)

    def item(self, entry: BackupStorageLocation, scene: Scene) -> Item:
        return {
            **identity(scene.world.context, entry),
            "phase": entry.phase or None,
            "checked": rfc3339(entry.status.last_validation_time),
            "synced": rfc3339(entry.status.last_synced_time),
            "accessMode": _mode(entry),
            "default": entry.spec.default,
            "provider": entry.spec.provider,
            "bucket": entry.spec.object_storage.bucket,
            "message": entry.status.message or None,
        }


def _mode(location: BackupStorageLocation) -> str:
    """Velero takes a location that says nothing for one that may be written."""
    return location.spec.access_mode or "ReadWrite"


_COLUMNS: tuple[Column[BackupStorageLocation], ...] = (
    plain("namespace", "NAMESPACE", lambda place: place.namespace, wide=True),
    plain("name", "LOCATION", lambda place: place.name, from_middle=True),
    plain("phase", "PHASE", lambda place: place.phase, tone=lambda place, _: _MARKS.get(place.phase, Mark.UNSET).tone),
    Column(
        "checked",
        "CHECKED",
        lambda place, scene: times.age(place.status.last_validation_time, scene.now),
        lambda place: place.status.last_validation_time,
        right=True,
    ),
    Column(
        "synced",
        "SYNCED",
        lambda place, scene: times.age(place.status.last_synced_time, scene.now),
        lambda place: place.status.last_synced_time,
        right=True,
    ),
    plain("mode", "MODE", _mode),
    plain("default", "DEFAULT", lambda place: "yes" if place.spec.default else "no"),
    plain("what", "WHAT", lambda place: place.status.message),
    plain("bucket", "BUCKET", lambda place: place.spec.object_storage.bucket, wide=True),
)
