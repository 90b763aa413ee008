"""Pausing and unpausing: the exact patch, and the sentence that the user decides by."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest

from foretop_core.actions.planners.pausing import (
    CHANGE_PAUSE,
    PAUSE,
    PauseRequest,
    end_as_typed,
    of_batch,
    plan_pause,
    plan_unpause,
    read_end,
)
from foretop_core.actions.plans import Plan
from foretop_core.cron import Dialect
from foretop_core.errors import BadInput
from foretop_core.models import Schedule, from_builtins, to_builtins
from foretop_core.rules.facts.pause_facts import PauseEffect
from foretop_core.rules.forecast import Choice
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY, PAUSED_UNTIL, PAUSED_WHY, pause_info
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_demo.reconcile.schedule import reconcile_schedule
from foretop_demo.reconcile.writes import Create, Patch
from tests.objects import NOW, at, backup, location, schedule

DUE: dict[str, Any] = {"cron": "0 * * * *", "last": "00:00:03"}
NOT_DUE: dict[str, Any] = {"cron": "0 * * * *", "last": "02:00:03"}


def snapshot_of(*schedules: Schedule, skip_default: bool | None = False, **more: Any) -> ClusterSnapshot:
    servers = {} if skip_default is None else {"velero": VeleroInfo(skip_immediately=skip_default, concurrency=1)}
    return ClusterSnapshot("prod", schedules=schedules, storage=(location(),), servers=servers, **more)


def merged(item: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """RFC 7396, implemented again for the test."""
    result = dict(item)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = merged(result.get(key) or {}, value)
        else:
            result[key] = value
    return result


def what_velero_does(item: Schedule, server_default: bool, now: datetime = NOW) -> tuple[bool, bool]:
    """Whether Velero's controller makes a backup at once, and whether it sets lastSkipped."""
    made, skipped = False, False
    for _ in range(4):
        answer = reconcile_schedule(item, (), now, Dialect.NETRESEARCH, server_default)
        for write in answer.writes:
            made |= isinstance(write, Create)
            if isinstance(write, Patch):
                skipped |= "lastSkipped" in write.patch.get("status", {})
                item = from_builtins(Schedule, merged(to_builtins(item), dict(write.patch)))
    return made, skipped


@pytest.mark.parametrize(
    ("due", "field", "choice", "default"),
    list(product([True, False], [None, True, False], list(Choice), [True, False])),
)
def test_unpausing_does_what_its_sentence_says(due: bool, field: bool | None, choice: Choice, default: bool) -> None:
    """The whole table: due or not, the field, the choice and the server's default, run through the controller."""
    paused = schedule(paused=True, skip=field, resourceVersion="7", **(DUE if due else NOT_DUE))
    (step,) = plan_unpause(snapshot_of(paused, skip_default=default), [paused], choice, NOW).steps
    spec = step.write.body["spec"]
    assert spec["paused"] is False
    wanted = {Choice.SKIP: True, Choice.DO_NOT_SKIP: False, Choice.LEAVE: field}[choice]
    assert spec.get("skipImmediately", "left alone") == ("left alone" if wanted is field else wanted)
    assert any("skipImmediately" in change for change in step.changes) is (wanted is not field)
    assert step.write.body["metadata"] == {"resourceVersion": "7"}
    after = from_builtins(Schedule, merged(to_builtins(paused), step.write.body))
    made, _ = what_velero_does(after, default)
    assert made is step.forecast.startswith("one backup is created at once")
    assert made is (
        due and not (choice is Choice.SKIP or (choice is Choice.LEAVE and (default if field is None else field)))
    )


def test_the_sentence_counts_what_was_missed_and_names_the_next_run() -> None:
    paused = schedule(paused=True, **DUE)
    (step,) = plan_unpause(snapshot_of(paused), [paused], Choice.SKIP, NOW).steps
    assert "due since 01:00:00Z, 2 runs missed" in step.forecast
    assert "next run 03:00:00Z" in step.forecast
    assert step.changes == ("spec.paused true → false", "spec.skipImmediately absent → true")


@pytest.mark.parametrize(
    ("cron", "told"),
    [
        ("0 * * * *", "no backup now, none is due, so nothing to skip now; next run 03:00:00Z"),
        ("@every 2h", "no backup now, none is due, and the skip starts its delay again; next run 04:41:07Z"),
    ],
)
def test_a_skip_that_was_asked_for_is_written_where_nothing_is_due_too(cron: str, told: str) -> None:
    paused = schedule(cron=cron, last="02:00:03", paused=True)
    (step,) = plan_unpause(snapshot_of(paused), [paused], Choice.SKIP, NOW).steps
    assert step.write.body["spec"] == {"paused": False, "skipImmediately": True}
    assert step.forecast.startswith(told)


