"""The holdings of a backup by namespace, by all that tells of them, beside what the next run of its schedule takes."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from foretop_core.models import Backup, Schedule
from foretop_core.rules.facts.contents_facts import NamespaceContents, backup_contents
from foretop_core.rules.phases import USABLE
from foretop_core.rules.protection.coverage import Extent, namespace_filter
from foretop_core.rules.results import ResourceList
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.volumes.evidence import volumes_of_backup
from foretop_core.rules.volumes.foretold import ForetoldVolumes


class NextNamespace(msgspec.Struct, frozen=True):
    """One namespace in the next run of a schedule."""

    namespace: str
    covers: str
    """How much of it is taken: `all`, or a part and what limits it."""
    volumes: ForetoldVolumes


def holdings(
    snapshot: ClusterSnapshot, backup: Backup, resources: ResourceList | None, wanted: Collection[str]
) -> tuple[NamespaceContents, ...]:
    """By namespace, only the wanted ones where some are named; its volume info is that which the snapshot knows."""
    known = snapshot.volume_info(backup)
    told = volumes_of_backup(known.info if known is not None else None, snapshot.movements_of(backup))
    contents = backup_contents(told, resources)
    return tuple(one for one in contents if not wanted or one.namespace in wanted)


def newest_copy(snapshot: ClusterSnapshot, schedule: Schedule) -> Backup | None:
    """The newest of its backups that something can be restored from; None where there is none."""
    return next((run for run in snapshot.runs(schedule) if run.phase in USABLE), None)


def next_run(snapshot: ClusterSnapshot, schedule: Schedule, wanted: Collection[str] = ()) -> tuple[NextNamespace, ...]:
    """The namespaces that its next run takes, and the fate of their volumes, by what was read of what decides."""
    template = schedule.spec.template
    accepted = namespace_filter(template)
    existing = {item.name for item in snapshot.namespaces or ()}
    names = {name for name in existing if accepted.takes(name)} if existing else set(accepted.named)
    found = []
    for name in sorted(name for name in names if not wanted or name in wanted):
        coverage = snapshot.next_coverage(schedule, name)
        if coverage.extent is not Extent.NONE or wanted:
            found.append(NextNamespace(name, str(coverage), snapshot.next_volumes(schedule, name)))
    return tuple(found)
