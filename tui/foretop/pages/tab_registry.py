"""The tabs by name; their pages are loaded after the first paint."""

from __future__ import annotations

import msgspec

DETAIL = "detail"


class Tab(msgspec.Struct, frozen=True):
    """A page with a digit as its key; `foretop.pages.page_factories.PAGE_FACTORIES` makes it."""

    digit: int
    id: str
    short: str
    name: str
    title: str


class SideView(msgspec.Struct, frozen=True):
    """A page that a command leads to and no digit; escape leads back from it."""

    id: str
    title: str


SIDE_VIEWS: tuple[SideView, ...] = (
    SideView("pods", "Pods: the Velero server, its node agents and data movers"),
    SideView("movements", "Data movements: volumes on their way, with the time left"),
    SideView("repositories", "Repositories: volume data by namespace and storage location"),
    SideView("protection", "Protection: can each namespace be brought back, and from what"),
)
FIRST_KINDS: dict[str, frozenset[str]] = {
    "schedules": frozenset({"Schedule"}),
    "nonadmin": frozenset({"NonAdminBackup"}),
    "backups": frozenset({"Backup"}),
    "restores": frozenset({"Restore"}),
    "storage": frozenset({"BackupStorageLocation"}),
}
"""By page, the kinds whose first rows are not kept waiting by the others; the pages left out need all kinds."""
TABS: tuple[Tab, ...] = (
    Tab(1, "triage", "Triage", "Triage", "Triage: what is wrong"),
    Tab(2, "schedules", "Sched", "Schedules", "Schedules"),
    Tab(3, "nonadmin", "NonAdm", "NonAdmin", "Non-admin backups and restores"),
    Tab(4, "queue", "Queue", "Queue", "Queue: what runs and what waits"),
    Tab(5, "calendar", "Cal", "Calendar", "Calendar: upcoming runs and collisions"),
    Tab(6, "primer", "Primer", "Primer", "Primer: when to warm up before a schedule runs"),
    Tab(7, "backups", "Backups", "Backups", "Backups"),
    Tab(8, "restores", "Restores", "Restores", "Restores"),
    Tab(9, "storage", "Storage", "Storage", "Storage locations"),
)


def page_title(page_id: str) -> str:
    """The name of a page in a word or two, as its tab has it or its title begins."""
    named = next((tab.name for tab in TABS if tab.id == page_id), "")
    return named or next((view.title.partition(":")[0] for view in SIDE_VIEWS if view.id == page_id), page_id)
