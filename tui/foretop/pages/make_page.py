"""Makes the pages; a class that few open is loaded when its page is first opened."""

from __future__ import annotations

from foretop.pages.detail_page import DetailPage
from foretop.pages.page import Page
from foretop.pages.page_host import PageHost
from foretop.pages.table_page import TablePage
from foretop.panes.page_records import TABLE_PAGES
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.pages import DETAIL, PAGES, PageConflict

# Deferred imports: a page is loaded when it is first opened.

_WITHOUT_TABLE = ("calendar", "primer", DETAIL)


def make_page(page_id: str, display_options: DisplayOptions, host: PageHost) -> Page:
    """A new page, which is not yet on the screen."""
    match page_id:
        case "calendar":
            # Brings the time axis and all schedules' runs with it, which the first page need not wait for.
            from foretop.pages.calendar_page import CalendarPage

            return CalendarPage(page_id, display_options, host)
        case "primer":
            # Brings a second cron library with it, which the first page need not wait for.
            from foretop.pages.primer_page import PrimerPage

            return PrimerPage(page_id, display_options, host)
        case "detail":
            return DetailPage(page_id, display_options, host)
        case _:
            return TablePage(page_id, TABLE_PAGES[page_id], display_options, host)


for _page in PAGES:
    if _page not in TABLE_PAGES and _page not in _WITHOUT_TABLE:
        raise PageConflict(f"page {_page} has neither a view nor a class")
