"""The mouse, where it is on: tabs, the titles of columns, rows and the keys of the footer."""

from __future__ import annotations

import pytest

from foretop.main_screen.tab_bar_text import tab_at, tabs
from foretop.widgets.line_widgets import key_at, key_line
from foretop_core.pages import TABS
from tests.tui.pilot import Screen, screen

HINTS = (("enter", "open"), ("/", "filter"), ("q", "back"))


@pytest.mark.parametrize("cells", [40, 80, 120, 200])
def test_every_cell_of_a_tab_leads_to_its_page(cells: int) -> None:
    line = tabs(TABS, "queue", cells)
    text = "".join(piece.text for piece in line)
    for tab in TABS:
        assert tab_at(line, TABS, text.index(str(tab.digit))) == tab.id
    assert tab_at(line, TABS, 0) == ""
    assert tab_at(line, TABS, len(text)) == ""
    assert tab_at(line, TABS, text.index("Queue") + 4) == "queue"


def test_a_key_of_the_footer_is_found_under_its_key_and_its_word() -> None:
    line = key_line(HINTS, 80)
    text = "".join(piece.text for piece in line)
    assert key_at(line, text.index("enter")) == "enter"
    assert key_at(line, text.index("filter") + 5) == "/"
    assert key_at(line, text.index("back") + 4) == ""
    assert key_at(line, 0) == ""
    assert key_at((), 3) == ""


async def click(shown: Screen, place: str, x: int, y: int = 0) -> None:
    await shown.pilot.click(place, offset=(x, y))
    await shown.idle()


async def test_a_click_opens_a_tab_sorts_by_a_title_chooses_a_row_and_presses_a_key() -> None:
    async with screen() as shown:
        await click(shown, "#tabs", shown.lines[1].index("2Sched") + 3)
        await shown.until(lambda: shown.page == "schedules")
        rows = shown.table.rows
        assert rows is not None
        before = (rows.sorted_by, rows.reversed)
        head = shown.lines[2]
        await click(shown, "#page-schedules Table", head.index("CRON"))
        await shown.until(lambda: (rows.sorted_by, rows.reversed) != before)
        assert rows.sorted_by == "cron"
        await click(shown, "#page-schedules Table", head.index("CRON"))
        await shown.until(lambda: rows.reversed)
        await click(shown, "#page-schedules Table", 5, 2)
        assert shown.table.place == 1
        await click(shown, "#footer", shown.footer.index("open") + 1)
        await shown.until(lambda: shown.page == "detail")
