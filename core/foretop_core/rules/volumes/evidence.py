"""Which volumes of a namespace are in a backup, as far as Velero's objects prove it.

A PodVolumeBackup or DataUpload proves one volume. Snapshots have no object of their own: the volume info of the backup
tells of each, where somebody has fetched it; else their number proves that all volumes are there where it is the number
of those that the backup was to take so, by all that decides about volumes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import cached_property

import msgspec

from foretop_core.models import Backup, DataMovement, DataUpload, PersistentVolume, PersistentVolumeClaim, Resource
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.rules import humanize
from foretop_core.rules.protection.copies import is_of_storage, latest_start
from foretop_core.rules.protection.coverage import (
    VolumeMethod,
    cluster_scoped_text,
    leaves_out_volumes,
    namespace_filter,
    resource_policy,
)

# Deferred imports: policies are read where a backup is judged, and not for the first rows.

GLOBAL_POLICIES = "velero.io/global-backup-volume-policy-configmap"
"""The annotation of a backup that was made with volume policies of its server: their ConfigMap."""
_CLAIM_UID = "velero.io/pvc-uid"
_CLOCKS_APART = timedelta(minutes=1)
"""How far the clock of a node may be behind that of Velero's."""
_ENDED = frozenset({"Completed", "Failed", "Canceled"})
PERSISTENT_VOLUMES, RELEASE, SERVER_FLAGS = "PersistentVolumes", "the release of Velero", "the flags of the server"
"""Some of what decides about volumes, as it is named where it was not read."""
_OF_WHICH_CLUSTER = "it was read from storage, and nothing in it says of which cluster its data is"
NO_DATA_OF_IT = "no snapshot and no file copy of it was made"
CLAIM_EXCLUDED = f"its claim has the label {EXCLUDE_LABEL}"


class VolumesSeen(msgspec.Struct, frozen=True):
    """How far what proves volumes was read: namespaces, "" for all of them."""

    claims_in: frozenset[str] = frozenset()
    unreadable_in: frozenset[str] = frozenset()
    """The namespaces with a claim that cannot be read."""
    movements_in: frozenset[str] = frozenset()
    """The namespaces of Velero servers."""
    missing_rights: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By kind, the right that is missing: `you may not list persistentvolumeclaims`."""

    def has_claims_of(self, namespace: str) -> bool:
        is_listed = "" in self.claims_in or namespace in self.claims_in
        return is_listed and namespace not in self.unreadable_in

    def because(self, *kinds: str) -> str:
        """`: you may not list …` of the first of these kinds that may not be seen; "" where a right is not why."""
        right = next((self.missing_rights[kind] for kind in kinds if kind in self.missing_rights), "")
        return f": {right}" if right else ""

    def has_movements_of(self, server: str) -> bool:
        return "" in self.movements_in or server in self.movements_in


class VolumeFlags(msgspec.Struct, frozen=True):
    """The flags of a Velero server that decide what becomes of volumes."""

    has_csi: bool = False
    copies_files: bool = False
    """The default for templates that do not say it."""
    moves_data: bool = False
    """The same."""
    snapshot_locations: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The default location of each provider."""
    volume_policies: str = ""
    """The ConfigMap whose volume policies come after those of every run; "" for none."""


class TakenVolume(msgspec.Struct, frozen=True):
    name: str
    method: VolumeMethod
    size: int | None = None
    """Bytes; None where nothing tells them."""
    is_by_count: bool = False
    """It has no object of its own: as many snapshots were made as there are such volumes."""
    is_by_info: bool = False
    """It has no object of its own: the volume info of the backup tells of it."""


class LeftOutVolume(msgspec.Struct, frozen=True):
    name: str
    why: str
    is_chosen: bool = False
    """Somebody wanted it so: by a policy, a label or an annotation."""
    is_by_count: bool = False
    """All snapshots that were made are those of others."""


