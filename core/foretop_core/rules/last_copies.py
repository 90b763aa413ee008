"""Which namespaces would be left without a good copy if some backups were deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from foretop_core.models import Backup
from foretop_core.rules.snapshot import ClusterSnapshot


def namespaces_losing_last_copy(snapshot: ClusterSnapshot, deleted: Iterable[Backup]) -> tuple[str, ...]:
    """The namespaces whose last good copy would go; all backups are looked at only where that is possible."""
    gone = {(backup.namespace, backup.name) for backup in deleted}
    index = snapshot.protection
    rows = (index.row(name) for name in index.names)
    few = [
        row.namespace
        for row in rows
        if row is not None
        and row.copies.newest is not None
        and row.copies.good <= len(gone)
        and (row.copies.newest.namespace, row.copies.newest.name) in gone
    ]
    if not few or len(gone) == 1:
        return tuple(few)
    left = tuple(backup for backup in snapshot.backups if (backup.namespace, backup.name) not in gone)
    after = replace(snapshot, backups=left, live=None).protection
    return tuple(name for name in few if (row := after.row(name)) is None or not row.copies.good)


def namespaces_losing_all_together(snapshot: ClusterSnapshot, deleted: Sequence[Backup]) -> tuple[str, ...]:
    """The namespaces that lose their last good copy with all of the backups, but with none of them alone."""
    if len(deleted) < 2:
        return ()
    alone = {name for backup in deleted for name in namespaces_losing_last_copy(snapshot, (backup,))}
    return tuple(name for name in namespaces_losing_last_copy(snapshot, deleted) if name not in alone)
