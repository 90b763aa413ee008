"""The tables of backups and of restores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, assert_never

import msgspec

from foretop_core.foreign_text import without_signs
from foretop_core.models import Backup, DataMovement, NonAdminRestore, Restore
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, POD_VOLUME_BACKUP, RESTORE
from foretop_core.models.velero import ItemProgress
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import VolumeEvidence
from foretop_core.rules.facts.run_facts import (
    DataProgress,
    Lessened,
    OwnerKind,
    Run,
    RunFacts,
    RunState,
    RunVolumes,
    backup_of,
    goes_into,
    has_ended,
    lessened,
    owner_of,
    run_length,
    waited,
)
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.phases import MOVES_DATA, WAITING
from foretop_core.store import Change, Store
from foretop_core.tables.engine.drawings import LENGTH, LengthBar, ShareBar
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import (
    RESTORE_GLYPH,
    StatusGlyph,
    Tone,
    badness,
    phase_briefs,
    phase_tone,
    run_mark,
)
from foretop_core.tables.engine.view import Cell, Column, Shown, View, plain
from foretop_core.tables.text import times

_WORTH_TELLING = timedelta(seconds=1)
_STAMP = re.compile(r"-[0-9]{6}([0-9]{2})([0-9]{4})[0-9]{2}(?=-|$)")
"""The second of its making in a name: `-20261115013003`."""


class BackupRow(msgspec.Struct, frozen=True):
    """A backup and its volumes, as far as its movements and its volume info tell."""

    run: Backup
    volumes: RunVolumes = RunVolumes()
    less: Lessened | None = None
    """What it lacks against the copy before, of the newest one of a schedule."""


def backup_row(run: Backup, render: RenderContext) -> BackupRow:
    return BackupRow(run, render.snapshot.run_volumes(run), lessened(render.snapshot, run))


def mark_of(row: BackupRow) -> StatusGlyph:
    """Completed is not complete: one that lacks what the copy before has is to be looked at."""
    mark = run_mark(row.run.phase)
    return StatusGlyph.LOOK if row.less is not None and badness(mark) > badness(StatusGlyph.LOOK) else mark


class BackupsView(View[BackupRow]):
    """Movements change what is told of the volumes of their backup, and of the newest that is compared with it."""

    name = "backups"
    kinds = frozenset({BACKUP.name})
    watched = frozenset({BACKUP.name, POD_VOLUME_BACKUP.name, DATA_UPLOAD.name})
    order = "started"
    rank = ("phase", "started", "errors", "warnings", "took", "expires", "volumes", "from", "storage", "size")
    least: ClassVar[Mapping[str, int]] = {"name": 21, "phase": 10, "expires": 7, "storage": 8}
    order_words = "worst first, then newest"
    is_of_velero = True
    mark_ticks = False
    fields = (*View.fields, "schedule", "owner", "storage")

    def __init__(self) -> None:
        self.columns = _BACKUPS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> BackupRow | None:
        if not isinstance(resource, Backup):
            return None
        snapshot = store.snapshot(key.context)
        return BackupRow(resource, snapshot.run_volumes(resource), lessened(snapshot, resource))

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        states = change.before, change.after
        names = {backup_of(item) for item in states if isinstance(item, DataMovement)}
        keys = {ObjectRef(key.context, BACKUP.name, key.namespace, name) for name in names}
        runs = [*states, *map(store.get, keys)]
        last = store.snapshot(key.context).last_copies
        near = (one for run in runs if isinstance(run, Backup) for one in last(run.namespace, run.schedule_name))
        keys |= {ObjectRef(key.context, BACKUP.name, one.namespace, one.name) for one in near}
        return keys | ({key} if key.kind == BACKUP.name else set())

    def basis(self, store: Store, context: str) -> object:
        """The servers whose movements are all seen: until then none of them proves anything."""
        return store.snapshot(context).volumes_seen.movements_in

    def resource(self, entry: BackupRow) -> Backup:
        return entry.run

    def details(self, entry: BackupRow) -> Mapping[str, str]:
        run = entry.run
        return {"schedule": run.schedule_name, "owner": str(owner_of(run)), "storage": run.spec.storage_location}

    def phase(self, entry: BackupRow) -> str:
        return entry.run.phase or "New"

    def searched(self, entry: BackupRow) -> Iterable[str]:
        return (str(owner_of(entry.run)),)

    def mark(self, entry: BackupRow, render: RenderContext) -> StatusGlyph:
        return mark_of(entry)

    def item(self, entry: BackupRow, render: RenderContext) -> Item:
        run, volumes = entry.run, entry.volumes
        return {
            **_run_item(render.snapshot.context, run),
            "expires": rfc3339(run.status.expiration),
            "schedule": run.schedule_name or None,
            "storageLocation": run.spec.storage_location or None,
            "queuePosition": run.status.queue_position,
            "volumesTaken": volumes.taken,
            "volumesTotal": volumes.total,
            "volumesUnknown": volumes.unknown or None,
            "bytes": volumes.size,
            "bytesUnknown": volumes.size_unknown or None,
        }


class RestoresView(View[Restore]):
    name = "restores"
    kinds = watched = frozenset({RESTORE.name})
    order = "started"
    rank = ("phase", "started", "errors", "warnings", "into", "took", "from", "backup", "items")
    least: ClassVar[Mapping[str, int]] = {"name": 22}
    order_words = "worst first, then newest"
    is_of_velero = True
    mark_ticks = False
    narrow: ClassVar[Mapping[str, int]] = {"phase": 11, "name": 20}
    fields = (*View.fields, "backup", "schedule", "owner")

    def __init__(self) -> None:
        self.columns = _RESTORES

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> Restore | None:
        return resource if isinstance(resource, Restore) else None

    def resource(self, entry: Restore) -> Restore:
        return entry

    def details(self, entry: Restore) -> Mapping[str, str]:
        spec = entry.spec
        return {"backup": spec.backup_name, "schedule": spec.schedule_name, "owner": str(owner_of(entry))}

    def phase(self, entry: Restore) -> str:
        return entry.phase or "New"

    def mark(self, entry: Restore, render: RenderContext) -> StatusGlyph:
        return run_mark(entry.phase)

    def item(self, entry: Restore, render: RenderContext) -> Item:
        return {
            **_run_item(render.snapshot.context, entry),
            "backup": entry.spec.backup_name or None,
            "schedule": entry.spec.schedule_name or None,
            "into": list(goes_into(entry.spec)),
        }


def _run_item(context: str, run: Run) -> Item:
    status, progress = run.status, run.status.progress
    return {
        **identity(context, run),
        "phase": run.phase or None,
        "created": rfc3339(run.created),
        "started": rfc3339(status.start_timestamp),
        "completed": rfc3339(status.completion_timestamp),
        "errors": status.errors,
        "warnings": status.warnings,
        "itemsDone": progress.done if progress else None,
        "itemsTotal": progress.total_items if progress else None,
        "owner": str(owner_of(run)),
        "failureReason": status.failure_reason or "; ".join(status.validation_errors) or None,
    }


def newest_first(run: Run) -> tuple[bool, bool, float]:
    """The order of runs: those that wait or run come before all that have ended, the newest first.

    Times are sorted downwards by their distance, so that every order runs the same way.
    """
    started = run.status.start_timestamp
    is_over = has_ended(run) or (not started and run.phase not in WAITING)
    moment = started or run.created
    return is_over, not is_over and started is not None, -moment.timestamp() if moment else math.inf


def items_done(run: Run) -> str:
    progress = run.status.progress
    return f"{progress.done}/{progress.total_items}" if progress else ""


def percent(run: Run) -> str:
    progress = run.status.progress
    return f"{100 * progress.done // progress.total_items}%" if progress and progress.total_items else ""


def held_words(facts: RunFacts) -> str:
    """`stalled 18m`, `down 5m`, `refused`: what is said of an open run that does not get on; "" for any other."""
    length = times.short(facts.held_for) if facts.held_for is not None else ""
    match facts.state:
        case RunState.NOT_KNOWN:
            return NOT_KNOWN_YET
        case RunState.SERVER_SILENT:
            return f"{facts.server.word} {length}"
        case RunState.STORAGE_HANGS | RunState.STALLED:
            return f"stalled {length}"
        case RunState.REFUSED:
            return "refused"
        case RunState.ENDED | RunState.WAITS | RunState.WAITS_FOR_VOLUME | RunState.RUNS:
            return ""
    assert_never(facts.state)


def held_tone(facts: RunFacts) -> Tone:
    if not held_words(facts):
        return Tone.PLAIN
    return Tone.DIM if facts.state is RunState.NOT_KNOWN else Tone.WARN


def progress_cell(facts: RunFacts) -> Cell:
    """How far an open run is; of one that does not get on, for how long."""
    if words := held_words(facts):
        return Cell(words, held_tone(facts))
    return Cell("") if facts.run.phase in WAITING else share_cell(facts.run, facts.data)


def share_cell(run: Run, data: DataProgress) -> Cell:
    """The share of items; where those are all done and only volumes are still to be moved, of their bytes."""
    if not _moves_data(run, data):
        return Cell(percent(run), drawing=items_bar(run.status.progress))
    if data.percent is None or (data.unknown and data.done >= data.total):
        return Cell(_without_share(data))
    text = f"data {data.percent}%"
    return Cell(f"{text}+?") if data.unknown else Cell(text, drawing=ShareBar(10 * data.percent))


def items_bar(progress: ItemProgress | None) -> ShareBar | None:
    if progress is None or not progress.total_items:
        return None
    return ShareBar(1000 * progress.done // progress.total_items)


def _moves_data(run: Run, data: DataProgress) -> bool:
    """True if it works on its volumes, and no longer on its items.

    A data mover works after the items, a file-system backup while the run is still InProgress.
    """
    progress = run.status.progress
    all_items = progress is not None and 0 < progress.total_items <= progress.done
    return not has_ended(run) and (run.phase in MOVES_DATA or (all_items and data.is_open))


def _without_share(data: DataProgress) -> str:
    if data.done:
        return f"data {humanize.size(data.done)}+?"
    return "data 0 B" if data.moving else "data waits" if data.is_open else "data moves"


def share_done(progress: ItemProgress | None) -> float | None:
    return progress.done / progress.total_items if progress is not None and progress.total_items else None


def took(run: Run, now: datetime) -> str:
    """How long it took, or has run so far."""
    length = run_length(run, now)
    return times.took(length) if length is not None else ""


def expiration(backup: Backup) -> datetime | None:
    """Until when it is kept; None where nothing is kept of it, or that is not decided yet."""
    return None if backup.phase == "FailedValidation" else backup.status.expiration


def _expires(backup: Backup, now: datetime) -> Cell | str:
    end = expiration(backup)
    if end is None:
        return ""
    text = times.until(end - now) if end > now else f"{times.short(now - end)} ago"
    return Cell(text, briefs=(text.removeprefix("in "),))


def owner_texts(run: Run) -> tuple[str, ...]:
    """Whom it was made for, in fewer and fewer words: owner, team, kind alone, a part of its name."""
    owner = owner_of(run)
    match owner.kind:
        case OwnerKind.HAND:
            return "by hand", "by hand", "by hand", "hand"
        case OwnerKind.SCHEDULE:
            return f"schedule {owner.name}", "schedule", "schedule", "sched"
        case OwnerKind.NAB | OwnerKind.NAR:
            team = f"{owner.kind} {owner.namespace}"
            return f"{team}/{owner.name}", team, str(owner.kind)
    assert_never(owner.kind)


def _done(run: Run) -> int | None:
    return run.status.progress.done if run.status.progress else None


def _started(run: Run, render: RenderContext) -> str:
    """When it started; of one that was refused, and so never starts, when it was made."""
    moment = run.status.start_timestamp or (run.created if run.phase == "FailedValidation" else None)
    return render.time_of_day(moment, run)


def _day_and_minute(run: Run, render: RenderContext) -> str:
    """`15 Nov 01:35`, in another year `15 Nov 2025`."""
    moment = run.status.start_timestamp
    if moment is None:
        return "not started"
    zone = render.zone_of(run)
    local, today = moment.astimezone(zone), render.now.astimezone(zone)
    return f"{local.day:>2} {local:%b %H:%M}" if local.year == today.year else f"{local.day:>2} {local:%b %Y}"


def _waited(run: Run) -> str:
    """`+2m`: how long it stood in the queue before it started; nothing for one that started at once."""
    length = waited(run)
    return f"+{times.short(length)}" if length is not None and length >= _WORTH_TELLING else ""


def _items_taken(run: Run) -> str:
    """`411`, and where not all were taken `409/412`."""
    progress = run.status.progress
    return f"{progress.total_items}" if progress and progress.done == progress.total_items else items_done(run)


def _took(run: Run, render: RenderContext) -> Cell | str:
    length = run_length(run, render.now)
    if length is None:
        return ""
    return Cell(times.took(length), drawing=LengthBar(max(0.0, length.total_seconds()), run_mark(run.phase).tone))


def name_cell(name: str) -> Cell:
    """In brief `etcd-hourly…15-0130`, `…150130`: day, hour and minute of the stamp tell copies of a schedule apart."""
    return Cell(name, briefs=(_STAMP.sub(r"…\1-\2", name), _STAMP.sub(r"…\1\2", name)) if _STAMP.search(name) else ())


def marked_name(item: Resource) -> str:
    """With the sign of a restore before it."""
    name = without_signs(item.name)
    return f"{RESTORE_GLYPH} {name}" if isinstance(item, Restore | NonAdminRestore) else name


def _phase(run: Run) -> Cell:
    briefs = ("Refused",) if run.phase == "FailedValidation" else phase_briefs(run.phase)
    return Cell(without_signs(run.phase) or "New", phase_tone(run.phase), briefs)


def _owner(run: Run) -> Cell:
    words, *briefs = owner_texts(run)
    return Cell(words, Tone.DIM, tuple(briefs))


FROM: Column[Run] = Column(
    "from", "FROM", lambda run, _: _owner(run), lambda run: owner_texts(run)[0], alike=True, lasts=True
)
PHASE: Column[Run] = plain("phase", "PHASE", _phase, cells=11, signed=True)
_NAMESPACE: Column[Run] = plain("namespace", "NAMESPACE", lambda run: run.namespace, wide=True)
_TOOK: Column[Run] = Column("took", "TOOK", _took, run_length, right=True, cells=LENGTH, ticks=True, bar=20)


def _faults(name: str, title: str, number: Callable[[Run], int]) -> Column[Run]:
    """A count of problems: that there is none is told of what has ended."""
    return Column(
        name,
        title,
        lambda run, _: str(number(run)) if run.status.completion_timestamp or number(run) else "",
        number,
        right=True,
        cells=2,
    )


_FAULTS: tuple[Column[Run], ...] = (
    _faults("errors", "E", lambda run: run.status.errors),
    _faults("warnings", "W", lambda run: run.status.warnings),
)
_STATE: tuple[Column[Run], ...] = (
    PHASE,
    *_FAULTS,
    Column("started", "STARTED", _started, newest_first, right=True, falls=True, cells=9),
)
_EXPIRES: Column[Backup] = Column(
    "expires", "EXPIRES", lambda run, render: _expires(run, render.now), expiration, cells=7, most=7, ticks=True
)


def _of_rows(*columns: Column[Backup]) -> tuple[Column[BackupRow], ...]:
    """The same columns of backups, in rows that have their volumes beside them."""
    return tuple(_of_row(column.cell, column.sort, column) for column in columns)


def _of_row(
    cell: Callable[[Backup, RenderContext], Cell | str], sort: Callable[[Backup], Any], column: Column[Any]
) -> Column[BackupRow]:
    return msgspec.structs.replace(
        column, cell=lambda row, render: cell(row.run, render), sort=lambda row: sort(row.run)
    )


def volumes_column(
    volumes: Callable[[Shown], RunVolumes | VolumeEvidence], sort: Callable[[Shown], Any]
) -> Column[Shown]:
    """How many of its volumes a copy has."""

    def count(row: Shown, _render: RenderContext) -> Cell:
        known = volumes(row)
        return Cell(known.count_text, Tone.WARN if known.missing else Tone.DIM if known.unknown else Tone.PLAIN)

    return Column("volumes", "VOLUMES", count, sort, right=True, falls=True, cells=7, most=7)


def size_column(size: Callable[[Shown], int | None], *, wide: bool = False) -> Column[Shown]:
    """The bytes of its volumes."""

    def text(row: Shown, _render: RenderContext) -> str:
        known = size(row)
        return humanize.size(known) if known is not None else ""

    return Column("size", "SIZE", text, size, right=True, falls=True, cells=7, most=8, wide=wide)


_VOLUMES: tuple[Column[BackupRow], ...] = (
    volumes_column(
        lambda row: row.volumes,
        lambda row: (row.volumes.missing, row.volumes.taken) if row.volumes.count_text else None,
    ),
    size_column(lambda row: row.volumes.size),
)
_BACKUPS: tuple[Column[BackupRow], ...] = (
    *_of_rows(
        _NAMESPACE, plain("name", "BACKUP", lambda run: name_cell(run.name), from_middle=True), *_STATE, _TOOK, _EXPIRES
    ),
    *_VOLUMES,
    *_of_rows(
        FROM,
        plain("storage", "LOCATION", lambda run: run.spec.storage_location, from_middle=True),
        Column("items", "ITEMS", lambda run, _: items_done(run), _done, right=True, wide=True),
    ),
)
_RESTORES: tuple[Column[Restore], ...] = (
    _NAMESPACE,
    plain("name", "RESTORE", lambda run: name_cell(run.name), from_middle=True),
    plain("backup", "BACKUP", lambda run: name_cell(run.spec.backup_name or run.spec.schedule_name), from_middle=True),
    plain("into", "INTO", lambda run: ", ".join(goes_into(run.spec)) or "as it was", from_middle=True),
    *_STATE,
    Column("items", "ITEMS", lambda run, _: items_done(run), _done, right=True, cells=9),
    _TOOK,
    FROM,
)

RUNS_OF_SCHEDULE: tuple[Column[BackupRow], ...] = (
    *_of_rows(
        Column("started", "STARTED", _day_and_minute, newest_first, cells=12),
        msgspec.structs.replace(PHASE, cells=15),
        Column(
            "took", "TOOK", lambda run, render: took(run, render.now), run_length, right=True, cells=LENGTH, ticks=True
        ),
        Column("waited", "WAITED", lambda run, _: _waited(run), waited, right=True, cells=6),
        Column("items", "ITEMS", lambda run, _: _items_taken(run), _done, right=True, cells=8),
        *_FAULTS,
    ),
    *_VOLUMES,
    *_of_rows(
        msgspec.structs.replace(_EXPIRES, right=True),
        plain("backup", "BACKUP", lambda run: run.name, from_middle=True),
    ),
)
"""The columns of the runs on the page of a schedule."""
RUNS_RANK = (
    *("started", "phase", "took", "errors", "warnings", "waited", "items"),
    *("volumes", "size", "expires", "backup"),
)
