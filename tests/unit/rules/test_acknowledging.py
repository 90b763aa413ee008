"""Findings that are known: whether one is acknowledged, and when it shows again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec.structs import replace

from foretop_core.actions.planners.acknowledging import (
    ACKNOWLEDGE,
    UNACKNOWLEDGE,
    AcknowledgeRequest,
    acknowledgement_end,
    next_shift_end,
    plan_acknowledge,
    plan_unacknowledge,
    record_for,
)
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.models import Deployment, Resource, from_builtins
from foretop_core.models.builtin_kinds import ConfigMap
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, CONFIG_MAP
from foretop_core.models.wire import ObjectRef, as_json
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import Text, render, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import (
    Acknowledgement,
    Finding,
    Severity,
    Thresholds,
    aggregated,
    ungathered,
    with_acknowledgements,
)
from foretop_core.rules.triage.acknowledging import (
    LONGEST,
    MOST_BYTES,
    MOST_ENTRIES,
    home_of,
    key_of_entry,
    statement,
    unreadable_acknowledgements,
)
from foretop_core.rules.triage.ranking import link_causes, rank
from tests.objects import NOW, backup, location, schedule
from tests.tui.fake_source import FilledSource

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


def config_map(data: dict[str, str], namespace: str = "velero", name: str = ACKNOWLEDGEMENTS) -> ConfigMap:
    meta = {"name": name, "namespace": namespace, "uid": "u-1", "resourceVersion": "7"}
    return from_builtins(ConfigMap, {"metadata": meta, "data": data})


def text_of(entry: Acknowledgement) -> str:
    return msgspec.json.encode(entry).decode()


def holding(*entries: Acknowledgement, namespace: str = "velero") -> ConfigMap:
    return config_map({key_of_entry(one.finding): text_of(one) for one in entries}, namespace)


def seen(*objects: Resource) -> ClusterSnapshot:
    """A cluster with a Velero in its namespace."""
    return assemble([location(), *objects], "prod")


def is_acknowledged(finding: Finding, snapshot: ClusterSnapshot, now: datetime = NOW) -> bool:
    (marked,) = with_acknowledgements([finding], lambda _: snapshot, lambda _: now)
    return marked.acknowledged is not None


def is_known(finding: Finding, by: Finding, until: datetime | None, now: datetime) -> bool:
    return is_acknowledged(finding, seen(holding(request(until).of(by, NOW))), now)


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
    snapshot = seen(holding(*(request().of(one, NOW) for one in known)))
    marked = with_acknowledgements(link_causes([OTHER, FAILING, LOST]), lambda _: snapshot, lambda _: NOW)
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


def test_another_finding_of_the_same_object_is_not_known() -> None:
    assert not is_known(replace(late(), cause="other"), late(), NOW + HOUR, NOW)


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


# Where


def test_only_a_namespace_with_objects_of_velero_s_own_can_acknowledge() -> None:
    """A tenant can make a ConfigMap and a Deployment in its own namespace, and gains nothing."""
    nab = replace(late(), subject=ObjectRef("prod", "NonAdminBackup", "team-a", "mine"))
    forged = holding(request().of(nab, NOW), namespace="team-a")
    velero = from_builtins(Deployment, {"metadata": {"name": "velero", "namespace": "team-a"}, "spec": {}})
    assert not is_acknowledged(nab, seen(forged, velero))
    assert is_acknowledged(nab, seen(forged, velero, holding(request().of(nab, NOW))))


@pytest.mark.parametrize(
    ("subject", "home"),
    [
        (ObjectRef("prod", "Schedule", "velero", "nightly"), "velero"),
        (ObjectRef("prod", "Schedule", "second", "nightly"), "second"),
        (ObjectRef("prod", "Schedule", "third", "nightly"), ""),
        (ObjectRef("prod", "", "second", ""), "second"),
        (ObjectRef("prod", "NonAdminBackup", "second", "mine"), ""),
        (ObjectRef("prod", "Namespace", "", "shop"), ""),
    ],
)
def test_of_several_veleros_each_has_its_own_findings_and_those_of_nobody_have_no_place(
    subject: ObjectRef, home: str
) -> None:
    there = schedule("other")
    second = replace(there, metadata=replace(there.metadata, namespace="second"))
    assert home_of(seen(second), subject) == home


def test_a_cluster_in_which_no_velero_is_seen_has_no_place_and_says_so() -> None:
    plan = plan_acknowledge(ClusterSnapshot("prod"), (), [late()], request(), NOW)
    assert plan.steps == ()
    (refusal,) = plan.refused
    assert refusal.why == "no Velero is seen in its cluster, beside which it would be acknowledged"


# What it says


@pytest.mark.parametrize(
    "text",
    ["", "{}", "known", "[" * 5000, '{"finding": 3}', '{"at": "9999-12-31T23:59:59Z"}'],
)
def test_an_entry_that_cannot_be_read_costs_itself_and_is_told(text: str) -> None:
    good = request().of(late("other"), NOW)
    snapshot = seen(config_map({key_of_entry(late().id): text, key_of_entry(good.finding): text_of(good)}))
    assert is_acknowledged(late("other"), snapshot)
    assert not is_acknowledged(late(), snapshot)
    (told,) = unreadable_acknowledgements(snapshot, NOW, Thresholds())
    assert told.code == "acknowledgements-unreadable"
    assert key_of_entry(late().id) in render(told.evidence, NOW)
    assert told.subject == ObjectRef("prod", CONFIG_MAP.name, "velero", ACKNOWLEDGEMENTS)


@pytest.mark.parametrize(
    "changed",
    [
        {"at": NOW + HOUR, "until": NOW + 2 * HOUR},
        {"at": NOW.replace(year=9990), "until": NOW.replace(year=9990)},
        {"at": NOW.replace(year=9999, month=12, day=31), "until": None},
        {"at": NOW.replace(year=2)},
        {"until": NOW.replace(year=9998)},
        {"until": NOW + LONGEST + HOUR},
        {"finding": late("other").id},
    ],
    ids=[
        "an hour ahead",
        "the year 9990",
        "the last day",
        "the year 2",
        "until 9998",
        "for more than a month",
        "another key",
    ],
)
def test_an_entry_that_foretop_would_not_have_made_acknowledges_nothing_and_is_told(changed: dict[str, Any]) -> None:
    entry = replace(request().of(late(), NOW), **changed)
    snapshot = seen(config_map({key_of_entry(late().id): text_of(entry)}))
    assert not is_acknowledged(late(), snapshot)
    assert not is_acknowledged(late("other"), snapshot)
    assert len(list(unreadable_acknowledgements(snapshot, NOW, Thresholds()))) == 1
    assert plan_acknowledge(snapshot, (), [late("other")], request(), NOW).steps


def test_an_entry_that_a_colleague_made_a_moment_ahead_of_this_clock_counts() -> None:
    snapshot = seen(holding(request().of(late(), NOW + timedelta(seconds=30))))
    assert is_acknowledged(late(), snapshot)
    assert list(unreadable_acknowledgements(snapshot, NOW, Thresholds())) == []


def test_a_list_that_is_too_large_acknowledges_nothing_and_says_so() -> None:
    known = request().of(late(), NOW)
    many = [replace(known, finding=f"a-rule:Schedule/velero/s{number}") for number in range(MOST_ENTRIES)]
    for held, why in (
        (holding(known, *many), "it has 501 entries, more than 500"),
        (holding(known, replace(many[0], reason="x" * MOST_BYTES)), "it has 512 KiB, more than 512"),
    ):
        assert not is_acknowledged(late(), seen(held))
        (told,) = unreadable_acknowledgements(seen(held), NOW, Thresholds())
        assert why in render(told.evidence, NOW)
        plan = plan_acknowledge(seen(held), (), [late("more")], request(), NOW)
        assert plan.steps == ()
        assert [why in refusal.why for refusal in plan.refused] == [True]


def test_keys_are_of_the_signs_that_the_api_takes_and_differ_with_the_finding() -> None:
    findings = [replace(late(), cause=cause) for cause in ("", "a b/c", "other", "\ud800", "x" * 1000)]
    keys = [key_of_entry(finding.id) for finding in findings]
    assert len(set(keys)) == len(keys)
    for key in (*keys, key_of_entry("/ ü:x")):
        assert len(key) <= 253
        assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")


# What is written


def test_the_first_acknowledgement_makes_the_config_map_and_later_ones_patch_it() -> None:
    (made,) = plan_acknowledge(seen(), (), [late()], request(), NOW).steps
    assert (made.write.method, made.target) == ("POST", ObjectRef("prod", "ConfigMap", "velero", ACKNOWLEDGEMENTS))
    assert made.forecast == "everybody sees until 03:41:07Z that this is known: late"
    assert made.write.body["metadata"] == {"name": ACKNOWLEDGEMENTS, "namespace": "velero"}
    held = config_map(made.write.body["data"])
    assert is_acknowledged(late(), seen(held))
    (patch,) = plan_acknowledge(seen(held), (), [late("other")], request(), NOW).steps
    assert patch.write.method == "PATCH"
    assert patch.write.body["metadata"] == {"uid": "u-1", "resourceVersion": "7"}
    assert list(patch.write.body["data"]) == [key_of_entry(late("other").id)]
    assert any("maria" in line for line in patch.changes)


def test_what_is_taken_back_is_that_entry_and_no_other() -> None:
    held = holding(request().of(late(), NOW), request().of(late("other"), NOW))
    (step,) = plan_unacknowledge(seen(held), (), [late()], NOW).steps
    key = key_of_entry(late().id)
    assert step.write.body["data"] == {key: None}
    assert step.write.before == {"data": {key: held.data[key]}}
    assert plan_unacknowledge(seen(held), (), [late("third")], NOW).steps == ()
    assert plan_unacknowledge(seen(), (), [late()], NOW).steps == ()


def test_what_has_ended_goes_with_the_next_write_and_what_cannot_be_read_stays() -> None:
    ended, lasting = request().of(late("ended"), NOW), request(None).of(late("lasting"), NOW)
    old = replace(lasting, finding=late("old").id, at=NOW - LONGEST)
    broken = key_of_entry(late("broken").id)
    entries = {key_of_entry(one.finding): text_of(one) for one in (ended, lasting, old)}
    (step,) = plan_acknowledge(
        seen(config_map({**entries, broken: "{"})), (), [late()], request(NOW + 2 * HOUR), NOW + HOUR
    ).steps
    assert {key: text is None for key, text in step.write.body["data"].items()} == {
        key_of_entry(late("ended").id): True,
        key_of_entry(late("old").id): True,
        key_of_entry(late().id): False,
    }


def test_a_list_that_is_full_takes_no_more_and_one_that_is_there_can_be_renewed() -> None:
    entry = request().of(late(), NOW)
    names = [f"s{number}" for number in range(MOST_ENTRIES)]
    full = seen(holding(*(replace(entry, finding=late(name).id) for name in names)))
    (refusal,) = plan_acknowledge(full, (), [late()], request(), NOW).refused
    assert refusal.why == (
        f"ConfigMap velero/{ACKNOWLEDGEMENTS} takes no entry: 500 findings are acknowledged there already"
    )
    assert len(plan_acknowledge(full, (), [late(names[0])], request(), NOW).steps) == 1


def test_one_key_acknowledges_what_is_open_and_takes_back_where_nothing_is() -> None:
    known = replace(late("known"), acknowledged=request().of(late("known"), NOW))
    assert record_for([known, late()]) is ACKNOWLEDGE
    assert record_for([known]) is UNACKNOWLEDGE


# Among the findings


def watched(*names: str) -> tuple[FilledSource, DashboardState]:
    failed = [backup(name, "Failed", created="02:30:03", ended="02:31:03") for name in names]
    source = FilledSource([location(), *failed])
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    return source, state


def acknowledge(source: FilledSource, state: DashboardState, *findings: Finding) -> None:
    """As the watch of the ConfigMap brings it."""
    now = state.clock()
    source.change(CONFIG_MAP, as_json(holding(*(request(now + HOUR).of(one, now) for one in findings))))
    state.judge(at_once=True)


def test_the_members_of_a_group_are_known_and_a_new_one_shows() -> None:
    source, state = watched("a", "b", "c", "d")
    (group,) = state.findings
    assert len(group.members) == 4
    acknowledge(source, state, *group.members)
    assert state.findings == ()
    assert [len(one.members) for one in state.acknowledged] == [4]
    more_source, more = watched("a", "b", "c", "d", "e")
    acknowledge(more_source, more, *group.members)
    assert [one.subject.name for one in more.findings] == ["e"]
    assert sum(more.severities().values()) == 1
    acknowledge(source, state, *group.members[1:])
    again: tuple[Finding, ...] = state.findings
    assert [one.subject.name for one in again] == [group.members[0].subject.name]


def test_what_is_known_for_other_reasons_is_not_one_line() -> None:
    def failed(name: str, why: str) -> Finding:
        subject = ObjectRef("prod", "Backup", "velero", name)
        found = Finding("backup-failed", Severity.ERROR, subject, None, "failed", "", "")
        return replace(found, acknowledged=AcknowledgeRequest("maria", why).of(found, NOW))

    groups = aggregated([*(failed(f"a{n}", "one") for n in range(4)), *(failed(f"b{n}", "other") for n in range(4))])
    assert [len(group.members) for group in groups] == [4, 4]
    assert len(list(ungathered(groups))) == 8


def test_an_acknowledgement_that_ends_makes_the_finding_count_again() -> None:
    source, state = watched("a")
    acknowledge(source, state, *state.findings)
    assert state.findings == ()
    source.manual.advance(HOUR)
    state.begin_frame()
    state.judge(at_once=True)
    # A clock that jumps by an hour leaves open besides whether Velero works.
    again: tuple[Finding, ...] = state.findings
    names = [finding.subject.name for finding in again if finding.code != "velero-not-judged"]
    assert names == ["a"]
    assert state.acknowledged == ()
