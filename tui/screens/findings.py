"""The finding that a key is about."""

from __future__ import annotations

from core.rules.triage import Finding
from tui.rows import FindingRows
from tui.screens.page import Page
from tui.screens.tables import TablePage


def finding_under_cursor(page: Page | None) -> Finding | None:
    """None also where the rows of the page are objects and not findings."""
    if not isinstance(page, TablePage) or not isinstance(page.rows, FindingRows) or page.table.cursor is None:
        return None
    return page.rows.table.get(page.table.cursor)
