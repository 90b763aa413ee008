"""The footer tells the keys that work, also where letters are typed or a window is open."""

from __future__ import annotations

import pytest

from foretop.bindings import ACTIONS, footer_order
from foretop.widgets.line_widgets import key_line
from tests.rooms import ROOM_ACTIONS, SHOWN_BY_ROOMS
from tests.tui.dashboard_on_box import stand
from tests.tui.pilot import screen

_FILTERING = " enter keep  esc clear  up down to the rows  ctrl+w word back  ctrl+u all back  "


@pytest.mark.sweep
@pytest.mark.parametrize("tab", ["2", "5"])
async def test_in_a_filter_the_footer_tells_the_keys_of_the_field(tab: str) -> None:
    async with screen() as shown:
        await shown.press(tab)
        assert "/ filter" in shown.footer
        await shown.press("slash")
        assert shown.footer == _FILTERING
        await shown.press(*"etcd hourly", "ctrl+w")
        assert shown.lines[2] == " /etcd"
        await shown.press("enter")
        assert "/ filter" in shown.footer
        await shown.press("slash", "escape")
        assert "/ filter" in shown.footer


def test_the_key_that_is_always_told_has_its_place_where_not_all_fit() -> None:
    hints = (("enter", "open"), ("s", "pause"), ("e", "edit"), ("?", "help"), ("q", "quit"))
    told = {cells: "".join(piece.text for piece in key_line(hints, cells, "?")).rstrip() for cells in (44, 43, 28, 7)}
    assert told == {
        44: " enter open  s pause  e edit  ? help  q quit",
        43: " enter open  s pause  e edit  ? help",
        28: " enter open  s pause  ? help",
        7: " ? help",
    }
    assert {len(line) <= cells for cells, line in told.items()} == {True}


@pytest.mark.parametrize("tab", ["2", "5"])
async def test_on_the_smallest_screen_the_footer_tells_the_key_of_the_help(tab: str) -> None:
    """On the calendar, and wherever a row has many actions, nothing had told it."""
    async with stand("maintenance") as at:
        await at.shown.press(tab)
        await at.shown.settle()
        assert "? help" in at.shown.footer


async def test_the_footer_of_the_week_tells_the_key_that_opens_a_day_and_none_that_does_nothing() -> None:
    async with stand("quiet") as at:
        await at.shown.press("5", "z")
        await at.shown.press("z")
        assert at.shown.footer.startswith(" enter open the day  ")
        assert "move in time" not in at.shown.footer
        await at.shown.press("enter")
        await at.shown.until(lambda: "enter open  " in at.shown.footer)


@pytest.mark.sweep
@pytest.mark.parametrize("key", ["question_mark", "colon", "m"])
async def test_under_a_window_no_key_of_the_page_is_told(key: str) -> None:
    async with screen() as shown:
        before = shown.footer
        await shown.press(key)
        assert shown.footer == " esc close  "
        await shown.press("escape")
        assert shown.footer == before


@pytest.mark.sweep
async def test_where_tenants_are_the_footer_offers_to_delete() -> None:
    async with stand("nonadmin-status") as at:
        await at.shown.press("3")
        await at.shown.until(lambda: "ctrl+d delete" in at.shown.footer)


def test_what_is_needed_most_comes_first_and_what_deletes_last() -> None:
    assert [action.id for action in footer_order(ACTIONS) if action.id not in ROOM_ACTIONS | SHOWN_BY_ROOMS] == [
        "open",
        "open_day",
        "fold",
        "sign_in",
        "pause",
        "change-pause",
        "unpause",
        "resume",
        "restore",
        "decide-storage",
        "horizon",
        "section",
        "all_namespaces",
        "collisions",
        "filter",
        "edit-schedule",
        "acknowledge",
        "unacknowledge",
        "jump",
        "move_in_time",
        "search",
        "palette",
        "mark",
        "help",
        "back",
        "describe",
        "yaml",
        "copy_finding",
        "copy_name",
        "faults",
        "back-up-now",
        "run-again",
        "cancel-movements",
        "create-schedule",
        "cover-namespace",
        "delete-schedule",
        "delete-backup",
        "extend-backup",
        "delete-restore",
        "delete-nab",
        "delete-nar",
        "acknowledged",
        "group",
    ]