IN_A_MOMENT = "if this is sent after 02:42:00Z, that run "


@pytest.mark.parametrize("last", ["01:42:03", "00:42:03"])
@pytest.mark.parametrize("choice", list(Choice))
def test_a_plan_says_what_becomes_of_a_run_that_falls_due_before_it_is_sent(last: str, choice: Choice) -> None:
    """As Velero does when it gets the write at 02:42:05, and not at 02:41:07, where the plan is of."""
    paused = schedule(cron="42 * * * *", last=last, paused=True, skip=False)
    (step,) = plan_unpause(snapshot_of(paused), [paused], choice, NOW).steps
    after = from_builtins(Schedule, merged(to_builtins(paused), step.write.body))
    was_made, _ = what_velero_does(after, server_default=False)
    made, skipped = what_velero_does(after, False, NOW + timedelta(seconds=58))
    fate = "is skipped too" if skipped else "gets no backup of its own" if was_made else "starts at once"
    assert made is not skipped
    assert f"; {IN_A_MOMENT}{fate}" in step.forecast


@pytest.mark.parametrize(("cron", "last"), [("44 * * * *", "01:44:03"), ("@every 1h", "00:00:03")])
def test_a_run_that_is_not_near_is_not_spoken_of_twice(cron: str, last: str) -> None:
    paused = schedule(cron=cron, last=last, paused=True)
    (step,) = plan_unpause(snapshot_of(paused), [paused], Choice.SKIP, NOW).steps
    assert "if this is sent" not in step.forecast


def test_an_unknown_server_default_is_reported_as_uncertain() -> None:
    paused = schedule(paused=True, **DUE)
    (step,) = plan_unpause(snapshot_of(paused, skip_default=None), [paused], Choice.LEAVE, NOW).steps
    assert "if the server still has its default" in step.forecast


def test_schedules_that_are_not_paused_are_refused_and_the_others_planned() -> None:
    running, paused = schedule("running"), schedule("paused", paused=True)
    plan = plan_unpause(snapshot_of(running, paused), [running, paused], Choice.SKIP, NOW)
    assert [step.target.name for step in plan.steps] == ["paused"]
    assert [(refusal.target.name, refusal.why) for refusal in plan.refused] == [("running", "it is not paused")]


def test_a_pause_records_who_why_and_until_when() -> None:
    item = schedule(resourceVersion="3", **NOT_DUE)
    request = PauseRequest("maria", "window-1", "upgrade", NOW + timedelta(hours=2))
    (step,) = plan_pause(snapshot_of(item), [item], request, NOW).steps
    assert step.write.body == {
        "metadata": {
            "annotations": {
                "foretop.io/paused-by": "maria",
                "foretop.io/paused-at": "2026-11-15T02:41:07Z",
                "foretop.io/paused-reason": "upgrade",
                "foretop.io/paused-until": "2026-11-15T04:41:07Z",
                "foretop.io/paused-batch": "window-1",
            },
            "resourceVersion": "3",
        },
        "spec": {"paused": True},
    }
    assert "the run of 03:00:00Z will not start" in step.forecast


def test_a_pause_names_the_backups_that_keep_running() -> None:
    item = schedule(**NOT_DUE)
    running = backup("nightly-20261115020003", "InProgress", of="nightly", started="02:00:03")
    (step,) = plan_pause(snapshot_of(item, backups=(running,)), [item], PauseRequest("maria", "w"), NOW).steps
    assert "nightly-20261115020003 continues" in step.forecast


def test_a_batch_unpauses_exactly_what_it_paused() -> None:
    marked: dict[str, Any] = {"annotations": {"foretop.io/paused-batch": "w1"}}
    mine = schedule("mine", paused=True, **marked)
    before = schedule("before", paused=True)
    other = schedule("other", paused=True, annotations={"foretop.io/paused-batch": "w2"})
    resumed = schedule("resumed", **marked)
    assert of_batch([mine, before, other, resumed], "w1") == [mine]


