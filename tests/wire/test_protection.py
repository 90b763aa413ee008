"""`foretop get protection` over HTTP: for those who see everything, and for those who may not list namespaces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, wire
from tests.wire.boxes import box_in_thread, kubeconfig, living_box
from tests.wire.test_commands import VELERO, obj

__all__ = ["wire"]
_NAMESPACES_ONLY = Rule(("get", "list", "watch"), ("",), ("namespaces",))
NO_NAMESPACES = User("no-namespaces", (Rule(("get", "list", "watch"), ("velero.io", "apps"), ("*",)),))


def _space(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _copy(name: str, namespace: str, phase: str = "Completed") -> dict[str, Any]:
    status = {
        "phase": phase,
        # The box makes the namespaces now, and so the copies of them are ones of later.
        "startTimestamp": "2036-01-01T00:00:00Z",
        "completionTimestamp": "2036-01-01T00:01:00Z",
        "expiration": "2036-12-15T02:40:00Z",
    }
    return obj("Backup", name, {"includedNamespaces": [namespace], "storageLocation": "default"}, status=status)


OBJECTS = [
    *map(_space, ("velero", "shop", "wiki")),
    VELERO,
    obj("Schedule", "shop-daily", {"schedule": "0 2 * * *", "template": {"includedNamespaces": ["shop"]}}),
    _copy("shop-1", "shop"),
    _copy("shop-2", "shop", "PartiallyFailed"),
    _copy("legacy-1", "legacy"),
]


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS, [NO_NAMESPACES]) as made:
        yield made


def rows(config: str, capsys: pytest.CaptureFixture[str], *flags: str, code: int = 0) -> dict[str, dict[str, Any]]:
    assert run(["get", "protection", "-o", "json", "--kubeconfig", config, *flags]) == code
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)["items"]}


def test_every_namespace_has_a_row_and_a_deleted_one_with_copies_too(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(kubeconfig(box, tmp_path), capsys)
    assert {"shop", "wiki", "velero", "legacy"} <= found.keys()
    shop = found["shop"]
    assert (shop["state"], shop["newestCopy"]) == ("protected", "shop-1")
    assert (shop["goodCopies"], shop["partialCopies"]) == (1, 1)
    assert [(one["name"], one["covers"]) for one in shop["schedules"]] == [("shop-daily", "all")]
    assert (found["wiki"]["state"], found["wiki"]["exists"]) == ("not covered", True)
    assert (found["legacy"]["state"], found["legacy"]["exists"]) == ("deleted", False)
    assert found["velero"]["state"] == "ignored"


def test_a_deleted_namespace_is_found_by_its_name(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(box, tmp_path)
    found = rows(config, capsys, "-n", "legacy")
    assert {name: row["newestCopy"] for name, row in found.items()} == {"legacy": "legacy-1"}
    assert run(["get", "protection", "--kubeconfig", config, "-n", "nowhere"]) == 2
    assert capsys.readouterr().err == "foretop: Namespace nowhere does not exist\n"


def test_one_namespace_by_name_with_the_copies_that_lie_in_velero_s(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows(kubeconfig(box, tmp_path), capsys, "-n", "shop")
    assert {name: row["newestCopy"] for name, row in found.items()} == {"shop": "shop-1"}


def test_who_may_not_list_namespaces_is_told_that_some_may_be_missing(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = kubeconfig(box, tmp_path, "no-namespaces")
    assert run(["get", "protection", "--kubeconfig", config]) == 1
    told = capsys.readouterr()
    assert "you are not allowed to list and watch namespaces" in told.err
    assert "wiki" not in told.out
    found = rows(config, capsys, code=1)
    assert {name: row["exists"] for name, row in found.items()} == {"shop": None, "legacy": None}


_CLAIM = {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}


def test_volumes_are_proven_by_what_velero_made_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each claim is looked for in the newest copy; who may not list claims is told that it is not known."""
    claims = [
        {
            **_CLAIM,
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": "2026-10-01T00:00:00Z"},
            "spec": {"volumeName": f"pv-{name}"},
            "status": {"phase": "Bound"},
        }
        for name in ("cart", "orders")
    ]
    spec = {
        "backupStorageLocation": "default",
        "node": "n",
        "repoIdentifier": "r",
        "volume": "v",
        "uploaderType": "kopia",
    }
    moved = obj(
        "PodVolumeBackup", "shop-1-cart", {**spec, "pod": {"kind": "Pod", "name": "cart-0", "namespace": "shop"}}
    )
    moved["metadata"] |= {
        "labels": {"velero.io/backup-name": "shop-1"},
        "annotations": {"velero.io/pvc-name": "cart"},
    }
    moved["status"] = {"phase": "Completed", "progress": {"bytesDone": 5_000, "totalBytes": 5_000}}
    no_claims = User("no-claims", (Rule(("get", "list", "watch"), ("velero.io", "apps"), ("*",)), _NAMESPACES_ONLY))
    with box_in_thread([*OBJECTS, *claims, moved], [no_claims]) as box:
        shop = rows(kubeconfig(box, tmp_path), capsys)["shop"]
        assert shop["state"] == "volumes missing"
        assert shop["volumesTaken"] == [
            {"name": "cart", "method": "file system", "byCount": False, "byVolumeInfo": False, "bytes": 5_000}
        ]
        why = "no snapshot and no file copy of it was made"
        assert shop["volumesLeftOut"] == [{"name": "orders", "why": why, "chosen": False}]
        shop = rows(kubeconfig(box, tmp_path, "no-claims"), capsys)["shop"]
        assert (shop["state"], shop["volumesTaken"]) == ("not known", [])
        why = "its PersistentVolumeClaims were not read: you may not list persistentvolumeclaims"
        assert shop["volumesUnknown"] == why


