"""Where the cursor is after a filter, after a sort, and when rows move."""

from __future__ import annotations

import pytest

from foretop_core.models.kinds import BACKUP
from tests.tui.fake_source import FilledSource, backup_dict, troubled
from tests.tui.pilot import Screen, screen


def under_cursor(shown: Screen) -> str:
    assert shown.table.rows is not None
    assert shown.table.cursor is not None
    subject = shown.table.rows.subject(shown.table.cursor)
    return subject.name if subject else ""


@pytest.mark.parametrize("before", ["G", "down"])
@pytest.mark.sweep
async def test_after_a_filter_the_cursor_is_on_the_first_match(before: str) -> None:
    async with screen() as shown:
        await shown.press("7", before, "slash", *"hourly", "enter")
        assert len(shown.names()) > 1
        assert under_cursor(shown) == shown.names()[0]


@pytest.mark.sweep
async def test_a_row_that_comes_while_one_types_does_not_take_the_first_place_from_the_cursor() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.sort_by("started")
        await shown.press("slash", *"hourly")
        first = under_cursor(shown)
        new = backup_dict("aa-hourly-20261115024100", "New", created="2026-11-15T02:41:00Z", of="etcd-hourly")
        shown.source.change(BACKUP, new)
        await shown.tick()
        await shown.press("enter")
        assert under_cursor(shown) == shown.names()[0] != first


@pytest.mark.sweep
async def test_a_filter_that_is_left_keeps_the_cursor_on_its_object() -> None:
    async with screen() as shown:
        await shown.press("7", "slash", *"hourly", "enter", "down")
        chosen = under_cursor(shown)
        await shown.press("escape")
        assert under_cursor(shown) == chosen


@pytest.mark.sweep
async def test_after_only_problems_the_cursor_is_on_the_first_of_them() -> None:
    async with screen() as shown:
        await shown.press("2", "G", "ctrl+z")
        assert under_cursor(shown) == shown.names()[0]


@pytest.mark.sweep
async def test_after_a_sort_the_top_is_in_sight_and_under_the_cursor() -> None:
    async with screen(FilledSource(troubled(), ("eu", "us")), size=(80, 16)) as shown:
        await shown.press("7")
        for column in ("name", "phase", "started"):
            await shown.press("G")
            await shown.sort_by(column)
            rows = shown.table.rows
            assert rows is not None
            assert shown.table.window[0].key == next(iter(rows.table))[0] == shown.table.cursor


async def test_the_cursor_stays_on_its_object_when_rows_come_above() -> None:
    async with screen() as shown:
        await shown.press("7", "down", "down")
        chosen = under_cursor(shown)
        new = backup_dict("zz-20261115024100", "InProgress", "2026-11-15T02:41:00Z", of="etcd-hourly")
        shown.source.change(BACKUP, new)
        await shown.tick()
        assert under_cursor(shown) == chosen


async def test_in_the_calendar_the_cursor_is_on_the_first_match() -> None:
    async with screen() as shown:
        await shown.press("5", "G", "slash", *"hourly", "enter")
        page = shown.app.main_screen.page
        assert page is not None
        assert page.subject() == page.timeline.order[0]  # type: ignore[attr-defined]


@pytest.mark.sweep
async def test_until_a_key_is_pressed_there_the_cursor_is_on_the_first_row_while_the_rows_sort_themselves() -> None:
    async with screen() as shown:
        await shown.press("7")
        before = under_cursor(shown)
        await _fail(shown, "late-1", "02:40:10")
        assert under_cursor(shown) == shown.names()[0] == "late-1" != before
        await shown.press("y", "escape")
        await _fail(shown, "late-2", "02:40:20")
        assert under_cursor(shown) == "late-1" != shown.names()[0]


async def _fail(shown: Screen, name: str, at: str) -> None:
    """A backup that is worse than all above which it is put."""
    at = f"2026-11-15T{at}Z"
    shown.source.change(BACKUP, backup_dict(name, "Failed", at, at, of="etcd-hourly"))
    await shown.tick()