def test_unpausing_removes_the_pause_annotations() -> None:
    paused = schedule(paused=True, annotations={"foretop.io/paused-batch": "w1", "team": "a"}, **DUE)
    (step,) = plan_unpause(snapshot_of(paused), [paused], Choice.SKIP, NOW).steps
    assert step.write.body["metadata"]["annotations"] == {"foretop.io/paused-batch": None}
    assert step.write.before["metadata"]["annotations"] == {"foretop.io/paused-batch": "w1"}


@pytest.mark.parametrize(("good", "stays"), [("2026-11-14T20:00:03Z", True), ("02:00:03", False)])
def test_the_note_of_a_pause_stays_while_a_copy_that_was_late_before_it_is_owed(good: str, stays: bool) -> None:
    """Nothing else tells afterwards that the schedule ran until then."""
    marks = {"foretop.io/paused-by": "maria", "foretop.io/paused-at": "2026-11-15T02:30:00Z"}
    paused = schedule("hourly", paused=True, annotations=marks, **DUE)
    snapshot = snapshot_of(paused, backups=(backup("hourly-1", created=good, started=good, of="hourly"),))
    (step,) = plan_unpause(snapshot, [paused], Choice.SKIP, NOW).steps
    assert ("foretop.io/paused-at" not in step.write.body["metadata"]["annotations"]) is stays


def test_annotations_of_an_older_pause_are_replaced() -> None:
    item = schedule(annotations={"foretop.io/paused-reason": "old"}, **NOT_DUE)
    (step,) = plan_pause(snapshot_of(item), [item], PauseRequest("maria", "w"), NOW).steps
    assert step.write.body["metadata"]["annotations"]["foretop.io/paused-reason"] is None


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({"annotations": {"meta.helm.sh/release-name": "velero"}}, "managed by Helm (velero)"),
        ({"labels": {"argocd.argoproj.io/instance": "backups"}}, "managed by Argo CD (backups)"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "a:b"}}, "managed by Argo CD (a:b)"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "infra"}}, "managed by Flux (infra)"),
        ({"labels": {"helm.toolkit.fluxcd.io/name": "infra"}}, "change the values of its HelmRelease"),
        ({"labels": {"oadp.openshift.io/oadp": "True"}}, "change the DataProtectionApplication"),
        ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "managed by Helm, which"),
        (
            {"managedFields": [{"manager": "kubectl"}, {"manager": "helm-controller"}]},
            "managed by Flux (helm-controller",
        ),
        ({"managedFields": [{"manager": "argocd-controller"}]}, "managed by Argo CD (argocd-controller"),
        ({"managedFields": [{"manager": "kustomize-controller"}]}, "that the kustomization follows"),
        (
            {"ownerReferences": [{"kind": "BackupPolicy", "name": "gold", "controller": True}]},
            "belongs to BackupPolicy gold",
        ),
    ],
)
def test_an_owner_is_named_with_where_to_change_it_permanently(meta: dict[str, Any], words: str) -> None:
    item = schedule(**NOT_DUE, **meta)
    (step,) = plan_pause(snapshot_of(item), [item], PauseRequest("maria", "w"), NOW).steps
    (warning,) = step.warnings
    assert words in warning
    assert "to make it permanent" in warning


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"ownerReferences": [{"kind": "BackupPolicy", "name": "gold", "controller": False}]},
        {"labels": {"app.kubernetes.io/managed-by": "me"}},
        {"managedFields": [{"manager": "kubectl"}]},
    ],
)
def test_what_nobody_undoes_has_no_warning(meta: dict[str, Any]) -> None:
    item = schedule(**NOT_DUE, **meta)
    (step,) = plan_pause(snapshot_of(item), [item], PauseRequest("maria", "w"), NOW).steps
    assert step.warnings == ()


def test_the_command_to_copy_is_quoted_for_a_shell() -> None:
    import json
    import shlex

    paused = schedule(paused=True, **DUE)
    (step,) = plan_unpause(snapshot_of(paused), [paused], Choice.SKIP, NOW).steps
    spoken = shlex.split(step.command)
    assert spoken[:7] == ["kubectl", "--context", "prod", "-n", "velero", "patch", "schedules.velero.io"]
    assert json.loads(spoken[-1]) == {"spec": {"paused": False, "skipImmediately": True}}


def held(name: str = "nightly", until: str = "2026-11-15T03:30:00Z", **more: Any) -> Schedule:
    """One that foretop has paused, for a reason and with an end."""
    notes = {PAUSED_BY: "maria", PAUSED_BATCH: "w1", PAUSED_WHY: "upgrade", PAUSED_UNTIL: until}
    kept = {key: value for key, value in notes.items() if value}
    return schedule(name, paused=True, resourceVersion="7", annotations=kept, **{**NOT_DUE, **more})


