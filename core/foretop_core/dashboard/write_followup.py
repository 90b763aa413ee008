"""What to look out for after a write, so that a person sees whether Velero has taken it up."""

from __future__ import annotations

from foretop_core.actions import write_progress
from foretop_core.actions.intents import (
    BACK_UP_NOW,
    CREATE_SCHEDULE,
    DELETE_BACKUP,
    DELETE_NAB,
    DELETE_NAR,
    RESTORE_FROM,
    RUN_AGAIN,
    UNPAUSE,
    Intent,
)
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.write_progress import Probe
from foretop_core.models import Backup, Resource, Restore, Schedule
from foretop_core.rules.forecast import may_be_due
from foretop_core.rules.snapshot import ClusterSnapshot


def probe_for(plan: Plan, step: PlanStep, before: Resource | None, snapshot: ClusterSnapshot) -> Probe | None:
    """None where the write itself is all there is to see; `before` and `snapshot` are of the time before it."""
    intent: Intent = plan.intent
    target = step.target
    if intent is UNPAUSE and isinstance(before, Schedule):
        runs = tuple(run.name for run in snapshot.backups_by_schedule.get((before.namespace, before.name), ()))
        skips = step.write.body["spec"].get("skipImmediately") or (
            "skipImmediately" not in step.write.body["spec"] and before.spec.skip_immediately
        )
        due = may_be_due(before, plan.at, snapshot.readings(before))
        return write_progress.unpause_probe(before, runs, nothing_due=not skips and not due)
    if intent is CREATE_SCHEDULE:
        return write_progress.schedule_probe(target.namespace, target.name)
    if intent in (BACK_UP_NOW, RUN_AGAIN):
        return write_progress.run_probe(Backup, target.namespace, target.name, to_the_end=False)
    if intent is RESTORE_FROM:
        return write_progress.run_probe(Restore, target.namespace, target.name, to_the_end=True)
    if intent is DELETE_BACKUP:
        return write_progress.deletion_probe(target.namespace, target.name)
    if intent in (DELETE_NAB, DELETE_NAR):
        return write_progress.nonadmin_deletion_probe(target.kind.name, target.namespace, target.name)
    return None


def timeout_for(intent: Intent) -> float | None:
    """A restore is followed to its end; everything else is taken up soon or not at all."""
    return None if intent is RESTORE_FROM else write_progress.PICKED_UP_WITHIN
