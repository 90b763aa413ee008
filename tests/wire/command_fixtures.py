"""What the tests of the writing commands share: a box with something of every kind, and foretop called on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from foretop.cli import run
from foretop_core.models import Schedule, from_builtins
from foretop_demo.access import Rule, User
from foretop_demo.local_api_server import LocalApiServer
from tests.wire.action_fixtures import Wire, a_schedule, wire
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import VELERO, obj

__all__ = ["Foretop", "box", "foretop", "held", "home", "only", "still_box", "wire"]
READER = User("reader", (Rule(("get", "list", "watch"), ("*",), ("*",)),))
BLIND = User(
    "blind",
    (
        Rule(
            ("get", "list", "watch"),
            ("velero.io", "oadp.openshift.io", "apps", "batch", "psc.cronprimer.local"),
            ("*",),
        ),
    ),
)
"""May read all but ConfigMaps, namespaces and the like."""
ENDED = {"phase": "Completed", "startTimestamp": "2026-11-15T02:00:00Z", "completionTimestamp": "2026-11-15T02:01:00Z"}
RUNNING = {"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"}
UPLOAD = {
    "apiVersion": "velero.io/v2alpha1",
    "kind": "DataUpload",
    "metadata": {"name": "up", "namespace": "velero", "labels": {"velero.io/backup-name": "running"}},
    "spec": {
        "snapshotType": "CSI",
        "sourceNamespace": "team-a",
        "sourcePVC": "data-0",
        "backupStorageLocation": "default",
        "operationTimeout": "10m",
    },
    "status": {"phase": "InProgress"},
}
REQUEST = {
    "apiVersion": "oadp.openshift.io/v1alpha1",
    "kind": "NonAdminBackupStorageLocationRequest",
    "metadata": {"name": "ask", "namespace": "velero"},
    "spec": {"approvalDecision": "pending"},
}

PRESCALED = {
    "apiVersion": "psc.cronprimer.local/v1alpha1",
    "kind": "PreScaledCronJob",
    "metadata": {"name": "friday", "namespace": "velero"},
    "spec": {"warmUpTimeMins": 10, "cronJob": {"spec": {"schedule": "0 14-16 * * *"}}},
}


def labelled(name: str, **spec: Any) -> dict[str, Any]:
    item = a_schedule(name, **spec)
    item["metadata"]["labels"] = {"tier": "gold"}
    return item


OBJECTS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "velero"}},
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    VELERO,
    a_schedule("nightly"),
    a_schedule("resting", paused=True),
    labelled("gold-1"),
    labelled("gold-2"),
    obj("Backup", "ended", {"includedNamespaces": ["shop"], "ttl": "24h0m0s"}, status=ENDED),
    obj("Backup", "running", {}, status=RUNNING),
    UPLOAD,
    obj("Restore", "back", {"backupName": "ended"}, status=ENDED),
    obj("NonAdminBackup", "orders", {"backupSpec": {}}),
    obj("NonAdminRestore", "orders-back", {"restoreSpec": {"backupName": "orders"}}),
    REQUEST,
    PRESCALED,
]

Foretop = Callable[..., int]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("FORETOP_READ_ONLY", raising=False)


@pytest.fixture
def box(wire: Wire) -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS, [READER, BLIND]) as made:
        yield made


@pytest.fixture(scope="module")
def still_box() -> Iterator[LocalApiServer]:
    """One box for all that must change nothing."""
    with box_in_thread(OBJECTS) as made:
        yield made


@pytest.fixture
def foretop(box: LocalApiServer, tmp_path: Path) -> Foretop:
    def call(*arguments: str, user: str = "admin") -> int:
        return run([*arguments, "--kubeconfig", kubeconfig(box, tmp_path, user)])

    return call


def held(box: LocalApiServer, name: str) -> Schedule:
    return from_builtins(Schedule, box.storage.get(box.storage.kind("Schedule"), "velero", name))


def only(box: LocalApiServer, kind: str, *but: str) -> dict[str, Any]:
    (found,) = [item for item in box.storage.list(box.storage.kind(kind)) if item["metadata"]["name"] not in but]
    return found
