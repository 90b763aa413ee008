"""What drills have left in a cluster: which of it foretop can prove that it made, and which drills are still going."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from foretop_core.models import Resource, Restore
from foretop_core.models.kinds import CONFIG_MAP, NAMESPACE, RESTORE, kind_of_ref
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.phases import ENDED
from foretop_core.rules.snapshot import ClusterSnapshot

LONGEST_DRILL = timedelta(hours=24)
"""No drill waits longer for its restore."""
GOING_FOR = timedelta(minutes=10)
"""For so long after its last sign a drill may still be making or comparing something."""
DELETED_IN_ORDER = (RESTORE.name, CONFIG_MAP.name, NAMESPACE.name)


class DrillRecord(msgspec.Struct, frozen=True):
    """One write of a drill, as the journal of the person at the terminal has it."""

    drill: str
    method: str
    target: ObjectRef
    uid: str
    """The uid that the server gave to what was made; "" where no answer came."""
    user: str
    at: datetime


class Proof(StrEnum):
    """How far it is known that foretop made an object."""

    OWN = ""
    CUT_OFF = "foretop ended before it knew whether it had created it"
    LABEL_ONLY = "it only has the label of a drill: the journal here does not say that foretop created it"


class LeftObject(msgspec.Struct, frozen=True):
    """An object with the label of a drill."""

    target: ObjectRef
    uid: str
    drill: str
    proof: Proof
    by: str
    """Who made it, as the journal has it; "" where it has nothing."""
    at: datetime | None
    """When it was made: by the journal where it is proven, else by the object itself."""

    @property
    def command(self) -> str:
        """The kubectl line that would delete it."""
        return deletion_line(self.target)


class LeftDrill(msgspec.Struct, frozen=True):
    """All that is left of one drill, in the order in which it is deleted."""

    id: str
    objects: tuple[LeftObject, ...]
    is_going: bool
    source: str = ""
    """`shop from shop-daily-20261115`; "" where its restore is not there."""

    @property
    def own(self) -> tuple[LeftObject, ...]:
        return tuple(one for one in self.objects if one.proof is Proof.OWN)

    @property
    def unproven(self) -> tuple[LeftObject, ...]:
        return tuple(one for one in self.objects if one.proof is not Proof.OWN)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(one.target.name for one in self.objects)


def proof_of(
    target: ObjectRef, uid: str, label: str, records: Iterable[DrillRecord]
) -> tuple[Proof, DrillRecord | None]:
    """The one judge of what may be deleted: the journal must have this uid for this drill, and the object its label.

    The name of the context does not count: a uid is of one cluster, however that is called.
    """
    cut_off = None
    place = (target.kind, target.namespace, target.name)
    for record in records:
        made = record.method == "POST" and record.drill == label and label != ""
        if made and (record.target.kind, record.target.namespace, record.target.name) == place:
            if record.uid and record.uid == uid:
                return Proof.OWN, record
            cut_off = record if not record.uid else cut_off
    return (Proof.CUT_OFF, cut_off) if cut_off is not None else (Proof.LABEL_ONLY, None)


def labelled_objects(snapshot: ClusterSnapshot) -> Iterator[tuple[ObjectRef, Resource]]:
    """What is watched and carries the label of a drill; what is being deleted is not left over."""
    items: Iterable[Resource] = (*snapshot.restores, *(snapshot.namespaces or ()))
    for item in items:
        if item.metadata.labels and item.label(DRILL_LABEL) and item.metadata.deletion_timestamp is None:
            yield snapshot.ref(item), item


def left_drills(
    objects: Iterable[tuple[ObjectRef, Resource]], records: Sequence[DrillRecord], now: datetime
) -> tuple[LeftDrill, ...]:
    """The drills that these objects are of, the oldest first; those still going are among them, and marked."""
    by_drill: defaultdict[str, list[tuple[ObjectRef, Resource]]] = defaultdict(list)
    for ref, item in objects:
        by_drill[item.label(DRILL_LABEL)].append((ref, item))
    found = [_left_drill(drill, held, records, now) for drill, held in by_drill.items()]
    return tuple(sorted(found, key=lambda one: (str(one.objects[0].at or ""), one.id)))


def deletion_line(target: ObjectRef) -> str:
    kind = kind_of_ref(target)
    place = ("-n", target.namespace) if target.namespace else ()
    context = ("--context", target.context) if target.context else ()
    what = f"{kind.plural}.{kind.group}" if kind.group else kind.plural
    return shlex.join(("kubectl", *context, *place, "delete", what, target.name))


def _left_drill(
    drill: str, held: list[tuple[ObjectRef, Resource]], records: Sequence[DrillRecord], now: datetime
) -> LeftDrill:
    mine = [record for record in records if record.drill == drill]
    held.sort(key=lambda one: (DELETED_IN_ORDER.index(one[0].kind), one[0]))
    restores = [item for _, item in held if isinstance(item, Restore)]
    return LeftDrill(
        drill,
        tuple(_left_object(ref, item, drill, mine) for ref, item in held),
        _is_going([item for _, item in held], restores, mine, now),
        _source(restores[0]) if restores else "",
    )


def _left_object(ref: ObjectRef, item: Resource, drill: str, records: list[DrillRecord]) -> LeftObject:
    proof, record = proof_of(ref, item.metadata.uid, drill, records)
    by, at = (record.user, record.at) if record is not None else ("", item.created)
    return LeftObject(ref, item.metadata.uid, drill, proof, by, at)


def _is_going(items: list[Resource], restores: list[Restore], records: list[DrillRecord], now: datetime) -> bool:
    """Of the drills in the journal here it is known when they are over: they note it, or delete what they made."""
    if any(record.method != "POST" for record in records):
        return False
    if any(one.phase not in ENDED and _is_within(one.created, now, LONGEST_DRILL) for one in restores):
        return True
    signs = (*(item.created for item in items), *(one.status.completion_timestamp for one in restores))
    return any(_is_within(sign, now, GOING_FOR) for sign in signs)


def _is_within(moment: datetime | None, now: datetime, limit: timedelta) -> bool:
    """Clocks differ: what is to come soon counts as just been, and the year 9999 does not."""
    return moment is not None and abs(now - moment) < limit


def _source(restore: Restore) -> str:
    spec = restore.spec
    names = ", ".join(spec.included_namespaces[:1])
    return f"{names} from {spec.backup_name}" if names and spec.backup_name else spec.backup_name
