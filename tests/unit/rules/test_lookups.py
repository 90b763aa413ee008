"""What the indexes and the looks through a snapshot sort runs by."""

from __future__ import annotations

import pytest

from foretop_core.models import Backup, NonAdminBackup
from foretop_core.rules.indexes import (
    day_expiring,
    day_of,
    has_faulty_copy,
    hour_moved,
    hour_scheduled,
    is_faulty,
    is_open,
    is_unsettled,
    reports_place,
    unfinished_phase,
    was_cut_off,
)
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import at, backup, nab

SECOND_HOUR = int(at("02:00").timestamp()) // 3600


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (backup(phase="Completed", ended="02:01"), False),
        (backup(phase="Completed"), True),
        (backup(phase="InProgress"), True),
        (backup(phase="InProgress", ended="02:01"), True),
        (backup(phase=""), True),
    ],
)
def test_a_run_is_open_until_its_phase_and_its_time_both_say_that_it_has_ended(run: Backup, expected: bool) -> None:
    assert is_open(run) is expected


@pytest.mark.parametrize(
    ("run", "hour"),
    [
        (backup(started="02:59:59"), 0),
        (backup(started="02:10", ended="03:00:00"), 1),
        (backup(started="04:10", ended="03:00:00"), 2),
        (backup(ended="03:59:59"), 1),
    ],
)
def test_a_run_has_moved_last_at_the_later_of_its_start_and_end(run: Backup, hour: int) -> None:
    assert hour_moved(run) == SECOND_HOUR + hour


def test_a_backup_is_counted_by_its_phase_until_the_phase_says_that_it_has_ended() -> None:
    assert unfinished_phase(backup(phase="Queued")) == ("velero", "Queued")
    assert unfinished_phase(backup(phase="")) == ("velero", "")
    assert unfinished_phase(backup(phase="Failed")) is None


def test_a_backup_was_cut_off_where_a_server_that_started_failed_it() -> None:
    reason = 'found a backup with status "InProgress" during the server starting, mark it as "Failed"'
    assert was_cut_off(backup(phase="Failed", failureReason=reason))
    assert not was_cut_off(backup(phase="Failed", failureReason="timed out"))
    assert not was_cut_off(backup(phase="InProgress", failureReason=reason))


def test_hours_and_days_are_counted_whole() -> None:
    assert [hour_scheduled(backup(created=text, of="daily")) for text in ("02:00:00", "02:59:59", "03:00:00")] == [
        SECOND_HOUR,
        SECOND_HOUR,
        SECOND_HOUR + 1,
    ]
    assert hour_scheduled(backup(created="", of="daily")) is None
    assert hour_scheduled(backup()) is None
    assert hour_moved(backup()) is None
    assert [day_of(at(f"1970-01-0{text}Z")) for text in ("1T23:59:59", "2T00:00:00", "3T00:00:01")] == [0, 1, 2]
    assert day_expiring(backup()) is None
    assert day_expiring(backup(expiration="1970-01-03T00:00:00Z")) == 2


def test_copies_that_expire_on_a_day_are_found_from_that_day_on() -> None:
    named = {"tomorrow": "2026-11-16T00:00:00Z", "today": "2026-11-15T23:59:59Z", "never": None}
    found = ClusterSnapshot(backups=tuple(backup(name, expiration=when) for name, when in named.items())).lookups
    assert [one.name for one in found.backups_expiring_until(at("02:00"))] == ["today"]
    assert [one.name for one in found.backups_expiring_until(at("2026-11-16T00:00:00Z"))] == ["today", "tomorrow"]
    assert found.backups_expiring_until(at("2026-11-14T23:59:59Z")) == ()


@pytest.mark.parametrize(
    ("item", "unsettled"),
    [
        (nab(), False),
        (nab(deleted="02:10"), True),
        (nab(phase="New"), True),
        (nab(phase="New", deleted="02:10"), True),
    ],
)
def test_a_nab_is_settled_when_it_is_created_and_stays(item: NonAdminBackup, unsettled: bool) -> None:
    assert is_unsettled(item) is unsettled


def test_only_failed_runs_and_copies_of_their_phases_are_faulty() -> None:
    assert [is_faulty(backup(phase=phase)) for phase in ("Completed", "PartiallyFailed", "Failed")] == [
        False,
        True,
        True,
    ]
    copies = [nab(), *(nab(veleroBackup={"status": {"phase": phase}}) for phase in ("Completed", "Failed"))]
    assert [has_faulty_copy(one) for one in copies] == [False, False, True]


@pytest.mark.parametrize(
    ("info", "expected"), [(None, False), ({"estimatedQueuePosition": 0}, False), ({"estimatedQueuePosition": 1}, True)]
)
def test_a_place_in_the_queue_is_reported_from_one_on(info: dict[str, int] | None, expected: bool) -> None:
    assert reports_place(nab(queueInfo=info)) is expected
