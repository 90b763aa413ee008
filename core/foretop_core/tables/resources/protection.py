"""The table of protection: a row for each namespace, and whether it could be brought back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from foretop_core.models import Namespace, Resource
from foretop_core.models.kinds import (
    BACKUP,
    CLAIM,
    DATA_UPLOAD,
    DELETE_REQUEST,
    NAB,
    NAMESPACE,
    POD_VOLUME_BACKUP,
    REPOSITORY,
    RESTORE,
    SCHEDULE,
    STORAGE,
    VERSION_KINDS,
    VOLUME,
)
from foretop_core.models.wire import Metadata, ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import (
    Extent,
    LastingNamespaceFacts,
    LeftOutVolume,
    NamespaceFacts,
    NamespaceProtection,
    ProtectionIndex,
    ProtectionState,
    VolumeEvidence,
    copied_volumes,
    hangs_on_deciders,
    is_counted,
    method_of_volumes,
    namespaces_of_volume,
    protection_index,
)
from foretop_core.rules.humanize import rfc3339
from foretop_core.store import Change, Store, UnreadableObject
from foretop_core.tables.engine.drawings import ShareBar
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone, badness, severity_mark
from foretop_core.tables.engine.view import Cell, Column, View, plain
from foretop_core.tables.resources.runs import size_column, volumes_column
from foretop_core.tables.resources.schedules import counted
from foretop_core.tables.text import times

if TYPE_CHECKING:
    from foretop_core.rules.facts.namespace_facts import ForetoldVolumes

_MARKS = {
    ProtectionState.NO_COPY: StatusGlyph.WAITING,
    ProtectionState.PAUSED: StatusGlyph.PAUSED,
    ProtectionState.NOT_KNOWN: StatusGlyph.UNSET,
    ProtectionState.BY_HAND: StatusGlyph.WAITING,
    ProtectionState.PROTECTED: StatusGlyph.HEALTHY,
}
"""The signs of what is not wrong; the rest has the sign of how grave it is, or none."""


_IN_ORDER = (
    ProtectionState.UNREACHABLE,
    ProtectionState.LATE,
    ProtectionState.EXPIRING,
    ProtectionState.REPOSITORY_NOT_READY,
    ProtectionState.UNCOVERED,
    ProtectionState.PARTIAL,
    ProtectionState.MANIFESTS_ONLY,
    ProtectionState.VOLUMES_MISSING,
    ProtectionState.NO_COPY,
    ProtectionState.NOT_KNOWN,
    ProtectionState.BY_HAND,
    ProtectionState.PROTECTED,
    ProtectionState.PAUSED,
    ProtectionState.DELETED,
    ProtectionState.IGNORED,
)
"""The worst first, as its sign says; what is paused and in time comes after what is good."""


_NOT_WRONG = badness(StatusGlyph.HEALTHY)


class ProtectionRow(LastingNamespaceFacts, frozen=True):
    """The protection of a namespace, and the namespace itself or, where it is gone, its name."""

    namespace: Namespace
    volumes: VolumeEvidence = VolumeEvidence()


class ProtectionView(View[ProtectionRow]):
    """Its index of each cluster is kept up to date change by change."""

    name = "protection"
    kinds = frozenset({NAMESPACE.name})
    watched = frozenset(
        {
            NAMESPACE.name,
            BACKUP.name,
            DELETE_REQUEST.name,
            SCHEDULE.name,
            RESTORE.name,
            NAB.name,
            REPOSITORY.name,
            STORAGE.name,
            CLAIM.name,
            POD_VOLUME_BACKUP.name,
            DATA_UPLOAD.name,
            VOLUME.name,
            *VERSION_KINDS,
        }
    )
    order = "name"
    rank = (
        *("state", "newest", "promise", "next", "volumes"),
        *("copies", "of", "size", "expires", "by", "tried", "covers", "method", "storage", "repository"),
    )
    least: ClassVar[Mapping[str, int]] = {"name": 12, "state": 12, "promise": 11, "by": 16, "covers": 8, "tried": 8}
    first: ClassVar[Mapping[str, int]] = {"promise": 15}
    order_words = "worst first, then nearest to its promise"
    narrow: ClassVar[Mapping[str, int]] = {"name": 12}
    with_velero = True
    missing = Namespace()
    """Copies of a namespace that is gone are still there."""
    in_groups = False
    fields = (*(name for name in View.fields if name != "phase"), "covers", "by")
    """Nothing on the page shows the phase of a namespace, and who asks for one means that of a backup."""

    def __init__(self) -> None:
        self.columns = _COLUMNS
        self._indexes: dict[str, ProtectionIndex] = {}
        self._bases: dict[str, object] = {}
        self._counted: dict[str, set[str]] = {}
        """By cluster, the namespaces whose evidence hangs on what decides."""
        self._shared: dict[str, set[str]] = {}
        """By cluster, those of them whose snapshots are counted with those of others."""

    def keys(self, store: Store, context: str) -> Iterable[ObjectRef]:
        unreadable = (key for key, item in store.items(context, NAMESPACE.name) if _readable(item) is None)
        named = (namespace_ref(context, name) for name in self._index(store, context).names)
        return list(dict.fromkeys((*named, *unreadable)))

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> ProtectionRow | None:
        row = protection_row(store, key, self._index(store, key.context))
        hangs = row is not None and hangs_on_deciders(row.volumes)
        newest = row.newest_copy if row is not None else None
        alone = newest is None or newest.spec.included_namespaces == (key.name,)
        is_shared = row is not None and not alone and is_counted(row.volumes)
        for held, is_in in ((self._counted, hangs), (self._shared, is_shared)):
            names = held.setdefault(key.context, set())
            (names.add if is_in else names.discard)(key.name)
        return row

    def touched(self, store: Store, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        if key.kind in _OF_VOLUMES:
            return self._with_volumes(key, change)
        names = self._index(store, key.context).apply(_readable(change.before), _readable(change.after))
        own = (key,) if key.kind == NAMESPACE.name else ()
        # What decides about volumes is another: the store tells of it by the objects beside that Velero.
        counted = self._counted.get(key.context, ()) if change.before is change.after else ()
        return list(dict.fromkeys((*own, *(namespace_ref(key.context, name) for name in sorted({*names, *counted})))))

    def _with_volumes(self, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """The namespaces whose evidence may be another: snapshots are counted over all namespaces of a backup."""
        names = {*namespaces_of_volume(change.before, change.after), *self._shared.get(key.context, ())}
        return [namespace_ref(key.context, name) for name in names]

    def basis(self, store: Store, context: str) -> object:
        """How the servers read expressions, and whether the namespaces are seen; the index is made again with it."""
        snapshot = store.snapshot(context)
        basis = (snapshot.verdicts, snapshot.namespaces is not None, snapshot.volumes_seen, snapshot.volume_policies)
        if self._bases.get(context) != basis:
            self._bases[context] = basis
            self._indexes.pop(context, None)
        return basis

    def resource(self, entry: ProtectionRow) -> Namespace:
        return entry.namespace

    def phase(self, entry: ProtectionRow) -> str:
        return entry.namespace.phase

    def details(self, entry: ProtectionRow) -> Mapping[str, str]:
        return {"covers": str(entry.protection.coverage), "by": covered_by(entry.protection)}

    def searched(self, entry: ProtectionRow) -> Iterable[str]:
        """Nothing but its name: who types `shop` and restores means that one; `by:shop` asks for its schedules."""
        return ()

    def mark(self, entry: ProtectionRow, render: RenderContext) -> StatusGlyph:
        return protection_mark(render.namespace(entry.protection))

    def grade(self, entry: ProtectionRow, mark: StatusGlyph, render: RenderContext) -> tuple[int, ...]:
        """By state, then by the age of the copy against what is promised, in hundredths as it is drawn.

        Of what is not wrong, no copy or a due one comes first, then one that a pause let grow older than promised.
        """
        facts = render.namespace(entry.protection)
        share, state = facts.age_share, facts.state
        wrong = badness(mark) if facts.severity is not None else _NOT_WRONG
        is_first = facts.is_copy_due or state is ProtectionState.NO_COPY
        beyond = 0 if is_first else 1 if state is ProtectionState.PAUSED and facts.is_beyond else 2
        return wrong, beyond, _IN_ORDER.index(state), -round(100 * share) if share is not None else 1

    def notice(self, render: RenderContext) -> str:
        """A copy is of no use before Velero is back."""
        beats = [render.beat(namespace) for namespace in render.snapshot.velero_namespaces]
        silent = [beat for beat in beats if beat.silence(render.now)]
        return f"nothing is restored until {silent[0].awaited(render.now)}" if silent and silent == beats else ""

    def then_by(self, entry: ProtectionRow) -> str:
        return entry.protection.namespace

    def standing(self, entry: ProtectionRow) -> StatusLabel | None:
        return None

    def item(self, entry: ProtectionRow, render: RenderContext) -> Item:
        protection, copies = entry.protection, entry.protection.copies
        facts, drill = render.namespace(protection), protection.drill
        usable, severity, (good, partial) = facts.newest_copy, facts.severity, facts.all_copies
        return {
            "context": render.snapshot.context,
            "kind": NAMESPACE.name,
            "namespace": "",
            "name": protection.namespace,
            "phase": entry.namespace.phase or None,
            "exists": protection.exists,
            "state": facts.state.value,
            "severity": severity.value if severity is not None else None,
            "newestCopy": usable.name if usable is not None else None,
            "newestCopyAt": rfc3339(copies.usable_at),
            "newestCopyComplete": facts.is_newest_complete,
            "promisedSince": rfc3339(facts.promise.since),
            "lateFrom": rfc3339(facts.late_from),
            "goodCopies": good,
            "partialCopies": partial,
            "copiesOutOfReach": protection.out_of_reach,
            "nextExpiry": rfc3339(copies.next_expiry),
            "lastExpiry": rfc3339(copies.last_expiry),
            "nextRun": rfc3339(protection.next_run),
            "refusedRun": rfc3339(protection.next_cover.next_run)
            if protection.next_cover and protection.is_next_refused
            else None,
            "schedules": [
                {
                    "namespace": cover.schedule.namespace,
                    "name": cover.schedule.name,
                    "covers": str(facts.next_coverage(cover)),
                    **next_volumes_item(facts.next_volumes(cover)),
                    "paused": cover.schedule.spec.paused,
                    "refused": cover.is_refused,
                }
                for cover in protection.covers
            ],
            "nonAdminBackups": protection.nabs,
            "covers": str(protection.coverage),
            "volumes": facts.method or None,
            "volumesTaken": [
                {
                    "name": volume.name,
                    "method": volume.method.value,
                    "byCount": volume.is_by_count,
                    "byVolumeInfo": volume.is_by_info,
                    "bytes": volume.size,
                }
                for volume in facts.volumes.taken
            ],
            "volumesLeftOut": _left_out(facts.volumes.left_out),
            "volumesNotKnown": list(facts.volumes.open),
            "volumesNewer": list(facts.volumes.newer),
            "volumesUnknown": facts.volumes.unknown or None,
            "bytes": facts.volumes.size,
            "bytesUnknown": facts.volumes.size_unknown or None,
            "storageLocations": list(facts.storage),
            "unavailableLocations": list(protection.unavailable),
            "repositories": [
                {
                    "name": repository.name,
                    "phase": repository.phase or None,
                    "maintained": rfc3339(repository.status.last_maintenance_time),
                }
                for repository in protection.repositories
            ],
            "lastRestored": rfc3339(protection.restored),
            "lastDrill": None
            if drill is None
            else {
                "at": rfc3339(drill.at),
                "seconds": int(drill.took.total_seconds()),
                "failed": drill.failed or None,
            },
        }

    def _index(self, store: Store, context: str) -> ProtectionIndex:
        if context not in self._indexes:
            self._indexes[context] = protection_index(store.snapshot(context))
        return self._indexes[context]


def next_volumes_item(foretold: ForetoldVolumes) -> dict[str, Any]:
    """The volumes of a namespace in the next run of a schedule."""
    return {
        "volumes": foretold.method.value,
        "volumesTaken": [{"name": volume.name, "method": volume.method.value} for volume in foretold.taken],
        "volumesLeftOut": _left_out(foretold.left_out),
        "volumesNotKnown": [{"name": volume.name, "why": volume.why} for volume in foretold.open],
        "volumesUnknown": foretold.unknown or None,
    }


def _left_out(volumes: Iterable[LeftOutVolume]) -> list[dict[str, Any]]:
    return [{"name": one.name, "why": one.why, "chosen": one.is_chosen} for one in volumes]


_OF_VOLUMES = frozenset({CLAIM.name, VOLUME.name, POD_VOLUME_BACKUP.name, DATA_UPLOAD.name})


def _readable(item: Resource | None) -> Resource | None:
    return None if isinstance(item, UnreadableObject) else item


def protection_row(store: Store, key: ObjectRef, index: ProtectionIndex) -> ProtectionRow | None:
    """The row of a namespace; None where nothing is known of it."""
    protection, item = index.row(key.name), store.get(key)
    if protection is None:
        return None
    namespace = item if isinstance(item, Namespace) else Namespace(metadata=Metadata(name=key.name))
    return ProtectionRow(protection, namespace, copied_volumes(store.snapshot(key.context), protection))


def namespace_ref(context: str, name: str) -> ObjectRef:
    return ObjectRef(context, NAMESPACE.name, "", name)


def protection_mark(facts: NamespaceFacts) -> StatusGlyph:
    severity = facts.severity
    if facts.is_copy_due:
        return StatusGlyph.WAITING
    return severity_mark(severity) if severity is not None else _MARKS.get(facts.state, StatusGlyph.UNSET)


def covered_by(found: NamespaceProtection) -> str:
    """Its schedules by name, those last that Velero refuses, and how many NABs."""
    names = [cover.schedule.name for cover in found.covers if not cover.is_refused]
    names += [f"{cover.schedule.name} (refused)" for cover in found.covers if cover.is_refused]
    return ", ".join([*([humanize.join(names)] if names else []), *([_nabs(found.nabs)] if found.nabs else [])])


def tried_text(found: NamespaceProtection, render: RenderContext) -> str:
    """When somebody last saw that it can be brought back: `drilled 3d ago in 4m10s`."""
    drill = found.drill
    if drill is not None and (found.restored is None or drill.at >= found.restored):
        outcome = "drill failed" if drill.failed else "drilled"
        return f"{outcome} {times.age(drill.at, render.now)} ago in {times.took(drill.took)}"
    return f"restored {times.age(found.restored, render.now)}" if found.restored is not None else ""


def _nabs(number: int) -> str:
    return f"{number:,} NAB{'s' if number != 1 else ''}"


def _storage(row: ProtectionRow) -> str:
    lost = set(row.protection.unavailable)
    return ", ".join(f"{name} unavailable" if name in lost else name for name in row.storage)


def _newest(row: ProtectionRow, render: RenderContext) -> Cell:
    copies = row.protection.copies
    if copies.newest is not None:
        tone = Tone.BAD if render.namespace(row.protection).state is ProtectionState.LATE else Tone.PLAIN
    else:
        tone = Tone.WARN if copies.total else Tone.DIM
    return Cell(times.age(copies.usable_at, render.now) or "none", tone)


def _copies(row: ProtectionRow) -> Cell:
    """In brief `10`, and `2P` where all are partial: the age beside it is that of one of those."""
    copies, lost = row.protection.copies, row.protection.lost.good
    partial = f" + {copies.partial} partial" if copies.partial else ""
    brief = f"{copies.partial}P" if copies.partial and not copies.good else str(row.good_in_reach)
    return Cell(f"{row.good_in_reach}{f' + {lost} out of reach' if lost else ''}{partial}", briefs=(brief,))


def _expires(row: ProtectionRow, render: RenderContext) -> Cell | str:
    expiry = row.protection.copies.next_expiry
    if expiry is None:
        return ""
    when = times.until(expiry - render.now) if expiry > render.now else "now"
    return Cell(f"{when}, {row.left_after_next_expiry} left", briefs=(when.removeprefix("in "),))


def _next(row: ProtectionRow, render: RenderContext) -> Cell:
    """A run that will not be made, or perhaps not, does not look like one that will.

    In brief a countdown, with the calendar's sign where Velero refuses the run.
    """
    cover = row.protection.next_cover
    facts = render.schedule(cover.schedule) if cover is not None else None
    if coming := render.namespace(row.protection).coming_word:
        return Cell(coming, Tone.WAITING if coming == "waits" else Tone.RUNNING)
    if facts is None:
        return Cell("paused", Tone.PAUSED) if row.protection.is_paused else Cell("")
    tone = Tone.WARN if facts.obstacle else Tone.PLAIN
    run = cover.next_run if cover is not None else None
    if run is None:
        return Cell("paused" if row.protection.is_paused else "", tone)
    doubt = f", {facts.doubt}" if facts.doubt else ""
    briefs = (
        (f"{times.countdown(run - render.now)}×", "×") if row.protection.is_next_refused else (counted(facts, run),)
    )
    return Cell(f"{times.until(run - render.now) if run > render.now else 'due'}{doubt}", tone, briefs)


def _state(row: ProtectionRow, render: RenderContext) -> Cell:
    facts = render.namespace(row.protection)
    mark, (first, _, more) = protection_mark(facts), facts.word.partition(",")
    tone = Tone.PLAIN if mark is StatusGlyph.HEALTHY else mark.tone
    return Cell(facts.word, tone, (first,) if more else _STATE_BRIEFS.get(facts.word, ()))


def _covers(row: ProtectionRow) -> Cell:
    coverage = row.protection.coverage
    return Cell(str(coverage), briefs=(coverage.extent.value,) if coverage.extent is Extent.PART else ())


def _promise(row: ProtectionRow, render: RenderContext) -> Cell:
    """`×3.2`: how many times older the copy is than promised; "" while it is in time.

    The bar is in hundredths: it is drawn again when it looks different, and not with every second.
    """
    facts = render.namespace(row.protection)
    share, tone = facts.age_share, protection_mark(facts).tone
    if share is None:
        return Cell("", tone)
    times_older = f"×{share:.1f}" if share < _MANY_TIMES else f"×{min(round(share), 999)}"
    return Cell(times_older if facts.is_beyond else "", tone, drawing=ShareBar(10 * min(100, round(100 * share)), tone))


_MANY_TIMES = 9.95


def _of(row: ProtectionRow, render: RenderContext) -> Cell:
    """How often a copy is promised: `30m`, `24h`, `7d`."""
    every = render.namespace(row.protection).promised_every
    if every is None:
        return Cell("", Tone.DIM)
    return Cell("24h" if every == timedelta(days=1) else times.short(every), Tone.DIM)


_STATE_BRIEFS = {
    ProtectionState.REPOSITORY_NOT_READY.value: ("not ready",),
    ProtectionState.MANIFESTS_ONLY.value: ("manifests",),
    ProtectionState.VOLUMES_MISSING.value: ("vols missing",),
}


_COLUMNS: tuple[Column[ProtectionRow], ...] = (
    plain("name", "NAMESPACE", lambda row: row.protection.namespace, from_middle=True),
    Column("state", "STATE", _state, lambda row: row.protection.exists is False, cells=12),
    Column(
        "promise",
        "AGE/PROMISE",
        _promise,
        lambda row: row.protection.copies.usable_at,
        falls=True,
        cells=21,
        most=21,
        ticks=True,
    ),
    Column(
        "newest",
        "AGE",
        _newest,
        lambda row: row.protection.copies.usable_at,
        right=True,
        falls=True,
        cells=6,
        ticks=True,
    ),
    Column("of", "OF", _of, lambda row: row.protection.next_run, cells=4),
    Column("copies", "COPY", lambda row, _: _copies(row), lambda row: row.good_in_reach, right=True, cells=4, most=4),
    Column("next", "NEXT", _next, lambda row: row.protection.next_run, right=True, cells=6, most=6, ticks=True),
    Column("expires", "EXPIRES", _expires, lambda row: row.protection.copies.next_expiry, cells=8, most=8, ticks=True),
    plain("by", "BY", lambda row: covered_by(row.protection), cells=16, most=24),
    plain("covers", "COVERS", _covers, cells=8),
    volumes_column(
        lambda row: row.volumes,
        lambda row: (len(row.volumes.missing), len(row.volumes.open), row.volumes.expected),
    ),
    size_column(lambda row: row.volumes.size),
    plain("method", "METHOD", lambda row: method_of_volumes(row.protection, row.volumes), wide=True),
    plain("storage", "STORAGE", _storage, wide=True),
    plain("repository", "REPOSITORY", lambda row: row.repository, wide=True),
    Column(
        "tried",
        "TRIED",
        lambda row, render: tried_text(row.protection, render),
        lambda row: row.protection.drill.at if row.protection.drill else row.protection.restored,
        falls=True,
        cells=8,
    ),
)
