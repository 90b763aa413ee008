"""Text that is searched, sections by kind, and the legend of each page."""

from __future__ import annotations

import re

import pytest

from foretop.dialogs.help_screen import help_text
from foretop.panes.detail_sections import SECTIONS, sections_of
from foretop.panes.page_records import SCREEN_PAGES, signs_on
from foretop.terminal.probe import needs_ascii
from foretop.widgets.line_widgets import TextPane, highlighted
from foretop.widgets.paragraphs import Line, Span, paragraph, wrap
from foretop.widgets.prompt import Prompt
from foretop.widgets.styles import BOLD, CURSOR, FLASH, PLAIN, style_of
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.pages import DETAIL, PAGES
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


@pytest.mark.sweep
async def test_the_end_of_the_help_is_one_key_away() -> None:
    async with screen() as shown:
        await shown.press("3", "question_mark")
        assert "The signs of this page" in shown.text, "right after the most needed keys"
        await shown.press("G")
        assert "ctrl+r" in shown.text


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
    assert all(signs_on(page) for page in (*PAGES, DETAIL))
    said = help_text((), SCREEN_PAGES["nonadmin"].signs)
    spans = {paragraph.spans[0].text.strip(): paragraph.spans[0].style for paragraph in said}
    assert spans["✗"] == style_of(StatusGlyph.BROKEN.tone)
    assert {"A Q D", "↺", "●"} <= spans.keys()


def test_the_help_of_queue_and_nonadmin_explains_the_columns_and_bars_that_are_there() -> None:
    signs = {page: {sign.text: sign.meaning for sign in SCREEN_PAGES[page].signs} for page in ("queue", "nonadmin")}
    assert {"#", "IN", "AT", "━━╸──", "░░▆▆", "data 25%+?"} <= signs["queue"].keys()
    assert {"━━╸──", "2nd, 17:15", "data 25%+?"} <= signs["nonadmin"].keys()
    for page, told in signs.items():
        titles = {column.title for column in SCREEN_PAGES[page].view.columns}
        assert {found[1] for one in told.values() if (found := re.match(r"([A-Z/]+)[:,] ", one))} <= titles


def test_a_changed_cell_does_not_look_like_the_cursor() -> None:
    assert not FLASH.reverse


def test_a_uuid_is_not_broken_where_a_line_has_room_for_it() -> None:
    uuid = "f463b337-d20b-4d59-9b61-0487c89da11b"
    name = f"openshift-adp/team-search-metrics-1648-4-{uuid}"
    lines = [_text(line) for line in wrap([paragraph(name)], 60)]
    assert lines == ["openshift-adp/team-search-metrics-1648-4-", uuid]


def test_what_is_cut_has_one_ellipsis() -> None:
    text = "The specified bucket does not… " + "and more words " * 10
    lines = [_text(line) for line in wrap([paragraph(text, yields=True)], 30, 2)]
    assert not any(line.endswith("… …") for line in lines)


def test_a_locale_without_our_signs_gets_ascii_though_python_writes_utf8() -> None:
    assert needs_ascii({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, "utf-8")
    assert needs_ascii({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, "utf-8")
    assert not needs_ascii({"LC_ALL": "C.UTF-8", "LANG": "C"}, "utf-8")
    assert not needs_ascii({"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, "utf-8")
    assert not needs_ascii({"LANG": "C.UTF-8"}, "utf-8")
    assert not needs_ascii({}, "utf-8")


def _text(line: Line) -> str:
    return "".join(piece.text for piece in line)
