"""The triage page: the selected finding, and the objects that it leads to."""

from __future__ import annotations

from foretop.pages.page import Page, PageAddress
from foretop.pages.table_page import TablePage
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGE_OF
from foretop_core.rules.triage import Finding, ungathered
from foretop_core.tables.resources.visibility_findings import is_visibility_finding

_SHOWN_BY = {
    "velero-no-pulse": "pods",
    "velero-not-ready": "pods",
    "queue-stalled": "queue",
    "velero-all-paused": "schedules",
    "velero-paused-overdue": "schedules",
    "window-open": "schedules",
    "window-overrun": "schedules",
}
"""Findings that are not about one object, and the page that shows them better than a list of all that they touch."""
_NAMES = {"queue": "the queue", "schedules": "the schedules", "pods": "the pods of Velero, with their logs"}


def finding_under_cursor(page: Page | None) -> Finding | None:
    """None also where the rows of the page are objects and not findings."""
    if not isinstance(page, TablePage) or not isinstance(page.rows, FindingsTableModel) or page.table.cursor is None:
        return None
    return page.rows.table.get(page.table.cursor)


def findings_chosen(page: Page | None) -> tuple[Finding, ...]:
    """The marked findings, or the one under the cursor; those that a line gathers one by one."""
    if not isinstance(page, TablePage) or not isinstance(page.rows, FindingsTableModel):
        return ()
    marked = [finding for row in page.table.marked if (finding := page.rows.table.get(row)) is not None]
    under = finding_under_cursor(page)
    chosen = marked or ([under] if under is not None else [])
    return tuple({(finding.context, finding.id): finding for finding in ungathered(chosen)}.values())


def shows_acknowledged(page: Page | None) -> bool:
    """True if the page lists what is known as well."""
    return isinstance(page, TablePage) and isinstance(page.rows, FindingsTableModel) and page.rows.shows_acknowledged


def toggle_acknowledged(page: Page | None) -> bool | None:
    """Lists what is known as well, or not; whether it is listed now, None where there is no such list."""
    if not isinstance(page, TablePage) or not isinstance(page.rows, FindingsTableModel):
        return None
    page.rows.shows_acknowledged = not page.rows.shows_acknowledged
    return page.rows.shows_acknowledged


def place_of(finding: Finding, targets: tuple[ObjectRef, ...]) -> PageAddress | None:
    """The page that shows a finding about no object; None where one of those that it names is to be chosen.

    What is not seen no page shows.
    """
    page = _SHOWN_BY.get(finding.code, "" if targets or is_visibility_finding(finding) else "queue")
    shown = {"backups", "restores"} if page == "queue" else {page}
    first = next((key for key in targets if PAGE_OF.get(key.kind) in shown), None)
    return PageAddress(page, filter="", key=first, jumped=True) if page else None


def toggle_members(page: Page | None) -> bool:
    """Opens or closes the line under the cursor, where it gathers findings."""
    finding = finding_under_cursor(page)
    if finding is None or not finding.members or not isinstance(page, TablePage) or page.table.cursor is None:
        return False
    if isinstance(page.rows, FindingsTableModel):
        page.rows.toggle(page.table.cursor)
    return True


def place_in_words(finding: Finding | None, targets: tuple[ObjectRef, ...]) -> str:
    if finding is not None and finding.members:
        return f"all {len(finding.members)}"
    place = place_of(finding, targets) if finding is not None else None
    return _NAMES[place.page] if place is not None else ""
