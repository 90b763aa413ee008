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
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import VELERO, obj

_NAMESPACES_ONLY = Rule(("get", "list", "watch"), ("",), ("namespaces",))
NO_NAMESPACES = User("no-namespaces", (Rule(("get", "list", "watch"), ("velero.io", "apps"), ("*",)),))


def _space(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _copy(name: str, namespace: str, phase: str = "Completed") -> dict[str, Any]:
    status = {
        "phase": phase,
        "startTimestamp": "2026-11-15T02:40:00Z",
        "completionTimestamp": "2026-11-15T02:41:00Z",
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
    # The box makes the claims now, and so the copy of them is one of later.
    newest = _copy("shop-1", "shop")
    newest["status"] |= {"startTimestamp": "2036-01-01T00:00:00Z", "completionTimestamp": "2036-01-01T00:01:00Z"}
    others = [one for one in OBJECTS if one["metadata"]["name"] != "shop-1"]
    with box_in_thread([*others, newest, *claims, moved], [no_claims]) as box:
        shop = rows(kubeconfig(box, tmp_path), capsys)["shop"]
        assert shop["state"] == "volumes missing"
        assert shop["volumesTaken"] == [
            {"name": "cart", "method": "file system", "byCount": False, "byVolumeInfo": False, "bytes": 5_000}
        ]
        assert shop["volumesLeftOut"] == [{"name": "orders", "why": "no snapshot and no file copy of it was made"}]
        shop = rows(kubeconfig(box, tmp_path, "no-claims"), capsys)["shop"]
        assert (shop["state"], shop["volumesTaken"]) == ("not known", [])
        assert shop["volumesUnknown"] == "its PersistentVolumeClaims were not read"


def test_findings_name_what_nothing_covers(
    box: LocalApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["get", "findings", "-o", "json", "--kubeconfig", kubeconfig(box, tmp_path)])
    found = {(one["code"], one["name"]) for one in json.loads(capsys.readouterr().out)["items"]}
    assert ("namespace-uncovered", "wiki") in found
    assert not {name for code, name in found if code == "namespace-uncovered"} & {"shop", "legacy", "velero"}
