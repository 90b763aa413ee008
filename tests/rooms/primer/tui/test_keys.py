"""The primer by its keys: two fields, an answer that follows them, and every other key outside them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from textual import events
from textual.widgets import OptionList

from foretop.app import Dashboard
from foretop.dialogs.command_palette import CommandPalette
from foretop.dialogs.help_screen import HelpScreen
from foretop.dialogs.search_modal import SearchPicker
from foretop.rooms.primer.page import PrimerPage, primer_pane
from foretop.widgets.paragraphs import wrap
from foretop_core.cron import Dialect
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.rooms.primer.preview import preview
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import MIDDLE, SMALL, Screen, screen
from tests.tui.test_calendar import night
from tests.tui.test_header import text_of


def page(shown: Screen) -> PrimerPage:
    found = shown.app.main_screen.page
    assert isinstance(found, PrimerPage)
    return found


def value(shown: Screen, field: str) -> str:
    return page(shown).query_one(f"#{field}").value  # type: ignore[attr-defined,no-any-return]


async def paste(shown: Screen, text: str) -> None:
    assert shown.app._driver is not None
    shown.app._driver.send_message(events.Paste(text))
    await shown.idle()


async def pasted(shown: Screen, text: str, minutes: str = "") -> None:
    await shown.press("6", "enter")
    await paste(shown, text)
    if minutes:
        await shown.press("tab", "ctrl+u")
        await paste(shown, minutes)


async def test_what_is_typed_takes_the_place_of_the_old_text() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("6", "tab", *"90")
        assert value(shown, "minutes") == "90"
        await shown.press("tab", *"@daily", "enter")
        await shown.press("enter", *"@hourly")
        assert value(shown, "expression") == "@hourly"
        await shown.press("enter", "enter", "end", "backspace")
        assert value(shown, "expression") == "@hourl"


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_the_example_of_the_sketch_appears_as_it_is_typed(size: tuple[int, int]) -> None:
    async with screen(FilledSource(night()), size) as shown:
        await shown.press("6", "enter", *"0/15 * 1 * *")
        for wanted in (
            "every 15 minutes on the 1st of the month",
            "5,20,35 * 1 * *   ▲ nearly exact",
            "50 23 28,29 2 *",
            "2 warm-ups too many in",
            "30 Nov 23:50 → 1 Dec 00:00   00:05 → 00:15",
            "▒▒▒|",
            "gives 50,5,20,35 * 1 * *, contrary to its documentation, and is",
            "zone UTC",
        ):
            assert wanted in shown.text
        assert "95 warm-ups missed and 96 unneeded" in " ".join(shown.pane.split())
        assert shown.faults == []


@pytest.mark.sweep
async def test_nothing_is_focused_on_arrival_and_every_key_of_the_frame_works() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("6")
        assert not page(shown).is_editing
        assert "type the expression" in shown.text
        await shown.press("question_mark")
        assert isinstance(shown.app.screen, HelpScreen)
        await shown.press("escape", "2")
        assert shown.page == "schedules"
        await shown.press("left_square_bracket")
        await shown.press("6", "7")
        assert shown.page == "backups"
        await shown.press("6", "q", "q")
        assert shown.app._exit


@pytest.mark.sweep
async def test_enter_edits_tab_goes_to_the_minutes_and_escape_leaves() -> None:
    async with screen(FilledSource(night())) as shown:
        await pasted(shown, "0 0 * * 5")
        assert "50 23 * * 4   ✓ exact" in shown.text
        await shown.press("tab", "ctrl+u", "6", "0")
        assert value(shown, "minutes") == "60"
        assert "0 23 * * 4" in shown.text
        await shown.press("tab", "end", "backspace", "1")
        assert value(shown, "expression") == "0 0 * * 1"
        await shown.press("escape")
        assert not page(shown).is_editing
        assert value(shown, "expression") == "0 0 * * 1"
        await shown.press("tab")
        assert page(shown).is_editing
        await shown.press("enter")
        assert not page(shown).is_editing
        assert shown.page == "primer"


@pytest.mark.sweep
async def test_no_key_of_text_entry_is_taken_away() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("6", "enter", *"q:?1cpoz/JZ 2")
        assert value(shown, "expression") == "q:?1cpoz/JZ 2"
        await shown.press("ctrl+w")
        assert value(shown, "expression") == "q:?1cpoz/JZ "
        await shown.press("home", "delete", "right", "ctrl+k")
        assert value(shown, "expression") == ":"
        await shown.press("ctrl+c")
        assert shown.page == "primer"
        assert not page(shown).is_editing
        assert not shown.app._exit


@pytest.mark.sweep
async def test_a_mistake_is_pointed_at_and_goes_away_when_it_is_mended() -> None:
    async with screen(FilledSource(night())) as shown:
        await pasted(shown, "0 0 31 2,13 *")
        field = next(place for place, line in enumerate(shown.lines) if "Expression" in line)
        assert shown.lines[field + 1].index("^") == shown.lines[field].index("13")
        assert "end of range (13) above maximum (12): 13" in shown.text
        await shown.press(*["backspace"] * 4, *"1 *")
        assert "above maximum" not in shown.text


async def test_minutes_out_of_bounds_are_said_to_be_so() -> None:
    async with screen(FilledSource(night())) as shown:
        await pasted(shown, "0 2 * * *", "20000")
        assert "whole number from 0 to 10,080" in shown.text
        assert "check the minutes" in shown.text


async def test_c_copies_all_primed_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    async with screen(FilledSource(night())) as shown:
        await shown.press("6", "c")
        assert not shown.app.clipboard
        await pasted(shown, "0 * * * 5")
        await shown.press("escape", "c")
        assert shown.app.clipboard == "50 0-22 * * 5\n50 23 * * 4"
        assert "c copy" in shown.footer


async def test_o_takes_the_expression_and_minutes_of_any_object() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("6", "p")
        assert isinstance(shown.app.screen, SearchPicker)
        await paste(shown, "prescaled orders")
        await shown.press("enter")
        assert value(shown, "expression") == "0 6 * * *"
        assert value(shown, "minutes") == "30"
        assert "taken from PreScaledCronJob batch/orders" in shown.text
        await shown.press("p", *"auto", "enter")
        assert value(shown, "expression") == "30 5 * * *"
        assert "taken from CronJob batch/autogen-orders" in shown.text
        await shown.press("p")
        assert "typing narrows, up/down move, enter select, esc close" in shown.text
        await shown.press("down", "down", "up", "enter")
        assert value(shown, "expression") == "*/30 * * * *"


async def test_the_list_of_objects_is_left_without_taking_any() -> None:
    async with screen(FilledSource(night())) as shown:
        for way_out in ("escape", "ctrl+c"):
            await shown.press("6", "p")
            await paste(shown, "nothing of that name")
            assert shown.app.screen.query_one(OptionList).option_count == 0
            await shown.press("enter")
            assert isinstance(shown.app.screen, SearchPicker)
            await shown.press(way_out)
            assert value(shown, "expression") == ""


@pytest.mark.sweep
async def test_p_in_the_table_of_schedules_leads_here_with_its_expression() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("2", "/", *"etcd-hourly", "enter", "p")
        assert shown.page == "primer"
        assert value(shown, "expression") == "0 * * * *"
        assert "50 * * * *   ✓ exact" in shown.text
        await shown.press("7")
        assert "p primer" not in shown.footer
        await shown.press("p")
        assert shown.page == "backups"


async def test_escape_leads_back_to_where_p_came_from() -> None:
    async with screen(FilledSource(night())) as shown:
        await shown.press("2", "down", "p")
        assert "q back" in shown.footer
        await shown.press("escape")
        assert shown.page == "schedules"
        await shown.press("p", "q")
        assert shown.page == "schedules"


@pytest.mark.sweep
async def test_what_cannot_be_primed_says_why() -> None:
    async with screen(FilledSource(night())) as shown:
        await pasted(shown, "@every 1h")
        assert "it counts from its last run" in shown.text


@pytest.mark.sweep
async def test_a_zone_in_the_expression_is_that_of_the_times_and_of_the_warning() -> None:
    async with screen(FilledSource(night()), MIDDLE) as shown:
        await pasted(shown, "CRON_TZ=Asia/Tokyo 30 12 * * *")
        assert "zone Asia/Tokyo" in shown.text
        assert "12:20 → 12:30" in shown.text
        await shown.press("ctrl+u")
        await paste(shown, "CRON_TZ=Europe/Berlin 30 2 * * *")
        assert "Europe/Berlin has daylight saving" in shown.text


@pytest.mark.sweep
async def test_the_zone_that_was_asked_for_is_that_of_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dashboard, "my_zone", ZoneInfo("Asia/Tokyo"))
    async with screen(FilledSource(night())) as shown:
        await pasted(shown, "0 3 * * *")
        assert "02:50 → 03:00" in shown.text
        await shown.press("escape", "Z")
        assert "11:50 → 12:00" in shown.text


async def test_a_long_answer_scrolls() -> None:
    async with screen(FilledSource(night()), (60, 14)) as shown:
        await pasted(shown, "0/15 * 1 * *")
        assert "Prescaler" not in shown.text
        await shown.press("escape", *["down"] * 12)
        assert "Prescaler" in shown.text
        await shown.press("pageup", "up", "k")
        assert "Primed" in shown.text


@pytest.mark.sweep
async def test_without_line_drawing_everything_is_ascii() -> None:
    async with screen(FilledSource(night()), display_options=DisplayOptions(ascii=True, flash=False)) as shown:
        await pasted(shown, "0 * * * 5")
        assert shown.text.isascii()
        assert "///|" in shown.text


@pytest.mark.sweep
async def test_the_footer_follows_the_field() -> None:
    async with screen() as shown:
        await shown.press("6")
        assert "enter edit" in shown.footer
        await shown.press("enter")
        assert shown.footer.startswith(" enter done  esc close  tab minutes  ")
        await shown.press("tab")
        assert shown.footer.startswith(" enter done  esc close  tab expression  ")
        await shown.press("ctrl+p")
        assert isinstance(shown.app.screen, CommandPalette)


def test_a_tall_primer_has_the_week_and_a_table_of_twenty_pairs() -> None:
    now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
    shown = preview("TZ=America/New_York 0 3 * * *", "10", Dialect.ROBFIG)
    lines = [text_of(line).rstrip() for line in wrap(primer_pane(shown, now, UTC, 118, 36), 118)]
    assert len(lines) <= 36
    assert any(line.startswith("New_York") for line in lines)
    assert any(line.startswith("Next week") for line in lines)
    table = lines[next(at for at, line in enumerate(lines) if "WARM-UP" in line) + 1 :]
    assert len(table) == 20
    assert table[0].split() == ["Mon", "16", "Nov", "02:50", "Mon", "16", "Nov", "03:00", "10m", "in", "19h50m"]
    small = wrap(primer_pane(shown, now, UTC, 78, 8), 78)
    assert not any("WARM-UP" in text_of(line) for line in small)
