"""The volumes that the next run of a template takes, and how: foretold of each, or said to be open and why.

Only what a real server was seen to do is foretold. Each step that would need something that was not read ends with the
name of it, and so does each that no server was watched in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from foretop_core.models import DataMovement, PersistentVolume, PersistentVolumeClaim, Pod
from foretop_core.models.builtin_kinds import SNAPSHOT_CLASS_OF_CLAIM, PodVolume, VolumeSnapshotClass
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.protection.coverage import Coverage, Extent, VolumeMethod
from foretop_core.rules.volumes.evidence import (
    CLAIM_EXCLUDED,
    PERSISTENT_VOLUMES,
    RELEASE,
    SERVER_FLAGS,
    LeftOutVolume,
    TakenVolume,
    is_excluded,
    method_of,
)
from foretop_core.rules.volumes.policies import ResourcePolicies, VolumeAction, has_since
from foretop_core.rules.volumes.run_filters import CLAIMS, PODS
from foretop_core.rules.volumes.run_plan import COPIED, NOT_COPIED, Deciders, RunPlan

_LOOKS_AT_ITS_PODS = Release(1, 18, 0)
"""Earlier releases look at the pods of namespaces too that a run leaves out."""
_WANTS_VOLUME_OF_POD = Release(1, 18, 0)
"""In earlier releases a policy makes each claim fail that has no volume."""
_WANTS_READY_AGENT = Release(1, 18, 3)
"""Earlier releases begin a movement that no node agent takes up."""
_BUILT_IN_MOVERS = frozenset({"", "velero"})
_CLASS_OF_RUN = "velero.io/csi-volumesnapshot-class_"
_CLASS_LABEL = "velero.io/csi-volumesnapshot-class"
_DEFAULT_CLASS = "snapshot.storage.kubernetes.io/is-default-class"
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


class NamespaceVolumes(msgspec.Struct, frozen=True):
    """The claims of a namespace with their volumes, and its pods; None where those were not read."""

    claims: tuple[PersistentVolumeClaim, ...]
    volumes: Mapping[str, PersistentVolume] | None
    pods: tuple[Pod, ...] | None


def with_failures(coverage: Coverage, found: ForetoldVolumes) -> Coverage:
    """How much is taken, when an object is left out whose volume fails."""
    if not found.failing or coverage.extent not in (Extent.ALL, Extent.PART):
        return coverage
    lost = f"without claims and pods whose volumes fail ({humanize.join(found.failing)})"
    return Coverage(Extent.PART, f"{coverage.limits}, {lost}" if coverage.limits else lost)


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
        return pod_volume.name in _listed(pod, COPIED)

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
        moves = flags.moves_data if self._spec.snapshot_move_data is None else self._spec.snapshot_move_data
        if moves and self._wants_ready_agent() and not self._deciders.has_ready_agent:
            return self._failed(name, "no node agent is ready to move its data")
        fate = self._with_class(claim, volume)
        if not moves or isinstance(fate, LeftOutVolume):
            return fate
        return OpenVolume(
            name, "whether its snapshot is moved to the storage tells its DataUpload", VolumeMethod.DATA_MOVER
        )

    def _wants_ready_agent(self) -> bool:
        is_built_in = self._spec.datamover in _BUILT_IN_MOVERS
        return is_built_in and bool(has_since(self._deciders.release, _WANTS_READY_AGENT))

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


def _volumes_with(pod: Pod, claim: str) -> list[PodVolume]:
    return [
        volume
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None and volume.persistent_volume_claim.claim_name == claim
    ]


def _listed(pod: Pod, annotation: str) -> list[str]:
    text = pod.annotation(annotation)
    return text.split(",") if text else []
