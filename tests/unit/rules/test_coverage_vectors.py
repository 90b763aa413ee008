"""What a real Velero 1.18.3 took by 225 templates, against what the rules foretell of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foretop_core.models import (
    Backup,
    BackupSpec,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodVolumeBackup,
    from_builtins,
)
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.protection.coverage import Coverage, Extent, refused_because, template_coverage
from foretop_core.rules.snapshot import ClusterSnapshot

FOLDER = Path(__file__).parents[2] / "data/vectors"
_TOLD: dict[str, dict[str, int]] = {
    "coverage-101": {"taken": 0, "missing": 339, "open": 131},
    "coverage-102": {"taken": 0, "missing": 241, "open": 136},
    "coverage-301": {"taken": 0, "missing": 110, "open": 109},
}
"""How many volumes the objects alone prove to be taken or missing; whose several snapshots are, they do not."""
MADE = {"creationTimestamp": "2026-11-14T09:00:00Z"}
FILES = ("coverage-101", "coverage-102", "coverage-301")


class Vectors(msgspec.Struct):
    """One cluster, and what the server did with each template."""

    cluster: list[dict[str, Any]]
    runs: list[dict[str, Any]]

    def objects(self, namespace: str) -> dict[str, set[str]]:
        """The objects of a namespace that were made for the trial, by kind as Velero lists them."""
        found: dict[str, set[str]] = {}
        for item in self.cluster:
            if item["metadata"].get("namespace") == namespace:
                found.setdefault(f"{item['apiVersion']}/{item['kind']}", set()).add(item["metadata"]["name"])
        return found

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.cluster if item["kind"] == kind]

    @property
    def namespaces(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.cluster if item["kind"] == "Namespace"]


def read_vectors(name: str) -> Vectors:
    first, *others = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return Vectors(msgspec.json.decode(first)["cluster"], [msgspec.json.decode(line) for line in others])


def took_all(there: Mapping[str, set[str]], taken: Mapping[str, list[str]]) -> bool:
    return all(names <= set(taken.get(kind, ())) for kind, names in there.items())


def _foretold(vectors: Vectors, run: dict[str, Any]) -> Iterator[tuple[str, Coverage]]:
    spec = msgspec.convert(run["spec"], BackupSpec)
    return ((name, template_coverage(spec, name)) for name in vectors.namespaces)


@pytest.mark.parametrize("name", FILES)
def test_what_a_template_takes_is_never_called_all_where_a_part_was_taken(name: str) -> None:
    vectors, wrong = read_vectors(name), []
    for number, run in enumerate(vectors.runs):
        for namespace, coverage in _foretold(vectors, run):
            there, taken = vectors.objects(namespace), run["taken"].get(namespace, {})
            is_all = bool(run["taken"]) and took_all(there, taken)
            if coverage.extent is Extent.ALL and not is_all:
                wrong.append((number, namespace, "all", run["spec"]))
            if coverage.extent is Extent.NONE and taken:
                wrong.append((number, namespace, str(coverage), run["spec"]))
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_a_template_that_velero_refuses_by_its_lists_is_told_as_refused(name: str) -> None:
    for run in read_vectors(name).runs:
        refusal = refused_because(msgspec.convert(run["spec"], BackupSpec))
        errors = run["validationErrors"] or ()
        by_policy = any("resource policies" in error or "old filter parameters" in error for error in errors)
        assert bool(refusal) == (run["phase"] == "FailedValidation" and not (by_policy and len(errors) == 1)), run


def held_of(run: dict[str, Any], namespace: str) -> set[str]:
    """The claims of a namespace whose data the server's own volume info has."""
    return {
        one["pvcName"]
        for one in run["volumes"] or ()
        if one.get("pvcNamespace") == namespace and one.get("result") == "succeeded"
    }


def as_seen(vectors: Vectors, run: dict[str, Any]) -> tuple[ClusterSnapshot, Backup]:
    """What is read of a cluster after that run; the pod volume backup of another shows that such are read."""
    status = {"phase": run["phase"], **run["counts"], "startTimestamp": "2026-11-15T02:40:00Z"}
    backup = from_builtins(
        Backup, {"metadata": {"name": "one", "namespace": "velero"}, "spec": run["spec"], "status": status}
    )
    claims = [
        from_builtins(PersistentVolumeClaim, item | {"metadata": item["metadata"] | MADE})
        for item in vectors.of_kind("PersistentVolumeClaim")
    ]
    volumes = [from_builtins(PersistentVolume, item) for item in vectors.of_kind("PersistentVolume")]
    spaces = [from_builtins(Namespace, item) for item in vectors.of_kind("Namespace")]
    other = from_builtins(PodVolumeBackup, {"metadata": {"name": "x", "namespace": "velero"}})
    return assemble((backup, other, *claims, *volumes, *spaces)), backup


@pytest.mark.parametrize("name", FILES)
def test_a_volume_is_proven_only_where_its_data_was_taken(name: str) -> None:
    """By the objects alone, without volume info and without what decides: only that none was made."""
    vectors, wrong, told = read_vectors(name), [], Counter[str]()
    for number, run in enumerate(vectors.runs):
        snapshot, backup = as_seen(vectors, run)
        for namespace in run["taken"]:
            if not namespace:
                continue
            evidence, held = snapshot.volumes_in(backup, namespace), held_of(run, namespace)
            taken, missing = {one.name for one in evidence.taken}, {one.name for one in evidence.left_out}
            told.update(taken=len(taken), missing=len(missing), open=len(evidence.open))
            if taken - held or missing & held:
                wrong.append((number, namespace, evidence, held, run["counts"]))
    assert wrong == []
    assert told == _TOLD[name]
