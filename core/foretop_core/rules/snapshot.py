"""All that the rules look at: the objects of one context, what was seen of them over time, and what was not seen."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING, TypeVar

import msgspec

from foretop_core.cron import Dialect
from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupSpec,
    BackupStorageLocation,
    CronJob,
    DataMovement,
    DeleteBackupRequest,
    Namespace,
    NonAdmin,
    NonAdminBackup,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PreScaledCronJob,
    Resource,
    Restore,
    Schedule,
    ServerStatusRequest,
)
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.kinds import CLAIM, DATA_UPLOAD, DEPLOYMENT, POD_VOLUME_BACKUP, VOLUME, Kind
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import DialectVerdict, Evidence, Reading, decide
from foretop_core.rules.heartbeat import Heartbeat, LifeSign, beat_second, heartbeat, signs_in
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.lookups import Lookups, own_run
from foretop_core.rules.phases import QUEUE_PHASES, USABLE, WAITING
from foretop_core.rules.protection.coverage import Coverage, misread_patterns, namespace_filter
from foretop_core.rules.protection.protection_index import (
    NO_POLICIES,
    ProtectionIndex,
    VolumePolicies,
    protection_index,
)
from foretop_core.rules.queue.node_limits import Limits, NodeAgentLimits
from foretop_core.rules.queue.owners import OwnerKind, owner_of
from foretop_core.rules.queue.volumes import NodeLoad, moved_before
from foretop_core.rules.remembered import remembered
from foretop_core.rules.schedule_history import history
from foretop_core.rules.sentences import Moment, Text, render
from foretop_core.rules.server_evidence import behaviour, named_evidence
from foretop_core.rules.velero_pods import server_pod, server_started
from foretop_core.rules.volumes.evidence import (
    PERSISTENT_VOLUMES,
    RELEASE,
    SERVER_FLAGS,
    ClaimedVolume,
    ExpectedSnapshots,
    KnownVolumes,
    RunVolumes,
    VolumeEvidence,
    VolumeFlags,
    VolumeInfo,
    VolumesSeen,
    may_have_others,
    moved_volumes,
    open_volumes,
    run_volumes,
    snapshot_count,
    volume_evidence,
    volumes_of_backup,
)

if TYPE_CHECKING:
    from foretop_core.rules.volumes.foretold import ForetoldVolumes, NamespaceVolumes
    from foretop_core.rules.volumes.run_plan import Deciders, RunPlan

# Deferred imports: what volumes are foretold by is loaded with the first page that tells of them.

R = TypeVar("R", bound=Resource)
Verdicts = Mapping[str, tuple[Dialect, ...]]
_UNREAD = {PERSISTENT_VOLUMES: VOLUME.name, RELEASE: DEPLOYMENT.name, SERVER_FLAGS: DEPLOYMENT.name}
"""By what decides about volumes, the kind that tells it."""
_JUDGED_BY = frozenset({"", "Schedule", "Backup", "Restore", "BackupStorageLocation"})


class VeleroInfo(msgspec.Struct, frozen=True):
    """The known settings and state of one Velero server; None where its Deployment may not be read."""

    skip_immediately: bool | None = None
    concurrency: int | None = None
    version: str = ""
    oadp_version: str = ""
    """The release of OADP in its image's tag."""
    wanted_pods: int | None = None
    """How many pods the Deployment is to have; None before its controller has reported on it."""
    ready_pods: int = 0
    volume_flags: VolumeFlags | None = None
    started: datetime | None = None
    """When it was last started, as far as its Deployment tells: no sign of an earlier server tells of this one."""

    @property
    def is_down(self) -> bool:
        """True if its Deployment reports that no pod is ready; False where it reports nothing."""
        return self.wanted_pods is not None and not self.ready_pods


class VisibilityGap(msgspec.Struct, frozen=True):
    """Something the rules would have needed and could not see."""

    context: str
    kind: str
    reason: Text
    is_loading: bool = False
    """Its first list is still coming in."""

    def why(self, zone: tzinfo = UTC) -> str:
        """The reason as a person reads it; a moment in it is one of today."""
        if isinstance(self.reason, str):
            return self.reason
        return render(self.reason, next(part.at for part in self.reason.parts if isinstance(part, Moment)), zone)

    @property
    def line(self) -> str:
        """`Not visible: prod Backup (not allowed)`."""
        return f"Not visible: {' '.join(filter(None, (self.context, self.kind)))} ({self.why()})"


