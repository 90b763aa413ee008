"""The volumes that the next run of a template takes, and how: foretold of each, or said to be open and why.

Only what a real server was seen to do is foretold. Each step that would need something that was not read ends with the
name of it, and so does each that no server was watched in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from foretop_core.models import BackupSpec, DataMovement, PersistentVolume, PersistentVolumeClaim, Pod
from foretop_core.models.builtin_kinds import (
    SNAPSHOT_CLASS_OF_CLAIM,
    ConfigMap,
    PodVolume,
    StorageClass,
    VolumeSnapshotClass,
)
from foretop_core.models.velero import EXCLUDE_LABEL, VolumeSnapshotLocation
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.protection.coverage import (
    Coverage,
    Extent,
    NamespaceFilter,
    VolumeMethod,
    content_coverage,
    namespace_filter,
    refused_because,
    resource_policy,
)
from foretop_core.rules.volumes.evidence import (
    CLAIM_EXCLUDED,
    PERSISTENT_VOLUMES,
    RELEASE,
    SERVER_FLAGS,
    LeftOutVolume,
    TakenVolume,
    VolumeFlags,
    is_excluded,
    method_of,
)
from foretop_core.rules.volumes.policies import (
    NO_POLICIES,
    PolicyNotRead,
    PolicyRefusal,
    ResourcePolicies,
    VolumeAction,
    has_since,
    read_policies,
)
from foretop_core.rules.volumes.run_filters import CLAIMS, PODS, RunFilters

_FIRST_FORETOLD = Release(1, 15, 0)
"""Earlier releases put the objects of a run together in another way."""
_LAST_FORETOLD = Release(1, 18, 3)
_WITH_PATTERNS = Release(1, 18, 0)
"""Earlier releases look for a namespace whose name is the pattern."""
_LOOKS_AT_ITS_PODS = Release(1, 18, 0)
"""Earlier releases look at the pods of namespaces too that a run leaves out."""
_WANTS_VOLUME_OF_POD = Release(1, 18, 0)
"""In earlier releases a policy makes each claim fail that has no volume."""
_NO_NAMESPACE = ""
"""What Velero takes for the name of none."""
_CLASS_OF_RUN = "velero.io/csi-volumesnapshot-class_"
_CLASS_LABEL = "velero.io/csi-volumesnapshot-class"
_DEFAULT_CLASS = "snapshot.storage.kubernetes.io/is-default-class"
_COPIED, NOT_COPIED = "backup.velero.io/backup-volumes", "backup.velero.io/backup-volumes-excludes"
NAMES_VOLUMES = (_COPIED, NOT_COPIED)
"""The annotations of a pod that name its volumes whose files are copied, and those whose files are not."""
_TOKEN = "default-token"
_AWS = frozenset({"aws", "velero.io/aws"})
_AWS_DRIVER = "ebs.csi.aws.com"
NO_LOCATION_KNOWS = "no snapshot location knows"
"""How the reason begins of a volume that every snapshot location is asked for in vain, with a warning."""
_WITHOUT_PLUGIN = {"hostPath": "hostPath", "nfs": "NFS", "local": "local"}


class OpenVolume(msgspec.Struct, frozen=True):
    """A volume of which it is not foretold if it is taken: why, and how it would be."""

    name: str
    why: str
    method: VolumeMethod | None = None


Fate = TakenVolume | LeftOutVolume | OpenVolume


class ForetoldVolumes(msgspec.Struct, frozen=True):
    """The volumes of one namespace in the next run of a template."""

    taken: tuple[TakenVolume, ...] = ()
    left_out: tuple[LeftOutVolume, ...] = ()
    open: tuple[OpenVolume, ...] = ()
    unknown: str = ""
    """What hides which volumes there are; "" where it is known."""
    failing: tuple[str, ...] = ()
    """Claims with which the run fails: they, or the pods that mount them, are not in its archive either."""

    @property
    def method(self) -> VolumeMethod:
        """The one that takes every volume, or else whether a part of them is taken."""
        if self.unknown or self.open:
            return VolumeMethod.NOT_KNOWN
        methods = {one.method for one in self.taken}
        if self.left_out or len(methods) != 1:
            return VolumeMethod.PART if methods else VolumeMethod.NONE
        return methods.pop()


class Deciders(msgspec.Struct, frozen=True, dict=True):
    """All that decides beside a template, of one Velero server.

    None is what was not read; `unread` has the reasons, by what it is.
    """

    namespace: str = "velero"
    release: Release | None = None
    flags: VolumeFlags | None = None
    config_maps: Mapping[str, ConfigMap | None] = msgspec.field(default_factory=dict)
    """By name; None where there is none of that name. One that was not read is not in it."""
    locations: tuple[VolumeSnapshotLocation, ...] | None = None
    storage_classes: Mapping[str, StorageClass] | None = None
    snapshot_classes: tuple[VolumeSnapshotClass, ...] | None = None
    agent_nodes: frozenset[str] | None = None
    """The nodes on which a node agent runs."""
    pods: Mapping[str, tuple[Pod, ...]] | None = None
    """By namespace, those that mount claims."""
    excluded_namespaces: tuple[str, ...] = ()
    """Those with the label by which every backup leaves them out."""
    unread: Mapping[str, str] = msgspec.field(default_factory=dict)

    def why_unread(self, what: str) -> str:
        return self.unread.get(what) or f"{what} were not read"

    @cached_property
    def is_foretold(self) -> bool | None:
        """True if it is known how this release takes volumes; None where the release is not known."""
        if self.release is None:
            return None
        line = (self.release.major, self.release.minor)
        if line != (_LAST_FORETOLD.major, _LAST_FORETOLD.minor):
            return (_FIRST_FORETOLD.major, _FIRST_FORETOLD.minor) <= line < (_LAST_FORETOLD.major, _LAST_FORETOLD.minor)
        return None if self.release.patch is None else self.release.patch <= (_LAST_FORETOLD.patch or 0)


class NamespaceVolumes(msgspec.Struct, frozen=True):
    """The claims of a namespace with their volumes, and its pods; None where those were not read."""

    claims: tuple[PersistentVolumeClaim, ...]
    volumes: Mapping[str, PersistentVolume] | None
    pods: tuple[Pod, ...] | None


class RunPlan(msgspec.Struct, frozen=True):
    """All that is known of a run before any object is looked at: whether it is refused, and what it takes."""

    spec: BackupSpec
    filters: RunFilters
    refused: str = ""
    """Why Velero refuses it, in its own words; "" where it does not."""
    nothing: str = ""
    """Why it takes nothing at all, and is Completed all the same; "" where it does not."""
    unknown: str = ""
    """What was not read, and may have it refused or leave things out."""
    of_run: ResourcePolicies = NO_POLICIES
    """Those of the template alone, without those of the server."""
    has_policies: bool = False
    lost_patterns: str = ""
    """Why its patterns take no namespace; "" where they do."""
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    locations: tuple[VolumeSnapshotLocation, ...] | None = None


def run_plan(
    spec: BackupSpec, deciders: Deciders, run: str = "", annotations: Mapping[str, str] | None = None
) -> RunPlan:
    """The plan of a run by the name of `run`, which Velero's words for some refusals have in them."""
    read = _policies(spec, deciders, run)
    refused = refused_because(spec) or _invalid_pattern(spec, deciders.release) or _names_excluded(spec, deciders)
    lost_patterns = _lost_patterns(spec, deciders.release)
    of_run = read if isinstance(read, ResourcePolicies) else NO_POLICIES
    unknown = read if isinstance(read, str) else ""
    if not refused and isinstance(read, PolicyRefusal):
        refused = read.why
    both = _server_policies(deciders)
    if isinstance(both, PolicyRefusal) and not refused:
        refused = both.why
    elif isinstance(both, str):
        unknown = unknown or both
    server = both if isinstance(both, ResourcePolicies) else NO_POLICIES
    policies = msgspec.structs.replace(of_run, volumes=(*of_run.volumes, *server.volumes))
    refused = refused or _lists_beside_policies(spec, of_run)
    locations, refused_location = _locations(spec, deciders)
    refused = refused or refused_location
    return RunPlan(
        spec,
        RunFilters(spec, _namespaces(spec, deciders), policies, _takes_all(spec, deciders)),
        refused,
        _reads_nothing(spec, deciders.release),
        unknown,
        of_run,
        bool(resource_policy(spec)) or isinstance(both, ResourcePolicies),
        lost_patterns,
        annotations or {},
        locations,
    )


