"""The probes and timeouts that show after a write whether Velero has picked it up."""

from __future__ import annotations

from foretop_core.actions import velero_pickup
from foretop_core.actions.action_catalog import ActionRecord, FollowUp
from foretop_core.actions.pausing import follow_unpause
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.schedule_edits import follow_edit
from foretop_core.actions.velero_pickup import Probe
from foretop_core.models import Backup, Resource, Restore, Schedule
from foretop_core.rules.snapshot import ClusterSnapshot


def probe_for(plan: Plan, step: PlanStep, before: Resource | None, snapshot: ClusterSnapshot) -> Probe | None:
    """None where the write itself is all there is to see; `before` and `snapshot` are of the time before it."""
    target = step.target
    match plan.intent.follow_up:
        case FollowUp.NOTHING:
            return None
        case FollowUp.SCHEDULE_RESUMED:
            return follow_unpause(snapshot, before, step, plan.at) if isinstance(before, Schedule) else None
        case FollowUp.SCHEDULE_JUDGED:
            return velero_pickup.schedule_probe(target.namespace, target.name)
        case FollowUp.SCHEDULE_EDITED:
            return follow_edit(snapshot, before, step, plan.at) if isinstance(before, Schedule) else None
        case FollowUp.BACKUP_BEGUN:
            return velero_pickup.run_probe(Backup, target.namespace, target.name, to_the_end=False)
        case FollowUp.RESTORE_ENDED:
            return velero_pickup.run_probe(Restore, target.namespace, target.name, to_the_end=True)
        case FollowUp.BACKUP_DELETED:
            return velero_pickup.deletion_probe(target.namespace, target.name)
        case FollowUp.RESTORE_DELETED:
            return velero_pickup.restore_deletion_probe(target.namespace, target.name)
        case FollowUp.NONADMIN_DELETED:
            return velero_pickup.nonadmin_deletion_probe(target.kind, target.namespace, target.name)


def timeout_for(intent: ActionRecord) -> float | None:
    """A restore is followed to its end; everything else is taken up soon or not at all."""
    return None if intent.follow_up is FollowUp.RESTORE_ENDED else velero_pickup.PICKED_UP_WITHIN
