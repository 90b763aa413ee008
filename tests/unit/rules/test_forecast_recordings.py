"""The forecasts compared with the real schedule controller, event by event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from foretop_core.models import Backup, BackupStorageLocation, Resource, Schedule
from foretop_core.rules.forecast import Choice, blocker, expected_start, invalid, is_due, next_run, unpause
from foretop_core.rules.heartbeat import beat_second, heartbeat
from tests.recordings import NAMES, Event, dialect_at, events

RESTARTED = [
    ("queue", "guarded", "02:35:19"),
    ("upgrade", "sunday-7", "10:26:50"),
    ("upgrade", "wrap", "10:26:51"),
    ("upgrade", "quoted", "10:26:51"),
    ("upgrade", "plain", "10:27:51"),
]
"""Forecast from the heartbeat of a server that was just being replaced: the new one's cannot be known."""
AT_ONCE = timedelta(seconds=1)


@dataclass
class Cluster:
    """The objects just before an event."""

    objects: dict[tuple[str, str, str], Resource] = field(default_factory=dict)

    def before(self, event: Event) -> Resource | None:
        return self.objects.get(event.key)

    def apply(self, event: Event) -> None:
        if event.type == "DELETED":
            self.objects.pop(event.key, None)
        else:
            self.objects[event.key] = event.object

    @property
    def schedules(self) -> list[Schedule]:
        return [item for item in self.objects.values() if isinstance(item, Schedule)]

    @property
    def backups(self) -> list[Backup]:
        return [item for item in self.objects.values() if isinstance(item, Backup)]

    @property
    def storage(self) -> list[BackupStorageLocation]:
        return [item for item in self.objects.values() if isinstance(item, BackupStorageLocation)]


def walk(name: str) -> Iterator[tuple[Cluster, Event]]:
    cluster = Cluster()
    for event in events(name):
        yield cluster, event
        cluster.apply(event)


def submissions(name: str) -> list[tuple[str, datetime]]:
    """The schedules whose lastBackup changed, and when."""
    found = []
    for cluster, event in walk(name):
        before = cluster.before(event)
        if isinstance(event.object, Schedule) and isinstance(before, Schedule):
            made = event.object.status.last_backup
            if made and made != before.status.last_backup:
                found.append((event.object.name, event.t))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_submitted_schedule_was_due_unpaused_and_valid(name: str) -> None:
    for cluster, event in walk(name):
        before = cluster.before(event)
        if not isinstance(event.object, Schedule) or not isinstance(before, Schedule):
            continue
        made = event.object.status.last_backup
        if made and made != before.status.last_backup:
            dialect = dialect_at(name, event.t)
            assert is_due(before, event.t, dialect), f"{before.name} at {event.t}"
            assert not before.spec.paused
            assert not invalid(before, dialect)


def test_every_due_and_unblocked_schedule_was_submitted() -> None:
    """All schedules are checked once a minute; one that is due and makes no backup then would be a wrong forecast."""
    checked = 0
    for name in NAMES:
        made = submissions(name)
        for cluster, event in walk(name):
            if not isinstance(event.object, Schedule) or not _on_the_beat(event.t, made):
                continue
            dialect = dialect_at(name, event.t)
            for schedule in cluster.schedules:
                if schedule.spec.paused or invalid(schedule, dialect) or blocker(schedule, cluster.backups):
                    continue
                if _starts_now(schedule, cluster.backups):
                    continue
                if is_due(schedule, event.t - timedelta(seconds=2), dialect):
                    near = [who for who, at in made if abs(at - event.t) <= timedelta(seconds=2)]
                    assert schedule.name in near, f"{schedule.name} was due at {event.t} and nothing was made"
                    checked += 1
    assert checked >= 150


def _starts_now(schedule: Schedule, backups: Iterable[Backup]) -> bool:
    """Its own backup is handed over at this very look, and holds it back a moment later."""
    return any(one.schedule_name == schedule.name and one.phase == "ReadyToStart" for one in backups)


def _on_the_beat(moment: datetime, made: list[tuple[str, datetime]]) -> bool:
    """A submission here, and another one whole minutes before or after it."""
    apart = [abs(at - moment).total_seconds() for _, at in made]
    return min(apart, default=60) < 0.5 and any(gap > 50 and min(gap % 60, 60 - gap % 60) < 0.5 for gap in apart)


def test_the_expected_start_is_the_second_at_which_the_controller_started() -> None:
    """Forecast when the schedule last changed, up to three minutes before the run.

    Not given to the second where the heartbeat was not certain then: before a first sync, while storage hung, and after
    a backup that a change of its schedule brought about.
    """
    right, wrong, not_given = 0, [], 0
    # In the busy night a schedule's own backup often starts at the very look, and holds it back.
    for name in (name for name in NAMES if name != "night"):
        expected: dict[str, datetime | None] = {}
        for cluster, event in walk(name):
            item = event.object
            before = cluster.before(event)
            if not isinstance(item, Schedule):
                continue
            started = item.status.last_backup
            asked = item.name in expected
            said = expected.pop(item.name, None)
            if asked and started and isinstance(before, Schedule) and started != before.status.last_backup:
                if said is None:
                    not_given += 1
                elif abs(started - said) <= timedelta(seconds=1):
                    right += 1
                else:
                    wrong.append((name, item.name, f"{started:%H:%M:%S}"))
            cluster.apply(event)
            dialect = dialect_at(name, event.t)
            second = beat_second(cluster.storage, cluster.schedules, cluster.backups)
            beat = heartbeat(cluster.storage, second=second)
            start = expected_start(item, event.t, dialect, beat)
            if not is_due(item, event.t, dialect):
                expected[item.name] = start
    assert (right, not_given) == (40, 22)
    assert wrong == RESTARTED


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"night", "nonadmin", "queue", "upgrade"}])
def test_unpausing_did_what_the_forecast_says(name: str) -> None:
    made = submissions(name)
    history = list(events(name, "schedules"))
    seen = 0
    for cluster, event in walk(name):
        before = cluster.before(event)
        after = event.object
        if not (isinstance(before, Schedule) and isinstance(after, Schedule)):
            continue
        if not before.spec.paused or after.spec.paused:
            continue
        choice = {True: Choice.SKIP, False: Choice.DO_NOT_SKIP, None: Choice.LEAVE}[after.spec.skip_immediately]
        held = after if choice is Choice.LEAVE else before
        dialect = dialect_at(name, event.t)
        forecast = unpause(held, event.t, choice, server_default=False, dialect=dialect)
        later = [item.object for item in history if item.object.name == after.name and item.t > event.t]
        at_once = any(who == after.name and timedelta() <= at - event.t <= AT_ONCE for who, at in made)
        assert forecast.at_once == at_once, after.name
        taken_up = [item for item in later if isinstance(item, Schedule)]
        skipped = any(item.status.last_skipped != before.status.last_skipped for item in taken_up[:2])
        assert forecast.skips == skipped, after.name
        settled = next(
            item
            for item in taken_up
            if item.status.last_backup != before.status.last_backup
            or item.status.last_skipped != before.status.last_skipped
        )
        assert forecast.next_run == next_run(settled, dialect), after.name
        seen += 1
    assert seen >= 2
