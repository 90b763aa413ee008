"""Findings that are known: whether one is acknowledged, and when it shows again."""

from __future__ import annotations

import asyncio
import fcntl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec.structs import replace

from foretop_core.actions.acknowledgement_file import AcknowledgementFile
from foretop_core.actions.planners.acknowledging import (
    ACKNOWLEDGE,
    UNACKNOWLEDGE,
    AcknowledgeRequest,
    acknowledgement_end,
    cannot_be_shared,
    next_shift_end,
    plan_acknowledge,
    plan_unacknowledge,
    record_for,
    shared_subjects,
)
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput, ForetopError
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity, aggregated, ungathered, with_acknowledgements
from foretop_core.rules.triage.acknowledging import LONGEST, acknowledged, annotation_of, statement
from foretop_core.rules.triage.ranking import link_causes, rank
from tests.objects import NOW, backup, location, schedule
from tests.tui.fake_source import CONTEXT, FilledSource

HOUR = timedelta(hours=1)
ENDS = ("06:00", "14:00", "22:00")


def late(
    name: str = "nightly", what: Text = "late", severity: Severity = Severity.WARNING, evidence: Text = "seen"
) -> Finding:
    return Finding(
        "schedule-overdue", severity, ObjectRef("prod", "Schedule", "velero", name), None, what, evidence, ""
    )


def request(until: datetime | None = NOW + HOUR) -> AcknowledgeRequest:
    return AcknowledgeRequest("maria", "the bucket is being moved", until)


def is_known(finding: Finding, by: Finding, until: datetime | None, now: datetime) -> bool:
    own = {("prod", by.id): request(until).of(by, NOW, "prod")}
    return acknowledged(finding, own, None, now) is not None


def carrying(*findings: Finding, until: datetime | None = NOW + HOUR, name: str = "nightly") -> Schedule:
    marks: dict[str, Any] = {}
    for step in plan_acknowledge(ClusterSnapshot("prod"), [schedule("nightly")], findings, request(until), NOW).steps:
        marks |= step.write.body["metadata"]["annotations"]
    return schedule(name, annotations=marks)


# In which order

LOST = replace(
    late("lost", severity=Severity.ERROR), subject=ObjectRef("prod", "BackupStorageLocation", "velero", "s3")
)
FAILING = replace(late("copies", severity=Severity.ERROR), blames=LOST.subject)
OTHER = late("other")


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        ((), ["s3", "copies", "other"]),
        ((LOST,), ["s3", "copies", "other"]),
        ((FAILING,), ["s3", "copies", "other"]),
        ((LOST, FAILING), ["other", "s3", "copies"]),
        ((LOST, OTHER), ["s3", "copies", "other"]),
    ],
    ids=["nothing", "the cause", "the consequence", "both", "the cause and another"],
)
def test_what_explains_and_what_is_explained_stay_together_whichever_of_them_is_known(
    known: tuple[Finding, ...], shown: list[str]
) -> None:
    own = {("prod", one.id): request().of(one, NOW, "prod") for one in known}
    marked = with_acknowledgements(link_causes([OTHER, FAILING, LOST]), own, lambda _: None, lambda _: NOW)
    assert [one.subject.name for one in sorted(marked, key=rank)] == shown


# How long


def test_an_acknowledgement_for_an_hour_holds_for_that_hour_whatever_the_finding_says() -> None:
    other = late(what="later")
    assert is_known(other, late(), NOW + HOUR, NOW + HOUR - timedelta(seconds=1))
    assert not is_known(other, late(), NOW + HOUR, NOW + HOUR)


def test_what_gets_worse_is_shown_again_at_once_and_what_gets_better_is_not() -> None:
    worse, better = late(severity=Severity.ERROR), late(severity=Severity.NOTE)
    assert not is_known(worse, late(), NOW + HOUR, NOW)
    assert is_known(better, late(), NOW + HOUR, NOW)


def test_until_it_changes_ends_with_other_words_and_not_with_the_time_that_passes() -> None:
    def said(minutes: int, runs: int) -> Finding:
        due = NOW - timedelta(minutes=minutes)
        return late(evidence=sentence("Due at ", due, ", ", timedelta(minutes=minutes), f" ago; {runs} missed."))

    assert statement(said(5, 1)) == statement(said(90, 1))
    assert is_known(said(90, 1), said(5, 1), None, NOW + timedelta(days=2))
    assert not is_known(said(90, 2), said(5, 1), None, NOW)