class PhaseChange(msgspec.Struct, frozen=True, gc=False):
    before: str
    after: str
    at: datetime


class ObservedChanges(msgspec.Struct, frozen=True):
    """The changes that foretop has watched since it runs; a manifest has none."""

    phase_since: Mapping[ObjectRef, datetime] = msgspec.field(default_factory=dict)
    moved: Mapping[ObjectRef, datetime] = msgspec.field(default_factory=dict)
    """When the items or bytes of an unfinished object last changed."""
    unmoved: frozenset[ObjectRef] = frozenset()
    """Of those, the ones that were not seen to move: they have stood since they were first seen, or for longer."""
    went_back: Mapping[ObjectRef, PhaseChange] = msgspec.field(default_factory=dict)
    restarted: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    """By namespace: when the Velero server's beat was seen to change."""
    worked: Mapping[str, tuple[LifeSign, ...]] = msgspec.field(default_factory=dict)
    """By namespace: the newest writes that only the Velero server makes, besides its checks of storage."""
    syncs_off_beat: frozenset[datetime] = frozenset()
    """The last syncs of storage locations that came at another second of the minute than the ones before."""
    free_slot_since: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    checks_seen: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    """By namespace, when a check of its storage last came in, by the clock of the cluster as it was known then."""
    clock_jumped: datetime | None = None
    """When that clock last moved by more than passes between two looks, as it says since."""


KeptNights = dict[tuple[str, timedelta], tuple[object, object]]
"""By server and length, what its night was worked out from, and the night."""


KeptExpectations = dict[tuple[str, str], tuple[object, tuple[object, ...], ExpectedSnapshots]]
"""By namespace and name of a backup, what its snapshots were foretold from, and what was foretold."""
_MOST_EXPECTED = 2000


class KeptIndexes(msgspec.Struct, frozen=True):
    """The indexes of a store that goes on changing: they are of the snapshot while they are current."""

    lookups: Lookups
    protection: Callable[[ClusterSnapshot], ProtectionIndex]
    """The protection of the snapshot's namespaces, kept change by change."""
    is_current: Callable[[], bool]
    nights: KeptNights = msgspec.field(default_factory=dict)
    expected: KeptExpectations = msgspec.field(default_factory=dict)


