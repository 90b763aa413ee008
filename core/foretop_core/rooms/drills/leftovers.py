"""Drills: what they have left in a cluster and whether foretop can prove that it made it, and what one has shown."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from foretop_core.models import Resource, Restore
from foretop_core.models.kinds import CONFIG_MAP, NAMESPACE, RESTORE, kind_of_ref
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.phases import ENDED
from foretop_core.rules.results import parse_resource_list
from foretop_core.rules.snapshot import ClusterSnapshot

LEFT_OVER = "drill-left-over"
"""The code of the finding about what a drill has left; its clean-up is offered where there is one."""
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
        return tuple(left_object for left_object in self.objects if left_object.proof is Proof.OWN)

    @property
    def unproven(self) -> tuple[LeftObject, ...]:
        return tuple(left_object for left_object in self.objects if left_object.proof is not Proof.OWN)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(left_object.target.name for left_object in self.objects)


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
    """The watched objects with the label of a drill, except those that are being deleted."""
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
    drills = [_left_drill(drill, created, records, now) for drill, created in by_drill.items()]
    return tuple(sorted(drills, key=lambda one: (str(one.objects[0].at or ""), one.id)))


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
    by, moment = (record.user, record.at) if record is not None else ("", item.created)
    return LeftObject(ref, item.metadata.uid, proof, by, moment)


def _is_going(items: list[Resource], restores: list[Restore], records: list[DrillRecord], now: datetime) -> bool:
    """True if the drill is under way: one in the journal here is over once it notes so, or deletes what it made."""
    if any(record.method != "POST" for record in records):
        return False
    if any(restore.phase not in ENDED and _is_within(restore.created, now, LONGEST_DRILL) for restore in restores):
        return True
    signs = (*(item.created for item in items), *(restore.status.completion_timestamp for restore in restores))
    return any(_is_within(sign, now, GOING_FOR) for sign in signs)


def _is_within(moment: datetime | None, now: datetime, limit: timedelta) -> bool:
    """Clocks differ: what is to come soon counts as just been, and the year 9999 does not."""
    return moment is not None and abs(now - moment) < limit


def _source(restore: Restore) -> str:
    spec = restore.spec
    names = ", ".join(spec.included_namespaces[:1])
    return f"{names} from {spec.backup_name}" if names and spec.backup_name else spec.backup_name


DRILLED_KINDS: Mapping[str, tuple[str, str]] = {
    "ConfigMap": ("v1", "configmaps"),
    "PersistentVolumeClaim": ("v1", "persistentvolumeclaims"),
    "Secret": ("v1", "secrets"),
    "Service": ("v1", "services"),
    "ServiceAccount": ("v1", "serviceaccounts"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "Deployment": ("apps/v1", "deployments"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "CronJob": ("batch/v1", "cronjobs"),
    "Job": ("batch/v1", "jobs"),
}
"""What a drill restores: kinds that rest where they are made at zero replicas, or suspended."""
SECRETS = "Secret"
_MADE_BY_THE_CLUSTER = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
"""In every namespace, restored or not."""
_MADE = frozenset({"created", "updated", ""})


JOBS = "Job"
_ENDED = b' is complete - skipping"'
"""What Velero's log of a restore says of a Job that it leaves out, because it has run to its end."""


class KindCount(msgspec.Struct, frozen=True):
    """How many objects of a kind the backup has, and how many came back; Velero leaves out those that have ended."""

    kind: str
    expected: int
    restored: int
    ended: int = 0

    @property
    def is_short(self) -> bool:
        return self.restored + self.ended < self.expected

    @property
    def ended_text(self) -> str:
        """Reads on after the number of those that came back."""
        return f", {self.ended} had ended" if self.ended else ""


class DrillReport(msgspec.Struct, frozen=True):
    """By kind what was expected and what came; and the kinds in the backup that a drill does not restore."""

    counts: tuple[KindCount, ...]
    left_out: tuple[str, ...]
    phase: str
    """That of the Restore, "" where it did not end in time."""
    problem: str = ""

    @property
    def failed(self) -> str:
        """The failures in one line; "" for none."""
        short = [
            f"{count.restored} of {count.expected - count.ended} {count.kind}"
            for count in self.counts
            if count.is_short
        ]
        parts = [self.problem] if self.problem else []
        if self.phase not in ("Completed", "") and not self.problem:
            parts.append(f"the restore is {self.phase}")
        return "; ".join([*parts, *([f"only {humanize.join(short)}"] if short else [])])


def read_resource_list(body: bytes | bytearray, namespace: str) -> Counter[str]:
    """By kind, how many objects of a namespace are in a backup."""
    counts: Counter[str] = Counter()
    for kind, space, name in _objects(body):
        if space == namespace and (kind, name) not in _MADE_BY_THE_CLUSTER:
            counts[kind] += 1
    return counts


def read_restored_list(body: bytes | bytearray, namespaces: Collection[str]) -> Counter[str]:
    """By kind, how many objects a restore made; each name has what became of it behind it: `web(created)`."""
    counts: Counter[str] = Counter()
    for kind, space, text in _objects(body):
        name, _, became = text.partition("(")
        if space in namespaces and became.rstrip(")") in _MADE and (kind, name) not in _MADE_BY_THE_CLUSTER:
            counts[kind] += 1
    return counts


def ended_jobs(log: bytes | bytearray) -> int:
    """How many Jobs a restore left out, by its log, because they had ended; a drill restores no pods."""
    return log.count(_ENDED)


def _objects(body: bytes | bytearray) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of everything in a list of Velero's; what is in no namespace is left out."""
    for resource_kind in parse_resource_list(body).kinds:
        kind = resource_kind.kind.rpartition("/")[2]
        for full in resource_kind.names:
            space, slash, name = full.partition("/")
            if slash:
                yield kind, space, name


def compared(
    expected: Mapping[str, int],
    restored: Mapping[str, int],
    kinds: tuple[str, ...],
    phase: str,
    problem: str = "",
    jobs_ended: int = 0,
) -> DrillReport:
    counts = tuple(
        KindCount(kind, expected.get(kind, 0), restored.get(kind, 0), jobs_ended if kind == JOBS else 0)
        for kind in kinds
    )
    return DrillReport(
        tuple(count for count in counts if count.expected or count.restored),
        tuple(sorted(kind for kind in expected if kind not in kinds)),
        phase,
        problem,
    )