def test_nothing_is_known_for_longer_than_a_month() -> None:
    assert is_known(late(), late(), None, NOW + LONGEST - HOUR)
    assert not is_known(late(), late(), None, NOW + LONGEST)


def test_another_finding_of_the_same_object_or_of_another_cluster_is_not_known() -> None:
    own = {("prod", late().id): request().of(late(), NOW, "prod")}
    assert acknowledged(replace(late(), cause="other"), own, None, NOW) is None
    elsewhere = replace(late(), subject=late().subject._replace(context="test"))
    assert acknowledged(elsewhere, own, None, NOW) is None


@pytest.mark.parametrize(
    ("now", "zone", "expected"),
    [
        ("2026-11-15T02:41:07+00:00", "UTC", "2026-11-15T06:00:00+00:00"),
        ("2026-11-15T06:00:00+00:00", "UTC", "2026-11-15T14:00:00+00:00"),
        ("2026-11-15T23:10:00+00:00", "UTC", "2026-11-16T06:00:00+00:00"),
        ("2026-11-15T02:41:07+00:00", "Europe/Berlin", "2026-11-15T05:00:00+00:00"),
        ("2026-10-24T23:00:00+00:00", "Europe/Berlin", "2026-10-25T05:00:00+00:00"),
        ("2026-11-15T21:30:00+00:00", "America/New_York", "2026-11-16T03:00:00+00:00"),
    ],
)
def test_a_shift_ends_by_the_clocks_of_the_zone_that_is_shown(now: str, zone: str, expected: str) -> None:
    assert next_shift_end(ENDS, datetime.fromisoformat(now), ZoneInfo(zone)).isoformat() == expected


def test_until_when_is_read_as_a_duration_the_shift_or_the_change() -> None:
    assert acknowledgement_end("720h", NOW, ENDS, UTC) == NOW + LONGEST
    assert acknowledgement_end("90m", NOW, ENDS, UTC) == NOW + timedelta(minutes=90)
    assert acknowledgement_end("shift", NOW, ENDS, UTC) == NOW.replace(hour=6, minute=0, second=0)
    assert acknowledgement_end("change", NOW, ENDS, UTC) is None


@pytest.mark.parametrize("text", ["", "soon", "-1h", "0s", "721h", "99999999h"])
def test_an_end_that_is_not_valid_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        acknowledgement_end(text, NOW, ENDS, UTC)


def test_an_end_that_is_too_far_names_the_farthest() -> None:
    with pytest.raises(BadInput, match="at most 720h"):
        acknowledgement_end("721h", NOW, ENDS, UTC)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_reason_is_needed_and_is_not_a_novel(reason: str) -> None:
    with pytest.raises(BadInput):
        AcknowledgeRequest("maria", reason)
    assert AcknowledgeRequest("maria", "x" * 500).reason == "x" * 500


# What everybody sees


def test_what_is_on_the_object_is_known_to_everybody() -> None:
    found = acknowledged(late(), {}, carrying(late()), NOW)
    assert found is not None
    assert (found.by, found.reason, found.until, found.shared) == (
        "maria",
        "the bucket is being moved",
        NOW + HOUR,
        True,
    )


def test_a_mark_that_velero_copied_onto_another_object_says_nothing_there() -> None:
    copied = late("nightly-20261115020003")
    assert acknowledged(copied, {}, carrying(late(), name=copied.subject.name), NOW) is None


@pytest.mark.parametrize(
    "text", ["", "{}", "known", "[" * 5000, '{"finding": 3}', '{"at": "9999-12-31T23:59:59Z"}', "\ud800"]
)
def test_a_mark_that_somebody_has_broken_hides_nothing(text: str) -> None:
    broken = schedule(annotations={annotation_of(late()): text})
    assert acknowledged(late(), {}, broken, NOW) is None


def test_two_findings_of_one_rule_on_one_object_have_marks_of_their_own_that_the_api_takes() -> None:
    names = [annotation_of(replace(late(), cause=cause)) for cause in ("", "a b/c", "other")]
    assert len(set(names)) == 3
    assert all(len(name.partition("/")[2]) <= 63 for name in names)