class ClusterSnapshot(msgspec.Struct, frozen=True, dict=True):
    """One context at one moment. Empty tuples mean none there, unless `unseen` says otherwise."""

    context: str = ""
    schedules: tuple[Schedule, ...] = ()
    backups: tuple[Backup, ...] = ()
    restores: tuple[Restore, ...] = ()
    delete_requests: tuple[DeleteBackupRequest, ...] = ()
    storage: tuple[BackupStorageLocation, ...] = ()
    movements: tuple[DataMovement, ...] = ()
    nabs: tuple[NonAdminBackup, ...] = ()
    nars: tuple[NonAdminRestore, ...] = ()
    storage_requests: tuple[NonAdminBackupStorageLocationRequest, ...] = ()
    prescaled: tuple[PreScaledCronJob, ...] = ()
    cron_jobs: tuple[CronJob, ...] = ()
    repositories: tuple[BackupRepository, ...] = ()
    pods: tuple[Pod, ...] = ()
    """Those of Velero while a page shows them, and the one that crashes while a server is down."""
    claims: tuple[PersistentVolumeClaim, ...] = ()
    """Those of all namespaces while a page shows what is known of their volumes."""
    volumes: tuple[PersistentVolume, ...] = ()
    """The volumes of those."""
    volumes_seen: VolumesSeen = VolumesSeen()
    known_volumes: Mapping[tuple[str, str], KnownVolumes] = msgspec.field(default_factory=dict)
    """By namespace and name of a backup, its volume info, where somebody has fetched it."""
    namespaces: tuple[Namespace, ...] | None = None
    """None where they were not seen: nobody can say then which ones lack a backup."""
    servers: Mapping[str, VeleroInfo] = msgspec.field(default_factory=dict)
    config_maps: tuple[ConfigMap, ...] = ()
    """Those with acknowledgements; of a file all."""
    deciding: Mapping[str, Deciders] = msgspec.field(default_factory=dict)
    """By namespace of a server, what decides about volumes, read while a page shows what is known of them."""
    node_limits: Limits = msgspec.field(default_factory=dict)
    """Read while volumes move."""
    server_status: tuple[ServerStatusRequest, ...] = ()
    oadp_releases: Mapping[str, str] = msgspec.field(default_factory=dict)
    """By namespace, the release of the OADP operator there."""
    backup_status_fields: frozenset[str] = frozenset()
    """What the status of a Backup may hold by its definition; empty where that was not seen."""
    given_versions: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The release of Velero that a person named, by namespace, "" for all."""
    unseen: tuple[VisibilityGap, ...] = ()
    seen: ObservedChanges = msgspec.field(default_factory=ObservedChanges)
    live: KeptIndexes | None = None
    """The store's own indexes, for as long as they are of this moment."""

    @cached_property
    def is_loading(self) -> bool:
        """True if the first lists of what schedules, runs and servers are judged by are still coming in."""
        return any(gap.is_loading and gap.kind in _JUDGED_BY for gap in self.unseen)

    def gap(self, kind: Kind) -> VisibilityGap | None:
        """Why objects of a kind may be there and were not seen, the whole cluster among the reasons; None for none."""
        return next((gap for gap in self.unseen if gap.kind in ("", kind.name)), None)

    @property
    def lookups(self) -> Lookups:
        """Lookups in exactly these objects: the store's own until it changes, then, as for a file, made again."""
        return self.live.lookups if self.live is not None and self.live.is_current() else self._lookups_in_all

    @cached_property
    def _lookups_in_all(self) -> Lookups:
        indexes = Indexes()
        runs: tuple[Resource, ...] = (*self.backups, *self.restores, *self.nabs, *self.nars)
        indexes.fill((self.ref(item), item) for item in (*runs, *self.movements, *self.claims, *self.volumes))
        return Lookups(self.context, indexes, self.find)

    @property
    def protection(self) -> ProtectionIndex:
        """The protection of its namespaces; while the store has not changed, without a look at each backup."""
        live = self.live
        return live.protection(self) if live is not None and live.is_current() else self._protection_from_all

    @cached_property
    def _protection_from_all(self) -> ProtectionIndex:
        return protection_index(self)

    @cached_property
    def kept_nights(self) -> KeptNights:
        """The nights that were worked out from this snapshot, or from those before it of the same store."""
        return {} if self.live is None else self.live.nights

    def ref(self, item: Resource) -> ObjectRef:
        """Names an object of this cluster; the model types are named as the API names the kinds."""
        return ObjectRef(self.context, type(item).__name__, item.namespace, item.name)

    def find(self, ref: ObjectRef) -> Resource | None:
        """The object of this name among those that an operator works with; None where it is not there."""
        return self._by_ref.get(ref)

    @cached_property
    def _by_ref(self) -> Mapping[ObjectRef, Resource]:
        runs: tuple[Resource, ...] = (*self.backups, *self.restores, *self.nabs, *self.nars)
        places: tuple[Resource, ...] = (*self.schedules, *self.storage, *self.storage_requests)
        return {self.ref(item): item for item in (*runs, *places, *self.volumes)}

    def server(self, namespace: str) -> VeleroInfo:
        return self.servers.get(namespace, VeleroInfo())

    @remembered
    def verdict(self, namespace: str) -> DialectVerdict:
        """Which cron dialect the Velero server of a namespace has, as far as that can be told."""
        # Where the release is known, what thousands of schedules did need not be looked at.
        named = decide(self._named_evidence(namespace))
        return named if named.is_certain else self.full_verdict(namespace)

    def full_verdict(self, namespace: str) -> DialectVerdict:
        """The same, with all that speaks against it; costs a look at every schedule of the server."""
        schedules = self.schedules_by_namespace.get(namespace, ())
        did = behaviour(schedules, self.runs, self.heartbeat(namespace))
        return decide((*self._named_evidence(namespace), *did))

    def _named_evidence(self, namespace: str) -> Iterator[Evidence]:
        server = self.server(namespace)
        return named_evidence(
            self.given_versions.get(namespace) or self.given_versions.get("", ""),
            server.version,
            [request for request in self.server_status if request.namespace == namespace],
            (server.oadp_version, self.oadp_releases.get(namespace, "")),
            self.backup_status_fields,
            has_queue=self.lookups.unfinished_backups(namespace, QUEUE_PHASES) > 0,
        )

    def dialect(self, schedule: Schedule) -> Dialect | None:
        """The dialect that its server reads a schedule in; None where that is open and makes a difference."""
        return self.verdict(schedule.namespace).dialect_for(schedule.spec.schedule)

    def readings(self, schedule: Schedule) -> tuple[Reading, ...]:
        """How its server may read a schedule: one reading where that is known or makes no difference."""
        return self.verdict(schedule.namespace).readings(schedule.spec.schedule)

    @cached_property
    def verdicts(self) -> Verdicts:
        """By namespace, the dialects that remain possible for each server that has schedules."""
        return {namespace: self.verdict(namespace).candidates for namespace in self.schedules_by_namespace}

    @cached_property
    def read_schedules(self) -> tuple[tuple[Schedule, Dialect], ...]:
        """The schedules that can be judged, each with the dialect of its server; of the others a note tells."""
        return tuple((item, dialect) for item in self.schedules if (dialect := self.dialect(item)) is not None)

    @remembered
    def runs(self, schedule: Schedule) -> tuple[Backup, ...]:
        """The schedule's own backups, newest first: half a dozen rules ask for them."""
        return history(schedule, self.labelled_runs(schedule))

    def labelled_runs(self, schedule: Schedule) -> tuple[Backup, ...]:
        """Also those of an earlier schedule of the same name: Velero goes by the label."""
        return self.lookups.backups_of_schedule(schedule.namespace, schedule.name)

    def location(self, namespace: str, name: str) -> BackupStorageLocation | None:
        """The storage location of that name, or the server's default where no name is given."""
        if name:
            return self.storage_by_key.get((namespace, name))
        mine = [location for location in self.storage if location.namespace == namespace]
        chosen = [location for location in mine if location.spec.default] or [
            location for location in mine if location.name == "default"
        ]
        return chosen[0] if chosen else None

    def velero_run(self, item: NonAdmin) -> Backup | Restore | None:
        """The Velero object that a NAB or NAR led to, by its label; None where it is not seen."""
        match item:
            case NonAdminBackup():
                return self.velero_backup(item)
            case NonAdminRestore():
                return self.velero_restore(item)
            case _:
                return None

    def velero_backup(self, nab: NonAdminBackup) -> Backup | None:
        uuid = nab.velero.nacuuid
        return own_run(self.lookups.backups_of_uuid(uuid), nab.velero.name) if uuid else None

    def velero_restore(self, nar: NonAdminRestore) -> Restore | None:
        uuid = nar.velero.nacuuid
        return own_run(self.lookups.restores_of_uuid(uuid), nar.velero.name) if uuid else None

    @cached_property
    def velero_namespaces(self) -> tuple[str, ...]:
        """The namespaces to expect a Velero server in: those with schedules, backups or locations."""
        return tuple(sorted(self.namespaces_with_velero_objects | self.servers.keys()))

    @cached_property
    def namespaces_with_velero_objects(self) -> frozenset[str]:
        """The namespaces with objects that Velero works on, which tenants cannot make."""
        own = {item.namespace for item in (*self.schedules, *self.storage)}
        return self.lookups.backup_namespaces() | own

    @cached_property
    def schedules_by_namespace(self) -> Mapping[str, tuple[Schedule, ...]]:
        return _by_namespace(self.schedules)

    @cached_property
    def backups_by_namespace(self) -> Mapping[str, tuple[Backup, ...]]:
        return _by_namespace(self.backups)

    @cached_property
    def tenants_last(self) -> Mapping[str, datetime]:
        """By server, when the newest backup of a tenant was created."""
        found: dict[str, datetime] = {}
        for run in self.backups:
            if run.created is not None and owner_of(run).kind is OwnerKind.NAB:
                found[run.namespace] = max(run.created, found.get(run.namespace, run.created))
        return found

    @cached_property
    def last_restored(self) -> Mapping[str, datetime]:
        """By namespace, when the newest of the complete restores that its NARs led to was started."""
        found: dict[str, datetime] = {}
        for nar in self.nars:
            restore = self.velero_restore(nar)
            began = restore.status.start_timestamp if restore is not None and restore.phase == "Completed" else None
            if began is not None:
                found[nar.namespace] = max(began, found.get(nar.namespace, began))
        return found

    @cached_property
    def unpaused(self) -> Mapping[str, int]:
        """By server, how many schedules are not paused."""
        return Counter(schedule.namespace for schedule in self.schedules if not schedule.spec.paused)

    @cached_property
    def restores_by_namespace(self) -> Mapping[str, tuple[Restore, ...]]:
        return _by_namespace(self.restores)

    @cached_property
    def storage_by_key(self) -> Mapping[tuple[str, str], BackupStorageLocation]:
        return {(location.namespace, location.name): location for location in self.storage}

    def volumes_in(self, backup: Backup, namespace: str) -> VolumeEvidence:
        """Which volumes of a namespace a backup has, as far as objects prove it."""
        if not self.volumes_seen.has_claims_of(namespace):
            return VolumeEvidence(unknown=self._why_no_claims(namespace))
        claims = self.lookups.claims_in(namespace)
        if not claims:
            return VolumeEvidence()
        count = snapshot_count(backup, lambda: self._open_volumes(backup), lambda: self._expected_snapshots(backup))
        has_movements = self.volumes_seen.has_movements_of(backup.namespace)
        return volume_evidence(
            namespace,
            self._with_volume(claims),
            backup,
            self._moved_in(backup, namespace),
            count,
            has_movements=has_movements,
            because=self.volumes_seen.because(POD_VOLUME_BACKUP.name, DATA_UPLOAD.name),
            known=self.volume_info(backup),
            chosen=lambda: self._chosen_volumes(backup, namespace),
        )

    @remembered
    def _chosen_volumes(self, backup: Backup, namespace: str) -> Mapping[str, str]:
        """The volumes of a namespace that somebody chose to leave out of a backup, and by what."""
        from foretop_core.rules.volumes.choices import chosen_volumes

        deciders = self.deciders(backup.namespace)
        return chosen_volumes(backup, deciders, self._namespace_volumes(namespace, deciders))

    @remembered
    def next_run(self, item: Schedule | Backup) -> RunPlan:
        """The plan of a schedule's next run, or of a backup that has not begun, by what was read of what decides."""
        from foretop_core.rules.volumes.run_plan import run_plan

        spec = item.spec.template if isinstance(item, Schedule) else item.spec
        return run_plan(spec, self.deciders(item.namespace), item.name, item.metadata.annotations)

    def invalid_run(self, item: Schedule | Backup) -> str:
        """Velero's words with which it refuses the next run of a schedule, or a backup that has not begun.

        For its spec with the policies and locations that it names; "" where it does not, or those were not read.
        """
        return self.next_run(item).refused if item.namespace in self.deciding else ""

    @cached_property
    def invalid_runs(self) -> Mapping[tuple[str, str], str]:
        """The same by server and name of each schedule whose next run is refused so."""
        if not self.deciding:
            return {}
        return {(item.namespace, item.name): words for item in self.schedules if (words := self.invalid_run(item))}

    def misread(self, server: str, spec: BackupSpec, namespace: str) -> str:
        """Why a server takes nothing of a namespace, whatever the patterns of a template say; "" where it does."""
        names = (*spec.included_namespaces, *spec.excluded_namespaces)
        has_patterns = any(sign in name for name in names for sign in "*?[")
        return misread_patterns(spec, namespace, self.verdict(server).release) if has_patterns else ""

    def next_coverage(self, schedule: Schedule, namespace: str) -> Coverage:
        """How much of a namespace the next run of a schedule takes, without what fails with its volumes."""
        from foretop_core.rules.volumes.foretold import with_failures
        from foretop_core.rules.volumes.run_plan import planned_coverage

        return with_failures(
            planned_coverage(self.next_run(schedule), namespace), self.next_volumes(schedule, namespace)
        )

    def next_volumes(self, schedule: Schedule, namespace: str) -> ForetoldVolumes:
        """The fate of the volumes of a namespace in the next run of a schedule.

        Where its last run took one by a file copy or data movement, the next one is expected to do so again.
        """
        from foretop_core.rules.volumes.foretold import ForetoldVolumes, foretold_volumes, with_proof

        if not self.volumes_seen.has_claims_of(namespace):
            return ForetoldVolumes(unknown=self._why_no_claims(namespace))
        deciders = self.deciders(schedule.namespace)
        found = foretold_volumes(self.next_run(schedule), deciders, self._namespace_volumes(namespace, deciders))
        last = next((run for run in self.runs(schedule) if run.phase in USABLE), None)
        return (
            with_proof(found, namespace, self._moved_in(last, namespace)) if last is not None and found.open else found
        )

    def _namespace_volumes(self, namespace: str, deciders: Deciders) -> NamespaceVolumes:
        from foretop_core.rules.volumes.foretold import NamespaceVolumes

        claims = tuple(self.lookups.claims_in(namespace))
        volumes = {
            one.claim.spec.volume_name: one.volume for one in self._with_volume(claims) if one.volume is not None
        }
        is_seen = bool(volumes) or VOLUME.name not in self.volumes_seen.missing_rights
        return NamespaceVolumes(
            claims, volumes if is_seen else None, None if deciders.pods is None else deciders.pods.get(namespace, ())
        )

    @remembered
    def next_volumes_of(self, schedule: Schedule) -> Mapping[str, ForetoldVolumes]:
        """By namespace, the volumes that the next run of a schedule is to take; costs a look at all claims."""
        wanted = namespace_filter(schedule.spec.template)
        excluded = set(self.deciders(schedule.namespace).excluded_namespaces)
        names = sorted({claim.namespace for claim in self.claims} - excluded)
        return {name: self.next_volumes(schedule, name) for name in names if wanted.takes(name)}

    @cached_property
    def volume_policies(self) -> VolumePolicies:
        """The resource policies that were read."""
        if not self.deciding:
            return NO_POLICIES
        from foretop_core.rules.volumes.run_plan import known_policies

        return {
            (namespace, policy.name): policy
            for namespace, known in self.deciding.items()
            for policy in known_policies(known, self.verdict(namespace).release)
        }

    @remembered
    def deciders(self, namespace: str) -> Deciders:
        """All that decides about volumes in the runs of a server, as far as it was read."""
        from foretop_core.rules.volumes.run_plan import Deciders

        excluded = (item.name for item in self.namespaces or () if item.label(EXCLUDE_LABEL) == "true")
        known, rights = self.deciding.get(namespace) or Deciders(namespace), self.volumes_seen.missing_rights
        mine = {what: rights[kind] for what, kind in _UNREAD.items() if kind in rights}
        return msgspec.structs.replace(
            known,
            unread={**known.unread, **mine},
            release=self.verdict(namespace).release,
            flags=self.server(namespace).volume_flags,
            excluded_namespaces=tuple(excluded),
        )

    def run_volumes(self, backup: Backup) -> RunVolumes:
        """How many volumes a backup has in all, and their bytes, as far as that is seen.

        Its movements count only where all of its server are seen: else one copy would seem to have more than another.
        """
        has_movements = self.volumes_seen.has_movements_of(backup.namespace)
        return run_volumes(backup, self.volume_info(backup), self._all_moved(backup), has_movements=has_movements)

    def told_volumes(self, backup: Backup) -> VolumeInfo:
        """All volumes that tell of themselves in a backup, by its volume info and its movements."""
        known = self.volume_info(backup)
        return volumes_of_backup(known.info if known is not None else None, self._all_moved(backup))

    @remembered
    def last_copies(self, namespace: str, schedule: str) -> tuple[Backup, ...]:
        """The two newest copies with the label of a schedule, the newest first; none for no schedule."""
        labelled = self.lookups.backups_of_schedule(namespace, schedule) if schedule else ()
        made = [(run.started, run.name, run) for run in labelled if run.phase in USABLE and run.started is not None]
        return tuple(one[2] for one in nlargest(2, made, key=lambda one: one[:2]))

    def copy_before(self, backup: Backup) -> Backup | None:
        """The copy that its schedule made before it; None where there is none."""
        started = backup.started
        if not backup.schedule_name or started is None:
            return None
        made = (
            (run.started, run)
            for run in self.lookups.backups_of_schedule(backup.namespace, backup.schedule_name)
            if run.phase in USABLE and run.started is not None and run.started < started
        )
        return max(made, key=lambda one: (one[0], one[1].name), default=(None, None))[1]

    def _all_moved(self, backup: Backup) -> Iterable[DataMovement]:
        return self._moved(backup).values() if self.volumes_seen.has_movements_of(backup.namespace) else ()

    def volume_info(self, backup: Backup) -> KnownVolumes | None:
        """The volume info that was fetched of this very backup, as it is now; None where none was."""
        known = self.known_volumes.get((backup.namespace, backup.name))
        return known if known is not None and known.is_of(backup.metadata.uid, backup.phase) else None

    def _with_volume(self, claims: Iterable[PersistentVolumeClaim]) -> Iterator[ClaimedVolume]:
        lookups = self.lookups
        return (ClaimedVolume(claim, lookups.volume_of(claim)) for claim in claims)

    def _why_no_claims(self, namespace: str) -> str:
        if namespace in self.volumes_seen.unreadable_in:
            return "a PersistentVolumeClaim of it cannot be read"
        return f"its PersistentVolumeClaims were not read{self.volumes_seen.because(CLAIM.name)}"

    def _moved_in(self, backup: Backup, namespace: str) -> Mapping[tuple[str, str], DataMovement]:
        return moved_volumes(backup, self.lookups.movements_in(backup, namespace))

    @remembered
    def _moved(self, backup: Backup) -> Mapping[tuple[str, str], DataMovement]:
        return moved_volumes(backup, self.movements_of(backup))

    @remembered
    def _open_volumes(self, backup: Backup) -> int | None:
        """How many volumes of its namespaces only snapshots may have; None where not all of their claims were read.

        Costs a look at the claims of all of them, and is asked for where a number of snapshots is to prove something.
        """
        names = self._claimed_namespaces(backup)
        claims = (claim for name in names or () for claim in self.lookups.claims_in(name))
        return None if names is None else open_volumes(self._with_volume(claims), self._moved(backup), backup)

    def _claimed_namespaces(self, backup: Backup) -> Sequence[str] | None:
        """The namespaces with claims whose volumes a backup may have; None where not all of those were read."""
        wanted, seen, has_others = namespace_filter(backup.spec), self.volumes_seen, may_have_others(backup)
        if has_others or wanted.takes_all_others or wanted.has_patterns:
            every = {claim.namespace for claim in self.claims}
            names: Sequence[str] = [name for name in sorted(every) if has_others or wanted.takes(name)]
            is_whole = "" in seen.claims_in and seen.unreadable_in.isdisjoint(names)
        else:
            names = wanted.named
            is_whole = all(map(seen.has_claims_of, names))
        return names if is_whole else None

    @remembered
    def _expected_snapshots(self, backup: Backup) -> ExpectedSnapshots:
        """The volumes that a backup was to take by snapshots; costs a look at each claim of its namespaces."""
        from foretop_core.rules.volumes.by_count import expected_snapshots

        key, deciders = (backup.namespace, backup.name), self.deciders(backup.namespace)
        spaces = {name: self._namespace_volumes(name, deciders) for name in self._claimed_namespaces(backup) or ()}
        every = self.volumes
        if not may_have_others(backup):
            every = tuple(volume for name in spaces for volume in self.lookups.volumes_in(name))
        moved = self._moved(backup)
        claims = (claim for one in spaces.values() for claim in one.claims)
        objects = (backup, self.deciding.get(backup.namespace), *claims, *every, *moved.values())
        others = (deciders.release, deciders.flags, deciders.excluded_namespaces, deciders.unread)
        kept = {} if self.live is None else self.live.expected
        held = kept.get(key)
        if held is None or held[0] != others or not _are_the_same(held[1], objects):
            if len(kept) >= _MOST_EXPECTED:
                kept.clear()
            held = kept[key] = (others, objects, expected_snapshots(backup, deciders, spaces, moved, every))
        return held[2]

    def movements_of(self, run: Backup | Restore) -> tuple[DataMovement, ...]:
        """The volumes of a backup or restore on their way."""
        return self.lookups.movements_of(run)

    def moved_before(self, waiting: DataMovement) -> str:
        """The volumes that the node moves before a waiting one, as text; "" where it does not wait its turn."""
        return moved_before(waiting, self.on_node(waiting))

    def on_node(self, movement: DataMovement) -> NodeLoad:
        """The unfinished movements on the node of a volume, its own among them; none where no node has it."""
        if not movement.node:
            return NodeLoad()
        unfinished = self._unfinished_by_node.get((movement.namespace, movement.node), ())
        return NodeLoad(unfinished, self.node_limits_of(movement.namespace).of(movement.node))

    def node_limits_of(self, namespace: str) -> NodeAgentLimits:
        """How many volumes the node agents of a server move at once."""
        return self.node_limits.get(namespace, NodeAgentLimits())

    @cached_property
    def _unfinished_by_node(self) -> Mapping[tuple[str, str], tuple[DataMovement, ...]]:
        grouped: defaultdict[tuple[str, str], list[DataMovement]] = defaultdict(list)
        for movement in self.movements:
            if movement.node and movement.status.completion_timestamp is None:
                grouped[movement.namespace, movement.node].append(movement)
        return {key: tuple(movements) for key, movements in grouped.items()}

    @remembered
    def heartbeat(self, namespace: str) -> Heartbeat:
        """The rhythm of the Velero server of a namespace."""
        return self.heartbeat_at(namespace, self.beat_second(namespace))

    @remembered
    def heartbeat_at(self, namespace: str, second: int | None) -> Heartbeat:
        """The same with a beat that was learned before: costs a look at the storage locations."""
        return heartbeat(
            self.storage_by_namespace.get(namespace, ()),
            second=second,
            worked=self._worked(namespace),
            has_waiting=self.lookups.unfinished_backups(namespace, WAITING) > 0,
            is_down=self.server(namespace).is_down,
            started=self._pod_start(namespace),
            heard=self.seen.checks_seen.get(namespace),
            jumped=self.seen.clock_jumped,
        )

    def beat_second(self, namespace: str) -> int | None:
        """Costs a look at each schedule of the server, and at the backups that they made in the last two hours."""
        return beat_second(
            self.storage_by_namespace.get(namespace, ()),
            self.schedules_by_namespace.get(namespace, ()),
            (
                *self.lookups.newest_scheduled_backups(namespace),
                *(backup for backup in self.lookups.backups_cut_off() if backup.namespace == namespace),
            ),
            started=max((at for at in self._starts(namespace) if at is not None), default=None),
            off_beat=self.seen.syncs_off_beat,
        )

    def server_pod(self, namespace: str) -> Pod | None:
        """The pod that runs the server of a namespace, where pods are watched."""
        return server_pod(self.pods, namespace)

    def _pod_start(self, namespace: str) -> LifeSign | None:
        pod = self.server_pod(namespace)
        at = server_started(pod) if pod is not None else None
        return None if pod is None or at is None else LifeSign(at, type(pod).__name__, pod.name, "was started")

    def _starts(self, namespace: str) -> tuple[datetime | None, ...]:
        """When the server was started, as its Deployment tells and as its pod does."""
        sign = self._pod_start(namespace)
        return self.server(namespace).started, sign.at if sign is not None else None

    def _worked(self, namespace: str) -> tuple[LifeSign, ...]:
        """As the store has noted it change by change; of a file, out of its objects."""
        noted = self.live is not None or bool(self.seen.worked)
        return (self.seen.worked if noted else self._signs_in_all).get(namespace, ())

    @cached_property
    def _signs_in_all(self) -> Mapping[str, tuple[LifeSign, ...]]:
        found: defaultdict[str, list[LifeSign]] = defaultdict(list)
        runs: tuple[Resource, ...] = (*self.backups, *self.restores, *self.schedules)
        for item in (*runs, *self.movements, *self.repositories, *self.server_status):
            found[item.namespace].extend(signs_in(item))
        return {
            namespace: tuple(sorted(signs, key=lambda sign: sign.at, reverse=True))
            for namespace, signs in found.items()
        }

    @cached_property
    def storage_by_namespace(self) -> Mapping[str, tuple[BackupStorageLocation, ...]]:
        return _by_namespace(self.storage)

    @cached_property
    def open_backups(self) -> Mapping[str, tuple[Backup, ...]]:
        """By namespace, those that may not have ended."""
        return _by_namespace(self.lookups.open_backups())

    @cached_property
    def open_restores(self) -> Mapping[str, tuple[Restore, ...]]:
        """By namespace, those that may not have ended."""
        return _by_namespace(self.lookups.open_restores())

    @cached_property
    def faulty_backups(self) -> Mapping[str, tuple[Backup, ...]]:
        """By namespace, those that have failed, in part or by validation."""
        return _by_namespace(self.lookups.faulty_backups())


def _are_the_same(some: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """True if they are these very objects: a store keeps those that have not changed."""
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _by_namespace(items: Iterable[R]) -> dict[str, tuple[R, ...]]:
    grouped: defaultdict[str, list[R]] = defaultdict(list)
    for item in items:
        grouped[item.namespace].append(item)
    return {namespace: tuple(held) for namespace, held in grouped.items()}