def change(*items: Schedule, snapshot: ClusterSnapshot | None = None, **wanted: Any) -> Plan:
    """The plan of who asks for another reason or end of all that are paused."""
    there = snapshot or snapshot_of(*items)
    again = frozenset(there.ref(item) for item in items if item.spec.paused)
    request = PauseRequest("jo", "w2", again=again, **wanted)
    return plan_pause(there, items, request, NOW)


def test_a_pause_gets_another_end_and_nothing_else_of_the_schedule_changes() -> None:
    until = NOW + timedelta(hours=3)
    (step,) = change(held(), until=until, changes_end=True).steps
    assert step.write.body == {
        "metadata": {"annotations": {PAUSED_UNTIL: "2026-11-15T05:41:07Z"}, "resourceVersion": "7"},
    }
    assert step.write.before["metadata"]["annotations"][PAUSED_UNTIL] == "2026-11-15T03:30:00Z"
    assert step.changes == (f"annotation {PAUSED_UNTIL} 2026-11-15T03:30:00Z → 2026-11-15T05:41:07Z",)
    assert step.forecast == "it stays paused until 05:41:07Z, and not 03:30:00Z"
    assert isinstance(step.effect, PauseEffect)
    assert (step.effect.is_change, step.effect.was, step.effect.misses) == (True, at("03:30:00"), 3)


@pytest.mark.parametrize(
    ("until", "end"),
    [("2026-11-15T03:30:00Z", "05:30:00"), ("2026-11-15T02:30:00Z", "04:41:07"), ("", "04:41:07")],
    ids=["open", "over", "none"],
)
def test_a_length_with_a_plus_is_added_to_the_end_that_is_there(until: str, end: str) -> None:
    """As the life of a backup is extended: from now on where the end is past, or there is none."""
    more = read_end("+2h", NOW)
    assert more == timedelta(hours=2)
    (step,) = change(held(until=until), until=more, changes_end=True).steps
    assert step.write.body["metadata"]["annotations"] == {PAUSED_UNTIL: f"2026-11-15T{end}Z"}


def test_only_what_was_typed_anew_is_written_and_an_empty_field_removes_it() -> None:
    (step,) = change(held(), reason="CHG-2", changes_reason=True).steps
    assert step.write.body["metadata"]["annotations"] == {PAUSED_WHY: "CHG-2"}
    assert step.forecast == "it stays paused until 03:30:00Z, for another reason"
    (step,) = change(held(), changes_reason=True, changes_end=True).steps
    assert step.write.body["metadata"]["annotations"] == {PAUSED_WHY: None, PAUSED_UNTIL: None}
    assert step.forecast == "it stays paused without an end, and not until 03:30:00Z"
    assert change(held(), reason="upgrade", changes_reason=True).steps == ()


def test_a_plan_that_only_changes_pauses_is_called_that() -> None:
    wanted: dict[str, Any] = {"until": NOW + timedelta(hours=3), "changes_end": True}
    assert change(held(), **wanted).record is CHANGE_PAUSE
    assert change(held("a"), schedule("b", **NOT_DUE), **wanted).record is PAUSE
    assert change(held(), reason="upgrade", changes_reason=True).record is PAUSE, "nothing is left to be changed"


def test_a_schedule_that_was_unpaused_meanwhile_is_left_alone_and_says_so() -> None:
    item = held()
    again = frozenset({snapshot_of(item).ref(item)})
    free = schedule(resourceVersion="8", **NOT_DUE)
    request = PauseRequest("jo", "w2", until=NOW + timedelta(hours=3), again=again, changes_end=True)
    plan = plan_pause(snapshot_of(free), [free], request, NOW)
    assert plan.steps == ()
    assert [refusal.why for refusal in plan.refused] == ["it is no longer paused"]


def test_of_several_the_paused_get_the_new_end_and_the_others_are_paused_until_then() -> None:
    items = held("a"), schedule("b", **NOT_DUE)
    until = NOW + timedelta(hours=2)
    first, second = change(*items, reason="CHG-2", until=until, changes_reason=True, changes_end=True).steps
    assert "spec" not in first.write.body
    assert first.write.body["metadata"]["annotations"] == {PAUSED_WHY: "CHG-2", PAUSED_UNTIL: "2026-11-15T04:41:07Z"}
    assert second.write.body["spec"] == {"paused": True}
    assert second.write.body["metadata"]["annotations"][PAUSED_BATCH] == "w2"
    assert second.write.body["metadata"]["annotations"][PAUSED_UNTIL] == "2026-11-15T04:41:07Z"


