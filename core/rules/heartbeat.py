"""Velero's pulse and beat, read from what it leaves in the cluster.

Velero looks at its schedules once a minute and keeps the second at which it was started. Its storage locations
carry two times that move with it: together they show that the server lives, and when its next look will be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.models import Backup, BackupStorageLocation, Schedule
from core.rules.durations import duration

PERIOD = timedelta(minutes=1)
SILENT_PERIODS = 3
_HALF_LIFE = timedelta(minutes=10)
_ENOUGH = 0.9


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What is known of one Velero server's rhythm."""

    second: int | None = None
    """The second of the minute at which it looks at its schedules; None while that is not known."""
    pulse: datetime | None = None
    """The newest sign of life from a storage location."""
    period: timedelta | None = None
    """How often a sign of life is due; None where none is to be expected."""

    def silent_for(self, now: datetime) -> timedelta | None:
        """How long the pulse has been missing, where it has for three periods: server down, or storage hanging."""
        if self.pulse is None or self.period is None:
            return None
        silence = now - self.pulse
        return silence if silence > SILENT_PERIODS * self.period else None

    def first_look(self, at: datetime) -> datetime | None:
        """The first look at the schedules at or after a moment."""
        if self.second is None:
            return None
        whole = at.replace(microsecond=0) + timedelta(seconds=1 if at.microsecond else 0)
        return whole + timedelta(seconds=(self.second - whole.second) % 60)


def heartbeat(
    locations: Iterable[BackupStorageLocation], schedules: Iterable[Schedule], backups: Iterable[Backup] = ()
) -> Heartbeat:
    """Learn pulse and beat of one server (one namespace of one context)."""
    watched = [(location, period) for location in locations if (period := _period(location)) is not None]
    pulses = [at for location, _ in watched for at in _pulses(location)]
    started = [at for location, _ in watched if (at := location.created) and not _pulses(location)]
    return Heartbeat(
        second=_beat(pulses, _looks(schedules, backups)),
        pulse=max(pulses or started, default=None),
        period=max(PERIOD, min((period for _, period in watched), default=PERIOD)) if watched else None,
    )


def _pulses(location: BackupStorageLocation) -> list[datetime]:
    times = (location.status.last_validation_time, location.status.last_synced_time)
    return [at for at in times if at is not None]


def _period(location: BackupStorageLocation) -> timedelta | None:
    """How often this location shows a sign of life; each of its two checks can be switched off."""
    texts = (location.spec.validation_frequency, location.spec.backup_sync_period)
    lengths = [PERIOD if (length := duration(text)) is None else length for text in texts]
    return min((length for length in lengths if length > timedelta()), default=None)


def _looks(schedules: Iterable[Schedule], backups: Iterable[Backup]) -> set[datetime]:
    """When the controller submitted something; a pass that made ten backups counts once.

    A backup made by hand from a schedule looks like a scheduled one but moves no lastBackup, so only the
    schedules' own times and the older backups named by the second of their creation are taken.
    """
    looks = {schedule.status.last_backup for schedule in schedules if schedule.status.last_backup}
    for backup in backups:
        if backup.schedule_name and backup.created and backup.name.endswith(f"{backup.created:-%Y%m%d%H%M%S}"):
            looks.add(backup.created)
    return looks


def _beat(pulses: list[datetime], looks: set[datetime]) -> int | None:
    """The second on which the evidence agrees, the newer the heavier: after a restart the new second wins soon."""
    evidence = sorted([*pulses, *looks])
    if not evidence:
        return None
    newest = evidence[-1]
    weights = [0.0] * 60
    for at in evidence:
        weights[at.second] += math.pow(0.5, (newest - at) / _HALF_LIFE)
    together = [weights[second - 1] + weights[second] + weights[(second + 1) % 60] for second in range(60)]
    best = max(range(60), key=lambda second: (together[second], weights[second]))
    return best if together[best] >= max(_ENOUGH, sum(weights) * 0.4) else None
