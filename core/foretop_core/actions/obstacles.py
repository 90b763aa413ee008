"""Obstacles of an action: storage that cannot be used just now, and a Velero that is silent."""

from __future__ import annotations

from datetime import datetime

from foretop_core.models import Backup
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot


def unavailable_storage(snapshot: ClusterSnapshot, backup: Backup) -> str:
    """Why nothing can be read from where the backup is kept; "" where nothing is known against it."""
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    if location is None or location.phase != "Unavailable":
        return ""
    return f"the storage location {location.name} is Unavailable: {location.status.message or 'no reason given'}"


def waits_for_velero(snapshot: ClusterSnapshot, namespace: str, done: str, now: datetime) -> str:
    """`nothing is deleted until Velero is back (no sign of activity from Velero since 02:16:03Z), then `, or ""."""
    beat = snapshot.heartbeat(namespace)
    silence = beat.silence(now)
    return f"nothing is {done} until {beat.awaited(now)} ({render(silence, now)}), then " if silence else ""