class VolumeEvidence(msgspec.Struct, frozen=True):
    """The volumes of one namespace in one backup; those that nothing proves or refutes are `open`."""

    taken: tuple[TakenVolume, ...] = ()
    left_out: tuple[LeftOutVolume, ...] = ()
    open: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    """Made, or made again, after the backup was started."""
    unknown: str = ""
    """What keeps the open ones open, or hides which volumes there are."""

    @property
    def missing(self) -> tuple[LeftOutVolume, ...]:
        """The volumes that are left out, and nobody chose that."""
        return tuple(one for one in self.left_out if not one.is_chosen)

    @property
    def chosen(self) -> tuple[LeftOutVolume, ...]:
        return tuple(one for one in self.left_out if one.is_chosen)

    @property
    def expected(self) -> int:
        return len(self.taken) + len(self.left_out) + len(self.open)

    @property
    def count_text(self) -> str:
        """`3/4`, `~3/4` where the number of snapshots tells it, `?/4` where it is not known of one; "" for none."""
        if not self.expected:
            return "?" if self.unknown else ""
        by_count = [one.is_by_count for one in self.taken] + [one.is_by_count for one in self.left_out]
        return f"?/{self.expected}" if self.open else f"{'~' if any(by_count) else ''}{len(self.taken)}/{self.expected}"

    @property
    def size(self) -> int | None:
        """The bytes that are known; None where those of one volume are not."""
        sizes = [one.size for one in self.taken]
        return None if not sizes or self.open or self.unknown or None in sizes else sum(filter(None, sizes))

    @property
    def size_unknown(self) -> str:
        """The reason why the bytes are not known; "" where they are, or where there are none."""
        is_told = self.size is not None or not self.taken
        return self.unknown or ("" if is_told else _SIZE_OF_SNAPSHOT)


class VolumeFate(Enum):
    TAKEN = auto()
    LEFT_OUT = auto()
    NOT_KNOWN = auto()


class ToldVolume(msgspec.Struct, frozen=True):
    """One volume of a backup by its volume info."""

    namespace: str
    claim: str
    """Of a volume that belongs to no claim its own name."""
    fate: VolumeFate
    method: VolumeMethod
    size: int | None = None
    why: str = ""
    """Why it is not taken, or not known to be."""
    volume: str = ""
    """The name of its PersistentVolume; "" where the file does not tell."""


class VolumeInfo(msgspec.Struct, frozen=True):
    """The volumes of one backup, in the order of their names."""

    volumes: tuple[ToldVolume, ...] = ()
    others: int = 0
    """Volumes without a claim, such as those of a pod alone."""


class KnownVolumes(msgspec.Struct, frozen=True, dict=True):
    """The volume info of one backup as it was fetched; of that object in that phase, and of no other."""

    uid: str
    phase: str
    info: VolumeInfo

    def is_of(self, uid: str, phase: str) -> bool:
        return bool(uid) and (uid, phase) == (self.uid, self.phase)

    @cached_property
    def by_claim(self) -> Mapping[tuple[str, str], ToldVolume]:
        return {(one.namespace, one.claim): one for one in self.info.volumes}

    @cached_property
    def snapshots(self) -> int:
        """How many volumes it names that were, or were to be, taken by a snapshot."""
        return sum(one.method in (VolumeMethod.SNAPSHOT, VolumeMethod.DATA_MOVER) for one in self.info.volumes)


class ClaimedVolume(msgspec.Struct, frozen=True):
    claim: PersistentVolumeClaim
    volume: PersistentVolume | None
    """None where it was not read."""


class ExpectedSnapshots(msgspec.Struct, frozen=True):
    """The volumes of all namespaces of a backup that it was to take by snapshots, by all that decides about them.

    A volume that is deleted since may have had one of its snapshots, so their number alone proves none of the others.
    """

    taken: frozenset[tuple[str, str]] = frozenset()
    """By namespace and name of the claim."""
    left_out: Mapping[tuple[str, str], LeftOutVolume] = msgspec.field(default_factory=dict)
    unknown: str = ""
    """What was not read or is not as it was then, so that they are not known."""


class SnapshotCount(msgspec.Struct, frozen=True):
    """The snapshots of a backup, beside how many of the volumes of all its namespaces nothing else proves."""

    attempted: int
    completed: int
    operations: int
    """Operations of plugins on its items; a data movement that is not to be seen here is among them."""
    open: Callable[[], int | None]
    """Counts them, if that is asked for; None where not all claims of its namespaces were read."""
    expected: Callable[[], ExpectedSnapshots]
    """Works them out, if that is asked for."""
    has_others: bool = False
    """Whether volumes of other namespaces, or without a claim, may be among them: those are open and expected too."""


