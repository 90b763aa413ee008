"""Whether the storage of a backup can be used just now."""

from __future__ import annotations

from foretop_core.models import Backup
from foretop_core.rules.snapshot import ClusterSnapshot


def unavailable_storage(snapshot: ClusterSnapshot, backup: Backup) -> str:
    """Why nothing can be read from where the backup is kept; "" where nothing is known against it."""
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None or location.phase != "Unavailable":
        return ""
    return f"the storage location {location.name} is Unavailable: {location.status.message or 'no reason given'}"
