"""A failure on the screen costs itself only: it is told, listed in Triage, and every key goes on working."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from foretop.main_screen.object_actions import ObjectActions
from foretop.main_screen.screen_actions import ScreenActions
from foretop.pages.detail_page import DetailPage
from foretop.pages.table_page import TablePage
from foretop.panes import detail_sections
from foretop.widgets.table import Table
from tests.tui.fake_source import FilledSource, calm
from tests.tui.pilot import Screen, screen


def _fails(*_: Any, **__: Any) -> NoReturn:
    raise OverflowError("date value \x1b]0;own\x07 out of range")


async def _fails_later(*_: Any) -> None:
    _fails()


async def _still_works(shown: Screen) -> None:
    await shown.press("7")
    assert shown.page == "backups"
    assert "etcd-hourly-20261115020003" in shown.names()
    await shown.press("1")
    assert shown.page == "triage"
    await shown.tick()


@pytest.mark.parametrize(
    ("owner", "method", "keys"),
    [
        (ScreenActions, "do_zone", ["Z"]),
        (ObjectActions, "do_open", ["2", "enter"]),
        (Table, "toggle_mark", ["2", "space"]),
        (Table, "action_move", ["2", "down"]),
        (Table, "_sort", ["7", "greater_than_sign"]),
    ],
)
async def test_an_action_that_fails_is_told_and_listed(
    owner: type, method: str, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, method, _fails)
    async with screen(FilledSource(calm()), may_fail=True) as shown:
        await shown.press(*keys)
        assert len(shown.faults) == 1
        assert "\\x1b]0;own\\x07 out of range" in shown.app.told[-1][1]
        await _still_works(shown)
        assert "hidden by a fault in foretop" in shown.text
        assert "No problems" not in shown.text


@pytest.mark.sweep
async def test_background_work_that_fails_is_told_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DetailPage, "_fetch", _fails_later)
    async with screen(FilledSource(calm()), may_fail=True) as shown:
        await shown.press("7", "y")
        await shown.until(lambda: bool(shown.faults))
        await shown.press("escape")
        await _still_works(shown)


@pytest.mark.parametrize("draw", [(TablePage, "_tell"), (TablePage, "pulse")])
async def test_a_page_that_cannot_be_drawn_leaves_the_others_alone(
    draw: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screen(FilledSource(calm()), may_fail=True) as shown:
        good: Callable[..., None] = getattr(*draw)

        def only_schedules(page: TablePage) -> None:
            _fails() if page.page_id == "schedules" else good(page)

        monkeypatch.setattr(*draw, only_schedules)
        await shown.press("2")
        await shown.tick()
        assert shown.faults
        assert "02:41:07Z" in shown.status
        await _still_works(shown)


@pytest.mark.sweep
async def test_a_terminal_of_twenty_by_five_cells_breaks_no_key() -> None:
    async with screen(size=(20, 5)) as shown:
        for page in "123456789":
            for key in (page, "down", "enter", "escape", "escape", "question_mark", "escape"):
                shown.send(key)
        await shown.until(lambda: not shown.app._waiting_keys)
        assert "Terminal too small: 20x5." in " ".join(shown.text.split())
        await shown.pilot.resize_terminal(80, 24)
        await shown.press("7")
        await shown.until(lambda: shown.page == "backups" and "BACKUP" in shown.text)


async def test_a_pane_that_fails_says_so_and_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail_sections, "overview", _fails)
    async with screen(FilledSource(calm())) as shown:
        await shown.press("7", "enter")
        assert "cannot be shown: OverflowError: date value \\x1b" in " ".join(shown.text.split())
        await shown.press("escape")
        await _still_works(shown)
        assert "the section overview failed" in shown.text


@pytest.mark.sweep
async def test_thousands_of_messages_leave_one_toast_and_the_latest_of_the_list() -> None:
    async with screen(FilledSource(calm())) as shown:
        for number in range(2_000):
            shown.app.notify(f"message {number}")
            if number % 100 == 0:
                await shown.idle()
        await shown.idle()
        assert len(shown.app._notifications) == 1
        assert [text for _, text in shown.app.told] == [f"message {number}" for number in range(1_800, 2_000)]
        await _still_works(shown)
