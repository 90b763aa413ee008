"""Forecasts that are kept, and what came of them."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from foretop_core.actions.forecast_file import KEPT, MOST_BYTES, ForecastFile
from foretop_core.dashboard.told_forecasts import MOST_HELD, ToldForecasts
from foretop_core.errors import ForetopError
from foretop_core.models import Backup
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.forecast_accuracy import (
    ForecastAccuracy,
    ToldRun,
    forecast_record,
    measure_accuracy,
    told_runs,
)
from foretop_core.rules.night.night import night
from foretop_core.rules.night.outlook import outlook
from tests.objects import NOW, at, backup, location, schedule


def _told(number: int = 0, due: str = "02:00:00") -> ToldRun:
    start, end = (at("02:00:00"), at("02:01:00")), (at("02:10:00"), at("02:20:00"))
    return ToldRun("", "velero", f"s{number}", at(due), at("01:00:00"), start, end)


def test_the_next_run_of_each_schedule_is_told_with_its_ranges() -> None:
    runs = [
        backup(
            f"hourly-{hour}", created=f"0{hour}:00:03", started=f"0{hour}:00:03", ended=f"0{hour}:10:03", of="hourly"
        )
        for hour in (0, 1, 2)
    ]
    objects = [location(), schedule("hourly", "0 * * * *", last="02:00:03"), *runs]
    ahead = outlook(night(assemble(objects, given_versions={"": "1.18.3"}), "velero", NOW, draws=10))
    (told,) = told_runs("prod", ahead)
    assert (told.context, told.namespace, told.schedule, told.due) == ("prod", "velero", "hourly", at("03:00:00"))
    assert told.start[0] >= told.due
    assert told.start[1] < told.end[1]


@pytest.mark.parametrize(
    ("started", "ended", "inside"),
    [
        ("02:00:20", "02:15:00", (1, 1)),
        ("02:05:00", "02:15:00", (0, 1)),
        ("02:00:20", "02:40:00", (1, 0)),
        ("02:00:20", "02:20:01", (1, 1)),
        ("02:00:20", "02:20:02", (1, 0)),
        ("02:01:01", "02:09:59", (1, 1)),
        ("02:01:02", "02:09:58", (0, 0)),
    ],
)
def test_a_start_and_an_end_lie_inside_their_range_or_not(started: str, ended: str, inside: tuple[int, int]) -> None:
    made = backup("s0-1", created="02:00:03", started=started, ended=ended, of="s0")
    found = measure_accuracy(assemble([made]), "velero", NOW, [_told()])
    assert (found.starts, found.ends) == (1, 1)
    assert (found.starts_inside, found.ends_inside) == inside


def test_the_likely_course_alone_tells_no_range_and_is_not_kept() -> None:
    objects = [location(), schedule("hourly", "0 * * * *", last="02:00:03")]
    ahead = outlook(night(assemble(objects, given_versions={"": "1.18.3"}), "velero", NOW, draws=0))
    assert told_runs("prod", ahead) == []


def test_how_the_last_forecasts_of_a_schedule_came_out() -> None:
    def told(hour: int) -> ToldRun:
        start, end = (at(f"{hour:02}:00:00"), at(f"{hour:02}:01:00")), (at(f"{hour:02}:10:00"), at(f"{hour:02}:20:00"))
        return ToldRun("", "velero", "s0", start[0], at("00:00:00"), start, end)

    def made(hour: int, minute: int) -> Backup:
        begun = f"{hour:02}:00:03"
        return backup(f"s0-{hour:02}", created=begun, started=begun, ended=f"{hour:02}:{minute:02}:00", of="s0")

    ended = {0: 40, 1: 15, 2: 15, 3: 30, 4: 15, 5: 15, 6: 15, 7: 5, 8: 15}
    snapshot = assemble([schedule("s0", "0 * * * *"), *(made(hour, minute) for hour, minute in ended.items())])
    several = "6 of the last 8 runs ended within their range, 1 later, 1 earlier"
    assert forecast_record(snapshot, map(told, range(10))) == several
    assert forecast_record(snapshot, [told(3)]) == "the last run ended later than its range"
    assert forecast_record(snapshot, [told(2)]) == "the last run ended within its range"
    assert forecast_record(snapshot, [told(9)]) == ""


def test_the_backup_of_a_later_run_is_not_taken_for_that_of_one_that_was_deleted() -> None:
    later = backup("s0-2", created="02:05:03", started="02:05:03", ended="02:06:00", of="s0")
    objects = [schedule("s0", "*/5 * * * *"), later]
    found = measure_accuracy(assemble(objects, given_versions={"": "1.18.3"}), "velero", NOW, [_told()])
    assert (found.starts, found.ends) == (0, 0)


def test_a_run_that_was_never_made_is_counted_after_a_day() -> None:
    snapshot = assemble([schedule("s0")])
    assert measure_accuracy(snapshot, "velero", NOW, [_told()]).not_made == 0
    assert measure_accuracy(snapshot, "velero", NOW + timedelta(days=2), [_told()]).not_made == 1


def test_a_server_whose_ranges_fail_is_hard_to_foresee() -> None:
    hard = ForecastAccuracy("", "velero", 10, 5, 10, 6)
    assert hard.is_hard
    assert hard.warning == "Only 11 of 20 forecasts for this Velero held: its times are guesses."
    assert not ForecastAccuracy("", "velero", 10, 9, 10, 9).is_hard
    assert not ForecastAccuracy("", "velero", 2, 0, 2, 0).is_hard, "too few to say"


def test_what_was_told_first_is_kept_for_its_owner_only_and_for_thirty_days(tmp_path: Path) -> None:
    file = ForecastFile(tmp_path / "state" / "forecasts.jsonl")
    assert file.read() == ()
    file.add([_told()], NOW)
    file.add([ToldRun("", "velero", "s0", at("02:00:00"), NOW, (NOW, NOW), (NOW, NOW))], NOW)
    assert file.read() == (_told(),)
    assert {one.name: stat.S_IMODE(one.stat().st_mode) for one in file.path.parent.iterdir()} == {
        "forecasts.jsonl": 0o600,
        "forecasts.jsonl.lock": 0o600,
    }
    file.add([], NOW + KEPT + timedelta(days=1))
    assert file.read() == ()


def test_a_damaged_file_is_one_line_and_a_new_beginning(tmp_path: Path) -> None:
    file = ForecastFile(tmp_path / "forecasts.jsonl")
    file.path.write_bytes(b'{"context": 1}\n\xff\x00')
    with pytest.raises(ForetopError, match="is damaged"):
        file.read()
    problem = file.add([_told()], NOW)
    assert problem is not None
    assert "is damaged" in str(problem)
    assert file.read() == (_told(),)


def test_a_file_that_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    """A pipe in its place cannot be read, as a file on a disk that does not answer for a moment."""
    file = ForecastFile(tmp_path / "forecasts.jsonl")
    os.mkfifo(file.path)
    with pytest.raises(ForetopError, match="cannot be read"):
        file.add([_told()], NOW)
    assert stat.S_ISFIFO(os.stat(file.path).st_mode)


def test_the_file_stays_below_its_limit_and_the_oldest_go(tmp_path: Path) -> None:
    file = ForecastFile(tmp_path / "forecasts.jsonl")
    many = [_told(number, "01:00:00" if number % 2 else "02:00:00") for number in range(MOST_BYTES // 150)]
    file.add(many, NOW)
    assert file.path.stat().st_size <= MOST_BYTES
    kept = file.read()
    assert len(kept) < len(many)
    assert sum(one.due == at("02:00:00") for one in kept) > sum(one.due == at("01:00:00") for one in kept)


def test_many_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "forecasts.jsonl"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: ForecastFile(path).add([_told(number)], NOW), range(12)))
    assert {one.schedule for one in ForecastFile(path).read()} == {f"s{number}" for number in range(12)}


async def test_a_dashboard_that_runs_for_months_holds_the_newest_forecasts_of_each_schedule(tmp_path: Path) -> None:
    file = ForecastFile(tmp_path / "forecasts")
    many = [
        ToldRun("", "velero", "often", due, due, (due, due), (due, due))
        for due in (NOW - timedelta(minutes=number) for number in range(MOST_HELD + 20))
    ]
    file.add(many, NOW)
    held = ToldForecasts(file)
    await held.read()
    dues = {run.due for run in held.of_schedule("", "velero", "often")}
    assert (len(dues), max(dues)) == (MOST_HELD, NOW)
    assert min(dues) == NOW - timedelta(minutes=MOST_HELD - 1)
