"""Makes the pages; a class that few open is loaded when its page is first opened."""

from __future__ import annotations

from foretop.pages.page import Page, PageHost
from foretop.pages.table_page import TablePage
from foretop.panes.page_records import TABLE_PAGES
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.late import load
from foretop_core.pages import DETAIL, PAGES, PageConflict

_WITHOUT_TABLE = {
    "calendar": "foretop.pages.calendar_page:CalendarPage",
    DETAIL: "foretop.pages.detail_page:DetailPage",
    **{page.id: f"foretop.rooms.{page.room}.page:PAGE_CLASS" for page in PAGES.values() if page.room},
}


def make_page(page_id: str, display_options: DisplayOptions, host: PageHost) -> Page:
    """A new page, which is not yet on the screen."""
    if page_id in _WITHOUT_TABLE:
        page: Page = load(_WITHOUT_TABLE[page_id])(page_id, display_options, host)
        return page
    return TablePage(page_id, TABLE_PAGES[page_id], display_options, host)


for _page in PAGES:
    if _page not in TABLE_PAGES and _page not in _WITHOUT_TABLE:
        raise PageConflict(f"page {_page} has neither a view nor a class")
