"""What unpausing does to schedules of a cluster, one by one and counted: every place that tells it asks here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import Schedule
from foretop_core.rules.forecast import (
    Choice,
    Readings,
    UnpauseForecast,
    invalid,
    may_be_due,
    next_run,
    unpause_as_read,
)
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.schedule_history import newest_good
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_refusal import schedule_refusal

_IN_ORDER = (Choice.LEAVE, Choice.SKIP, Choice.DO_NOT_SKIP)
PausedSchedule = tuple[ClusterSnapshot, Schedule, datetime]
"""A schedule, the cluster that it is in, and the time there."""


class UnpauseCounts(msgspec.Struct, frozen=True):
    """Of some schedules, how many start a backup at once, how many skip the run that is due, and how many do neither.

    A run that is due is started, skipped, refused because its storage cannot be used, or waits for a backup of the
    same schedule that has not ended.
    """

    at_once: int = 0
    skipped: int = 0
    held: int = 0
    not_due: int = 0
    refused: int = 0

    @property
    def due(self) -> int:
        return self.at_once + self.skipped + self.held + self.refused


def forecast_unpause(
    snapshot: ClusterSnapshot, schedule: Schedule, choice: Choice, now: datetime, beat: Heartbeat | None = None
) -> UnpauseForecast:
    """What unpausing this one does now; a screen that has worked the beat out already passes it in."""
    return unpause_as_read(
        schedule,
        now,
        choice,
        snapshot.server(schedule.namespace).skip_immediately,
        snapshot.readings(schedule),
        beat=beat or snapshot.heartbeat(schedule.namespace),
        backups=snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ()),
        refusal=schedule_refusal(snapshot, schedule),
    )


def forecast_choices(
    snapshot: ClusterSnapshot, schedule: Schedule, now: datetime, beat: Heartbeat | None = None
) -> tuple[tuple[str, UnpauseForecast], ...]:
    """What unpausing does as the schedule is, then each choice that leads to something else, with its words."""
    leave, skip, run = (forecast_unpause(snapshot, schedule, choice, now, beat) for choice in _IN_ORDER)
    if leave.sentence == skip.sentence == run.sentence:
        return (("Unpausing now, with skip or without", leave),)
    others = (("With skip", skip), ("Without skip", run))
    return ("Unpausing now", leave), *(one for one in others if one[1].sentence != leave.sentence)


def is_run_due(schedule: Schedule, readings: Readings, now: datetime) -> bool:
    """Whether a run is due, paused or not; never where Velero refuses the schedule."""
    valid = any(not invalid(schedule, reading.dialect) for reading in readings)
    return valid and may_be_due(schedule, now, readings)


def count_unpause(schedules: Iterable[PausedSchedule], choice: Choice) -> UnpauseCounts:
    at_once = skipped = held = not_due = refused = 0
    for snapshot, schedule, now in schedules:
        forecast = forecast_unpause(snapshot, schedule, choice, now)
        if not is_run_due(schedule, snapshot.readings(schedule), now):
            not_due += 1
        elif forecast.at_once and forecast.refusal:
            refused += 1
        elif forecast.at_once:
            at_once += 1
        elif forecast.skips:
            skipped += 1
        else:
            held += 1
    return UnpauseCounts(at_once, skipped, held, not_due, refused)


def skipped_ages(schedules: Iterable[PausedSchedule], choice: Choice) -> list[tuple[Schedule, timedelta]]:
    """Of schedules whose due run the choice skips, how old the newest good backup is at the next run."""
    found = []
    for snapshot, schedule, now in schedules:
        forecast = forecast_unpause(snapshot, schedule, choice, now)
        good = newest_good(snapshot.runs(schedule))
        if not forecast.skips or forecast.next_run is None or good is None or good.started is None:
            continue
        if is_run_due(schedule, snapshot.readings(schedule), now):
            found.append((schedule, forecast.next_run - good.started))
    return found


def next_to_be_missed(schedules: Iterable[PausedSchedule]) -> tuple[Schedule, datetime] | None:
    """Of schedules that are about to be paused, the one whose run comes first; None where none of them has one."""
    coming = [
        (max(run, now), schedule)
        for snapshot, schedule, now in schedules
        if (run := next_run(schedule, snapshot.readings(schedule)[-1].dialect)) is not None
    ]
    first = min(coming, key=lambda one: (one[0], one[1].name), default=None)
    return (first[1], first[0]) if first else None
