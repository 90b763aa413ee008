"""The records of the pages: complete, and refused in one line that names the page where they are not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foretop.panes.page_records import SCREEN_PAGES, check_parts, check_screen_pages
from foretop_core.late import Late
from foretop_core.models.kinds import by_name
from foretop_core.pages import PAGES, PageConflict, PageRecord, check_pages
from foretop_core.tables.engine.view import table_view

QUEUE, BACKUPS = PAGES["queue"], PAGES["backups"]
NEW = PageRecord(id="new", title="New", name="New", short="New", commands=("new",))


def test_every_kind_in_a_record_is_one_that_foretop_knows() -> None:
    named = {
        kind
        for page in PAGES.values()
        for kind in (*page.home_of, *(only for _, only in page.get), page.first_kind)
        if kind
    }
    assert {kind for kind in named if by_name(kind) is None} == set()


def test_every_view_gives_up_and_cuts_columns_that_it_has() -> None:
    for page in PAGES.values():
        if page.view:
            view = table_view(page)
            assert {*view.rank, *view.least, *view.narrow, view.order} <= set(page.columns), page.id


@pytest.mark.parametrize(
    ("page", "what"),
    [
        (replace(NEW, id="queue"), "pages queue and queue both have the id queue"),
        (replace(NEW, digit=4, name="New", short="New"), "pages queue and new both have digit 4"),
        (replace(NEW, commands=("bsl",)), "pages storage and new both have command :bsl"),
        (replace(NEW, get=(("nab", ""),)), "pages nonadmin and new both have get nab"),
        (replace(NEW, home_of=("Backup",)), "pages backups and new both have kind Backup"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_page_that_takes_what_another_has_is_refused_by_name(page: PageRecord, what: str) -> None:
    with pytest.raises(PageConflict) as refused:
        check_pages((*PAGES.values(), page))
    assert str(refused.value) == what


def test_a_page_without_one_of_its_halves_is_refused_by_name() -> None:
    with pytest.raises(PageConflict, match=r"^page new has no record in foretop\.panes\.page_records$"):
        check_screen_pages((*PAGES.values(), NEW), SCREEN_PAGES.values())
    others = [page for page in PAGES.values() if page is not QUEUE]
    with pytest.raises(PageConflict, match=r"^page queue has no record in foretop_core\.pages$"):
        check_screen_pages(others, SCREEN_PAGES.values())


@pytest.mark.parametrize(
    ("view", "what"),
    [
        ("queue:NoView", "page queue has no view: module .* has no attribute 'NoView'"),
        ("nowhere:QueueView", "page queue has no view: No module named .*nowhere"),
        ("queue:run_eta", "page queue has no view"),
    ],
)
def test_a_page_without_a_view_is_refused_by_name(view: str, what: str) -> None:
    pages = [replace(page, view=view) if page is QUEUE else page for page in PAGES.values()]
    with pytest.raises(PageConflict, match=what):
        check_parts(pages, SCREEN_PAGES.values())


def test_a_page_with_a_pane_and_no_view_is_refused_by_name() -> None:
    pages = [replace(page, view="") if page is QUEUE else page for page in PAGES.values()]
    with pytest.raises(PageConflict, match=r"^page queue has a pane and no view$"):
        check_screen_pages(pages, SCREEN_PAGES.values())


def test_every_page_has_a_view_and_a_pane_that_can_be_loaded() -> None:
    check_parts(PAGES.values(), SCREEN_PAGES.values())


@pytest.mark.parametrize("path", ["foretop.panes.runs_pane:no_pane", "foretop.panes.nowhere:queue_pane"])
def test_a_page_without_a_pane_is_refused_by_name(path: str) -> None:
    halves = [replace(half, tells=Late(path)) if half.id == "queue" else half for half in SCREEN_PAGES.values()]
    with pytest.raises(PageConflict, match=r"^page queue has no pane: .*(no_pane|nowhere)"):
        check_parts(PAGES.values(), halves)
