"""Each problem by itself: its finding, and no finding if there is no problem."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import (
    DeleteBackupRequest,
    NonAdminBackupStorageLocationRequest,
    Pod,
    Resource,
    from_builtins,
)
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.nonadmin_facts import nonadmin_facts
from foretop_core.rules.facts.run_facts import queue_line, run_facts
from foretop_core.rules.sentences import render, with_keys
from foretop_core.rules.snapshot import ClusterSnapshot, ObservedChanges, PhaseChange, VeleroInfo, VisibilityGap
from foretop_core.rules.triage import Finding, Severity, Thresholds, Triage, aggregated, triage
from tests.objects import NOW, at, backup, condition, location, nab, nar, restore, schedule, upload

GOOD_RUNS = [
    backup(
        f"nightly-2026111{day}020003",
        created=f"2026-11-1{day}T02:00:03Z",
        started=f"2026-11-1{day}T02:00:04Z",
        ended=f"2026-11-1{day}T02:10:00Z",
        of="nightly",
    )
    for day in (3, 4, 5)
]


def snapshot(
    *objects: Resource, seen: ObservedChanges | None = None, unseen: tuple[VisibilityGap, ...] = (), slots: int = 1
) -> ClusterSnapshot:
    made = assemble(objects, unseen=unseen)
    return replace(made, servers={"velero": VeleroInfo(False, slots)}, seen=seen or ObservedChanges())


def findings(*objects: Resource, **options: Any) -> list[Finding]:
    return list(triage(snapshot(*objects, **options), NOW).findings)


def codes(*objects: Resource, **options: Any) -> list[str]:
    return [finding.code for finding in findings(*objects, **options)]


def only(*objects: Resource, **options: Any) -> Finding:
    found = findings(*objects, **options)
    assert len(found) == 1, [(finding.code, finding.subject.name) for finding in found]
    return found[0]


def test_a_healthy_cluster_has_no_findings() -> None:
    result = triage(snapshot(location(), schedule(last="02:00:03"), *GOOD_RUNS), NOW)
    assert result.findings == ()
    assert result.calm


def test_invisible_kinds_never_count_as_healthy() -> None:
    gap = VisibilityGap("prod", "BackupStorageLocation", "not allowed")
    result = triage(snapshot(schedule(last="02:00:03"), *GOOD_RUNS, unseen=(gap,)), NOW)
    assert result.findings == ()
    assert result.unseen == (gap,)
    assert not result.calm


def test_what_velero_said_of_a_good_expression_before_a_pause_is_no_finding() -> None:
    for paused in (True, False):
        said = schedule("odd", cron="0 0 * * 1", phase="FailedValidation", paused=paused)
        odd = replace(said, status=replace(said.status, validation_errors=("no such location",)))
        found = [one.code for one in findings(location(), odd, schedule("runs"))]
        assert ("schedule-invalid" in found) is not paused


def test_an_invalid_schedule_has_the_library_s_message() -> None:
    found = only(location(), schedule(cron="0 0 * * 8", phase="FailedValidation"))
    assert (found.code, found.severity) == ("schedule-invalid", Severity.ERROR)
    assert 'end of range (8) above maximum (7): "8"' in render(found.evidence, NOW)


def test_an_expression_that_never_fires_is_a_runaway() -> None:
    found = only(location(), schedule(cron="0 0 31 2 *", last="02:40:03"))
    assert found.code == "schedule-never-fires"
    assert "Pause" in render(found.remedy, NOW)


def test_a_paused_runaway_is_not_a_finding() -> None:
    assert "schedule-never-fires" not in codes(location(), schedule(cron="0 0 31 2 *", paused=True))


def test_an_overdue_schedule_names_the_backup_that_blocks_it() -> None:
    held = backup("nightly-20261115010003", "InProgress", created="01:00:03", started="01:00:03", of="nightly")
    good = backup("nightly-20261115000003", created="00:00:03", started="00:00:03", ended="00:10:00", of="nightly")
    found = only(location(), schedule(cron="0 * * * *", last="01:00:03"), held, good)
    assert found.code == "schedule-overdue"
    assert render(found.what, NOW) == "overdue, held by its last backup"
    assert found.since == at("02:00:00")
    assert [subject.name for subject in found.related] == ["nightly-20261115010003"]
    assert "InProgress for 1 hour and 41 minutes" in render(found.evidence, NOW)
    assert ":03" in render(found.remedy, NOW)


def test_velero_without_a_heartbeat_counts_all_runs_that_stand_still_and_not_only_those_with_a_finding() -> None:
    silent = location(checked="02:36:03", synced="02:36:03")
    waits = [backup(f"a-{number}", "Queued", created="02:40:00", queuePosition=number) for number in range(1, 7)]
    runs = backup("a-0", "InProgress", created="01:30:00", started="01:30:00")
    (found,) = [each for each in findings(silent, runs, *waits) if each.code == "velero-no-pulse"]
    assert render(found.hits, NOW).startswith("7 backups stand still. a-0 was running:")


def test_velero_without_a_heartbeat_is_one_finding_including_the_overdue_ones() -> None:
    silent = location(checked="02:36:03", synced="02:36:03")
    late = [schedule(name, cron="0 * * * *", last="01:00:03") for name in ("a", "b", "c")]
    found = [each for each in findings(silent, *late) if each.severity is Severity.ERROR]
    assert [each.code for each in found] == ["velero-no-pulse"]
    assert {subject.name for subject in found[0].related} == {"a", "b", "c", "default"}
    assert render(found[0].hits, NOW) == "3 schedules wait for Velero, all overdue."
    for number, told in (
        (1, "1 schedule waits for Velero, overdue."),
        (2, "2 schedules wait for Velero, all overdue."),
    ):
        (fewer,) = [each for each in findings(silent, *late[:number]) if each.severity is Severity.ERROR]
        assert render(fewer.hits, NOW) == told
    assert found[0].since == at("02:36:03")


def test_a_server_that_still_makes_backups_has_hanging_storage() -> None:
    silent = location(checked="02:36:03", synced="02:36:03")
    alive = schedule(cron="*/5 * * * *", last="02:40:03")
    fresh = backup("nightly-20261115024003", created="02:40:03", started="02:40:03", ended="02:40:09", of="nightly")
    found = only(silent, alive, fresh)
    assert found.code == "velero-no-pulse"
    assert "storage hangs" in render(found.what, NOW)
    assert render(found.remedy, NOW).endswith("and its log (foretop get pods); see what waits (foretop get queue).")
    runs = backup("a-0", "InProgress", created="01:30:00", started="01:30:00")
    (outage,) = [each for each in findings(silent, alive, fresh, runs) if each.code == "velero-no-pulse"]
    fate = "t stays InProgress until the storage responds; if Velero restarts before, it is marked Failed."
    assert render(outage.hits, NOW).endswith(f"a-0 was running: i{fate}")
    snapshot = assemble([silent, alive, fresh, runs])
    told = run_facts(snapshot, runs, NOW, queue_line(snapshot, "velero", NOW), timedelta(minutes=10)).told
    assert render(told, NOW).endswith(f". I{fate}"), "its pane says the same"


def crashing(**ended: object) -> Pod:
    status = {
        "name": "velero",
        "restartCount": 5,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 2m40s"}},
        "lastState": {"terminated": {"reason": "Error", "exitCode": 1, "finishedAt": "2026-11-15T02:30:00Z", **ended}},
    }
    body = {
        "metadata": {"name": "velero-7d", "namespace": "velero", "labels": {"deploy": "velero"}},
        "spec": {"containers": [{"name": "velero"}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }
    return from_builtins(Pod, body)


@pytest.mark.parametrize(
    ("ended", "told", "raw"),
    [
        ({"message": "starting\nexec format error\n"}, "exit code 1 (Error) at 02:30:00Z.", "exec format error"),
        ({"reason": "OOMKilled", "exitCode": 137}, "exit code 137 (OOMKilled) at 02:30:00Z.", "back-off 2m40s"),
    ],
)
def test_a_server_that_is_down_names_the_crash_of_its_pod(ended: dict[str, object], told: str, raw: str) -> None:
    silent, pod = location(checked="02:36:03", synced="02:36:03"), crashing(**ended)
    for place in (silent, location()):
        held = replace(snapshot(place, pod), servers={"velero": VeleroInfo(False, 1, wanted_pods=1)})
        (found,) = triage(held, NOW).findings
        assert f"Pod velero-7d is in CrashLoopBackOff, 5 restarts; velero ended with {told}" in render(
            found.evidence, NOW
        )
        assert (found.related[0].name, found.raw) == ("velero-7d", raw)
    held = replace(snapshot(silent, pod), servers={"velero": VeleroInfo(False, 1, wanted_pods=1)})
    assert triage(held, NOW).findings[0].what == "down: pod in CrashLoopBackOff"
    ready = replace(snapshot(silent, pod), servers={"velero": VeleroInfo(False, 1, wanted_pods=1, ready_pods=1)})
    assert "CrashLoopBackOff" not in render(triage(ready, NOW).findings[0].evidence, NOW)


def test_a_silent_server_without_a_ready_pod_is_down() -> None:
    silent = location(checked="02:36:03", synced="02:36:03")
    held = replace(snapshot(silent), servers={"velero": VeleroInfo(False, 1, wanted_pods=1)})
    (found,) = triage(held, NOW).findings
    assert (found.code, found.what) == ("velero-no-pulse", "down: no pod of it is ready")
    assert "Its Deployment has 0 of 1 pod ready." in render(found.evidence, NOW)
    assert "object store" not in render(found.remedy, NOW)


def test_a_location_with_disabled_checks_has_no_heartbeat_to_miss() -> None:
    off = location(checked="00:00:03", synced="00:00:03", spec={"validationFrequency": "0s", "backupSyncPeriod": "0"})
    assert codes(off) == []


@pytest.mark.parametrize(
    ("phase", "severity"),
    [("Failed", Severity.ERROR), ("PartiallyFailed", Severity.WARNING), ("FailedValidation", Severity.ERROR)],
)
def test_a_schedule_whose_last_backup_failed(phase: str, severity: Severity) -> None:
    bad = backup("nightly-20261115020003", phase, created="02:00:03", started="02:00:04", of="nightly", errors=3)
    found = only(location(), schedule(last="02:00:03"), *GOOD_RUNS[:2], bad)
    assert (found.code, found.severity) == ("schedule-failing", severity)
    assert found.subject.kind == "Schedule"


def test_a_backup_failed_when_it_ended_and_not_when_it_started() -> None:
    bad = backup("nightly-20261115020003", "Failed", started="02:00:04", ended="02:20:00", of="nightly", errors=3)
    found = only(location(), schedule(last="02:00:03"), *GOOD_RUNS[:2], bad)
    assert found.since == at("02:20:00")
    assert render(found.evidence, NOW).startswith("Its last backup failed: nightly-20261115020003 at 02:20:00Z")
    newer = only(location(), schedule(last="02:30:03"), *GOOD_RUNS[:2], bad)
    assert render(newer.evidence, NOW).startswith("Its newest visible backup failed: nightly-20261115020003 at ")


def test_consecutive_failures_are_counted_with_the_gap_in_protection() -> None:
    bad = [
        backup(
            f"nightly-2026111{day}020003",
            "Failed",
            created=f"2026-11-1{day}T02:00:03Z",
            started=f"2026-11-1{day}T02:00:04Z",
            of="nightly",
        )
        for day in (3, 4, 5)
    ]
    good = backup(
        "nightly-20261112020003", created="2026-11-12T02:00:03Z", started="2026-11-12T02:00:04Z", of="nightly"
    )
    found = only(location(), schedule(last="02:00:03"), good, *bad)
    assert "3 in a row" in render(found.what, NOW)
    assert found.since == at("2026-11-13T02:00:04Z")
    assert "nightly-20261112020003" in render(found.evidence, NOW)


def test_backups_of_an_earlier_schedule_of_that_name_are_ignored() -> None:
    synced = backup(
        "nightly-20260901020003", "Failed", created="02:00:00", started="2026-09-01T02:00:04Z", of="nightly"
    )
    assert codes(location(), schedule(last="02:00:03"), *GOOD_RUNS, synced) == []


def test_a_failed_backup_without_an_owner_is_shown_for_a_day() -> None:
    lost = backup("by-hand", "Failed", started="02:00:04", ended="02:05:00", failureReason="node gone")
    found = only(location(), lost)
    assert (found.code, found.subject.name) == ("backup-failed", "by-hand")
    assert found.raw == "node gone"
    old = backup(
        "by-hand",
        "Failed",
        created="2026-11-10T02:00:00Z",
        started="2026-11-10T02:00:04Z",
        ended="2026-11-10T02:05:00Z",
    )
    assert codes(location(), old) == []


def test_a_restore_that_partially_failed() -> None:
    found = only(location(), restore(phase="PartiallyFailed", completionTimestamp=at("02:05:00").isoformat(), errors=1))
    assert (found.code, found.severity) == ("restore-failed", Severity.WARNING)


def test_a_pause_of_days_says_what_unpausing_would_do() -> None:
    pausing: dict[str, Any] = {
        "managedFields": [
            {"manager": "velero", "time": "2026-11-15T02:00:00Z", "fieldsV1": {"f:status": {}}},
            {"manager": "maria", "time": "2026-11-12T02:14:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}},
        ]
    }
    found = only(location(), schedule("cassandra", "*/30 * * * *", last="2026-11-12T02:00:03Z", paused=True, **pausing))
    assert (found.code, found.severity) == ("schedule-paused-long", Severity.WARNING)
    assert found.since == at("2026-11-12T02:14:00Z")
    assert "paused for 3 days, overdue" in render(found.what, NOW)
    assert render(found.evidence, NOW).startswith("Paused since 12 Nov 02:14Z by maria, no reason given. ")
    assert "145 runs missed" in render(found.evidence, NOW)


def test_a_pause_is_a_finding_from_its_first_overdue_run_on() -> None:
    def found(last: str) -> list[str]:
        return codes(location(), schedule(cron="0 * * * *", last=last, paused=True))

    assert found("02:00:03") == []
    assert found("01:00:03") == ["velero-paused-overdue"]


def test_unavailable_storage_has_a_short_reason() -> None:
    for error, what in (
        ("rpc error: code = Unknown: NoSuchBucket: The specified bucket does not exist.", "bucket does not exist"),
        ("api error AccessDenied: Access Denied", "credentials are refused"),
        ("dial tcp: lookup s3.example: no such host", "its host is not found"),
        ("tls: failed to verify certificate: x509: signed by unknown authority", "its certificate is not trusted"),
        ("dial tcp 10.0.0.1:443: i/o timeout", "cannot be reached"),
        ("", "cannot be used"),
    ):
        found = only(location(phase="Unavailable", message=error))
        assert (found.code, found.what, found.raw) == ("storage-unavailable", what, error.rstrip("."))
        assert found.hits == "No schedule writes to it."


def test_a_location_that_cannot_be_used_names_the_schedules_that_will_be_refused() -> None:
    gone = location("offsite", "Unavailable", message="access denied")
    copy = schedule("copy", "0 4 * * *", last="02:00:03", created="02:00:00", template={"storageLocation": "offsite"})
    found = only(location(), gone, copy)
    assert render(found.hits, NOW) == "1 schedule writes to it: copy. The run of copy at 04:00:00Z is refused."


@pytest.mark.parametrize(
    ("count", "told"), [(1, " 1 copy there is out of reach."), (2, " 2 copies there are out of reach.")]
)
def test_copies_in_a_location_that_cannot_be_used_are_counted(count: int, told: str) -> None:
    copies = [backup(f"b-{n}", started="02:00:00", ended="02:10:00", created="02:00:00") for n in range(count)]
    found = next(one for one in findings(location(phase="Unavailable"), *copies) if one.code == "storage-unavailable")
    assert render(found.hits, NOW) == f"No schedule writes to it.{told}"


def test_a_location_that_is_checked_but_no_longer_synced() -> None:
    found = only(location(synced="01:00:03"))
    assert (found.code, found.since) == ("storage-not-synced", at("01:00:03"))


def test_a_schedule_that_writes_to_a_read_only_location() -> None:
    frozen = location("archive", spec={"accessMode": "ReadOnly"})
    found = only(location(), frozen, schedule(last="02:00:03", template={"storageLocation": "archive"}), *GOOD_RUNS)
    assert found.code == "schedule-location-read-only"


def test_a_schedule_that_writes_to_a_missing_location() -> None:
    found = only(location(), schedule(last="02:00:03", template={"storageLocation": "nope"}), *GOOD_RUNS)
    assert found.code == "schedule-location-missing"


def test_forbidden_locations_are_not_reported_missing() -> None:
    gap = VisibilityGap("", "BackupStorageLocation", "not allowed")
    assert codes(schedule(last="02:00:03", template={"storageLocation": "nope"}), *GOOD_RUNS, unseen=(gap,)) == []


@pytest.mark.parametrize(
    ("labels", "extra", "why"),
    [
        ({"velero.io/gc-failure": "BSLReadOnly"}, {}, "read-only"),
        ({}, {"phase": "Unavailable", "message": "no"}, "unavailable"),
        ({}, {"name": "another"}, "its storage location no longer exists"),
        ({}, {}, "no visible reason"),
    ],
)
def test_an_expired_backup_that_still_exists_has_a_reason(
    labels: dict[str, str], extra: dict[str, Any], why: str
) -> None:
    old = backup("old", labels=labels, expiration="2026-11-14T00:00:00Z", spec={"storageLocation": "default"})
    found = [each for each in findings(location(**extra), old) if each.code == "backup-expired"]
    assert len(found) == 1
    assert why in render(found[0].evidence, NOW)


@pytest.mark.parametrize(
    ("namespace", "name", "why", "raw"),
    [
        ("velero", "old", "deleting it failed", "no such key"),
        ("velero", "another", "no visible reason", ""),
        ("velero-two", "old", "no visible reason", ""),
    ],
)
def test_an_expired_backup_names_the_error_of_its_own_deletion(namespace: str, name: str, why: str, raw: str) -> None:
    old = backup("old", expiration="2026-11-14T00:00:00Z", spec={"storageLocation": "default"})
    meta, status = {"name": "d", "namespace": namespace}, {"phase": "Processed", "errors": ["no such key"]}
    asked = from_builtins(DeleteBackupRequest, {"metadata": meta, "spec": {"backupName": name}, "status": status})
    (found,) = [one for one in findings(location(), old, asked) if one.code == "backup-expired"]
    assert render(found.evidence, NOW).endswith(f" and Velero has not deleted it: {why}.")
    assert found.raw == raw


def test_an_expired_backup_that_is_being_deleted_is_not_still_there() -> None:
    going, kept = (
        backup(name, phase, expiration="2026-11-14T00:00:00Z", spec={"storageLocation": "default"})
        for name, phase in (("going", "Deleting"), ("kept", "Completed"))
    )
    told = [one.subject.name for one in findings(location(), going, kept) if one.code == "backup-expired"]
    assert told == ["kept"]


def test_velero_was_restarted_and_a_backup_lost() -> None:
    reason = 'found a backup with status "InProgress" during the server starting, mark it as "Failed"'
    lost = backup("g", "Failed", started="02:20:00", ended="02:35:19", failureReason=reason)
    assert sorted(codes(location(), lost)) == ["backup-failed", "velero-restarted"]


@pytest.mark.parametrize(
    ("progress", "what"),
    [
        ({}, "no progress, no items yet"),
        ({"totalItems": 1000}, "no progress at 0%"),
        ({"totalItems": 1000, "itemsBackedUp": 995}, "no progress at 99%"),
        ({"totalItems": 1000, "itemsBackedUp": 1000}, "its data does not move"),
    ],
)
def test_a_backup_that_does_not_come_on_says_where_it_stands(progress: dict[str, int], what: str) -> None:
    stuck = backup("one", "InProgress", started="01:00:03", progress=progress)
    seen = ObservedChanges(moved={ObjectRef("", "Backup", "velero", "one"): at("01:10:00")})
    assert [one.what for one in findings(location(), stuck, seen=seen) if one.code == "backup-stuck"] == [what]


def test_a_backup_without_progress_in_items_or_bytes() -> None:
    stuck = backup("one", "InProgress", started="01:00:03", progress={"totalItems": 9880, "itemsBackedUp": 1204})
    moving = upload(phase="InProgress", progress={"bytesDone": 3_100_000_000, "totalBytes": 40_000_000_000})
    seen = ObservedChanges(
        moved={
            ObjectRef("", "Backup", "velero", "one"): at("01:10:00"),
            ObjectRef("", "DataUpload", "velero", "up"): at("02:03:07"),
        }
    )
    found = only(location(), stuck, moving, seen=seen)
    assert (found.code, found.since) == ("backup-stuck", at("02:03:07"))
    assert "1,204 of 9,880 items and 3.1 GB of 40.0 GB of volume data-0, unchanged for 38 minutes." in render(
        found.evidence, NOW
    )
    never_moved = replace(seen, unmoved=frozenset(seen.moved))
    found = only(location(), stuck, moving, seen=never_moved)
    assert "data-0, unchanged for at least 38 minutes." in render(found.evidence, NOW)


def test_a_backup_with_all_its_items_is_stuck_with_its_data() -> None:
    done = {"totalItems": 9880, "itemsBackedUp": 9880}
    stuck = backup("one", "WaitingForPluginOperations", started="01:00:03", progress=done)
    seen = ObservedChanges(moved={ObjectRef("", "Backup", "velero", "one"): at("01:10:00")})
    assert only(location(), stuck, seen=seen).what == "its data does not move"


def test_unchanged_items_are_not_a_stall_while_bytes_move() -> None:
    stuck = backup("one", "InProgress", started="01:00:03")
    moving = upload(phase="InProgress")
    seen = ObservedChanges(
        moved={
            ObjectRef("", "Backup", "velero", "one"): at("01:10:00"),
            ObjectRef("", "DataUpload", "velero", "up"): at("02:40:07"),
        }
    )
    assert codes(location(), stuck, moving, seen=seen) == []


def test_a_volume_that_waits_names_its_node() -> None:
    waits = upload(phase="Accepted", acceptedByNode="worker-3", acceptedTimestamp=at("02:10:00").isoformat())
    found = only(location(), backup("one", "WaitingForPluginOperations", started="02:00:04"), waits)
    assert found.code == "movement-waiting"
    assert "Volume data-0 waits: Accepted since 02:10:00Z on node worker-3." in render(found.evidence, NOW)


def test_a_volume_that_waits_behind_another_on_its_node_is_not_blamed_on_the_node_agent() -> None:
    long_ago = at("02:10:00")
    waits = upload(phase="Accepted", acceptedByNode="worker-3", acceptedTimestamp=long_ago.isoformat())
    runs = [
        backup("one", "WaitingForPluginOperations", started="02:00:04"),
        backup("two", "WaitingForPluginOperations", started="02:00:05"),
    ]
    seen = ObservedChanges(moved={ObjectRef("", "Backup", "velero", "one"): long_ago})
    moving = upload("big", "InProgress", of="two", node="worker-3")
    found = only(location(), *runs, waits, moving, seen=seen)
    assert (found.code, found.severity) == ("movement-waiting", Severity.NOTE)
    assert render(found.what, NOW) == "waits its turn on its node"
    assert "Meanwhile worker-3 moves volume data-0 of two." in render(found.evidence, NOW)
    assert "node agent pod" not in render(found.remedy, NOW)
    elsewhere = upload("big", "InProgress", of="two", node="worker-4")
    assert "Check the node agent pod" in render(findings(location(), *runs, waits, elsewhere, seen=seen)[0].remedy, NOW)
    later = upload("big", "InProgress", of="two", node="worker-3", created="02:20:00")
    assert "Check the node agent pod" in render(findings(location(), *runs, waits, later, seen=seen)[0].remedy, NOW)


@pytest.mark.parametrize(
    ("since", "told"), [("02:30:00", ["backup-not-starting"]), ("02:39:07", ["backup-not-starting"]), ("02:39:08", [])]
)
def test_one_that_is_ready_to_start_for_two_minutes_is_stuck_after_a_restart(since: str, told: list[str]) -> None:
    seen = ObservedChanges(phase_since={ObjectRef("", "Backup", "velero", "one"): at(since)})
    found = findings(location(), backup("one", "ReadyToStart", created="02:29:00"), seen=seen)
    assert [(one.code, one.since) for one in found] == [(code, at(since)) for code in told]


def test_one_that_was_ready_before_anybody_watched_is_stuck_since_the_last_that_moved() -> None:
    ready = backup("one", "ReadyToStart", created="02:29:00")
    before = backup("before", created="02:20:00", started="02:20:01", ended="02:38:00")
    (found,) = findings(location(), ready, before)
    assert (found.code, found.since) == ("backup-not-starting", at("02:38:00"))
    finishing = backup("before", "Finalizing", created="02:20:00", started="02:20:01")
    assert "backup-not-starting" not in codes(location(), ready, finishing), "it may have given up its slot just now"


def test_a_queue_stalled_with_a_free_slot_for_two_minutes() -> None:
    ended = backup("first", started="02:30:00", ended="02:35:00", created="02:29:00")
    waits = backup("second", "Queued", created="02:34:00", queuePosition=1, spec={"includedNamespaces": ["a"]})
    found = only(location(), ended, waits)
    assert (found.code, found.since) == ("queue-stalled", at("02:35:00"))
    assert render(found.remedy, NOW).endswith("check its pod and log.")


@pytest.mark.parametrize(("ended", "told"), [("02:39:06", ["queue-stalled"]), ("02:39:07", [])])
def test_a_slot_may_be_free_for_two_minutes_while_one_waits(ended: str, told: list[str]) -> None:
    first = backup("first", started="02:30:00", ended=ended, created="02:29:00")
    waits = backup("second", "Queued", created="02:34:00", queuePosition=1, spec={"includedNamespaces": ["a"]})
    assert codes(location(), first, waits) == told


def test_a_stalled_queue_names_the_refused_backup_that_velero_may_still_count() -> None:
    refused = [backup(name, "FailedValidation", created=f"02:3{at}:00") for at, name in enumerate(("old", "new"))]
    waits = backup("next", "Queued", created="02:34:00", queuePosition=1)
    (found,) = [one for one in findings(location(), *refused, waits) if one.code == "queue-stalled"]
    assert render(found.remedy, NOW) == "Velero may still count new, which it refused: restart its pod."


def test_a_stalled_queue_names_the_known_bug_of_a_release_that_has_it() -> None:
    refused = backup("new", "FailedValidation", created="02:31:00")
    waits = backup("next", "Queued", created="02:34:00", queuePosition=1)

    def remedy(version: str) -> str:
        cluster = assemble((location(), refused, waits), given_versions={"": version})
        (found,) = [one for one in triage(cluster, NOW).findings if one.code == "queue-stalled"]
        return str(render(found.remedy, NOW))

    known = " Known bug: velero #10519, seen in 1.18.0 to 1.18.3, not fixed yet."
    assert remedy("1.18.2").endswith(known)
    assert "Known bug" not in remedy("1.18.4")


def test_a_queue_in_which_one_after_the_other_is_refused_is_not_stalled() -> None:
    """Each costs the next a minute; when it was refused is told by its expiration alone."""
    spec, expires = {"ttl": "1h0m0s"}, (NOW + timedelta(minutes=59)).isoformat()
    refused = backup("first", "FailedValidation", created="02:30:00", spec=spec, expiration=expires)
    waits = backup("next", "Queued", created="02:30:00", queuePosition=1)
    assert "queue-stalled" not in codes(location(), refused, waits)


def test_a_queue_that_waits_for_the_next_pass_is_normal() -> None:
    ended = backup("first", started="02:30:00", ended="02:40:00", created="02:29:00")
    waits = backup("second", "Queued", created="02:34:00", queuePosition=1)
    assert codes(location(), ended, waits) == []


def test_a_refused_nab_shows_the_controller_s_message() -> None:
    refusal = condition(
        "Accepted", "False", "InvalidBackupSpec", "NonAdminBackup spec.backupSpec.excludedNamespaces is restricted"
    )
    found = only(location(), nab(phase="BackingOff", conditions=[refusal]))
    assert (found.code, found.subject.kind) == ("nonadmin-refused", "NonAdminBackup")
    assert render(found.what, NOW) == "refused: excludedNamespaces"
    assert render(found.evidence, NOW).startswith('The controller refuses it: "excludedNamespaces is restricted".')
    assert "spec.backupSpec.excludedNamespaces" in found.raw


def test_a_fixed_nab_that_is_still_backing_off_is_not_a_finding() -> None:
    assert (
        codes(location(), nab(phase="BackingOff", conditions=[condition("Accepted", "True", "BackupAccepted")])) == []
    )


def test_a_nab_whose_velero_backup_vanished_went_backwards() -> None:
    gone = condition("Accepted", "False", "VeleroBackupNotFound", "its backup has been removed")
    found = only(location(), nab(phase="BackingOff", conditions=[gone]))
    assert (found.code, found.severity) == ("nonadmin-went-back", Severity.WARNING)
    assert render(found.what, NOW) == "its Velero backup is gone"
    assert render(found.remedy, NOW).startswith("Ask the owner in team-a to create a new one, and find out who deleted")


def expiring(expiration: str) -> dict[str, Any]:
    status = {"phase": "Completed", "completionTimestamp": "2026-10-15T02:10:00Z", "expiration": expiration}
    return {"nacuuid": "u-1", "name": "v-1", "namespace": "velero", "status": status}


def test_of_an_expired_velero_backup_nobody_looks_for_who_deleted_it() -> None:
    gone = condition("Accepted", "False", "VeleroBackupNotFound", "its backup has been removed", "02:20:00")
    expired = nab(phase="BackingOff", conditions=[gone], veleroBackup=expiring("2026-11-15T02:00:00Z"))
    found = only(location(), expired)
    assert (found.code, found.severity, found.needs_action) == ("nonadmin-went-back", Severity.NOTE, False)
    assert render(found.what, NOW) == "its Velero backup has expired"
    assert render(found.evidence, NOW) == "Its Velero backup expired at 02:00:00Z, and Velero has deleted it."
    assert render(found.remedy, NOW) == "No action is needed. The owner in team-a can delete it."
    assert nonadmin_facts(snapshot(expired), expired, NOW).severity is Severity.NOTE
    early = nab(phase="BackingOff", conditions=[gone], veleroBackup=expiring("2026-11-15T02:30:00Z"))
    assert "find out who deleted" in render(only(location(), early).remedy, NOW)


@pytest.mark.parametrize(
    ("expiration", "evidence"),
    [
        ("2026-11-15T02:00:00Z", "It still reports Completed, but its Velero backup expired at 02:00:00Z and is gone."),
        ("2026-12-15T02:00:00Z", "It still reports Completed, but its Velero backup v-1 no longer exists."),
    ],
)
def test_a_nab_that_reports_a_backup_that_velero_no_longer_has_is_a_warning(expiration: str, evidence: str) -> None:
    unnoticed, other = nab(veleroBackup=expiring(expiration)), backup("other")
    found = only(location(), other, unnoticed)
    assert (found.code, found.severity) == ("nonadmin-backup-gone", Severity.WARNING)
    assert render(found.what, NOW) == "its Velero backup is gone"
    assert render(found.evidence, NOW) == evidence
    facts = nonadmin_facts(snapshot(location(), other, unnoticed), unnoticed, NOW)
    assert facts.severity is Severity.WARNING
    assert render(facts.why, NOW) == evidence


def test_a_partial_copy_that_velero_no_longer_has_is_gone_and_has_no_log_to_read() -> None:
    partial = {**expiring("2026-12-15T02:00:00Z"), "status": {"phase": "PartiallyFailed", "errors": 2}}
    found = only(location(), backup("other"), nab(veleroBackup=partial))
    assert (found.code, found.severity) == ("nonadmin-backup-gone", Severity.WARNING)
    assert render(found.evidence, NOW).startswith("It still reports PartiallyFailed, but its Velero backup v-1 ")
    failed = nab(veleroBackup={**partial, "status": {"phase": "Failed"}})
    assert not nonadmin_facts(snapshot(backup("other"), failed), failed, NOW).is_gone, "it had no copy"


def test_a_velero_backup_that_the_sync_brought_back_is_not_said_to_be_gone() -> None:
    gone = condition("Accepted", "False", "VeleroBackupNotFound", "its backup has been removed", "02:20:00")
    lost = nab(phase="BackingOff", conditions=[gone], veleroBackup=expiring("2026-11-15T02:00:00Z"))
    again = backup("v-1", labels={NAB_UUID_LABEL: "u-1"})
    found = only(location(), lost, again)
    assert (found.code, found.severity, found.what) == (
        "nonadmin-went-back",
        Severity.WARNING,
        "its Velero backup was gone",
    )
    assert render(found.evidence, NOW) == "Its Velero backup was gone and is there again."
    facts = nonadmin_facts(snapshot(lost, again), lost, NOW)
    assert facts.expired_at is None
    assert render(facts.why, NOW).startswith("Its Velero backup was gone and is there again: "), "as Triage says it"


def test_where_backups_were_not_seen_none_is_said_to_be_gone() -> None:
    unnoticed = nab(veleroBackup=expiring("2026-11-15T02:00:00Z"))
    assert codes(location(), unnoticed) == [], "no backup of that Velero was seen"
    gap = VisibilityGap("", "Backup", "forbidden")
    assert codes(location(), backup("other"), unnoticed, unseen=(gap,)) == []
    there = backup("v-1", labels={NAB_UUID_LABEL: "u-1"})
    assert codes(location(), there, unnoticed) == []


def test_a_phase_observed_going_back_is_an_anomaly() -> None:
    seen = ObservedChanges(
        went_back={ObjectRef("", "NonAdminBackup", "team-a", "orders"): PhaseChange("Created", "New", at("02:30:00"))}
    )
    accepted = condition("Accepted", "True", "BackupAccepted", "backup accepted")
    found = only(location(), nab(phase="New", conditions=[accepted]), seen=seen)
    assert (found.what, found.raw) == ("went back to New", "")
    assert "from Created to New" in render(found.evidence, NOW)


@pytest.mark.parametrize(
    ("spec", "way_out"), [({}, "spec.deleteBackup"), ({"deleteBackup": True}, "DeleteBackupRequest")]
)
def test_a_nab_stuck_deleting_says_how_to_fix_it(spec: dict[str, Any], way_out: str) -> None:
    found = only(location(), nab(phase="Deleting", spec=spec, deleted="02:20:00"))
    assert found.code == "nonadmin-stuck-deleting"
    assert way_out in render(found.remedy, NOW)


def test_a_velero_failure_under_a_created_nab_is_reported_only_for_the_nab() -> None:
    failed = backup(
        "v1",
        "Failed",
        started="02:10:00",
        ended="02:12:00",
        failureReason="no such secret",
        labels={"openshift.io/oadp-nab-origin-nacuuid": "u1"},
    )
    tenant = nab(veleroBackup={"nacuuid": "u1", "name": "v1", "namespace": "velero"})
    found = only(location(), tenant, failed)
    assert (found.code, found.subject.name) == ("nonadmin-velero-failed", "orders")
    assert found.raw == "no such secret"


def test_a_failed_nab_is_no_longer_told_once_a_later_copy_has_all_of_its_namespace() -> None:
    def made(name: str, phase: str, start: str, **spec: Any) -> list[Resource]:
        owner, whole = {"openshift.io/oadp-nab-origin-nacuuid": f"u-{name}"}, {"includedNamespaces": ["team-a"], **spec}
        run = backup(f"v-{name}", phase, created=start, started=start, ended="02:30", labels=owner, spec=whole)
        copied = {"nacuuid": f"u-{name}", "name": f"v-{name}", "namespace": "velero", "status": {"phase": phase}}
        return [run, nab(name, created=start, spec={"backupSpec": whole}, veleroBackup=copied)]

    known = [location(), *made("failed", "PartiallyFailed", "02:00"), *made("before", "Completed", "01:00")]
    assert "nonadmin-velero-failed" in codes(*known)
    assert "nonadmin-velero-failed" in codes(
        *known, *made("part", "Completed", "02:10", labelSelector={"matchLabels": {"app": "x"}})
    )
    assert "nonadmin-velero-failed" not in codes(*known, *made("after", "Completed", "02:10"))


def test_a_failed_nar_is_no_longer_told_once_a_later_restore_completed() -> None:
    def made(name: str, phase: str, start: str) -> list[Resource]:
        owner = {"labels": {"openshift.io/oadp-nar-origin-nacuuid": f"u-{name}"}}
        run = restore(f"v-{name}", phase, meta=owner, startTimestamp=at(start).isoformat())
        copied = {"nacuuid": f"u-{name}", "name": f"v-{name}", "namespace": "velero"}
        return [run, nar(name, created=start, veleroRestore=copied)]

    known = [location(), *made("failed", "Failed", "02:00"), *made("before", "Completed", "01:00")]
    assert "nonadmin-velero-failed" in codes(*known)
    assert "nonadmin-velero-failed" not in codes(*known, *made("after", "Completed", "02:10"))


def test_the_copied_status_is_used_if_the_backup_is_forbidden() -> None:
    copied = {"nacuuid": "u1", "name": "v1", "namespace": "velero", "status": {"phase": "PartiallyFailed", "errors": 2}}
    found = only(location(), nab(veleroBackup=copied))
    assert found.severity is Severity.WARNING
    assert "2 errors" in render(found.evidence, NOW)


def test_a_velero_failure_under_a_created_nar() -> None:
    copied = {"nacuuid": "u2", "name": "r1", "namespace": "velero", "status": {"phase": "Failed"}}
    found = only(location(), nar(veleroRestore=copied))
    assert found.subject.kind == "NonAdminRestore"


def test_an_outdated_queue_position() -> None:
    label = {"openshift.io/oadp-nab-origin-nacuuid": "u1"}
    ahead = backup("a", "InProgress", created="02:20:00", started="02:20:01", spec={"includedNamespaces": ["x"]})
    mine = backup("v1", "Queued", created="02:21:00", labels=label, queuePosition=1, spec={"includedNamespaces": ["y"]})
    tenant = nab(
        veleroBackup={"nacuuid": "u1", "name": "v1", "namespace": "velero"}, queueInfo={"estimatedQueuePosition": 1}
    )
    found = only(location(), ahead, mine, tenant)
    assert (found.code, found.severity) == ("position-off", Severity.NOTE)
    assert found.what == "reports a wrong queue position"
    assert "It reports position 1, but v1 is number 2" in render(found.evidence, NOW)
    assert aggregated([found]) == (), "nothing needs to be done: Triage does not list it"


@pytest.mark.parametrize("since", ["02:00:01", "2036-01-01T00:00:00Z"])
def test_no_time_that_an_object_tells_of_itself_keeps_it_out_of_triage(since: str) -> None:
    """Who can write a condition could put it into the future, and would not be waited for any more."""
    refusal = condition("Accepted", "False", "InvalidBackupSpec", "no", since)
    found = only(location(), nab(phase="BackingOff", created="02:00:00", conditions=[refusal]))
    assert found.code == "nonadmin-refused"
    assert found.since is not None
    assert found.since <= NOW
    going = nab(
        phase="Deleting", created="02:00:00", spec={"deleteBackup": True},
        conditions=[condition("Deleting", "True", "DeletionPending", "", since)],
    )  # fmt: skip
    found = only(location(), going)
    assert found.code == "nonadmin-stuck-deleting"
    assert found.since is not None
    assert found.since <= NOW
    queued = condition("Queued", "True", "BackupScheduled", "", since)
    live = backup("v1", "Queued", created="02:21:00", labels={NAB_UUID_LABEL: "u1"}, queuePosition=1)
    velero = {"nacuuid": "u1", "name": "v1", "namespace": "velero"}
    tenant = nab(veleroBackup=velero, queueInfo={"estimatedQueuePosition": 0}, conditions=[queued])
    assert "position-off" in codes(location(), live, tenant)


def test_one_that_reports_its_end_while_velero_has_it_in_line_reports_a_wrong_position() -> None:
    mine = {"nacuuid": "u1", "namespace": "velero"}
    ended = {"estimatedQueuePosition": 0}
    queued = backup("v1", "Queued", created="02:21:00", labels={NAB_UUID_LABEL: "u1"}, queuePosition=1)
    at_work = restore("r1", "InProgress", created="02:21:00", meta={"labels": {NAR_UUID_LABEL: "u1"}})
    pairs: list[tuple[Resource, Resource]] = [
        (queued, nab(veleroBackup={**mine, "name": "v1"}, queueInfo=ended)),
        (at_work, nar(veleroRestore={**mine, "name": "r1"}, queueInfo=ended)),
    ]
    for live, tenant in pairs:
        found = [one for one in findings(location(), live, tenant) if one.code == "position-off"]
        assert [one.subject.name for one in found] == [tenant.name]
        assert f"It reports position 0, but {live.name} is number 1" in render(found[0].evidence, NOW)


def test_one_that_reports_a_place_in_line_after_its_end_reports_a_wrong_position() -> None:
    mine = {"nacuuid": "u1", "namespace": "velero"}
    second = {"estimatedQueuePosition": 2}
    made = backup("v1", created="02:21:00", started="02:21:01", ended="02:22:00", labels={NAB_UUID_LABEL: "u1"})
    put_back = restore(
        "r1",
        created="02:21:00",
        completionTimestamp=at("02:22:00").isoformat(),
        meta={"labels": {NAR_UUID_LABEL: "u1"}},
    )
    pairs: list[tuple[Resource, Resource]] = [
        (made, nab(veleroBackup={**mine, "name": "v1"}, queueInfo=second)),
        (put_back, nar(veleroRestore={**mine, "name": "r1"}, queueInfo=second)),
    ]
    for live, tenant in pairs:
        found = [one for one in findings(location(), live, tenant) if one.code == "position-off"]
        assert [one.subject.name for one in found] == [tenant.name]
        assert f"It reports position 2, but {live.name} has ended (Completed)" in render(found[0].evidence, NOW)


def test_a_delete_request_that_was_processed_with_errors() -> None:
    request = from_builtins(
        DeleteBackupRequest,
        {
            "metadata": {"name": "b-x9wbn", "namespace": "velero", "creationTimestamp": "2026-11-15T02:00:00Z"},
            "spec": {"backupName": "b"},
            "status": {"phase": "Processed", "errors": ["object locked"]},
        },
    )
    found = only(location(), request)
    assert found.code == "delete-failed"
    assert found.raw == "object locked"


def test_a_storage_request_that_waits_for_the_administrator() -> None:
    request = from_builtins(
        NonAdminBackupStorageLocationRequest,
        {
            "metadata": {"name": "r", "namespace": "velero", "creationTimestamp": "2026-11-15T02:00:00Z"},
            "spec": {"approvalDecision": "pending"},
            "status": {"phase": "Pending", "nonAdminBackupStorageLocation": {"name": "own", "namespace": "team-a"}},
        },
    )
    found = only(location(), request)
    assert (found.called, found.what) == ("team-a/own", "waits for your approval")


def test_a_nab_refused_for_unapproved_storage_needs_the_administrator() -> None:
    asked = {"name": "own", "namespace": "team-a"}
    request = from_builtins(
        NonAdminBackupStorageLocationRequest,
        {
            "metadata": {"name": "team-a-own-7", "namespace": "velero", "creationTimestamp": "2026-11-15T02:00:00Z"},
            "status": {"phase": "Pending", "nonAdminBackupStorageLocation": asked},
        },
    )
    refusal = condition("Accepted", "False", "InvalidBackupSpec", "VeleroBackupStorageLocation not found")
    spec = {"backupSpec": {"storageLocation": "own"}}
    waiting, refused = findings(location(), request, nab(phase="BackingOff", spec=spec, conditions=[refusal]))
    assert (waiting.code, refused.code) == ("storage-request-waiting", "nonadmin-refused")
    assert refused.because == waiting
    assert render(refused.what, NOW) == "its storage waits for approval"
    told = render(with_keys(refused.remedy, {"decide-storage": "a"}.__getitem__), NOW)
    assert told.startswith("Decide about the request team-a-own-7 (a), then ask the owner in team-a")
    approved = from_builtins(
        NonAdminBackupStorageLocationRequest,
        {
            "metadata": {"name": "team-a-own-7", "namespace": "velero"},
            "spec": {"approvalDecision": "approve"},
            "status": {"phase": "Approved", "nonAdminBackupStorageLocation": asked},
        },
    )
    (late,) = findings(location(), approved, nab(phase="BackingOff", spec=spec, conditions=[refusal]))
    assert "Its storage location own is approved" in render(late.evidence, NOW)
    assert "to change it or create it again" in render(late.remedy, NOW)
    other = {"backupSpec": {"storageLocation": "typo"}}
    typo, _ = findings(location(), request, nab(phase="BackingOff", spec=other, conditions=[refusal]))
    assert "Ask the owner in team-a to change it" in render(typo.remedy, NOW)
    assert typo.because is None


def test_schedules_that_start_together_are_one_note_with_all_names() -> None:
    crowd = [
        schedule(name, "30 5 * * *", last="2026-11-14T05:30:03Z", created="2026-11-14T06:00:00Z") for name in "abc"
    ]
    alone = schedule("d", "31 5 * * *", created="2026-11-14T06:00:00Z")
    found = only(location(), *crowd, alone)
    assert (found.code, found.severity) == ("schedules-collide", Severity.NOTE)
    assert [subject.name for subject in found.related] == ["a", "b", "c"]
    assert triage(snapshot(location(), *crowd, alone), NOW).calm


def test_schedules_that_fit_into_the_slots_do_not_collide() -> None:
    pair = [schedule(name, "30 5 * * *", created="2026-11-14T06:00:00Z") for name in "ab"]
    assert codes(location(), *pair, slots=2) == []


def test_a_nightly_and_an_hourly_schedule_collide_once_a_day() -> None:
    pair = [
        schedule("hourly", "0 * * * *", created="02:30:00"),
        schedule("nightly", "0 5 * * *", created="02:30:00"),
    ]
    found = only(location(), *pair)
    assert render(found.evidence, NOW).startswith("At 05:00Z 2 schedules start together")


def test_frequent_collisions_say_how_often_and_when_next() -> None:
    crowd = [schedule(name, "*/3 * * * *", last="02:39:03", created="02:38:00") for name in "abc"]
    found = only(location(), *crowd)
    assert render(found.what, NOW) == "3 start together, 02:42Z"
    assert "At 02:42Z 3 schedules start together (every 3 minutes): a, b and c." in render(found.evidence, NOW)
    later = triage(snapshot(location(), *crowd), NOW + timedelta(minutes=1)).findings
    assert [each.id for each in later] == [found.id]


def test_schedules_that_collided_today_show_the_next_day() -> None:
    pair = [schedule(name, "30 1 * * *", last="01:30:03", created="02:30:00") for name in "ab"]
    assert render(only(location(), *pair).evidence, NOW).startswith("At 16 Nov 01:30Z 2 schedules start together")


def test_the_next_collision_and_the_most_frequent_one_are_told_beside_a_larger_one() -> None:
    crons = {"a": "0 3-9/2 * * *", "b": "0 3-9/2 * * *", "c": "0 5 * * *", "d": "30 1 * * *", "e": "30 1 * * *"}
    items = [schedule(name, cron, last="01:30:03", created="02:30:00") for name, cron in crons.items()]
    found = only(location(), *items)
    assert render(found.what, NOW) == "3 sets start together, 03:00Z"
    assert re.split(r"(?<=[a-z]\.) ", render(found.evidence, NOW)) == [
        "At 03:00Z 2 schedules start together (at 03:00, 05:00, 07:00 and 09:00 every day): a and b.",
        "At 05:00Z 3 schedules start together: a, b and c.",
        "At 16 Nov 01:30Z 2 schedules start together (at 01:30 every day): d and e.",
        "Velero works on 1 backup at a time, the others wait.",
    ]
    assert [ref.name for ref in found.related] == list("abcde")


def test_the_count_of_collisions_is_that_of_a_day_and_not_of_what_is_left_of_it() -> None:
    crons = {"a": "*/30 * * * *", "b": "*/15 * * * *"}
    items = [schedule(name, cron, last="02:30:03", created="02:30:00") for name, cron in crons.items()]
    evidence = render(only(location(), *items).evidence, NOW)
    assert "At 03:00Z 2 schedules start together (48 times a day): a and b." in evidence


def test_collisions_are_not_guessed_if_the_server_is_forbidden() -> None:
    crowd = [schedule(name, "*/3 * * * *", last="02:39:03", created="02:38:00") for name in "abc"]
    assert triage(assemble([location(), *crowd]), NOW).findings == ()


def test_a_gap_in_protection_that_nothing_else_explains() -> None:
    """The runs were deleted or made elsewhere: nothing failed, but there is no good backup."""
    old = backup("nightly-20261112020003", created="2026-11-12T02:00:03Z", started="2026-11-12T02:00:04Z", of="nightly")
    found = only(location(), schedule(last="02:00:03"), old)
    assert (found.code, found.since) == ("protection-gap", at("2026-11-14T02:00:00Z"))


def test_a_backup_that_is_being_made_after_a_pause_is_no_gap() -> None:
    old = backup("hourly-1", created="2026-11-14T02:00:03Z", started="2026-11-14T02:00:04Z", of="hourly")
    unpaused = {"manager": "foretop", "time": "2026-11-15T02:40:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    hourly = schedule("hourly", "0 * * * *", last="02:40:03", managedFields=[unpaused])
    queued = backup("hourly-2", "Queued", created="02:40:03", of="hourly")
    assert codes(location(), hourly, old, queued) == []
    failed = backup("hourly-0", "Failed", created="2026-11-14T03:00:03Z", started="2026-11-14T03:00:04Z", of="hourly")
    failed_too = backup(
        "hourly-3", "Failed", created="2026-11-14T04:00:03Z", started="2026-11-14T04:00:04Z", of="hourly"
    )
    late = only(location(), hourly, old, failed, failed_too, queued)
    assert "(hourly-1); it promises one from" in render(late.evidence, NOW)


def test_a_backup_that_was_queued_when_the_copy_was_late_already_ends_no_gap() -> None:
    old = backup("hourly-1", created="2026-11-14T02:00:03Z", started="2026-11-14T02:00:04Z", of="hourly")
    queued = backup("hourly-2", "Queued", created="02:40:03", of="hourly")
    hourly = schedule("hourly", "0 * * * *", last="02:40:03")
    assert codes(location(), hourly, old, queued) == ["protection-gap"]


def test_the_last_good_backup_is_about_to_expire_before_the_schedule_makes_another() -> None:
    last = backup(
        "nightly-20261114080003",
        created="2026-11-14T08:00:03Z",
        started="2026-11-14T08:00:04Z",
        ended="2026-11-14T08:05:00Z",
        of="nightly",
        expiration="2026-11-15T05:00:00Z",
    )
    for cron, paused, is_told in (
        ("0 8 * * *", True, True),
        ("0 4 * * *", True, True),
        ("0 8 * * *", False, True),
        ("0 4 * * *", False, False),
    ):
        found = findings(location(), schedule(cron=cron, last="2026-11-14T08:00:03Z", paused=paused), last)
        told = [render(one.evidence, NOW) for one in found if one.code == "protection-gap"]
        assert ["expires at 05:00:00Z" in one for one in told] == [True] * is_told, (cron, paused)


def test_findings_come_worst_and_oldest_first_with_stable_ids() -> None:
    objects = [
        location(phase="Unavailable", message="no", synced="02:40:03"),
        schedule("late", "0 * * * *", last="00:00:03"),
        restore(phase="PartiallyFailed", completionTimestamp=at("02:05:00").isoformat()),
    ]
    found = findings(*objects)
    ranks = [[Severity.ERROR, Severity.WARNING, Severity.NOTE].index(each.severity) for each in found]
    assert ranks == sorted(ranks)
    later = triage(snapshot(*objects), NOW + timedelta(seconds=30)).findings
    assert {each.id for each in later} == {each.id for each in found}


def test_thresholds_are_parameters() -> None:
    late = snapshot(location(), schedule(cron="0 * * * *", last="01:00:03"))
    patient = triage(late, NOW, Thresholds(overdue=timedelta(hours=1), gap=timedelta(hours=9)))
    assert isinstance(patient, Triage)
    assert "schedule-overdue" not in {each.code for each in patient.findings}


@pytest.mark.parametrize("skipped", ["0300-01-01T00:00:00Z", "1970-01-01T00:00:00Z"])
def test_a_delay_of_centuries_takes_the_gaps_of_no_other_schedule_away(skipped: str) -> None:
    """Its runs are before all calendars where it was skipped long ago."""
    odd = schedule("odd", "@every 9223372036854775807ns", skipped=skipped, last="0002-01-01T00:00:00Z")
    late = schedule("late", "0 * * * *", created="2026-11-14T00:00:00Z", phase="FailedValidation")
    alone, both = (triage(assemble([*items, location()]), NOW) for items in ([late], [odd, late]))
    assert both.failures == ()
    assert {finding.id for finding in alone.findings} <= {finding.id for finding in both.findings}