def test_only_a_pause_has_a_reason_and_an_end_to_change() -> None:
    assert CHANGE_PAUSE.applies(held(), lambda: False) == ""
    assert CHANGE_PAUSE.applies(schedule(paused=True, **NOT_DUE), lambda: False) == ""
    assert CHANGE_PAUSE.applies(schedule(), lambda: False) == "it is not paused"


def test_a_pause_of_others_gets_a_reason_and_an_end_and_stays_theirs() -> None:
    field = {"manager": "kubectl-patch", "time": "2026-11-15T01:00:00Z", "fieldsV1": {"f:spec": {"f:paused": {}}}}
    stale = {"foretop.io/paused-by": "jo", "foretop.io/paused-at": "2026-11-14T01:00:00Z", PAUSED_WHY: "old"}
    other = schedule(paused=True, managedFields=[field], annotations=stale, resourceVersion="3", **NOT_DUE)
    until = NOW + timedelta(hours=2)
    (step,) = change(other, reason="CHG-9", until=until, changes_reason=True, changes_end=True).steps
    assert "spec" not in step.write.body
    assert step.write.body["metadata"]["annotations"] == {
        PAUSED_BY: "jo",
        "foretop.io/paused-at": "2026-11-15T01:00:00Z",
        PAUSED_WHY: "CHG-9",
        PAUSED_UNTIL: "2026-11-15T04:41:07Z",
        PAUSED_BATCH: "w2",
    }
    after = from_builtins(Schedule, merged(to_builtins(other), step.write.body))
    info = pause_info(after)
    assert (info.since, info.who) == (at("2026-11-15T01:00:00Z"), "with kubectl-patch, noted by jo")
    assert (info.why, info.until) == ("CHG-9", until)
    assert change(other).steps == (), "nothing was typed"


@pytest.mark.parametrize(
    ("until", "text"),
    [
        (None, ""),
        ("2026-11-15T03:30:00Z", "03:30Z"),
        ("2026-11-16T02:30:00Z", "02:30Z"),
        ("2026-11-15T02:30:00Z", "2026-11-15T02:30Z"),
        ("2026-11-16T02:50:00Z", "2026-11-16T02:50Z"),
    ],
)
def test_an_end_is_shown_as_it_could_have_been_typed(until: str | None, text: str) -> None:
    end = at(until) if until else None
    assert end_as_typed(end, NOW) == text
    if end is not None and end > NOW:
        assert read_end(text, NOW) == end


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("04:30", "2026-11-15T04:30:00+00:00"),
        ("02:00Z", "2026-11-16T02:00:00+00:00"),
        ("2h", "2026-11-15T04:41:07+00:00"),
        (" 1h30m ", "2026-11-15T04:11:07+00:00"),
        ("1d", "2026-11-16T02:41:07+00:00"),
        ("2026-11-15T05:00:00Z", "2026-11-15T05:00:00+00:00"),
        ("2026-11-15T05:00:00+01:00", "2026-11-15T04:00:00+00:00"),
        ("2026-11-16", "2026-11-16T00:00:00+00:00"),
    ],
)
def test_the_end_of_a_pause_is_a_clock_time_a_length_or_a_moment(text: str, end: str) -> None:
    found = read_end(text, NOW)
    assert isinstance(found, datetime)
    assert found.isoformat() == end


def test_a_clock_time_that_is_now_is_tomorrow_s() -> None:
    now = NOW.replace(second=0)
    assert read_end("02:41", now) == now + timedelta(days=1)
    assert read_end("02:42", now) == now + timedelta(minutes=1)
    assert end_as_typed(now + timedelta(days=1), now) == "02:41Z"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("25:00", "is not a valid end"),
        ("soon", "is not a valid end"),
        ("2020-01-01", "is in the past"),
        ("-2h", "is in the past"),
        ("0s", "is in the past"),
        ("+0s", "is not a valid end"),
        ("+-2h", "is not a valid end"),
        ("+soon", "is not a valid end"),
        ("+99999999h", "is not a valid end"),
    ],
)
def test_an_end_that_cannot_be_is_one_line(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_end(text, NOW)
