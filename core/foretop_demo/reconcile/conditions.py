"""Status updates of the non-admin controller: conditions, and patches of only what changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from foretop_core.models import Condition, DataMovement
from foretop_core.models.nonadmin import NonAdminStatus, VolumeCounts
from foretop_core.models.wire import as_json
from foretop_demo.reconcile.writes import merge_patch, to_second

_COUNTED = {
    "New": "new",
    "Accepted": "accepted",
    "Prepared": "prepared",
    "InProgress": "in_progress",
    "Canceling": "canceling",
    "Canceled": "canceled",
    "Completed": "completed",
    "Failed": "failed",
}


def with_condition(conditions: tuple[Condition, ...], wanted: Condition, now: datetime) -> tuple[Condition, ...]:
    """The conditions with this one set; its transition time changes only with its status."""
    present = next((entry for entry in conditions if entry.type == wanted.type), None)
    since = to_second(now)
    if present is not None and present.status == wanted.status:
        since = present.last_transition_time or since
    made = Condition(
        type=wanted.type,
        status=wanted.status,
        reason=wanted.reason,
        message=wanted.message,
        last_transition_time=since,
    )
    if present is None:
        return (*conditions, made)
    return tuple(made if entry.type == wanted.type else entry for entry in conditions)


def status_patch(before: NonAdminStatus, after: NonAdminStatus) -> dict[str, Any]:
    """The merge patch from one status to the other; empty if nothing changed."""
    patch = merge_patch(as_json(before), as_json(after))
    if "queueInfo" in patch and after.queue_info is not None:
        patch["queueInfo"] = {"estimatedQueuePosition": after.queue_info.estimated_queue_position}
    return patch


def volume_counts(movements: tuple[DataMovement, ...]) -> VolumeCounts:
    """The numbers of volume transfers by phase."""
    counts = dict.fromkeys(_COUNTED.values(), 0)
    for movement in movements:
        name = _COUNTED.get(movement.phase)
        if name is not None:
            counts[name] += 1
    return VolumeCounts(total=len(movements), **counts)
