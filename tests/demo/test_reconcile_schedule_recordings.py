"""Given the objects of the recordings, the schedule reconciler makes exactly the writes of Velero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from foretop_core.models import Backup, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_demo.reconcile import Create, Patch, Reconciled, reconcile_schedule
from tests import recordings
from tests.demo.apply import patched
from tests.recordings import Event

JITTER = (timedelta(0), timedelta(milliseconds=20), timedelta(milliseconds=100))
"""The maximum time between the decision on a write and its arrival at the recorder."""

PASSES = {
    "schedules": [("02:22:33.5", "02:34:33.5")],
    "queue": [("02:31:35.8", "02:34:35.8"), ("02:35:19.9", "02:37:19.9")],
    "overlap": [("02:41:16.6", "02:46:16.6")],
    "overlap-1.17": [("02:48:36.7", "02:51:36.7")],
    # In the pass of 10:27:50, its last one, the queue moved only half-way.
    "upgrade": [("10:24:09.7", "10:25:09.7"), ("10:26:50.9", "10:26:50.9")],
}
"""The first and last once-a-minute pass of each server; a restarted server has a new second.

The busy night is left out: its queue moves at the same second, so what it submits is a matter of milliseconds.
"""


@dataclass(frozen=True)
class Change:
    """A schedule before and after a write of the controller, and the backups at that time."""

    recording: str
    before: Event
    after: Event
    backups: tuple[Backup, ...]

    def __str__(self) -> str:
        return f"{self.recording}:{self.after.object.name}@{self.after.t:%H:%M:%S.%f}"


def _schedule(event: Event) -> Schedule:
    assert isinstance(event.object, Schedule)
    return event.object


def _walk(name: str) -> Iterator[tuple[Event, dict[tuple[str, str, str], Event]]]:
    """Every event with the objects before it."""
    held: dict[tuple[str, str, str], Event] = {}
    for event in recordings.events(name):
        yield event, dict(held)
        if event.type == "DELETED":
            held.pop(event.key, None)
        else:
            held[event.key] = event


def _backups(held: dict[tuple[str, str, str], Event]) -> tuple[Backup, ...]:
    return tuple(event.object for event in held.values() if isinstance(event.object, Backup))


def _by_hand(before: Schedule, after: Schedule) -> bool:
    """Changes by the recording's user: pause, unpause, another expression, skipImmediately removed or set to true."""
    return (
        before.spec.paused != after.spec.paused
        or before.spec.schedule != after.spec.schedule
        or (after.spec.skip_immediately is True and before.spec.skip_immediately is not True)
    )


def _changes() -> Iterator[Change]:
    for name in PASSES:
        for event, held in _walk(name):
            if event.kind is not SCHEDULE or event.type != "MODIFIED":
                continue
            before = held[event.key]
            if not _by_hand(_schedule(before), _schedule(event)):
                yield Change(name, before, event, _backups(held))


CHANGES = tuple(_changes())


def _essence(schedule: Schedule) -> Schedule:
    return msgspec.structs.replace(schedule, metadata=type(schedule.metadata)(name=schedule.name))


def _answers(change: Change) -> Iterator[tuple[datetime, Reconciled]]:
    """The answers with and without the backup, whose event may have arrived before the schedule's own change."""
    schedule = _schedule(change.before)
    last = _schedule(change.after).status.last_backup
    fresh = f"{schedule.name}-{last:%Y%m%d%H%M%S}" if last else ""
    others = tuple(backup for backup in change.backups if backup.name != fresh)
    for early in JITTER:
        now = change.after.t - early
        yield now, reconcile_schedule(schedule, others, now, recordings.dialect_at(change.recording, now))


def _becomes(change: Change, answer: Reconciled) -> Schedule:
    raw = change.before.raw
    for write in answer.writes:
        if isinstance(write, Patch):
            assert (write.kind, write.name) == (SCHEDULE, change.before.object.name)
            raw = patched(raw, write)
    return from_builtins(Schedule, raw)


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_change_of_velero_is_reproduced(change: Change) -> None:
    wanted = _essence(_schedule(change.after))
    outcomes = [_essence(_becomes(change, answer)) for _, answer in _answers(change)]
    assert wanted in outcomes


SUBMITTED = tuple(
    change
    for change in CHANGES
    if _schedule(change.after).status.last_backup != _schedule(change.before).status.last_backup
)


@pytest.mark.parametrize("change", SUBMITTED, ids=str)
def test_every_backup_equals_velero_s(change: Change) -> None:
    last = _schedule(change.after).status.last_backup
    assert last is not None
    name = f"{change.after.object.name}-{last:%Y%m%d%H%M%S}"
    (born,) = [
        event
        for event in recordings.events(change.recording, BACKUP.plural)
        if event.type == "ADDED" and event.object.name == name
    ]
    made = [write for _, answer in _answers(change) for write in answer.writes if isinstance(write, Create)]
    wanted = Create(
        BACKUP,
        born.object.namespace,
        name,
        born.raw["spec"],
        labels=born.object.metadata.labels,
        annotations=born.object.metadata.annotations,
    )
    assert wanted in made


def test_only_manual_backups_come_without_a_change_of_last_backup() -> None:
    submitted = {
        (change.recording, f"{change.after.object.name}-{_schedule(change.after).status.last_backup:%Y%m%d%H%M%S}")
        for change in SUBMITTED
    }
    labelled = {
        (name, event.object.name)
        for name in PASSES
        for event in recordings.events(name, BACKUP.plural)
        if event.type == "ADDED" and event.object.label(SCHEDULE_LABEL)
    }
    assert submitted <= labelled
    assert sorted(recording for recording, _ in labelled - submitted) == ["overlap", "overlap-1.17"]


def _passes() -> Iterator[tuple[str, datetime]]:
    for name, eras in PASSES.items():
        for first, last in eras:
            at, end = (datetime.fromisoformat(f"2026-11-15T{text}").replace(tzinfo=UTC) for text in (first, last))
            while at <= end:
                yield name, at
                at += timedelta(minutes=1)


def _before(name: str, moment: datetime) -> dict[tuple[str, str, str], Event]:
    held: dict[tuple[str, str, str], Event] = {}
    for event, there in _walk(name):
        if event.t >= moment:
            return there
        held = there
    return held


@pytest.mark.parametrize(("name", "at"), list(_passes()))
def test_every_minute_the_same_schedules_are_submitted_as_by_velero(name: str, at: datetime) -> None:
    held = _before(name, at - timedelta(milliseconds=100))
    backups = _backups(held)
    dialect = recordings.dialect_at(name, at)
    schedules = [event.object for event in held.values() if isinstance(event.object, Schedule)]
    ours = {
        schedule.name
        for schedule in schedules
        if any(isinstance(write, Create) for write in reconcile_schedule(schedule, backups, at, dialect).writes)
    }
    theirs = {
        change.after.object.name
        for change in SUBMITTED
        if change.recording == name and abs(change.after.t - at) < timedelta(seconds=1.5)
    }
    assert ours == theirs
    assert schedules, "a pass before there was a schedule shows nothing"