def planned_coverage(plan: RunPlan, namespace: str) -> Coverage:
    """How much of a namespace the next run takes, with its policies."""
    spec = plan.spec
    if plan.refused:
        return Coverage(Extent.NONE, f"Velero refuses it: {plan.refused}")
    if plan.nothing:
        return Coverage(Extent.NONE, plan.nothing)
    if plan.unknown:
        found = content_coverage(spec)
        return found if found.extent is Extent.NONE else Coverage(Extent.UNKNOWN, plan.unknown)
    if not plan.filters.namespaces.takes(namespace):
        is_by_pattern = bool(plan.lost_patterns) and namespace_filter(spec).takes(namespace)
        return Coverage(Extent.NONE, plan.lost_patterns if is_by_pattern else "not among its namespaces")
    return policy_coverage(spec, plan.of_run, namespace)


def with_failures(coverage: Coverage, found: ForetoldVolumes) -> Coverage:
    """How much is taken, when an object is left out whose volume fails."""
    if not found.failing or coverage.extent not in (Extent.ALL, Extent.PART):
        return coverage
    lost = f"without claims and pods whose volumes fail ({humanize.join(found.failing)})"
    return Coverage(Extent.PART, f"{coverage.limits}, {lost}" if coverage.limits else lost)


def policy_coverage(spec: BackupSpec, policies: ResourcePolicies, namespace: str) -> Coverage:
    """How much of a namespace is taken by lists, selectors and policies that were read."""
    lists = RunFilters(spec, namespace_filter(spec), policies).combined_lists()
    without_policy = msgspec.structs.replace(
        spec,
        resource_policy={},
        **({} if lists is None else {"included_namespace_scoped_resources": lists[0]}),
        **({} if lists is None else {"excluded_namespace_scoped_resources": lists[1]}),
    )
    filters = policies.filters_of(namespace)
    if filters is None:
        return content_coverage(without_policy)
    own_lists = msgspec.structs.replace(without_policy, label_selector=None, or_label_selectors=())
    by_lists = content_coverage(own_lists)
    catch_all = next((one for one in filters if one.is_catch_all), None)
    if by_lists.extent is Extent.NONE or (catch_all is not None and all(one.is_whole for one in filters)):
        return by_lists
    if catch_all is not None:
        return Coverage(Extent.PART, "only objects that its namespacedFilterPolicies name")
    kinds = [kind for one in filters for kind in one.kinds]
    return Coverage(Extent.PART, f"only {', '.join(dict.fromkeys(kinds))}, by its namespacedFilterPolicies")


