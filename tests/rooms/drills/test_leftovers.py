"""What drills have left is proven by the journal alone, and somebody's drill that is still going is no left-over."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import Namespace, Restore, from_builtins
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.drills.background import left_over_drills
from foretop_core.rooms.drills.leftovers import (
    GOING_FOR,
    LONGEST_DRILL,
    DrillRecord,
    Proof,
    labelled_objects,
    left_drills,
    proof_of,
)
from foretop_core.rooms.drills.planners import drill_records
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Severity, triage
from tests.objects import NOW
from tests.unit.actions.test_journal import entry

LONG_AGO = NOW - timedelta(days=2)
INTO = "shop-trial"


def wire(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def meta(at: datetime | None, drill: str, uid: str, name: str = INTO, **more: Any) -> dict[str, Any]:
    when = {"creationTimestamp": wire(at)} if at is not None else {}
    return {"name": name, "uid": uid, "labels": {DRILL_LABEL: drill}, **when, **more}


def space(at: datetime | None = LONG_AGO, drill: str = "d1", uid: str = "n1", name: str = INTO) -> Namespace:
    return from_builtins(Namespace, {"metadata": meta(at, drill, uid, name)})


def its_restore(at: datetime = LONG_AGO, phase: str = "Completed", drill: str = "d1", uid: str = "r1") -> Restore:
    spec = {"backupName": "shop-1", "includedNamespaces": ["shop"], "namespaceMapping": {"shop": INTO}}
    status = {"phase": phase, "completionTimestamp": wire(at)} if phase == "Completed" else {"phase": phase}
    return from_builtins(
        Restore, {"metadata": meta(at, drill, uid, namespace="velero"), "spec": spec, "status": status}
    )


def record(kind: str = "Namespace", uid: str = "n1", drill: str = "d1", method: str = "POST") -> DrillRecord:
    target = ObjectRef("prod", kind, "" if kind == "Namespace" else "velero", INTO)
    return DrillRecord(drill, method, target, uid, "maria", LONG_AGO)


WHERE = ObjectRef("eu", "Namespace", "", INTO)


@pytest.mark.parametrize(
    ("uid", "label", "records", "proof"),
    [
        ("n1", "d1", [record()], Proof.OWN),
        ("n1", "d1", [], Proof.LABEL_ONLY),
        ("n2", "d1", [record()], Proof.LABEL_ONLY),
        ("n1", "d2", [record()], Proof.LABEL_ONLY),
        ("n1", "", [record()], Proof.LABEL_ONLY),
        ("n1", "", [record(drill="")], Proof.LABEL_ONLY),
        ("n1", "d1", [record("Restore")], Proof.LABEL_ONLY),
        ("n1", "d1", [record(method="DELETE")], Proof.LABEL_ONLY),
        ("n1", "d1", [record(uid="")], Proof.CUT_OFF),
        ("", "d1", [record(uid="")], Proof.CUT_OFF),
        ("n1", "d2", [record(uid="")], Proof.LABEL_ONLY),
        ("n1", "d1", [record(uid=""), record()], Proof.OWN),
    ],
)
def test_the_uid_in_the_journal_and_the_label_on_the_object_are_both_needed(
    uid: str, label: str, records: list[DrillRecord], proof: Proof
) -> None:
    assert proof_of(WHERE, uid, label, records)[0] is proof


@pytest.mark.parametrize(
    ("objects", "records", "going"),
    [
        ((space(NOW),), (), True),
        ((space(NOW - GOING_FOR),), (), False),
        ((space(None),), (), False),
        ((space(NOW + timedelta(seconds=30)),), (), True),
        ((space(datetime.fromisoformat("9000-01-01T00:00:00Z")),), (), False),
        ((space(), its_restore(NOW - timedelta(hours=5), "InProgress")), (), True),
        ((space(), its_restore(NOW - timedelta(hours=5), "")), (), True),
        ((space(), its_restore(NOW - LONGEST_DRILL, "InProgress")), (), False),
        ((space(), its_restore(NOW - timedelta(minutes=5))), (), True),
        ((space(), its_restore()), (), False),
        ((space(NOW),), (record(),), True),
        ((space(NOW),), (record(), record("Backup", method="PATCH")), False),
        ((space(NOW),), (record("Restore", method="DELETE"),), False),
        ((space(NOW),), (record("Backup", drill="d2", method="PATCH"),), True),
    ],
)
def test_a_drill_is_going_while_it_may_still_write_or_its_restore_runs(
    objects: tuple[Namespace | Restore, ...], records: tuple[DrillRecord, ...], going: bool
) -> None:
    snapshot = assemble(objects, "prod")
    (drill,) = left_drills(labelled_objects(snapshot), records, NOW)
    assert drill.is_going is going
    assert bool(findings(*objects, records=records)) is not going


def findings(*objects: Namespace | Restore, records: tuple[DrillRecord, ...] | None = ()) -> list[Finding]:
    more_rules = () if records is None else (left_over_drills(records),)
    found = triage(assemble(objects, "prod"), NOW, rules=(), more_rules=more_rules)
    assert found.failures == ()
    return list(found.findings)


def test_what_is_proven_is_a_finding_with_who_when_and_what() -> None:
    (found,) = findings(space(), its_restore(), records=(record(), record("Restore", "r1")))
    assert (found.code, found.severity, found.subject.kind, found.since) == (
        "drill-left-over",
        Severity.WARNING,
        "Namespace",
        LONG_AGO,
    )
    assert render(found.evidence, NOW) == (
        f"foretop created restore velero/{INTO} and namespace {INTO} at 13 Nov 02:41Z, by maria. "
        "The drill restored shop from shop-1."
    )
    assert render(found.remedy, NOW).endswith(f"foretop drill --clean-up {INTO}")
    assert found.related == (), "a key on the finding would delete it without a proof"


def test_what_is_not_proven_is_named_with_the_line_that_deletes_it() -> None:
    (found,) = findings(space(), its_restore(), records=(record("Restore", "r1"),))
    assert found.subject.kind == "Restore"
    assert f"To delete it: kubectl --context prod delete namespaces {INTO}" in render(found.evidence, NOW)
    (found,) = findings(space(), its_restore())
    assert (found.code, found.severity, found.subject.kind) == ("drill-unproven", Severity.NOTE, "Namespace")
    told = render(found.evidence, NOW)
    assert f"kubectl --context prod -n velero delete restores.velero.io {INTO}" in told
    assert f"kubectl --context prod delete namespaces {INTO}" in told


def test_two_drills_are_two_findings_and_without_records_nothing_is_judged() -> None:
    both = (space(), space(drill="d2", uid="n2", name="wiki-trial"))
    assert {one.subject.name: one.code for one in findings(*both, records=(record(),))} == {
        INTO: "drill-left-over",
        "wiki-trial": "drill-unproven",
    }
    assert findings(*both, records=None) == []


def test_an_entry_whose_time_cannot_be_told_proves_nothing_and_hides_no_other() -> None:
    odd = replace(entry(1), at="9999-12-31T23:59:59-14:00", drill="d-1")
    assert [known.drill for known in drill_records([odd, replace(entry(2), drill="d-2")])] == ["d-2"]
