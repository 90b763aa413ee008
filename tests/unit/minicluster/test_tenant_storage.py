"""A tenant's own storage location: asked for, decided on, used, and given up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from foretop_core.minicluster.controllers import TenantStorageController
from tests.unit.minicluster.controller_box import ControllerBox, Raw

START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)
WANTED = {"provider": "aws", "objectStorage": {"bucket": "mine"}}


@pytest.fixture
def table() -> ControllerBox:
    table = ControllerBox(START)
    table.add_location()
    table.buckets.make("mine")
    table.velero.start()
    table.non_admin.start()
    TenantStorageController(table.engine, "velero", seed=1).start()
    table.create("NonAdminBackupStorageLocation", "team-a", "minio", {"backupStorageLocationSpec": WANTED})
    table.pass_time(2)
    return table


def own(table: ControllerBox) -> Raw:
    found: Raw = table.get("NonAdminBackupStorageLocation", "team-a", "minio")["status"]
    return found


def decide(table: ControllerBox, decision: str) -> None:
    (request,) = table.all("NonAdminBackupStorageLocationRequest")
    change = {"spec": {"approvalDecision": decision}}
    table.patch("NonAdminBackupStorageLocationRequest", "velero", request["metadata"]["name"], change)
    table.pass_time(2)


def back_up(table: ControllerBox, name: str) -> Raw:
    table.create("NonAdminBackup", "team-a", name, {"backupSpec": {"storageLocation": "minio"}})
    table.pass_time(5)
    found: Raw = table.get("NonAdminBackup", "team-a", name)["status"]
    return found


def test_backups_are_refused_until_the_location_is_approved(table: ControllerBox) -> None:
    (request,) = table.all("NonAdminBackupStorageLocationRequest")
    assert request["status"]["phase"] == "Pending"
    assert request["status"]["nonAdminBackupStorageLocation"]["requestedSpec"] == WANTED
    assert own(table)["phase"] == "New"
    assert back_up(table, "early")["phase"] == "BackingOff"


def test_an_approved_location_is_created_in_velero_and_used(table: ControllerBox) -> None:
    decide(table, "approve")
    assert (own(table)["phase"], own(table)["veleroBackupStorageLocation"]["status"]["phase"]) == (
        "Created",
        "Available",
    )
    assert back_up(table, "late")["veleroBackup"]["status"]["phase"] == "Completed"
    assert len(table.buckets.bucket("mine") or {}) == 1


def test_a_rejected_location_is_not_created(table: ControllerBox) -> None:
    decide(table, "reject")
    assert own(table)["phase"] == "BackingOff"
    assert [body["metadata"]["name"] for body in table.all("BackupStorageLocation")] == ["default"]


def test_deleting_it_deletes_the_velero_location(table: ControllerBox) -> None:
    decide(table, "approve")
    table.delete("NonAdminBackupStorageLocation", "team-a", "minio")
    table.pass_time(2)
    assert table.find("NonAdminBackupStorageLocation", "team-a", "minio") is None
    assert [body["metadata"]["name"] for body in table.all("BackupStorageLocation")] == ["default"]
    assert table.all("NonAdminBackupStorageLocationRequest") == []
