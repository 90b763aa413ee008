"""Velero's signs of life and its beat, read from what it leaves in the cluster.

Velero looks at its schedules once a minute and keeps the second at which it was started. Its storage locations
carry two times that move with it: they show the beat, and that the storage responds. Any other write that only the
server makes shows that the server itself is alive.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

import msgspec

from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupStorageLocation,
    DataMovement,
    DeleteBackupRequest,
    Resource,
    Restore,
    Schedule,
    ServerStatusRequest,
)
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.indexes import was_cut_off
from foretop_core.rules.sentences import Text, sentence

PERIOD = timedelta(minutes=1)
SILENT_PERIODS = 3
LOOK_LASTS = timedelta(seconds=5)
"""For so long after its second of the minute, what a look of Velero did may not be seen yet: it is slow under load."""
_HALF_LIFE = timedelta(minutes=3)
_SYNC, _RUN, _VALIDATION = 1.5, 1.0, 0.5
_CERTAIN = 2 / 3
"""So much of the evidence must agree on a second: a start is told to the second, or not at all."""
_DRIFT = timedelta(seconds=2)
"""The beat creeps, and the times have whole seconds."""


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


class LifeSign(msgspec.Struct, frozen=True):
    """A write that only the Velero server makes: when, to which object, and what it did; `did` follows the name."""

    at: datetime
    kind: str = ""
    name: str = ""
    did: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.name, self.did)))


SERVER_WRITES = (Backup, Restore, Schedule, DeleteBackupRequest, DataMovement, BackupRepository, ServerStatusRequest)
"""The kinds that tell of the server besides its storage locations. A tenant's own objects are never among them."""


def signs_in(item: Resource) -> Iterator[LifeSign]:
    """The times in an object that only the server writes.

    The server creates a data movement and the node agents write its status, which goes on while the server is down.
    """
    moments: tuple[tuple[datetime | None, str], ...] = ()
    match item:
        case Backup() | Restore():
            moments = (item.status.start_timestamp, "started"), (item.status.completion_timestamp, "ended")
        case Schedule():
            moments = (item.status.last_backup, "made a backup"), (item.status.last_skipped, "skipped a run")
        case DataMovement():
            moments = ((item.created, "was created"),)
        case BackupRepository():
            moments = ((item.status.last_maintenance_time, "was maintained"),)
        case ServerStatusRequest():
            moments = ((item.status.processed_timestamp, "was answered"),)
        case _:
            pass
    return (LifeSign(moment, type(item).__name__, item.name, did) for moment, did in moments if moment is not None)


class Heartbeat(msgspec.Struct, frozen=True):
    """The rhythm of one Velero server, as far as it is known."""

    second: int | None = None
    """The second of the minute at which it looks at its schedules; None while that is not known."""
    pulse: datetime | None = None
    """The newest check of a storage location."""
    period: timedelta | None = None
    """How often such a check is due; None where none is to be expected."""
    worked: tuple[LifeSign, ...] = ()
    """The newest other signs of life, the newest first."""
    has_waiting: bool = False
    """Backups wait in its queue: one that is created now does so too."""
    is_down: bool = False
    """Its Deployment reports that no pod of it is ready."""
    checks: tuple[datetime, ...] = ()
    """The checks before `pulse`, which count where that one lies in the future."""
    started: LifeSign | None = None
    """The start of its pod, where pods are watched: it lived then, and has done nothing by it."""
    heard: datetime | None = None
    """When a check was last seen to come in, by the clock that silence is measured with."""
    jumped: datetime | None = None
    """When that clock last jumped."""

    def checked(self, now: datetime) -> datetime | None:
        """The newest check of a storage location; a time in the future says nothing."""
        return max((at for at in (self.pulse, *self.checks) if at is not None and at <= now + PERIOD), default=None)

    def last_work(self, now: datetime) -> LifeSign | None:
        """The newest sign of life besides the checks of its storage."""
        return next((sign for sign in self.worked if sign.at <= now + PERIOD), None)

    def silent_for(self, now: datetime) -> timedelta | None:
        """How long the checks have been missing, where they have for three periods: server down, or storage hanging."""
        return None if self.judged_at(now) is not None else self._unchecked_for(now)

    def judged_at(self, now: datetime) -> datetime | None:
        """When it can be told whether it is silent, where a clock that jumped makes the checks too old; None for now.

        What has been read since the jump cannot show that nothing came for so long.
        """
        if self.jumped is None or self._unchecked_for(now) is None:
            return None
        return self.jumped + self._patience if timedelta() <= now - self.jumped <= self._patience else None

    @property
    def _patience(self) -> timedelta:
        return SILENT_PERIODS * (self.period or PERIOD)

    def _unchecked_for(self, now: datetime) -> timedelta | None:
        checked = self.checked(now)
        if checked is None or self.period is None or now - checked <= self._patience:
            return None
        # One that came in lately shows life, whatever its time says.
        is_heard = self.heard is not None and timedelta() <= now - self.heard <= self._patience
        return None if is_heard else now - checked

    def silence(self, now: datetime) -> Text:
        """Why nobody can tell what this server will do next; "" where it has a pulse, or none is to be expected."""
        since = self.last_sign(now)
        if self.silent_for(now) is None or since is None:
            return ""
        hangs = self.still_works(now)
        return sentence(
            "Velero has not checked its storage" if hangs else "no sign of activity from Velero", " since ", since
        )

    def last_sign(self, now: datetime) -> datetime | None:
        """The check of its storage that was the last, and for a server that does nothing at all its last sign."""
        checked = self.checked(now)
        if checked is None or self.still_works(now):
            return checked
        signs = (self.last_work(now), self.last_start(now))
        return max([checked, *(sign.at for sign in signs if sign is not None)])

    def last_start(self, now: datetime) -> LifeSign | None:
        """The start of its pod; a time in the future says nothing."""
        return self.started if self.started is not None and self.started.at <= now + PERIOD else None

    def silence_word(self, now: datetime) -> str:
        """How a server without a pulse is, in a word or two: it is down, its storage hangs, or nobody can tell."""
        if self.is_down:
            return "down"
        return "storage hangs" if self.still_works(now) else "silent"

    def silence_phrase(self, now: datetime) -> str:
        """The same as a clause: `Velero is down`, `the storage of Velero hangs`."""
        return "the storage of Velero hangs" if self.still_works(now) else f"Velero is {self.silence_word(now)}"

    def still_works(self, now: datetime) -> bool:
        """True if its storage hangs and not the server: it writes to objects, and checks no storage.

        A sign of the last minutes shows it, and so does an older one from after a check was due.
        """
        checked, work = self.checked(now), self.last_work(now)
        if checked is None or work is None or self.period is None or self.is_down or self.silent_for(now) is None:
            return False
        return work.at >= checked + self.period - _DRIFT or now - work.at <= SILENT_PERIODS * PERIOD

    def awaited(self, now: datetime) -> str:
        """The event that a silent server completes no backup before."""
        return "the storage responds" if self.still_works(now) else "Velero is back"

    def awaited_part(self, now: datetime) -> str:
        """Whom every backup of a silent server waits for."""
        return "the storage" if self.still_works(now) else "Velero"

    def holds_back(self, now: datetime) -> str:
        """The step that a backup created now does not take: `does not start until the storage responds`."""
        return f"does not {self._next_step(now)} until {self.awaited(now)}"

    def _next_step(self, now: datetime) -> str:
        """The step that waits for the server or its storage: a backup that need not wait for others starts."""
        return "complete" if self.still_works(now) and not self.has_waiting else "start"

    def coming_run_phrase(self, now: datetime) -> str:
        """A phrase about a coming run of a silent server; reads on after the time that it is due."""
        if self.still_works(now):
            return f"created then; it {self._next_step(now)}s when {self.awaited(now)}"
        return f"but it is not created until {self.awaited(now)}"

    def coming_look(self, now: datetime) -> datetime | None:
        """The look that comes next, or that has just come: what it did may not be seen yet."""
        return self.first_look(now - LOOK_LASTS)

    def first_look(self, at: datetime) -> datetime | None:
        """The first look at the schedules at or after a moment."""
        if self.second is None:
            return None
        whole = at.replace(microsecond=0) + timedelta(seconds=1 if at.microsecond else 0)
        return whole + timedelta(seconds=(self.second - whole.second) % 60)