def snapshot_count(
    backup: Backup, open_volumes: Callable[[], int | None], expected: Callable[[], ExpectedSnapshots]
) -> SnapshotCount:
    status = backup.status
    return SnapshotCount(
        status.volume_snapshots_attempted + status.csi_volume_snapshots_attempted,
        status.volume_snapshots_completed + status.csi_volume_snapshots_completed,
        status.backup_item_operations_attempted,
        open_volumes,
        expected,
        may_have_others(backup),
    )


def may_have_others(backup: Backup) -> bool:
    """True if some of its snapshots may be of volumes of other namespaces, or of those without a claim."""
    if not backup.status.volume_snapshots_attempted:
        return False
    from foretop_core.rules.volumes.run_filters import RunFilters

    # A CSI snapshot is made of a claim, one by a plugin of a PersistentVolume, which a policy can list too.
    spec = backup.spec
    is_of_all = not spec.excluded_namespaces and spec.included_namespaces in ((), ("*",))
    filters = RunFilters(spec, namespace_filter(spec), is_of_all_namespaces=is_of_all)
    return filters.lists_volumes() or cluster_scoped_text(spec) == "all" or bool(resource_policy(spec))


def open_volumes(
    claimed: Iterable[ClaimedVolume], moved: Mapping[tuple[str, str], DataMovement], backup: Backup
) -> int:
    """How many of these volumes a backup could hold as snapshots only."""
    return sum(
        one.claim.has_volume
        and not is_newer(one, latest_start(backup))
        and (one.claim.namespace, one.claim.name) not in moved
        and not no_snapshot(backup, one)
        for one in claimed
    )


def no_snapshot(backup: Backup, claimed: ClaimedVolume) -> str:
    """Why Velero makes no snapshot of a volume, whatever its plugins are; "" where it may make one."""
    spec = backup.spec
    if is_excluded(claimed.claim) and not may_have_others(backup):
        return CLAIM_EXCLUDED
    if spec.snapshot_volumes is False and not (resource_policy(spec) or backup.annotation(GLOBAL_POLICIES)):
        return "its backup takes no snapshots, and no file copy of it was made"
    source = claimed.volume.spec if claimed.volume is not None else None
    if source is None:
        return ""
    if leaves_out_volumes(spec) and source.csi is None:
        return "its PersistentVolume is not in the backup, and no file copy of it was made"
    kinds = (("hostPath", source.host_path), ("NFS", source.nfs), ("local", source.local))
    kind = next((name for name, value in kinds if value is not None), "")
    return f"no snapshot location knows {kind} volumes, and no file copy of it was made" if kind else ""


def is_excluded(item: Resource) -> bool:
    """True if a label has every backup leave it out."""
    return item.label(EXCLUDE_LABEL) == "true"


def moved_volumes(backup: Backup, movements: Iterable[DataMovement]) -> dict[tuple[str, str], DataMovement]:
    """The movements of a backup by namespace and name of the claim; of two of one claim the one that succeeded.

    One that was made before it, or that had begun before, is of an earlier backup of that name, which left it behind.
    """
    started, created = backup.status.start_timestamp, backup.created
    first = None if started is None else started - _CLOCKS_APART
    found: dict[tuple[str, str], DataMovement] = {}
    for movement in movements:
        begun, made = movement.status.start_timestamp, movement.created
        if first is not None and begun is not None and begun < first:
            continue
        if created is not None and made is not None and made < created:
            continue
        key = movement.claim
        held = found.get(key)
        if key[1] and (held is None or held.phase != "Completed"):
            found[key] = movement
    return found


