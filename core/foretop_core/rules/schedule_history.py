"""Which backups belong to a schedule, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from foretop_core.models import Backup, Restore, Schedule
from foretop_core.rules.phases import ENDED, FAULTY

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def began(backup: Backup) -> datetime:
    """When it started, or was made where it never did; a synced backup keeps its old start."""
    return backup.status.start_timestamp or backup.metadata.creation_timestamp or _LONG_AGO


def ended(run: Backup | Restore) -> datetime | None:
    """When it ended, well or not; what was refused has no end, so when it started or was made."""
    return run.status.completion_timestamp or run.status.start_timestamp or run.created


def history(schedule: Schedule, labelled: Iterable[Backup]) -> tuple[Backup, ...]:
    """Of the backups that carry the schedule's label, its own, newest first.

    The sync brings in backups of an earlier schedule of the same name, perhaps another cluster's: what started
    before this schedule was made is not its history.
    """
    since = schedule.created or _LONG_AGO
    return tuple(sorted((run for run in labelled if began(run) >= since), key=began, reverse=True))


def last_outcome(runs: Iterable[Backup]) -> str | None:
    """The phase of the newest run that has ended; None where none has."""
    return next((run.phase for run in runs if run.phase in ENDED), None)


def faults_in_a_row(runs: Iterable[Backup]) -> tuple[Backup, ...]:
    """The runs that went wrong since the last one that went well, newest first."""
    faulty: list[Backup] = []
    for run in runs:
        if run.phase in FAULTY:
            faulty.append(run)
        elif run.phase in ENDED:
            break
    return tuple(faulty)


def newest_good(runs: Iterable[Backup]) -> Backup | None:
    return next((run for run in runs if run.phase == "Completed"), None)


def was_synced(backup: Backup) -> bool:
    """Made by the sync from what lies in the bucket: created after it was completed."""
    done = backup.status.completion_timestamp
    return done is not None and backup.created is not None and backup.created > done
