"""The kinds that foretop reads, as the API names them."""

from __future__ import annotations

import msgspec

from foretop_core.models import builtin_kinds, movement, nonadmin, velero
from foretop_core.models.wire import ObjectRef, Resource

VELERO = "velero.io"
OADP = "oadp.openshift.io"
VELERO_DEPLOYMENT = "velero"
"""The name of the Deployment of a Velero server."""
NODE_AGENT = "node-agent"
"""The name of the DaemonSet of the node agents."""
NODE_AGENT_CONFIG = "node-agent-config"
"""The ConfigMap of the node agents before 1.15, and the usual one since."""
ACKNOWLEDGEMENTS = "foretop-acknowledgements"
"""The ConfigMap beside a Velero with the findings that are known."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of object: its API path, and its model."""

    name: str
    model: type[Resource]
    group: str
    version: str
    plural: str
    short: tuple[str, ...] = ()
    status_subresource: bool = False
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


class RequiredPermission(msgspec.Struct, frozen=True):
    """A verb on a kind that foretop needs."""

    verb: str
    kind: Kind
    subresource: str = ""
    names: tuple[str, ...] = ()
    """The only objects that it is needed for; none means all of them."""

    @property
    def resource(self) -> str:
        """As a role names it: `pods/log`."""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{f'.{self.kind.group}' if self.kind.group else ''}"


SCHEDULE = Kind("Schedule", velero.Schedule, VELERO, "v1", "schedules")
BACKUP = Kind("Backup", velero.Backup, VELERO, "v1", "backups")
RESTORE = Kind("Restore", velero.Restore, VELERO, "v1", "restores")
DELETE_REQUEST = Kind("DeleteBackupRequest", velero.DeleteBackupRequest, VELERO, "v1", "deletebackuprequests")
STORAGE = Kind("BackupStorageLocation", velero.BackupStorageLocation, VELERO, "v1", "backupstoragelocations", ("bsl",))
POD_VOLUME_BACKUP = Kind("PodVolumeBackup", movement.PodVolumeBackup, VELERO, "v1", "podvolumebackups")
POD_VOLUME_RESTORE = Kind("PodVolumeRestore", movement.PodVolumeRestore, VELERO, "v1", "podvolumerestores")
DATA_UPLOAD = Kind("DataUpload", movement.DataUpload, VELERO, "v2alpha1", "datauploads")
DATA_DOWNLOAD = Kind("DataDownload", movement.DataDownload, VELERO, "v2alpha1", "datadownloads")
NAB = Kind("NonAdminBackup", nonadmin.NonAdminBackup, OADP, "v1alpha1", "nonadminbackups", ("nab",), True)
NAR = Kind("NonAdminRestore", nonadmin.NonAdminRestore, OADP, "v1alpha1", "nonadminrestores", ("nar",), True)
NABSL = Kind(
    "NonAdminBackupStorageLocation",
    nonadmin.NonAdminBackupStorageLocation,
    OADP,
    "v1alpha1",
    "nonadminbackupstoragelocations",
    ("nabsl",),
    True,
)
NABSL_REQUEST = Kind(
    "NonAdminBackupStorageLocationRequest",
    nonadmin.NonAdminBackupStorageLocationRequest,
    OADP,
    "v1alpha1",
    "nonadminbackupstoragelocationrequests",
    (),
    True,
)
DPA = Kind(
    "DataProtectionApplication",
    nonadmin.DataProtectionApplication,
    OADP,
    "v1alpha1",
    "dataprotectionapplications",
    ("dpa",),
    True,
)
REPOSITORY = Kind("BackupRepository", velero.BackupRepository, VELERO, "v1", "backuprepositories")
PRESCALED = Kind(
    "PreScaledCronJob", builtin_kinds.PreScaledCronJob, "psc.cronprimer.local", "v1alpha1", "prescaledcronjobs"
)
CRON_JOB = Kind("CronJob", builtin_kinds.CronJob, "batch", "v1", "cronjobs", ("cj",), True)
EVENT = Kind("Event", builtin_kinds.Event, "", "v1", "events", ("ev",))
POD = Kind("Pod", builtin_kinds.Pod, "", "v1", "pods", ("po",), True)
DEPLOYMENT = Kind("Deployment", builtin_kinds.Deployment, "apps", "v1", "deployments", ("deploy",), True)
DAEMON_SET = Kind("DaemonSet", builtin_kinds.DaemonSet, "apps", "v1", "daemonsets", ("ds",), True)
SERVER_STATUS = Kind("ServerStatusRequest", velero.ServerStatusRequest, VELERO, "v1", "serverstatusrequests", ("ssr",))
DEFINITION = Kind(
    "CustomResourceDefinition",
    builtin_kinds.CustomResourceDefinition,
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    ("crd",),
    True,
    namespaced=False,
)
DOWNLOAD_REQUEST = Kind("DownloadRequest", velero.DownloadRequest, VELERO, "v1", "downloadrequests")
NONADMIN_DOWNLOAD = Kind(
    "NonAdminDownloadRequest",
    velero.NonAdminDownloadRequest,
    OADP,
    "v1alpha1",
    "nonadmindownloadrequests",
    ("nadr",),
    status_subresource=True,
)

