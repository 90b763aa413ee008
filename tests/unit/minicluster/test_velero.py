"""Velero in the box where no recording leads: expiry, refusals, volumes, restores and restarts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foretop_core.minicluster.controllers import Flags, SimulatedRun, VolumeTransfer
from foretop_core.models import Backup, Restore
from tests.unit.minicluster.stage import QUICK, Raw, Table

START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)


def opened(flags: Flags | None = None, **works: SimulatedRun) -> Table:
    """A box with Velero at work; `works` tells the work of runs by name."""

    def work_of(run: Backup | Restore) -> SimulatedRun:
        return works.get(run.name, QUICK)

    table = Table(START, flags, work_of)
    table.add_location()
    table.velero.start()
    table.pass_time(1)
    return table


def back_up(table: Table, name: str, namespaces: tuple[str, ...] = ("shop",), **spec: Any) -> None:
    table.create("Backup", "velero", name, {"includedNamespaces": list(namespaces), **spec})


def status(table: Table, kind: str, name: str) -> Raw:
    found: Raw = table.get(kind, "velero", name).get("status") or {}
    return found


# ── expiry and deletion ──────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_that_has_outlived_its_time_goes_within_the_hour_with_its_data() -> None:
    table = opened()
    back_up(table, "short", ttl="30m0s")
    back_up(table, "long", ttl="5h0m0s")
    table.pass_time(20 * 60)
    assert table.find("Backup", "velero", "short") is not None
    table.pass_time(75 * 60)
    assert table.find("Backup", "velero", "short") is None
    assert table.all("DeleteBackupRequest") == []
    assert list(table.buckets.bucket("backups") or {}) == ["long"]
    assert status(table, "Backup", "long")["phase"] == "Completed"


@pytest.mark.parametrize(
    ("change", "label"),
    [({"accessMode": "ReadOnly"}, "BSLReadOnly"), (None, "BSLNotFound")],
)
def test_an_expired_backup_that_cannot_go_says_why(change: Raw | None, label: str) -> None:
    table = opened()
    back_up(table, "short", ttl="30m0s")
    table.pass_time(60)
    if change is None:
        table.delete("BackupStorageLocation", "velero", "default")
    else:
        table.patch("BackupStorageLocation", "velero", "default", {"spec": change})
    table.pass_time(100 * 60)
    assert table.get("Backup", "velero", "short")["metadata"]["labels"]["velero.io/gc-failure"] == label
    assert table.all("DeleteBackupRequest") == []


def test_a_request_that_cannot_be_met_is_processed_with_its_errors_and_kept_for_a_day() -> None:
    table = opened(slow=SimulatedRun(timedelta(minutes=10), 100))
    back_up(table, "slow")
    table.pass_time(1)
    table.create("DeleteBackupRequest", "velero", "of-running", {"backupName": "slow"})
    table.create("DeleteBackupRequest", "velero", "of-nothing", {"backupName": "nowhere"})
    table.pass_time(1)
    assert status(table, "DeleteBackupRequest", "of-running") == {
        "phase": "Processed",
        "errors": ["backup deletion failed: backup is still in progress"],
    }
    found = status(table, "DeleteBackupRequest", "of-nothing")["errors"]
    assert found == ["backup deletion failed: backup not found"]
    table.pass_time(24 * 3600)
    assert table.all("DeleteBackupRequest") == []


def test_before_1_18_3_a_request_gives_its_error_alone() -> None:
    table = Table(START, Flags(version="1.18.2"))
    table.add_location()
    table.velero.start()
    table.create("DeleteBackupRequest", "velero", "of-nothing", {"backupName": "nowhere"})
    table.pass_time(1)
    assert status(table, "DeleteBackupRequest", "of-nothing")["errors"] == ["backup not found"]


def test_a_restore_of_no_backup_is_refused_in_the_words_of_velero() -> None:
    table = opened()
    table.create("Restore", "velero", "again", {"backupName": "nowhere"})
    table.pass_time(1)
    assert status(table, "Restore", "again")["validationErrors"] == [
        'Error retrieving backup: can\'t find backup velero/nowhere: Backup.velero.io "nowhere" not found'
    ]


def test_a_deleted_backup_object_comes_back_while_its_data_is_there() -> None:
    table = opened()
    back_up(table, "kept")
    table.pass_time(10)
    before = table.get("Backup", "velero", "kept")
    table.delete("Backup", "velero", "kept")
    table.pass_time(90)
    after = table.get("Backup", "velero", "kept")
    assert after["status"] == before["status"]
    assert after["metadata"]["creationTimestamp"] > before["status"]["completionTimestamp"]


# ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_backup_overtakes_one_whose_namespace_is_taken() -> None:
    slow = SimulatedRun(timedelta(minutes=5), 100)
    table = opened(Flags(concurrent_backups=2), first=slow, second=slow, third=slow)
    back_up(table, "first", ("shop",))
    back_up(table, "second", ("shop", "blog"))
    back_up(table, "third", ("wiki",))
    table.pass_time(1)
    phases = {name: status(table, "Backup", name)["phase"] for name in ("first", "second", "third")}
    assert phases == {"first": "InProgress", "second": "Queued", "third": "InProgress"}


def test_a_killed_server_leaves_what_ran_failed_and_takes_up_what_waited() -> None:
    slow = SimulatedRun(timedelta(minutes=5), 100)
    table = opened(running=slow)
    back_up(table, "running")
    back_up(table, "waiting")
    table.pass_time(5)
    table.velero.kill()
    table.pass_time(600)
    assert status(table, "Backup", "running")["phase"] == "InProgress"
    table.velero.start()
    table.pass_time(5)
    assert status(table, "Backup", "running")["phase"] == "Failed"
    assert "during the server starting" in status(table, "Backup", "running")["failureReason"]
    assert status(table, "Backup", "waiting")["phase"] == "Completed"


def test_progress_grows_to_the_end_and_a_failure_is_told() -> None:
    table = opened(
        steady=SimulatedRun(timedelta(minutes=2), 100, steps=4, warnings=2),
        broken=SimulatedRun(timedelta(minutes=1), 50, failure="bucket full"),
    )
    seen: list[int] = []
    table.storage.subscribe(lambda kind, change: seen.append(_done(change.body)) if kind.kind == "Backup" else None)
    back_up(table, "steady", ("shop",))
    table.pass_time(200)
    assert sorted(set(seen)) == [0, 25, 50, 75, 100]
    assert seen == sorted(seen)
    assert status(table, "Backup", "steady")["warnings"] == 2
    back_up(table, "broken", ("shop",))
    table.pass_time(200)
    ended = status(table, "Backup", "broken")
    assert (ended["phase"], ended["failureReason"]) == ("Failed", "bucket full")


def _done(body: Raw) -> int:
    return int(((body.get("status") or {}).get("progress") or {}).get("itemsBackedUp", 0))


# ── volumes ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_file_system_backups_hold_the_backup_in_progress_and_one_node_moves_one_at_a_time() -> None:
    moves = (
        VolumeTransfer("PodVolumeBackup", "one", 2, minutes=2),
        VolumeTransfer("PodVolumeBackup", "two", 4, minutes=2),
    )
    table = opened(files=SimulatedRun(timedelta(seconds=10), 10, moves=moves))
    back_up(table, "files")
    table.pass_time(90)
    assert status(table, "Backup", "files")["phase"] == "InProgress"
    assert [item["status"]["phase"] for item in table.all("PodVolumeBackup")] == ["InProgress", "Accepted"]
    table.pass_time(300)
    assert status(table, "Backup", "files")["phase"] == "Completed"
    done = [item["status"]["progress"]["bytesDone"] for item in table.all("PodVolumeBackup")]
    assert done == [2_000_000_000, 4_000_000_000]


def test_uploads_are_waited_for_in_a_phase_of_their_own_and_a_failed_one_spoils_the_backup() -> None:
    moves = (
        VolumeTransfer("DataUpload", "good", 2),
        VolumeTransfer("DataUpload", "bad", 2, "worker-2", fails="connection reset"),
    )
    table = opened(snap=SimulatedRun(timedelta(seconds=10), 10, moves=moves))
    back_up(table, "snap")
    table.pass_time(60)
    assert status(table, "Backup", "snap")["phase"] == "WaitingForPluginOperations"
    table.pass_time(600)
    ended = status(table, "Backup", "snap")
    assert (ended["phase"], ended["errors"]) == ("PartiallyFailed", 1)
    messages = {item["spec"]["sourcePVC"]: item["status"].get("message") for item in table.all("DataUpload")}
    assert messages == {"good": None, "bad": "connection reset"}


def test_a_cancelled_upload_ends_cancelled() -> None:
    table = opened(
        snap=SimulatedRun(timedelta(seconds=10), 10, moves=(VolumeTransfer("DataUpload", "big", 90, minutes=60),))
    )
    back_up(table, "snap")
    table.pass_time(600)
    (upload,) = table.all("DataUpload")
    table.patch("DataUpload", "velero", upload["metadata"]["name"], {"spec": {"cancel": True}})
    table.pass_time(600)
    assert table.all("DataUpload")[0]["status"]["phase"] == "Canceled"
    assert status(table, "Backup", "snap")["phase"] == "PartiallyFailed"


# ── restores, locations, requests ────────────────────────────────────────────────────────────────────────────


def test_restores_go_one_at_a_time_and_one_without_its_backup_is_refused() -> None:
    slow = SimulatedRun(timedelta(minutes=2), 40)
    table = opened(first=slow)
    back_up(table, "kept")
    table.pass_time(10)
    table.create("Restore", "velero", "first", {"backupName": "kept"})
    table.create("Restore", "velero", "second", {"backupName": "kept"})
    table.create("Restore", "velero", "third", {"backupName": "nowhere"})
    table.pass_time(30)
    assert status(table, "Restore", "first")["phase"] == "InProgress"
    assert "phase" not in status(table, "Restore", "second")
    table.pass_time(300)
    assert [status(table, "Restore", name)["phase"] for name in ("first", "second", "third")] == [
        "Completed",
        "Completed",
        "FailedValidation",
    ]


def test_a_location_without_its_bucket_is_unavailable_until_it_is_back() -> None:
    table = opened()
    table.add_location("offsite", "elsewhere")
    table.pass_time(5)
    assert status(table, "BackupStorageLocation", "offsite")["phase"] == "Unavailable"
    back_up(table, "refused", storageLocation="offsite")
    table.pass_time(5)
    assert status(table, "Backup", "refused")["phase"] == "FailedValidation"
    table.buckets.make("elsewhere")
    table.pass_time(60)
    found = status(table, "BackupStorageLocation", "offsite")
    assert (found["phase"], "message" in found) == ("Available", False)
    table.buckets.drop("elsewhere")
    table.pass_time(60)
    assert "NoSuchBucket" in status(table, "BackupStorageLocation", "offsite")["message"]


def test_checks_that_are_switched_off_leave_no_pulse() -> None:
    table = opened()
    table.patch(
        "BackupStorageLocation", "velero", "default", {"spec": {"validationFrequency": "0s", "backupSyncPeriod": "0s"}}
    )
    table.pass_time(5)
    before = status(table, "BackupStorageLocation", "default")
    table.pass_time(300)
    assert status(table, "BackupStorageLocation", "default") == before


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
def test_a_schedule_is_validated_in_the_words_of_the_release(version: str, cron: str, problem: str) -> None:
    table = opened(Flags(version=version))
    table.create("Schedule", "velero", "odd", {"schedule": cron, "template": {}})
    table.pass_time(1)
    found = status(table, "Schedule", "odd")
    assert found["phase"] == ("FailedValidation" if problem else "Enabled")
    assert found.get("validationErrors") == ([f"invalid schedule: {problem}"] if problem else None)


def test_another_release_reads_the_same_schedules_anew() -> None:
    table = opened(Flags(version="1.14"))
    table.create("Schedule", "velero", "zoned", {"schedule": "CRON_TZ=UTC * * * * *", "template": {}})
    table.pass_time(90)
    assert (status(table, "Schedule", "zoned")["phase"], table.all("Backup")) == ("FailedValidation", [])
    table.velero.restart("1.17.2")
    table.pass_time(1)
    assert status(table, "Schedule", "zoned")["phase"] == "Enabled"
    assert len(table.all("Backup")) == 1


def test_a_release_without_a_queue_gives_waiting_backups_no_status() -> None:
    table = opened(Flags(version="1.17.2"), first=SimulatedRun(timedelta(minutes=5), 100))
    back_up(table, "first")
    back_up(table, "second")
    table.pass_time(5)
    assert status(table, "Backup", "first")["phase"] == "InProgress"
    assert status(table, "Backup", "second") == {}


def test_a_server_tells_its_version_when_it_is_asked() -> None:
    table = opened()
    table.create("ServerStatusRequest", "velero", "who", {})
    table.pass_time(1)
    assert status(table, "ServerStatusRequest", "who")["serverVersion"] == "v1.18.3"
    table.pass_time(120)
    assert table.all("ServerStatusRequest") == []
