"""Columns keep their places, and say what they leave out."""

from __future__ import annotations

import pytest

from foretop_core.models import Backup, from_builtins
from foretop_core.models.wire import Resource
from foretop_core.pages import TABS
from tests.objects import backup, location, schedule
from tests.tui.fake_source import FilledSource, backup_dict, calm
from tests.tui.pilot import LARGE, SMALL, screen


def _runs(number: int) -> list[Resource]:
    """The last of them has by far the longest name."""
    names = [f"run-{place:03d}" for place in range(number)] + [f"run-{'x' * 40}"]
    times = ("2026-11-15T01:00:03Z", "2026-11-15T01:10:03Z")
    return [from_builtins(Backup, backup_dict(name, "Completed", *times)) for name in names]


@pytest.mark.sweep
async def test_columns_stand_where_they_stood_after_a_look_at_the_end_and_back() -> None:
    for number in (30, 700):
        async with screen(FilledSource([*calm(), *_runs(number)]), SMALL) as shown:
            await shown.press("7")
            await shown.sort_by("name")
            before = shown.lines[2:5]
            await shown.press("G", "home")
            assert shown.lines[2:5] == before


@pytest.mark.sweep
async def test_wide_says_which_columns_went_for_the_further_ones() -> None:
    async with screen() as shown:
        await shown.press("2")
        head = shown.lines[2]
        await shown.press("ctrl+w")
        assert "NAMESPACE" in shown.lines[2]
        assert "hidden: " in shown.text
        assert "(ctrl+w shows)" in shown.text
        await shown.press("ctrl+w")
        assert shown.lines[2] == head
        assert "hidden: " not in shown.text


@pytest.mark.sweep
async def test_the_wait_of_a_schedule_is_that_of_its_next_run() -> None:
    names = ("w1", "w2", "w3", "w4")
    past = [
        backup(f"{name}-{hour}", of=name, created=f"{at}03", started=f"{at}03", ended=f"0{hour}:40:03")
        for name in names
        for hour in range(3)
        for at in (f"0{hour}:30:",)
    ]
    due = [schedule(name, "30 * * * *", last="02:30:03", skip=False) for name in names]
    async with screen(FilledSource([*calm(), *due, *past]), LARGE) as shown:
        await shown.press("2")
        at = shown.lines[3].index("WAIT")
        rows = [next(line for line in shown.lines if f" {name} " in line) for name in names]
        assert [row[at - 1 : at + 4].strip() for row in rows] == ["", "10m", "20m", "30m"]


@pytest.mark.sweep
async def test_a_name_that_does_not_fit_loses_year_and_seconds_of_its_stamp_before_its_own_letters() -> None:
    names = ("metrics-hourly-20261115013503", "warehouse-nightly-20261115013503", "short-20261115013503")
    runs = [backup(name, started="01:35:03", ended="01:36:03") for name in names]
    async with screen(FilledSource([*calm(), *runs]), SMALL) as shown:
        await shown.press("7")
        for told in (" metrics-hourly…150135 ", " short-20261115013503 "):
            assert told in shown.text
        assert "nightly-2026" not in shown.text


@pytest.mark.sweep
async def test_the_small_terminal_names_the_owner_the_progress_and_the_time_of_what_runs() -> None:
    async with screen() as shown:
        await shown.press("4")
        assert all(title in shown.lines[2] for title in ("FROM", "PROGRESS / WAIT", "IN", "AT"))
        line = next(line for line in shown.lines if "mongo" in line)
        assert "━━━" in line
        assert "74%" in line
        assert "  02:4" in line
        await shown.press("7")
        assert all(title in shown.lines[2] for title in ("PHASE", "STARTED", "TOOK", "EXPIRES", "FROM"))


@pytest.mark.sweep
async def test_storage_has_mode_default_and_the_cause_of_an_error_at_80_columns() -> None:
    why = 'BackupStorageLocation "s3-us" is unavailable: rpc error: code = Unknown desc = 404: NoSuchBucket'
    broken = location("s3-us", "Unavailable", message=why)
    async with screen(FilledSource([*calm(), broken])) as shown:
        await shown.press(":", *"storage", "enter")
        assert all(title in shown.lines[2] for title in ("CHECKED", "SYNCED", "MODE", "DEFAULT", "WHAT"))
        line = next(line for line in shown.lines if "s3-us" in line)
        assert line.endswith(" no such bucket")
        assert "rw" in line.split()


@pytest.mark.sweep
async def test_a_paused_schedule_without_room_for_its_next_run_says_paused_and_no_half_of_it() -> None:
    async with screen() as shown:
        await shown.press("2")
        assert "paused, else in …" not in shown.text
        assert "paused" in next(line for line in shown.lines if " reports " in line)


@pytest.mark.sweep
async def test_the_column_that_a_person_sorts_by_has_its_arrow_however_narrow_it_is() -> None:
    async with screen() as shown:
        for tab in (tab for tab in TABS if tab.view):
            await shown.press(str(tab.digit))
            rows = shown.table.rows
            assert rows is not None
            usual = rows.sorted_by
            for _ in rows.columns:
                await shown.press("greater_than_sign")
                assert rows.sorted_by == usual or any(arrow in shown.lines[2] for arrow in "↑↓"), (
                    f"{tab.id} by {rows.sorted_by}: {shown.lines[2]}"
                )
