"""The commands that palette and help list."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.bindings import COMMANDS, WRITE_ACTIONS, Action
from foretop.dialogs.command_palette import PaletteEntry
from foretop.pages.page import Page
from foretop.pages.tab_registry import SIDE_VIEWS, TABS
from foretop.pages.table_page import TablePage
from foretop.widgets.column_layout import sort_keys
from foretop_core.tables.text.explanations import EXPLANATIONS


def entries(available: Iterable[Action]) -> list[PaletteEntry]:
    """The pages, the commands that take a name, what can be done here, and what can be done to other objects."""
    titles = {tab.id: tab.title for tab in TABS} | {view.id: view.title for view in SIDE_VIEWS}
    pages = [PaletteEntry(f"go {page}", names, titles[page]) for page, names in COMMANDS.items() if page in titles]
    others = [
        PaletteEntry("ns", ("ns ",), "show one namespace: ns team-a; ns alone lists all"),
        PaletteEntry("ctx", ("ctx ",), "show one context of the kubeconfig: ctx prod; ctx alone lists all"),
        *(
            PaletteEntry(f"explain {one.topic}", (f"explain {one.topic}",), f"explained: {one.title}")
            for one in EXPLANATIONS.values()
        ),
        PaletteEntry("q", ("q", "quit"), "quit foretop"),
    ]
    here = [action for action in available if action.id not in ("palette", "escape", "back")]
    known = {action.id for action in here}
    elsewhere = [action for action in WRITE_ACTIONS if action.id not in known]
    return [*pages, *others, *(_entry(action) for action in here), *(_entry(one, works=False) for one in elsewhere)]


def _entry(action: Action, *, works: bool = True) -> PaletteEntry:
    names = (action.id.replace("_", "-"), *action.words)
    return PaletteEntry(f"do {action.id}", names, action.title, action.shown if works else "", works)


def sorting_letters(page: Page | None) -> dict[str, str]:
    """Which capital sorts by which column of the table on the screen."""
    columns = page.rows.columns if isinstance(page, TablePage) and page.rows is not None else ()
    found = ((letter, columns[place]) for letter, place in sort_keys(columns).items())
    return {letter: (one.title if len(one.title) > 1 else one.name).lower() for letter, one in found}
