"""Who uses a storage location: the schedules that write to it and the backups that are kept in it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from foretop_core.models import Backup, BackupStorageLocation
from foretop_core.models.velero import BackupStorageLocationSpec
from foretop_core.rules.phases import WAITING
from foretop_core.rules.snapshot import ClusterSnapshot


class StorageUse(msgspec.Struct, frozen=True):
    schedules: tuple[str, ...]
    backups: int


def storage_use(snapshot: ClusterSnapshot, place: BackupStorageLocation) -> StorageUse:
    """What names no location uses the default one."""
    backups = snapshot.backups_by_namespace.get(place.namespace, ())
    kept = sum(_is_meant(snapshot, place, item.spec.storage_location) for item in backups if is_stored(item))
    return StorageUse(schedules_to(snapshot, place), kept)


def schedules_to(snapshot: ClusterSnapshot, place: BackupStorageLocation) -> tuple[str, ...]:
    """The names of the schedules that write to it, in order."""
    mine = snapshot.schedules_by_namespace.get(place.namespace, ())
    return tuple(sorted(item.name for item in mine if _is_meant(snapshot, place, item.spec.template.storage_location)))


def is_stored(backup: Backup) -> bool:
    """Whether anything of it is, or is being, written to its location: of one that waits or was refused nothing is."""
    return backup.phase not in WAITING and backup.phase not in {"ReadyToStart", "FailedValidation"}


def credential_text(spec: BackupStorageLocationSpec) -> str:
    """The Secret and its key by name; what Velero takes where the location names none."""
    credential = spec.credential
    if credential is None or not credential.name:
        return "the server's own credentials"
    return f"secret {credential.name}, key {credential.key or 'not set'}"


def where_text(spec: BackupStorageLocationSpec) -> str:
    """Provider, bucket, prefix, region and address."""
    return ", ".join(_where(spec))


def _where(spec: BackupStorageLocationSpec) -> Iterator[str]:
    yield f"{spec.provider or 'no provider'} bucket {spec.object_storage.bucket or 'not set'}"
    if prefix := spec.object_storage.prefix.strip("/"):
        yield f"prefix {prefix}"
    if region := spec.config.get("region", ""):
        yield f"region {region}"
    if url := spec.config.get("s3Url", ""):
        yield f"at {url}"


def _is_meant(snapshot: ClusterSnapshot, place: BackupStorageLocation, name: str) -> bool:
    return name == place.name or (not name and snapshot.location(place.namespace, "") == place)
