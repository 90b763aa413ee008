"""The kinds around backups: cron jobs, events, and the objects that show Velero's flags and release."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec.structs import force_setattr

from foretop_core.models.wire import NO_TEXTS, NONE, Condition, Count, FieldManager, Metadata, Resource, Time, Wire

MOST_WARM_UP_MINUTES = 7 * 24 * 60
"""Nobody keeps nodes warm for longer than a week before a run."""
SNAPSHOT_CLASS_OF_CLAIM = "velero.io/csi-volumesnapshot-class"
"""The annotation of a claim that names the class of its snapshots."""


class CronJobSpec(Wire, frozen=True):
    schedule: str = ""
    time_zone: str = ""
    suspend: bool = False

    @property
    def expression(self) -> str:
        """The schedule with the zone that stands beside it; one within the schedule wins."""
        own = self.schedule.startswith(("TZ=", "CRON_TZ="))
        return f"CRON_TZ={self.time_zone} {self.schedule}" if self.time_zone and not own else self.schedule


class CronJobStatus(Wire, frozen=True):
    last_schedule_time: Time | None = None


class CronJob(Resource, frozen=True):
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


class PrimedSpec(CronJobSpec, frozen=True):
    """The whole job spec of a PreScaledCronJob, so that it can be written back unchanged."""

    job_template: Mapping[str, Any] = NONE


class CronJobTemplate(Wire, frozen=True):
    spec: PrimedSpec = PrimedSpec()


WarmUpMinutes = Annotated[int, msgspec.Meta(ge=0, le=MOST_WARM_UP_MINUTES)]


class PreScaledCronJobSpec(Wire, frozen=True):
    warm_up_time_mins: WarmUpMinutes = 0
    primer_schedule: str = ""
    cron_job: CronJobTemplate = CronJobTemplate()


class PreScaledCronJob(Resource, frozen=True):
    spec: PreScaledCronJobSpec = PreScaledCronJobSpec()


class ObjectReference(Wire, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Event(Resource, frozen=True):
    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: Count = 1
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    event_time: Time | None = None

    @property
    def seen(self) -> datetime | None:
        return self.last_timestamp or self.event_time or self.first_timestamp or self.created


class NamedVolume(Wire, frozen=True):
    """A volume of a pod as one of its containers names it."""

    name: str = ""


class Container(Wire, frozen=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    volume_mounts: tuple[NamedVolume, ...] = ()
    volume_devices: tuple[NamedVolume, ...] = ()


class ClaimOfPod(Wire, frozen=True):
    claim_name: str = ""


class PodVolume(Wire, frozen=True):
    """A volume of a pod; of other sources than claims only the name is read."""

    name: str = ""
    persistent_volume_claim: ClaimOfPod | None = None


class PodSpec(Wire, frozen=True):
    node_name: str = ""
    containers: tuple[Container, ...] = ()
    volumes: tuple[PodVolume, ...] = ()


class PodTemplate(Wire, frozen=True):
    spec: PodSpec = PodSpec()


class DeploymentSpec(Wire, frozen=True):
    replicas: Count = 1
    template: PodTemplate = PodTemplate()


class DeploymentCondition(Condition, frozen=True):
    last_update_time: Time | None = None


class DeploymentStatus(Wire, frozen=True):
    replicas: Count = 0
    ready_replicas: Count = 0
    conditions: tuple[DeploymentCondition, ...] = ()


class Deployment(Resource, frozen=True):
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class DaemonSetSpec(Wire, frozen=True):
    template: PodTemplate = PodTemplate()


class DaemonSet(Resource, frozen=True):
    spec: DaemonSetSpec = DaemonSetSpec()


class DatedFieldManager(FieldManager, frozen=True):
    time: Time | None = None


class ConfigMapMetadata(Metadata, frozen=True):
    managed_fields: tuple[DatedFieldManager, ...] = ()


class ConfigMap(Resource, frozen=True):
    metadata: ConfigMapMetadata = ConfigMapMetadata()
    data: Mapping[str, str] = NONE

    @property
    def changed(self) -> datetime | None:
        """When it was last written, as far as the API server records that; None where it tells nothing."""
        times = [self.created, *(writer.time for writer in self.metadata.managed_fields)]
        return max((at for at in times if at is not None), default=None)


class ContainerWaiting(Wire, frozen=True):
    reason: str = ""
    message: str = ""


class ContainerRunning(Wire, frozen=True):
    started_at: Time | None = None


class ContainerTerminated(Wire, frozen=True):
    reason: str = ""
    message: str = ""
    exit_code: int = 0
    finished_at: Time | None = None


class ContainerState(Wire, frozen=True):
    waiting: ContainerWaiting | None = None
    running: ContainerRunning | None = None
    terminated: ContainerTerminated | None = None


class ContainerStatus(Wire, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: Count = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodStatus(Wire, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(Resource, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class VolumeMetadata(Metadata, frozen=True):
    """The metadata of claims and volumes without what nothing looks at: there are thousands of them."""

    def __post_init__(self) -> None:
        named = self.annotations.get(SNAPSHOT_CLASS_OF_CLAIM)
        force_setattr(self, "annotations", NO_TEXTS if named is None else {SNAPSHOT_CLASS_OF_CLAIM: named})
        for name in ("finalizers", "owner_references", "managed_fields"):
            force_setattr(self, name, ())


class ClaimSpec(Wire, frozen=True):
    volume_name: str = ""
    storage_class_name: str | None = None
    """None where it has none, which is not the same as "" for Velero."""
    volume_mode: str = "Filesystem"
    access_modes: tuple[str, ...] = ()


class ClaimStatus(Wire, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Resource, frozen=True):
    metadata: VolumeMetadata = VolumeMetadata()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def has_volume(self) -> bool:
        """True if there is a volume whose data could be copied; before its first pod there often is none."""
        return bool(self.spec.volume_name) and self.phase != "Pending"


class CsiSource(Wire, frozen=True):
    """The source of a volume of a CSI driver, as far as policies read it."""

    driver: str = ""
    volume_attributes: Mapping[str, Any] = NONE


class VolumeSpec(Wire, frozen=True):
    """The source of a volume is the one of the fields from `host_path` on that it has."""

    claim_ref: ObjectReference = ObjectReference()
    capacity: Mapping[str, str] = NONE
    storage_class_name: str = ""
    host_path: Mapping[str, Any] | None = None
    nfs: Mapping[str, Any] | None = None
    local: Mapping[str, Any] | None = None
    csi: CsiSource | None = None
    aws_elastic_block_store: Mapping[str, Any] | None = None
    azure_disk: Mapping[str, Any] | None = None
    azure_file: Mapping[str, Any] | None = None
    cephfs: Mapping[str, Any] | None = None
    cinder: Mapping[str, Any] | None = None
    fc: Mapping[str, Any] | None = None
    flex_volume: Mapping[str, Any] | None = None
    flocker: Mapping[str, Any] | None = None
    gce_persistent_disk: Mapping[str, Any] | None = None
    glusterfs: Mapping[str, Any] | None = None
    iscsi: Mapping[str, Any] | None = None
    photon_persistent_disk: Mapping[str, Any] | None = None
    portworx_volume: Mapping[str, Any] | None = None
    quobyte: Mapping[str, Any] | None = None
    rbd: Mapping[str, Any] | None = None
    scale_io: Mapping[str, Any] | None = msgspec.field(default=None, name="scaleIO")
    storageos: Mapping[str, Any] | None = None
    vsphere_volume: Mapping[str, Any] | None = None

    @property
    def source(self) -> str:
        """The sort of its source, as policies call it; "" for one that they do not know."""
        return next((name for field, name in _SOURCES.items() if getattr(self, field) is not None), "")

    @property
    def csi_driver(self) -> str:
        return self.csi.driver if self.csi is not None else ""


_SOURCES = {
    "aws_elastic_block_store": "awsElasticBlockStore",
    "azure_disk": "azureDisk",
    "azure_file": "azureFile",
    "cephfs": "cephfs",
    "cinder": "cinder",
    "csi": "csi",
    "fc": "fc",
    "flocker": "flocker",
    "flex_volume": "flexVolume",
    "gce_persistent_disk": "gcePersistentDisk",
    "glusterfs": "glusterfs",
    "host_path": "hostPath",
    "iscsi": "iscsi",
    "local": "local",
    "nfs": "nfs",
    "photon_persistent_disk": "photonPersistentDisk",
    "portworx_volume": "portworxVolume",
    "quobyte": "quobyte",
    "rbd": "rbd",
    "scale_io": "scaleIO",
    "storageos": "storageOS",
    "vsphere_volume": "vsphereVolume",
}
"""In the order in which Velero looks for them."""


class PersistentVolume(Resource, frozen=True):
    metadata: VolumeMetadata = VolumeMetadata()
    spec: VolumeSpec = VolumeSpec()


class StorageClass(Resource, frozen=True):
    provisioner: str = ""


class VolumeSnapshotClass(Resource, frozen=True):
    driver: str = ""


class NamespaceStatus(Wire, frozen=True):
    phase: str = ""


class Namespace(Resource, frozen=True):
    status: NamespaceStatus = NamespaceStatus()

    @property
    def phase(self) -> str:
        return self.status.phase


class StatusSchema(Wire, frozen=True):
    properties: Mapping[str, Any] = NONE


class ObjectProperties(Wire, frozen=True):
    status: StatusSchema = StatusSchema()


class ObjectSchema(Wire, frozen=True):
    properties: ObjectProperties = ObjectProperties()


class Validation(Wire, frozen=True):
    schema: ObjectSchema = msgspec.field(default=ObjectSchema(), name="openAPIV3Schema")


class DefinitionVersion(Wire, frozen=True):
    validation: Validation = msgspec.field(default=Validation(), name="schema")


class DefinitionSpec(Wire, frozen=True):
    versions: tuple[DefinitionVersion, ...] = ()


class CustomResourceDefinition(Resource, frozen=True):
    """The part of a CRD that lists the status fields of its kind."""

    spec: DefinitionSpec = DefinitionSpec()

    @property
    def status_fields(self) -> frozenset[str]:
        return frozenset(
            field for version in self.spec.versions for field in version.validation.schema.properties.status.properties
        )
