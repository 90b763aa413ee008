"""All that is said of a storage location: how grave its state is, what was not looked at for long, and who uses it.

The page of storage, its pane, JSON and Triage read it here and derive nothing of it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from foretop_core.foreign_text import named
from foretop_core.models import Backup, BackupStorageLocation
from foretop_core.models.velero import BackupStorageLocationSpec
from foretop_core.rules.heartbeat import PERIOD, SILENT_PERIODS, unchecked_for
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.phases import WAITING
from foretop_core.rules.protection.copies import is_copy
from foretop_core.rules.queue.positions import has_ended
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import unready_repository

if TYPE_CHECKING:
    from foretop_core.rules.facts.size_facts import PlaceSize

# Deferred imports: the bytes of volumes are told on the page of storage alone.

__all__ = [
    "StorageFacts",
    "StorageFault",
    "credential_text",
    "is_stored",
    "schedules_to",
    "unready_repository",
    "where_text",
]


class StorageFault(msgspec.Struct, frozen=True):
    """The meaning of an error of an object store, in plain words."""

    signs: tuple[str, ...]
    """In the error, in lower case; any of them shows it."""
    what: str
    brief: str
    """The same in a narrow column."""
    sentence: str
    remedy: str

    @property
    def is_known(self) -> bool:
        return bool(self.signs)


_FAULTS = (
    StorageFault(
        ("nosuchbucket", "bucket does not exist", "containernotfound", "bucket doesn't exist"),
        "bucket does not exist",
        "no such bucket",
        "The bucket {bucket} does not exist.",
        "Create the bucket or correct its name.",
    ),
    StorageFault(
        ("accessdenied", "access denied", "forbidden", "invalidaccesskeyid", "signaturedoesnotmatch", "authorization"),
        "credentials are refused",
        "access refused",
        "The object store refuses the credentials for bucket {bucket}.",
        "Correct the Secret or the rights on the bucket.",
    ),
    StorageFault(
        ("no such host", "server misbehaving", "name resolution"),
        "its host is not found",
        "host not found",
        "The host of bucket {bucket} is not found.",
        "Correct the address of the location, or DNS.",
    ),
    StorageFault(
        ("x509", "certificate"),
        "its certificate is not trusted",
        "bad certificate",
        "The certificate of the object store of bucket {bucket} is not trusted.",
        "Renew the certificate, or give its authority in caCert of the location.",
    ),
    StorageFault(
        ("timeout", "timed out", "connection refused", "deadline exceeded", "no route to host"),
        "cannot be reached",
        "out of reach",
        "The object store of bucket {bucket} cannot be reached.",
        "Check the object store and the network to it.",
    ),
)
_ANY_FAULT = StorageFault(
    (), "cannot be used", "unusable", "Velero cannot use the bucket {bucket}.", "Fix bucket, credentials or network."
)


class StorageFacts(msgspec.Struct, frozen=True, dict=True):
    """A storage location at a moment; each fact is worked out when it is first asked for."""

    place: BackupStorageLocation
    now: datetime
    snapshot: ClusterSnapshot
    most_periods: int = 5
    """So many periods without a sync are too many."""

    @property
    def severity(self) -> Severity | None:
        if self.place.phase == "Unavailable":
            return Severity.ERROR
        return None if self.unchecked is None and self.unsynced is None else Severity.WARNING

    @property
    def fault(self) -> StorageFault | None:
        """Why Velero cannot use it; None where it can, or has not looked."""
        if self.place.phase != "Unavailable":
            return None
        message = self.place.status.message.lower()
        likely = next((fault for fault in _FAULTS if any(sign in message for sign in fault.signs)), _ANY_FAULT)
        bucket = self.place.spec.object_storage.bucket
        sentence = likely.sentence.format(bucket=named(bucket) if bucket else "of this location")
        return msgspec.structs.replace(likely, sentence=sentence)

    @property
    def unchecked(self) -> timedelta | None:
        """How long ago Velero last looked whether it is available, where it should have looked again."""
        if self.place.phase != "Available" or self._has_jumped:
            return None
        return unchecked_for(self.place, self.now)

    @property
    def _has_jumped(self) -> bool:
        """True if the clock jumped so lately that no check may have come in since: what came before is old by it."""
        jumped = self.snapshot.seen.clock_jumped
        return jumped is not None and timedelta() <= self.now - jumped <= SILENT_PERIODS * PERIOD

    @property
    def sync_period(self) -> timedelta:
        """How often Velero is to read its bucket; nothing where it is not to."""
        period = read_duration(self.place.spec.backup_sync_period)
        return PERIOD if period is None else period

    @property
    def unsynced(self) -> timedelta | None:
        """How long ago Velero last read its bucket, where that is too long."""
        place, period = self.place, self.sync_period
        synced = place.status.last_synced_time or place.created
        if not period or place.phase != "Available" or synced is None or self._has_jumped:
            return None
        silence = self.now - synced
        return silence if silence > self.most_periods * max(period, PERIOD) else None

    @cached_property
    def schedules(self) -> tuple[str, ...]:
        return schedules_to(self.snapshot, self.place)

    @property
    def backups(self) -> int:
        """How many are kept in it: those that have ended."""
        return sum(has_ended(item) for item in self._stored)

    @property
    def copies(self) -> int:
        """How many of those can be restored from, as Protection counts them."""
        return sum(is_copy(item) for item in self._stored)

    @property
    def volumes(self) -> PlaceSize:
        """The volumes that were moved to it, and their bytes."""
        from foretop_core.rules.facts.size_facts import place_size

        return place_size(self.snapshot, self.place.namespace, self.place.name)

    @property
    def running(self) -> int:
        """How many are being written to it."""
        return sum(not has_ended(item) for item in self._stored)

    @cached_property
    def _stored(self) -> tuple[Backup, ...]:
        """Costs a look at each backup of its server."""
        backups = self.snapshot.backups_by_namespace.get(self.place.namespace, ())
        stored = (item for item in backups if is_stored(item))
        return tuple(item for item in stored if _is_meant(self.snapshot, self.place, item.spec.storage_location))


def schedules_to(snapshot: ClusterSnapshot, place: BackupStorageLocation) -> tuple[str, ...]:
    """The names of the schedules that write to a location, in order; what names none uses the default one."""
    mine = snapshot.schedules_by_namespace.get(place.namespace, ())
    return tuple(sorted(item.name for item in mine if _is_meant(snapshot, place, item.spec.template.storage_location)))


def _is_meant(snapshot: ClusterSnapshot, place: BackupStorageLocation, name: str) -> bool:
    return name == place.name or (not name and snapshot.location(place.namespace, "") == place)


def is_stored(backup: Backup) -> bool:
    """True if anything of it is, or is being, written to its location: nothing of one that waits or was refused is."""
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
