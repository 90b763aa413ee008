"""Queue positions: the number that the non-admin controller reports, and the position in Velero's own order."""

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
    """The number that the non-admin controller writes as `estimatedQueuePosition`, including its ties and errors.

    It checks only completionTimestamp, so a backup that failed validation stays in its count forever.
    `others` may include the target itself.
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
    """`estimated_position` of every run among all, in one pass; keys are (namespace, name)."""
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
    """Every run's position in the order of one Velero (backups or restores); 0 has ended, and there are no ties."""
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
    """True if Velero is done with it, including failed validation, which gets no completionTimestamp."""
    return run.status.phase in phases.ENDED or run.status.completion_timestamp is not None


def order(run: Run) -> tuple[int, datetime, int, datetime, int, str]:
    """The sort key of one Velero's unfinished runs: started, queued, not picked up yet.

    The resourceVersion gives the order only for runs that were not written to since their creation.
    """
    made = run.created or _FAR
    if run.phase not in phases.WAITING:
        return 0, run.status.start_timestamp or _FAR, 0, made, 0, run.name
    place = run.status.queue_position if isinstance(run, Backup) and run.phase == "Queued" else None
    if place is not None:
        return 1, _FAR, place, made, 0, run.name
    version = run.metadata.resource_version
    return 2, _FAR, 0, made, int(version) if version.isdecimal() else 0, run.name