def volume_evidence(
    namespace: str,
    claimed: Iterable[ClaimedVolume],
    backup: Backup,
    moved: Mapping[tuple[str, str], DataMovement],
    count: SnapshotCount,
    *,
    has_movements: bool,
    because: str,
    known: KnownVolumes | None,
    chosen: Callable[[], Mapping[str, str]],
) -> VolumeEvidence:
    """The evidence for the volumes of one namespace; `known` is the volume info of the backup, where it was fetched.

    `because` says which right is missing where movements were not read. `chosen` works out which claims somebody
    chose to leave out of it, and by what; it is asked for where one was left out without a failure.
    """
    taken: list[TakenVolume] = []
    left_out: list[LeftOutVolume] = []
    rest: list[str] = []
    """Those that a snapshot may have, if anything."""
    moving: list[str] = []
    newer: list[str] = []
    failed: set[str] = set()
    """Those whose data was to be taken: nobody chose that."""
    excluded: set[str] = set()
    untold: dict[str, None] = {}
    """Why its volume info proves nothing of one that stays open."""
    for one in sorted(claimed, key=lambda one: one.claim.name):
        claim = one.claim
        movement = moved.get((claim.namespace, claim.name))
        if is_excluded(claim):
            excluded.add(claim.name)
        of_another = _is_of_another(movement, claim) if movement is not None else None
        if of_another is not False and is_newer(one, latest_start(backup)):
            newer += [claim.name] if claim.has_volume else []
        elif of_another:
            left_out.append(LeftOutVolume(claim.name, "the data is that of another claim of this name"))
        elif movement is not None and of_another is None and is_of_storage(backup):
            rest.append(claim.name)
            untold[_OF_WHICH_CLUSTER] = None
        elif movement is None and known is not None and (told := _told(one, backup, count, known)) is not None:
            match told.fate:
                case VolumeFate.TAKEN:
                    taken.append(TakenVolume(claim.name, told.method, told.size, is_by_info=True))
                case VolumeFate.LEFT_OUT:
                    left_out.append(LeftOutVolume(claim.name, told.why))
                    if told.method is not VolumeMethod.NONE:
                        failed.add(claim.name)
                case VolumeFate.NOT_KNOWN:
                    rest.append(claim.name)
                    untold[told.why] = None
        elif movement is None and not claim.has_volume:
            continue
        elif movement is None and has_movements and (why := no_snapshot(backup, one)):
            left_out.append(LeftOutVolume(claim.name, why))
        elif movement is None:
            rest.append(claim.name)
        else:
            told = told_by(movement)
            match told.fate:
                case VolumeFate.TAKEN:
                    taken.append(TakenVolume(claim.name, told.method, told.size))
                case VolumeFate.LEFT_OUT:
                    left_out.append(LeftOutVolume(claim.name, told.why))
                    failed.add(claim.name)
                case VolumeFate.NOT_KNOWN:
                    moving.append(claim.name)
    unknown = _MOVING if moving else ""
    if untold:
        unknown = next(iter(untold))
    elif rest and (expected := _proven_by_count(count)) is not None:
        for name in rest:
            lacking = expected.left_out.get((namespace, name))
            if lacking is not None:
                left_out.append(LeftOutVolume(name, lacking.why, is_by_count=True))
            else:
                taken.append(TakenVolume(name, VolumeMethod.SNAPSHOT, is_by_count=True))
        rest = []
    elif rest and has_movements and not (count.attempted or count.operations):
        left_out += [LeftOutVolume(name, NO_DATA_OF_IT) for name in rest]
        rest = []
    elif rest:
        unknown = _why_open(count) if has_movements else f"{MOVEMENTS_UNREAD}{because}"
    choices = dict.fromkeys(excluded, CLAIM_EXCLUDED)
    if any(one.name not in failed and one.name not in choices for one in left_out):
        choices = {**chosen(), **choices}
    return VolumeEvidence(
        tuple(sorted(taken, key=lambda one: one.name)),
        tuple(
            one
            if one.name in failed or one.name not in choices
            else msgspec.structs.replace(one, why=choices[one.name], is_chosen=True)
            for one in sorted(left_out, key=lambda one: one.name)
        ),
        tuple(sorted((*rest, *moving))),
        tuple(newer),
        unknown,
    )


class RunVolumes(msgspec.Struct, frozen=True):
    """How many volumes a backup has of all its namespaces, as far as its own objects and files tell."""

    taken: int = 0
    total: int | None = None
    """None without volume info: what was left out without a word has no object."""
    size: int | None = None
    """None where the bytes of one that is taken are not known."""
    missing: int = 0
    """Those that tell that they were not taken."""
    unknown: str = ""
    """Why it is not known how many it should have; "" where it is."""

    @property
    def count_text(self) -> str:
        """`3/4`, `3/?` where it is not known of how many, and "" where there is nothing to tell."""
        if self.total is None:
            return f"{self.taken}/?" if self.taken or self.missing else ""
        return f"{self.taken}/{self.total}" if self.total else ""

    @property
    def size_unknown(self) -> str:
        """Why its bytes are not known; "" where they are, or where it is known to have none."""
        if self.size is not None or self.total == 0:
            return ""
        return _SIZE_OF_SNAPSHOT if self.taken else self.unknown


