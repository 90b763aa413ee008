"""Benchmark of the protection of 2,000 namespaces by 500 schedules with 20,000 backups: all of it, and one change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from foretop_core.models import Backup, BackupStorageLocation, Namespace, Resource, Schedule, from_builtins
from foretop_core.models.sharing import SharedParts
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionLimits
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW
from trials.bench import Figure, seconds_per_call

NAMESPACES, SCHEDULES, BACKUPS = 2_000, 500, 20_000
_NAMES = [f"team-{number // 10:03}-app-{number % 10}" for number in range(NAMESPACES)]
_Filter = Callable[[int], dict[str, Any]]
_TEMPLATES: dict[str, _Filter] = {
    "all namespaces": lambda _: {"includedNamespaces": ["*"]},
    "names": lambda number: {"includedNamespaces": [_NAMES[(number * 4 + at) % NAMESPACES] for at in range(4)]},
    "patterns": lambda number: {
        "includedNamespaces": [f"team-{number % 200:03}-*"] if number % 5 else ["*"],
        "excludedNamespaces": ["kube-system", f"team-{number % 200:03}-app-3"],
    },
}


def cluster(template: _Filter) -> ClusterSnapshot:
    """Backups of one schedule share their spec, as they do in the store."""
    shared = SharedParts()
    made: list[Resource] = [from_builtins(Namespace, {"metadata": {"name": name}}) for name in _NAMES]
    made.append(
        from_builtins(
            BackupStorageLocation,
            {
                "metadata": {"name": "default", "namespace": "velero"},
                "spec": {"default": True},
                "status": {"phase": "Available"},
            },
        )
    )
    for number in range(SCHEDULES):
        meta = {"name": f"s{number}", "namespace": "velero", "creationTimestamp": "2026-01-01T00:00:00Z"}
        spec = {"schedule": f"{number % 60} {number % 24} * * *", "template": template(number)}
        status = {"phase": "Enabled", "lastBackup": (NOW - timedelta(hours=1)).isoformat()}
        made.append(from_builtins(Schedule, {"metadata": meta, "spec": spec, "status": status}))
    for number in range(BACKUPS):
        schedule, day = number % SCHEDULES, number // SCHEDULES
        begun = NOW - timedelta(days=day, hours=1)
        meta = {"name": f"s{schedule}-{day}", "namespace": "velero", "creationTimestamp": begun.isoformat()}
        status = {
            "phase": "Completed",
            "startTimestamp": begun.isoformat(),
            "expiration": (NOW + timedelta(days=20)).isoformat(),
        }
        body = {"metadata": meta, "spec": {**template(schedule), "storageLocation": "default"}, "status": status}
        made.append(shared.share(from_builtins(Backup, body)))
    return assemble(made)


def measure() -> Iterator[Figure]:
    for name, template in _TEMPLATES.items():
        snapshot = cluster(template)
        judge = ProtectionJudge(snapshot, NOW, ProtectionLimits())

        def judged(at: ClusterSnapshot = snapshot, by: ProtectionJudge = judge) -> ProtectionIndex:
            index = protection_index(at)
            for namespace in index.names:
                if (row := index.row(namespace)) is not None:
                    _ = by.facts(row).state
            return index

        index, changed = judged(), snapshot.backups[7]
        took = seconds_per_call(judged, 1, rounds=5)
        yield Figure(f"protection by {name}, 2,000 × 500 × 20,000", took * 1e3, 150, "ms")
        one = seconds_per_call(lambda of=index, item=changed: of.apply(item, item), 1, rounds=5)  # type: ignore[misc]
        yield Figure(f"protection by {name}, one backup changed", one * 1e3, 15, "ms")
