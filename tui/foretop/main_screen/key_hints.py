"""What the keys do here and now: for the footer, and for panes that tell them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foretop.bindings import Action, footer_order

if TYPE_CHECKING:
    from foretop.main_screen.main_screen import MainScreen
    from foretop.panes.applicable_actions import ApplicableAction

Ways = tuple[tuple[str, str], ...]
"""Keys in a person's spelling, and in a word what they do."""
_IN_A_WINDOW: Ways = (("esc", "leave"),)
_WHERE_TENANTS_ARE = 8
"""Elsewhere few tables have more than one namespace, and the key for that may stand at the end of the footer."""


def ways(frame: MainScreen) -> Ways:
    """Of the window above, which tells its own keys; of the field that is typed in; or of the page."""
    if frame.app.screen is not frame:
        return _IN_A_WINDOW
    if frame.page is None:
        return ()
    if typing := frame.page.ways_of_typing():
        return typing
    actions = footer_order(_in_words_of_here(frame, action) for action in frame.offered())
    return tuple((action.shown, action.short or action.title) for action in actions)


def _in_words_of_here(frame: MainScreen, action: Action) -> Action:
    if action.id == "group" and frame.current == "nonadmin":
        return replace(action, footer=_WHERE_TENANTS_ARE)
    return replace(action, short="quit") if action.id == "back" and not frame.errands.can_go_back else action


def deeds(frame: MainScreen) -> list[ApplicableAction]:
    """What would do something to an object, and to which."""
    from foretop.panes.applicable_actions import ApplicableAction

    subject = frame.page.subject() if frame.page is not None else None
    found: list[ApplicableAction] = []
    for action in frame.offered():
        if action.id == "jump":
            keys = frame.errands.targets()
        elif frame.wishes.knows(action.id):
            keys = frame.wishes.about(action.id)
        else:
            keys = (subject,) if subject is not None else ()
        page = _page_opened(frame) if action.id == "open" and not keys else ""
        if keys or page:
            found.append(ApplicableAction(action, keys, page))
    return found


def _page_opened(frame: MainScreen) -> str:
    """Where enter leads from a finding that is about no object."""
    from foretop.pages.findings_page import finding_under_cursor, place_in_words

    return place_in_words(finding_under_cursor(frame.page), frame.errands.targets())
