"""The table of where backups are kept: storage locations, the tenants' own, their requests, and repositories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import ClassVar

import msgspec

from foretop_core.foreign_text import without_signs
from foretop_core.models import (
    BackupRepository,
    BackupStorageLocation,
    NonAdminBackupStorageLocation,
    NonAdminBackupStorageLocationRequest,
)
from foretop_core.models.kinds import (
    BACKUP,
    DATA_UPLOAD,
    NABSL,
    NABSL_REQUEST,
    POD_VOLUME_BACKUP,
    REPOSITORY,
    SCHEDULE,
    STORAGE,
)
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import StorageFacts, StorageFault
from foretop_core.rules.humanize import rfc3339
from foretop_core.store import Change, Store
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, severity_mark
from foretop_core.tables.engine.view import Cell, Column, View, aged, plain
from foretop_core.tables.resources.repositories import repository_mark, repository_problem

_MARKS = {
    "Available": StatusGlyph.HEALTHY,
    "Ready": StatusGlyph.HEALTHY,
    "Created": StatusGlyph.HEALTHY,
    "Approved": StatusGlyph.HEALTHY,
    "Unavailable": StatusGlyph.BROKEN,
    "NotReady": StatusGlyph.BROKEN,
    "BackingOff": StatusGlyph.BROKEN,
    "Rejected": StatusGlyph.LOOK,
    "Pending": StatusGlyph.LOOK,
    "New": StatusGlyph.WAITING,
    "": StatusGlyph.WAITING,
}


_SHORT_MODES = {"ReadWrite": "rw", "ReadOnly": "ro"}
_KINDS = ("location", "tenant", "request", "repository")


class StorageRow(msgspec.Struct, frozen=True):
    """One line, whatever kind it is of."""

    resource: Resource
    kind: str
    phase: str
    message: str = ""
    checked: datetime | None = None
    synced: datetime | None = None
    mode: str = ""
    default: str = ""
    provider: str = ""
    bucket: str = ""
    prefix: str = ""
    region: str = ""


class StorageView(View[StorageRow]):
    name = "storage"
    kinds = frozenset({STORAGE.name, NABSL.name, NABSL_REQUEST.name, REPOSITORY.name})
    watched = kinds | {POD_VOLUME_BACKUP.name, DATA_UPLOAD.name}
    context_kinds = frozenset({SCHEDULE.name, BACKUP.name})
    order = "name"
    rank = ("phase", "what", "checked", "synced", "default", "mode", "kind")
    least: ClassVar[Mapping[str, int]] = {"what": 16, "mode": 4}
    fields = (*View.fields, "kind", "provider", "bucket", "mode")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> StorageRow | None:
        match resource:
            case BackupStorageLocation():
                return _location(resource)
            case NonAdminBackupStorageLocation():
                return _tenants(resource)
            case NonAdminBackupStorageLocationRequest():
                return _request(resource)
            case BackupRepository():
                return _repository(resource)
            case _:
                return None

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """A movement changes no row: the pane and JSON alone tell how much was moved."""
        return (key,) if key.kind in self.kinds else ()

    def resource(self, entry: StorageRow) -> Resource:
        return entry.resource

    def details(self, entry: StorageRow) -> Mapping[str, str]:
        return {"kind": entry.kind, "provider": entry.provider, "bucket": entry.bucket, "mode": entry.mode}

    def phase(self, entry: StorageRow) -> str:
        return entry.phase

    def mark(self, entry: StorageRow, render: RenderContext) -> StatusGlyph:
        return storage_mark(entry, render)

    def standing(self, entry: StorageRow) -> StatusLabel | None:
        mark = _MARKS.get(entry.phase, StatusGlyph.UNSET)
        return (
            (mark, entry.phase or "new")
            if mark in (StatusGlyph.BROKEN, StatusGlyph.LOOK, StatusGlyph.WAITING)
            else None
        )

    def item(self, entry: StorageRow, render: RenderContext) -> Item:
        return {
            **identity(render.snapshot.context, entry.resource),
            "phase": entry.phase or None,
            "checked": rfc3339(entry.checked),
            "synced": rfc3339(entry.synced),
            "accessMode": entry.mode or None,
            "default": entry.default == "yes",
            "provider": entry.provider,
            "bucket": entry.bucket,
            "message": entry.message or None,
            **_used(entry.resource, render),
        }


def _used(item: Resource, render: RenderContext) -> Item:
    """The fields that only Velero's own locations have; of a credential the names."""
    if not isinstance(item, BackupStorageLocation):
        return {}
    facts, credential = location_facts(item, render), item.spec.credential
    return {
        "severity": facts.severity.value if facts.severity is not None else None,
        "prefix": item.spec.object_storage.prefix or None,
        "region": item.spec.config.get("region") or None,
        "credential": {"secret": credential.name, "key": credential.key} if credential is not None else None,
        "schedules": list(facts.schedules),
        "backups": facts.backups,
        "runningBackups": facts.running,
        "volumes": None if facts.volumes.unknown else facts.volumes.volumes,
        "bytes": None if facts.volumes.unknown else facts.volumes.size,
        "bytesUnknown": facts.volumes.unknown or None,
    }


