"""Which backups belong to a schedule, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from foretop_core.models import Backup, Restore, Schedule
from foretop_core.rules.pauses import noted_pause
from foretop_core.rules.phases import ENDED, FAULTY

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_order = itemgetter(0, 1)


def began(backup: Backup) -> datetime:
    """When it started, or was made where it never did; a synced backup keeps its old start."""
    return backup.status.start_timestamp or backup.metadata.creation_timestamp or _LONG_AGO


def submitted(backup: Backup) -> datetime:
    """When Velero was given it: the earlier of creation and start.

    One that waited in the queue started long after it was created; one that was synced was created here long after
    it started.
    """
    created, started = backup.metadata.creation_timestamp, backup.status.start_timestamp
    if created is None or started is None:
        return created or started or _LONG_AGO
    return min(created, started)


def ended(run: Backup | Restore) -> datetime | None:
    """When it ended, well or not; what was refused has no end, so when it started or was made."""
    return run.status.completion_timestamp or run.status.start_timestamp or run.created


def run_length(run: Backup | Restore, now: datetime | None = None) -> timedelta | None:
    """How long it took, or has run so far where `now` is given; None where it has not started or has no end.

    Nor has one a length that ended before it started, or without the time of its end: not all that fail are given one.
    """
    started, over = run.status.start_timestamp, run.status.completion_timestamp
    if over is None and run.phase not in ENDED:
        over = now
    return over - started if started is not None and over is not None and over >= started else None


def history(schedule: Schedule, labelled: Iterable[Backup]) -> tuple[Backup, ...]:
    """The schedule's own backups among those with its label, the last one submitted first.

    The sync brings in backups of an earlier schedule of the same name, perhaps another cluster's: what was submitted
    before this schedule was made is not its history.
    """
    since = schedule.created or _LONG_AGO
    runs = [(moment, run.metadata.name, run) for run in labelled if (moment := submitted(run)) >= since]
    runs.sort(key=_order, reverse=True)
    return tuple([run for _, _, run in runs])


def faults_in_a_row(runs: Iterable[Backup]) -> tuple[Backup, ...]:
    """The runs that went wrong since the last one that went well, newest first."""
    faulty: list[Backup] = []
    for run in runs:
        if run.phase in FAULTY:
            faulty.append(run)
        elif run.phase in ENDED:
            break
    return tuple(faulty)


def ran_before(schedule: Schedule, runs: Iterable[Backup], moment: datetime) -> datetime | None:
    """When it was last known to run before a moment: by its runs, and the note of a pause; None: nothing tells."""
    signs = (*map(submitted, runs), schedule.status.last_backup, noted_pause(schedule))
    return max((sign for sign in signs if sign is not None and sign < moment), default=None)


def newest_good(runs: Iterable[Backup]) -> Backup | None:
    return next((run for run in runs if run.phase == "Completed"), None)