def foretold_volumes(plan: RunPlan, deciders: Deciders, objects: NamespaceVolumes) -> ForetoldVolumes:
    """The fate of each volume of a namespace that the template takes; a claim without a volume has no data."""
    claims = [claim for claim in objects.claims if claim.has_volume]
    if plan.refused:
        why = f"Velero refuses the run: {plan.refused}"
        return _sorted(LeftOutVolume(claim.name, why) for claim in claims)
    if plan.nothing:
        return _sorted(LeftOutVolume(claim.name, plan.nothing) for claim in claims)
    if why := plan.unknown or _why_not_foretold(deciders):
        return _sorted(OpenVolume(claim.name, why) for claim in claims)
    walk = _Walk(plan, deciders, objects)
    found = _sorted(walk.fate(claim) for claim in claims)
    walk.look_at_unbound()
    return msgspec.structs.replace(found, failing=tuple(sorted(walk.failing)))


def with_proof(
    found: ForetoldVolumes, namespace: str, moved: Mapping[tuple[str, str], DataMovement]
) -> ForetoldVolumes:
    """Volumes that are open as file copies or data movements are taken where the last run took them so."""
    taken, still_open = list(found.taken), []
    for one in found.open:
        movement = moved.get((namespace, one.name))
        is_proven = movement is not None and movement.phase == "Completed" and method_of(movement) is one.method
        if is_proven and one.method is not None:
            taken.append(TakenVolume(one.name, one.method))
        else:
            still_open.append(one)
    return msgspec.structs.replace(found, taken=tuple(sorted(taken, key=lambda one: one.name)), open=tuple(still_open))


