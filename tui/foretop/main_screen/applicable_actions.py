"""The objects that an available action would apply to, for panes that name the keys in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from foretop.bindings import ROOM_ACTIONS, Action
from foretop.main_screen.object_actions import ObjectActions
from foretop.main_screen.write_actions import WriteActions
from foretop.pages.page import Page
from foretop.pages.triage_selection import finding_under_cursor, place_in_words
from foretop.panes.action_sentences import ApplicableAction
from foretop_core.actions.planners.pausing import CHANGE_PAUSE, PAUSE, UNPAUSE
from foretop_core.actions.planners.schedule_edits import EDIT_SCHEDULE
from foretop_core.rules.undone import CODE as CHANGE_UNDONE

_PUT_BACK = frozenset(record.id for record in (PAUSE, CHANGE_PAUSE, UNPAUSE, EDIT_SCHEDULE))
"""No remedy where somebody has put such a change back: their keys work all the same."""


_OF_RUNS = frozenset(room.action.id for room in ROOM_ACTIONS if room.of_run)


def applicable_actions(
    offered: Iterable[Action], page: Page | None, object_actions: ObjectActions, write_actions: WriteActions
) -> list[ApplicableAction]:
    """The actions that would do something to an object, and to which."""
    subject = page.subject() if page is not None else None
    finding = finding_under_cursor(page)
    kept_elsewhere = finding is not None and finding.code == CHANGE_UNDONE
    actions: list[ApplicableAction] = []
    for action in offered:
        if kept_elsewhere and action.id in _PUT_BACK:
            continue
        if action.id == "jump":
            keys = object_actions.targets()
        elif action.id in _OF_RUNS:
            keys = object_actions.failed_runs()
        elif action.id in write_actions.handlers():
            keys = write_actions.about(action.id)
        else:
            keys = (subject,) if subject is not None else ()
        opened = ""
        if action.id == "open" and not keys:
            opened = place_in_words(finding, object_actions.targets())
        if keys or opened:
            actions.append(ApplicableAction(action, keys, opened))
    return actions
