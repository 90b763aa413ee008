"""What came of a drill: the restored objects counted by kind beside those in the backup's own list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.rules import humanize

DRILLED_KINDS: Mapping[str, tuple[str, str]] = {
    "ConfigMap": ("v1", "configmaps"),
    "PersistentVolumeClaim": ("v1", "persistentvolumeclaims"),
    "Secret": ("v1", "secrets"),
    "Service": ("v1", "services"),
    "ServiceAccount": ("v1", "serviceaccounts"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "Deployment": ("apps/v1", "deployments"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "CronJob": ("batch/v1", "cronjobs"),
    "Job": ("batch/v1", "jobs"),
}
"""What a drill restores: kinds that rest where they are made at zero replicas, or suspended."""
SECRETS = "Secret"
_MADE_BY_THE_CLUSTER = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
"""In every namespace, restored or not."""


@dataclass(frozen=True, slots=True)
class KindCount:
    kind: str
    expected: int
    restored: int

    @property
    def is_short(self) -> bool:
        return self.restored < self.expected


@dataclass(frozen=True, slots=True)
class DrillReport:
    """By kind what was expected and what came; and the kinds in the backup that a drill does not restore."""

    counts: tuple[KindCount, ...]
    left_out: tuple[str, ...]
    phase: str
    """That of the Restore, "" where it did not end in time."""
    problem: str = ""

    @property
    def failed(self) -> str:
        """What failed, in one line; "" for nothing."""
        short = [f"{one.restored} of {one.expected} {one.kind}" for one in self.counts if one.is_short]
        parts = [self.problem] if self.problem else []
        if self.phase not in ("Completed", "") and not self.problem:
            parts.append(f"the restore is {self.phase}")
        return "; ".join([*parts, *([f"only {humanize.join(short)}"] if short else [])])


def read_resource_list(body: bytes, namespace: str) -> Counter[str]:
    """By kind, how many objects of a namespace are in a backup."""
    try:
        found = msgspec.json.decode(body, type=dict[str, list[str] | None])
    except msgspec.MsgspecError as problem:
        raise Unreadable("The resource list of the backup cannot be read", str(problem)) from None
    counts: Counter[str] = Counter()
    for group_version_kind, names in found.items():
        kind = group_version_kind.rpartition("/")[2]
        for name in names or ():
            space, slash, own = name.partition("/")
            if slash and space == namespace and (kind, own) not in _MADE_BY_THE_CLUSTER:
                counts[kind] += 1
    return counts


def is_own(kind: str, name: str) -> bool:
    """Whether an object of the new namespace came from the backup and not from the cluster."""
    return (kind, name) not in _MADE_BY_THE_CLUSTER


def compared(
    expected: Mapping[str, int], restored: Mapping[str, int], kinds: tuple[str, ...], phase: str, problem: str = ""
) -> DrillReport:
    counts = tuple(KindCount(kind, expected.get(kind, 0), restored.get(kind, 0)) for kind in kinds)
    return DrillReport(
        tuple(one for one in counts if one.expected or one.restored),
        tuple(sorted(kind for kind in expected if kind not in kinds)),
        phase,
        problem,
    )
