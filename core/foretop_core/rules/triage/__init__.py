"""Findings: one small rule for each trouble tells what is wrong, since when, the evidence and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from foretop_core.rules.own_failures import Failure, problem_text
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage.acknowledging import with_acknowledgements
from foretop_core.rules.triage.debounce import Debounced, debounce
from foretop_core.rules.triage.finding import Acknowledgement, Finding, Severity, Thresholds
from foretop_core.rules.triage.guarded import Rule, apply_rule, failure_finding
from foretop_core.rules.triage.ranking import aggregated, correlated, link_causes, opened, rank, ungathered

__all__ = [
    "Acknowledgement",
    "Debounced",
    "Finding",
    "Severity",
    "Thresholds",
    "Triage",
    "aggregated",
    "debounce",
    "failure_finding",
    "opened",
    "rank",
    "triage",
    "ungathered",
    "with_acknowledgements",
]

# Deferred imports: rows and panes need findings as values; the rules are loaded with the first judgement.


class Triage(msgspec.Struct, frozen=True):
    """The findings, worst first and each under what explains it, and what could not be looked at or judged."""

    findings: tuple[Finding, ...]
    unseen: tuple[VisibilityGap, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def calm(self) -> bool:
        """Nothing to do, and nothing that was not seen or judged: what was not seen never counts as healthy."""
        blind = self.unseen or self.failures
        return not blind and all(finding.severity is Severity.NOTE for finding in self.findings)


def triage(
    snapshot: ClusterSnapshot,
    now: datetime,
    limits: Thresholds | None = None,
    rules: Sequence[Rule] | None = None,
    more_rules: Sequence[Rule] = (),
) -> Triage:
    """Everything that is wrong in one context now; a rule that fails costs only what it was looking at.

    `more_rules` judge by what was read beside the cluster.
    """
    from foretop_core.rules.triage.rules import RULES

    limits = limits or Thresholds()
    raised: list[Finding] = []
    failures: list[Failure] = []
    for rule in (*(RULES if rules is None else rules), *more_rules):
        findings, failed = apply_rule(rule, snapshot, now, limits)
        raised += findings
        failures += failed
    ordered = tuple(raised)
    try:
        ordered = tuple(sorted(link_causes(correlated(raised)), key=rank))
    except Exception as problem:
        failures.append(Failure(snapshot.context, "ordering the findings", None, problem_text(problem)))
    return Triage(ordered, snapshot.unseen, tuple(failures))
