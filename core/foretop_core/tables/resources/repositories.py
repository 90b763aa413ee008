"""The table of backup repositories: the volume data of one namespace in one storage location."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from foretop_core.foreign_text import without_signs
from foretop_core.models import BackupRepository
from foretop_core.models.kinds import REPOSITORY
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.humanize import rfc3339
from foretop_core.store import Store
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel
from foretop_core.tables.engine.view import Cell, Column, View, aged, plain

_MARKS = {
    "Ready": StatusGlyph.HEALTHY,
    "NotReady": StatusGlyph.BROKEN,
    "New": StatusGlyph.WAITING,
    "": StatusGlyph.WAITING,
}


class RepositoriesView(View[BackupRepository]):
    name = "repositories"
    kinds = watched = frozenset({REPOSITORY.name})
    order = "volumes"
    rank = ("phase", "volumes", "storage", "maintained", "type", "what")
    least: ClassVar[Mapping[str, int]] = {"name": 20, "what": 16}
    fields = (*View.fields, "volumes", "storage", "type")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> BackupRepository | None:
        return resource if isinstance(resource, BackupRepository) else None

    def resource(self, entry: BackupRepository) -> BackupRepository:
        return entry

    def details(self, entry: BackupRepository) -> Mapping[str, str]:
        spec = entry.spec
        return {"volumes": spec.volume_namespace, "storage": spec.backup_storage_location, "type": spec.repository_type}

    def phase(self, entry: BackupRepository) -> str:
        return entry.phase or "New"

    def mark(self, entry: BackupRepository, render: RenderContext) -> StatusGlyph:
        return repository_mark(entry)

    def standing(self, entry: BackupRepository) -> StatusLabel | None:
        mark = repository_mark(entry)
        if mark is StatusGlyph.LOOK:
            return mark, "maintenance failed"
        return None if mark is StatusGlyph.HEALTHY else (mark, self.phase(entry))

    def item(self, entry: BackupRepository, render: RenderContext) -> Item:
        return {
            **identity(render.snapshot.context, entry),
            "phase": entry.phase or None,
            "volumeNamespace": entry.spec.volume_namespace or None,
            "storageLocation": entry.spec.backup_storage_location or None,
            "type": entry.spec.repository_type or None,
            "maintained": rfc3339(entry.status.last_maintenance_time),
            "message": entry.status.message or None,
            "maintenanceFailed": entry.failed_maintenance or None,
        }


def repository_mark(repository: BackupRepository) -> StatusGlyph:
    mark = _MARKS.get(repository.phase, StatusGlyph.UNSET)
    return StatusGlyph.LOOK if mark is StatusGlyph.HEALTHY and repository.failed_maintenance else mark


def repository_problem(repository: BackupRepository) -> str:
    """The problem as Velero says it, or why its latest maintenance failed."""
    failed = repository.failed_maintenance
    return without_signs(repository.status.message or (f"maintenance failed: {failed}" if failed else ""))


_COLUMNS: tuple[Column[BackupRepository], ...] = (
    plain("namespace", "NAMESPACE", lambda one: one.namespace, wide=True),
    plain("name", "REPOSITORY", lambda one: one.name, from_middle=True),
    plain("volumes", "VOLUMES OF", lambda one: one.spec.volume_namespace),
    plain("storage", "STORAGE", lambda one: one.spec.backup_storage_location),
    plain("type", "TYPE", lambda one: one.spec.repository_type),
    plain("phase", "PHASE", lambda one: Cell(one.phase or "New", repository_mark(one).muted)),
    aged("maintained", "MAINTAINED", lambda one: one.status.last_maintenance_time),
    plain("what", "WHAT", repository_problem),
)
