"""Findings are ordered worst first, and grouped under the finding that explains them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import NonAdminBackup, Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render, with_keys
from foretop_core.rules.snapshot import ObservedChanges
from foretop_core.rules.triage import Finding, Severity, aggregated, opened, triage, ungathered
from foretop_core.tables.resources.findings import finding_item, subject_text
from tests.objects import NOW, at, backup, condition, location, nab, nar, restore, schedule, upload
from tests.settled_scenes import settled
from tests.unit.rules.test_triage import findings, only


def order(found: list[Finding]) -> list[tuple[str, str]]:
    return [(each.code, each.subject.name) for each in found]


def test_findings_are_ordered_server_storage_schedules_tenants() -> None:
    old = "2026-11-01T00:00:00Z"
    typo = condition("Accepted", "False", "InvalidBackupSpec", "excludedNamespaces is restricted", since=old)
    found = findings(
        nab(created=old, phase="BackingOff", conditions=[typo]),
        nab("lost", veleroBackup={"nacuuid": "u", "name": "v", "namespace": "velero", "status": {"phase": "Failed"}}),
        schedule("broken", "0 0 * * 8", created=old),
        location("offsite", "Unavailable", checked="02:30:03", synced="02:30:03", message="no such bucket"),
    )
    assert order(found) == [
        ("velero-no-pulse", ""),
        ("storage-unavailable", "offsite"),
        ("schedule-invalid", "broken"),
        ("nonadmin-velero-failed", "lost"),
        ("nonadmin-refused", "orders"),
    ]


def test_a_tenant_s_typo_is_not_an_error_of_the_administrator() -> None:
    typo = condition("Accepted", "False", "InvalidBackupSpec", "excludedNamespaces is restricted")
    assert only(location(), nab(phase="BackingOff", conditions=[typo])).severity is Severity.WARNING


def refused_by(name: str, why: str, location_name: str = "offsite") -> list[Finding]:
    copying = schedule(name, last="02:00:03", template={"storageLocation": location_name})
    refused = backup(
        f"{name}-20261115020003",
        "FailedValidation",
        created="02:00:03",
        of=name,
        spec={"storageLocation": location_name},
        validationErrors=[why],
    )
    gone = location("offsite", "Unavailable", message="no such bucket")
    younger = schedule("broken", "0 0 * * 8", created="02:30:00")
    return findings(location(), gone, copying, refused, younger)


def test_a_schedule_refused_for_its_location_is_grouped_under_it() -> None:
    found = refused_by("copy", "BackupStorageLocation offsite is in Unavailable status")
    assert order(found) == [
        ("storage-unavailable", "offsite"),
        ("schedule-failing", "copy"),
        ("schedule-invalid", "broken"),
    ]
    assert found[1].because == found[0]
    assert finding_item(found[1], NOW)["because"] == found[0].id
    assert finding_item(found[0], NOW)["because"] is None


def test_a_schedule_refused_for_another_reason_is_not_grouped_under_the_location() -> None:
    found = refused_by("copy", "invalid label selector, offsite-old is no label")
    assert [each.because for each in found] == [None, None, None]


def test_a_waiting_volume_explains_its_backup_and_the_blocked_schedule() -> None:
    held = backup("nightly-20261115010003", "InProgress", created="01:00:03", started="01:00:03", of="nightly")
    good = backup("nightly-20261115000003", created="00:00:03", started="00:00:03", ended="00:10:00", of="nightly")
    waits = upload(of=held.name, created="01:00:10", acceptedByNode="worker-3")
    seen = ObservedChanges(moved={ObjectRef("", "Backup", "velero", held.name): at("01:01:00")})
    late = schedule(cron="0 * * * *", last="01:00:03")
    other = restore(phase="PartiallyFailed", completionTimestamp=at("00:05:00").isoformat(), errors=1)
    found = findings(location(), late, held, good, waits, other, seen=seen)
    assert [each.code for each in found] == ["movement-waiting", "backup-stuck", "schedule-overdue", "restore-failed"]
    assert found[0].severity is Severity.WARNING, "it stands first for what it holds up, and is called what it is"


def paused(name: str, cron: str, **more: Any) -> Schedule:
    owner = {"manager": "maria", "time": "2026-11-12T02:14:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    return schedule(name, cron, paused=True, managedFields=[owner], **more)


def test_all_schedules_paused_is_one_warning_with_the_number_due() -> None:
    window = [paused(name, "0 * * * *", last="2026-11-12T02:00:03Z") for name in ("a", "b")]
    later = paused("c", "0 0 1 1 *", last="2026-11-12T02:00:03Z")
    found = only(location(), *window, later)
    assert (found.code, found.severity) == ("velero-all-paused", Severity.WARNING)
    assert render(found.what, NOW) == "all 3 paused, 2 overdue"
    assert found.since == at("2026-11-12T02:14:00Z")
    assert "by maria" in render(found.evidence, NOW)
    assert "own finding" not in render(found.evidence, NOW)
    running = schedule("d", last="02:00:03", created="02:30:00")
    assert {each.code for each in findings(location(), *window, later, running)} == {"schedule-paused-long"}


def paused_by(name: str, who: str, time: str) -> Schedule:
    owner = {"manager": who, "time": f"2026-11-12T{time}Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    return schedule(name, "0 * * * *", last="2026-11-12T02:00:03Z", paused=True, managedFields=[owner])


def test_of_all_pauses_is_told_who_made_how_many_and_since_when() -> None:
    made = [
        paused_by("a", "kubectl", "03:00:00"),
        paused_by("b", "maria", "02:14:00"),
        paused_by("c", "maria", "02:20:00"),
    ]
    told = render(only(location(), *made).evidence, NOW)
    assert (
        "Paused: 2 schedules since 12 Nov 02:14Z (the first of them) by maria, no reason given; "
        "a since 12 Nov 03:00Z with kubectl, no reason given." in told
    )


def test_of_the_pauses_of_many_the_rest_is_counted() -> None:
    told = render(only(location(), *(paused_by(who, who, "02:14:00") for who in "abcde")).evidence, NOW)
    assert "by a, no reason given; b since 12 Nov 02:14Z by b, no reason given; c since" in told
    assert "by c, no reason given; and 2 others." in told


def test_a_maintenance_window_does_not_hide_an_expiring_last_backup() -> None:
    window = [paused(name, "0 8 * * *", last="2026-11-14T08:00:03Z") for name in ("a", "b", "c")]
    last = backup(
        "a-20261114080003",
        created="2026-11-14T08:00:03Z",
        started="2026-11-14T08:00:04Z",
        ended="2026-11-14T08:05:00Z",
        of="a",
        expiration="2026-11-15T05:00:00Z",
    )
    found = findings(location(), *window, last)
    assert order(found) == [("protection-gap", "a"), ("velero-all-paused", "")]


def partly_failed(number: int, **more: Any) -> NonAdminBackup:
    status = {"phase": "PartiallyFailed", "errors": 1, "completionTimestamp": f"2026-11-15T02:{number:02}:00Z"}
    velero = {"nacuuid": f"u-{number}", "name": f"v-{number}", "namespace": "velero", "status": status}
    return nab(f"copy-{number}", veleroBackup=velero, **more)


def test_failures_of_one_kind_are_one_line_with_the_newest_first() -> None:
    found = findings(location(), *(partly_failed(number) for number in (3, 1, 4, 2)))
    assert [each.subject.name for each in found] == ["copy-4", "copy-3", "copy-2", "copy-1"]
    (shown,) = aggregated(found)
    assert [each.id for each in shown.members] == [each.id for each in found]
    assert (shown.severity, shown.since) == (Severity.WARNING, at("02:01:00"))
    assert subject_text(shown) == "4 nabs"
    assert "There are 4 of these, the newest first: team-a/copy-4 at 02:04:00Z" in render(shown.evidence, NOW)
    assert [each.because for each in opened(shown)] == [shown] * 4
    assert list(ungathered([shown])) == found


def test_three_of_a_kind_stand_for_themselves_and_so_does_what_differs() -> None:
    three = findings(location(), *(partly_failed(number) for number in (1, 2, 3)))
    assert list(aggregated(three)) == three
    grave = only(location("s3", "Unavailable", message="no"))
    assert aggregated([*three, grave])[0] == grave


def test_two_lines_of_one_rule_are_told_apart_by_their_words() -> None:
    failed = findings(location(), *(partly_failed(number) for number in range(4)))
    shown = aggregated([*failed, *(replace(one, what="failed in another way") for one in failed)])
    assert len({one.id for one in shown}) == len(shown) == 2


def test_backups_and_restores_share_a_line_only_where_all_are_refused_for_their_spec() -> None:
    status = {"phase": "PartiallyFailed", "errors": 1}
    failed = {"nacuuid": "u", "name": "v", "namespace": "velero", "status": status}
    typo = [condition("Accepted", "False", "InvalidSpec", "excludedNamespaces is restricted")]
    apart = [one for n in "ab" for one in (nab(n, veleroBackup=failed), nar(n, veleroRestore=failed))]
    assert len(aggregated(findings(location(), *apart))) == 4
    alike = [one for n in "ab" for one in (make(n, "BackingOff", conditions=typo) for make in (nab, nar))]
    (shown,) = aggregated(findings(location(), *alike))
    assert subject_text(shown) == "4 nabs and nars"


def test_logs_and_results_are_the_remedy_only_where_velero_wrote_some() -> None:
    (written,) = findings(location(), partly_failed(1))
    assert "Read its results or logs" in render(written.remedy, NOW)
    refused = {"nacuuid": "u", "name": "v", "namespace": "velero", "status": {"phase": "FailedValidation"}}
    unknown = {"nacuuid": "u", "name": "", "namespace": "", "status": {"phase": "Failed"}}
    for velero in (refused, unknown):
        (found,) = findings(location(), nab(veleroBackup=velero))
        assert "results" not in render(found.remedy, NOW)


def test_a_line_of_many_says_whose_remedy_it_names() -> None:
    typo = condition("Accepted", "False", "InvalidBackupSpec", "excludedNamespaces is restricted")
    mine = nab(phase="BackingOff", conditions=[typo])
    refused = [replace(mine, metadata=replace(mine.metadata, namespace=f"team-{n}")) for n in range(4)]
    (shown,) = aggregated(findings(location(), *refused))
    told, first = render(shown.remedy, NOW), shown.members[0]
    assert told.startswith(f"For {first.subject.namespace}/{first.subject.name}: {render(first.remedy, NOW)}")
    assert told.endswith("The other 3 have their own.")
    (alike,) = aggregated(findings(location(), *(partly_failed(number) for number in range(4))))
    assert alike.remedy == alike.members[0].remedy


@pytest.mark.parametrize("scene", ["dead", "protection", "volumes"])
def test_a_remedy_as_it_is_printed_names_nothing_that_only_a_screen_has(scene: str) -> None:
    objects, now = settled(scene, timedelta(minutes=5))
    found = list(ungathered(triage(assemble(objects), now).findings))
    printed = [render(one.remedy, now) for one in found]
    assert found
    assert not [text for text in printed if re.search(r"(^|[ (]):[a-z]|open the line", text)]
    assert any(" (foretop get pods)" in text for text in printed), "what a shell has instead"
    on_screen = [render(with_keys(one.remedy, lambda action: action), now) for one in found]
    assert any(" (:pods)" in text for text in on_screen)