def heartbeat(
    locations: Iterable[BackupStorageLocation],
    *,
    second: int | None = None,
    worked: tuple[LifeSign, ...] = (),
    has_waiting: bool = False,
    is_down: bool = False,
    started: LifeSign | None = None,
    heard: datetime | None = None,
    jumped: datetime | None = None,
) -> Heartbeat:
    """The signs of life of one server (one namespace of one context), with the `second` of its beat."""
    watched = [(location, period) for location in locations if (period := _period(location)) is not None]
    signs = sorted((sign.at for location, _ in watched for sign in _signs(location)), reverse=True)
    # A location that was never checked: its first check is due from its creation on.
    waiting = [made for location, _ in watched if not _signs(location) and (made := location.created)]
    return Heartbeat(
        second=second,
        pulse=signs[0] if signs else max(waiting, default=None),
        period=max(PERIOD, min(period for _, period in watched)) if watched else None,
        worked=worked,
        has_waiting=has_waiting,
        is_down=is_down,
        checks=tuple(signs[1:]),
        started=started,
        heard=heard,
        jumped=jumped,
    )


def beat_second(
    locations: Iterable[BackupStorageLocation],
    schedules: Iterable[Schedule],
    backups: Iterable[Backup] = (),
    *,
    started: datetime | None = None,
    off_beat: Collection[datetime] = (),
) -> int | None:
    """The second of the minute at which a server looks at its schedules; None while that is not known.

    `started` is what its Deployment tells; `off_beat` are syncs that were seen to come at another second than before.
    """
    signs = [sign for location in locations if _period(location) is not None for sign in _signs(location, off_beat)]
    runs, planned = tuple(backups), tuple(schedules)
    looks = [_Evidence(look, _RUN) for look in _looks(planned, _recent(runs))]
    return _beat([*signs, *looks], max((start for start in (last_start(runs), started) if start), default=None))


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
    ended = (backup.status.completion_timestamp for backup in backups if was_cut_off(backup))
    return max((end for end in ended if end is not None), default=None)


def _signs(location: BackupStorageLocation, off_beat: Collection[datetime] = ()) -> list[_Evidence]:
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

    A schedule that is made or unpaused is looked at there and then, off the beat. A backup made by hand from a
    schedule is named like a scheduled one and moves no lastBackup: one such among many is outvoted.
    """
    by_name = {(schedule.namespace, schedule.name): schedule for schedule in schedules}
    looks = [(schedule, schedule.status.last_backup) for schedule in schedules]
    named = ((by_name.get((backup.namespace, backup.schedule_name)), _named_time(backup)) for backup in backups)
    return {at for schedule, at in (*looks, *named) if at and not (schedule and _came_with_a_change(schedule, at))}


def _came_with_a_change(schedule: Schedule, at: datetime) -> bool:
    written = schedule.paused_field_set
    if schedule.created is not None and at - schedule.created <= _DRIFT:
        return True
    return written is not None and written.time is not None and timedelta() <= at - written.time <= _DRIFT


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
