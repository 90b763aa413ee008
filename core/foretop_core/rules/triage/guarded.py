"""A guard around each rule: where it fails, the object is named and left out, and all others are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from foretop_core.errors import let_through
from foretop_core.logs import logger
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.own_failures import Failure, failing_object, problem_text, snapshot_without
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import QUEUE, Finding, Severity, Thresholds

_log = logger(__name__)
Rule = Callable[[ClusterSnapshot, datetime, Thresholds], Iterator[Finding]]

_MOST_LEFT_OUT = 5
"""After so many objects the rule itself is broken, and each further attempt costs a look at everything."""
FAILED = "judging-failed"


def apply_rule(
    rule: Rule, snapshot: ClusterSnapshot, now: datetime, limits: Thresholds
) -> tuple[list[Finding], list[Failure]]:
    """The findings of the rule, and its failures."""
    failures: list[Failure] = []
    while True:
        findings: list[Finding] = []
        try:
            for finding in rule(snapshot, now, limits):
                findings.append(finding)
        except Exception as problem:
            let_through(problem)
            _log.debug("rule %s failed", rule.__name__, exc_info=problem)
            item = failing_object(problem.__traceback__)
            subject = snapshot.ref(item) if item is not None else None
            failures.append(Failure(snapshot.context, f"rule {rule.__name__}", subject, problem_text(problem)))
            rest = snapshot_without(snapshot, item) if item is not None else None
            if rest is None or len(failures) > _MOST_LEFT_OUT:
                return findings, failures
            snapshot = rest
        else:
            return findings, failures


def failure_finding(failure: Failure) -> Finding:
    """A failure as Triage lists it. It is not an error of the cluster, and must not look like health."""
    subject = failure.subject or ObjectRef(failure.context, QUEUE, "", "")
    return Finding(
        FAILED,
        Severity.WARNING,
        subject,
        None,
        "hidden by a fault in foretop",
        f"A fault in foretop: {failure.what} failed. What it would have shown here is not known.",
        "Check the object yourself, for example with kubectl. Report the fault with this text.",
        cause=failure.what,
        raw=str(failure),
    )