def location_facts(item: BackupStorageLocation, render: RenderContext) -> StorageFacts:
    return StorageFacts(item, render.now, render.snapshot, render.limits.not_synced_periods)


def storage_mark(place: StorageRow, render: RenderContext) -> StatusGlyph:
    match place.resource:
        case BackupRepository() as repository:
            return repository_mark(repository)
        case BackupStorageLocation() as location if (severity := location_facts(location, render).severity) is not None:
            return severity_mark(severity)
        case _:
            return _MARKS.get(place.phase, StatusGlyph.UNSET)


def _what(place: StorageRow, render: RenderContext) -> Cell:
    """The words of Triage for an error that is known, which the pane has whole; another tells its cause last."""
    item, fault = place.resource, _known_fault(place, render)
    old = old_news(location_facts(item, render)) if isinstance(item, BackupStorageLocation) else ""
    parts = (old, fault.what if fault is not None else without_signs(place.message))
    text = "; ".join(part for part in parts if part)
    return Cell(text, briefs=(fault.brief if fault is not None else text.rpartition(": ")[2],))


def _known_fault(place: StorageRow, render: RenderContext) -> StorageFault | None:
    item = place.resource
    fault = location_facts(item, render).fault if isinstance(item, BackupStorageLocation) else None
    return fault if fault is not None and fault.is_known else None


def old_news(facts: StorageFacts) -> str:
    """Says what Velero has not looked at for too long; a location that is not checked is not synced either."""
    looks = (("checked", facts.unchecked), ("synced", facts.unsynced))
    ages = (f"not {word} for {humanize.duration(length)}" for word, length in looks if length is not None)
    return next(ages, "")


def _location(item: BackupStorageLocation) -> StorageRow:
    status = item.status
    return StorageRow(
        item,
        "location",
        item.phase,
        status.message,
        status.last_validation_time,
        status.last_synced_time,
        # Velero takes a location that says nothing for one that may be written.
        item.spec.access_mode or "ReadWrite",
        "yes" if item.spec.default else "no",
        item.spec.provider,
        item.spec.object_storage.bucket,
        item.spec.object_storage.prefix,
        item.spec.config.get("region", ""),
    )


def _tenants(item: NonAdminBackupStorageLocation) -> StorageRow:
    spec = item.spec.backup_storage_location_spec
    velero = item.status.velero_backup_storage_location.status
    refused = [condition.message for condition in item.status.conditions if condition.status == "False"]
    return StorageRow(
        item,
        "tenant",
        velero.phase if velero and velero.phase else item.phase,
        velero.message if velero and velero.message else "; ".join(refused),
        velero.last_validation_time if velero else None,
        velero.last_synced_time if velero else None,
        spec.access_mode or "ReadWrite",
        "",
        spec.provider,
        spec.object_storage.bucket,
    )


def _request(item: NonAdminBackupStorageLocationRequest) -> StorageRow:
    source = item.status.non_admin_backup_storage_location
    asked = f"asked for by {source.namespace}/{source.name}" if source.name else ""
    decision = item.spec.approval_decision
    request = f"{asked}, decision {decision}" if asked and decision else asked or decision
    spec = source.requested_spec
    return StorageRow(
        item, "request", item.phase or "Pending", request, provider=spec.provider, bucket=spec.object_storage.bucket
    )


def _repository(item: BackupRepository) -> StorageRow:
    text = repository_problem(item) or f"volumes of {item.spec.volume_namespace} in {item.spec.backup_storage_location}"
    kept = item.status.last_maintenance_time
    return StorageRow(item, "repository", item.phase, text, checked=kept, provider=item.spec.repository_type)


def _locations_first(place: StorageRow) -> tuple[int, str, str]:
    """Velero's own before the tenants', and those before what was only asked for."""
    return _KINDS.index(place.kind), place.resource.name, place.kind


_COLUMNS: tuple[Column[StorageRow], ...] = (
    plain("namespace", "NAMESPACE", lambda place: place.resource.namespace, wide=True),
    Column("name", "LOCATION", lambda place, _: place.resource.name, _locations_first, from_middle=True),
    plain("kind", "KIND", lambda place: place.kind),
    Column(
        "phase",
        "PHASE",
        lambda place, render: Cell(place.phase, storage_mark(place, render).muted),
        lambda place: place.phase or None,
    ),
    aged("checked", "CHECKED", lambda place: place.checked),
    aged("synced", "SYNCED", lambda place: place.synced),
    plain("mode", "MODE", lambda place: Cell(place.mode, briefs=(_SHORT_MODES.get(place.mode, place.mode),))),
    plain("default", "DEFAULT", lambda place: place.default),
    Column("what", "WHAT", _what, lambda place: place.message or None),
    plain("bucket", "BUCKET", lambda place: place.bucket, wide=True),
    plain("prefix", "PREFIX", lambda place: place.prefix, wide=True),
    plain("region", "REGION", lambda place: place.region, wide=True),
)
