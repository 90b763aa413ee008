"""What is wrong, since when, how it shows, and what to do: one small rule for each trouble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from foretop_core.rules.triage import dialects, nonadmin, outcomes, priming, running, schedules, storage
from foretop_core.rules.triage.explain import explained, linked
from foretop_core.rules.triage.finding import Finding, Severity, Subject, Thresholds
from foretop_core.rules.triage.gather import gathered
from foretop_core.rules.triage.ranking import place
from foretop_core.rules.triage.settle import Settled, settle
from foretop_core.rules.world import Unseen, World

__all__ = ["RULES", "Finding", "Settled", "Severity", "Subject", "Thresholds", "Triage", "gathered", "settle", "triage"]

Rule = Callable[[World, datetime, Thresholds], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    storage.silent_servers,
    storage.unavailable_locations,
    schedules.invalid_schedules,
    schedules.never_firing,
    dialects.stopped_schedules,
    schedules.overdue_schedules,
    schedules.forgotten_pauses,
    schedules.all_paused,
    schedules.protection_gaps,
    schedules.colliding_schedules,
    outcomes.failing_schedules,
    outcomes.failed_backups,
    outcomes.failed_restores,
    outcomes.delete_errors,
    running.stuck_backups,
    running.waiting_movements,
    running.old_ready_to_start,
    running.stalled_queues,
    storage.restarted_servers,
    storage.unsynced_locations,
    storage.unusable_locations,
    storage.expired_backups,
    nonadmin.refused,
    nonadmin.went_back,
    nonadmin.stuck_deleting,
    nonadmin.velero_failed,
    nonadmin.positions_off,
    nonadmin.waiting_storage_requests,
    priming.wrong_warmups,
    dialects.coming_changes,
)


@dataclass(frozen=True, slots=True)
class Triage:
    """The findings, worst first and each under what explains it, and what could not be looked at."""

    findings: tuple[Finding, ...]
    unseen: tuple[Unseen, ...]

    @property
    def calm(self) -> bool:
        """Nothing to do, and nothing that was not seen: what was not seen never counts as healthy."""
        return not self.unseen and all(finding.severity is Severity.NOTE for finding in self.findings)


def triage(world: World, now: datetime, limits: Thresholds | None = None) -> Triage:
    """Everything that is wrong in one context now."""
    limits = limits or Thresholds()
    found = (finding for rule in RULES for finding in rule(world, now, limits))
    findings = [replace(finding, context=world.context) for finding in explained(found)]
    return Triage(tuple(sorted(linked(findings), key=place)), world.unseen)