_SIZE_OF_SNAPSHOT = "nothing tells the size of a snapshot"


def run_volumes(
    backup: Backup, known: KnownVolumes | None, moved: Iterable[DataMovement], *, has_movements: bool = True
) -> RunVolumes:
    """By its volume info, else by its movements and the snapshots that its status counts."""
    told = volumes_of_backup(known.info if known is not None else None, moved).volumes
    taken = [one for one in told if one.fate is VolumeFate.TAKEN]
    left_out = sum(one.fate is VolumeFate.LEFT_OUT for one in told)
    sizes = [one.size for one in taken]
    status = backup.status
    attempted = status.volume_snapshots_attempted + status.csi_volume_snapshots_attempted
    if known is not None and known.snapshots >= attempted and not leaves_out_volumes(backup.spec):
        return RunVolumes(len(taken), len(told), whole_size(sizes), left_out)
    uploads = sum(one.method is VolumeMethod.DATA_MOVER for one in taken)
    named = sum(one.method is VolumeMethod.SNAPSHOT for one in taken)
    # A data movement begins with a snapshot, which is counted too.
    by_csi = max(0, status.csi_volume_snapshots_completed - uploads)
    snapshots = max(0, status.volume_snapshots_completed + by_csi - named)
    size = None if snapshots or not has_movements else whole_size(sizes)
    why = MOVEMENTS_UNREAD
    if has_movements:
        why = "its volume info was not fetched" if known is None else "its volume info does not name all of them"
    return RunVolumes(len(taken) + snapshots, None, size, left_out, why)


MOVEMENTS_UNREAD = "its PodVolumeBackups and DataUploads were not read"


class GrownVolume(msgspec.Struct, frozen=True):
    """A volume with more bytes in one copy than in the one before."""

    namespace: str
    claim: str
    before: int
    size: int

    @property
    def by(self) -> int:
        return self.size - self.before

    @property
    def text(self) -> str:
        """`data-0 by 2.0 GB to 42.0 GB`."""
        return f"{self.claim} by {humanize.size(self.by)} to {humanize.size(self.size)}"


def grown_volumes(now: VolumeInfo, before: VolumeInfo) -> tuple[GrownVolume, ...]:
    """The one that has grown most comes first; one whose bytes are not known in both is none."""
    held = {(one.namespace, one.claim): one.size for one in before.volumes}
    found = (
        GrownVolume(one.namespace, one.claim, size, one.size)
        for one in now.volumes
        if one.size is not None and (size := held.get((one.namespace, one.claim))) is not None and one.size > size
    )
    return tuple(sorted(found, key=lambda one: (-one.by, one.namespace, one.claim)))


def whole_size(sizes: Sequence[int | None]) -> int | None:
    """The sum; None where one is not known, or where there are none: what is not known is not summed."""
    known = [size for size in sizes if size is not None]
    return sum(known) if sizes and len(known) == len(sizes) else None


_MOVING = "its data movements have not ended"


def told_by(movement: DataMovement) -> ToldVolume:
    """The fate of a volume by the object that moves its data."""
    namespace, claim = movement.claim
    method = method_of(movement)
    if movement.phase == "Completed":
        return ToldVolume(namespace, claim, VolumeFate.TAKEN, method, movement.size)
    fate = VolumeFate.LEFT_OUT if movement.phase in _ENDED else VolumeFate.NOT_KNOWN
    why = _failure(movement) if fate is VolumeFate.LEFT_OUT else _MOVING
    return ToldVolume(namespace, claim, fate, method, why=why)


def volumes_of_backup(info: VolumeInfo | None, moved: Iterable[DataMovement]) -> VolumeInfo:
    """All volumes that a backup tells of, those of claims too that are gone since: a movement has the last word."""
    told = {(one.namespace, one.claim): one for one in (info.volumes if info is not None else ())}
    for movement in moved:
        one = told_by(movement)
        told[one.namespace, one.claim] = one
    return VolumeInfo(tuple(told[key] for key in sorted(told)), info.others if info is not None else 0)


