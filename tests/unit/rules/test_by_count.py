"""Volumes that only the number of a backup's snapshots proves, beside what decided which were to be taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import PersistentVolumeClaim, Pod, PodVolumeBackup, Resource, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.rules.volumes.evidence import VolumeEvidence, VolumeFlags
from foretop_core.rules.volumes.run_plan import Deciders
from tests.objects import backup
from tests.unit.rules.test_coverage_vectors import FILES, MADE, Vectors, as_seen, held_of, read_vectors
from tests.unit.rules.test_foretold import KNOWN, POLICY, SKIP_FAST, config_map, volume, world
from tests.unit.rules.test_foretold_vectors import CSI, deciders


def _pods(vectors: Vectors) -> dict[str, tuple[Pod, ...]]:
    found: dict[str, tuple[Pod, ...]] = {}
    for item in vectors.of_kind("Pod"):
        pod = from_builtins(Pod, item | {"metadata": item["metadata"] | MADE})
        found[pod.namespace] = (*found.get(pod.namespace, ()), pod)
    return found


def _seen(
    name: str,
    vectors: Vectors,
    run: dict[str, Any],
    without: frozenset[tuple[str, str]] = frozenset(),
    *,
    with_pods: bool = True,
) -> ClusterSnapshot:
    """The objects as they are now, with all that decides, but for claims that are gone with their volumes."""
    snapshot, _ = as_seen(vectors, run)
    left = tuple(one for one in snapshot.claims if (one.namespace, one.name) not in without)
    volumes = tuple(
        one for one in snapshot.volumes if (one.spec.claim_ref.namespace, one.spec.claim_ref.name) not in without
    )
    info = VeleroInfo(False, 1, "1.18.3", volume_flags=VolumeFlags(has_csi=name == CSI))
    known = replace(deciders(name, vectors, run), pods=_pods(vectors) if with_pods else {})
    return replace(snapshot, claims=left, volumes=volumes, servers={"velero": info}, deciding={"velero": known})


def _wrong(
    snapshot: ClusterSnapshot, run: dict[str, Any], told: Counter[str]
) -> Iterator[tuple[str, VolumeEvidence, set[str]]]:
    """What is told wrongly of the volumes of a run that are still there."""
    for namespace in filter(None, run["taken"]):
        evidence, held = snapshot.volumes_in(snapshot.backups[0], namespace), held_of(run, namespace)
        taken, missing = {one.name for one in evidence.taken}, {one.name for one in evidence.left_out}
        told.update(taken=len(taken), missing=len(missing), open=len(evidence.open))
        if taken - held or missing & held:
            yield namespace, evidence, held


_TOLD = {
    "coverage-101": {"taken": 55, "missing": 398, "open": 17},
    "coverage-102": {"taken": 52, "missing": 316, "open": 9},
    "coverage-301": {"taken": 1, "missing": 111, "open": 107},
}
"""Open are those of drivers that no server was watched with, and of runs with errors whose pods may be gone."""


@pytest.mark.parametrize("name", FILES)
def test_no_number_of_snapshots_proves_what_was_not_taken(name: str) -> None:
    vectors, told = read_vectors(name), Counter[str]()
    wrong = [one for run in vectors.runs for one in _wrong(_seen(name, vectors, run), run, told)]
    assert wrong == []
    assert told == _TOLD[name]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("with_pods", [True, False])
def test_a_volume_that_is_gone_does_not_stand_in_for_one_that_was_left_out(name: str, with_pods: bool) -> None:
    """Of each run, each volume that it took is deleted in turn, and its pods may be gone too."""
    vectors, told, trials = read_vectors(name), Counter[str](), 0
    for run in vectors.runs:
        held = [(space, claim) for space in vectors.namespaces for claim in sorted(held_of(run, space))]
        for gone in held:
            trials += 1
            left = _seen(name, vectors, run, frozenset({gone}), with_pods=with_pods)
            assert list(_wrong(left, run, told)) == []
    assert trials >= 30


def _claim(name: str = "data", created: str = "2026-11-01T00:00:00Z", uid: str = "") -> Resource:
    return from_builtins(
        PersistentVolumeClaim,
        {
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": created, "uid": uid},
            "spec": {"volumeName": f"pv-{name}", "storageClassName": "fast"},
            "status": {"phase": "Bound"},
        },
    )


def _nfs(name: str) -> Resource:
    return volume(name, nfs={"server": "a"})


def _pod_of(claim: str, created: str) -> Pod:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    meta = {"name": "p", "namespace": "shop", "creationTimestamp": created}
    return from_builtins(Pod, {"metadata": meta, "spec": {"volumes": volumes}, "status": {"phase": "Running"}})


def _proven(
    *objects: Resource,
    snapshots: int = 1,
    warnings: int = 0,
    ended: str = "",
    deciding: Deciders | None = KNOWN,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> tuple[list[str], list[str], str]:
    """What is told of the volumes of a namespace: taken, left out, and why some are open."""
    template = {"includedNamespaces": ["shop"], "includeClusterResources": None, **spec}
    counts: Any = {"volumeSnapshotsAttempted": snapshots, "volumeSnapshotsCompleted": snapshots, "warnings": warnings}
    run = backup(started="02:00:00", ended=ended, spec=template, annotations=annotations, **counts)
    elsewhere = from_builtins(PodVolumeBackup, {"metadata": {"name": "x", "namespace": "velero"}})
    found = world(run, elsewhere, *objects, deciding=deciding).volumes_in(run, "shop")
    return [one.name for one in found.taken], [one.name for one in found.left_out], found.unknown


def test_as_many_snapshots_as_were_to_be_made_prove_those_and_no_others() -> None:
    assert _proven(_claim(), volume()) == (["data"], [], "")
    assert _proven(_claim(), volume(), _claim("logs"), _nfs("logs")) == (["data"], ["logs"], "")


def test_what_a_policy_skips_was_left_out() -> None:
    held = replace(KNOWN, config_maps={"policy": config_map(SKIP_FAST)})
    slow = volume("logs", awsElasticBlockStore={"volumeID": "b"}, storageClassName="slow")
    found = _proven(_claim(), volume(), _claim("logs"), slow, deciding=held, resourcePolicy=POLICY)
    assert found == (["logs"], ["data"], "")


_TELLS = "its volume info tells which"


def test_a_claim_that_was_deleted_since_does_not_have_its_snapshot_counted_for_another() -> None:
    """`data` had the one snapshot and is gone, and `logs` is on a volume that no location knows."""
    found = _proven(_claim("logs"), volume("logs", csi={"driver": "csi.example"}))
    assert found == ([], [], f"it has 1 snapshot for 1 volume: {_TELLS}")


def test_a_volume_whose_claim_is_gone_leaves_it_open() -> None:
    """As it stays where it is to be kept; the claim of that name may be another by now."""
    objects = (_claim("logs"), volume("logs"))
    assert _proven(*objects, volume("data"))[2] == (
        f"it has 1 snapshot, and the claim shop/data of pv-data is gone: {_TELLS}"
    )
    again = volume("logs", awsElasticBlockStore={}, claimRef={"namespace": "shop", "name": "logs", "uid": "before"})
    assert _proven(_claim("logs", uid="now"), again)[2] == (
        f"it has 1 snapshot, and the claim shop/logs of pv-logs is gone: {_TELLS}"
    )
    another = volume("b", awsElasticBlockStore={}, claimRef={"namespace": "bank", "name": "b"})
    assert _proven(*objects, another) == (["logs"], [], "")


def test_a_claim_that_was_made_since_leaves_it_open() -> None:
    """It may have taken the place of one that had the snapshot."""
    later = _claim("data", "2026-11-15T02:00:01Z")
    found = _proven(later, volume(), _claim("logs"), volume("logs"))
    assert found == ([], [], f"it has 1 snapshot, and shop/data was made later: {_TELLS}")


def _changed(at: str) -> Deciders:
    made = config_map(SKIP_FAST)
    body = {
        "metadata": {
            "name": "policy",
            "namespace": "velero",
            "creationTimestamp": "2026-11-01T00:00:00Z",
            "managedFields": [{"manager": "kubectl", "time": at}],
        },
        "data": dict(made.data),
    }
    return replace(KNOWN, config_maps={"policy": from_builtins(ConfigMap, body)})


def test_a_policy_that_was_changed_since_leaves_it_open() -> None:
    slow = volume("logs", awsElasticBlockStore={"volumeID": "b"}, storageClassName="slow")
    objects = (_claim(), volume(), _claim("logs"), slow)
    held, later = _changed("2026-11-15T01:00:00Z"), _changed("2026-11-15T02:30:00Z")
    assert _proven(*objects, deciding=held, resourcePolicy=POLICY) == (["logs"], ["data"], "")
    found = _proven(*objects, deciding=later, resourcePolicy=POLICY)
    assert found == ([], [], f"it has 1 snapshot, and the policies in policy were changed later: {_TELLS}")


def test_what_was_not_read_leaves_it_open_by_its_name() -> None:
    refused = replace(KNOWN, locations=None, unread={"VolumeSnapshotLocations": "you may not list them"})
    why = f"it has 1 snapshot, and of shop/data it is not known: you may not list them: {_TELLS}"
    assert _proven(_claim(), volume(), deciding=refused) == ([], [], why)
    assert _proven(_claim(), volume(), deciding=None)[2].endswith(f"pods were not read: {_TELLS}")
    assert _proven(_claim())[2].endswith(f"its PersistentVolume was not found: {_TELLS}")


def test_a_template_that_would_be_refused_now_was_not_the_one_that_ran() -> None:
    gone = replace(KNOWN, config_maps={"policy": None})
    assert "Velero would refuse it now" in _proven(_claim(), volume(), deciding=gone, resourcePolicy=POLICY)[2]


def test_a_copy_that_was_read_from_storage_may_be_of_another_cluster() -> None:
    """Its snapshots are then of the volumes there, whatever their number."""
    synced = _proven(_claim(), volume(), ended="02:00:02")
    assert synced[2].endswith(f"it was read from storage, and may be of another cluster: {_TELLS}")
    assert _proven(_claim(), volume(), ended="02:00:04") == (["data"], [], "")


def test_a_file_copy_of_an_earlier_backup_of_that_name_proves_nothing() -> None:
    """It stays where somebody deletes the Backup alone and makes another one."""

    def copied(at: str) -> Resource:
        meta = {"name": "x", "namespace": "velero", "labels": {"velero.io/backup-name": "one"}}
        spec = {"pod": {"namespace": "shop", "name": "db-0"}}
        status = {"phase": "Completed", "startTimestamp": at, "completionTimestamp": at}
        body = {"metadata": meta | {"annotations": {"velero.io/pvc-name": "data"}}, "spec": spec, "status": status}
        return from_builtins(PodVolumeBackup, body)

    earlier, of_it = copied("2026-11-14T02:00:05Z"), copied("2026-11-15T02:00:05Z")
    assert _proven(_claim(), volume(), of_it, snapshots=0) == (["data"], [], "")
    assert _proven(_claim(), volume(), earlier, snapshots=0) == ([], ["data"], "")


def test_other_policies_of_the_server_leave_it_open() -> None:
    mark = {"velero.io/global-backup-volume-policy-configmap": "before"}
    assert "policies of its server are others now" in _proven(_claim(), volume(), annotations=mark)[2]


def test_a_volume_of_nobody_may_have_one_of_the_snapshots() -> None:
    """With all cluster-scoped resources come the PersistentVolumes of every namespace, and of none."""
    nobodys = volume("x", awsElasticBlockStore={}, claimRef={})
    bank = from_builtins(
        PersistentVolumeClaim,
        {
            "metadata": {"name": "b", "namespace": "bank", "creationTimestamp": "2026-11-01T00:00:00Z"},
            "spec": {"volumeName": "pv-b", "storageClassName": "fast"},
            "status": {"phase": "Bound"},
        },
    )
    of_bank = volume("b", awsElasticBlockStore={}, claimRef={"namespace": "bank", "name": "b"})
    objects = (_claim(), volume())
    assert _proven(*objects, includeClusterResources=True) == (["data"], [], "")
    assert "pv-x belongs to no claim" in _proven(*objects, nobodys, includeClusterResources=True)[2]
    both = (*objects, bank, of_bank)
    assert _proven(*both, includeClusterResources=True, snapshots=2) == (["data"], [], "")
    assert "perhaps of volumes of other namespaces" in _proven(*both, includeClusterResources=True)[2]


def test_a_file_copy_that_failed_may_have_been_of_a_pod_that_is_gone() -> None:
    """A warning that no volume explains: a pod that did not run lost its volume, and neither is there any more."""
    mounted = replace(KNOWN, pods={"shop": (_pod_of("data", "2026-11-01T00:00:00Z"),)})
    moved = replace(KNOWN, pods={"shop": (_pod_of("data", "2026-11-15T02:10:00Z"),)})
    objects = (_claim(), volume())
    assert "shop/data has no pod that is as old" in _proven(*objects, warnings=1)[2]
    assert "shop/data has no pod that is as old" in _proven(*objects, warnings=1, deciding=moved)[2]
    assert _proven(*objects, warnings=1, deciding=mounted) == (["data"], [], "")
    assert _proven(*objects, _claim("logs"), _nfs("logs"), warnings=1) == (["data"], ["logs"], "")


def test_of_very_many_claims_none_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.rules.volumes.by_count.MOST_COUNTED", 1)
    found = _proven(_claim(), volume(), _claim("logs"), volume("logs"), snapshots=2)
    assert "more than 1 claims" in found[2]


@pytest.mark.parametrize(
    "spec",
    [
        {"includedNamespaces": ["shop"], "includedClusterScopedResources": ["persistentvolumes"]},
        {"includedResources": ["pv", "persistentvolumeclaims"]},
    ],
)
def test_a_claim_with_the_label_is_not_taken_for_left_out_where_its_volume_is_listed_by_itself(
    spec: dict[str, Any],
) -> None:
    """Velero makes a snapshot of each PersistentVolume that it lists, whatever label its claim has."""
    labelled = from_builtins(
        PersistentVolumeClaim,
        {
            "metadata": {
                "name": "data",
                "namespace": "shop",
                "creationTimestamp": "2026-11-01T00:00:00Z",
                "labels": {"velero.io/exclude-from-backup": "true"},
            },
            "spec": {"volumeName": "pv-data", "storageClassName": "fast"},
            "status": {"phase": "Bound"},
        },
    )
    counts: Any = {"volumeSnapshotsAttempted": 1, "volumeSnapshotsCompleted": 1}
    run = backup("one", spec=spec, started="2026-11-15T02:00:03Z", **counts)
    evidence = world(run, labelled, volume()).volumes_in(run, "shop")
    assert ([one.name for one in evidence.taken], evidence.left_out) == (["data"], ())
