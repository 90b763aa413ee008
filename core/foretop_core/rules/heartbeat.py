"""Velero's pulse and beat, read from what it leaves in the cluster.

Velero looks at its schedules once a minute and keeps the second at which it was started. Its storage locations
carry two times that move with it: together they show that the server lives, and when its next look will be.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import Backup, BackupStorageLocation, Schedule
from foretop_core.rules.go_durations import read_duration
from foretop_core.rules.phases import WAITING
from foretop_core.rules.sentences import Text, sentence

PERIOD = timedelta(minutes=1)
SILENT_PERIODS = 3
_HALF_LIFE = timedelta(minutes=3)
_SYNC, _RUN, _VALIDATION = 1.5, 1.0, 0.5
_CERTAIN = 2 / 3
"""So much of the evidence must agree on a second: a start is told to the second, or not at all."""
_STARTING = "during the server starting"


class _Evidence(msgspec.Struct, frozen=True):
    """A moment of Velero's own doing, and how surely it was on the beat.

    A sync comes with the beat alone. A run may come with a change of its schedule, and a validation with a change of
    its location: neither is enough by itself.
    """

    at: datetime
    weight: float

    @property
    def is_enough(self) -> bool:
        return self.weight >= _SYNC


class Heartbeat(msgspec.Struct, frozen=True):
    """What is known of one Velero server's rhythm."""

    second: int | None = None
    """The second of the minute at which it looks at its schedules; None while that is not known."""
    pulse: datetime | None = None
    """The newest sign of life from a storage location."""
    period: timedelta | None = None
    """How often a sign of life is due; None where none is to be expected."""
    submitted: datetime | None = None
    """When it last made a backup for a schedule."""
    has_waiting: bool = False
    """Backups wait in its queue: one that is created now does so too."""
    is_down: bool = False
    """Its Deployment reports that no pod of it is ready."""

    def silent_for(self, now: datetime) -> timedelta | None:
        """How long the pulse has been missing, where it has for three periods: server down, or storage hanging."""
        if self.pulse is None or self.period is None:
            return None
        silence = now - self.pulse
        return silence if silence > SILENT_PERIODS * self.period else None

    def silence(self, now: datetime) -> Text:
        """Why nobody can tell what this server will do next; "" where it has a pulse, or none is to be expected."""
        if self.pulse is None or self.silent_for(now) is None:
            return ""
        hangs = self.still_submits(now)
        return sentence(
            "Velero has not checked its storage" if hangs else "no sign of activity from Velero", " since ", self.pulse
        )

    def silence_word(self, now: datetime) -> str:
        """How a server without a pulse is, in a word or two: it is down, its storage hangs, or nobody can tell."""
        if self.is_down:
            return "down"
        return "storage hangs" if self.still_submits(now) else "silent"

    def still_submits(self, now: datetime) -> bool:
        """Whether its storage hangs and not the server: backups are created, and none completes."""
        silent = self.pulse is not None and self.silent_for(now) is not None and not self.is_down
        return silent and self.submitted is not None and self.pulse is not None and self.submitted > self.pulse

    def awaited(self, now: datetime) -> str:
        """What must happen before a silent server completes a backup."""
        return "the storage responds" if self.still_submits(now) else "Velero is back"

    def awaited_part(self, now: datetime) -> str:
        """Whom every backup of a silent server waits for."""
        return "the storage" if self.still_submits(now) else "Velero"

    def holds_back(self, now: datetime) -> str:
        """What a backup that is created now does not do: `does not start until the storage responds`."""
        runs = self.still_submits(now) and not self.has_waiting
        return f"does not {'complete' if runs else 'start'} until {self.awaited(now)}"

    def coming_run_phrase(self, now: datetime) -> str:
        """What becomes of a coming run of a silent server; reads on after the time that it is due."""
        if self.still_submits(now):
            return f"when it is created but {self.holds_back(now)}"
        return f"but it is not created until {self.awaited(now)}"

    def first_look(self, at: datetime) -> datetime | None:
        """The first look at the schedules at or after a moment."""
        if self.second is None:
            return None
        whole = at.replace(microsecond=0) + timedelta(seconds=1 if at.microsecond else 0)
        return whole + timedelta(seconds=(self.second - whole.second) % 60)


