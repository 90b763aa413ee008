"""The fate of each volume in 225 runs of a real Velero 1.18.3, against what is foretold before they run."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from foretop_core.models import BackupSpec, PersistentVolume, PersistentVolumeClaim, Pod, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap, StorageClass, VolumeSnapshotClass
from foretop_core.models.velero import VolumeSnapshotLocation
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.protection.coverage import Extent, VolumeMethod
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.foretold import ForetoldVolumes, NamespaceVolumes, foretold_volumes
from foretop_core.rules.volumes.run_plan import Deciders, RunPlan, planned_coverage, run_plan
from tests.unit.rules.test_coverage_vectors import FILES, Vectors, read_vectors, took_all

CSI = "coverage-301"
_TOLD = {"coverage-101": (80, 1180, 0), "coverage-102": (65, 1195, 0), "coverage-301": (30, 682, 8)}
"""How many volumes are foretold to be taken, to be left out, and not foretold."""
EBS = from_builtins(
    VolumeSnapshotLocation,
    {"metadata": {"name": "default", "namespace": "velero"}, "spec": {"provider": "velero.io/aws"}},
)


def deciders(name: str, vectors: Vectors, run: dict[str, Any]) -> Deciders:
    """All that was there when that run was made."""
    maps = {
        key: from_builtins(
            ConfigMap,
            {
                "metadata": {"name": key, "namespace": "velero"},
                "data": {"policy.yaml": msgspec.json.encode(text).decode()},
            },
        )
        for key, text in run["policies"].items()
    }
    classes = [from_builtins(StorageClass, item) for item in vectors.of_kind("StorageClass")]
    return Deciders(
        release=Release(1, 18, 3),
        flags=VolumeFlags(has_csi=name == CSI),
        config_maps=maps,
        locations=(EBS,),
        storage_classes={item.name: item for item in classes},
        snapshot_classes=tuple(
            from_builtins(VolumeSnapshotClass, item) for item in vectors.of_kind("VolumeSnapshotClass")
        ),
        agent_nodes=frozenset(),
    )


def _objects(vectors: Vectors, namespace: str) -> NamespaceVolumes:
    def here(kind: str) -> list[dict[str, Any]]:
        return [item for item in vectors.of_kind(kind) if item["metadata"]["namespace"] == namespace]

    volumes = [from_builtins(PersistentVolume, item) for item in vectors.of_kind("PersistentVolume")]
    return NamespaceVolumes(
        tuple(from_builtins(PersistentVolumeClaim, item) for item in here("PersistentVolumeClaim")),
        {item.name: item for item in volumes},
        tuple(from_builtins(Pod, item) for item in here("Pod")),
    )


def _plan(name: str, vectors: Vectors, run: dict[str, Any]) -> tuple[RunPlan, Deciders]:
    known = deciders(name, vectors, run)
    return run_plan(msgspec.convert(run["spec"], BackupSpec), known), known


def _held(run: dict[str, Any], namespace: str) -> set[str]:
    return {
        one["pvcName"]
        for one in run["volumes"] or ()
        if one.get("pvcNamespace") == namespace and one.get("result") == "succeeded"
    }


@pytest.mark.parametrize("name", FILES)
def test_a_run_that_velero_refused_was_foretold_in_its_own_words(name: str) -> None:
    vectors = read_vectors(name)
    wrong = []
    for number, run in enumerate(vectors.runs):
        plan, _ = _plan(name, vectors, run)
        is_refused = run["phase"] == "FailedValidation"
        if bool(plan.refused) != is_refused or plan.unknown:
            wrong.append((number, plan.refused, plan.unknown, run["validationErrors"]))
    assert wrong == []


@pytest.mark.parametrize("name", FILES)
def test_each_volume_has_the_fate_that_was_foretold(name: str) -> None:
    vectors, wrong, told = read_vectors(name), [], Counter[str]()
    for number, run in enumerate(vectors.runs):
        plan, known = _plan(name, vectors, run)
        for namespace in vectors.namespaces:
            foretold, held = foretold_volumes(plan, known, _objects(vectors, namespace)), _held(run, namespace)
            taken, missing = {one.name for one in foretold.taken}, {one.name for one in foretold.left_out}
            told.update(taken=len(taken), missing=len(missing), open=len(foretold.open))
            if taken - held or missing & held:
                wrong.append((number, namespace, foretold, held, run["spec"], run["policies"]))
    assert wrong == []
    assert (told["taken"], told["missing"], told["open"]) == _TOLD[name]


@pytest.mark.parametrize("name", FILES)
def test_no_template_is_foretold_to_take_all_where_it_took_a_part(name: str) -> None:
    vectors, wrong, told = read_vectors(name), [], Counter[str]()
    for number, run in enumerate(vectors.runs):
        plan, _ = _plan(name, vectors, run)
        for namespace in vectors.namespaces:
            coverage = planned_coverage(plan, namespace)
            taken = run["taken"].get(namespace, {}) if run["taken"] else {}
            is_all = bool(run["taken"]) and took_all(vectors.objects(namespace), taken)
            told[coverage.extent.value] += 1
            if (coverage.extent is Extent.ALL and not is_all) or (coverage.extent is Extent.NONE and taken):
                wrong.append((number, namespace, str(coverage), run["spec"], run["policies"], taken))
    assert wrong == []
    assert told["not known"] == 0


def test_a_method_is_named_only_where_it_takes_every_volume() -> None:
    assert ForetoldVolumes().method is VolumeMethod.NONE