def test_the_plan_says_until_when_and_its_reverse_removes_exactly_that_mark() -> None:
    (step,) = plan_acknowledge(ClusterSnapshot("prod"), [schedule()], [late()], request(), NOW).steps
    assert step.forecast == "everybody sees until 03:41:07Z that this is known: late"
    mark = annotation_of(late())
    assert any(line.startswith(f"annotation {mark}: ") and "maria" in line for line in step.changes)
    (back,) = plan_unacknowledge(ClusterSnapshot("prod"), [carrying(late())], [late()], NOW).steps
    assert back.write.body["metadata"]["annotations"] == {mark: None}
    written = step.write.body["metadata"]["annotations"][mark]
    assert (step.write.before, back.write.before) == ({}, {"metadata": {"annotations": {mark: written}}})
    assert plan_unacknowledge(ClusterSnapshot("prod"), [schedule()], [late()], NOW).steps == ()


def test_a_finding_about_no_object_is_for_oneself_only() -> None:
    queue = replace(late(), subject=ObjectRef("prod", "", "velero", ""))
    objects, refused = shared_subjects([late(), queue, late()])
    assert objects == (late().subject,)
    assert [one.target for one in refused] == [queue.subject]


def test_an_object_that_carries_no_marks_cannot_be_shared() -> None:
    pod = replace(late(), subject=ObjectRef("prod", "Pod", "velero", "velero-0"))
    unnamed = replace(late(), subject=ObjectRef("prod", "Schedule", "velero", ""))
    assert [bool(cannot_be_shared(one)) for one in (late(), pod, unnamed)] == [False, True, True]


def test_one_key_acknowledges_what_is_open_and_takes_back_where_nothing_is() -> None:
    known = replace(late("known"), acknowledged=request().of(late("known"), NOW))
    assert record_for([known, late()]) is ACKNOWLEDGE
    assert record_for([known]) is UNACKNOWLEDGE


# The file


def test_the_file_is_shared_by_several_foretops_and_nobody_else_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "foretop" / "acknowledged.jsonl"
    one, other = AcknowledgementFile(path), AcknowledgementFile(path)
    assert one.read() == {}
    one.add([request().of(late(), NOW, "prod")], NOW)
    other.add([request().of(late("second"), NOW, "prod")], NOW)
    assert set(one.read()) == {("prod", late().id), ("prod", late("second").id)}
    assert [stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()] == [0o600, 0o600]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    other.remove([("prod", late().id)], NOW)
    assert set(one.read()) == {("prod", late("second").id)}


def test_a_file_that_nobody_wrote_is_the_same_value_each_time(tmp_path: Path) -> None:
    """Otherwise the findings are gathered again every second."""
    file = AcknowledgementFile(tmp_path / "acknowledged.jsonl")
    nothing = file.read()
    assert file.read() is nothing
    file.add([request().of(late(), NOW, "prod")], NOW)
    some = file.read()
    assert some
    assert file.read() is some
    file.path.unlink()
    assert file.read() == {}


def test_a_damaged_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "acknowledged.jsonl"
    held = AcknowledgementFile(path)
    held.add([request().of(late(), NOW, "prod")], NOW)
    path.write_bytes(b'\xff\xfe{"finding": \n' + path.read_bytes() + b'{"finding": "x", "by')
    assert set(held.read()) == {("prod", late().id)}
    held.add([request().of(late("second"), NOW, "prod")], NOW)
    assert len(held.read()) == 2


def test_what_has_ended_leaves_the_file_with_the_next_write(tmp_path: Path) -> None:
    held = AcknowledgementFile(tmp_path / "acknowledged.jsonl")
    held.add([request().of(late(), NOW, "prod"), request(None).of(late("lasting"), NOW, "prod")], NOW)
    week = NOW + timedelta(days=7)
    held.add([request(week + HOUR).of(late("new"), week, "prod")], week)
    assert set(held.read()) == {("prod", late("lasting").id), ("prod", late("new").id)}


@pytest.mark.parametrize(
    ("until", "lasts"), [(NOW + HOUR, HOUR + timedelta(days=1)), (None, LONGEST + timedelta(days=1))]
)
def test_what_has_ended_is_kept_for_a_day_because_another_clock_may_be_behind(
    until: datetime | None, lasts: timedelta, tmp_path: Path
) -> None:
    held = AcknowledgementFile(tmp_path / "acknowledged.jsonl")
    held.add([request(until).of(late(), NOW, "prod")], NOW)
    for passed, kept in ((lasts, True), (lasts + timedelta(seconds=1), False)):
        held.remove([], NOW + passed)
        assert bool(held.read()) is kept


