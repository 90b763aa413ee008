"""A tenant's own storage location: requested, decided, used, and deleted."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foretop_demo.controllers import TenantStorageController
from tests.demo.controller_box import ControllerBox, Raw

START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)
WANTED = {"provider": "aws", "objectStorage": {"bucket": "mine"}}


@pytest.fixture
def box() -> ControllerBox:
    box = ControllerBox(START)
    box.add_location()
    box.buckets.make("mine")
    box.velero.start()
    box.non_admin.start()
    TenantStorageController(box.engine, "velero", seed=1).start()
    box.create("NonAdminBackupStorageLocation", "team-a", "minio", {"backupStorageLocationSpec": WANTED})
    box.pass_time(2)
    return box


def own(box: ControllerBox) -> Raw:
    found: Raw = box.get("NonAdminBackupStorageLocation", "team-a", "minio")["status"]
    return found


def decide(box: ControllerBox, decision: str) -> None:
    (request,) = box.all("NonAdminBackupStorageLocationRequest")
    change = {"spec": {"approvalDecision": decision}}
    box.patch("NonAdminBackupStorageLocationRequest", "velero", request["metadata"]["name"], change)
    box.pass_time(2)


def back_up(box: ControllerBox, name: str) -> Raw:
    box.create("NonAdminBackup", "team-a", name, {"backupSpec": {"storageLocation": "minio"}})
    box.pass_time(5)
    found: Raw = box.get("NonAdminBackup", "team-a", name)["status"]
    return found


def test_backups_are_refused_until_the_location_is_approved(box: ControllerBox) -> None:
    (request,) = box.all("NonAdminBackupStorageLocationRequest")
    assert request["status"]["phase"] == "Pending"
    assert request["status"]["nonAdminBackupStorageLocation"]["requestedSpec"] == WANTED
    assert own(box)["phase"] == "New"
    assert back_up(box, "early")["phase"] == "BackingOff"


def test_an_approved_location_is_created_in_velero_and_used(box: ControllerBox) -> None:
    decide(box, "approve")
    assert (own(box)["phase"], own(box)["veleroBackupStorageLocation"]["status"]["phase"]) == (
        "Created",
        "Available",
    )
    assert back_up(box, "late")["veleroBackup"]["status"]["phase"] == "Completed"
    assert len(box.buckets.bucket("mine") or {}) == 1


def test_a_rejected_location_is_not_created(box: ControllerBox) -> None:
    decide(box, "reject")
    assert own(box)["phase"] == "BackingOff"
    assert [body["metadata"]["name"] for body in box.all("BackupStorageLocation")] == ["default"]


def test_deleting_it_deletes_the_velero_location(box: ControllerBox) -> None:
    decide(box, "approve")
    box.delete("NonAdminBackupStorageLocation", "team-a", "minio")
    box.pass_time(2)
    assert box.find("NonAdminBackupStorageLocation", "team-a", "minio") is None
    assert [body["metadata"]["name"] for body in box.all("BackupStorageLocation")] == ["default"]
    assert box.all("NonAdminBackupStorageLocationRequest") == []
