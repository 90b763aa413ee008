"""Refusals of backups because of their storage location: every place that forecasts a backup asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foretop_core.models import Backup, Schedule
from foretop_core.rules.phases import WAITING
from foretop_core.rules.snapshot import ClusterSnapshot


def storage_refusal(snapshot: ClusterSnapshot, namespace: str, name: str) -> str:
    """Why a backup to a location is refused as it is now, "" where nothing is known against it.

    `name` is "" for the server's default. It reads on after "while": `its storage location offsite is Unavailable`.
    """
    location = snapshot.location(namespace, name)
    if location is None:
        return f"its storage location {name} does not exist" if name and _were_seen(snapshot) else ""
    if location.phase == "Unavailable":
        return f"its storage location {location.name} is Unavailable"
    return f"its storage location {location.name} is read-only" if location.spec.access_mode == "ReadOnly" else ""


def schedule_refusal(snapshot: ClusterSnapshot, schedule: Schedule) -> str:
    """Why the backups that a schedule makes are refused; "" where they are not."""
    return storage_refusal(snapshot, schedule.namespace, schedule.spec.template.storage_location)


def waiting_refusals(snapshot: ClusterSnapshot, backups: Iterable[Backup]) -> Mapping[str, str]:
    """By name, why those that have not begun are refused when it is their turn."""
    found = (
        (one.name, storage_refusal(snapshot, one.namespace, one.spec.storage_location))
        for one in backups
        if one.phase in WAITING
    )
    return {name: why for name, why in found if why}


def _were_seen(snapshot: ClusterSnapshot) -> bool:
    return bool(snapshot.storage) or not any(gap.kind == "BackupStorageLocation" for gap in snapshot.unseen)