def test_findings_and_the_report_look_at_volumes_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They answer as the exporter and the page of the namespaces do."""
    claim = {
        **_CLAIM,
        "metadata": {"name": "cart", "namespace": "shop"},
        "spec": {"volumeName": "pv-cart"},
        "status": {"phase": "Bound"},
    }
    source = {"claimRef": {"namespace": "shop", "name": "cart"}, "nfs": {"server": "a", "path": "/"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-cart"}, "spec": source}
    place = obj("VolumeSnapshotLocation", "default", {"provider": "aws"})
    with box_in_thread([*OBJECTS, place, claim, volume]) as box:
        for command in (["get", "findings"], ["report"]):
            run([*command, "-o", "json", "--kubeconfig", kubeconfig(box, tmp_path)])
            answer = json.loads(capsys.readouterr().out)
            found = {(one["code"], one["name"]) for one in answer.get("findings") or answer["items"]}
            assert ("volumes-left-out", "shop") in found, command
        run(["handover", "--kubeconfig", kubeconfig(box, tmp_path)])
        assert "next run leaves out 1 volume" in capsys.readouterr().out


def test_what_newest_copies_lack_is_the_same_in_each_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with living_box("protection", tmp_path, 0.01) as (_, path):
        for command in (["get", "findings"], ["report"]):
            run([*command, "-o", "json", "--kubeconfig", path])
            answer = json.loads(capsys.readouterr().out)
            found = answer.get("findings") or answer["items"]
            lacking = {one["name"] for one in found if one["code"] == "namespace-volumes-missing"}
            assert lacking == {"files", "stateful"}, command


def test_findings_name_what_nothing_covers(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["get", "findings", "-o", "json", "--kubeconfig", kubeconfig(box, tmp_path)])
    found = {(one["code"], one["name"]) for one in json.loads(capsys.readouterr().out)["items"]}
    assert ("namespace-uncovered", "wiki") in found
    assert not {name for code, name in found if code == "namespace-uncovered"} & {"shop", "legacy", "velero"}


_PARTS = (
    ("", "persistentvolumeclaims"),
    ("", "persistentvolumes"),
    ("", "pods"),
    ("", "configmaps"),
    ("apps", "deployments"),
    ("velero.io", "volumesnapshotlocations"),
    ("velero.io", "podvolumebackups"),
)
"""What decides about volumes, and what proves them."""
_OTHERS = (
    Rule(("get", "list", "watch"), ("",), ("namespaces",)),
    Rule(("get", "list", "watch"), ("velero.io",), ("schedules", "backups", "restores", "backupstoragelocations")),
    Rule(("get", "list", "watch"), ("velero.io",), ("datauploads", "backuprepositories")),
)


def _without(plural: str) -> User:
    rights = (Rule(("get", "list", "watch"), (group,), (name,)) for group, name in _PARTS if name != plural)
    return User(f"without-{plural}", (*_OTHERS, *rights))


def _with_one_volume() -> list[dict[str, Any]]:
    """A namespace with a claim on a volume that the one snapshot location knows, in the release that is foretold."""
    bound = {**_CLAIM, "metadata": {"name": "cart", "namespace": "shop"}, "spec": {"volumeName": "pv-cart"}}
    source = {
        "claimRef": {"namespace": "shop", "name": "cart"},
        "awsElasticBlockStore": {"volumeID": "vol-1"},
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-cart"}, "spec": source}
    place = obj("VolumeSnapshotLocation", "default", {"provider": "aws"})
    template = {"includedNamespaces": ["shop"], "resourcePolicy": {"kind": "configmap", "name": "policy"}}
    policy = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "policy", "namespace": "velero"},
        "data": {"policy": "version: v1\nvolumePolicies:\n- conditions: {storageClass: [x]}\n  action: {type: skip}\n"},
    }
    one = obj("Schedule", "shop-daily", {"schedule": "0 2 * * *", "template": template})
    others = [each for each in OBJECTS if (each["kind"], each["metadata"]["name"]) != ("Schedule", "shop-daily")]
    return [*others, one, policy, place, bound | {"status": {"phase": "Bound"}}, volume]


def test_each_right_that_is_missing_is_named_where_it_leaves_volumes_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    users = [_without(plural) for _, plural in _PARTS]
    with box_in_thread(_with_one_volume(), users) as box:
        told = {
            user.name: rows(kubeconfig(box, tmp_path, user.name), capsys)["shop"]["schedules"][0]
            for user in (User("admin"), *users)
        }
    taken = [{"name": "cart", "method": "snapshot"}]
    assert told["admin"]["volumesTaken"] == told["without-podvolumebackups"]["volumesTaken"] == taken
    assert told["without-persistentvolumeclaims"]["volumesUnknown"] == (
        "its PersistentVolumeClaims were not read: you may not list persistentvolumeclaims"
    )
    whys = {
        name: [one["why"] for one in schedule["volumesNotKnown"]]
        for name, schedule in told.items()
        if schedule["volumesNotKnown"]
    }
    assert whys == {
        "without-persistentvolumes": ["you may not list persistentvolumes"],
        "without-pods": ["you may not list pods"],
        "without-configmaps": ["you may not get configmaps policy in velero"],
        "without-deployments": ["the release of Velero is not known: you may not list deployments"],
        "without-volumesnapshotlocations": ["you may not list volumesnapshotlocations in velero"],
    }


_VOLUME_KINDS = {*(plural for _, plural in _PARTS[:4]), "volumesnapshotlocations", "podvolumebackups", "storageclasses"}


@pytest.mark.parametrize("what", ["schedules", "protection"])
def test_with_few_rights_nothing_more_is_asked_than_with_all(
    what: str, wire: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever may not see volumes waits for none of them: each is refused once, and not asked for again."""
    asked: dict[str, list[str]] = {}
    blind = User("blind", _OTHERS)
    with box_in_thread(_with_one_volume(), [blind]) as box:
        for user in ("admin", "blind"):
            wire.asked.clear()
            assert run(["get", what, "-o", "json", "--kubeconfig", kubeconfig(box, tmp_path, user)]) == 0
            capsys.readouterr()
            asked[user] = [path.rpartition("/")[2] for method, path in wire.asked if method == "GET"]
    of_volumes = {user: [name for name in names if name in _VOLUME_KINDS] for user, names in asked.items()}
    assert len(of_volumes["blind"]) <= len(of_volumes["admin"])
    # Schedules tell of each run whether Velero refuses it: for a place that it does not know, too.
    of_volumes["admin"] = [name for name in of_volumes["admin"] if name != "volumesnapshotlocations"]
    assert bool(of_volumes["admin"]) is (what == "protection"), "only a page that shows them asks for them"
