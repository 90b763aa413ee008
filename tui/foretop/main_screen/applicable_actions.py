"""The objects that an available action would apply to, for panes that name the keys in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.bindings import Action
from foretop.main_screen.object_actions import ObjectActions
from foretop.main_screen.write_actions import WriteActions
from foretop.pages.page import Page
from foretop.pages.triage_selection import finding_under_cursor, place_in_words
from foretop.panes.action_sentences import ApplicableAction


def applicable_actions(
    offered: Iterable[Action], page: Page | None, object_actions: ObjectActions, write_actions: WriteActions
) -> list[ApplicableAction]:
    """The actions that would do something to an object, and to which."""
    subject = page.subject() if page is not None else None
    found: list[ApplicableAction] = []
    for action in offered:
        if action.id == "jump":
            keys = object_actions.targets()
        elif action.id == "results":
            keys = object_actions.runs()
        elif action.id in write_actions.handlers():
            keys = write_actions.about(action.id)
        else:
            keys = (subject,) if subject is not None else ()
        opened = ""
        if action.id == "open" and not keys:
            opened = place_in_words(finding_under_cursor(page), object_actions.targets())
        if keys or opened:
            found.append(ApplicableAction(action, keys, opened))
    return found