NAMESPACE = Kind("Namespace", builtin_kinds.Namespace, "", "v1", "namespaces", ("ns",), True, namespaced=False)

CLAIM = Kind(
    "PersistentVolumeClaim", builtin_kinds.PersistentVolumeClaim, "", "v1", "persistentvolumeclaims", ("pvc",), True
)
VOLUME = Kind(
    "PersistentVolume",
    builtin_kinds.PersistentVolume,
    "",
    "v1",
    "persistentvolumes",
    ("pv",),
    True,
    namespaced=False,
)
CONFIG_MAP = Kind("ConfigMap", builtin_kinds.ConfigMap, "", "v1", "configmaps", ("cm",))
SNAPSHOT_LOCATION = Kind(
    "VolumeSnapshotLocation", velero.VolumeSnapshotLocation, VELERO, "v1", "volumesnapshotlocations", ("vsl",)
)
STORAGE_CLASS = Kind(
    "StorageClass", builtin_kinds.StorageClass, "storage.k8s.io", "v1", "storageclasses", ("sc",), namespaced=False
)
SNAPSHOT_CLASS = Kind(
    "VolumeSnapshotClass",
    builtin_kinds.VolumeSnapshotClass,
    "snapshot.storage.k8s.io",
    "v1",
    "volumesnapshotclasses",
    namespaced=False,
)
RESOURCE_QUOTA = Kind("ResourceQuota", Resource, "", "v1", "resourcequotas", ("quota",))

MOVEMENTS = (POD_VOLUME_BACKUP, POD_VOLUME_RESTORE, DATA_UPLOAD, DATA_DOWNLOAD)
MOVEMENTS_OF = {
    BACKUP.name: (velero.BACKUP_LABEL, (POD_VOLUME_BACKUP, DATA_UPLOAD)),
    RESTORE.name: (velero.RESTORE_LABEL, (POD_VOLUME_RESTORE, DATA_DOWNLOAD)),
}
"""By the kind of a run, the label with its name on its data movements, and their kinds."""
KINDS = (
    SCHEDULE,
    BACKUP,
    RESTORE,
    DELETE_REQUEST,
    STORAGE,
    *MOVEMENTS,
    NAB,
    NAR,
    NABSL,
    NABSL_REQUEST,
    DPA,
    REPOSITORY,
    PRESCALED,
    CRON_JOB,
    EVENT,
    DEPLOYMENT,
    SERVER_STATUS,
    DEFINITION,
    POD,
    NAMESPACE,
    CONFIG_MAP,
    CLAIM,
    VOLUME,
)
"""The kinds that are watched; download requests are only created and polled."""
ON_DEMAND = (*MOVEMENTS, POD, CLAIM, VOLUME)
"""Watched as a whole only while a page shows them; those beside Velero only in the namespaces of its servers."""
RELEASE_HINTS = frozenset({SERVER_STATUS, DEFINITION})
"""Read only to detect the release of a Velero server; a missing permission for them does no harm."""
HAVE_RESULTS = frozenset(kind.name for kind in (BACKUP, RESTORE, NAB, NAR))
"""The names of the kinds whose objects have a log and results."""

VERSION_KINDS = frozenset({DEPLOYMENT.name, *(kind.name for kind in RELEASE_HINTS)})
"""The names of the kinds, besides schedules, that show the release of a Velero server."""

BESIDE_VELERO = frozenset(
    {*(kind for kind in KINDS if kind.group == VELERO), NABSL_REQUEST, DPA, DEPLOYMENT, POD, CONFIG_MAP}
)
"""The kinds in the namespace of a Velero server; the other kinds are in the namespaces of its users."""

_BY_GROUP_AND_NAME = {(kind.group, kind.name): kind for kind in KINDS}
_BY_MODEL: dict[type[Resource], Kind] = {kind.model: kind for kind in KINDS}
_BY_NAME = {kind.name: kind for kind in (*KINDS, DOWNLOAD_REQUEST, NONADMIN_DOWNLOAD)}


def find(api_version: str, name: str) -> Kind | None:
    """The kind that a manifest names; another version of a known group is read as the known one."""
    group = api_version.rpartition("/")[0]
    return _BY_GROUP_AND_NAME.get((group, name))


def by_name(name: str) -> Kind | None:
    """The kind that a reference names; None if it is not an API object."""
    return _BY_NAME.get(name)


def kind_of_ref(ref: ObjectRef) -> Kind:
    """The kind of an API object."""
    return _BY_NAME[ref.kind]


def kind_of(model: type[Resource]) -> Kind:
    """The kind of a model; every model that foretop decodes into has one."""
    return _BY_MODEL[model]
