"""Text that is searched, sections by kind, and the legend of each page."""

from __future__ import annotations

from foretop.dialogs.help_screen import help_text
from foretop.dialogs.legend import SIGNS
from foretop.pages.tabs import TABS
from foretop.panes.detail_sections import SECTIONS, sections_of
from foretop.widgets.line_widgets import TextPane, highlighted
from foretop.widgets.paragraphs import Span
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, CURSOR, FLASH, PLAIN, style_of
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from tests.tui.pilot import screen


async def test_the_text_of_an_object_is_searched() -> None:
    async with screen() as shown:
        await shown.press("2", "y", "slash", *"version")
        page = shown.app.main_screen.page
        assert page is not None
        assert page.query_one("#search", Prompt).value == "version"
        body = page.query_one("#detail-body", TextPane)
        assert any(segment.style == CURSOR for y in range(body.size.height) for segment in body.render_line(y))
        await shown.press("escape")
        assert "apiVersion: " in shown.text
        assert shown.app.main_screen.current == "detail"
        await shown.press("escape")
        assert shown.app.main_screen.current == "schedules"


async def test_the_end_of_the_help_is_one_key_away() -> None:
    async with screen() as shown:
        await shown.press("3", "question_mark", "G")
        assert "The signs of this page" in shown.text
        assert "Accepted, Queued and Deleting" in shown.text


def test_what_is_searched_for_is_lit_across_spans() -> None:
    line = (Span("Back", BOLD), Span("up of a BACKUP"))
    assert highlighted(line, "backup") == (
        Span("Back", CURSOR),
        Span("up", CURSOR),
        Span(" of a ", PLAIN),
        Span("BACKUP", CURSOR),
    )
    assert highlighted(line, "") == line


def test_an_object_has_the_sections_of_its_kind_alone() -> None:
    assert sections_of(NAB.name) == SECTIONS
    assert "conditions" not in sections_of(BACKUP.name)
    assert sections_of(SCHEDULE.name) == ("overview", "events", "changes", "describe", "yaml")


def test_the_help_explains_the_signs_of_every_page_in_their_colours() -> None:
    assert {tab.id for tab in TABS} == SIGNS.keys()
    said = help_text((), {}, SIGNS["nonadmin"])
    spans = {paragraph.spans[0].text.strip(): paragraph.spans[0].style for paragraph in said}
    assert spans["✗"] == style_of(StatusGlyph.BROKEN.tone)
    assert {"A Q D", "↺", "●"} <= spans.keys()


def test_a_changed_cell_does_not_look_like_the_cursor() -> None:
    assert not FLASH.reverse
