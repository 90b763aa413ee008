"""Forecasts of a long queue are played beside the caller, who has the last answer meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from foretop_core.models import Backup, Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night import open_queue
from foretop_core.rules.night.open_queue import QueueForecasts, waiting_forecasts
from foretop_core.rules.night.server_model import server_model
from foretop_core.rules.queue.queue_items import Range, RunForecast
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, backup, location, schedule

_LASTS = timedelta(seconds=10)


def _snapshot(waiting: int, schedules: int = 0) -> ClusterSnapshot:
    objects: list[Resource] = [location(), *(schedule(f"weekly-{number}", "0 9 * * 1") for number in range(schedules))]
    for number in range(6):
        ended = f"01:{number:02}:{30 + number}"
        objects.append(
            backup(
                f"nightly-{number}",
                created=f"01:{number:02}:03",
                started=f"01:{number:02}:03",
                ended=ended,
                of="nightly",
            )
        )
    objects.append(backup("at-work", "InProgress", created="02:40:00", started="02:40:40", of="nightly"))
    objects += [
        backup(f"waits-{number}", "Queued", created="02:30:00", of="nightly", queuePosition=number + 1)
        for number in range(waiting)
    ]
    return assemble(objects, given_versions={"": "1.18.3"})


def _width(told: RunForecast) -> timedelta:
    assert isinstance(told.start, Range)
    return told.start.most[1] - told.start.most[0]


def test_a_long_queue_is_told_by_its_likely_course_until_the_draws_are_done() -> None:
    left: list[Callable[[], None]] = []
    known, snapshot = QueueForecasts(_LASTS, left.append), _snapshot(60)
    first = known.of(snapshot, "velero", NOW)
    last = (Backup, "waits-59")
    assert _width(first[last]) == timedelta()
    assert (Backup, "at-work") in first
    assert len(left) == 1
    known.of(_snapshot(61), "velero", NOW)
    assert len(left) == 1, "one at a time"
    left.pop()()
    drawn = known.of(snapshot, "velero", NOW)
    assert not left
    assert _width(drawn[last]) > timedelta()
    assert drawn[last] == QueueForecasts().of(snapshot, "velero", NOW)[last]
    later = NOW + _LASTS
    assert known.of(snapshot, "velero", later)[last] == drawn[last], "the last answer holds"
    assert len(left) == 1


def test_a_new_one_is_told_at_once_and_the_others_keep_their_ranges() -> None:
    left: list[Callable[[], None]] = []
    known = QueueForecasts(_LASTS, left.append)
    known.of(_snapshot(60), "velero", NOW)
    left.pop()()
    held = known.of(_snapshot(60), "velero", NOW)[Backup, "waits-59"]
    more = known.of(_snapshot(61), "velero", NOW)
    assert more[Backup, "waits-59"] == held
    assert _width(more[Backup, "waits-60"]) == timedelta()


def test_one_that_has_started_meanwhile_is_told_as_that() -> None:
    left: list[Callable[[], None]] = []
    known, snapshot = QueueForecasts(_LASTS, left.append), _snapshot(60)
    known.of(snapshot, "velero", NOW)
    started = [
        backup("waits-0", "InProgress", created="02:30:00", started="02:41:00", of="nightly")
        if one.name == "waits-0"
        else one
        for one in snapshot.backups
    ]
    found = known.of(assemble([location(), *started], given_versions={"": "1.18.3"}), "velero", NOW)
    assert found[Backup, "waits-0"].start is None


def test_a_short_queue_is_played_at_once() -> None:
    left: list[Callable[[], None]] = []
    found = QueueForecasts(_LASTS, left.append).of(_snapshot(5), "velero", NOW)
    assert not left
    assert _width(found[Backup, "waits-4"]) > timedelta()


@pytest.mark.parametrize(
    ("waiting", "schedules", "draws"), [(1, 0, 50), (60, 20, 50), (60, 21, 49), (150, 50, 20), (380, 0, 11)]
)
def test_the_more_there_is_to_play_the_fewer_courses_are_played(waiting: int, schedules: int, draws: int) -> None:
    """The work of a look has a bound: a screen asks at every event."""
    model = server_model(_snapshot(waiting, schedules), "velero", NOW, NOW + timedelta(hours=3))
    assert len(model.schedules) == schedules
    assert waiting_forecasts(model) == waiting_forecasts(model, draws)
    assert waiting_forecasts(model, 0) != waiting_forecasts(model, draws) != waiting_forecasts(model, draws - 1)


def test_a_fault_beside_is_raised_at_the_next_look_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Callable[[], None]] = []
    known, snapshot = QueueForecasts(_LASTS, left.append), _snapshot(60)
    known.of(snapshot, "velero", NOW)
    with monkeypatch.context() as patched:
        patched.setattr(open_queue, "waiting_forecasts", lambda model: 1 / 0)
        left.pop()()
    with pytest.raises(ZeroDivisionError):
        known.of(snapshot, "velero", NOW + _LASTS)
    known.of(snapshot, "velero", NOW + 2 * _LASTS)
    left.pop()()
    assert _width(known.of(snapshot, "velero", NOW + 2 * _LASTS)[Backup, "waits-59"]) > timedelta()
