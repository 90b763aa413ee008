"""A rule that fails costs only the object it was looking at, and what was not judged is named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from foretop_core.models import Backup
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity, Thresholds, failure_finding, triage
from foretop_core.rules.triage.rules import RULES
from tests.objects import NOW, backup, location, schedule

pytestmark = pytest.mark.usefixtures("as_for_a_user")


def _seen(snapshot: ClusterSnapshot, item: Backup) -> Finding:
    return Finding("seen", Severity.NOTE, snapshot.ref(item), None, "seen", "seen", "nothing")


def dislikes_odd(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for item in snapshot.backups:
        if item.name.startswith("odd"):
            raise OverflowError("date value out of range")
        yield _seen(snapshot, item)


def always_fails(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    yield from ()
    raise ValueError("no good")


def _snapshot(*names: str) -> ClusterSnapshot:
    return assemble([backup(name) for name in names], "prod")


def test_the_object_at_which_a_rule_fails_is_named_and_all_others_are_judged() -> None:
    found = triage(_snapshot("a", "odd", "b"), NOW, rules=(dislikes_odd,))
    assert [finding.subject.name for finding in found.findings] == ["a", "b"]
    (failure,) = found.failures
    assert failure.subject == ObjectRef("prod", "Backup", "velero", "odd")
    assert str(failure) == "rule dislikes_odd failed for backup velero/odd: OverflowError: date value out of range"


def test_a_rule_that_fails_leaves_the_other_rules_alone() -> None:
    found = triage(assemble([schedule(cron="0 0 * * 8"), location()]), NOW, rules=(always_fails, *RULES))
    assert [finding.code for finding in found.findings] == ["schedule-invalid"]
    assert [str(failure) for failure in found.failures] == ["rule always_fails failed: ValueError: no good"]


def test_what_was_not_judged_is_never_calm() -> None:
    assert triage(_snapshot("a"), NOW, rules=(dislikes_odd,)).calm
    assert not triage(_snapshot("a", "odd"), NOW, rules=(dislikes_odd,)).calm


def test_a_rule_that_fails_everywhere_is_given_up_after_a_few_objects() -> None:
    found = triage(_snapshot(*(f"odd-{number}" for number in range(50))), NOW, rules=(dislikes_odd,))
    assert 1 < len(found.failures) < 10
    assert not found.calm


def test_a_failure_is_listed_as_a_warning_about_its_object() -> None:
    (failure,) = triage(_snapshot("odd"), NOW, rules=(dislikes_odd,)).failures
    finding = failure_finding(failure)
    assert (finding.severity, finding.subject.name) == (Severity.WARNING, "odd")
    assert finding.what == "hidden by a fault in foretop"
    assert finding.raw.startswith("rule dislikes_odd failed")
