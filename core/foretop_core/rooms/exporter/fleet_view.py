"""The table of the fleet, for the screen and for the command: its columns, and what `-o json` prints of a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import ClassVar

import msgspec

from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.exporter.fleet import ClusterRow, ClusterState, LastRuns, urgency
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.severity import Severity
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, severity_mark
from foretop_core.tables.engine.view import Cell, Column, TableView, aged, plain
from foretop_core.tables.engine.view_scope import A_CONTEXT
from foretop_core.tables.text import times

_MARKS = {
    ClusterState.NO_NEWS: StatusGlyph.BROKEN,
    ClusterState.ERRORS: severity_mark(Severity.ERROR),
    ClusterState.WARNINGS: severity_mark(Severity.WARNING),
    ClusterState.LOADING: StatusGlyph.WAITING,
    ClusterState.NOT_ALL_SEEN: StatusGlyph.UNSET,
    ClusterState.NO_PROBLEMS: StatusGlyph.HEALTHY,
}


def key_of(row: ClusterRow) -> ObjectRef:
    """A cluster is known by its name: it is no object of its own."""
    return ObjectRef(row.cluster, A_CONTEXT, "", row.cluster)


def mark_of(row: ClusterRow) -> StatusGlyph:
    return _MARKS[row.state]


def _state(row: ClusterRow) -> Cell:
    tone = mark_of(row).muted
    match row.state:
        case ClusterState.NO_NEWS if row.stale >= 1:
            length = timedelta(seconds=row.stale)
            return Cell(f"no news for {humanize.duration(length)}", tone, (f"no news {times.short(length)}",))
        case ClusterState.ERRORS:
            return Cell(humanize.count(row.errors, "error"), tone)
        case ClusterState.WARNINGS:
            return Cell(humanize.count(row.warnings, "warning"), tone)
    return Cell(row.state.value, tone)


def _worst(row: ClusterRow) -> Cell:
    return Cell(row.worst.code, severity_mark(row.worst.severity).tone) if row.worst is not None else Cell("")


def night_words(night: LastRuns) -> str:
    """`31 made, 2 partly, 1 failed, 1 to be lost`."""
    parts = ((night.partly_failed, "partly"), (night.failed, "failed"), (night.expected_lost, "to be lost"))
    return ", ".join([f"{night.completed} made", *(f"{count} {word}" for count, word in parts if count)])


def _night(row: ClusterRow) -> Cell:
    night = row.night
    if night is None:
        return Cell("")
    tone = Tone.BAD if night.failed or night.expected_lost else Tone.WARN if night.partly_failed else Tone.PLAIN
    return Cell(night_words(night), tone)


def _queue(row: ClusterRow) -> str:
    if row.slots is None:
        return ""
    return f"{row.slots_in_use}/{row.slots}" + (f", {row.waiting} waiting" if row.waiting else "")


def _late(row: ClusterRow, render: RenderContext) -> Cell:
    oldest = row.oldest_late
    if not row.late:
        return Cell("")
    since = f", {oldest[0]} {times.age(oldest[1], render.now)} old" if oldest is not None else ""
    return Cell(f"{row.late}{since}", Tone.BAD, (f"{row.late}",))


COLUMNS: tuple[Column[ClusterRow], ...] = (
    Column("state", "STATE", lambda row, _: _state(row), urgency, cells=12, ticks=True),
    Column("name", "CLUSTER", lambda row, _: row.cluster, lambda row: row.cluster, from_middle=True),
    plain("finding", "WORST", _worst, cells=20),
    aged("since", "SINCE", lambda row: row.worst.since if row.worst is not None else None),
    Column(
        "done_by",
        "DONE BY",
        lambda row, render: render.estimate(row.done_by, None) if row.done_by is not None else "",
        lambda row: row.done_by,
        right=True,
    ),
    plain("night", "LAST NIGHT", _night),
    plain("queue", "SLOTS", _queue),
    Column("late", "LATE", _late, lambda row: row.late or None, falls=True),
    plain("storage", "STORAGE", lambda row: Cell(_storage(row), Tone.BAD)),
    Column("paused", "PAUSED", lambda row, _: str(row.paused or ""), lambda row: row.paused or None, right=True),
    plain("velero", "VELERO", lambda row: ", ".join(row.releases), cells=6),
)


def _storage(row: ClusterRow) -> str:
    return f"{', '.join(row.unavailable)} unavailable" if row.unavailable else ""


def other_names(row: ClusterRow) -> str:
    """In words, why some contexts have no row; "" where all have one."""
    if not row.other_names:
        return ""
    verb, pronoun = ("has", "is") if len(row.other_names) == 1 else ("have", "are")
    return f"{humanize.join(row.other_names)} {verb} the same uid, and {pronoun} taken for this cluster"


class FleetView(TableView[ClusterRow]):
    """The table of the fleet."""

    name = "fleet"
    of_clusters = True
    columns = COLUMNS
    order = "state"
    rank = ("state", "name", "finding", "done_by", "since", "night", "late", "storage", "queue", "velero", "paused")
    least: ClassVar[Mapping[str, int]] = {"state": 12, "finding": 18, "night": 16, "storage": 16}
    fields = ("name", "state", "code")

    def mark(self, entry: ClusterRow, render: RenderContext) -> StatusGlyph:
        return mark_of(entry)

    def item(self, entry: ClusterRow, render: RenderContext) -> Item:
        return cluster_item(entry)


FLEET = FleetView()


class ClusterFacets(msgspec.Struct, frozen=True):
    """The sides of a cluster that a filter asks for."""

    row: ClusterRow
    render: RenderContext

    def text(self) -> str:
        return " ".join(self._texts()).lower()

    def _texts(self) -> Iterator[str]:
        yield from (column.text(self.row, self.render) for column in COLUMNS)
        yield self.row.state.value

    def contains(self, word: str) -> bool:
        return word in self.text()

    def field(self, name: str) -> str:
        match name:
            case "state":
                return self.row.state.value
            case "code":
                return self.row.worst.code if self.row.worst is not None else ""
        return FLEET.column(name).text(self.row, self.render)

    def labels(self) -> Mapping[str, str]:
        return {}


def cluster_item(row: ClusterRow) -> Item:
    """The row with its names as in all JSON."""
    night, worst, late = row.night, row.worst, row.oldest_late
    return {
        "cluster": row.cluster,
        "uids": list(row.uids),
        "otherNames": list(row.other_names),
        "state": row.state.value,
        "judgedAt": rfc3339(row.judged),
        "secondsWithoutNews": row.stale,
        "worstFinding": worst.code if worst is not None else None,
        "worstSeverity": worst.severity.value if worst is not None else None,
        "worstSince": rfc3339(worst.since) if worst is not None else None,
        "errors": row.errors,
        "warnings": row.warnings,
        "versions": list(row.releases),
        "slots": row.slots,
        "slotsInUse": row.slots_in_use,
        "waiting": row.waiting,
        "completedLastDay": night.completed if night is not None else None,
        "partlyFailedLastDay": night.partly_failed if night is not None else None,
        "failedLastDay": night.failed if night is not None else None,
        "runsExpectedLost": night.expected_lost if night is not None else None,
        "nightDoneBy": rfc3339(row.done_by),
        "lateNamespaces": row.late,
        "oldestLate": late[0] if late is not None else None,
        "oldestLateCopyAt": rfc3339(late[1]) if late is not None else None,
        "pausedSchedules": row.paused,
        "unavailableStorage": list(row.unavailable),
    }
