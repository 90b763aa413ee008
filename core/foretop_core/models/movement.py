"""Velero's data movements: the volume transfers of backups and restores to or from storage."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec.structs import force_setattr, replace

from foretop_core.models.velero import BACKUP_LABEL, RESTORE_LABEL
from foretop_core.models.wire import NO_TEXTS, Count, Resource, Time, Wire

_LONGEST_LABEL = 63
_CLAIM_NAME = "velero.io/pvc-name"


def label_value(name: str) -> str:
    """A name as Velero writes it into a label: one that is too long is cut and ends in six digits of its hash."""
    if len(name) <= _LONGEST_LABEL:
        return name
    return name[: _LONGEST_LABEL - 6] + hashlib.sha256(name.encode()).hexdigest()[:6]


class PodReference(Wire, frozen=True):
    namespace: str = ""


class MovementSpec(Wire, frozen=True):
    """The specs of all four kinds in one model; each kind fills the fields that it has."""

    cancel: bool = False
    node: str = ""
    volume: str = ""
    pod: PodReference = PodReference()
    source_namespace: str = ""
    source_pvc: str = msgspec.field(default="", name="sourcePVC")
    backup_storage_location: str = ""
    uploader_type: str = ""


class BytesProgress(Wire, frozen=True):
    bytes_done: Count = 0
    total_bytes: Count = 0


class MovementStatus(Wire, frozen=True):
    phase: str = ""
    message: str = ""
    node: str = ""
    accepted_by_node: str = ""
    accepted_timestamp: Time | None = None
    start_timestamp: Time | None = None
    completion_timestamp: Time | None = None
    progress: BytesProgress = BytesProgress()
    incremental_bytes: Count | None = None
    """Those that the storage did not have yet; None where none were, or the release does not tell."""


class DataMovement(Resource, frozen=True):
    spec: MovementSpec = MovementSpec()
    status: MovementStatus = MovementStatus()

    @property
    def phase(self) -> str:
        return self.status.phase

    @property
    def node(self) -> str:
        return self.status.node or self.spec.node or self.status.accepted_by_node

    @property
    def stage(self) -> tuple[str, str, bool]:
        """Its phase, its node, and whether anything of it has moved: whether an end is known hangs on these."""
        return self.phase, self.node, bool(self.status.progress.bytes_done)

    @property
    def volume(self) -> str:
        return self.spec.volume or self.spec.source_pvc

    @property
    def size(self) -> int:
        """The bytes of its volume; an empty one has none, and reports none."""
        return self.status.progress.total_bytes or self.status.progress.bytes_done

    @property
    def claim(self) -> tuple[str, str]:
        """Namespace and name of the claim whose data moves; no name for a volume without a claim."""
        return self.spec.source_namespace, self.spec.source_pvc

    @property
    def backup_name(self) -> str:
        return self.label(BACKUP_LABEL)

    @property
    def restore_name(self) -> str:
        return self.label(RESTORE_LABEL)


class PodVolumeBackup(DataMovement, frozen=True):
    claim_name: str = ""
    """As its annotation names it, which is let go where it is the only one: there are thousands."""

    def __post_init__(self) -> None:
        if named := self.annotation(_CLAIM_NAME):
            force_setattr(self, "claim_name", named)
            if len(self.metadata.annotations) == 1:
                force_setattr(self, "metadata", replace(self.metadata, annotations=NO_TEXTS))

    @property
    def claim(self) -> tuple[str, str]:
        """The pod may be gone by now."""
        return self.spec.pod.namespace, self.claim_name


class PodVolumeRestore(DataMovement, frozen=True):
    pass


class DataUpload(DataMovement, frozen=True):
    pass


class DataDownload(DataMovement, frozen=True):
    pass