def heartbeat(
    locations: Iterable[BackupStorageLocation],
    schedules: Iterable[Schedule],
    backups: Iterable[Backup] = (),
    *,
    is_down: bool = False,
    started: datetime | None = None,
    off_beat: Collection[datetime] = (),
) -> Heartbeat:
    """Learn pulse and beat of one server (one namespace of one context).

    `started` is what its Deployment tells; `off_beat` are syncs that were seen to come at another second than before.
    """
    watched = [(location, period) for location in locations if (period := _period(location)) is not None]
    signs = [sign for location, _ in watched for sign in _signs(location, off_beat)]
    waiting = [made for location, _ in watched if not _signs(location, off_beat) and (made := location.created)]
    runs, planned = tuple(backups), tuple(schedules)
    looks = [_Evidence(at, _RUN) for at in _looks(planned, _recent(runs))]
    return Heartbeat(
        second=_beat([*signs, *looks], max((at for at in (last_start(runs), started) if at), default=None)),
        pulse=max((sign.at for sign in signs), default=max(waiting, default=None)),
        period=max(PERIOD, min(period for _, period in watched)) if watched else None,
        submitted=max((at for item in planned if (at := item.status.last_backup)), default=None),
        has_waiting=any(run.phase in WAITING for run in runs),
        is_down=is_down,
    )


def unchecked_for(location: BackupStorageLocation, now: datetime) -> timedelta | None:
    """How long ago its phase was found out, where a new look has been due three times since."""
    period = read_duration(location.spec.validation_frequency)
    every = PERIOD if period is None else period
    checked = location.status.last_validation_time
    if checked is None or not every or now - checked <= SILENT_PERIODS * max(every, PERIOD):
        return None
    return now - checked


def last_start(backups: Iterable[Backup]) -> datetime | None:
    """When Velero was last started, where it left a trace: what ran before a restart is Failed at the next start."""
    ended = (
        backup.status.completion_timestamp
        for backup in backups
        if backup.phase == "Failed" and _STARTING in backup.status.failure_reason
    )
    return max((at for at in ended if at is not None), default=None)


def _signs(location: BackupStorageLocation, off_beat: Collection[datetime]) -> list[_Evidence]:
    """The sync keeps to the beat, unless storage held it up; the validation is asked every ten seconds."""
    synced, validated = location.status.last_synced_time, location.status.last_validation_time
    signs = [_Evidence(synced, _VALIDATION if synced in off_beat else _SYNC)] if synced else []
    if validated and not (synced and abs(validated - synced) <= timedelta(seconds=1)):
        signs.append(_Evidence(validated, _VALIDATION))
    return signs


def _period(location: BackupStorageLocation) -> timedelta | None:
    """How often this location shows a sign of life; each of its two checks can be switched off."""
    texts = (location.spec.validation_frequency, location.spec.backup_sync_period)
    lengths = [PERIOD if (length := read_duration(text)) is None else length for text in texts]
    return min((length for length in lengths if length > timedelta()), default=None)


def _looks(schedules: tuple[Schedule, ...], backups: tuple[Backup, ...]) -> set[datetime]:
    """When the controller submitted something at its once-a-minute look; a look that made ten backups counts once.

    A new schedule is looked at when it is made, off the beat. A backup made by hand from a schedule is named like
    a scheduled one and moves no lastBackup: one such among many is outvoted.
    """
    made = {(schedule.namespace, schedule.name): schedule.created for schedule in schedules}
    looks = [(schedule.created, schedule.status.last_backup) for schedule in schedules]
    looks += [(made.get((backup.namespace, backup.schedule_name)), _named_time(backup)) for backup in backups]
    return {at for created, at in looks if at and not (created and at - created <= timedelta(seconds=2))}


def _recent(backups: tuple[Backup, ...]) -> tuple[Backup, ...]:
    """Ten half-lives back the evidence weighs nothing any more."""
    newest = max((backup.created for backup in backups if backup.created), default=None)
    if newest is None:
        return ()
    oldest = newest - 10 * _HALF_LIFE
    return tuple(backup for backup in backups if backup.created and backup.created >= oldest)


def _named_time(backup: Backup) -> datetime | None:
    created = backup.created
    scheduled = created and backup.schedule_name and backup.name.endswith(f"{created:-%Y%m%d%H%M%S}")
    return created if scheduled else None


def _beat(evidence: list[_Evidence], restarted: datetime | None) -> int | None:
    """The second on which the evidence agrees, the newer the heavier; what is older than a restart counts nothing."""
    current = [entry for entry in evidence if restarted is None or entry.at >= restarted]
    newest = max((entry.at for entry in current), default=None)
    if newest is None:
        return None
    weights = [0.0] * 60
    for entry in current:
        weights[entry.at.second] += entry.weight * math.pow(0.5, (newest - entry.at) / _HALF_LIFE)
    together = [weights[second - 1] + weights[second] + weights[(second + 1) % 60] for second in range(60)]
    best = max(range(60), key=lambda second: (together[second], weights[second]))
    agreeing = [entry for entry in current if (entry.at.second - best + 1) % 60 <= 2]
    return best if together[best] >= _CERTAIN * sum(weights) and _is_confirmed(agreeing) else None


def _is_confirmed(agreeing: list[_Evidence]) -> bool:
    """By a sync, or by two looks of different minutes."""
    moments = [entry.at for entry in agreeing]
    return any(entry.is_enough for entry in agreeing) or max(moments) - min(moments) > PERIOD / 2
