"""What came of a drill: the restored objects counted by kind beside those in the backup's own list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.resource_list import parse_resource_list

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
_MADE = frozenset({"created", "updated", ""})


JOBS = "Job"
_ENDED = b' is complete - skipping"'
"""What Velero's log of a restore says of a Job that it leaves out, because it has run to its end."""


class KindCount(msgspec.Struct, frozen=True):
    """How many objects of a kind the backup has, and how many came back; Velero leaves out those that have ended."""

    kind: str
    expected: int
    restored: int
    ended: int = 0

    @property
    def is_short(self) -> bool:
        return self.restored + self.ended < self.expected

    @property
    def ended_text(self) -> str:
        """Reads on after the number of those that came back."""
        return f", {self.ended} had ended" if self.ended else ""


class DrillReport(msgspec.Struct, frozen=True):
    """By kind what was expected and what came; and the kinds in the backup that a drill does not restore."""

    counts: tuple[KindCount, ...]
    left_out: tuple[str, ...]
    phase: str
    """That of the Restore, "" where it did not end in time."""
    problem: str = ""

    @property
    def failed(self) -> str:
        """What failed, in one line; "" for nothing."""
        short = [f"{one.restored} of {one.expected - one.ended} {one.kind}" for one in self.counts if one.is_short]
        parts = [self.problem] if self.problem else []
        if self.phase not in ("Completed", "") and not self.problem:
            parts.append(f"the restore is {self.phase}")
        return "; ".join([*parts, *([f"only {humanize.join(short)}"] if short else [])])


def read_resource_list(body: bytes | bytearray, namespace: str) -> Counter[str]:
    """By kind, how many objects of a namespace are in a backup."""
    counts: Counter[str] = Counter()
    for kind, space, name in _objects(body):
        if space == namespace and (kind, name) not in _MADE_BY_THE_CLUSTER:
            counts[kind] += 1
    return counts


def read_restored_list(body: bytes | bytearray, namespaces: Collection[str]) -> Counter[str]:
    """By kind, how many objects a restore made; each name has what became of it behind it: `web(created)`."""
    counts: Counter[str] = Counter()
    for kind, space, told in _objects(body):
        name, _, became = told.partition("(")
        if space in namespaces and became.rstrip(")") in _MADE and (kind, name) not in _MADE_BY_THE_CLUSTER:
            counts[kind] += 1
    return counts


def ended_jobs(log: bytes | bytearray) -> int:
    """How many Jobs a restore left out, by its log, because they had ended; a drill restores no pods."""
    return log.count(_ENDED)


def _objects(body: bytes | bytearray) -> Iterator[tuple[str, str, str]]:
    """Kind, namespace and name of everything in a list of Velero's; what is in no namespace is left out."""
    for found in parse_resource_list(body).kinds:
        kind = found.kind.rpartition("/")[2]
        for full in found.names:
            space, slash, name = full.partition("/")
            if slash:
                yield kind, space, name


def compared(
    expected: Mapping[str, int],
    restored: Mapping[str, int],
    kinds: tuple[str, ...],
    phase: str,
    problem: str = "",
    jobs_ended: int = 0,
) -> DrillReport:
    counts = tuple(
        KindCount(kind, expected.get(kind, 0), restored.get(kind, 0), jobs_ended if kind == JOBS else 0)
        for kind in kinds
    )
    return DrillReport(
        tuple(one for one in counts if one.expected or one.restored),
        tuple(sorted(kind for kind in expected if kind not in kinds)),
        phase,
        problem,
    )
