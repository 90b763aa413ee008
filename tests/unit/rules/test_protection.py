"""The protection of namespaces: what is known of each, how it is judged, and what a change touches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from foretop_core.actions.planners.restores import RestoreRequest, plan_restore
from foretop_core.clock import ManualClock
from foretop_core.foreign_text import quoted
from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupStorageLocation,
    DeleteBackupRequest,
    Namespace,
    NonAdminBackup,
    PersistentVolumeClaim,
    Resource,
    Restore,
    RestoreSpec,
    Schedule,
    from_builtins,
)
from foretop_core.models.nonadmin import NAB_UUID_LABEL
from foretop_core.models.velero import DRILL_LABEL, SCHEDULE_LABEL, ManagedFields
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionLimits, ProtectionState
from foretop_core.rules.protection.copies import DRILLED, DrillOutcome, drills_of, drills_written
from foretop_core.rules.protection.namespace_protection import NamespaceProtection
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.sentences import keys_in, render, sentence, with_keys
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import Finding, Severity, Thresholds, aggregated, triage
from foretop_core.rules.triage.finding import READ_RESULTS
from foretop_core.rules.triage.protection import poor_protection
from foretop_core.rules.triage.schedules import protection_gaps
from foretop_core.store import Store
from foretop_core.tables.engine.rows import ObjectRows
from foretop_core.tables.resources.protection import ProtectionView, covered_by
from tests.counted_work import calls
from tests.crowds import nabs_of_one_team
from tests.objects import NOW

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def wire(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def namespace(name: str) -> Namespace:
    return from_builtins(Namespace, {"metadata": {"name": name}})


def claim(space: str, name: str = "data", **metadata: Any) -> PersistentVolumeClaim:
    meta = {"name": name, "namespace": space, "creationTimestamp": wire(NOW - 90 * _DAY), **metadata}
    body = {"metadata": meta, "spec": {"volumeName": f"pv-{name}"}, "status": {"phase": "Bound"}}
    return from_builtins(PersistentVolumeClaim, body)


CLAIMS_READ = claim("elsewhere")
"""Where one claim was read, all are: a namespace without any needs no copy of volumes."""


def schedule(name: str, *namespaces: str, cron: str = "0 2 * * *", paused: bool = False, **template: Any) -> Schedule:
    body = {
        "metadata": {"name": name, "namespace": "velero", "creationTimestamp": wire(NOW - 60 * _DAY)},
        "spec": {"schedule": cron, "paused": paused, "template": {"includedNamespaces": list(namespaces), **template}},
        "status": {"phase": "Enabled", "lastBackup": wire(NOW - timedelta(minutes=40))},
    }
    return from_builtins(Schedule, body)


def copy(
    name: str,
    *namespaces: str,
    age: timedelta = timedelta(hours=1),
    kept: timedelta = 20 * _DAY,
    phase: str = "Completed",
    storage: str = "default",
    annotations: dict[str, str] | None = None,
    of: str = "",
    **spec: Any,
) -> Backup:
    body = {
        "metadata": {
            "name": name,
            "namespace": "velero",
            "annotations": annotations or {},
            "labels": {SCHEDULE_LABEL: of} if of else {},
        },
        "spec": {"includedNamespaces": list(namespaces), "storageLocation": storage, **spec},
        "status": {
            "phase": phase,
            "startTimestamp": wire(NOW - age),
            "completionTimestamp": wire(NOW - age + timedelta(minutes=1)),
            "expiration": wire(NOW + kept),
        },
    }
    return from_builtins(Backup, body)


def location(name: str = "default", phase: str = "Available", checked: datetime = NOW) -> BackupStorageLocation:
    status = {"phase": phase, "lastValidationTime": wire(checked), "lastSyncedTime": wire(checked)}
    meta = {"name": name, "namespace": "velero"}
    return from_builtins(BackupStorageLocation, {"metadata": meta, "spec": {}, "status": status})


def restore(name: str, backup: str, *namespaces: str, age: timedelta = _DAY) -> Restore:
    body = {
        "metadata": {"name": name, "namespace": "velero"},
        "spec": {"backupName": backup, "includedNamespaces": list(namespaces)},
        "status": {"phase": "Completed", "completionTimestamp": wire(NOW - age)},
    }
    return from_builtins(Restore, body)


def nab(space: str, name: str, phase: str = "Completed") -> NonAdminBackup:
    velero = {"name": f"{space}-{name}", "namespace": "velero", "nacuuid": f"{space}-{name}"}
    body = {
        "metadata": {"name": name, "namespace": space, "creationTimestamp": wire(NOW - _DAY)},
        "status": {
            "phase": "Created",
            "veleroBackup": {**velero, "status": {"phase": phase, "startTimestamp": wire(NOW - _DAY)}},
        },
    }
    return from_builtins(NonAdminBackup, body)


def row(name: str, *objects: Resource) -> NamespaceProtection:
    found = protection_index(assemble(objects)).row(name)
    assert found is not None
    return found


def state(name: str, *objects: Resource, ignored: tuple[str, ...] = ()) -> str:
    judge = ProtectionJudge(assemble((*objects, CLAIMS_READ)), NOW, ProtectionLimits(ignored=ignored))
    return judge.facts(row(name, *objects)).state.value


def paused_since(ago: timedelta, *namespaces: str, **how: Any) -> Schedule:
    """A schedule that was paused some time ago, as the API server tells."""
    field = {"manager": "kubectl-patch", "time": wire(NOW - ago), "fieldsV1": {"f:spec": {"f:paused": {}}}}
    found = schedule("daily", *namespaces, paused=True, **how)
    return structs.replace(found, metadata=structs.replace(found.metadata, managed_fields=_fields(field)))


def _fields(field: dict[str, Any]) -> tuple[ManagedFields, ...]:
    return from_builtins(Schedule, {"metadata": {"name": "x", "managedFields": [field]}}).metadata.managed_fields


def findings(*objects: Resource, limits: Thresholds | None = None, **fields: Any) -> dict[str, Finding]:
    found = triage(assemble((location(), *objects), **fields), NOW, limits).findings
    return {one.subject.name: one for one in found if one.code.startswith(("namespace-", "storage-holds"))}


SHOP = namespace("shop")
DAILY = schedule("daily", "shop")
DAILY_TOO = schedule("daily-too", "shop")
BROKEN = schedule("broken", "shop", cron="0 0 * * 8")


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        pytest.param((SHOP, DAILY, copy("one", "shop")), "protected", id="fresh copy"),
        pytest.param((SHOP,), "not covered", id="nothing"),
        pytest.param((SHOP, copy("one", "shop")), "not covered", id="a copy made by hand alone"),
        pytest.param((SHOP, nab("shop", "mine")), "by hand only", id="a NAB of its own"),
        pytest.param((SHOP, DAILY, copy("one", "shop"), nab("shop", "mine")), "protected", id="a schedule and a NAB"),
        pytest.param((SHOP, BROKEN), "not covered", id="a schedule that Velero refuses"),
        pytest.param((SHOP, BROKEN, copy("one", "shop")), "not covered", id="a refused schedule and an old copy"),
        pytest.param((SHOP, BROKEN, DAILY, copy("one", "shop")), "protected", id="a refused schedule beside another"),
        pytest.param((SHOP, DAILY), "late", id="promised and never made"),
        pytest.param((SHOP, DAILY, copy("one", "shop", age=4 * _DAY)), "late", id="older than promised"),
        pytest.param((SHOP, DAILY, copy("one", "shop", phase="PartiallyFailed")), "partial", id="only partly good"),
        pytest.param((SHOP, DAILY, copy("one", "shop", phase="Failed")), "late", id="a failed one is none"),
        pytest.param(
            (SHOP, schedule("daily", "shop", paused=True), copy("one", "shop")), "paused", id="its schedule is paused"
        ),
        pytest.param(
            (SHOP, schedule("daily", "shop", paused=True), copy("one", "shop", age=20 * _DAY, kept=_DAY / 2)),
            "expiring",
            id="the last one goes",
        ),
        pytest.param(
            (SHOP, DAILY, location(phase="Unavailable"), copy("one", "shop")), "unreachable", id="location gone"
        ),
        pytest.param(
            (
                SHOP,
                DAILY,
                location(phase="Unavailable"),
                location("second"),
                copy("one", "shop"),
                copy("two", "shop", storage="second"),
            ),
            "protected",
            id="one copy in reach",
        ),
        pytest.param((namespace("wiki"), copy("one", "shop")), "deleted", id="gone, with a copy"),
        pytest.param(
            (
                SHOP,
                schedule("pods", "shop", includedResources=["pods"]),
                copy("one", "shop", includedResources=["pods"]),
            ),
            "partial",
            id="only pods are covered",
        ),
    ],
)
def test_what_is_said_of_a_namespace(objects: tuple[Resource, ...], told: str) -> None:
    assert state("shop", *objects) == told


@pytest.mark.parametrize(
    ("ago", "age", "told"),
    [
        pytest.param(_HOUR / 10, 4 * _DAY, "late", id="it was late when it was paused"),
        pytest.param(4 * _DAY, 4.5 * _DAY, "paused", id="the pause let it grow old"),
        pytest.param(_HOUR / 10, _HOUR, "paused", id="in time"),
        pytest.param(-_HOUR, 4 * _DAY, "late", id="paused by a clock that is ahead"),
    ],
)
def test_a_copy_that_was_late_before_the_pause_stays_late(ago: timedelta, age: timedelta, told: str) -> None:
    found = row("shop", SHOP, paused_since(ago, "shop"), copy("one", "shop", age=age))
    judge = ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits())
    assert judge.facts(found).state == told
    assert (judge.facts(found).late_from is not None) is (told == "late")


def restarted(
    ago: timedelta, *, noted: timedelta | None = None, skipped: timedelta | None = None, cron: str = "0 * * * *"
) -> Schedule:
    """A schedule that runs since it was unpaused some time ago; its last run was two minutes before that."""
    field = {"manager": "foretop", "time": wire(NOW - ago), "fieldsV1": {"f:spec": {"f:paused": {}}}}
    body = schedule("daily", "shop", cron=cron)
    note = {"foretop.io/paused-at": wire(NOW - noted)} if noted is not None else {}
    meta = structs.replace(body.metadata, managed_fields=_fields(field), annotations=note)
    status = structs.replace(
        body.status,
        last_backup=None if noted is not None else NOW - ago - timedelta(minutes=2),
        last_skipped=None if skipped is None else NOW - skipped,
    )
    return structs.replace(body, metadata=meta, status=status)


@pytest.mark.parametrize("skipped", [None, timedelta(minutes=1)])
@pytest.mark.parametrize("noted", [None, timedelta(minutes=4)])
@pytest.mark.parametrize("cron", ["0 * * * *", "@every 1h"])
def test_a_pause_of_two_minutes_ends_no_lateness(cron: str, noted: timedelta | None, skipped: timedelta | None) -> None:
    """What is known of the time before: the last run that it made, or the note of the pause."""
    again = restarted(timedelta(minutes=2), noted=noted, skipped=skipped, cron=cron)
    objects = (location(), SHOP, again, copy("one", "shop", age=5 * _HOUR, of="daily"))
    judge = ProtectionJudge(assemble(objects), NOW, ProtectionLimits())
    found = judge.facts(row("shop", *objects))
    assert (found.state, found.severity) == (ProtectionState.LATE, Severity.ERROR)
    assert found.late_from is not None
    assert found.late_from < NOW - timedelta(minutes=2)
    assert [one.code for one in protection_gaps(assemble(objects), NOW, Thresholds())] == ["protection-gap"]


def test_what_was_missed_during_a_pause_is_not_owed_after_it() -> None:
    again = restarted(timedelta(minutes=2), noted=5 * _HOUR - timedelta(minutes=10), skipped=timedelta(minutes=1))
    assert state("shop", location(), SHOP, again, copy("one", "shop", age=5 * _HOUR)) == "protected"


def test_a_skip_of_the_next_run_ends_no_lateness() -> None:
    """It ran from when it was unpaused to when it was skipped, and owes what it owed then."""
    again = restarted(20 * _HOUR, skipped=timedelta(minutes=5))
    assert state("shop", location(), SHOP, again, copy("one", "shop", age=5 * _HOUR)) == "late"


def partly_failed(hours: int) -> list[Resource]:
    """An hourly schedule whose runs of the last hours failed in part, and its newest complete copy before them."""
    runs = [copy(f"p{age}", "metrics", age=age * _HOUR, phase="PartiallyFailed", of="hourly") for age in range(hours)]
    good = copy("good", "metrics", age=hours * _HOUR, of="hourly")
    return [namespace("metrics"), schedule("hourly", "metrics", cron="0 * * * *"), good, *runs]


def test_the_namespace_without_a_complete_copy_longest_by_its_promise_comes_first_and_red() -> None:
    late = (SHOP, schedule("daily", "shop"), copy("one", "shop", age=3 * _DAY))
    found = triage(assemble([location(), *late, *partly_failed(17)]), NOW).findings
    first = found[0]
    assert (first.code, first.subject.name, first.severity) == ("namespace-late", "metrics", Severity.ERROR)
    assert render(first.what, NOW) == "no complete copy for 17 hours"
    assert "Its newest complete copy is from" in render(first.evidence, NOW)
    assert [one.severity for one in found if one.code == "schedule-failing"] == [Severity.WARNING]


def test_for_two_promises_partial_copies_are_told_with_their_schedule() -> None:
    found = triage(assemble([location(), *partly_failed(2)]), NOW).findings
    assert [(one.code, one.severity) for one in found] == [("schedule-failing", Severity.WARNING)]


def test_a_namespace_that_never_had_a_complete_copy_is_red_by_the_runs_that_failed() -> None:
    objects = [one for one in partly_failed(17) if not (isinstance(one, Backup) and one.name == "good")]
    found = triage(assemble([location(), *objects]), NOW).findings
    told = [(one.code, one.severity) for one in found if one.subject.name == "metrics"]
    assert told == [("namespace-partial", Severity.ERROR)]


def test_a_late_copy_is_told_during_a_pause_and_with_the_schedule_that_owes_it() -> None:
    found = findings(SHOP, paused_since(_HOUR / 10, "shop"), copy("one", "shop", age=4 * _DAY))["shop"]
    assert (found.code, found.severity) == ("namespace-late", Severity.ERROR)
    assert found.what == "newest copy older than promised"
    told = render(found.evidence, NOW)
    assert "daily promises one from 14 Nov 02:00Z or later. daily is paused " in told
    assert "next run" not in told


def test_a_paused_schedule_takes_no_promise_from_one_that_runs() -> None:
    pods = schedule("pods", "shop", includedResources=["pods"])
    old = copy("one", "shop", age=4 * _DAY)
    assert state("shop", SHOP, pods, paused_since(5 * _DAY, "shop"), old) == "late"
    part = paused_since(_HOUR / 10, "shop", cron="0 * * * *", includedResources=["pods"])
    assert state("shop", SHOP, schedule("whole", "shop"), part, copy("one", "shop", age=5 * _HOUR)) == "protected"


def test_a_namespace_that_its_label_excludes_is_in_no_backup() -> None:
    """And a template that names it has it in both lists: Velero refuses it for all of its namespaces."""
    hidden = from_builtins(
        Namespace, {"metadata": {"name": "hidden", "labels": {"velero.io/exclude-from-backup": "true"}}}
    )
    everything = schedule("everything")
    assert state("hidden", SHOP, hidden, everything, copy("one")) == "not covered"
    assert state("shop", SHOP, hidden, everything, copy("one")) == "protected"
    named = schedule("named", "shop", "hidden")
    assert covered_by(row("shop", SHOP, hidden, named)) == "named (refused)"
    index = protection_index(assemble((SHOP, hidden, named)))
    assert index.apply(hidden, namespace("hidden")) >= {"shop", "hidden"}
    assert covered_by(index.row("shop") or row("shop", SHOP)) == "named"


def test_copies_under_a_resource_policy_are_told_apart_from_those_without() -> None:
    policy = {"kind": "configmap", "name": "gold"}
    found = row("shop", SHOP, copy("whole", "shop", age=2 * _DAY), copy("cut", "shop", resourcePolicy=policy))
    assert (found.copies.good, found.copies.partial) == (1, 1)
    assert found.copies.newest is not None
    assert found.copies.newest.name == "whole"


def test_a_schedule_that_velero_refuses_does_not_count_as_cover() -> None:
    found = findings(SHOP, BROKEN)["shop"]
    assert (found.code, found.what) == ("namespace-uncovered", "only a refused schedule takes it")
    assert "broken would take it, but Velero refuses it" in render(found.evidence, NOW)
    assert covered_by(row("shop", SHOP, BROKEN, DAILY)) == "daily and broken (refused)"


def _failing(cron: str, *errors: str) -> Schedule:
    found = schedule("daily", "shop", cron=cron)
    status = structs.replace(found.status, phase="FailedValidation", validation_errors=errors)
    return structs.replace(found, status=status)


@pytest.mark.parametrize("errors", [(), ("backup store is not there",)])
@pytest.mark.parametrize("cron", ["0 2 * * *", "0 3 1 * 1"])
def test_a_schedule_of_a_valid_expression_is_refused_where_velero_says_so(cron: str, errors: tuple[str, ...]) -> None:
    """Velero makes no run of it, and nothing says that it will; also where it is open how it reads the expression."""
    objects = (SHOP, _failing(cron, *errors), copy("one", "shop"))
    assert state("shop", *objects) == "not covered"
    assert state("shop", *objects, DAILY_TOO) == "protected"
    (told,) = [one for one in triage(assemble(objects), NOW).findings if one.code == "schedule-invalid"]
    assert (errors[0] if errors else "FailedValidation, and Velero does not say why") in render(told.evidence, NOW)


@pytest.mark.parametrize("name", ["kube-system", "openshift-monitoring", "default", "velero", "scratch-7"])
def test_namespaces_on_the_list_need_no_backup(name: str) -> None:
    assert state(name, namespace(name), location(), ignored=("scratch-*",)) == "ignored"


def test_the_newest_good_copy_counts_and_not_a_newer_partial_one() -> None:
    found = row("shop", SHOP, copy("good", "shop", age=_DAY), copy("bad", "shop", phase="PartiallyFailed"))
    assert found.copies.usable is not None
    assert (found.copies.usable.name, found.copies.good, found.copies.partial) == ("good", 1, 1)


def test_copies_of_all_groups_are_counted_with_the_next_expiry_and_the_last() -> None:
    found = row(
        "shop",
        SHOP,
        copy("one", "shop", kept=3 * _DAY),
        copy("two", "*", kept=9 * _DAY),
        copy("three", "sh*", kept=6 * _DAY),
        copy("other", "wiki", kept=_DAY),
    )
    assert found.copies.good == 3
    assert (found.copies.next_expiry, found.copies.last_expiry) == (NOW + 3 * _DAY, NOW + 9 * _DAY)


def test_who_may_not_list_namespaces_sees_those_that_are_named_and_nobody_is_said_to_be_gone() -> None:
    index = protection_index(assemble([DAILY, copy("one", "shop"), schedule("all", "*"), nab("team-a", "mine")]))
    assert index.names == ("shop", "team-a")
    found = index.row("shop")
    assert found is not None
    assert found.exists is None


def test_a_restore_of_all_of_a_backup_counts_for_each_of_its_namespaces() -> None:
    objects = (SHOP, namespace("wiki"), copy("one", "shop"), restore("back", "one"), restore("no", "gone"))
    assert row("shop", *objects).restored == NOW - _DAY
    assert row("wiki", *objects).restored is None


def test_a_drill_is_read_from_the_backup_and_a_broken_annotation_tells_nothing() -> None:
    outcome = DrillOutcome(NOW - 3 * _DAY, timedelta(seconds=250))
    written = drills_written(copy("one", "shop", "wiki"), "shop", outcome)
    both = drills_written(copy("one", "shop", annotations={DRILLED: written}), "wiki", outcome)
    assert row("shop", SHOP, copy("one", "shop", annotations={DRILLED: both})).drill == outcome
    assert set(drills_of(copy("one", annotations={DRILLED: both}))) == {"shop", "wiki"}
    assert drills_of(copy("one", annotations={DRILLED: "[broken"})) == {}


@pytest.mark.parametrize(
    "written",
    [
        '{"shop":{"at":"2026-11-15T02:00:00Z","seconds":999999999999999999}}',
        '{"shop":{"at":"2026-11-15T02:00:00Z","seconds":-1}}',
        '{"shop":{"at":"0001-01-01T00:00:00+14:00"}}',
        '{"shop":{"at":"9999-12-31T23:59:59-14:00"}}',
        '{"shop":{"at":"2026-11-15T02:00:00"}}',
        '{"shop":' * 5_000,
        '{"shop":"\udc80"}',
    ],
)
def test_an_absurd_outcome_of_a_drill_tells_nothing_and_costs_no_other_namespace(written: str) -> None:
    odd, good = copy("odd", "shop", annotations={DRILLED: written}), copy("good", "wiki")
    assert drills_of(odd) == {}
    assert row("shop", SHOP, odd, good).drill is None
    assert row("wiki", SHOP, odd, good).copies.good == 1


# Findings


def of_drill(drill: str = "d1", **meta: Any) -> Namespace:
    return from_builtins(Namespace, {"metadata": {"name": "shop-trial", "labels": {DRILL_LABEL: drill}, **meta}})


def drilling(drill: str = "d1", into: str = "shop-trial") -> Restore:
    spec = {"backupName": "one", "includedNamespaces": ["shop"], "namespaceMapping": {"shop": into}}
    meta = {"name": "shop-trial", "namespace": "velero", "labels": {DRILL_LABEL: drill}}
    return from_builtins(Restore, {"metadata": meta, "spec": spec, "status": {"phase": "InProgress"}})


def test_the_namespace_of_a_drill_needs_no_protection() -> None:
    index = protection_index(assemble([namespace("shop"), of_drill(), drilling(), schedule("shop-daily", "shop")]))
    assert index.names == ("shop",)
    index.apply(None, of_drill())
    index.apply(of_drill(), None)
    assert index.names == ("shop",)


@pytest.mark.parametrize("other", [None, drilling("d2"), drilling(into="elsewhere")])
def test_a_label_alone_hides_no_namespace_from_protection(other: Restore | None) -> None:
    """Who may label a namespace could hide it, and with it that it has no backup."""
    beside = [other] if other is not None else []
    index = protection_index(assemble([of_drill(), *beside, schedule("daily", "*")]))
    assert index.names == ("shop-trial",)
    assert findings(of_drill(), SHOP, *beside, schedule("shop-daily", "shop")).keys() >= {"shop-trial"}


def test_the_namespace_of_a_drill_is_known_by_the_restore_into_it_whichever_comes_first() -> None:
    index = protection_index(assemble([namespace("shop"), schedule("daily", "*")]))
    assert index.apply(None, of_drill()) == {"shop-trial"}
    assert index.names == ("shop", "shop-trial")
    assert "shop-trial" in index.apply(None, drilling())
    assert index.names == ("shop",)
    assert "shop-trial" in index.apply(drilling(), None)
    assert index.names == ("shop", "shop-trial")
    leaving = of_drill(deletionTimestamp="2026-11-15T02:30:00Z")
    assert "shop-trial" in index.apply(of_drill(), leaving)
    assert index.names == ("shop",), "it is being deleted with the rest of its drill"
    index.apply(None, drilling())
    index.apply(drilling(), None)
    assert index.names == ("shop",)


def test_namespaces_that_nothing_covers_are_one_line() -> None:
    found = triage(assemble([location(), DAILY, copy("one", "shop"), *map(namespace, "abcde")]), NOW).findings
    uncovered = [one for one in found if one.code == "namespace-uncovered"]
    assert [one.subject.name for one in uncovered] == list("abcde")
    (gathered,) = (one for one in aggregated(found) if one.members)
    assert "There are 5 of these, the newest first: a, b, c and 2 more." in render(gathered.evidence, NOW)


def test_a_configured_namespace_needs_no_backup() -> None:
    limits = Thresholds(ignored_namespaces=("scratch-*",))
    assert findings(namespace("scratch-1"), SHOP, limits=limits).keys() == {"shop"}


@pytest.mark.parametrize("kind", ["Schedule", "NonAdminBackup", "Backup", ""])
def test_nothing_is_called_uncovered_where_not_everything_was_seen(kind: str) -> None:
    assert findings(SHOP)
    assert not findings(SHOP, unseen=(VisibilityGap("", kind, "not allowed"),))


def test_without_the_namespaces_nothing_is_called_uncovered() -> None:
    assert not findings(DAILY, copy("one", "shop"))


def test_a_namespace_that_was_added_to_a_schedule_and_has_no_copy_is_late() -> None:
    objects = (
        SHOP,
        namespace("wiki"),
        schedule("daily", "shop", "wiki"),
        copy("daily-1", "shop", age=timedelta(minutes=40), of="daily"),
    )
    found = findings(*objects)
    assert {name: (one.code, one.what) for name, one in found.items()} == {
        "wiki": ("namespace-late", "no copy, though promised")
    }
    told = render(found["wiki"].evidence, NOW)
    assert told.startswith("It has no copy; daily promises one from ")
    assert "daily-1, started at 02:01:07Z, completed without it: the schedule took it up only afterwards." in told
    assert found["wiki"].since is not None
    assert render(sentence("promises one from ", found["wiki"].since, " or later."), NOW) in told


def test_a_schedule_that_is_told_of_is_not_told_again_for_its_namespaces() -> None:
    bare = triage(assemble([location(), SHOP, DAILY]), NOW).findings
    assert [one.code for one in bare if one.code in ("protection-gap", "namespace-late")] == ["protection-gap"]


def test_all_copies_in_a_location_that_is_gone_are_told_once_for_the_location() -> None:
    names = ("shop", "wiki", "crm")
    objects = [location("offsite", "Unavailable"), *map(namespace, names), schedule("daily", *names)]
    objects += [copy("one", *names, storage="offsite")]
    found = findings(*objects)
    assert found.keys() == {"offsite"}
    assert found["offsite"].because is not None
    assert "crm, shop and wiki cannot be restored" in render(found["offsite"].evidence, NOW)
    assert render(found["offsite"].what, NOW) == "the only copies of 3 namespaces"


def test_the_last_copy_of_a_paused_schedule_about_to_expire_is_told() -> None:
    objects = (SHOP, schedule("daily", "shop", paused=True), copy("one", "shop", age=20 * _DAY, kept=_DAY / 2))
    assert findings(*objects)["shop"].code == "namespace-expiring"


def test_a_namespace_whose_last_copy_has_expired_is_not_protected() -> None:
    """Velero deletes it at its next look at the old ones: nobody can count on it."""
    objects = (SHOP, DAILY, copy("one", "shop", age=_DAY / 2, kept=timedelta(minutes=-5)))
    snapshot = assemble([location(), *objects])
    row = snapshot.protection.row("shop")
    assert row is not None
    assert ProtectionJudge(snapshot, NOW, ProtectionLimits()).facts(row).why.startswith("its last good copy has exp")
    (told,) = [one for one in triage(snapshot, NOW).findings if one.code == "namespace-expiring"]
    assert render(told.what, NOW) == "its last good copy has expired"
    assert ", 5 minutes ago, and may be deleted at any moment; the next run is at " in render(told.evidence, NOW)


def test_a_newest_copy_that_has_expired_proves_nothing_though_older_ones_are_kept() -> None:
    """What is in those was not looked at, and Velero deletes it at its next look."""
    older = copy("kept", "shop", age=_DAY)
    assert state("shop", SHOP, DAILY, older, copy("one", "shop", kept=timedelta(minutes=5))) == "protected"
    objects = (SHOP, DAILY, older, copy("one", "shop", kept=timedelta(minutes=-5)), CLAIMS_READ)
    facts = ProtectionJudge(assemble(objects), NOW, ProtectionLimits()).facts(row("shop", *objects))
    assert (facts.state.value, facts.why.partition(": ")[2]) == (
        "not known",
        "that one has expired, and Velero may delete it at any moment; what the older ones have was not looked at",
    )


def deletion(backup: str, phase: str = "") -> DeleteBackupRequest:
    body = {
        "metadata": {"name": f"{backup}-x", "namespace": "velero"},
        "spec": {"backupName": backup},
        "status": {"phase": phase},
    }
    return from_builtins(DeleteBackupRequest, body)


@pytest.mark.parametrize("phase", ["", "New", "InProgress"])
def test_a_backup_whose_deletion_was_requested_is_no_copy_any_more(phase: str) -> None:
    newest, older = copy("one", "shop"), copy("older", "shop", age=_DAY)
    found = row("shop", SHOP, DAILY, newest, older, deletion("one", phase))
    assert (found.copies.newest, found.copies.good) == (older, 1)
    assert state("shop", SHOP, DAILY, newest, deletion("one", phase)) == "late"
    refused = deletion("one", "Processed")
    assert row("shop", SHOP, DAILY, newest, older, refused).copies.newest == newest


@pytest.mark.parametrize(("left", "near"), [(12, True), (13, False)])
def test_the_end_of_a_copy_that_is_kept_for_two_days_is_near_in_its_last_quarter(left: int, near: bool) -> None:
    kept = timedelta(hours=left)
    made = copy("one", "shop", age=2 * _DAY - kept, kept=kept)
    told = {one.code for one in findings(SHOP, schedule("daily", "shop", paused=True), made).values()}
    assert ("namespace-expiring" in told) is near


def test_the_last_copy_about_to_expire_is_told_besides_the_forgotten_pause_of_its_schedule() -> None:
    """The finding about the pause does not say it, and is only a warning."""
    made, run = timedelta(days=30), timedelta(days=21)
    paused = from_builtins(
        Schedule,
        {
            "metadata": {"name": "daily", "namespace": "velero", "creationTimestamp": wire(NOW - made)},
            "spec": {"schedule": "0 2 * * *", "paused": True, "template": {"includedNamespaces": ["shop"]}},
            "status": {"phase": "Enabled", "lastBackup": wire(NOW - run)},
        },
    )
    snapshot = assemble([location(), SHOP, paused, copy("one", "shop", age=run, kept=_DAY / 2)])
    (row,) = (found for name in snapshot.protection.names if (found := snapshot.protection.row(name)) is not None)
    assert ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits()).facts(row).state is ProtectionState.EXPIRING
    told = {one.code: one for one in triage(snapshot, NOW).findings}
    assert told.keys() == {"schedule-paused-long", "namespace-expiring"}
    assert told["namespace-expiring"].severity is Severity.ERROR
    assert told["namespace-expiring"].since is None, "it is to come"
    assert told["namespace-expiring"].because == told["schedule-paused-long"]


def repository(phase: str, storage: str = "default", **status: Any) -> BackupRepository:
    body = {
        "metadata": {"name": f"shop-{phase}", "namespace": "velero"},
        "spec": {"volumeNamespace": "shop", "backupStorageLocation": storage, "repositoryType": "kopia"},
        "status": {"phase": phase, **status},
    }
    return from_builtins(BackupRepository, body)


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        pytest.param((SHOP, DAILY, repository("NotReady")), "repo not ready", id="a copy is in it"),
        pytest.param((DAILY, wiki := namespace("wiki"), repository("NotReady")), "repo not ready", id="it is gone"),
        pytest.param((DAILY, wiki, repository("Ready")), "deleted", id="it is gone and the repository is ready"),
        pytest.param((SHOP, DAILY, repository("NotReady", "elsewhere")), "protected", id="in another location"),
        pytest.param(
            (SHOP, DAILY, location("second"), copy("two", "shop", storage="second"), repository("NotReady", "second")),
            "repo not ready",
            id="another copy is in it",
        ),
        pytest.param((SHOP, DAILY, repository("")), "protected", id="not tried yet"),
    ],
)
def test_a_repository_that_is_not_ready_is_said_of_the_namespace_too(objects: tuple[Resource, ...], told: str) -> None:
    assert state("shop", location(), copy("one", "shop"), *objects) == told


@pytest.mark.parametrize(
    ("phase", "told"),
    [
        ("Completed", "it can be brought back, but without its volumes: shop-NotReady is not ready"),
        ("PartiallyFailed", "it can be brought back in part, but without its volumes: shop-NotReady is not ready"),
    ],
)
def test_of_a_repository_that_is_not_ready_it_is_said_what_can_be_brought_back(phase: str, told: str) -> None:
    found = row("shop", location(), SHOP, DAILY, copy("one", "shop", phase=phase), repository("NotReady"))
    assert ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits()).facts(found).why == told


@pytest.mark.parametrize(
    ("wanted", "storage", "told"),
    [
        pytest.param(
            RestoreRequest(), "default", "volumes are restored (Velero's default), but none from shop-NotReady"
        ),
        pytest.param(RestoreRequest(volumes=True), "default", "volumes are restored, but none from shop-NotReady"),
        pytest.param(RestoreRequest(volumes=False), "default", "volumes are not restored"),
        pytest.param(RestoreRequest(), "elsewhere", "volumes are restored (Velero's default)"),
        pytest.param(
            RestoreRequest(more=RestoreSpec(included_namespaces=("wiki",))),
            "default",
            "volumes are restored (Velero's default)",
        ),
    ],
)
def test_a_restore_names_the_repository_that_its_volumes_cannot_come_from(
    wanted: RestoreRequest, storage: str, told: str
) -> None:
    kept = copy("one", "shop", "wiki")
    snapshot = assemble([location(), location("elsewhere"), kept, repository("NotReady", storage, message="locked")])
    (step,) = plan_restore(snapshot, [kept], wanted, NOW, ["shop"]).steps
    assert f"existing resources stay unchanged; {told}" in step.changes
    (found,) = (one for one in triage(snapshot, NOW).findings if one.subject.kind == "BackupRepository")
    warned = f"shop-NotReady is not ready: {found.evidence} Velero says: {quoted(found.raw)}."
    assert (warned in step.warnings) is ("but none" in told)


def test_a_repository_that_is_not_ready_is_told_with_what_velero_says_of_it() -> None:
    broken = repository("NotReady", message="error to connect to backup repo: bucket not found.")
    snapshot = assemble([location(), repository("Ready"), repository(""), broken])
    (found,) = (one for one in triage(snapshot, NOW).findings if one.subject.kind == "BackupRepository")
    assert (found.code, found.subject.name, found.severity) == ("repository-not-ready", "shop-NotReady", "error")
    assert found.evidence == "No volume of shop is backed up to it or restored from it until it is ready."
    assert found.raw == "error to connect to backup repo: bucket not found."


def _maintained(*results: str, phase: str = "Ready") -> list[Finding]:
    recent = [
        {
            "result": result,
            "message": "locked" if result == "Failed" else "",
            "completeTimestamp": wire(NOW - hours * _HOUR),
        }
        for hours, result in zip(range(len(results), 0, -1), results, strict=True)
    ]
    one = repository(phase, lastMaintenanceTime=wire(NOW - _DAY), recentMaintenance=recent)
    return [found for found in triage(assemble([location(), one]), NOW).findings if found.subject.name == one.name]


def test_maintenance_of_a_repository_that_fails_is_told_since_the_first_failure() -> None:
    (found,) = _maintained("Succeeded", "Failed", "Failed")
    assert (found.code, found.severity) == ("repository-maintenance-failed", Severity.WARNING)
    assert found.since == NOW - 2 * _HOUR
    assert (found.what, found.raw) == ("its maintenance fails", "locked")
    assert render(found.evidence, NOW).startswith("Its last 2 maintenances failed. It was last maintained at 14 Nov")


def test_maintenance_that_succeeded_since_or_of_a_repository_that_is_not_ready_is_not_told() -> None:
    assert _maintained("Failed", "Succeeded") == []
    assert _maintained() == []
    assert [one.code for one in _maintained("Failed", phase="NotReady")] == ["repository-not-ready"]


def test_only_partial_copies_are_told_with_what_they_lack() -> None:
    part: dict[str, Any] = {"includedResources": ["pods"]}
    found = findings(
        SHOP, schedule("pods", "shop", **part), copy("one", "shop", age=timedelta(minutes=40), of="pods", **part)
    )["shop"]
    assert (found.code, render(found.evidence, NOW)) == (
        "namespace-partial",
        "Its only copy is not complete: one has only pods.",
    )
    assert found.since is None, "the newest copy is not the first that lacks something"
    assert keys_in(found.remedy) == ("edit-schedule", "back-up-now"), "nothing failed: its results are empty"


_PODS: dict[str, Any] = {"includedResources": ["pods"]}
_LOOK = f"See what is missing{' (x)' * len(READ_RESULTS)}, fix its cause"
"""With the key of the results, where a room has it."""
_PART, _ALL = schedule("part", "shop", **_PODS), schedule("all", "shop")


@pytest.mark.parametrize(
    ("covered_by", "phase", "limits", "way"),
    [
        (_PART, "Completed", _PODS, "Let the schedule take all of it (e), and back up now (n)."),
        (_ALL, "Completed", _PODS, "Back up now with all (n): it takes all of shop."),
        (
            _ALL,
            "PartiallyFailed",
            {},
            f"{_LOOK}, and back up now with all (n).",
        ),
        (
            _PART,
            "PartiallyFailed",
            _PODS,
            f"{_LOOK}, let the schedule take all of it (e), and back up now (n).",
        ),
    ],
)
def test_the_way_to_a_complete_copy_goes_by_what_failed_and_by_what_the_schedules_take(
    covered_by: Schedule, phase: str, limits: dict[str, Any], way: str
) -> None:
    last = copy("one", "shop", age=timedelta(minutes=40), phase=phase, of=covered_by.name, **limits)
    found = next(poor_protection(assemble((location(), SHOP, covered_by, last)), NOW, Thresholds()))
    keys = {"edit-schedule": "e", "back-up-now": "n", "results": "x"}
    assert (found.code, render(with_keys(found.remedy, keys.__getitem__), NOW)) == ("namespace-partial", way)


# One change


def _index(names: Iterable[str], *objects: Resource) -> ProtectionIndex:
    index = ProtectionIndex(assemble(objects).dialect, names)
    index.load(objects)
    return index


def test_very_many_nabs_are_taken_in_by_a_few_calls_each() -> None:
    few, many = (assemble(nabs_of_one_team(count)) for count in (120, 480))
    for snapshot in (few, many):
        # What a snapshot remembers of its objects is no work of the index.
        protection_index(snapshot)
    assert calls(lambda: protection_index(many)) - calls(lambda: protection_index(few)) <= 6 * 360


def test_very_many_nabs_that_go_one_by_one_cost_as_much_each_as_few() -> None:
    def cost(count: int) -> int:
        snapshot = assemble(nabs_of_one_team(count))
        index = protection_index(snapshot)
        index.row("team-a")
        return calls(lambda: [index.apply(nab, None) for nab in reversed(snapshot.nabs)])

    assert cost(480) <= 5 * cost(120)


def test_a_changed_backup_touches_only_its_namespaces() -> None:
    names = [f"team-{number:03}" for number in range(300)]
    index = _index(names, *(copy(f"b-{name}", name) for name in names), schedule("all", "*"))
    assert index.apply(None, copy("new", "team-007", "team-008")) == {"team-007", "team-008"}
    assert index.apply(copy("new", "team-007", "team-008"), None) == {"team-007", "team-008"}
    assert index.apply(None, copy("running", "team-007", phase="InProgress")) == set()
    others = copy("others", "*", excludedNamespaces=["team-007"])
    assert index.apply(None, others) == set(names) - {"team-007"}
    assert index.apply(others, None) == set(names) - {"team-007"}


def test_one_event_derives_the_rows_of_its_namespaces_and_no_others() -> None:
    names = [f"team-{number:03}" for number in range(300)]
    store, clock = Store(), ManualClock(NOW)
    objects = (location(), *map(namespace, names), *(copy(f"b-{name}", name) for name in names))
    store.fill("here", objects, clock)
    rows = ObjectRows(ProtectionView(), store, ("here",))
    assert len(rows) == 300
    rows.pump()
    before = rows.derived
    store.put(ObjectRef("here", "Backup", "velero", "new"), copy("new", "team-007", "team-008"), NOW)
    rows.pump()
    assert rows.derived - before == 2
    store.put(ObjectRef("here", "BackupStorageLocation", "velero", "default"), location(checked=NOW + _DAY), NOW)
    rows.pump()
    assert rows.derived - before == 2


def test_the_minutely_check_of_a_location_touches_nothing() -> None:
    index = _index(["shop"], copy("one", "shop"), location())
    assert index.apply(location(), location(checked=NOW + _DAY)) == set()
    assert index.apply(location(), location(phase="Unavailable")) == {"shop"}


_NAMES = ("shop", "shop-2", "wiki", "crm")
_PATTERNS = st.lists(st.sampled_from(("*", "shop", "sh*", "wiki", "crm", "gone")), max_size=2, unique=True)
_EXCLUDED = st.sampled_from(((), ("shop",), ("sh*", "gone")))
_OBJECTS = st.one_of(
    st.builds(
        lambda name, names, without, phase: copy(name, *names, phase=phase, excludedNamespaces=list(without)),
        st.sampled_from(("b1", "b2", "b3")),
        _PATTERNS,
        _EXCLUDED,
        st.sampled_from(("Completed", "PartiallyFailed", "InProgress")),
    ),
    st.builds(
        lambda name, names, without, paused: schedule(name, *names, paused=paused, excludedNamespaces=list(without)),
        st.sampled_from(("s1", "s2")),
        _PATTERNS,
        _EXCLUDED,
        st.booleans(),
    ),
    st.builds(restore, st.sampled_from(("r1", "r2")), st.sampled_from(("b1", "b2"))),
    st.builds(deletion, st.sampled_from(("b1", "b2")), st.sampled_from(("New", "Processed"))),
    st.builds(of_drill, st.sampled_from(("", "d1", "d2"))),
    st.builds(drilling, st.sampled_from(("", "d1", "d2")), st.sampled_from(("shop-trial", "shop"))),
    st.builds(nab, st.sampled_from(_NAMES), st.sampled_from(("n1", "n2"))),
    st.builds(namespace, st.sampled_from((*_NAMES, "gone"))),
    st.builds(location, st.just("default"), st.sampled_from(("Available", "Unavailable"))),
    st.builds(
        lambda name: from_builtins(
            BackupRepository,
            {"metadata": {"name": name, "namespace": "velero"}, "spec": {"volumeNamespace": name}},
        ),
        st.sampled_from(_NAMES),
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_OBJECTS, st.booleans()), max_size=14), st.booleans())
def test_change_by_change_it_is_the_same_as_all_at_once(changes: list[tuple[Resource, bool]], may_list: bool) -> None:
    """Also the rows that no change named are as they were."""
    held: dict[tuple[type, str, str], Resource] = {}
    snapshot = ClusterSnapshot()
    index = ProtectionIndex(snapshot.dialect, () if may_list else None)
    rows: dict[str, NamespaceProtection | None] = {}
    for item, gone in changes:
        key = (type(item), item.namespace, item.name)
        before = held.pop(key, None)
        if not gone:
            held[key] = item
        if before is None and gone:
            continue
        for name in index.apply(before, None if gone else item):
            rows[name] = index.row(name)
    spaces = [item for item in held.values() if isinstance(item, Namespace)]
    names = [item.name for item in spaces if not item.label(DRILL_LABEL)]
    whole = ProtectionIndex(snapshot.dialect, names if may_list else None)
    whole.load(item for item in held.values() if isinstance(item, DeleteBackupRequest))
    whole.load_backups(item for item in held.values() if isinstance(item, Backup))
    whole.load(item for item in spaces if item.label(DRILL_LABEL))
    whole.load(
        item
        for item in held.values()
        if not isinstance(item, Backup | DeleteBackupRequest | Namespace | NonAdminBackup)
    )
    whole.load_nabs(item for item in held.values() if isinstance(item, NonAdminBackup))
    assert index.names == whole.names
    for name in {*rows, *index.names}:
        assert index.row(name) == whole.row(name) == rows.get(name), name


@settings(max_examples=200, deadline=None)
@given(
    cron=st.sampled_from(["0 * * * *", "*/10 * * * *", "0 2 * * *", "30 1 * * 0", "17,19 3 * * *", "@every 90m"]),
    age=st.integers(1, 5_000),
)
def test_a_copy_is_late_from_the_moment_that_is_named(cron: str, age: int) -> None:
    found = row("shop", SHOP, schedule("often", "shop", cron=cron), copy("one", "shop", age=timedelta(minutes=age)))
    judge = ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits())
    at = judge.facts(found).late_from
    assert at is not None
    for now, is_late in ((at - timedelta(seconds=1), False), (at + timedelta(seconds=1), True), (NOW, at < NOW)):
        assert ProtectionJudge(ClusterSnapshot(), now, ProtectionLimits()).facts(found).is_late is is_late


@pytest.mark.parametrize(
    ("cron", "at"),
    [
        ("0 2 * * *", NOW.replace(minute=0, second=0) + _DAY),
        ("@every 24h", NOW - timedelta(minutes=40) + 2 * _DAY),
    ],
)
def test_a_copy_is_late_from_the_second_run_after_it_on_and_with_a_delay_from_the_third(
    cron: str, at: datetime
) -> None:
    found = row("shop", SHOP, schedule("daily", "shop", cron=cron), copy("one", "shop", age=_HOUR))
    assert ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits()).facts(found).late_from == at


def in_outage(*, since: timedelta = 3 * _HOUR) -> list[Resource]:
    """Six namespaces with hourly copies, of a server that has checked nothing since."""
    names = [f"shop-{number}" for number in range(6)]
    hourly = [schedule(f"{name}-hourly", name, cron="0 * * * *") for name in names]
    copies = [copy(f"{name}-1", name, age=since + timedelta(minutes=20), of=f"{name}-hourly") for name in names]
    return [location(checked=NOW - since), *map(namespace, names), *hourly, *copies]


def test_copies_that_are_late_because_the_server_is_silent_stand_under_it_in_one_line() -> None:
    objects = in_outage()
    snapshot = assemble(objects)
    judge = ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits())
    late = [name for name in snapshot.protection.names if judge.facts(row(name, *objects)).is_late]
    silent, gathered = (one for one in aggregated(triage(snapshot, NOW).findings) if one.severity is Severity.ERROR)
    assert (silent.code, gathered.code) == ("velero-no-pulse", "namespace-late")
    assert gathered.because is not None
    assert gathered.because.id == silent.id
    assert [one.subject.name for one in gathered.members] == late
    assert len(late) == 6


def test_a_late_copy_is_late_since_its_promise_was_missed_and_nothing_is_to_be_backed_up_in_an_outage() -> None:
    objects = in_outage()
    told = next(one for one in triage(assemble(objects), NOW).findings if one.code == "namespace-late")
    assert told.since is not None
    judge = ProtectionJudge(ClusterSnapshot(), NOW, ProtectionLimits())
    assert told.since == judge.facts(row(told.subject.name, *objects)).late_from
    assert NOW - 3 * _HOUR < told.since < NOW
    assert "back up now" not in render(told.remedy, NOW).lower()
    assert "until then no backup completes" in render(told.remedy, NOW)


def test_a_copy_that_was_late_before_the_outage_is_not_blamed_on_it() -> None:
    objects = in_outage(since=timedelta(minutes=10))
    objects = [one for one in objects if not isinstance(one, Backup)]
    objects += [copy("old", "shop-0", age=5 * _HOUR)]
    told = [one for one in poor_protection(assemble(objects), NOW, Thresholds()) if one.subject.name == "shop-0"]
    assert [(one.code, one.blames) for one in told] == [("namespace-late", None)]


def test_a_copy_that_is_late_because_a_newer_one_is_out_of_reach_belongs_to_the_location() -> None:
    lost = location("offsite", "Unavailable")
    objects = [location(), lost, namespace("wiki"), schedule("wiki-daily", "wiki"), copy("old", "wiki", age=4 * _DAY)]
    told = triage(assemble([*objects, copy("new", "wiki", storage="offsite")]), NOW).findings
    (late,) = [one for one in told if one.code == "namespace-late"]
    assert late.blames == ObjectRef("", "BackupStorageLocation", "velero", "offsite")
    assert late.since is None, "it was in time before"
    evidence = render(late.evidence, NOW)
    assert evidence.startswith("Its newest copy in reach is from ")
    assert "Newer ones are in offsite, which Velero cannot use." in evidence


@pytest.mark.parametrize(
    ("names", "subject", "what"),
    [
        (("wiki",), "wiki", "all copies are out of reach"),
        (("wiki", "shop"), "offsite", "the only copies of 2 namespaces"),
    ],
)
def test_what_has_all_its_copies_out_of_reach_is_told_as_itself(
    names: tuple[str, ...], subject: str, what: str
) -> None:
    objects = [
        item
        for name in names
        for item in (namespace(name), schedule(name, name), copy(f"{name}-1", name, storage="offsite"))
    ]
    told = triage(assemble([location(), location("offsite", "Unavailable"), *objects]), NOW).findings
    (lost,) = [one for one in told if one.code == "storage-holds-all-copies"]
    assert (lost.subject.name, render(lost.what, NOW)) == (subject, what)


def test_an_outage_of_each_server_that_copies_a_namespace_tells_from_when_on_its_copy_is_too_old() -> None:
    """Neither named it: each took the schedule of the other one for one that goes on."""
    silent = NOW - timedelta(hours=2)
    both: list[Resource] = [location(checked=silent), schedule("nightly", "team"), copy("one", "team", of="nightly")]
    both += [structs.replace(one, metadata=structs.replace(one.metadata, namespace="velero-b")) for one in both]
    found = triage(assemble([namespace("team"), *both]), NOW).findings
    told = {one.subject.namespace: render(one.hits, NOW) for one in found if one.code == "velero-no-pulse"}
    assert set(told) == {"velero", "velero-b"}
    assert all(text.endswith("(team).") for text in told.values())


@pytest.mark.parametrize(
    ("taken", "by", "remedy"),
    [
        ("team", "nightly", "Wait for nightly-2; "),
        ("other", "nightly", "Back up now with nightly"),
        ("team", "", "Wait for nightly-2; "),
    ],
)
def test_the_remedy_of_a_late_copy_waits_for_the_run_that_makes_one(taken: str, by: str, remedy: str) -> None:
    """It said to wait for a run that had begun before its schedule took the namespace, and not for that of a NAB."""
    late = (location(), namespace("team"), schedule("nightly", "team"), copy("one", "team", age=4 * _DAY, of="nightly"))
    run = copy("nightly-2", taken, phase="InProgress", age=timedelta(minutes=5), of=by)
    labels = run.metadata.labels if by else {NAB_UUID_LABEL: "team-own"}
    run = structs.replace(
        run,
        metadata=structs.replace(run.metadata, labels=labels),
        status=structs.replace(run.status, completion_timestamp=None),
    )
    snapshot = assemble([*late, run, *([] if by else [nab("team", "own", "InProgress")])])
    (found,) = [one for one in poor_protection(snapshot, NOW, Thresholds()) if one.code == "namespace-late"]
    assert render(found.remedy, NOW).startswith(remedy)
    assert ("nightly-2 is InProgress" in render(found.evidence, NOW)) is (taken == "team")
