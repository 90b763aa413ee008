"""Readiness of storage: repositories of volumes; and all that makes Velero refuse a backup, above all its location.

Every place that forecasts a backup or speaks of its volumes asks here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foretop_core.foreign_text import named, quoted
from foretop_core.models import Backup, BackupRepository, RestoreSpec, Schedule
from foretop_core.models.kinds import STORAGE
from foretop_core.rules import humanize
from foretop_core.rules.phases import WAITING
from foretop_core.rules.protection.coverage import NamespaceFilter
from foretop_core.rules.snapshot import ClusterSnapshot


def unready_repository(repository: BackupRepository) -> str:
    """The effect of a repository that is not ready, with Velero's reason where it gives one."""
    reason = repository.status.message.rstrip(".")
    return f"{unready_effect(repository)} {f'Velero says: {quoted(reason)}' if reason else 'Velero gives no reason'}."


def unready_effect(repository: BackupRepository) -> str:
    of = repository.spec.volume_namespace
    return f"No volume of {of} is backed up to it or restored from it until it is ready."


def unready_names(repositories: Iterable[BackupRepository]) -> str:
    """`ledger-default-kopia is not ready`."""
    names = [repository.name for repository in repositories]
    return f"{humanize.join(names)} {'is' if len(names) == 1 else 'are'} not ready"


def unready_sources(
    snapshot: ClusterSnapshot, backup: Backup, wanted: RestoreSpec | None = None
) -> tuple[BackupRepository, ...]:
    """The repositories that a restore of a backup would need for its volumes and that are not ready."""
    unready = [
        repository
        for repository in snapshot.repositories
        if repository.is_unready and repository.namespace == backup.namespace
    ]
    if not unready:
        return ()
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    kept_in = location.name if location is not None else backup.spec.storage_location
    filters = [NamespaceFilter(backup.spec.included_namespaces, backup.spec.excluded_namespaces)]
    if wanted is not None:
        filters.append(NamespaceFilter(wanted.included_namespaces, wanted.excluded_namespaces))
    return tuple(
        repository
        for repository in unready
        if repository.spec.backup_storage_location == kept_in
        and all(taken.takes(repository.spec.volume_namespace) for taken in filters)
    )


def storage_refusal(snapshot: ClusterSnapshot, namespace: str, name: str) -> str:
    """Why a backup to a location is refused as it is now, "" where nothing is known against it.

    `name` is "" for the server's default. It reads on after "while": `its storage location offsite is Unavailable`.
    """
    location = snapshot.location(namespace, name)
    if location is None:
        return f"its storage location {named(name)} does not exist" if name and saw_storage(snapshot) else ""
    return f"its storage location {location.name} is {location.refuses}" if location.refuses else ""


def run_refusal(snapshot: ClusterSnapshot, item: Schedule | Backup) -> str:
    """Why the next run of a schedule, or a backup that has not begun, is refused; "" where nothing is known against it.

    For its storage, or for what it names: a resource policy, a snapshot location.
    """
    spec = item.spec.template if isinstance(item, Schedule) else item.spec
    if why := storage_refusal(snapshot, item.namespace, spec.storage_location):
        return why
    words = snapshot.invalid_run(item)
    return f"it is not valid ({' '.join(words.split())})" if words else ""


def brief_refusal(snapshot: ClusterSnapshot, item: Schedule | Backup) -> str:
    """The same in a few words."""
    if not run_refusal(snapshot, item):
        return ""
    spec = item.spec.template if isinstance(item, Schedule) else item.spec
    is_of_storage = storage_refusal(snapshot, item.namespace, spec.storage_location)
    return "its storage is unusable" if is_of_storage else "it is not valid"


def waiting_refusals(snapshot: ClusterSnapshot, backups: Iterable[Backup]) -> Mapping[str, str]:
    """By name, why those that have not begun are refused when it is their turn."""
    refusals = ((backup.name, run_refusal(snapshot, backup)) for backup in backups if backup.phase in WAITING)
    return {name: why for name, why in refusals if why}


def saw_storage(snapshot: ClusterSnapshot) -> bool:
    """True if a storage location that is not in the snapshot does not exist."""
    return bool(snapshot.storage) or snapshot.gap(STORAGE) is None
