"""One question about a schedule has one answer, whoever asks: table, pane, commands, hand-over, Triage and dialogs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.cli import run
from foretop.commands.report import report_snapshots
from foretop.panes.schedule_pane import schedule_pane
from foretop_core.actions.planners.pausing import follow_unpause, plan_unpause
from foretop_core.dashboard.handover import Handover, handover_text
from foretop_core.dashboard.related_objects import related
from foretop_core.models import Backup, Namespace, Resource, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import Choice
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo, VisibilityGap
from foretop_core.rules.triage import Finding, Thresholds, triage
from foretop_core.rules.triage.protection import poor_protection
from foretop_core.rules.triage.schedules import protection_gaps
from tests.objects import NOW, at, backup, location, schedule
from tests.unit.tables.test_views import Shown

# Created first, it waited in the queue and started only after the next one was created.
FIRST = backup("h-1", created="02:31:03", started="02:35:34", ended="02:37:00", of="h")
WAITS = backup("h-2", "Queued", created="02:35:03", of="h")
BUSY = schedule("h", "*/5 * * * *", last="02:35:03")


def spoken(shown: Shown) -> str:
    ((_, row),) = shown.model.ordered()
    return "\n".join("".join(piece.text for piece in one.spans) for one in schedule_pane(row, shown.render_context()))


def report(capsys: pytest.CaptureFixture[str], *objects: Resource, form: str = "json", now: datetime = NOW) -> str:
    report_snapshots([(assemble(objects), now)], (), form)
    return capsys.readouterr().out


def test_the_last_backup_is_the_one_that_was_submitted_last() -> None:
    shown = Shown("schedules", [location(), BUSY, FIRST, WAITS], at("02:37:40"))
    assert shown.text("name", "last", "runs") == [["○", "h", "2m waiting", "▃○"]]
    assert "h-2: Queued" in spoken(shown)
    key = shown.rows()[0].key
    assert [one.name for one in related(shown.store, key)] == ["h-2", "h-1"]


def test_a_synced_backup_was_submitted_when_it_started() -> None:
    """The sync creates it here long after it ended elsewhere."""
    old = backup("h-0", "Failed", created="02:40:00", started="01:00:03", ended="01:05:00", of="h")
    good = backup("h-1", created="02:00:03", started="02:00:03", ended="02:05:00", of="h")
    shown = Shown("schedules", [location(), schedule("h", "0 * * * *", last="02:00:03"), old, good])
    assert shown.text("last", "runs") == [["●", "41m good", "F▃"]]


def test_what_is_said_of_the_last_backup_is_of_one_and_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    objects = (location(), BUSY, FIRST, WAITS)
    (item,) = json.loads(report(capsys, *objects, now=at("02:37:40")))["schedules"]
    assert (item["lastBackup"], item["lastBackupName"], item["lastBackupPhase"], item["lastOutcome"]) == (
        "2026-11-15T02:35:03Z",
        "h-2",
        "Queued",
        None,
    )
    assert (item["lastEndedName"], item["lastEndedPhase"], item["lastEndedAt"]) == (
        "h-1",
        "Completed",
        "2026-11-15T02:37:00Z",
    )
    text = report(capsys, *objects, form="text", now=at("02:37:40"))
    assert "02:35:03Z    Queued" in text
    assert "Completed" not in text
    (shown,) = Shown("schedules", objects, at("02:37:40")).items()
    assert {name: shown[name] for name in item if name != "context"} == {
        name: value for name, value in item.items() if name != "context"
    }


def test_one_made_by_hand_is_the_last_backup_with_its_own_time(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand = backup("h-hand", "Failed", created="02:38:00", started="02:38:00", ended="02:39:00", of="h")
    made = backup("h-2", created="02:35:03", started="02:35:03", ended="02:36:00", of="h")
    (item,) = json.loads(report(capsys, location(), BUSY, made, by_hand, now=at("02:39:40")))["schedules"]
    assert (item["lastBackup"], item["lastOutcome"]) == ("2026-11-15T02:38:00Z", "Failed")


@pytest.mark.parametrize("gone", [False, True])
def test_a_last_backup_that_is_not_visible_is_not_known_and_says_why(
    gone: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = () if gone else (VisibilityGap("", BACKUP.name, "not allowed"),)
    snapshot = replace(assemble([location(), schedule("h", "0 * * * *", last="02:00:03")]), unseen=gaps)
    why = "it is not visible here" if gone else "backups are not visible: not allowed"
    report_snapshots([(snapshot, NOW)], (), "json")
    (item,) = json.loads(capsys.readouterr().out)["schedules"]
    assert (item["lastBackup"], item["lastBackupUnknown"], item["lastOutcome"]) == ("2026-11-15T02:00:03Z", why, None)
    report_snapshots([(snapshot, NOW)], (), "text")
    assert "02:00:03Z    not known" in capsys.readouterr().out


def test_a_report_counts_down_to_no_run_of_a_paused_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    """It had `02:35:00Z, in 1 minute` beside `paused`."""
    held = schedule("held", "0 3 * * *", last="2026-11-14T03:00:03Z", paused=True)
    due = schedule("late", "0 * * * *", last="2026-11-14T01:00:03Z", paused=True)
    lines = report(capsys, location(), held, due, form="text").splitlines()
    assert any("paused  none while paused, else 03:00:00Z  " in line for line in lines)
    assert any("paused  due since 14 Nov 02:00Z " in line for line in lines)


def test_a_report_names_the_cause_of_what_another_finding_explains(capsys: pytest.CaptureFixture[str]) -> None:
    lost = location("offsite", "Unavailable", message="api error NoSuchBucket: The specified bucket does not exist")
    copied = schedule("copy", "0 * * * *", last="02:00:03", template={"storageLocation": "offsite"})
    why = "backup can't be created because BackupStorageLocation offsite is in Unavailable status"
    at_offsite = {"storageLocation": "offsite"}
    refused = backup("copy-1", "FailedValidation", of="copy", spec=at_offsite, validationErrors=[why])
    lines = report(capsys, location(), lost, copied, refused, form="text").splitlines()
    at_storage, *_ = [line for line in lines if " storage " in line and "bucket does not exist" in line]
    assert at_storage.startswith("✗ error")
    causes = [line for line in lines if line.startswith("    Cause: ")]
    assert causes
    assert {line.removeprefix("    Cause: ") for line in causes} == {"storage velero/offsite: bucket does not exist"}


@pytest.mark.parametrize(
    ("last", "what"),
    [
        ("deleted", "Its newest visible backup partly failed: hourly-01"),
        ("InProgress", "Its last backup partly failed: hourly-01"),
        ("New", "Its last backup partly failed: hourly-01"),
    ],
)
def test_a_fault_counts_until_a_run_has_gone_well_on_the_page_as_in_triage(last: str, what: str) -> None:
    """A later run that was deleted, or is not done yet, is not a good one."""
    made = backup("hourly-02", last if last != "deleted" else "", of="hourly", created="02:00:03", started="02:00:04")
    objects = [
        location(),
        schedule("hourly", "0 * * * *", last="02:00:03"),
        backup("hourly-01", "PartiallyFailed", of="hourly", created="01:00:03", started="01:00:03", ended="01:01:00"),
        *([made] if last != "deleted" else []),
    ]
    shown = Shown("schedules", objects)
    assert shown.text("name") == [["▲", "hourly"]]
    (told,) = [one for one in triage(assemble(objects), NOW).findings if one.code == "schedule-failing"]
    assert (told.severity.value, told.what) == ("warning", "last backup partly failed")
    assert render(told.evidence, NOW).startswith(what)


def test_an_absurd_schedule_has_no_next_run_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    objects = (location(), schedule("undated", "0 * * * *", created=""), schedule("wrong", "61 * * * *"))
    undated, wrong = json.loads(report(capsys, *objects))["schedules"]
    assert (undated["nextRun"], undated["nextRunUnknown"]) == (None, "its creation time is not known")
    assert wrong["nextRunUnknown"].startswith("Velero refuses the schedule: ")
    assert wrong["expectedStartUnknown"] == wrong["nextRunUnknown"]


# What a schedule promises

SHOP = {"includedNamespaces": ["shop"]}


def paused_field(time: str, manager: str = "kubectl") -> list[dict[str, Any]]:
    return [{"manager": manager, "time": at(time).isoformat(), "fieldsV1": {"f:spec": {"f:paused": {}}}}]


def taken(name: str, time: str, of: str, phase: str = "Completed") -> Backup:
    ended = "" if phase == "InProgress" else f"{time[:-2]}59"
    return backup(name, phase, created=time, started=time, ended=ended, of=of, spec=SHOP)


def gaps_of(now: datetime, *objects: Resource) -> list[Finding]:
    """What is said of the protection of a namespace that the schedule takes, and of the schedule."""
    there = assemble([location(checked=f"{now:%H:%M:%S}"), from_builtins(Namespace, {"metadata": {"name": "shop"}})])
    own = [item for item in objects if isinstance(item, Schedule)]
    made = [item for item in objects if isinstance(item, Backup)]
    snapshot = replace(there, schedules=tuple(own), backups=tuple(made))
    limits = Thresholds()
    return [*protection_gaps(snapshot, now, limits), *poor_protection(snapshot, now, limits)]


@pytest.mark.parametrize("how", ["unpaused", "skips"])
def test_nothing_is_missed_before_the_next_run_after_a_pause(how: str) -> None:
    """Paused from 00:21 to 02:34, with the last good copy of 00:15."""
    marks: dict[str, Any] = (
        {"managedFields": paused_field("02:34:00")} if how == "unpaused" else {"skipped": "02:34:00"}
    )
    quarterly = schedule("s", "*/15 * * * *", last="00:15:03", template=SHOP, **marks)
    old = taken("s-1", "00:15:03", "s")
    assert gaps_of(at("02:34:30"), quarterly, old) == []
    assert gaps_of(at("02:44:59"), quarterly, old) == []
    # The runs after the pause came to nothing.
    later = replace(quarterly, status=replace(quarterly.status, last_backup=at("03:15:03")))
    failed = [taken(f"s-{time}", f"{time}:03", "s", "Failed") for time in ("02:45", "03:00", "03:15")]
    assert [one.code for one in gaps_of(at("03:16:00"), later, old, *failed)] == ["protection-gap", "namespace-late"]


def test_a_pause_that_ended_in_the_future_takes_back_no_promise() -> None:
    ahead = paused_field("2031-01-01T00:00:00Z")
    mine = schedule("s", "*/15 * * * *", last="02:30:03", template=SHOP, managedFields=ahead)
    failed = taken("s-1", "02:30:03", "s", "Failed")
    told = gaps_of(NOW, mine, taken("s-0", "00:15:03", "s"), failed)
    assert [one.code for one in told] == ["protection-gap", "namespace-late"]


@pytest.mark.parametrize(
    ("cron", "since"), [("*/3 * * * *", "02:09:00Z"), ("*/15 * * * *", "02:00:00Z"), ("0 * * * *", "01:00:00Z")]
)
def test_evidence_names_a_run_that_was_due(cron: str, since: str) -> None:
    """It had been half an hour before now, which is no run of any schedule."""
    mine = schedule("s", cron, last="02:39:03", template=SHOP)
    failed = taken("s-1", "02:39:03", "s", "Failed")
    told = gaps_of(NOW, mine, taken("s-0", "00:15:03", "s"), failed)
    assert [one.code for one in told] == ["protection-gap", "namespace-late"]
    for late in told:
        assert f"one from {since} or later" in render(late.evidence, NOW)


def test_a_backup_that_is_being_made_is_said() -> None:
    mine = schedule("s", "*/15 * * * *", last="02:30:03", template=SHOP)
    failed, running = taken("s-1", "02:15:03", "s", "Failed"), taken("s-2", "02:30:03", "s", "InProgress")
    told = gaps_of(NOW, mine, taken("s-0", "00:15:03", "s"), failed, running)
    assert [one.code for one in told] == ["protection-gap", "namespace-late"]
    for late in told:
        assert "s-2 is InProgress since 02:30:03Z." in render(late.evidence, NOW)
    assert render(told[1].remedy, NOW).startswith("Wait for s-2; ")


# Pauses


def ten(paused: int, *more: Schedule) -> list[Schedule]:
    held = [schedule(f"p{n}", "0 * * * *", last="00:00:03", paused=True) for n in range(paused - len(more))]
    return [*held, *more, *(schedule(f"r{n}", "0 * * * *", last="02:00:03") for n in range(10 - paused))]


def found(*objects: Resource, code: str = "velero-paused-overdue") -> Finding:
    snapshot = replace(assemble([location(), *objects]), servers={"velero": VeleroInfo(False, 1)})
    (one,) = [each for each in triage(snapshot, NOW).findings if each.code == code]
    return one


def test_nine_of_ten_paused_and_overdue_is_no_better_than_all() -> None:
    later = [schedule(f"l{n}", "0 4 * * *", last="2026-11-14T04:00:03Z", paused=True) for n in range(3)]
    one = found(*ten(9, *later))
    assert (one.what, one.severity.value) == ("9 of 10 paused, 6 overdue", "warning")
    assert [ref.name for ref in one.related] == [f"p{n}" for n in range(6)]


def test_a_forgotten_pause_is_counted_beside_the_others_as_in_the_header() -> None:
    forgotten = schedule(
        "old",
        "0 * * * *",
        last="2026-11-11T00:00:03Z",
        paused=True,
        managedFields=paused_field("2026-11-11T00:30:00Z"),
    )
    one = found(*ten(3, forgotten))
    assert one.what == "3 of 10 paused, 3 overdue"
    assert [ref.name for ref in one.related] == ["p0", "p1"]
    assert render(one.evidence, NOW).startswith("p0 and p1 are paused and overdue. 1 more has its own finding. ")


def test_one_that_is_paused_and_overdue_is_named() -> None:
    one = found(*ten(1))
    assert (one.what, one.subject.kind) == ("paused and overdue", "Schedule")
    assert render(one.evidence, NOW).startswith("p0 is paused and overdue.")
    assert "Unpause it when" in render(one.remedy, NOW)


def test_a_pause_is_as_old_as_the_first_of_them() -> None:
    young = schedule("young", created="02:38:00", paused=True, managedFields=paused_field("02:38:00"))
    old = [
        schedule(f"s{n}", "0 * * * *", last="00:00:03", paused=True, managedFields=paused_field(f"00:0{n}:00"))
        for n in range(3)
    ]
    assert found(*old, young, code="velero-all-paused").since == at("00:00:00")


def test_what_is_due_and_refused_is_counted_apart() -> None:
    """Two are due, and one backup starts: the other one is created and refused."""
    lost = schedule("lost", "0 * * * *", last="00:00:03", paused=True, template={"storageLocation": "gone"})
    due = schedule("due", "0 * * * *", last="00:00:03", paused=True)
    later = schedule("later", "0 4 * * *", last="2026-11-14T04:00:03Z", paused=True)
    one = found(location("gone", "Unavailable"), lost, due, later, code="velero-all-paused")
    assert one.what == "all 3 paused, 2 overdue"
    assert "without skip, 1 backup at once, 1 refused by Velero." in render(one.hits, NOW)


# After a bulk action


def followed(before: Schedule, **now: Any) -> str:
    """What is said once Velero has noted a skip."""
    snapshot = ClusterSnapshot("prod", schedules=(before,), servers={"velero": VeleroInfo(False, 1)})
    plan = plan_unpause(snapshot, [before], Choice.SKIP, NOW)
    probe = follow_unpause(snapshot, before, plan.steps[0], plan.at)
    assert probe is not None
    status = replace(before.status, last_skipped=at("02:41:08"), **now)
    after = replace(before, spec=replace(before.spec, paused=False, skip_immediately=False), status=status)
    return probe(replace(snapshot, schedules=(after,))).sentence


def test_each_outcome_is_that_of_its_own_schedule() -> None:
    due = schedule("due", "0 * * * *", last="00:00:03", paused=True)
    later = schedule("later", "0 4 * * *", last="2026-11-14T04:00:03Z", paused=True)
    broken = schedule("broken", "61 * * * *", paused=True)
    assert followed(due) == "Velero picked it up 02:41:08Z and skips what was due"
    assert followed(later) == "Velero picked it up 02:41:08Z: nothing was due"
    assert followed(broken, phase="FailedValidation").startswith("Velero picked it up 02:41:08Z and refuses it: ")


@pytest.mark.parametrize(
    ("cron", "last"),
    [("0 * * * *", "00:00:03"), ("0 4 * * *", "2026-11-14T04:00:03Z"), ("61 * * * *", ""), ("@every 6h", "02:00:03")],
)
def test_a_skip_that_is_asked_for_is_written_whatever_is_due(cron: str, last: str) -> None:
    paused = schedule("s", cron, last=last, paused=True, skip=False)
    (step,) = plan_unpause(assemble([paused]), [paused], Choice.SKIP, NOW).steps
    assert step.write.body["spec"]["skipImmediately"] is True


# Commands and calendar

OPEN = """apiVersion: velero.io/v1
kind: Schedule
metadata: {name: weekly, namespace: velero, creationTimestamp: 2026-11-01T00:00:00Z}
spec: {schedule: '0 2 * * 7'}
status: {}
"""
LATE = OPEN.replace("0 2 * * 7", "0 0 * * *").replace("{}", "{lastBackup: 2026-11-01T00:00:03Z}")
AT = ("--at", "2026-11-15T02:41:07Z")


def test_a_next_run_that_depends_on_the_release_is_not_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "open.yaml"
    path.write_text(OPEN)
    run(["report", "-f", str(path), *AT])
    text = capsys.readouterr().out
    assert "not known: depends on the release" in text
    assert "none" not in text


@pytest.mark.parametrize("paused", [False, True])
def test_a_run_of_the_past_is_due_since_then(paused: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "late.yaml"
    path.write_text(LATE.replace("spec: {", "spec: {paused: true, ") if paused else LATE)
    run(["next", "-f", str(path), "--from", AT[1]])
    text = capsys.readouterr().out
    assert f"  due since 2026-11-02T00:00:00Z{', but it is paused' if paused else ''}\n" in text
    assert "next run" not in text
    run(["next", "-f", str(path), "--from", AT[1], "-o", "json"])
    (item,) = json.loads(capsys.readouterr().out)["items"]
    assert (item["nextRun"], item["due"]) == ("2026-11-02T00:00:00Z", True)


@pytest.mark.parametrize(("cron", "runs"), [("*/5 * * * *", 144), ("0 * * * *", 12), ("@every 30m", 24)])
def test_the_hand_over_counts_every_run(cron: str, runs: int) -> None:
    snapshot = assemble([schedule("often", cron, last="02:41:03", created="2026-11-14T12:00:00Z")])
    text = handover_text(Handover(((snapshot, NOW),), (), (), (), ()), UTC)
    assert f"velero/often, {runs} runs ({cron})" in text


def test_thresholds_move_what_counts_as_overdue_everywhere() -> None:
    """The limit of Triage is that of the table too."""
    late = schedule("h", "0 * * * *", last="01:00:03")
    checked = location(checked="02:41:00", synced="02:41:00")
    shown = Shown("schedules", [checked, late])
    shown.state.thresholds = Thresholds(overdue=timedelta(hours=1))
    assert shown.text("next") == [["●", "due"]]
