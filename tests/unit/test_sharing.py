"""Equal parts of decoded objects are one, and the objects are what they were."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from foretop_core.models import (
    Backup,
    NonAdminBackup,
    PersistentVolume,
    PersistentVolumeClaim,
    PodVolumeBackup,
    Resource,
    Schedule,
)
from foretop_core.models.kinds import KINDS
from foretop_core.models.sharing import SharedParts
from foretop_core.models.wire import as_json, decode


def nab(number: int, **spec: Any) -> bytes:
    accepted = {"type": "Accepted", "status": "True", "reason": "BackupAccepted", "message": "backup accepted"}
    velero = {"name": f"v{number}", "namespace": "openshift-adp", "status": {"phase": "Completed"}}
    return json.dumps(
        {
            "metadata": {"name": f"nab-{number}", "namespace": "team-a", "labels": {"team": "a"}, "finalizers": ["f"]},
            "spec": {"backupSpec": {"includedNamespaces": ["team-a"], "ttl": "720h0m0s", **spec}},
            "status": {"phase": "Created", "conditions": [accepted], "veleroBackup": velero},
        }
    ).encode()


def test_equal_parts_are_one() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number))) for number in range(2))
    assert one.spec is two.spec
    assert one.metadata.labels is two.metadata.labels
    assert one.metadata.finalizers is two.metadata.finalizers
    assert one.namespace is two.namespace
    assert one.status.conditions[0].message is two.status.conditions[0].message
    assert one.velero.namespace is two.velero.namespace
    assert one.velero.status is not None
    assert two.velero.status is not None
    assert one.velero.status.phase is two.velero.status.phase


@pytest.mark.parametrize("model", [kind.model for kind in KINDS])
def test_an_object_stays_what_it_was(model: type[Resource]) -> None:
    parts = SharedParts()
    for number in range(3):
        body = nab(number, ttl=f"{number}h0m0s", labelSelector={"matchLabels": {"app": str(number)}})
        try:
            plain, shared = decode(model, body), parts.share(decode(model, body))
        except msgspec.ValidationError:
            return
        assert shared == plain
        assert as_json(shared) == as_json(plain)


def test_what_differs_is_not_shared() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number, ttl=f"{number}h0m0s"))) for number in range(2))
    assert (one.spec.backup_spec.ttl, two.spec.backup_spec.ttl) == ("0h0m0s", "1h0m0s")


def test_empty_objects_have_nothing_to_share() -> None:
    parts = SharedParts()
    for model in (Backup, Schedule, Resource):
        assert parts.share(decode(model, b"{}")) == model()


def test_what_is_kept_beyond_its_object_is_short() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number, ttl="x" * 20_000))) for number in range(2))
    assert one.spec is not two.spec
    assert one.metadata.labels is two.metadata.labels


def movement(number: int, **annotations: str) -> PodVolumeBackup:
    owner = {"apiVersion": "velero.io/v1", "kind": "Backup", "name": "nightly", "uid": "b", "controller": True}
    body = {
        "metadata": {
            "name": f"nightly-{number}",
            "namespace": "velero",
            "labels": {"velero.io/backup-name": "nightly", "velero.io/pvc-uid": f"u{number}"},
            "annotations": {"velero.io/pvc-name": f"data-{number}", **annotations},
            "ownerReferences": [owner],
        },
        "spec": {
            "node": "worker-1",
            "pod": {"name": f"db-{number}", "namespace": "shop", "uid": f"p{number}"},
            "volume": "data",
            "backupStorageLocation": "default",
            "uploaderType": "kopia",
        },
        "status": {"phase": "Completed", "progress": {"bytesDone": 7, "totalBytes": 7}},
    }
    return decode(PodVolumeBackup, json.dumps(body).encode())


def test_of_movements_what_names_no_volume_is_one() -> None:
    parts = SharedParts()
    one, two = (parts.share(movement(number)) for number in range(2))
    assert one.metadata.owner_references is two.metadata.owner_references
    assert one.backup_name is two.backup_name
    assert one.spec.pod is two.spec.pod
    for name in ("node", "volume", "backup_storage_location", "uploader_type"):
        assert getattr(one.spec, name) is getattr(two.spec, name)
    assert [item.metadata.labels["velero.io/pvc-uid"] for item in (one, two)] == ["u0", "u1"]


def test_no_spec_or_labels_of_one_volume_outlive_it() -> None:
    few, many = SharedParts(), SharedParts()
    for parts, count in ((few, 2), (many, 200)):
        for number in range(count):
            parts.share(movement(number))
            parts.share(claim(number))
    assert few._parts.keys() == many._parts.keys()


def test_words_begin_anew_where_too_many_are_kept() -> None:
    parts = SharedParts()
    for number in range(5000):
        parts.share(movement(number))
    one, two = (parts.share(movement(number)) for number in (1, 2))
    assert one.spec.node is two.spec.node
    assert len(parts._words) <= 4096


def test_the_claim_of_a_movement_is_kept_and_not_the_annotations_that_only_name_it() -> None:
    plain, marked = movement(1), movement(1, **{"meta.helm.sh/release-name": "shop"})
    assert plain.claim == marked.claim == ("shop", "data-1")
    assert not plain.metadata.annotations
    assert marked.annotation("meta.helm.sh/release-name") == "shop"


def claim(number: int, **annotations: str) -> PersistentVolumeClaim:
    meta = {
        "name": f"data-{number}",
        "namespace": "shop",
        "uid": f"u{number}",
        "labels": {"app": "db"},
        "annotations": {"pv.kubernetes.io/bind-completed": "yes", **annotations},
        "finalizers": ["kubernetes.io/pvc-protection"],
        "managedFields": [{"manager": "kube-controller-manager"}],
        "ownerReferences": [{"kind": "StatefulSet", "name": "db", "uid": "s"}],
    }
    spec = {"volumeName": f"pvc-{number}", "storageClassName": "gp3", "accessModes": ["ReadWriteOnce"]}
    return decode(PersistentVolumeClaim, json.dumps({"metadata": meta, "spec": spec}).encode())


def test_of_claims_the_labels_are_kept_and_the_annotation_that_decides() -> None:
    meta = claim(1, **{"velero.io/csi-volumesnapshot-class": "fast"}).metadata
    assert meta.annotations == {"velero.io/csi-volumesnapshot-class": "fast"}
    assert (meta.uid, meta.labels) == ("u1", {"app": "db"})
    assert (meta.finalizers, meta.managed_fields, meta.owner_references) == ((), (), ())
    parts = SharedParts()
    one, two = (parts.share(claim(number)) for number in range(2))
    assert one.metadata.annotations is two.metadata.annotations
    assert one.spec.access_modes is two.spec.access_modes
    assert one.spec.storage_class_name is two.spec.storage_class_name


def test_of_the_source_of_a_volume_what_policies_read_is_kept() -> None:
    source = {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1", "volumeAttributes": {"fs": "ext4"}}
    body = json.dumps({"metadata": {"name": "pvc-1"}, "spec": {"csi": source, "capacity": {"storage": "1Gi"}}}).encode()
    parts = SharedParts()
    one, two = (parts.share(decode(PersistentVolume, body)) for _ in range(2))
    assert one.spec.csi is not None
    assert two.spec.csi is not None
    assert as_json(one.spec.csi) == {"driver": "ebs.csi.aws.com", "volumeAttributes": {"fs": "ext4"}}
    assert one.spec.csi.volume_attributes is two.spec.csi.volume_attributes
    assert one.spec.capacity is two.spec.capacity