def _told(claimed: ClaimedVolume, backup: Backup, count: SnapshotCount, known: KnownVolumes) -> ToldVolume | None:
    """By its volume info; one that it does not name was not taken, unless it cannot name all of them; None: no data."""
    claim = claimed.claim
    told = known.by_claim.get((claim.namespace, claim.name))
    if told is not None and told.fate is VolumeFate.TAKEN:
        return _of_this_claim(told, claim, backup)
    if told is not None or not claim.has_volume:
        return told
    # Velero names no CSI snapshot and no data movement of a volume whose PersistentVolume is not in the backup.
    is_whole = known.snapshots >= max(count.attempted, count.operations)
    why = no_snapshot(backup, claimed)
    fate = VolumeFate.LEFT_OUT if is_whole or why else VolumeFate.NOT_KNOWN
    if not why:
        others = "" if is_whole else ", and not all of the snapshots either"
        why = f"its volume info does not name it{others}"
    return ToldVolume(claim.namespace, claim.name, fate, VolumeMethod.NONE, why=why)


def _of_this_claim(told: ToldVolume, claim: PersistentVolumeClaim, backup: Backup) -> ToldVolume:
    """Claims of other clusters, and claims that were made again, have the same name and another volume."""
    if told.volume and told.volume != claim.spec.volume_name:
        why = f"the data is that of another volume, {told.volume}"
        return ToldVolume(told.namespace, told.claim, VolumeFate.LEFT_OUT, VolumeMethod.NONE, why=why)
    is_its_own = bool(claim.metadata.uid) and told.volume == f"pvc-{claim.metadata.uid}"
    if is_of_storage(backup) and not is_its_own:
        return ToldVolume(told.namespace, told.claim, VolumeFate.NOT_KNOWN, told.method, why=_OF_WHICH_CLUSTER)
    return told


def _may_be_counted(count: SnapshotCount) -> bool:
    """True if it has as many snapshots as it may be expected to have, as far as its status and the claims tell."""
    is_sound = count.attempted > 0 and count.attempted == count.completed
    return is_sound and count.attempted <= (count.open() or 0)


def _proven_by_count(count: SnapshotCount) -> ExpectedSnapshots | None:
    """The volumes whose snapshots are all that it has; None where that is not known."""
    if not _may_be_counted(count):
        return None
    expected = count.expected()
    return expected if not expected.unknown and len(expected.taken) == count.attempted else None


def _why_open(count: SnapshotCount) -> str:
    if not count.attempted:
        return "its volumes were moved by operations that have no object here"
    snapshots = humanize.count(count.attempted, "snapshot")
    made = "" if count.completed >= count.attempted else f", {count.attempted - count.completed} failed"
    if (volumes := count.open()) is None:
        where = "of all namespaces" if count.has_others else "of its namespaces"
        return f"it has {snapshots}{made}, and not all claims {where} were read"
    if _may_be_counted(count) and (unknown := count.expected().unknown):
        return f"it has {snapshots}, and {unknown}: its volume info tells which"
    if count.has_others:
        return f"it has {snapshots}{made}, perhaps of volumes of other namespaces: its volume info tells which"
    return f"it has {snapshots}{made} for {humanize.count(volumes, 'volume')}: its volume info tells which"


def is_newer(claimed: ClaimedVolume, started: datetime | None) -> bool:
    """True if a claim, or its volume, was made or made again after a moment: the start of a backup.

    A claim may wait long for its first pod, and has no data before it has a volume.
    """
    made = (claimed.claim.created, claimed.volume.created if claimed.volume is not None else None)
    return started is not None and any(at is not None and at > started for at in made)


def _is_of_another(movement: DataMovement, claim: PersistentVolumeClaim) -> bool | None:
    """True if the data is that of another claim of this name; None where nothing tells whose it is."""
    uid = movement.label(_CLAIM_UID)
    return uid != claim.metadata.uid if uid and claim.metadata.uid else None


def method_of(movement: DataMovement) -> VolumeMethod:
    """How a movement takes a volume."""
    return VolumeMethod.DATA_MOVER if isinstance(movement, DataUpload) else VolumeMethod.FILE_SYSTEM


def _failure(movement: DataMovement) -> str:
    what = "data movement" if isinstance(movement, DataUpload) else "file copy"
    message = f": {movement.status.message}" if movement.status.message else ""
    return f"its {what} is {movement.phase}{message}"
