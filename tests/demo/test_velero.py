"""Velero in the box beyond the recordings: expiry, refusals, volumes, restores and restarts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foretop_core.models import Backup, Restore
from foretop_demo.controllers import Flags, SimulatedRun, VolumeTransfer
from tests.demo.controller_box import QUICK, ControllerBox, Raw

START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)


def opened(flags: Flags | None = None, **works: SimulatedRun) -> ControllerBox:
    """A box with a running Velero; `works` gives the work of runs by name."""

    def work_of(run: Backup | Restore) -> SimulatedRun:
        return works.get(run.name, QUICK)

    box = ControllerBox(START, flags, work_of)
    box.add_location()
    box.velero.start()
    box.pass_time(1)
    return box


def back_up(box: ControllerBox, name: str, namespaces: tuple[str, ...] = ("shop",), **spec: Any) -> None:
    box.create("Backup", "velero", name, {"includedNamespaces": list(namespaces), **spec})


def status(box: ControllerBox, kind: str, name: str) -> Raw:
    found: Raw = box.get(kind, "velero", name).get("status") or {}
    return found


# ── expiry and deletion ──────────────────────────────────────────────────────────────────────────────────────


def test_an_expired_backup_is_deleted_with_its_data_within_the_hour() -> None:
    box = opened()
    back_up(box, "short", ttl="30m0s")
    back_up(box, "long", ttl="5h0m0s")
    box.pass_time(20 * 60)
    assert box.find("Backup", "velero", "short") is not None
    box.pass_time(75 * 60)
    assert box.find("Backup", "velero", "short") is None
    assert box.all("DeleteBackupRequest") == []
    assert list(box.buckets.bucket("backups") or {}) == ["long"]
    assert status(box, "Backup", "long")["phase"] == "Completed"


@pytest.mark.parametrize(
    ("change", "label"),
    [({"accessMode": "ReadOnly"}, "BSLReadOnly"), (None, "BSLNotFound")],
)
def test_an_expired_backup_that_cannot_be_deleted_has_the_reason(change: Raw | None, label: str) -> None:
    box = opened()
    back_up(box, "short", ttl="30m0s")
    box.pass_time(60)
    if change is None:
        box.delete("BackupStorageLocation", "velero", "default")
    else:
        box.patch("BackupStorageLocation", "velero", "default", {"spec": change})
    box.pass_time(100 * 60)
    assert box.get("Backup", "velero", "short")["metadata"]["labels"]["velero.io/gc-failure"] == label
    assert box.all("DeleteBackupRequest") == []


def test_a_failed_delete_request_has_errors_and_is_kept_for_a_day() -> None:
    box = opened(slow=SimulatedRun(timedelta(minutes=10), 100))
    back_up(box, "slow")
    box.pass_time(1)
    box.create("DeleteBackupRequest", "velero", "of-running", {"backupName": "slow"})
    box.create("DeleteBackupRequest", "velero", "of-nothing", {"backupName": "nowhere"})
    box.pass_time(1)
    assert status(box, "DeleteBackupRequest", "of-running") == {
        "phase": "Processed",
        "errors": ["backup deletion failed: backup is still in progress"],
    }
    found = status(box, "DeleteBackupRequest", "of-nothing")["errors"]
    assert found == ["backup deletion failed: backup not found"]
    box.pass_time(24 * 3600)
    assert box.all("DeleteBackupRequest") == []


def test_before_1_18_3_a_delete_request_gives_its_error_alone() -> None:
    box = ControllerBox(START, Flags(version="1.18.2"))
    box.add_location()
    box.velero.start()
    box.create("DeleteBackupRequest", "velero", "of-nothing", {"backupName": "nowhere"})
    box.pass_time(1)
    assert status(box, "DeleteBackupRequest", "of-nothing")["errors"] == ["backup not found"]


def test_a_restore_of_a_missing_backup_is_refused_in_the_words_of_velero() -> None:
    box = opened()
    box.create("Restore", "velero", "again", {"backupName": "nowhere"})
    box.pass_time(1)
    assert status(box, "Restore", "again")["validationErrors"] == [
        'Error retrieving backup: can\'t find backup velero/nowhere: Backup.velero.io "nowhere" not found'
    ]


def test_a_deleted_backup_object_is_synced_back_while_its_data_exists() -> None:
    box = opened()
    back_up(box, "kept")
    box.pass_time(10)
    before = box.get("Backup", "velero", "kept")
    box.delete("Backup", "velero", "kept")
    box.pass_time(90)
    after = box.get("Backup", "velero", "kept")
    assert after["status"] == before["status"]
    assert after["metadata"]["creationTimestamp"] > before["status"]["completionTimestamp"]


# ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_overtakes_one_with_a_namespace_conflict() -> None:
    slow = SimulatedRun(timedelta(minutes=5), 100)
    box = opened(Flags(concurrent_backups=2), first=slow, second=slow, third=slow)
    back_up(box, "first", ("shop",))
    back_up(box, "second", ("shop", "blog"))
    back_up(box, "third", ("wiki",))
    box.pass_time(1)
    phases = {name: status(box, "Backup", name)["phase"] for name in ("first", "second", "third")}
    assert phases == {"first": "InProgress", "second": "Queued", "third": "InProgress"}


def test_after_a_restart_running_backups_fail_and_waiting_ones_continue() -> None:
    slow = SimulatedRun(timedelta(minutes=5), 100)
    box = opened(running=slow)
    back_up(box, "running")
    back_up(box, "waiting")
    box.pass_time(5)
    box.velero.kill()
    box.pass_time(600)
    assert status(box, "Backup", "running")["phase"] == "InProgress"
    box.velero.start()
    box.pass_time(5)
    assert status(box, "Backup", "running")["phase"] == "Failed"
    assert "during the server starting" in status(box, "Backup", "running")["failureReason"]
    assert status(box, "Backup", "waiting")["phase"] == "Completed"


def test_progress_grows_to_the_end_and_a_failure_is_reported() -> None:
    box = opened(
        steady=SimulatedRun(timedelta(minutes=2), 100, steps=4, warnings=2),
        broken=SimulatedRun(timedelta(minutes=1), 50, failure="bucket full"),
    )
    seen: list[int] = []
    box.storage.subscribe(lambda kind, change: seen.append(_done(change.body)) if kind.kind == "Backup" else None)
    back_up(box, "steady", ("shop",))
    box.pass_time(200)
    assert sorted(set(seen)) == [0, 25, 50, 75, 100]
    assert seen == sorted(seen)
    assert status(box, "Backup", "steady")["warnings"] == 2
    back_up(box, "broken", ("shop",))
    box.pass_time(200)
    ended = status(box, "Backup", "broken")
    assert (ended["phase"], ended["failureReason"]) == ("Failed", "bucket full")


def _done(body: Raw) -> int:
    return int(((body.get("status") or {}).get("progress") or {}).get("itemsBackedUp", 0))


# ── volumes ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_file_system_backups_keep_the_backup_in_progress_one_at_a_time_per_node() -> None:
    moves = (
        VolumeTransfer("PodVolumeBackup", "one", 2, minutes=2),
        VolumeTransfer("PodVolumeBackup", "two", 4, minutes=2),
    )
    box = opened(files=SimulatedRun(timedelta(seconds=10), 10, moves=moves))
    back_up(box, "files")
    box.pass_time(90)
    assert status(box, "Backup", "files")["phase"] == "InProgress"
    assert [item["status"]["phase"] for item in box.all("PodVolumeBackup")] == ["InProgress", "Accepted"]
    box.pass_time(300)
    assert status(box, "Backup", "files")["phase"] == "Completed"
    done = [item["status"]["progress"]["bytesDone"] for item in box.all("PodVolumeBackup")]
    assert done == [2_000_000_000, 4_000_000_000]


def test_uploads_have_a_waiting_phase_and_a_failed_one_fails_the_backup_partially() -> None:
    moves = (
        VolumeTransfer("DataUpload", "good", 2),
        VolumeTransfer("DataUpload", "bad", 2, "worker-2", fails="connection reset"),
    )
    box = opened(snap=SimulatedRun(timedelta(seconds=10), 10, moves=moves))
    back_up(box, "snap")
    box.pass_time(60)
    assert status(box, "Backup", "snap")["phase"] == "WaitingForPluginOperations"
    box.pass_time(600)
    ended = status(box, "Backup", "snap")
    assert (ended["phase"], ended["errors"]) == ("PartiallyFailed", 1)
    messages = {item["spec"]["sourcePVC"]: item["status"].get("message") for item in box.all("DataUpload")}
    assert messages == {"good": None, "bad": "connection reset"}


def test_a_cancelled_upload_ends_cancelled() -> None:
    box = opened(
        snap=SimulatedRun(timedelta(seconds=10), 10, moves=(VolumeTransfer("DataUpload", "big", 90, minutes=60),))
    )
    back_up(box, "snap")
    box.pass_time(600)
    (upload,) = box.all("DataUpload")
    box.patch("DataUpload", "velero", upload["metadata"]["name"], {"spec": {"cancel": True}})
    box.pass_time(600)
    assert box.all("DataUpload")[0]["status"]["phase"] == "Canceled"
    assert status(box, "Backup", "snap")["phase"] == "PartiallyFailed"


# ── restores, locations, requests ────────────────────────────────────────────────────────────────────────────


def test_restores_run_one_at_a_time_and_need_their_backup() -> None:
    slow = SimulatedRun(timedelta(minutes=2), 40)
    box = opened(first=slow)
    back_up(box, "kept")
    box.pass_time(10)
    box.create("Restore", "velero", "first", {"backupName": "kept"})
    box.create("Restore", "velero", "second", {"backupName": "kept"})
    box.create("Restore", "velero", "third", {"backupName": "nowhere"})
    box.pass_time(30)
    assert status(box, "Restore", "first")["phase"] == "InProgress"
    assert "phase" not in status(box, "Restore", "second")
    box.pass_time(300)
    assert [status(box, "Restore", name)["phase"] for name in ("first", "second", "third")] == [
        "Completed",
        "Completed",
        "FailedValidation",
    ]


def test_a_restore_brings_back_as_many_items_as_its_backup_has_taken() -> None:
    box = opened(kept=SimulatedRun(timedelta(seconds=5), 1250), back=SimulatedRun(timedelta(seconds=5), 240))
    back_up(box, "kept")
    box.pass_time(30)
    box.create("Restore", "velero", "back", {"backupName": "kept"})
    box.pass_time(30)
    assert status(box, "Restore", "back")["progress"] == {"totalItems": 1250, "itemsRestored": 1250}


def _add_policy(box: ControllerBox, text: str) -> None:
    body = {"metadata": {"name": "policy", "namespace": "velero"}, "data": {"policy.yaml": text}}
    box.storage.create(box.storage.kind("ConfigMap"), body)


def test_a_backup_is_refused_for_its_policy_in_the_words_of_velero() -> None:
    box, policy = opened(), {"kind": "configmap", "name": "policy"}
    back_up(box, "early", resourcePolicy=policy)
    box.pass_time(5)
    assert status(box, "Backup", "early")["validationErrors"] == [
        'invalid resource policies: fail to get ResourcePolicies velero/policy ConfigMap: ConfigMap "policy" not found'
    ]
    _add_policy(box, "version: v1")
    back_up(box, "right", resourcePolicy=policy)
    box.pass_time(60)
    assert status(box, "Backup", "right")["phase"] == "Completed"


def test_a_location_without_its_bucket_is_unavailable_until_it_is_back() -> None:
    box = opened()
    box.add_location("offsite", "elsewhere")
    box.pass_time(5)
    assert status(box, "BackupStorageLocation", "offsite")["phase"] == "Unavailable"
    back_up(box, "refused", storageLocation="offsite")
    box.pass_time(5)
    assert status(box, "Backup", "refused")["phase"] == "FailedValidation"
    box.buckets.make("elsewhere")
    box.pass_time(60)
    found = status(box, "BackupStorageLocation", "offsite")
    assert (found["phase"], "message" in found) == ("Available", False)
    box.buckets.drop("elsewhere")
    box.pass_time(60)
    assert "NoSuchBucket" in status(box, "BackupStorageLocation", "offsite")["message"]


def test_disabled_checks_leave_no_pulse() -> None:
    box = opened()
    box.patch(
        "BackupStorageLocation", "velero", "default", {"spec": {"validationFrequency": "0s", "backupSyncPeriod": "0s"}}
    )
    box.pass_time(5)
    before = status(box, "BackupStorageLocation", "default")
    box.pass_time(300)
    assert status(box, "BackupStorageLocation", "default") == before


# ── releases ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("version", "cron", "problem"),
    [
        ("1.14", "0 2 * * *", ""),
        ("1.14", "61 2 * * *", "End of range (61) above maximum (59): 61"),
        ("1.17.2", "61 2 * * *", "end of range (61) above maximum (59): 61"),
        ("1.18.3", "61 2 * * *", 'end of range (61) above maximum (59): "61"'),
        ("1.14", "CRON_TZ=UTC 0 2 * * *", "Expected exactly 5 fields, found 6: CRON_TZ=UTC 0 2 * * *"),
        ("1.15", "CRON_TZ=UTC 0 2 * * *", ""),
        ("1.18.2", "0 22-2 * * *", "beginning of range (22) beyond end of range (2): 22-2"),
        ("1.18", "0 22-2 * * *", ""),
        ("1.18.3", "*/60 * * * *", 'step (60) must be less than range size (60): "*/60"'),
    ],
)
def test_a_schedule_is_validated_with_the_messages_of_the_release(version: str, cron: str, problem: str) -> None:
    box = opened(Flags(version=version))
    box.create("Schedule", "velero", "odd", {"schedule": cron, "template": {}})
    box.pass_time(1)
    found = status(box, "Schedule", "odd")
    assert found["phase"] == ("FailedValidation" if problem else "Enabled")
    assert found.get("validationErrors") == ([f"invalid schedule: {problem}"] if problem else None)


def test_another_release_validates_the_same_schedules_again() -> None:
    box = opened(Flags(version="1.14"))
    box.create("Schedule", "velero", "zoned", {"schedule": "CRON_TZ=UTC * * * * *", "template": {}})
    box.pass_time(90)
    assert (status(box, "Schedule", "zoned")["phase"], box.all("Backup")) == ("FailedValidation", [])
    box.velero.restart("1.17.2")
    box.pass_time(1)
    assert status(box, "Schedule", "zoned")["phase"] == "Enabled"
    assert len(box.all("Backup")) == 1


def test_a_release_without_a_queue_gives_waiting_backups_no_status() -> None:
    box = opened(Flags(version="1.17.2"), first=SimulatedRun(timedelta(minutes=5), 100))
    back_up(box, "first")
    back_up(box, "second")
    box.pass_time(5)
    assert status(box, "Backup", "first")["phase"] == "InProgress"
    assert status(box, "Backup", "second") == {}


def test_a_server_status_request_returns_the_version() -> None:
    box = opened()
    box.create("ServerStatusRequest", "velero", "who", {})
    box.pass_time(1)
    assert status(box, "ServerStatusRequest", "who")["serverVersion"] == "v1.18.3"
    box.pass_time(120)
    assert box.all("ServerStatusRequest") == []
