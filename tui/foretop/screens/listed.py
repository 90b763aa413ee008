"""What the palette and the help list."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.modals.palette import Entry
from foretop.registry import COMMANDS, Action
from foretop.screens.page import Page
from foretop.screens.tables import TablePage
from foretop.screens.tabs import TABS
from foretop.widgets.columns import letters


def entries(available: Iterable[Action]) -> list[Entry]:
    """The pages, the commands that take a name, and what can be done here."""
    titles = {tab.id: tab.title for tab in TABS}
    pages = [Entry(f"go {page}", names, titles[page]) for page, names in COMMANDS.items() if page in titles]
    others = [
        Entry("ns", ("ns ",), "one namespace only: ns team-a; ns alone lists them"),
        Entry("ctx", ("ctx ",), "one context only: ctx prod; ctx alone lists them"),
        Entry("q", ("q", "quit"), "out of foretop"),
    ]
    actions = [
        Entry(f"do {action.id}", (action.id.replace("_", "-"), *action.words), action.title, action.shown)
        for action in available
        if action.id not in ("palette", "escape", "back")
    ]
    return [*pages, *others, *actions]


def sorting_letters(page: Page | None) -> dict[str, str]:
    """Which capital sorts by which column of the table on the screen."""
    columns = page.rows.columns if isinstance(page, TablePage) and page.rows is not None else ()
    found = ((letter, columns[place]) for letter, place in letters(columns).items())
    return {letter: (one.title if len(one.title) > 1 else one.name).lower() for letter, one in found}
