"""Findings: one small rule for each trouble tells what is wrong, since when, the evidence and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from foretop_core.rules.drills import DrillRecord
from foretop_core.rules.failure_record import Failure, problem_text
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import (
    coming,
    cron_dialects,
    drills,
    nonadmin,
    priming,
    protection,
    runs,
    schedules,
    servers,
    storage,
)
from foretop_core.rules.triage.acknowledging import with_acknowledgements
from foretop_core.rules.triage.debounce import Debounced, debounce
from foretop_core.rules.triage.finding import Acknowledgement, Finding, Severity, Thresholds
from foretop_core.rules.triage.guarded import Rule, apply_rule, failure_finding
from foretop_core.rules.triage.ranking import aggregated, correlated, link_causes, opened, rank, ungathered

__all__ = [
    "RULES",
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
    "triage",
    "ungathered",
    "with_acknowledgements",
]

RULES: tuple[Rule, ...] = (
    servers.silent_servers,
    servers.unready_servers,
    storage.unavailable_locations,
    schedules.invalid_schedules,
    schedules.never_firing,
    cron_dialects.stopped_schedules,
    schedules.overdue_schedules,
    schedules.forgotten_pauses,
    schedules.overrun_windows,
    schedules.paused_schedules,
    schedules.protection_gaps,
    schedules.colliding_schedules,
    coming.taken_windows,
    coming.coming_losses,
    coming.ageing_copies,
    runs.failing_schedules,
    runs.failed_backups,
    runs.failed_restores,
    runs.delete_errors,
    runs.stuck_backups,
    runs.waiting_movements,
    runs.old_ready_to_start,
    runs.stalled_queues,
    servers.restarted_servers,
    storage.unsynced_locations,
    storage.unusable_locations,
    storage.unready_repositories,
    storage.unmaintained_repositories,
    storage.expired_backups,
    nonadmin.refused,
    nonadmin.went_back,
    nonadmin.stuck_deleting,
    nonadmin.velero_failed,
    nonadmin.positions_off,
    nonadmin.waiting_storage_requests,
    protection.poor_protection,
    priming.wrong_warmups,
    cron_dialects.coming_changes,
    protection.tracked_backups,
)


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
    drill_records: Sequence[DrillRecord] | None = None,
) -> Triage:
    """Everything that is wrong in one context now; a rule that fails costs only what it was looking at.

    Without the records of drills it is not judged what drills have left.
    """
    limits = limits or Thresholds()
    found: list[Finding] = []
    failures: list[Failure] = []
    about_drills = () if drill_records is None else (drills.left_over_drills(drill_records),)
    for rule in (*(RULES if rules is None else rules), *about_drills):
        findings, failed = apply_rule(rule, snapshot, now, limits)
        found += findings
        failures += failed
    ordered = tuple(found)
    try:
        ordered = tuple(sorted(link_causes(correlated(found)), key=rank))
    except Exception as problem:
        failures.append(Failure(snapshot.context, "ordering the findings", None, problem_text(problem)))
    return Triage(ordered, snapshot.unseen, tuple(failures))