class _Walk:
    """One look at the volumes of a namespace."""

    def __init__(self, plan: RunPlan, deciders: Deciders, objects: NamespaceVolumes) -> None:
        self._plan, self._deciders, self._objects = plan, deciders, objects
        self._filters, self._spec = plan.filters, plan.spec
        self._policies = plan.filters.policies
        self._pods_of: dict[str, list[Pod]] = {}
        for pod in objects.pods or ():
            for volume in pod.spec.volumes:
                if volume.persistent_volume_claim is not None:
                    self._pods_of.setdefault(volume.persistent_volume_claim.claim_name, []).append(pod)
        self.failing: set[str] = set()
        """Claims whose volumes were to be taken, and make their own backup or that of a pod fail."""
        self._claims = {claim.name: claim for claim in objects.claims}
        self._taken_claims, self._taken_pods = self._taken_objects()

    def fate(self, claim: PersistentVolumeClaim) -> Fate:
        """The fate of the data of one claim; what comes first decides."""
        name = claim.name
        if self._objects.pods is None and (self._may_be_copied or self._filters.takes_pods()):
            return OpenVolume(name, self._deciders.why_unread("pods"))
        if self._objects.volumes is None:
            return OpenVolume(name, self._deciders.why_unread(PERSISTENT_VOLUMES))
        volume = self._objects.volumes.get(claim.spec.volume_name)
        if volume is None:
            return OpenVolume(name, "its PersistentVolume was not found")
        copied = self._file_copy(claim, volume)
        if copied is not None and not isinstance(copied, LeftOutVolume):
            return copied
        by_claim = self._csi_snapshot(claim, volume)
        if by_claim is not None and not isinstance(by_claim, LeftOutVolume):
            return by_claim
        native = self._native_snapshot(claim, volume)
        if not isinstance(native, LeftOutVolume):
            return native
        choice = self._choice(claim, volume)
        if choice is None and copied is None:
            choice = self._exclusion(claim, volume, is_by_plugin=by_claim is None)
        return choice or copied or by_claim or native

    def look_at_unbound(self) -> None:
        """Claims without a volume have no data, and some of them fail all the same."""
        unbound = (claim for claim in self._objects.claims if not claim.has_volume)
        self.failing.update(claim.name for claim in unbound if self._fails_unbound(claim))

    def _fails_unbound(self, claim: PersistentVolumeClaim) -> bool:
        flags = self._deciders.flags
        if claim.name not in self._taken_claims:
            return False
        if flags is not None and flags.has_csi:
            return True
        if not self._plan.has_policies or not has_since(self._deciders.release, _WANTS_VOLUME_OF_POD):
            return self._plan.has_policies
        has_pod = any(pod.name in self._taken_pods for pod in self._pods_of.get(claim.name, ()))
        return has_pod and self._policies.action(None, claim) is None

    @property
    def _may_be_copied(self) -> bool:
        flags = self._deciders.flags
        policy = any(one.action is VolumeAction.FILE_COPY for one in self._policies.volumes)
        return policy or self._copies_by_default or flags is None or flags.copies_files

    @property
    def _copies_by_default(self) -> bool:
        flags = self._deciders.flags
        spec = self._spec
        if spec.default_volumes_to_restic:
            return True
        if spec.default_volumes_to_fs_backup is not None:
            return spec.default_volumes_to_fs_backup
        return flags is not None and flags.copies_files

    def _taken_objects(self) -> tuple[set[str], set[str]]:
        """The names of the claims and pods that come along: by themselves, or because others lead to them."""
        claims = {claim.name for claim in self._objects.claims if self._filters.lists(claim, CLAIMS)}
        pods = {pod.name for pod in self._objects.pods or () if self._filters.lists(pod, PODS)}
        by_name = {pod.name: pod for pod in self._objects.pods or ()}
        ahead: list[tuple[str, str]] = [*((CLAIMS, name) for name in claims), *((PODS, name) for name in pods)]
        while ahead:
            kind, name = ahead.pop()
            if kind == CLAIMS:
                if not self._claims[name].has_volume or self._claims[name].phase != "Bound":
                    continue
                for pod in self._pods_of.get(name, ()):
                    if pod.name not in pods and pod.phase == "Running" and self._filters.admits(pod, PODS):
                        pods.add(pod.name)
                        ahead.append((PODS, pod.name))
                continue
            for volume in by_name[name].spec.volumes:
                claim = volume.persistent_volume_claim
                found = self._claims.get(claim.claim_name) if claim is not None else None
                if found is not None and found.name not in claims and self._filters.admits(found, CLAIMS):
                    claims.add(found.name)
                    ahead.append((CLAIMS, found.name))
        return claims, pods

    def _choice(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> LeftOutVolume | None:
        """Why somebody wanted it left out, which says more than what was tried in vain."""
        if is_excluded(claim):
            return LeftOutVolume(claim.name, CLAIM_EXCLUDED, is_chosen=True)
        if claim.name not in self._taken_claims and not self._filters.lists_volume(volume):
            return LeftOutVolume(claim.name, "its claim is not among what the template takes")
        action = self._policies.action(volume, claim)
        if action is VolumeAction.SKIP:
            return LeftOutVolume(claim.name, "its resource policy says skip", is_chosen=True)
        if action is VolumeAction.CUSTOM:
            why = "its resource policy leaves it to another plugin (custom)"
            return LeftOutVolume(claim.name, why, is_chosen=True)
        return None

    def _exclusion(
        self, claim: PersistentVolumeClaim, volume: PersistentVolume, *, is_by_plugin: bool
    ) -> LeftOutVolume | None:
        """A label of its PersistentVolume or an annotation of its pods, where no other way could have taken it.

        What is not copied as files by that annotation may be meant to be taken by a snapshot, which is no choice then.
        """
        if is_by_plugin and is_excluded(volume):
            return LeftOutVolume(claim.name, f"its PersistentVolume has the label {EXCLUDE_LABEL}", is_chosen=True)
        has_snapshots = self._spec.snapshot_volumes is not False and volume.spec.source not in _WITHOUT_PLUGIN
        if has_snapshots or not self._copies_by_default or self._policies.action(volume, claim) is not None:
            return None
        mounted = [
            pod_volume.name in _listed(pod, NOT_COPIED)
            for pod in self._pods_of.get(claim.name, ())
            for pod_volume in _volumes_with(pod, claim.name)
        ]
        if not mounted or not all(mounted):
            return None
        pod = self._pods_of[claim.name][0]
        return LeftOutVolume(claim.name, f"its pod {pod.name} excludes it ({NOT_COPIED})", is_chosen=True)

    def _file_copy(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Fate | None:
        """None where no file copy is wanted."""
        if not self._filters.takes_claims():
            return None
        wanted = [
            (pod, pod_volume)
            for pod in self._pods_of.get(claim.name, ())
            if pod.name in self._taken_pods
            for pod_volume in _volumes_with(pod, claim.name)
            if self._wants_copy(pod, pod_volume, claim, volume)
        ]
        fates = [self._copied(pod, pod_volume, claim, volume) for pod, pod_volume in wanted]
        if not wanted and self._policies.action(volume, claim) is VolumeAction.FILE_COPY:
            return LeftOutVolume(
                claim.name, "its resource policy asks for a file copy, and no pod that is taken has it"
            )
        return min(fates, key=lambda fate: isinstance(fate, LeftOutVolume), default=None)

    def _wants_copy(
        self, pod: Pod, pod_volume: PodVolume, claim: PersistentVolumeClaim, volume: PersistentVolume
    ) -> bool:
        if pod_volume.name.startswith(_TOKEN):
            return False
        action = self._policies.action(volume, claim)
        return action is VolumeAction.FILE_COPY if action is not None else self._asks_for_copy(pod, pod_volume)

    def _asks_for_copy(self, pod: Pod, pod_volume: PodVolume) -> bool:
        """By its annotations, or by the default that these make exceptions from."""
        if self._copies_by_default:
            return pod_volume.name not in _listed(pod, NOT_COPIED)
        return pod_volume.name in _listed(pod, _COPIED)

    def _copied(self, pod: Pod, pod_volume: PodVolume, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Fate:
        name = claim.name
        if pod.phase != "Running" or not pod.spec.node_name:
            return LeftOutVolume(name, f"its pod {pod.name} does not run, and so its files are not copied")
        nodes = self._deciders.agent_nodes
        if nodes is None:
            return OpenVolume(name, self._deciders.why_unread("node agents"), VolumeMethod.FILE_SYSTEM)
        if pod.spec.node_name not in nodes:
            self.failing.add(name)
            return LeftOutVolume(name, f"no node agent runs on {pod.spec.node_name}, where its pod {pod.name} is")
        if volume.spec.host_path is not None:
            return LeftOutVolume(name, "files of hostPath volumes are not copied")
        containers = pod.spec.containers
        if any(one.name == pod_volume.name for container in containers for one in container.volume_devices):
            return LeftOutVolume(name, "files of block volumes are not copied")
        if not any(one.name == pod_volume.name for container in containers for one in container.volume_mounts):
            return LeftOutVolume(name, f"no container of its pod {pod.name} mounts it")
        return OpenVolume(
            name, f"its files are to be copied by the node agent on {pod.spec.node_name}", VolumeMethod.FILE_SYSTEM
        )

    def _wants_snapshot(
        self, policies: ResourcePolicies, volume: PersistentVolume, claim: PersistentVolumeClaim | None
    ) -> bool:
        action = policies.action(volume, claim)
        if action is not None:
            return action is VolumeAction.SNAPSHOT
        reference = volume.spec.claim_ref
        has_pods = self._filters.namespaces.takes(reference.namespace) or not has_since(
            self._deciders.release, _LOOKS_AT_ITS_PODS
        )
        is_copied = has_pods and any(
            self._asks_for_copy(pod, pod_volume)
            for pod in self._pods_of.get(reference.name, ())
            for pod_volume in _volumes_with(pod, reference.name)
        )
        return not is_copied and self._spec.snapshot_volumes is not False

    def _csi_snapshot(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Fate | None:
        """None where it is not for CSI to take it."""
        flags, name = self._deciders.flags, claim.name
        if flags is not None and flags.has_csi and name in self._taken_claims and _is_without_class(claim):
            # Velero looks at this before anything else, whatever takes the volume.
            self.failing.add(name)
        if volume.spec.csi is None or name not in self._taken_claims:
            return None
        if flags is None:
            return OpenVolume(name, self._deciders.why_unread(SERVER_FLAGS), VolumeMethod.SNAPSHOT)
        if not flags.has_csi:
            return None
        if self._policies.action(volume, claim) is VolumeAction.SKIP:
            return LeftOutVolume(name, "its resource policy says skip")
        if not self._wants_snapshot(self._policies, volume, claim):
            return LeftOutVolume(name, self._why_no_snapshot(self._policies, volume, claim))
        if self._plan.of_run.action(volume, claim) is not self._policies.action(volume, claim):
            return OpenVolume(name, "only the server's policies ask for its snapshot", VolumeMethod.SNAPSHOT)
        if _is_without_class(claim):
            return self._failed(name, "its claim has no storage class")
        moves = self._spec.snapshot_move_data
        if moves is None:
            moves = flags.moves_data
        if moves:
            return OpenVolume(
                name, "whether its snapshot is moved to the storage tells its DataUpload", VolumeMethod.DATA_MOVER
            )
        return self._with_class(claim, volume)

    def _with_class(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Fate:
        name, storage_class = claim.name, claim.spec.storage_class_name or ""
        classes = self._deciders.storage_classes
        if not storage_class:
            return self._failed(name, "its claim names an empty storage class")
        if classes is None:
            return OpenVolume(name, self._deciders.why_unread("StorageClasses"), VolumeMethod.SNAPSHOT)
        found = classes.get(storage_class)
        if found is None:
            return self._failed(name, f"its storage class {storage_class} is missing")
        snapshot_classes = self._deciders.snapshot_classes
        if snapshot_classes is None:
            return OpenVolume(name, self._deciders.why_unread("VolumeSnapshotClasses"), VolumeMethod.SNAPSHOT)
        driver = found.provisioner
        if snapshot_class(snapshot_classes, driver, claim, self._plan.annotations) is None:
            return self._failed(name, f"no VolumeSnapshotClass is chosen for {driver}")
        own_driver = volume.spec.csi_driver
        if own_driver != driver:
            return OpenVolume(
                name, f"its driver {own_driver} is not that of its storage class, {driver}", VolumeMethod.SNAPSHOT
            )
        if not self._filters.admits_volume(volume):
            # Its VolumeSnapshot is in the archive; that a restore makes do with it was not seen.
            return OpenVolume(
                name,
                "its CSI snapshot is made without its PersistentVolume, and no volume info tells of it",
                VolumeMethod.SNAPSHOT,
            )
        return TakenVolume(name, VolumeMethod.SNAPSHOT)

    def _failed(self, name: str, why: str) -> LeftOutVolume:
        self.failing.add(name)
        return LeftOutVolume(name, f"{why}, and its CSI snapshot fails")

    def _native_snapshot(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> Fate:
        """A snapshot by a plugin of Velero, made of the PersistentVolume."""
        name, flags = claim.name, self._deciders.flags
        leads = claim.name in self._taken_claims and claim.phase == "Bound" and self._filters.admits_volume(volume)
        if not leads and not self._filters.lists_volume(volume):
            return LeftOutVolume(name, "its PersistentVolume is not in the backup")
        if not self._wants_snapshot(self._policies, volume, None):
            return LeftOutVolume(name, self._why_no_snapshot(self._policies, volume, None))
        if self._policies.action(volume, claim) is VolumeAction.SKIP:
            return LeftOutVolume(name, "its resource policy says skip")
        if volume.spec.csi is not None and flags is None:
            return OpenVolume(name, self._deciders.why_unread(SERVER_FLAGS), VolumeMethod.SNAPSHOT)
        if volume.spec.csi is not None and flags is not None and flags.has_csi:
            return LeftOutVolume(name, "its claim is not taken, and CSI snapshots are made of claims")
        return self._by_plugin(name, volume)

    def _by_plugin(self, name: str, volume: PersistentVolume) -> Fate:
        source = volume.spec.source
        if source in _WITHOUT_PLUGIN:
            return LeftOutVolume(name, f"{NO_LOCATION_KNOWS} {_WITHOUT_PLUGIN[source]} volumes")
        locations = self._plan.locations
        if locations is None:
            return OpenVolume(name, self._deciders.why_unread("VolumeSnapshotLocations"), VolumeMethod.SNAPSHOT)
        if not locations:
            return LeftOutVolume(name, "Velero has no snapshot location")
        providers = {location.spec.provider for location in locations}
        driver = volume.spec.csi_driver
        if not providers.isdisjoint(_AWS) and (source == "awsElasticBlockStore" or driver == _AWS_DRIVER):
            return TakenVolume(name, VolumeMethod.SNAPSHOT)
        if others := sorted(providers - _AWS):
            return OpenVolume(name, f"the plugin {others[0]} tells whether it knows it", VolumeMethod.SNAPSHOT)
        kind = f"volumes of {driver}" if driver else f"{source} volumes" if source else "such volumes"
        return LeftOutVolume(name, f"{NO_LOCATION_KNOWS} {kind}")

    def _why_no_snapshot(
        self, policies: ResourcePolicies, volume: PersistentVolume, claim: PersistentVolumeClaim | None
    ) -> str:
        action = policies.action(volume, claim)
        if action is not None:
            return f"its resource policy says {action.value}"
        if self._spec.snapshot_volumes is False:
            return "the template takes no snapshots"
        return "its files were to be copied instead of a snapshot"


def _is_without_class(claim: PersistentVolumeClaim) -> bool:
    """True if it has no field for its class; one that is empty is another case."""
    return claim.spec.storage_class_name is None


def snapshot_class(
    classes: Sequence[VolumeSnapshotClass],
    driver: str,
    claim: PersistentVolumeClaim,
    annotations: Mapping[str, str],
) -> VolumeSnapshotClass | None:
    """The class that Velero chooses for a claim; of label and annotation the presence counts, not the value."""
    for named in (claim.annotation(SNAPSHOT_CLASS_OF_CLAIM), annotations.get(f"{_CLASS_OF_RUN}{driver.lower()}", "")):
        found = next((one for one in classes if named and one.name.lower() == named.lower()), None)
        if found is not None and found.driver.lower() == driver.lower():
            return found
    mine = [one for one in classes if one.driver == driver]
    labelled = next((one for one in mine if _CLASS_LABEL in one.metadata.labels), None)
    default = next((one for one in mine if _DEFAULT_CLASS in one.metadata.annotations), None)
    return labelled or default or (mine[0] if len(mine) == 1 else None)


def _sorted(fates: Iterable[Fate]) -> ForetoldVolumes:
    found = sorted(fates, key=lambda fate: fate.name)
    return ForetoldVolumes(
        tuple(fate for fate in found if isinstance(fate, TakenVolume)),
        tuple(fate for fate in found if isinstance(fate, LeftOutVolume)),
        tuple(fate for fate in found if isinstance(fate, OpenVolume)),
    )


def _why_not_foretold(deciders: Deciders) -> str:
    if deciders.is_foretold is None:
        right = deciders.unread.get(RELEASE)
        return f"{RELEASE} is not known{f': {right}' if right else ''}"
    release = deciders.release
    return "" if deciders.is_foretold else f"how Velero {release} takes volumes is not known"


def _policies(spec: BackupSpec, deciders: Deciders, run: str) -> ResourcePolicies | PolicyRefusal | str:
    """The policies of the template; a text says why they are not known."""
    name = resource_policy(spec)
    if not name:
        return NO_POLICIES
    if name not in deciders.config_maps:
        return deciders.unread.get("ConfigMaps") or f"its resource policy {name} was not read"
    held = deciders.config_maps[name]
    where = f"{deciders.namespace}/{name}"
    if held is None:
        why = f'fail to get ResourcePolicies {where} ConfigMap{_because(deciders)}ConfigMap "{name}" not found'
        return PolicyRefusal("get", f"invalid resource policies: {why}")
    read = read_policies(held, deciders.release)
    if isinstance(read, PolicyNotRead):
        return read.why
    if isinstance(read, PolicyRefusal):
        steps = {"read": "read the ResourcePolicies from", "validate": "validate ResourcePolicies in"}
        of_run = f"ConfigMap {deciders.namespace}/{run or name}"
        return PolicyRefusal(
            read.step, f"invalid resource policies: fail to {steps[read.step]} {of_run}{_because(deciders)}{read.why}"
        )
    return read


class KnownPolicy(msgspec.Struct, frozen=True):
    """A resource policy as its release reads it, and when it was written last."""

    name: str
    policies: ResourcePolicies
    written: datetime

    def coverage(self, spec: BackupSpec) -> Coverage:
        """The coverage of any namespace: not known where the policy tells one from another."""
        found = policy_coverage(spec, msgspec.structs.replace(self.policies, by_namespace=()), "")
        if found.extent is Extent.NONE or not self.policies.by_namespace:
            return found
        return Coverage(Extent.UNKNOWN, f"its resource policy {self.name} takes other kinds of each namespace")


def known_policies(deciders: Deciders, release: Release | None) -> Iterator[KnownPolicy]:
    """The policies that this release reads and accepts."""
    for name, held in deciders.config_maps.items():
        if held is None or (written := held.changed) is None:
            continue
        read = read_policies(held, release)
        if isinstance(read, ResourcePolicies):
            yield KnownPolicy(name, read, written)


def _because(deciders: Deciders) -> str:
    release = deciders.release
    is_old = release is not None and (release.major, release.minor, release.patch or 0) < (1, 18, 3)
    return " with error " if is_old else ": "


def _server_policies(deciders: Deciders) -> ResourcePolicies | PolicyRefusal | str | None:
    """The policies that the server adds to all of its runs; None for none, a text where they are not known."""
    if deciders.flags is None:
        return None
    name = deciders.flags.volume_policies
    if not name:
        return None
    where = f"{deciders.namespace}/{name}"
    if name not in deciders.config_maps:
        return deciders.unread.get("ConfigMaps") or f"the server's volume policies {name} were not read"
    held = deciders.config_maps[name]
    what = "global backup volume policies"
    if held is None:
        why = f'fail to get {what} ConfigMap {where}: ConfigMap "{name}" not found'
        return PolicyRefusal("get", f"invalid resource policies: {why}")
    read = read_policies(held, deciders.release)
    if isinstance(read, PolicyNotRead):
        return read.why
    if isinstance(read, PolicyRefusal):
        steps = {"read": f"read {what} from", "validate": f"validate {what} in"}
        return PolicyRefusal(
            read.step, f"invalid resource policies: fail to {steps[read.step]} ConfigMap {where}: {read.why}"
        )
    return ResourcePolicies(read.volumes)


def _lists_beside_policies(spec: BackupSpec, policies: ResourcePolicies) -> str:
    if not (spec.included_resources or spec.excluded_resources or spec.include_cluster_resources is not None):
        return ""
    old = "include-resources, exclude-resources and include-cluster-resources are old filter parameters.\n"
    if policies.lists is not None:
        return f"{old}They cannot be used with include-exclude policies."
    if policies.by_namespace or policies.cluster_scoped is not None:
        return f"{old}They cannot be used with namespace-scoped or fine-grained global filter policies."
    return ""


def _names_excluded(spec: BackupSpec, deciders: Deciders) -> str:
    both = [name for name in deciders.excluded_namespaces if name in spec.included_namespaces]
    return f"excludes list cannot contain an item in the includes list: {both[0]}" if both else ""


def _invalid_pattern(spec: BackupSpec, release: Release | None) -> str:
    """A namespace with a sign that releases without patterns do not take."""
    if has_since(release, _WITH_PATTERNS) is not False:
        return ""
    names = (*spec.included_namespaces, *spec.excluded_namespaces)
    wrong = next((name for name in names if any(sign in name for sign in "?[]{}")), "")
    return f"{wrong} is not a valid namespace" if wrong else ""


def _lost_patterns(spec: BackupSpec, release: Release | None) -> str:
    lost = [name for name in spec.included_namespaces if "*" in name and name != "*"]
    if not lost or has_since(release, _WITH_PATTERNS) is not False:
        return ""
    return f"Velero {release} takes no patterns in includedNamespaces: it looks for a namespace {lost[0]}"


def _reads_nothing(spec: BackupSpec, release: Release | None) -> str:
    is_first = release is not None and (release.major, release.minor, release.patch) == (1, 18, 0)
    has_patterns = any(sign in name for name in spec.excluded_namespaces for sign in "*?[")
    if not is_first or spec.included_namespaces or not has_patterns:
        return ""
    return "Velero 1.18.0 takes nothing where excludedNamespaces has a pattern and includedNamespaces is empty"


def _namespaces(spec: BackupSpec, deciders: Deciders) -> NamespaceFilter:
    included = spec.included_namespaces
    if _lost_patterns(spec, deciders.release):
        included = tuple(name for name in included if "*" not in name) or (_NO_NAMESPACE,)
    return NamespaceFilter(included, (*spec.excluded_namespaces, *deciders.excluded_namespaces))


def _takes_all(spec: BackupSpec, deciders: Deciders) -> bool:
    if spec.excluded_namespaces or deciders.excluded_namespaces:
        return False
    return spec.included_namespaces in ((), ("*",))


def _locations(spec: BackupSpec, deciders: Deciders) -> tuple[tuple[VolumeSnapshotLocation, ...] | None, str]:
    """The snapshot locations of a run, one for each provider, and why Velero refuses it because of them."""
    known = deciders.locations
    if known is None:
        return None, ""
    by_name = {location.name: location for location in known}
    chosen: dict[str, VolumeSnapshotLocation] = {}
    for name in spec.volume_snapshot_locations:
        location = by_name.get(name)
        if location is None:
            return None, (
                f"a VolumeSnapshotLocation CRD for the location {name} with the name specified in the backup spec "
                "needs to be created before this snapshot can be executed"
            )
        held = chosen.setdefault(location.spec.provider, location)
        if held.name != name:
            return None, (
                f"more than one VolumeSnapshotLocation name specified for provider {location.spec.provider}: {name}; "
                f"unexpected name was {held.name}"
            )
    by_provider: dict[str, list[VolumeSnapshotLocation]] = {}
    for location in known:
        by_provider.setdefault(location.spec.provider, []).append(location)
    for provider, locations in by_provider.items():
        if provider in chosen:
            continue
        if len(locations) == 1:
            chosen[provider] = locations[0]
            continue
        if deciders.flags is None:
            return None, ""
        default = deciders.flags.snapshot_locations.get(provider, "")
        if not default:
            return None, (
                f"provider {provider} has more than one possible volume snapshot location, and none were specified "
                "explicitly or as a default"
            )
        found = by_name.get(default)
        if found is None:
            return None, f"error getting volume snapshot location named {default}"
        chosen[provider] = found
    return tuple(chosen.values()), ""


def _volumes_with(pod: Pod, claim: str) -> list[PodVolume]:
    return [
        volume
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == claim
    ]


def _listed(pod: Pod, annotation: str) -> list[str]:
    text = pod.annotation(annotation)
    return text.split(",") if text else []
