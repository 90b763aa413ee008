"""Readiness of repositories of volumes: every place that speaks of volumes in it asks here."""

from __future__ import annotations

from collections.abc import Iterable

from foretop_core.models import Backup, BackupRepository, RestoreSpec
from foretop_core.rules import humanize
from foretop_core.rules.protection.coverage import NamespaceFilter
from foretop_core.rules.snapshot import ClusterSnapshot


def unready_repository(repository: BackupRepository) -> str:
    """The effect of a repository that is not ready, with Velero's reason where it gives one."""
    reason = repository.status.message.rstrip(".")
    return f"{unready_effect(repository)} {f'Velero says: {reason}' if reason else 'Velero gives no reason'}."


def unready_effect(repository: BackupRepository) -> str:
    of = repository.spec.volume_namespace
    return f"No volume of {of} is backed up to it or restored from it until it is ready."


def unready_names(repositories: Iterable[BackupRepository]) -> str:
    """`ledger-default-kopia is not ready`."""
    names = [one.name for one in repositories]
    return f"{humanize.join(names)} {'is' if len(names) == 1 else 'are'} not ready"


def unready_sources(
    snapshot: ClusterSnapshot, backup: Backup, wanted: RestoreSpec | None = None
) -> tuple[BackupRepository, ...]:
    """The repositories that a restore of a backup would need for its volumes and that are not ready."""
    unready = [one for one in snapshot.repositories if one.is_unready and one.namespace == backup.namespace]
    if not unready:
        return ()
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    kept_in = location.name if location is not None else backup.spec.storage_location
    filters = [NamespaceFilter(backup.spec.included_namespaces, backup.spec.excluded_namespaces)]
    if wanted is not None:
        filters.append(NamespaceFilter(wanted.included_namespaces, wanted.excluded_namespaces))
    return tuple(
        one
        for one in unready
        if one.spec.backup_storage_location == kept_in
        and all(taken.takes(one.spec.volume_namespace) for taken in filters)
    )