@pytest.mark.parametrize(
    ("year", "until", "read"), [(1, 9, False), (2, 9, True), (9, 9998, True), (9, 9999, False), (2026, None, True)]
)
def test_moments_that_cannot_be_shown_everywhere_are_passed_over(
    year: int, until: int | None, read: bool, tmp_path: Path
) -> None:
    end = NOW.replace(year=until) if until is not None else None
    one = replace(request().of(late(), NOW, "prod"), at=NOW.replace(year=year), until=end)
    path = tmp_path / "acknowledged.jsonl"
    path.write_bytes(msgspec.json.encode(one) + b"\n")
    assert bool(AcknowledgementFile(path).read()) is read
    path.write_bytes(msgspec.json.encode(replace(one, context="")) + b"\n")
    assert AcknowledgementFile(path).read() == {}


def test_a_file_that_changed_is_read_again_and_one_that_is_gone_is_empty_for_good(tmp_path: Path) -> None:
    file = AcknowledgementFile(tmp_path / "acknowledged.jsonl")
    file.add([request().of(late(), NOW, "prod")], NOW)
    assert len(file.read()) == 1
    AcknowledgementFile(file.path).add([request().of(late("second"), NOW, "prod")], NOW)
    assert len(file.read()) == 2
    file.path.unlink()
    nothing = file.read()
    assert nothing == {}
    assert file.read() is nothing


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    held = AcknowledgementFile(tmp_path / "file" / "acknowledged.jsonl")
    assert held.read() == {}
    with pytest.raises(ForetopError, match="cannot be written: file exists"):
        held.add([request().of(late(), NOW, "prod")], NOW)


def test_a_file_that_another_process_has_locked_is_told_as_such(tmp_path: Path) -> None:
    held = AcknowledgementFile(tmp_path / "acknowledged.jsonl", lock_limit=0.05)
    with Path(f"{held.path}.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ForetopError, match="another process has locked it"):
            asyncio.run(held.add_in_thread([request().of(late(), NOW, "prod")], NOW))


# Among the findings


def watched(tmp_path: Path, *names: str) -> tuple[FilledSource, DashboardState]:
    failed = [backup(name, "Failed", created="02:30:03", ended="02:31:03") for name in names]
    source = FilledSource([location(), *failed])
    state = DashboardState(source, lambda: 0.0, AcknowledgementFile(tmp_path / "acknowledged.jsonl"))
    state.judge(at_once=True)
    return source, state


async def test_the_members_of_a_group_are_known_and_a_new_one_shows(tmp_path: Path) -> None:
    _, state = watched(tmp_path, "a", "b", "c", "d")
    (group,) = state.findings
    assert len(group.members) == 4
    await state.acknowledge(request().of(one, state.clock(), CONTEXT) for one in group.members)
    assert state.findings == ()
    assert [len(one.members) for one in state.acknowledged] == [4]
    _, more = watched(tmp_path, "a", "b", "c", "d", "e")
    await more.read_acknowledgements()
    assert [one.subject.name for one in more.findings] == ["e"]
    assert sum(more.severities().values()) == 1
    await state.unacknowledge([(CONTEXT, group.members[0].id)])
    again: tuple[Finding, ...] = state.findings
    assert [one.subject.name for one in again] == [group.members[0].subject.name]


def test_what_is_known_for_other_reasons_is_not_one_line() -> None:
    def failed(name: str, why: str) -> Finding:
        subject = ObjectRef("prod", "Backup", "velero", name)
        found = Finding("backup-failed", Severity.ERROR, subject, None, "failed", "", "")
        return replace(found, acknowledged=AcknowledgeRequest("maria", why).of(found, NOW, "prod"))

    groups = aggregated([*(failed(f"a{n}", "one") for n in range(4)), *(failed(f"b{n}", "other") for n in range(4))])
    assert [len(group.members) for group in groups] == [4, 4]
    assert len(list(ungathered(groups))) == 8


async def test_an_acknowledgement_that_ends_makes_the_finding_count_again(tmp_path: Path) -> None:
    source, state = watched(tmp_path, "a")
    await state.acknowledge([request(state.clock() + HOUR).of(state.findings[0], state.clock(), CONTEXT)])
    assert state.findings == ()
    source.manual.advance(HOUR)
    state.begin_frame()
    state.judge(at_once=True)
    again: tuple[Finding, ...] = state.findings
    assert [one.subject.name for one in again] == ["a"]
    assert state.acknowledged == ()
