"""The copies whose volumes another release of Velero cannot restore: those that restic made."""

from __future__ import annotations

from collections import defaultdict

import msgspec

from foretop_core.models import PodVolumeBackup
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.snapshot import ClusterSnapshot

_RESTIC = ("restic", "")
"""Before 1.10 Velero had no other uploader, and named none."""
_LAST_WITH_RESTIC = (1, 18)


class LostCopy(msgspec.Struct, frozen=True):
    """A backup with volumes that restic copied."""

    namespace: str
    backup: str
    volumes: int
    namespaces: tuple[str, ...]


def loses_restic(to: Release) -> bool:
    return (to.major, to.minor) > _LAST_WITH_RESTIC


def lost_copies(snapshot: ClusterSnapshot, to: Release) -> tuple[LostCopy, ...]:
    """By name; none where the release still reads what restic wrote."""
    if not loses_restic(to):
        return ()
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for movement in snapshot.movements:
        is_copy = isinstance(movement, PodVolumeBackup) and movement.phase == "Completed"
        if is_copy and movement.spec.uploader_type in _RESTIC and movement.backup_name:
            found[movement.namespace, movement.backup_name].append(movement.claim[0])
    return tuple(
        LostCopy(namespace, backup, len(places), tuple(sorted(set(places))))
        for (namespace, backup), places in sorted(found.items())
    )
