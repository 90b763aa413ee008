"""The table of data movements: the volumes that backups and restores move, with the time left."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from foretop_core.models import DataMovement
from foretop_core.models.kinds import DATA_DOWNLOAD, DATA_UPLOAD, MOVEMENTS, POD_VOLUME_BACKUP, POD_VOLUME_RESTORE
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import rate, time_left
from foretop_core.rules.humanize import rfc3339
from foretop_core.store import Store
from foretop_core.tables.engine.drawings import bar
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel
from foretop_core.tables.engine.view import Cell, Column, View, plain
from foretop_core.tables.text import times

_MARKS = {
    "": StatusGlyph.WAITING,
    "New": StatusGlyph.WAITING,
    "Accepted": StatusGlyph.WAITING,
    "Prepared": StatusGlyph.WAITING,
    "InProgress": StatusGlyph.RUNNING,
    "Canceling": StatusGlyph.LOOK,
    "Canceled": StatusGlyph.LOOK,
    "Failed": StatusGlyph.BROKEN,
    "Completed": StatusGlyph.HEALTHY,
}
_HOW = {
    POD_VOLUME_BACKUP.name: "file system, up",
    POD_VOLUME_RESTORE.name: "file system, down",
    DATA_UPLOAD.name: "snapshot, up",
    DATA_DOWNLOAD.name: "snapshot, down",
}
_ENDED = frozenset({"Completed", "Failed", "Canceled"})
_BAR = 10


class MovementsView(View[DataMovement]):
    name = "movements"
    kinds = watched = frozenset(kind.name for kind in MOVEMENTS)
    order = "phase"
    rank = ("phase", "progress", "left", "run", "rate", "node", "size")
    least: ClassVar[Mapping[str, int]] = {"name": 14, "run": 16, "progress": 4}
    fields = (*View.fields, "kind", "volume", "run", "node")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> DataMovement | None:
        return resource if isinstance(resource, DataMovement) else None

    def resource(self, entry: DataMovement) -> DataMovement:
        return entry

    def details(self, entry: DataMovement) -> Mapping[str, str]:
        return {"kind": how_moved(entry), "volume": entry.volume, "run": moved_for(entry), "node": entry.node}

    def phase(self, entry: DataMovement) -> str:
        return entry.phase or "New"

    def mark(self, entry: DataMovement, render: RenderContext) -> StatusGlyph:
        return movement_mark(entry)

    def standing(self, entry: DataMovement) -> StatusLabel | None:
        mark = movement_mark(entry)
        return None if mark in (StatusGlyph.HEALTHY, StatusGlyph.UNSET) else (mark, self.phase(entry))

    def item(self, entry: DataMovement, render: RenderContext) -> Item:
        status, length, speed = entry.status, time_left(entry, render.now), rate(entry, render.now)
        return {
            **identity(render.snapshot.context, entry),
            "phase": entry.phase or None,
            "volume": entry.volume or None,
            "backup": entry.backup_name or None,
            "restore": entry.restore_name or None,
            "node": entry.node or None,
            "bytesDone": status.progress.bytes_done,
            "bytesTotal": status.progress.total_bytes,
            "bytesNew": status.incremental_bytes,
            "bytesPerSecond": int(speed) if speed is not None else None,
            "secondsLeft": int(length.total_seconds()) if length is not None else None,
            "started": rfc3339(status.start_timestamp),
            "completed": rfc3339(status.completion_timestamp),
            "message": status.message or None,
        }


def movement_mark(movement: DataMovement) -> StatusGlyph:
    return _MARKS.get(movement.phase, StatusGlyph.UNSET)


def how_moved(movement: DataMovement) -> str:
    return _HOW.get(type(movement).__name__, "")


def moved_for(movement: DataMovement) -> str:
    return movement.backup_name or movement.restore_name


def _unfinished_first(movement: DataMovement) -> tuple[bool, bool, float]:
    """Orders those that move, then those that wait, then those that have ended, the newest first."""
    moment = movement.status.start_timestamp or movement.created
    return movement.phase in _ENDED, movement.phase != "InProgress", -moment.timestamp() if moment else math.inf


def _share(movement: DataMovement, _render: RenderContext) -> Cell:
    progress = movement.status.progress
    if not progress.total_bytes:
        return Cell("")
    share = f"{100 * progress.bytes_done // progress.total_bytes}%"
    return Cell(f"{bar(progress.bytes_done, progress.total_bytes, _BAR)} {share:>4}", briefs=(share,))


def _left(movement: DataMovement, render: RenderContext) -> str:
    length = time_left(movement, render.now)
    return times.short(length) if length is not None else ""


def _rate(movement: DataMovement, render: RenderContext) -> str:
    speed = rate(movement, render.now)
    return f"{humanize.size(int(speed))}/s" if speed is not None else ""


_COLUMNS: tuple[Column[DataMovement], ...] = (
    plain("namespace", "NAMESPACE", lambda one: one.namespace, wide=True),
    plain("name", "VOLUME", lambda one: one.volume or one.name, from_middle=True),
    plain("run", "FOR", moved_for, from_middle=True),
    Column(
        "phase",
        "PHASE",
        lambda one, _: Cell(one.phase or "New", movement_mark(one).muted),
        _unfinished_first,
        lasts=True,
    ),
    Column("progress", "PROGRESS", _share, lambda one: one.status.progress.bytes_done, signed=True),
    Column(
        "left", "LEFT", _left, lambda one: one.status.progress.total_bytes - one.status.progress.bytes_done, right=True
    ),
    Column("rate", "RATE", _rate, lambda one: one.status.progress.bytes_done, right=True),
    Column(
        "size",
        "SIZE",
        lambda one, _: humanize.size(one.status.progress.total_bytes) if one.status.progress.total_bytes else "",
        lambda one: one.status.progress.total_bytes,
        right=True,
    ),
    plain("node", "NODE", lambda one: one.node),
    plain("kind", "KIND", how_moved, wide=True),
)
