"""Places in line: the number that the non-admin controller reports, and the place in Velero's own order."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from foretop_core.models import Backup, Restore
from foretop_core.rules import phases

Run = Backup | Restore


_FAR = datetime.max.replace(tzinfo=UTC)


def estimated_position(target: Run, others: Iterable[Run]) -> int:
    """What the non-admin controller writes as `estimatedQueuePosition`, ties and blind spots included.

    It looks at completionTimestamp alone, so a backup that failed validation stays in its count for ever.
    `others` may hold the target itself.
    """
    if target.created is None or target.status.completion_timestamp is not None:
        return 0
    return 1 + sum(
        1
        for other in others
        if other.created is not None
        and other.created < target.created
        and other.status.completion_timestamp is None
        and other.namespace == target.namespace
    )


def estimated_positions(runs: Iterable[Run]) -> dict[tuple[str, str], int]:
    """`estimated_position` of every one among all, in one sweep; keys are (namespace, name)."""
    everyone = list(runs)
    creations: defaultdict[str, list[datetime]] = defaultdict(list)
    for run in everyone:
        if run.created is not None and run.status.completion_timestamp is None:
            creations[run.namespace].append(run.created)
    for times in creations.values():
        times.sort()
    return {
        (run.namespace, run.name): 0
        if run.created is None or run.status.completion_timestamp is not None
        else 1 + bisect_left(creations[run.namespace], run.created)
        for run in everyone
    }


def live_positions(runs: Iterable[Run]) -> Mapping[str, int]:
    """Everyone's place in the order of one Velero (backups or restores): 0 has ended, never a tie."""
    positions: dict[str, int] = {}
    unfinished: list[Run] = []
    for run in runs:
        if has_ended(run):
            positions[run.name] = 0
        else:
            unfinished.append(run)
    unfinished.sort(key=order)
    positions.update((run.name, place) for place, run in enumerate(unfinished, start=1))
    return positions


def has_ended(run: Run) -> bool:
    """Velero does no more with it, failed validation included, which gets no completionTimestamp."""
    return run.phase in phases.ENDED or run.status.completion_timestamp is not None


def order(run: Run) -> tuple[int, datetime, int, datetime, int, str]:
    """Sorts the unfinished runs of one Velero: begun, in its queue, not looked at yet.

    The resourceVersion tells the order only of those that nobody has written to since they were made.
    """
    made = run.created or _FAR
    if run.phase not in phases.WAITING:
        return 0, run.status.start_timestamp or _FAR, 0, made, 0, run.name
    place = run.status.queue_position if isinstance(run, Backup) and run.phase == "Queued" else None
    if place is not None:
        return 1, _FAR, place, made, 0, run.name
    version = run.metadata.resource_version
    return 2, _FAR, 0, made, int(version) if version.isdecimal() else 0, run.name
